"""Shards in files of runs: which of them are meant, and whether they belong together (rule X4)."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.shards import Shard, parse_shard
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.findings import Finding, Severity

MOST_NAMED = 12
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


def find_shards(paths: Sequence[Path], names: Sequence[str]) -> list[StoredShard]:
    """The shards of files in order, each run once.

    Args:
        paths: The files.
        names: Ids of runs, or their beginnings; if empty, the shards of the plan whose shard was begun last in a file.

    Raises:
        NotFoundError: a run is in no file; or a file, where that is all that is wrong.
        InvalidFileError: a file has no shard or is damaged, or several cannot be used, with a finding for each.
    """
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
                latest = [row for row in rows if plan_key(row.plan) == plan_key(rows[0].plan)]
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
    return StoredShard(store.path, checked, checked.plan.shard, *read_asked(store, checked))


def read_asked(store: RunStore, row: RunRow) -> tuple[tuple[str, ...], Mapping[str, frozenset[str]]]:
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


# What does not belong together


def _sampling(plan: Plan) -> str:
    return json.dumps(plan.stated, sort_keys=True)


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


def plan_key(plan: Plan) -> tuple[object, ...]:
    """Equal for shards that belong together."""
    return tuple(aspect(plan) for aspect in _ASPECTS.values())


def refuse_misfits(parts: Sequence[StoredShard], *, allow_mixed: bool) -> None:
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
        shown = (f"{value} in {name_shards(part.shard for part in parts)}" for value, parts in having.items())
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


def name_shards(shards: Iterable[Shard]) -> str:
    """`shards 1/3, 2/3`; of many the first."""
    names = [str(shard) for shard in sorted(shards)]
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"shard{'s' if len(names) > 1 else ''} {', '.join(names[:MOST_NAMED])}{more}"
