"""The trials of a run, streamed from the store in blocks: an index to search, and what is shown of each trial."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from toolbelt.evals.running.records import parse_case, parse_names
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.toolset import GO_AHEAD
from toolbelt.evals.viewer.packing import Numbered, cut, number, pack

TRIALS_A_BLOCK = 256
_MOST_CHARACTERS = 2_000_000
"""Approximate size of a block, before compression."""
_LONGEST_NAME = 120
_OUTCOMES = {outcome.value: place for place, outcome in enumerate(Outcome)}
REQUEST_FIGURES = (
    "definition_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cached_read_tokens",
    "cached_write_tokens",
    "reasoning_tokens",
    "latency_seconds",
    "cost_usd",
)
_FIGURES = (
    "definition_tokens",
    "definition_tokens_total",
    "own_prompt_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cached_read_tokens",
    "cached_write_tokens",
    "reasoning_tokens",
    "invalidated_tokens",
    "requests",
    "retries",
    "latency_seconds",
    "cost_usd",
)
# The trials of a case stand together, the cases in the order asked, so that both are in one block.
_CASES = "SELECT case_id, min(trial) AS first FROM trials WHERE run = :run GROUP BY case_id"
_TRIALS = f"""
    SELECT t.* FROM trials AS t JOIN ({_CASES}) AS c USING (case_id)
    WHERE t.run = :run ORDER BY c.first, t.epoch, t.arm, t.trial
"""  # noqa: S608  # the names are this module's own
# Of so many places, those kept are as far apart as can be. IN has an index, which a join with a window would not have.
_SAMPLED_TRIALS = f"""
    SELECT t.* FROM trials AS t JOIN ({_CASES}) AS c USING (case_id)
    WHERE t.run = :run AND case_id IN (
        SELECT case_id FROM (
            SELECT case_id, row_number() OVER (ORDER BY first) - 1 AS place, count(*) OVER () AS cases FROM ({_CASES})
        ) WHERE cases <= :kept OR place * :kept % cases < :kept
    )
    ORDER BY c.first, t.epoch, t.arm, t.trial
"""  # noqa: S608
_REQUESTS = f"""
    SELECT request, attempt, offer, tools, failure, message, reply, {", ".join(REQUEST_FIGURES)},
    (SELECT p.recorded FROM responses AS p WHERE p.run = requests.run AND p.trial = requests.trial
     AND p.request = requests.request AND p.attempt = requests.attempt AND p.is_reused) AS recorded
    FROM requests WHERE run = ? AND trial = ? ORDER BY request, attempt
"""  # noqa: S608  # the names are this module's own


@dataclass(frozen=True, slots=True)
class Block:
    """Some trials, packed.

    Attributes:
        trials: How many.
        index: What all of them are searched and listed by.
        details: What is shown of one that is opened.
    """

    trials: int
    index: str
    details: str


def read_blocks(
    connection: sqlite3.Connection, run: str, trials: int = TRIALS_A_BLOCK, *, most_cases: int | None = None
) -> Iterator[Block]:
    """Every finished trial, grouped by case; only one block is in memory at a time.

    Args:
        connection: To the file of runs.
        run: Its id.
        trials: Of a block at most; fewer where they are long.
        most_cases: Cases whose trials are read, spread evenly over all; all if `None`.
    """
    query = _TRIALS if most_cases is None else _SAMPLED_TRIALS
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    block = _Block(connection, run)
    for row in cursor.execute(query, {"run": run} if most_cases is None else {"run": run, "kept": most_cases}):
        block.add(row)
        if len(block.trials) >= trials or block.is_long:
            yield block.packed()
            block = _Block(connection, run)
    if len(block.trials):
        yield block.packed()


def _column() -> list[Any]:
    return []


@dataclass(slots=True)
class _Columns:
    """The index of some trials, column by column; lists are as long as there are trials.

    `flags`: 1 covered, 2 surfaced, 4 the tokens of the prompt are estimated. `tokens` are of the prompt.
    """

    trial: list[int] = field(default_factory=_column)
    arm: list[int] = field(default_factory=_column)
    epoch: list[int] = field(default_factory=_column)
    case: list[int] = field(default_factory=_column)
    outcome: list[int] = field(default_factory=_column)
    flags: list[int] = field(default_factory=_column)
    called: list[list[int]] = field(default_factory=_column)
    missing: list[list[int]] = field(default_factory=_column)
    surplus: list[list[int]] = field(default_factory=_column)
    definitions: list[float | None] = field(default_factory=_column)
    tokens: list[float | None] = field(default_factory=_column)
    requests: list[int] = field(default_factory=_column)
    latency: list[float | None] = field(default_factory=_column)
    cost: list[float | None] = field(default_factory=_column)


class _Block:
    """Trials being gathered; names, offers and cases are kept once."""

    def __init__(self, connection: sqlite3.Connection, run: str) -> None:
        self._cursor, self._run = connection.cursor(), run
        self._cursor.row_factory = sqlite3.Row
        self._tools, self._cases, self._names = Numbered(), Numbered(), Numbered()
        self._columns = _Columns()
        self._index_cases: list[list[Any]] = []
        self._detail_cases: list[dict[str, Any]] = []
        self._offers: dict[str, int] = {}
        self._offered: list[list[int]] = []
        self._characters = 0
        self.trials: list[dict[str, Any]] = []

    @property
    def is_long(self) -> bool:
        return self._characters >= _MOST_CHARACTERS

    def add(self, row: sqlite3.Row) -> None:
        """One more trial, with its case where that is new and its requests."""
        self._add_case(row)
        self._add_index(row)
        requests = self._cursor.execute(
            _REQUESTS, (self._run, row["trial"] if row["same_as"] is None else row["same_as"])
        ).fetchall()
        for request in requests:
            self._add_offer(request["offer"])
            self._characters += len(request["reply"] or "") + len(request["message"])
        self._characters += len(row["reason"]) + 200
        self.trials.append(
            {
                "trial": row["trial"],
                "reason": cut(row["reason"]),
                "same_as": row["same_as"],
                "ending": row["ending"],
                "would_dispatch": row["would_dispatch"],
                "called": [cut(name) for name in parse_names(row["called"])],
                "missing": [cut(name) for name in parse_names(row["missing"])],
                "surplus": [cut(name) for name in parse_names(row["surplus"])],
                "requests": request_texts(requests, self._offers),
                "figures": {name: number(row[name]) for name in _FIGURES},
            }
        )

    def packed(self) -> Block:
        """The block of all trials added."""
        columns = {name: getattr(self._columns, name) for name in _Columns.__slots__}
        index = {"tools": self._tools.strings, "cases": self._index_cases, **columns}
        details = {
            "names": self._names.strings,
            "offers": self._offered,
            "cases": self._detail_cases,
            "case": self._columns.case,
            "trials": self.trials,
        }
        return Block(len(self.trials), pack(index), pack(details))

    def _add_case(self, row: sqlite3.Row) -> None:
        if row["case_id"] in self._cases:
            return
        self._cases.number(row["case_id"])
        stored = self._cursor.execute(
            "SELECT content FROM cases WHERE run = ? AND case_id = ?", (self._run, row["case_id"])
        ).fetchone()
        case = case_texts("{}" if stored is None else stored[0])
        tools = [self._tool(tool) for tool in wanted_tools(case)]
        self._index_cases.append([row["case_id"], row["kind"], row["cluster"], snippet(case), tools])
        self._detail_cases.append(case | {"is_kept": stored is not None})
        self._characters += 0 if stored is None else len(stored[0])

    def _add_index(self, row: sqlite3.Row) -> None:
        to = self._columns
        is_own = row["prompt_tokens"] is None
        to.trial.append(row["trial"])
        to.arm.append(row["arm"])
        to.epoch.append(row["epoch"])
        to.case.append(self._cases.number(row["case_id"]))
        to.outcome.append(_OUTCOMES[row["outcome"]])
        to.flags.append(row["covered"] | row["surfaced"] << 1 | is_own << 2)
        for column, text in ((to.called, row["called"]), (to.missing, row["missing"]), (to.surplus, row["surplus"])):
            column.append([self._tool(name) for name in parse_names(text)])
        to.definitions.append(number(row["definition_tokens"]))
        to.tokens.append(number(row["own_prompt_tokens"] if is_own else row["prompt_tokens"]))
        to.requests.append(row["requests"])
        to.latency.append(number(row["latency_seconds"]))
        to.cost.append(number(row["cost_usd"]))

    def _tool(self, name: str) -> int:
        return self._tools.number(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")

    def _add_offer(self, offer: str) -> None:
        if offer in self._offers:
            return
        stored = self._cursor.execute("SELECT names FROM offers WHERE offer = ?", (offer,)).fetchone()
        if stored is None:
            return
        numbers = [self._names.number(cut(str(name))) for name in json.loads(stored[0])]
        self._offers[offer] = len(self._offered)
        # A list is mostly a stretch of another: as steps from name to name it packs to next to nothing.
        self._offered.append(numbers[:1] + [after - before for before, after in pairwise(numbers)])
        self._characters += 4 * len(numbers)


LONGEST_SNIPPET = 400
"""Characters of a case's last user message that a list shows and a search covers."""

Row = Mapping[str, Any]


def case_texts(content: str) -> dict[str, Any]:
    """A stored case; every leaf is a text, so that a browser changes no number.

    Returns:
        `messages` (`role`, `text`, `calls` as pairs of name and arguments), `answers` (`None` where any call will do;
        else lists of calls: `tools`, `args` as pairs of name and accepted values, `optional`), `match`, `forbidden`,
        `allowed_extra`, `role`.
    """
    case = parse_case(content)
    answers = case.get("answers")
    return {
        "messages": [_message(message) for message in case.get("messages", ())],
        "answers": None if answers is None else [[_expected(call) for call in answer] for answer in answers],
        "match": case.get("match", "exact"),
        "forbidden": case.get("forbidden", []),
        "allowed_extra": case.get("allowed_extra", []),
        "role": case.get("role") or "",
    }


def snippet(case: Row) -> str:
    """The beginning of the last user message, on one line."""
    questions = [message["text"] for message in case["messages"] if message["role"] == "user"]
    texts = questions or [message["text"] for message in case["messages"]]
    return " ".join(texts[-1].split())[:LONGEST_SNIPPET] if texts else ""


def wanted_tools(case: Row) -> list[str]:
    """Ids of the tools in any accepted answer, each once."""
    tools = [tool for answer in case["answers"] or () for call in answer for tool in call["tools"]]
    return list(dict.fromkeys(tools))


def request_texts(rows: Iterable[Row], offers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The requests of a trial, retries among them.

    Args:
        rows: In order; `request`, `attempt` and the other columns of the table.
        offers: Number of each list of names that is kept.

    Returns:
        Of each: `request`, `attempt`, `turn` (1-based), `offer` (`None` where it is not kept), `tools`,
        `definition_tokens`, `failure`, `message`, `text`, `calls` (pairs of name and arguments, as written),
        `finish_reason`, `served_by`, `recorded` (when a reused response was given, else empty),
        `follow_up`, tokens, `latency_seconds`, `cost_usd`.
    """
    requests = []
    for row in rows:
        reply = json.loads(row["reply"]) if row["reply"] else {}
        requests.append(
            {
                "request": row["request"],
                "attempt": row["attempt"],
                "offer": offers.get(row["offer"]),
                "tools": row["tools"],
                "failure": row["failure"],
                "message": cut(row["message"]),
                "text": cut(reply.get("text", "")),
                "calls": [[cut(name), cut(text)] for _, name, text in reply.get("calls", ())],
                "finish_reason": reply.get("finish_reason", ""),
                "served_by": reply.get("served_by", ""),
                "recorded": row["recorded"] or "",
                **{name: number(row[name]) for name in REQUEST_FIGURES},
            }
        )
    _part_turns(requests)
    return requests


def _part_turns(requests: Sequence[dict[str, Any]]) -> None:
    """Sets the turn of each request. The user's follow-up messages are not stored: a trial continues after a reply
    without calls only if the user sent one.
    """
    turn, last = 1, max((request["request"] for request in requests), default=0)
    for request in requests:
        ends = request["failure"] is None and not request["calls"] and request["request"] < last
        request["turn"], request["follow_up"] = turn, GO_AHEAD if ends else ""
        turn += ends


def _message(message: Row) -> dict[str, Any]:
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else _json(content)
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return {"role": str(message.get("role", "")), "text": cut(text), "calls": calls}


def _call(call: Any) -> list[str]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return [_json(call), ""]
    arguments = function.get("arguments", "")
    return [str(function.get("name", "")), cut(arguments if isinstance(arguments, str) else _json(arguments))]


def _expected(call: Row) -> dict[str, Any]:
    arguments = call.get("args")
    checks = [[name, [cut(_json(value)) for value in values]] for name, values in (arguments or {}).items()]
    checks += [
        [name, [cut(f"contains {', '.join(map(_json, texts))}")]] for name, texts in call.get("contains", {}).items()
    ]
    return {
        "tools": list(call["tools"]),
        "args": None if arguments is None else checks,
        "optional": call.get("optional", []),
    }


def _json(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False))
