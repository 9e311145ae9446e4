"""An eval from Python: `run_eval` and `resume_run` give a `Run`, which prints nothing and knows its results."""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.models.opening import ModelOptions
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.plan import CaseFilter, Plan, RunSettings, without_secrets
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.run_names import LATEST
from toolbelt.evals.running.runner import RunEnd, Runner, run_to_end
from toolbelt.evals.running.store import DEFAULT_FILE, RunRow, RunStore
from toolbelt.evals.setup.arm_notes import find_shortfalls, find_unfit
from toolbelt.evals.setup.arms import PreparedArm, make_trial_runners, prepare_arms, refuse_unknown_choice
from toolbelt.evals.setup.inputs import RunInputs, open_inputs
from toolbelt.evals.setup.planning import make_plan
from toolbelt.evals.setup.probe_notes import note_probes
from toolbelt.evals.setup.reporting import CallbackReporter, Note, NoteKind, Reporter
from toolbelt.evals.toolsets.suites import spell_suite
from toolbelt.providers.chat import Sampling, Usage
from toolbelt.text import plural

if TYPE_CHECKING:
    import pandas as pd

    from toolbelt.evals.analysis.comparison.comparison import Comparison
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.exports.findings import Progress
    from toolbelt.evals.setup.estimate import ArmEstimate
    from toolbelt.providers.litellm_table import ModelTable

DEFAULT_MODELS = ("local/bm25",)
_Started = Callable[[Runner], None]
"""Called with the runner before the first trial."""


def _ignore(_: Runner) -> None:
    """Nobody wants to interrupt it from another thread."""


@dataclass(frozen=True)
class RunRequest:
    """What a run is to be.

    Attributes:
        dataset: A shipped name, a folder with cases.jsonl and a catalog, or a file of cases.
        models: litellm names, `local/bm25` or `scripted/FILE`.
        toolsets: Names and patterns, as on the command line; `full`, `loadout` and `tiered` if empty.
        variants: Of each toolset; none is changed if empty.
        settings: Everything else that the plan holds.
        catalog: In place of the dataset's own.
        config: Path of a `toolbelt.yaml`; the one found from the working directory if `None`.
        tokenizer: What counts where a model's own tokenizer is not known.
        store: The file of runs.
    """

    dataset: str
    models: Sequence[str] = DEFAULT_MODELS
    toolsets: Sequence[str] = ()
    variants: Sequence[str] = ()
    settings: RunSettings = field(default_factory=RunSettings)
    catalog: str | None = None
    config: str | None = None
    tokenizer: str | None = None
    store: Path = DEFAULT_FILE


@dataclass(frozen=True)
class SessionOptions:
    """How models are asked in one session of a run; no part of what the run is.

    Attributes:
        api_base: Where hosted models are asked; their provider's place if `None`, or where the run asked before.
        max_concurrency: Trials under way at once.
        timeout_seconds: For one request.
        max_retries: Times that a request is asked again after a failure that may pass.
        max_cost_usd: The run stops before it costs more; earlier sessions included.
        max_requests: The run stops before it asks more often; likewise.
    """

    api_base: str | None = None
    max_concurrency: int = 8
    timeout_seconds: float = 120.0
    max_retries: int = 5
    max_cost_usd: float | None = None
    max_requests: int | None = None

    def model_options(self, models: ModelTable) -> ModelOptions:
        """How models are opened."""
        return ModelOptions(self.api_base, self.timeout_seconds, models)


@dataclass(frozen=True, eq=False)
class Run:
    """A run in the store, after a session of it.

    Attributes:
        id: Its id.
        store: The file of runs.
        end: How the session ended: `finished`, or `incomplete` where something is left to be resumed.
        reason: Why it is incomplete; empty if it is finished.
        notes: What should be known of it.
        models: Where prices are looked up for a report; litellm's table, without a cache, if `None`.
    """

    id: str
    store: Path
    end: RunEnd
    reason: str = ""
    notes: tuple[Note, ...] = ()
    models: ModelTable | None = None

    def __repr__(self) -> str:
        try:
            summary = self.summary
        except ToolbeltError:  # the file of runs was removed
            return f"<Run {self.id}: {self.end}>"
        arms = ", ".join(f"{arm.label} {_percent(arm.accuracy.value)}" for arm in summary.arms[:6])
        more = f", … {len(summary.arms) - 6} more" if len(summary.arms) > 6 else ""
        reason = f" ({self.reason})" if self.reason else ""
        trials = f"{sum(arm.finished for arm in summary.arms):,} of {plural(summary.planned, 'trial')}"
        return f"<Run {self.id} of {summary.dataset}: {self.end}{reason}, {trials}; accuracy: {arms}{more}>"

    @property
    def summary(self) -> RunSummary:
        """The measures of each arm, as far as the run has come."""
        with self._open() as (store, row):
            return summarize(store.connection, row.run, store.find_status(row))

    @property
    def trials(self) -> pd.DataFrame:
        """The finished trials, one a row, as `load_run` gives them."""
        from toolbelt.evals.exports.loading import load_run  # pandas takes a second

        return load_run(self.id, store=self.store)

    def compare(
        self,
        old: Run | None = None,
        *,
        against: str | None = None,
        arms: str | Sequence[str] = (),
        margin: float | None = None,
        seed: int = 0,
    ) -> Comparison:
        """The arms of this run against each other, or against those of the same name in another run.

        Args:
            old: What the arms are compared with; with `None`, each arm is compared with one of its own model.
            against: The arm that all are compared with.
            arms: Only these.
            margin: Accuracy that may be lost, a fraction; that of `toolbelt eval compare` if `None`.
            seed: Of what is drawn for intervals.

        Raises:
            NotFoundError: no arm has a name given.
            ToolbeltError: there is nothing to compare.
        """
        # numpy and scipy
        from toolbelt.evals.analysis.comparison.compare import compare_runs
        from toolbelt.evals.analysis.comparison.comparison import MARGIN

        with self.open_side() as new, nullcontext() if old is None else old.open_side() as before:
            sides = (new, None) if before is None else (before, new)
            chosen = MARGIN if margin is None else margin
            return compare_runs(*sides, against=against, arms=_names(arms), margin=chosen, seed=seed)

    def report(self, folder: str | Path | None = None, *, progress: Progress | None = None) -> tuple[Path, ...]:
        """Write a page, Markdown, tables and pictures, as `toolbelt eval report` does.

        Args:
            folder: Where; `reports/ID` if `None`. It is made, with its parents.
            progress: Gets how far it is.

        Returns:
            The files, the page first.

        Raises:
            ToolbeltError: no trial has finished.
            StorageError: the disk would not.
        """
        from toolbelt.evals.exports.findings import Wanted, untold
        from toolbelt.evals.exports.report import write_report  # matplotlib and pandas

        target = Path("reports") / self.id if folder is None else Path(folder)
        with self._open() as (store, row):
            return write_report(store, row, target, Wanted(models=self.models), progress=progress or untold).files

    @contextmanager
    def _open(self) -> Iterator[tuple[RunStore, RunRow]]:
        with RunStore(self.store, must_exist=True) as store:
            yield store, store.get(self.id)

    @contextmanager
    def open_side(self) -> Iterator[StoredRun]:
        """The run case by case, as comparisons read it."""
        from toolbelt.evals.analysis.evidence.stored_run import StoredRun

        with self._open() as (store, row):
            yield StoredRun(store, row)


def run_eval(
    dataset: str | Path,
    models: str | Sequence[str] = DEFAULT_MODELS,
    toolsets: str | Sequence[str] = (),
    *,
    variants: str | Sequence[str] = (),
    suite: str = "",
    filter: CaseFilter = CaseFilter(),  # noqa: A002, B008  the command's word; frozen
    limit: int | None = None,
    epochs: int = 1,
    seed: int = 0,
    sampling: Sampling | None = None,
    request_limit: int = 10,
    ask_anyway: bool = False,
    catalog: str | Path | None = None,
    config: str | Path | None = None,
    tokenizer: str | None = None,
    store: str | Path = DEFAULT_FILE,
    api_base: str | None = None,
    max_concurrency: int = 8,
    timeout_seconds: float = 120.0,
    max_retries: int = 5,
    max_cost_usd: float | None = None,
    max_requests: int | None = None,
    on_note: Callable[[Note], object] | None = None,
    on_trial: Callable[[TrialRecord], object] | None = None,
) -> Run:
    """Ask the cases of a dataset over toolsets and models, and score every answer.

    Every answer is kept as it comes; an interrupted run goes on with `resume_run`. Nothing is printed. It may be
    called where an event loop is running, such as in a notebook; the loop is blocked until the run has ended.

    Example:
        >>> import tempfile
        >>> from toolbelt.evals import run_eval
        >>> store = f"{tempfile.mkdtemp()}/runs.db"
        >>> run = run_eval("assistant", "local/bm25", ["full", "oracle+9"], limit=5, store=store)
        >>> run.end.value
        'finished'
        >>> [(arm.toolset, arm.scored) for arm in run.summary.arms]
        [('full', 5), ('oracle+9', 5)]

    Args:
        dataset: A shipped name, a folder with cases.jsonl and a catalog, or a file of cases.
        models: litellm names, `local/bm25` or `scripted/FILE`.
        toolsets: Names and patterns, as on the command line; `full`, `loadout` and `tiered` if empty.
        variants: What is changed about each toolset, such as `shuffled`; each is an arm of its own.
        suite: In place of toolsets: `compatibility`.
        filter: Which cases are asked.
        limit: So many cases, drawn with the seed; takes the place of the filter's.
        epochs: How often each case is asked.
        seed: Of everything that is drawn.
        sampling: How models are asked; the provider's defaults if `None`. Without a seed of its own it gets this one.
        request_limit: Requests after which a trial is given up.
        ask_anyway: Also ask what is known not to fit the model.
        catalog: In place of the dataset's own: a shipped name, a dataset folder, or a file.
        config: Path of a `toolbelt.yaml`; the one found from the working directory if `None`.
        tokenizer: What counts where a model's own tokenizer is not known.
        store: The file of runs; made if need be.
        api_base: Where hosted models are asked; their provider's place if `None`.
        max_concurrency: Trials under way at once.
        timeout_seconds: For one request.
        max_retries: Times that a request is asked again after a failure that may pass.
        max_cost_usd: The run stops before it costs more, but for the answers under way.
        max_requests: The run stops before it asks more often.
        on_note: Called with everything that should be known before the run is trusted; `Run.notes` has the same.
        on_trial: Called with each trial that is finished and stored.

    Returns:
        The run; `end` is `incomplete` where a cap or the infrastructure ended it.

    Raises:
        NotFoundError: no such dataset, toolset, loadout, agent or suite.
        ToolbeltError: what is asked for is malformed or cannot be done; nothing was spent.
        StorageError: a trial could not be kept; all kept before are.
        KeyboardInterrupt: by the user; the run can be resumed, and a note says so.
    """
    sampling = sampling or Sampling()
    settings = RunSettings(
        filter=filter if limit is None else replace(filter, limit=limit),
        epochs=epochs,
        seed=seed,
        sampling=sampling if sampling.seed is not None else replace(sampling, seed=seed),
        request_limit=request_limit,
        api_base=without_secrets(api_base),
        suite=spell_suite(suite) if suite else "",
        ask_anyway=ask_anyway,
    )
    request = RunRequest(
        dataset=str(dataset),
        models=_names(models),
        toolsets=_names(toolsets),
        variants=_names(variants),
        settings=settings,
        catalog=None if catalog is None else str(catalog),
        config=None if config is None else str(config),
        tokenizer=tokenizer,
        store=Path(store),
    )
    options = SessionOptions(api_base, max_concurrency, timeout_seconds, max_retries, max_cost_usd, max_requests)
    reporter = CallbackReporter(on_note, on_trial)
    run = _outside_the_loop(lambda started: start_run(request, options, reporter, started))
    return replace(run, notes=tuple(reporter.notes))


def start_run(request: RunRequest, options: SessionOptions, reporter: Reporter, started: _Started = _ignore) -> Run:
    """Set a run up and run it; errors are those of `run_eval`."""
    inputs, plan = plan_run(request, reporter)
    arms = prepare_arms(inputs, plan, options.model_options(inputs.workspace.models), reporter)
    for note in find_shortfalls(arms, inputs.cases_of(plan)):
        reporter.note(note)
    _refuse_unpriced(arms, options.max_cost_usd)
    refuse_unknown_choice(arms, plan.sampling.tool_choice)
    with RunStore(request.store) as store:
        run = store.create(plan, [arm.renderer.tokenizer for arm in arms])
        return _run_session(store, run, inputs, plan, arms, options, reporter, started)


def estimate_eval(
    request: RunRequest, options: SessionOptions, reporter: Reporter
) -> tuple[Plan, tuple[ArmEstimate, ...]]:
    """What a run would take in requests, tokens and dollars; nothing is asked, and nothing is kept."""
    from toolbelt.evals.setup.estimate import estimate_run

    inputs, plan = plan_run(request, reporter)
    return plan, estimate_run(inputs, plan, options.model_options(inputs.workspace.models), reporter)


def plan_run(request: RunRequest, reporter: Reporter) -> tuple[RunInputs, Plan]:
    """Open the files of a run, and make its plan."""
    inputs = open_inputs(request.dataset, request.catalog, request.config, request.tokenizer, reporter)
    plan = make_plan(inputs, request.models, request.toolsets, request.variants, request.settings, reporter)
    note_probes(request.store, plan, inputs.workspace, reporter)
    return inputs, plan


def resume_run(
    run: str | Run = LATEST,
    *,
    store: str | Path = DEFAULT_FILE,
    retry_errors: bool = False,
    options: SessionOptions = SessionOptions(),
    reporter: Reporter | None = None,
) -> Run:
    """Go on with a run: nothing that is finished is asked again.

    Args:
        run: A run, its id, the beginning of one, or `latest`.
        store: The file of runs; that of the run if one is given.
        retry_errors: Also run again the trials that ended with an error.
        options: How models are asked now; without an `api_base`, they are asked where they were.
        reporter: Gets notes and trials; `Run.notes` has the notes if `None`.

    Raises:
        NotFoundError: no such run.
        ToolbeltError: the cases, the catalog or a loadout changed since the run began, or another process works on it.
    """
    silent = CallbackReporter()
    path, name = (run.store, run.id) if isinstance(run, Run) else (Path(store), run)
    resumed = _outside_the_loop(
        lambda started: _resume(path, name, options, reporter or silent, started, retry_errors=retry_errors)
    )
    return replace(resumed, notes=tuple(silent.notes))


def _resume(
    path: Path, name: str, options: SessionOptions, reporter: Reporter, started: _Started, *, retry_errors: bool
) -> Run:
    with RunStore(path, must_exist=True) as store:
        row = store.get(name)
        plan = row.plan
        inputs = open_inputs(plan.dataset, plan.catalog, plan.config, plan.tokenizer, reporter)
        inputs.refuse_changes(plan)
        if options.api_base is None:  # else the rest would go to somebody else, cases, key and all
            options = replace(options, api_base=plan.api_base)
        arms = prepare_arms(inputs, plan, options.model_options(inputs.workspace.models), reporter)
        for note in find_shortfalls(arms, inputs.cases_of(plan)):
            reporter.note(note)
        _refuse_unpriced(arms, options.max_cost_usd)
        if retry_errors:
            with store.locks.claim(row.run):
                text = f"{plural(store.forget_errors(row.run), 'trial')} with an error will be run again"
            reporter.note(Note(NoteKind.RETRIED, text, (row.run,)))
        return _run_session(store, row.run, inputs, plan, arms, options, reporter, started)


def _run_session(
    store: RunStore,
    run: str,
    inputs: RunInputs,
    plan: Plan,
    arms: tuple[PreparedArm, ...],
    options: SessionOptions,
    reporter: Reporter,
    started: _Started,
) -> Run:
    requests, cost_usd = store.spent(run)
    budget = Budget(options.max_requests, options.max_cost_usd, requests, cost_usd)
    policy = RetryPolicy(options.max_retries)
    runners = make_trial_runners(inputs, plan, arms, budget, policy, lambda record: store.add_request(run, record))
    cases = inputs.cases_of(plan)
    for note in find_unfit(arms, plan, cases, is_new=not (requests or store.get(run).finished)):
        reporter.note(note)
    try:
        with reporter.watch(run, plan, store, budget) as watcher:
            runner = Runner(plan, run, store, cases, runners, watcher, options.max_concurrency)
            started(runner)
            end = run_to_end(runner)
    except KeyboardInterrupt:
        text = f"run {run} is kept; go on with: toolbelt eval resume {run}"
        reporter.note(Note(NoteKind.INTERRUPTED, text, (run,)))
        raise
    return Run(run, store.path, end, "; ".join(runner.reasons), models=inputs.workspace.models)


def _refuse_unpriced(arms: Sequence[PreparedArm], max_cost_usd: float | None) -> None:
    if max_cost_usd is None:
        return
    unknown = dict.fromkeys(arm.arm.model for arm in arms if arm.model.cost_usd(Usage(1, 1)) is None)
    if unknown:
        raise ToolbeltError(f"--max-cost cannot be kept: the price of {', '.join(unknown)} is unknown.")


def _outside_the_loop(session: Callable[[_Started], Run]) -> Run:
    """The run of a session; where an event loop is running in this thread, it has a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return session(_ignore)
    runners: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    with ThreadPoolExecutor(1, "toolbelt-eval") as thread:
        run = thread.submit(session, runners.put)
        try:
            return run.result()
        except KeyboardInterrupt:  # which this thread alone gets
            while not run.done():
                with contextlib.suppress(queue.Empty):
                    runners.get(timeout=0.1).interrupt()
            raise


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
