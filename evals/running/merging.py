"""Merges shards into one run (rule X4): trials keep the numbers that they have in the whole plan, so rows are copied.

SQLite copies them from file to file, a shard in a transaction. So a killed merge has whole shards or nothing of them,
and a repeated one adds what is missing: trials that are there stay, but for those that failed and were answered since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.locks import RunLocks
from toolbelt.evals.running.run_names import draw_id
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.shards import Shard, parse_shard
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.running.stored_shards import (
    MOST_NAMED,
    StoredShard,
    find_shards,
    name_shards,
    plan_key,
    read_asked,
    refuse_misfits,
)
from toolbelt.stores.sqlite_files import transaction
from toolbelt.text import plural

_TABLES = ("cases", "requests", "responses", "trials")
"""Those with rows of a run, trials last, as the others are added for trials that are not there yet."""
_CACHE_KIB = 65_536
"""Of pages that are held while rows are sorted in; SQLite's own 2 MiB would be written out again and again."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """What a merge came to.

    Attributes:
        run: Id of the merged run.
        end: `finished`, or `incomplete` where trials are missing.
        reason: Which are; empty if none.
        shards: The shards that are in it, in order.
        missing: The shards that are not.
        added: Trials that were added.
    """

    run: str
    end: RunEnd
    reason: str
    shards: tuple[Shard, ...]
    missing: tuple[Shard, ...]
    added: int


def merge_shards(
    paths: Sequence[Path],
    store: Path,
    *,
    runs: Sequence[str] = (),
    allow_mixed: bool = False,
    advance: Callable[[int], object],
) -> MergedRun:
    """Merge shards into one run.

    Args:
        paths: Files of runs. Of each, the shards of the plan whose shard was begun last; of two runs of one shard the
            later one.
        store: The file of runs that gets the run; made if need be. A run that has some of these shards, or lacks just
            these, is added to.
        runs: Ids of the shards' runs, or their beginnings; none else is merged. All if empty.
        allow_mixed: Whether shards may be answered by models that report different names.
        advance: Called with the number of shards that were merged so far.

    Raises:
        NotFoundError: a file or a run is not there.
        InvalidFileError: they do not belong together, with a finding for each reason; nothing was merged.
        ToolbeltError: another merge is under way.
        StorageError: the disk would not; whole shards are in the store, and the merge can be repeated.
    """
    shards = find_shards(paths, runs)
    refuse_misfits(shards, allow_mixed=allow_mixed)
    with RunStore(store) as opened, RunLocks(opened.locks.folder, "merge").claim("merge", f"into {str(store)!r}"):
        target = _find_target(opened, shards)
        if target is not None:
            refuse_misfits([*shards, *_as_parts(opened, target, shards)], allow_mixed=allow_mixed)
        return _merge(opened, shards, target, advance)


def _merge(
    store: RunStore, shards: Sequence[StoredShard], target: RunRow | None, advance: Callable[[int], object]
) -> MergedRun:
    merged = {} if target is None else dict(target.plan.merged)
    plan = replace(shards[0].row.plan if target is None else target.plan, shard=None, shard_cases=0)
    now = datetime.now(UTC)
    with store.guarded():
        run = draw_id(store.connection, "runs", "run", now) if target is None else target.run
    before = 0 if target is None else target.finished
    with store.locks.claim(run), _large_cache(store):
        try:
            for number, shard in enumerate(shards, 1):
                known = str(shard.shard) in merged
                merged[str(shard.shard)] = shard.row.run
                plan = replace(plan, merged={str(part): merged[str(part)] for part in sorted(map(parse_shard, merged))})
                with _attached(store, shard.path) as schema, store.guarded(), transaction(store.connection):
                    if target is None and number == 1:
                        store.insert_run(run, now, plan, shard.tokenizers)
                    if known:
                        _forget_answered(store, schema, shard.row.run, run)
                    copy_rows(store, schema, shard.row.run, run, is_known=known)
                    store.connection.execute(
                        "UPDATE runs SET plan = ?, status = 'running', reason = '' WHERE run = ?", (plan.to_json(), run)
                    )
                advance(number)
        except KeyboardInterrupt:
            with contextlib.suppress(ToolbeltError):
                store.set_status(run, RunEnd.INTERRUPTED, "the merge was interrupted; repeat it")
            raise
        with store.guarded():
            [finished] = store.connection.execute("SELECT count(*) FROM trials WHERE run = ?", (run,)).fetchone()
        count = shards[0].shard.count
        present = tuple(map(parse_shard, plan.merged))
        missing = tuple(part for number in range(1, count + 1) if (part := Shard(number, count)) not in present)
        reason = "" if finished == plan.size else _describe_missing(missing, shards, plan.size - finished)
        end = RunEnd.INCOMPLETE if reason else RunEnd.FINISHED
        store.set_status(run, end, reason)
    return MergedRun(run, end, reason, present, missing, finished - before)


def _forget_answered(store: RunStore, schema: str, shard: str, run: str) -> None:
    """Forget trials that failed here and were answered there since."""
    store.connection.execute(
        f"DELETE FROM main.trials AS old WHERE run = :run AND outcome = 'error' AND EXISTS (SELECT 1 FROM "  # noqa: S608
        f"{schema}.trials AS new WHERE new.run = :shard AND new.trial = old.trial AND new.outcome <> 'error')",
        {"shard": shard, "run": run},
    )


def copy_rows(store: RunStore, schema: str, shard: str, run: str, *, is_known: bool) -> None:
    """Copy the rows of a run that are not there yet; names of tables and columns are the store's own.

    Args:
        store: Gets them; a transaction is open.
        schema: The attached file that has them.
        shard: Its run there.
        run: Its run here.
        is_known: Whether some of its trials may be here already; their requests are left as they are.
    """
    execute, names = store.connection.execute, {"shard": shard, "run": run}
    if schema != "main":
        execute(
            f"INSERT OR IGNORE INTO main.offers SELECT offer, names FROM {schema}.offers WHERE offer IN "  # noqa: S608
            f"(SELECT DISTINCT offer FROM {schema}.requests WHERE run = :shard)",
            names,
        )
    for table in _TABLES:
        columns = ", ".join(row[1] for row in execute(f"PRAGMA main.table_info({table})") if row[1] != "run")
        # The requests of a trial that is there already, asked here by a resumed run, say, are as they are.
        absent = "AND NOT EXISTS (SELECT 1 FROM main.trials AS t WHERE t.run = :run AND t.trial = s.trial)"
        condition = absent if is_known and table in ("requests", "responses") else ""
        execute(
            f"INSERT OR IGNORE INTO main.{table} (run, {columns}) "  # noqa: S608
            f"SELECT :run, {columns} FROM {schema}.{table} AS s WHERE run = :shard {condition}",
            names,
        )


@contextlib.contextmanager
def _attached(store: RunStore, path: Path) -> Iterator[str]:
    """The name by which statements find the tables of a file."""
    if path.samefile(store.path):
        yield "main"
        return
    with store.guarded():
        store.connection.execute("ATTACH ? AS source", (str(path.absolute()),))
    try:
        yield "source"
    finally:
        store.connection.execute("DETACH source")


@contextlib.contextmanager
def _large_cache(store: RunStore) -> Iterator[None]:
    [before] = store.connection.execute("PRAGMA cache_size").fetchone()
    store.connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    try:
        yield
    finally:
        store.connection.execute(f"PRAGMA cache_size = {before}")


def _find_target(store: RunStore, shards: Sequence[StoredShard]) -> RunRow | None:
    """The run that the shards are added to: one that has some of them, or else one that lacks them all."""
    runs_by_shard = {str(part.shard): part.row.run for part in shards}
    key = plan_key(shards[0].row.plan)
    rows = [row for row in store.runs() if row.plan.merged and plan_key(row.plan) == key]
    for row in rows:
        if set(row.plan.merged.values()) & set(runs_by_shard.values()):
            return row
    return next((row for row in rows if not set(row.plan.merged) & set(runs_by_shard)), None)


def _as_parts(store: RunStore, target: RunRow, shards: Sequence[StoredShard]) -> Iterator[StoredShard]:
    """The shards that a merged run has already, but for those that are merged again."""
    runs = {part.row.run for part in shards}
    asked = read_asked(store, target)
    for text, run in target.plan.merged.items():
        if run not in runs:
            yield StoredShard(store.path, replace(target, run=run), parse_shard(text), *asked)


def _describe_missing(missing: Sequence[Shard], shards: Sequence[StoredShard], left: int) -> str:
    unfinished = [part for part in shards if part.row.finished < part.row.plan.size]
    reasons = [f"{name_shards(missing)} {'is' if len(missing) == 1 else 'are'} missing"] if missing else []
    reasons += [
        f"shard {part.shard} is not finished, {part.row.plan.size - part.row.finished:,} of "
        f"{plural(part.row.plan.size, 'trial')} are left (run {part.row.run})"
        for part in unfinished[:MOST_NAMED]
    ]
    return "; ".join(reasons) or f"{plural(left, 'trial')} of shards merged before are missing"
