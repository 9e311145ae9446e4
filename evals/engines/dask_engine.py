"""The engine that runs trials on the workers of a Dask cluster: sends chunks, and stores what they return."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from distributed import Client, Future
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from toolbelt.errors import ToolbeltError
from toolbelt.evals.engines import parts
from toolbelt.evals.engines.chunks import Chunk, choose_size, count_left, make_chunks
from toolbelt.evals.engines.clusters import describe_cluster, open_client
from toolbelt.evals.engines.leases import Lease, Leases
from toolbelt.evals.engines.part_rows import keep_part, with_earlier
from toolbelt.evals.running.client import Budget, CapReached
from toolbelt.evals.running.engine_choice import ONE_PROCESS, EngineChoice
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.process_engine import run_workers
from toolbelt.evals.running.records import Done, TrialRecord
from toolbelt.evals.running.runner import RunWatcher
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.evals.setup.inputs import ChosenCases
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote

COLLECT_SECONDS = 10.0
"""How long chunks under way may take to return what has ended, once the user interrupts the run."""
_CHUNKS_A_WORKER = 2
"""Under way: one is asked, and the next is there when it has ended."""
_MOST_NAMED = 3
"""Workers whose errors are shown."""


class _Lost(Exception):  # noqa: N818  ends the run in order
    """The scheduler is gone."""


@dataclass(eq=False)
class DaskEngine:
    """Runs the trials of a run on the workers of a cluster.

    Attributes:
        choice: Which cluster.
        setup: What workers need to know; its concurrency is that of all workers together.
        store: Gets the trials.
        cases: Of the run.
        budget: What the run may spend, and has spent; kept up to date while chunks are under way.
        watcher: Receives trials that have ended and are stored, here or at a worker.
        reporter: Gets notes and progress.
        reasons: Why the run cannot be finished now, in words.
        not_recorded: Always 0: a cluster is never offline.
    """

    choice: EngineChoice
    setup: parts.PartSetup
    store: RunStore
    cases: ChosenCases
    budget: Budget
    watcher: RunWatcher
    reporter: EvalReporter
    reasons: list[str] = field(default_factory=list)
    not_recorded: int = 0
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _client: Client | None = None
    _leases: Leases = field(init=False)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _under_way: dict[str, Future] = field(default_factory=dict)
    _news: dict[str, parts.PartNews] = field(default_factory=dict)
    _unfinished: set[int] = field(default_factory=set)
    _given_up: frozenset[str] = frozenset()
    _is_stopped: bool = False
    _shown: Done = field(init=False)
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._leases, self._shown = Leases(replace(self.budget), 1), Done(self.setup.plan.numbers)

    async def ask(self, positions: Sequence[int], done: Done) -> None:
        """Run the trials of the cases at these positions.

        Raises:
            UnreachableError: no scheduler or no worker answers.
            ToolbeltError: a worker cannot run the same trials.
            StorageError: trials could not be stored; those stored before remain.
        """
        plan = self.setup.plan
        if not count_left(plan, positions, done):
            return
        try:
            if self._client is None:
                await self._open(done)
            left, workers = count_left(plan, positions, done), self._leases.slots // _CHUNKS_A_WORKER or 1
            size = choose_size(left, workers, self.setup.options.max_concurrency)
            chunks = make_chunks(plan, self.cases.clusters, positions, done, size)
            await run_workers(self._slot(chunks) for _ in range(self._leases.slots))
        except (_Lost, CommClosedError):
            self._stop("the Dask scheduler was lost; what workers have asked is collected when the run goes on there")
        except asyncio.CancelledError:
            await self._collect_before_exit()
            raise

    async def close(self) -> None:
        """End the workers that were started, and leave the others alone."""
        with contextlib.suppress(OSError, TimeoutError, CancelledError):
            await self._stack.aclose()

    # The cluster

    async def _open(self, done: Done) -> None:
        """Connect, check every worker, and collect what was left at them."""
        scratch = self.store.path.absolute().with_name("dask")
        with self.reporter.progress("starting workers", None):
            client = await self._stack.enter_async_context(open_client(self.choice, scratch))
        self._client, run = client, self.setup.run
        names = list(await client.nthreads())
        options = self.setup.options
        self._leases.slots = min(_CHUNKS_A_WORKER * len(names), options.max_concurrency)
        options = replace(options, max_concurrency=max(1, options.max_concurrency // len(names)))
        self.setup = replace(self.setup, options=options)
        self.reporter.note(RunNote(NoteKind.CLUSTER, describe_cluster(client, self.choice, len(names)), tuple(names)))
        for answer in (await client.run(exec, "import toolbelt.evals", on_error="return")).values():
            if isinstance(answer, ImportError):  # it could not read a task, nor say so
                raise ToolbeltError(_describe_lack(answer))
        await client.run(parts.interrupt, run, on_error="ignore")  # for a client that was killed
        with self.reporter.progress("preparing workers", len(names)) as advance:
            found = await self._prepare(names, advance)
        await self._collect(found, done)
        client.subscribe_topic(parts.topic(run), self._hear)

    async def _prepare(self, names: Sequence[str], advance: Callable[[int], None]) -> dict[str, str]:
        """Have every worker open the run's files and compare them; by each part that was left, a worker that has it."""
        assert self._client is not None  # noqa: S101  opened
        asked = {name: self._client.submit(parts.prepare, self.setup, workers=[name], pure=False) for name in names}
        found: dict[str, str] = {}
        problems: list[str] = []
        for number, (name, future) in enumerate(asked.items(), 1):
            try:
                found |= dict.fromkeys(await self._result(future), name)
            except ToolbeltError as error:
                problems.append(str(error))
            advance(number)
        if problems:
            more = f" And {len(problems) - _MOST_NAMED:,} more." if len(problems) > _MOST_NAMED else ""
            raise ToolbeltError(" ".join(problems[:_MOST_NAMED]) + more)
        return found

    async def _collect(self, found: Mapping[str, str], done: Done) -> None:
        """Store what workers asked and never returned, as the scheduler or the client was lost."""
        assert self._client is not None  # noqa: S101  opened
        run = self.setup.run
        for name, worker in found.items():
            future = self._client.submit(parts.read_part, run, name, workers=[worker], pure=False)
            try:
                ended = (await self._keep(await self._result(future)))[0]
            except (KilledWorker, ToolbeltError, sqlite3.DatabaseError):  # cut by a crash of the machine: asked again
                continue
            for record in ended:
                done.add(record.trial)
        if found:
            self._leases.budget.requests, self._leases.budget.cost_usd = self.store.spent(run)
        self._unfinished = self.store.unfinished(run)

    async def _result(self, future: Future) -> Any:
        """What a task returns, or raises."""
        try:
            return await future
        except (CancelledError, OSError, TimeoutError) as error:
            raise _Lost from error
        except ImportError as error:
            raise ToolbeltError(_describe_lack(error)) from None
        except RuntimeError as error:  # the scheduler reads tasks, too
            if isinstance(error.__cause__, ImportError):
                raise ToolbeltError(_describe_lack(error.__cause__)) from None
            raise

    # Chunks

    async def _slot(self, chunks: Iterator[Chunk]) -> None:
        """Ask one chunk after the other, and what is left of one whose lease was used up."""
        for chunk in chunks:
            left: Chunk | None = self._with_earlier(chunk)
            while left is not None and (lease := await self._lend(left)) is not None:
                left = await self._ask_chunk(left, lease)
            if self._is_stopped:
                return

    def _with_earlier(self, chunk: Chunk) -> Chunk:
        plan, positions = self.setup.plan, set(chunk.positions)
        own = [number for number in self._unfinished if number // len(plan.arms) % plan.cases in positions]
        return with_earlier(chunk, self.store, self.setup.run, own)

    async def _lend(self, chunk: Chunk) -> Lease | None:
        """What the chunk may spend, once there is enough; `None` where the run stops."""
        async with self._changed:
            while not self._is_stopped:
                try:
                    lease = self._leases.lend(chunk.least_cost_usd)
                except CapReached as reached:
                    self._stop(str(reached))
                    break
                if lease is not None:
                    return lease
                await self._changed.wait()
            self._changed.notify_all()
        return None

    async def _ask_chunk(self, chunk: Chunk, lease: Lease) -> Chunk | None:
        """Have a worker ask a chunk, and store what it returns; what is left of it, if the lease was used up."""
        assert self._client is not None  # noqa: S101  opened
        name = f"{next(self._numbers)}-{secrets.token_hex(4)}"
        arguments = (self.setup, chunk, lease, self._given_up, name)
        future = self._client.submit(parts.run_part, *arguments, key=f"toolbelt-{name}", pure=False)
        self._under_way[name] = future
        try:
            result: parts.PartResult = await self._result(future)
        except KilledWorker:
            await self._settle_lost(lease)
            self._stop("the workers that ran a chunk were killed, one after the other; it may need more memory")
            return None
        finally:
            if future.done():
                del self._under_way[name]
        if result.is_lost:
            await self._settle_lost(lease)
            return chunk
        ended, unfinished = await self._keep(result)
        await self._settle(lease, result.requests, result.cost_usd)
        if not result.is_capped:
            return None
        if lease.is_last and result.requests != lease.max_requests:
            self._stop(self._leases.describe())
            return None
        least = 0.0 if result.requests == lease.max_requests else 2 * (lease.max_cost_usd or 0.0)
        done = chunk.done | {record.trial for record in ended}
        rest = Chunk(chunk.positions, done, least_cost_usd=least)
        return with_earlier(rest, self.store, self.setup.run, unfinished)

    async def _settle(self, lease: Lease, requests: int, cost_usd: float) -> None:
        async with self._changed:
            self._leases.settle(lease, requests, cost_usd)
            self._changed.notify_all()
        self._show_spent()

    async def _settle_lost(self, lease: Lease) -> None:
        """Count all of a lease as spent: nobody knows how much of it was."""
        await self._settle(lease, lease.max_requests or 0, lease.max_cost_usd or 0.0)

    async def _keep(self, result: parts.PartResult) -> tuple[list[TrialRecord], set[int]]:
        """Store what a worker returned, and report it."""
        assert self._client is not None  # noqa: S101  opened
        run = self.setup.run
        ended, unfinished = keep_part(self.store, run, result.rows)
        self._news.pop(result.name, None)
        self._given_up |= result.given_up
        self._is_stopped |= self._given_up >= {arm.model for arm in self.setup.plan.arms}
        self.reasons += [reason for reason in result.reasons if reason not in self.reasons]
        self._report(ended)
        await self._client.run(parts.drop_part, run, result.name, workers=[result.worker], on_error="ignore")
        return ended, unfinished

    def _hear(self, event: tuple[float, bytes]) -> None:
        """How a chunk that is under way stands."""
        news: parts.PartNews = pickle.loads(event[1])  # noqa: S301  of a scheduler that is trusted with code
        if news.name in self._under_way:
            self._news[news.name] = news
            self._show_spent()
            self._report(news.records)

    def _report(self, records: Iterable[TrialRecord]) -> None:
        for record in records:
            if record.trial not in self._shown:
                self._shown.add(record.trial)
                self.watcher.finished(record)

    def _show_spent(self) -> None:
        known, news = self._leases.budget, self._news.values()
        self.budget.requests = known.requests + sum(each.requests for each in news)
        self.budget.cost_usd = known.cost_usd + sum(each.cost_usd for each in news)

    def _stop(self, reason: str) -> None:
        self._is_stopped = True
        if reason not in self.reasons:
            self.reasons.append(reason)

    async def _collect_before_exit(self) -> None:
        """Have the chunks under way end, and store what they return."""
        if self._client is None:
            return
        with contextlib.suppress(_Lost, OSError, TimeoutError, CancelledError):
            async with asyncio.timeout(COLLECT_SECONDS):
                await self._client.run(parts.interrupt, self.setup.run, on_error="ignore")
                for future in list(self._under_way.values()):
                    with contextlib.suppress(KilledWorker):
                        await self._keep(await self._result(future))


def _describe_lack(error: ImportError) -> str:
    return f"The scheduler or a worker lacks this toolbelt ({error}): install the same on all machines."


def make_setup(run: str, plan: Plan, options: ExecutionOptions, cache: Path) -> parts.PartSetup:
    """What workers need to know of a run: no more than they need, as it is sent with each chunk.

    Args:
        run: Its id.
        plan: Of the run.
        options: How models are asked; caps are lent with each chunk.
        cache: Where responses are recorded, if no cache is named.
    """
    files = tuple(Path(path).absolute() for path in options.response_cache)
    asking = replace(options, engine=ONE_PROCESS, max_cost_usd=None, max_requests=None, response_cache=files)
    return parts.PartSetup(run, replace(plan, tools={}, served={}), asking, cache, parts.describe_code())
