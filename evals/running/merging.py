"""Merges shards into one run (rule X4): trials keep the numbers that they have in the whole plan, so rows are copied.

SQLite copies them from file to file, a shard in a transaction. So a killed merge has whole shards or nothing of them,
and a repeated one adds what is missing: trials that are there stay, but for those that failed and were answered since.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.running.locks import RunLocks
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.run_names import draw_id
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.shards import Shard, parse_shard
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.findings import Finding, Severity
from toolbelt.stores.sqlite_files import transaction
from toolbelt.text import plural

_TABLES = ("cases", "requests", "responses", "trials")
"""Those with rows of a run, trials last, as the others are added for trials that are not there yet."""
_CACHE_KIB = 65_536
"""Of pages that are held while rows are sorted in; SQLite's own 2 MiB would be written out again and again."""
_MOST_NAMED = 12
"""Shards or runs that are listed in a sentence."""


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard in a file of runs.

    Attributes:
        path: The file.
        row: Its run.
        shard: Which.
        tokenizers: What counted the definitions of each arm.
        answered_by: Of each model, the names that the answers report.
    """

    path: Path
    row: RunRow
    shard: Shard
    tokenizers: tuple[str, ...]
    answered_by: Mapping[str, frozenset[str]]


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
    shards = _find_shards(paths, runs)
    _refuse_misfits(shards, allow_mixed=allow_mixed)
    with RunStore(store) as opened, RunLocks(opened.locks.folder, "merge").claim("merge", f"into {str(store)!r}"):
        target = _find_target(opened, shards)
        if target is not None:
            _refuse_misfits([*shards, *_as_parts(opened, target, shards)], allow_mixed=allow_mixed)
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


# What is merged


def _find_shards(paths: Sequence[Path], names: Sequence[str]) -> list[StoredShard]:
    """The shards of the files in order, each run once."""
    by_run: dict[str, StoredShard] = {}
    findings: list[Finding] = []
    errors: list[ToolbeltError] = []
    for path in {path.resolve(): path for path in paths}.values():
        try:
            shards = _read_shards(path, names)
        except ToolbeltError as error:
            errors.append(error)
            own = error.findings if isinstance(error, InvalidFileError) else ()
            findings += own or (Finding("unreadable", Severity.ERROR, str(error), str(path)),)
            continue
        for part in shards:
            run = part.row.run
            if run not in by_run or by_run[run].row.finished < part.row.finished:  # a copy may be older
                by_run[run] = part
    if errors:
        raise errors[0] if len(errors) == 1 else InvalidFileError(findings)
    wanted = {name: any(run.startswith(name) for run in by_run) for name in names}
    if unknown := [name for name, is_found in wanted.items() if not is_found]:
        raise NotFoundError("shard's run", unknown[0], sorted(by_run), "Its file has to be named, too.")
    return sorted(by_run.values(), key=lambda part: part.shard)


def _read_shards(path: Path, names: Sequence[str]) -> list[StoredShard]:
    """The shards of a file: those named, or else those of the plan whose shard was begun last, of each its last run."""
    # Opened to be written to, an empty file would get tables.
    rows: list[RunRow] = []
    if not _is_empty(path):
        with RunStore(path, must_exist=True, hint="Name the files of runs that the shards were kept in.") as opened:
            rows = [row for row in opened.runs() if row.plan.shard is not None]
            if names:
                chosen = [row for row in rows if any(row.run.startswith(name) for name in names)]
            else:
                latest = [row for row in rows if _key(row.plan) == _key(rows[0].plan)]
                chosen = list({row.plan.shard: row for row in reversed(latest)}.values())  # the later one of two
            if rows or names:
                return [_read_shard(opened, row) for row in chosen]
    message = "There is no shard in it: shards are run with `toolbelt eval run --shard I/N`."
    raise InvalidFileError([Finding("no-shard", Severity.ERROR, message, str(path))])


def _is_empty(path: Path) -> bool:
    """Whether it has no tables; what is no database, or no file, is none that is empty."""
    if not path.is_file():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
    except sqlite3.Error:
        return False  # the store says what is wrong


def _read_shard(store: RunStore, row: RunRow) -> StoredShard:
    checked = store.get(row.run)  # refuses damaged rows
    assert checked.plan.shard is not None  # noqa: S101  chosen by it
    return StoredShard(store.path, checked, checked.plan.shard, *_read_asked(store, checked))


def _read_asked(store: RunStore, row: RunRow) -> tuple[tuple[str, ...], Mapping[str, frozenset[str]]]:
    """What counted each arm, and who answered for each model that has an address."""
    with store.guarded():
        tokenizers = tuple(
            name
            for (name,) in store.connection.execute("SELECT tokenizer FROM arms WHERE run = ? ORDER BY arm", (row.run,))
        )
        rows = store.connection.execute(
            "SELECT DISTINCT a.model, json_extract(r.reply, '$.served_by') FROM requests AS r "
            "JOIN arms AS a ON a.run = r.run AND a.arm = r.trial % ?1 "
            "WHERE r.run = ?2 AND r.reply LIKE '%\"served_by\"%' AND r.failure IS NULL",
            (len(row.plan.arms), row.run),
        ).fetchall()
    answered: dict[str, set[str]] = {}
    for model, name in rows:
        answered.setdefault(model, set()).add(name)
    return tokenizers, {model: frozenset(names) for model, names in answered.items()}


def _find_target(store: RunStore, shards: Sequence[StoredShard]) -> RunRow | None:
    """The run that the shards are added to: one that has some of them, or else one that lacks them all."""
    runs_by_shard = {str(part.shard): part.row.run for part in shards}
    key = _key(shards[0].row.plan)
    rows = [row for row in store.runs() if row.plan.merged and _key(row.plan) == key]
    for row in rows:
        if set(row.plan.merged.values()) & set(runs_by_shard.values()):
            return row
    return next((row for row in rows if not set(row.plan.merged) & set(runs_by_shard)), None)


def _as_parts(store: RunStore, target: RunRow, shards: Sequence[StoredShard]) -> Iterator[StoredShard]:
    """The shards that a merged run has already, but for those that are merged again."""
    runs = {part.row.run for part in shards}
    asked = _read_asked(store, target)
    for text, run in target.plan.merged.items():
        if run not in runs:
            yield StoredShard(store.path, replace(target, run=run), parse_shard(text), *asked)


# What does not belong together


def _sampling(plan: Plan) -> str:
    return json.dumps({key: value for key, value in asdict(plan.sampling).items() if value is not None})


def _count_shards(plan: Plan) -> int:
    shard = plan.shard or parse_shard(next(iter(plan.merged)))
    return shard.count


_ASPECTS: Mapping[str, Callable[[Plan], object]] = MappingProxyType(
    {
        "number of shards": _count_shards,
        "dataset, by its digest": lambda plan: plan.digest[:12],
        "cases that are asked, or their order, by a digest": lambda plan: plan.chosen[:12],
        "arms": lambda plan: ", ".join(arm.label for arm in plan.arms),
        "epochs": lambda plan: plan.epochs,
        "seed": lambda plan: plan.seed,
        "sampling": _sampling,
        "request limit": lambda plan: plan.request_limit,
        "--ask-anyway": lambda plan: "yes" if plan.ask_anyway else "no",
        "catalog, loadouts, agents or toolkits, by a digest": lambda plan: plan.surroundings[:12],
        "known limits of the models": lambda plan: json.dumps({m: asdict(limit) for m, limit in plan.limits.items()}),
        "version of toolbelt": lambda plan: plan.code.get("toolbelt", "unknown"),
        "commit of the code": lambda plan: plan.code.get("commit", "none")[:12],
        "uncommitted changes of the code": lambda plan: plan.code.get("changed", "no"),
    }
)
"""What must be the same in all shards, by its name."""


def _key(plan: Plan) -> tuple[object, ...]:
    """Equal for shards that belong together."""
    return tuple(aspect(plan) for aspect in _ASPECTS.values())


def _refuse_misfits(parts: Sequence[StoredShard], *, allow_mixed: bool) -> None:
    """Raise `InvalidFileError` with every reason why these are not parts of one run."""
    findings = [*_find_differences(parts), *_find_overlaps(parts), *(() if allow_mixed else _find_mixed_models(parts))]
    if findings:
        raise InvalidFileError(findings)


def _find_differences(parts: Sequence[StoredShard]) -> Iterator[Finding]:
    for name, aspect in _ASPECTS.items():
        yield from _differ(name, ((part, aspect(part.row.plan)) for part in parts))
    if len({part.row.plan.arms for part in parts}) == 1:  # of other arms, as many tokenizers say nothing
        yield from _differ("tokenizers that counted", ((part, ", ".join(part.tokenizers)) for part in parts))


def _differ(
    name: str, values: Iterable[tuple[StoredShard, object]], rule: str = "shards-differ", hint: str = ""
) -> Iterator[Finding]:
    """One finding at most, in the file of the first shard that is not as the first of all."""
    having: dict[object, list[StoredShard]] = {}
    for part, value in values:
        having.setdefault(value, []).append(part)
    if len(having) > 1:
        shown = (f"{value} in {_name_shards(part.shard for part in parts)}" for value, parts in having.items())
        file = str(list(having.values())[1][0].path)
        yield Finding(rule, Severity.ERROR, f"{name}: {'; '.join(shown)}{hint}", file)


def _find_overlaps(parts: Sequence[StoredShard]) -> Iterator[Finding]:
    runs: dict[Shard, list[StoredShard]] = {}
    for part in parts:
        runs.setdefault(part.shard, []).append(part)
    for shard, several in runs.items():
        if len(several) > 1:
            named = " and ".join(f"{part.row.run} in {str(part.path)!r}" for part in several)
            message = f"shard {shard} was run more than once: {named}; choose with --run, naming every shard's run"
            yield Finding("shards-overlap", Severity.ERROR, message, str(several[-1].path))


def _find_mixed_models(parts: Sequence[StoredShard]) -> Iterator[Finding]:
    for model in dict.fromkeys(model for part in parts for model in part.answered_by):
        answered = [part for part in parts if model in part.answered_by]
        names = ((part, ", ".join(sorted(part.answered_by[model]))) for part in answered)
        yield from _differ(f"model that answered for {model}", names, "mixed-models", _ALLOW)


_ALLOW = "; --allow-mixed merges them anyway"


# Words


def _describe_missing(missing: Sequence[Shard], shards: Sequence[StoredShard], left: int) -> str:
    unfinished = [part for part in shards if part.row.finished < part.row.plan.size]
    reasons = [f"{_name_shards(missing)} {'is' if len(missing) == 1 else 'are'} missing"] if missing else []
    reasons += [
        f"shard {part.shard} is not finished, {part.row.plan.size - part.row.finished:,} of "
        f"{plural(part.row.plan.size, 'trial')} are left (run {part.row.run})"
        for part in unfinished[:_MOST_NAMED]
    ]
    return "; ".join(reasons) or f"{plural(left, 'trial')} of shards merged before are missing"


def _name_shards(shards: Iterable[Shard]) -> str:
    names = [str(shard) for shard in sorted(shards)]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"shard{'s' if len(names) > 1 else ''} {', '.join(names[:_MOST_NAMED])}{more}"
