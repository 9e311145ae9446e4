"""Finds rows of the file of runs that toolbelt did not write, as after a change by hand: they would give false figures.

The database looks at all rows of a run in one pass, which costs little beside reading them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from types import MappingProxyType

from toolbelt.errors import InvalidFileError
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.findings import Finding, Severity
from toolbelt.providers.chat import Failure

_MOST = 20
"""Rows of a table that are reported."""
STATUSES = ("running", "finished", "incomplete", "interrupted")
"""What is stored of a run and of a probe."""
_LONGEST = 60
"""Characters of a wrong value that are repeated."""


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """What a column of a table holds.

    Attributes:
        column: Its name.
        condition: In SQL; true where the value is right.
        wanted: The same in words.
    """

    column: str
    condition: str
    wanted: str


_NUMBER = "typeof({0}) IN ('integer', 'real') AND {0} >= 0 AND {0} < 9e999"
# CASE, not AND or OR: SQLite's functions of JSON fail on what is none.
_OBJECT = "CASE WHEN typeof({0}) = 'text' AND json_valid({0}) THEN json_type({0}) = 'object' END"
_TEXTS = (
    "CASE WHEN {0} = '[]' THEN 1 WHEN typeof({0}) = 'text' AND json_valid({0}) THEN json_type({0}) = 'array' "
    "AND NOT EXISTS (SELECT 1 FROM json_each({0}) AS part WHERE part.type <> 'text') END"
)
_REPLY = (
    "CASE WHEN {0} IS NULL THEN 1 WHEN typeof({0}) <> 'text' OR NOT json_valid({0}) THEN 0 "
    "WHEN json_type({0}, '$.calls') IS NOT 'array' OR coalesce(json_type({0}, '$.text'), 'text') <> 'text' THEN 0 "
    "ELSE NOT EXISTS (SELECT 1 FROM json_each({0}, '$.calls') AS call WHERE CASE "
    "WHEN call.type <> 'array' OR json_array_length(call.value) <> 3 THEN 1 "
    "ELSE EXISTS (SELECT 1 FROM json_each(call.value) AS part WHERE part.type <> 'text') END) END"
)
_CASE = (
    "CASE WHEN typeof({0}) = 'text' AND json_valid({0}) THEN json_type({0}, '$.messages') = 'array' "
    "AND json_type({0}, '$.answers') IN ('array', 'null') END"
)
_TYPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "str": ("typeof({0}) = 'text'", "a text"),
        "str | None": ("typeof({0}) IN ('text', 'null')", "a text or NULL"),
        "int": ("typeof({0}) = 'integer' AND {0} >= 0", "a whole number, 0 or more"),
        "int | None": ("{0} IS NULL OR (typeof({0}) = 'integer' AND {0} >= 0)", "a whole number, 0 or more, or NULL"),
        "float": (_NUMBER, "a number, 0 or more"),
        "float | None": (f"{{0}} IS NULL OR ({_NUMBER})", "a number, 0 or more, or NULL"),
        "bool": ("{0} IN (0, 1)", "0 or 1"),
        "object": (_OBJECT, "a JSON object"),
        "texts": (_TEXTS, "a JSON list of texts"),
        "reply": (_REPLY, "NULL, or a JSON object with `calls`, a list of [id, name, arguments]"),
        "case": (_CASE, "a JSON object with `messages` and `answers`"),
    }
)
"""What may stand in a column, in SQL and in words, by the type of a field of `TrialRecord` or a name of its own."""


def make_rules(types: Mapping[str, str]) -> tuple[ColumnRule, ...]:
    """The rules of columns by their types, which are keys of the table above."""
    return tuple(ColumnRule(name, _TYPES[type_][0].format(name), _TYPES[type_][1]) for name, type_ in types.items())


def one_of(column: str, members: Iterable[str]) -> ColumnRule:
    """The rule of a column that holds one of these; they are names of ours."""
    known = list(map(str, members))
    return ColumnRule(column, f"{column} IN ({', '.join(map(repr, known))})", f"one of {', '.join(known)}")


def _below(column: str, limit: int) -> ColumnRule:
    return ColumnRule(
        column, f"typeof({column}) = 'integer' AND {column} >= 0 AND {column} < {limit}", f"below {limit:,}"
    )


ATTEMPT_TYPES = MappingProxyType(
    {
        "request": "int",
        "attempt": "int",
        "failure": "str | None",
        "message": "str",
        "reply": "reply",
        "tools": "int",
        "definition_tokens": "int",
        "prompt_tokens": "int | None",
        "completion_tokens": "int | None",
        "cached_read_tokens": "int | None",
        "cached_write_tokens": "int | None",
        "reasoning_tokens": "int | None",
        "latency_seconds": "float",
        "cost_usd": "float | None",
    }
)
"""What the requests of runs and of probes share."""
_RESPONSE_TYPES = MappingProxyType(
    {
        "request": "int",
        "attempt": "int",
        "key": "str",
        "answer": "str",
        "recorded": "str",
        "is_reused": "bool",
        "cost_usd": "float | None",
    }
)
_FAILURE = one_of("failure", Failure)
FAILURE = ColumnRule("failure", f"failure IS NULL OR {_FAILURE.condition}", f"NULL or {_FAILURE.wanted}")
EVERY_ROW = ("?", 1)
"""The condition that holds for every row of a table."""
_RUN = (*make_rules({"run": "str", "created": "str", "reason": "str"}), one_of("status", STATUSES))


def refuse_wrong_runs(connection: sqlite3.Connection, file: str) -> None:
    """Raise `InvalidFileError` for runs that cannot be listed, with at most 20 findings."""
    if findings := list(find_wrong_rows(connection, file, "runs", "run", _RUN, EVERY_ROW)):
        raise InvalidFileError(findings)


def find_damage(connection: sqlite3.Connection, file: str, run: str, plan: Plan) -> Iterator[Finding]:
    """A finding for each wrong row of a run, at most 20 of each table.

    Args:
        connection: To the file.
        file: Its name, as the user wrote it.
        run: The run's id.
        plan: Its plan.
    """
    of_run = "SELECT 1 FROM cases WHERE cases.run = trials.run"
    in_cases = f"EXISTS ({of_run} AND cases.case_id = trials.case_id) OR NOT EXISTS ({of_run})"
    own = (
        _below("trial", plan.numbers),
        ColumnRule("case_id", in_cases, "the id of a case of the run"),
        _below("arm", len(plan.arms)),
        _below("epoch", plan.epochs),
        one_of("outcome", Outcome),
        one_of("ending", Ending),
    )
    lists = dict.fromkeys(("called", "missing", "surplus"), "texts")
    ruled = {rule.column for rule in own}
    types = {field.name: str(field.type) for field in fields(TrialRecord) if field.name not in ruled} | lists
    offer = ColumnRule("offer", "offer IN (SELECT offer FROM offers)", "the key of a row of offers")
    requests = (own[0], offer, *make_rules(ATTEMPT_TYPES), FAILURE)
    own_rows = ("run = ?", run)
    yield from _find_wrong_arms(connection, file, run, plan)
    yield from find_wrong_rows(connection, file, "arms", "arm", make_rules({"tokenizer": "str"}), own_rows)
    yield from find_wrong_rows(connection, file, "trials", "trial", (*own, *make_rules(types)), own_rows)
    yield from find_wrong_rows(connection, file, "requests", "trial, request, attempt", requests, own_rows)
    responses = (own[0], *make_rules(_RESPONSE_TYPES))
    yield from find_wrong_rows(connection, file, "responses", "trial, request, attempt", responses, own_rows)
    yield from find_wrong_rows(connection, file, "cases", "case_id", make_rules({"content": "case"}), own_rows)
    shown = ("offer IN (SELECT offer FROM requests WHERE run = ?)", run)
    yield from find_wrong_rows(connection, file, "offers", "offer", make_rules({"names": "texts"}), shown)


def find_wrong_rows(
    connection: sqlite3.Connection,
    file: str,
    table: str,
    keys: str,
    rules: Sequence[ColumnRule],
    which: tuple[str, str | int],
) -> Iterator[Finding]:
    """A finding for each row in which a column is not as its rule says; of such columns the first.

    Args:
        connection: To the file.
        file: Its name.
        table: Which table.
        keys: Columns that say which row it is, with commas between.
        rules: Of its columns.
        which: A condition in SQL with one `?`, and the value for it: the rows to look at.
    """
    condition, value = which
    wrong = " ".join(f"WHEN ({rule.condition}) IS NOT TRUE THEN '{rule.column}'" for rule in rules)
    wanted = {rule.column: rule.wanted for rule in rules}
    # Names and conditions are this package's own.
    rows = connection.execute(
        f"SELECT {keys}, wrong FROM (SELECT *, CASE {wrong} END AS wrong FROM {table} WHERE {condition}) "  # noqa: S608
        f"WHERE wrong IS NOT NULL LIMIT {_MOST}",
        (value,),
    ).fetchall()
    names = keys.split(", ")
    for *numbers, column in rows:
        row = " AND ".join(f"{name} IS ?" for name in names)  # a damaged key may be NULL
        [stored] = connection.execute(
            f"SELECT substr(quote({column}), 1, {_LONGEST}) FROM {table} WHERE {condition} AND {row}",  # noqa: S608
            (value, *numbers),
        ).fetchone()
        place = ", ".join(f"{name} {number!r}" for name, number in zip(names, numbers, strict=True))
        yield _finding(file, f"{table}: {place}", f"`{column}` is {stored}, and must be {wanted[column]}")


def _find_wrong_arms(connection: sqlite3.Connection, file: str, run: str, plan: Plan) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT arm, model, toolset, variant, planned FROM arms WHERE run = ? ORDER BY arm", (run,)
    )
    planned = (
        (number, arm.model, arm.toolset, arm.variant, plan.planned_of(number)) for number, arm in enumerate(plan.arms)
    )
    for number, (stored, wanted) in enumerate(zip_longest(rows, planned)):
        if stored != wanted:
            yield _finding(file, f"arms: arm {number}", f"it is {stored}, and the plan of the run has {wanted}")


def _finding(file: str, row: str, what: str) -> Finding:
    message = f"Row of {row}: {what}. Somebody changed it; put it right, or restore the file from a copy."
    return Finding("damaged-row", Severity.ERROR, message, file)
