"""What a worker does: it runs a chunk as any run is run, in a file of runs of its own, and returns that file.

The file lies in the worker's scratch folder until its rows are stored. So a chunk that is begun again on the same
machine, as its worker was killed, goes on where it was; and what was not returned, as the scheduler or the client was
lost, is collected by whoever goes on with the run.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import pickle
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from distributed import get_client, get_worker

from toolbelt import __version__
from toolbelt.errors import ToolbeltError
from toolbelt.evals.engines.chunks import Chunk
from toolbelt.evals.engines.leases import Lease
from toolbelt.evals.running.client import Budget
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.runner import Runner, run_to_end
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.arms import PreparedArm, list_counting, prepare_arms
from toolbelt.evals.setup.asking import ExecutionOptions, open_process_engine
from toolbelt.evals.setup.inputs import ChosenCases, RunInputs, open_inputs
from toolbelt.evals.setup.reporting import CallbackReporter
from toolbelt.stores.sqlite_files import transaction

_LIBRARIES = ("aiohttp", "cloudpickle", "distributed", "jsonschema-rs", "litellm", "regex", "tiktoken")
"""Whose versions may change trials, or what is sent between processes."""
_REPORT_EVERY_SECONDS = 1.0
_FOLDER, _FILE = "toolbelt-parts", "part.db"


@dataclass(frozen=True)
class PartSetup:
    """What a worker needs to know to run chunks of a run; files are opened where they are, and keys are its own.

    Attributes:
        run: Its id.
        plan: Of the run.
        options: How models are asked.
        response_cache: Where responses are recorded, if any are.
        code: Of the client, from `describe_code`.
    """

    run: str
    plan: Plan
    options: ExecutionOptions
    response_cache: Path
    code: Mapping[str, str]


@dataclass(frozen=True)
class PartResult:
    """What became of a chunk.

    Attributes:
        name: Of its file.
        rows: The file, as SQLite serialises it.
        worker: That has it.
        requests: That were sent, in all attempts at the chunk.
        cost_usd: Of them, as far as known.
        is_capped: Whether the lease was used up.
        is_lost: Whether nothing was asked, as an earlier attempt was lost with its machine, and its lease with it.
        given_up: Models that were left out.
        reasons: Why trials were left, in words.
        not_recorded: Trials that were left, as nothing may be asked.
    """

    name: str
    rows: bytes
    worker: str = ""
    requests: int = 0
    cost_usd: float = 0.0
    is_capped: bool = False
    is_lost: bool = False
    given_up: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    not_recorded: int = 0


@dataclass(frozen=True)
class _Opened:
    """A run's files, opened once by each process."""

    setup: PartSetup
    inputs: RunInputs
    cases: ChosenCases
    arms: tuple[PreparedArm, ...]
    paces: Mapping[str, Pace]


@dataclass
class _Process:
    """The state of a worker's process: chunks take turns, however many threads it has."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    opened: _Opened | None = None
    runner: Runner | None = None
    interrupted: str = ""


_process = _Process()


def dask_setup(_: object) -> None:
    """Ignore Ctrl-C, which a terminal sends to all its processes: the client ends its workers. Called by Dask.

    A worker then leaves its memory to the system: to free each object takes a second, for which the client waits.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit.register(os._exit, 0)


# What must be the same


@cache
def describe_code() -> Mapping[str, str]:
    """What trials may depend on besides the run's files: versions, and a digest of our own source."""
    source = hashlib.sha256()
    package = Path(sys.modules["toolbelt"].__file__ or "").parent
    for folder in (package, Path(__file__).parents[1]):
        for path in sorted(folder.rglob("*.py")):
            source.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    described = {"toolbelt": f"{__version__} ({source.hexdigest()[:8]})"}
    described["Python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
    for library in _LIBRARIES:
        try:
            described[library] = version(library)
        except PackageNotFoundError:
            described[library] = "none"
    return MappingProxyType(described)


def prepare(setup: PartSetup) -> tuple[str, ...]:
    """Open the run's files; names of the parts of the run that were left on this machine.

    Raises:
        ToolbeltError: versions, cases, catalog or loadouts are not as they are at the client, a file is not there, or a
            model's key is missing.
    """
    with _process.turn:
        _process.interrupted = ""
        _open(setup)
    return tuple(sorted(path.parent.name for path in _folder(setup.run).glob(f"*/{_FILE}")))


def _open(setup: PartSetup) -> _Opened:
    """The run's files, unless they are open."""
    if _process.opened is None or _process.opened.setup != setup:
        try:
            _process.opened = _open_files(setup)
        except ToolbeltError as error:
            raise ToolbeltError(f"Worker {get_worker().address} cannot run the same trials. {error}") from None
    return _process.opened


def _open_files(setup: PartSetup) -> _Opened:
    own = describe_code()
    if differ := [f"{what} {own[what]}, not {given}" for what, given in setup.code.items() if own[what] != given]:
        raise ToolbeltError(f"It has {', '.join(differ)}: install the same there as here.")
    plan, options, reporter = setup.plan, setup.options, CallbackReporter()
    inputs = open_inputs(plan.dataset, plan.catalog, plan.config, plan.tokenizer, reporter)
    inputs.refuse_changes(plan)
    arms = prepare_arms(inputs, plan, options.model_options(inputs.project.models), reporter, options.opener)
    paces = {arm.arm.model: Pace(arm.arm.model, options.max_concurrency) for arm in arms}
    return _Opened(setup, inputs, inputs.cases_of(plan), arms, paces)


# Chunks


def run_part(setup: PartSetup, chunk: Chunk, lease: Lease, given_up: frozenset[str], name: str) -> PartResult:
    """Run a chunk, or go on with it; called by Dask.

    Args:
        setup: Of the run.
        chunk: What is asked.
        lease: What it may spend.
        given_up: Models that are not asked any more.
        name: Of its file.
    """
    with _process.turn:
        opened = _open(setup)
        path = _folder(setup.run) / name / _FILE
        if lease.is_limited and not path.exists() and _was_begun(name):
            return PartResult(name, b"", is_lost=True)
        _make_folder(path.parent)
        with _open_part(path) as store:
            _begin(store, opened, chunk)
            requests, cost = store.spent(setup.run)  # all that an earlier attempt sent was sent under the same lease
            earlier_requests, earlier_cost = chunk.spent
            budget = Budget(lease.max_requests, lease.max_cost_usd, requests - earlier_requests, cost - earlier_cost)
            result = _ask(store, opened, chunk, budget, given_up, name)
        part = read_part(setup.run, name)
        return replace(result, rows=part.rows, worker=part.worker)


def _was_begun(name: str) -> bool:
    """Whether a chunk was begun elsewhere; from now on it was."""
    client, begun = get_client(), f"toolbelt-begun-{name}"
    earlier = client.get_events(begun)
    client.log_event(begun, True)
    return bool(earlier)


def _begin(store: RunStore, opened: _Opened, chunk: Chunk) -> None:
    """Store what is known already, unless an earlier attempt did."""
    setup = opened.setup
    with store.guarded(), transaction(store.connection):
        if not store.connection.execute("SELECT 1 FROM runs").fetchone():
            store.insert_run(setup.run, datetime.now(UTC), setup.plan, list_counting(setup.plan, opened.arms))
            for table, rows in chunk.earlier.items():
                marks = ", ".join("?" * len(rows[0]))
                store.connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", rows)  # noqa: S608


def _ask(
    store: RunStore,
    opened: _Opened,
    chunk: Chunk,
    budget: Budget,
    given_up: frozenset[str],
    name: str,
) -> PartResult:
    setup, cases = opened.setup, replace(opened.cases, rounds=(chunk.positions,))
    reporter = _Reporter(setup.run, name, budget)
    with open_process_engine(
        store, setup.run, opened.inputs, setup.plan, opened.arms, setup.options,
        cases=cases, budget=budget, paces=opened.paces, watcher=reporter, cache=setup.response_cache,
    ) as (engine, _):  # fmt: skip
        engine.given_up |= given_up
        _process.runner = Runner(setup.plan, setup.run, store, cases, engine, done_before=chunk.done)
        if _process.interrupted == setup.run:
            _process.runner.interrupt()
        with contextlib.suppress(KeyboardInterrupt):  # by `interrupt`: what has ended is returned
            run_to_end(_process.runner)
        _process.runner = None
    return PartResult(
        name=name,
        rows=b"",
        requests=budget.requests,
        cost_usd=budget.cost_usd,
        is_capped=engine.is_capped,
        given_up=frozenset(engine.given_up),
        reasons=() if engine.is_capped else tuple(engine.reasons),
        not_recorded=engine.not_recorded,
    )


@dataclass
class _Reporter:
    """Reports trials to the client while a chunk goes on, so that progress is shown as on one machine."""

    run: str
    name: str
    budget: Budget
    records: list[TrialRecord] = field(default_factory=list)
    reported: float = field(default_factory=time.monotonic)

    def finished(self, record: TrialRecord) -> None:
        """A trial has ended, and is stored here."""
        self.records.append(record)
        if time.monotonic() - self.reported >= _REPORT_EVERY_SECONDS:
            news = PartNews(self.name, tuple(self.records), self.budget.requests, self.budget.cost_usd)
            get_worker().log_event(topic(self.run), pickle.dumps(news))
            self.records, self.reported = [], time.monotonic()


@dataclass(frozen=True)
class PartNews:
    """How a chunk stands.

    Attributes:
        name: Of its file.
        records: Trials that ended since the last news.
        requests: That were sent so far.
        cost_usd: Of them.
    """

    name: str
    records: tuple[TrialRecord, ...]
    requests: int
    cost_usd: float


def topic(run: str) -> str:
    """Under which Dask passes on the news of a run's chunks."""
    return f"toolbelt-{run}"


def interrupt(run: str) -> None:
    """End the chunks of a run, which return what has ended; called by Dask beside the one that is under way."""
    _process.interrupted = run
    if _process.runner is not None and _process.runner.run == run:
        _process.runner.interrupt()


# Files


def _open_part(path: Path) -> RunStore:
    """The file of a chunk. A crash of the machine may lose it: a worker that waits for the disk would ask nobody."""
    return RunStore(path, survives_crash=False)


def read_part(run: str, name: str) -> PartResult:
    """The file of a chunk, also of one that was never returned."""
    path = _folder(run) / name / _FILE
    with _open_part(path) as store:  # makes the tables, if the worker was killed before
        requests, cost = store.spent(run)
        store.connection.execute("PRAGMA journal_mode = DELETE")  # what is serialised has no log beside it
        return PartResult(name, store.connection.serialize(), get_worker().address, requests, cost)


def drop_part(run: str, name: str, dask_worker: Any = None) -> None:
    """Delete the file of a chunk whose rows are stored at the client."""
    folder = _folder(run, dask_worker)
    shutil.rmtree(folder / name, ignore_errors=True)
    with contextlib.suppress(OSError):  # other parts are in it
        folder.rmdir()


def _make_folder(folder: Path) -> None:
    while not folder.is_dir():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # another worker has just removed the folder of the run
            folder.mkdir(exist_ok=True)


def _folder(run: str, dask_worker: Any = None) -> Path:
    """Where a run's parts lie: in the scratch space of Dask, which all workers of a machine share."""
    if dask_worker is None:
        dask_worker = get_worker()
    return Path(dask_worker.local_directory).parent / _FOLDER / run
