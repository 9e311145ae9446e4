"""Rows of the store, as values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from toolbelt.evals.cases.case import Answer, Case, ExpectedCall, Matching
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.evals.responses.response import ResponseMark
from toolbelt.providers.chat import Usage, is_turn
from toolbelt.text import whole
from toolbelt.views.json_values import described


@dataclass(slots=True)  # not frozen, as `TrialRecord`
class RequestRecord:
    """An attempt at a request that has ended; see `toolbelt.evals.running.schema` for the columns.

    Attributes:
        trial: Number of the trial.
        request: 0-based within the trial.
        attempt: 0-based.
        offer: What was offered.
        reply: The reply, `None` if there is none. A reply with a `failure` is stored for people, and never used.
        usage: Tokens as reported.
        failure: Why there is no answer; `None` if there is one.
        message: What the provider said to that; of an answer, what is odd about it.
        latency_seconds: Without time spent queueing here.
        cost_usd: `None` if unknown.
        response: Where the answer is in a response cache; `None` where it is in none.
    """

    trial: int
    request: int
    attempt: int
    offer: Offer
    reply: Reply | None
    usage: Usage
    failure: str | None
    message: str
    latency_seconds: float
    cost_usd: float | None
    response: ResponseMark | None = None

    def list_values(self) -> tuple[object, ...]:
        """The values of the columns, but for the keys and the offer, that the tables of runs and of probes share."""
        usage = self.usage
        return (
            self.failure,
            whole(self.message),
            None if self.reply is None else format_reply(self.reply),
            len(self.offer.tools),
            self.offer.tokens,
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_read_tokens,
            usage.cached_write_tokens,
            self.latency_seconds,
            self.cost_usd,
            usage.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True)
class Attempts:
    """What is known of a request from the attempts made so far, in this execution or an earlier one.

    Attributes:
        attempts: How often it was asked.
        cost_usd: What that cost; `None` where a price is unknown.
        reply: What came; `None` if nothing usable did.
    """

    attempts: int = 0
    cost_usd: float | None = 0.0
    reply: Reply | None = None


@dataclass(slots=True)  # not frozen: one is made per trial, and freezing so many fields doubles the time
class TrialRecord:
    """A trial that has ended.

    Its fields are the one table of a trial's columns: the store's table, the frame of `load_run` and the tests of
    `docs/data.md` derive names, order, types, units and meanings from them. `called`, `missing` and `surplus` are
    lists as `format_names` writes them.
    """

    trial: int = field(metadata=described("its number in the plan, from 0"))
    arm: int = field(metadata=described("number of its arm in the plan, from 0"))
    epoch: int = field(metadata=described("the case was asked before", "times"))
    case_id: str = field(metadata=described("the case's id"))
    cluster: str = field(metadata=described("shared by the paraphrases of one task"))
    kind: str = field(metadata=described("what sort of case it is"))
    finished: str = field(metadata=described("when the trial ended, ISO 8601 in UTC"))
    outcome: str = field(metadata=described("what became of it"))
    reason: str = field(metadata=described("why, in one sentence"))
    ending: str = field(metadata=described("why the trial ended"))
    expects_nothing: bool = field(metadata=described("calling nothing is right"))
    covered: bool = field(metadata=described("a complete accepted answer could be reached"))
    surfaced: bool = field(metadata=described("it was really offered at some request"))
    would_dispatch: bool = field(metadata=described("only unoffered tools were called, which tiers would have run"))
    selections: int = field(metadata=described("made of tools that are no meta-tools", "calls"))
    hits: int | None = field(metadata=described("made that were asked for", "calls"))
    made: int | None = field(metadata=described("made, without permitted surplus ones", "calls"))
    wanted: int | None = field(metadata=described("asked for", "calls"))
    called: str = field(
        metadata=described("JSON list: ids of the tools called, in order; the name as written if of no tool")
    )
    missing: str = field(
        metadata=described("JSON list: ids of the tools asked for by the nearest right answer and not called")
    )
    surplus: str = field(metadata=described("JSON list: as in called, calls neither asked for nor permitted"))
    arguments_checked: int = field(metadata=described("whose arguments were compared with something", "calls"))
    arguments_right: int = field(metadata=described("whose arguments are right", "calls"))
    definition_tokens: int = field(
        metadata=described("of the tool definitions at the first request, estimated", "tokens")
    )
    definition_tokens_total: int = field(
        metadata=described("of the tool definitions over all requests, estimated", "tokens")
    )
    own_prompt_tokens: int | None = field(metadata=described("of the prompts over all requests, estimated", "tokens"))
    prompt_tokens: int | None = field(
        metadata=described(
            "of the prompts over all answered requests, as reported; nothing where any is not known", "tokens"
        )
    )
    completion_tokens: int | None = field(metadata=described("of the answers, as reported", "tokens"))
    cached_read_tokens: int | None = field(
        metadata=described("of the prompts, read from the provider's cache, as reported", "tokens")
    )
    cached_write_tokens: int | None = field(
        metadata=described("of the prompts, written to the provider's cache, as reported", "tokens")
    )
    invalidated_tokens: int | None = field(
        metadata=described("of the prompts' prefix, made uncacheable by changes of the tool list, estimated", "tokens")
    )
    repeated_tokens: int | None = field(
        metadata=described(
            "of the prompts of all requests but the last, which the next ones begin with, estimated", "tokens"
        )
    )
    requests: int = field(metadata=described("retries not among them", "requests"))
    retries: int = field(metadata=described("asked again", "requests"))
    latency_seconds: float = field(metadata=described("of all answered requests together", "seconds"))
    cost_usd: float | None = field(
        metadata=described("retries included; nothing where the price is unknown", "US dollars")
    )
    rank: int | None = field(
        default=None,
        metadata=described(
            "at which a search found the tool asked for, of several the last; nothing if none did", "place"
        ),
    )
    same_as: int | None = field(
        default=None,
        metadata=described(
            "of the trial of another arm that sent the same requests, and whose answers it has; nothing where it "
            "sent them itself",
            "number",
        ),
    )
    reasoning_tokens: int | None = field(
        default=None, metadata=described("of the answers, spent on reasoning, as reported", "tokens")
    )
    exchange: str = field(
        default="",
        metadata=described("digest of its requests and their answers; empty where it ended with an error"),
    )


TRIAL_COLUMNS = ", ".join(each.name for each in fields(TrialRecord))
"""As `read_trial` takes them."""
_FLAGS = tuple(number for number, each in enumerate(fields(TrialRecord)) if str(each.type) == "bool")


def read_trial(row: Iterable[Any]) -> TrialRecord:
    """A trial from the values of `TRIAL_COLUMNS`, in which SQLite has numbers for flags."""
    values = list(row)
    for number in _FLAGS:
        values[number] = bool(values[number])
    return TrialRecord(*values)


def plus_cost(a: float | None, b: float | None) -> float | None:
    """The sum of two costs; unknown if either is unknown."""
    return None if a is None or b is None else a + b


def format_names(names: Sequence[str]) -> str:
    """A list as JSON for the store; in ASCII, so that a name that is not valid UTF-8 can be stored."""
    return json.dumps(names) if names else "[]"


def parse_names(text: str) -> list[str]:
    """Read a list that `format_names` wrote."""
    return [str(name) for name in json.loads(text)]


def format_reply(reply: Reply) -> str:
    """A reply as JSON; its usage and latency have columns of their own."""
    data: dict[str, Any] = {"calls": [[call.id, call.name, call.text] for call in reply.calls]}
    for key in ("text", "finish_reason", "served_by", "fingerprint", "turn"):
        if value := getattr(reply, key):
            data[key] = value
    return json.dumps(data)  # ASCII, so that half a surrogate pair, which models do write, can be kept


def parse_reply(text: str, usage: Usage, latency_seconds: float) -> Reply:
    """Read a reply that `format_reply` wrote."""
    data = json.loads(text)
    return Reply(
        text=data.get("text", ""),
        calls=tuple(ToolUse.from_text(*call) for call in data["calls"]),
        usage=usage,
        finish_reason=data.get("finish_reason", ""),
        served_by=data.get("served_by", ""),
        fingerprint=data.get("fingerprint", ""),
        turn=turn if is_turn(turn := data.get("turn")) else None,
        latency_seconds=latency_seconds,
    )


def fold_attempts(rows: Iterable[Sequence[Any]]) -> dict[int, Attempts]:
    """What is known of requests from all attempts at them, by their number.

    Args:
        rows: `request`, `reply`, the fields of `Usage`, `latency_seconds` and `cost_usd` of each attempt, those at a
            request in order; the tables of runs and of probes have the same.
    """
    attempts: dict[int, Attempts] = {}
    for number, text, *usage, latency, cost in rows:
        before = attempts.get(number, Attempts())
        reply = None if text is None else parse_reply(text, Usage(*usage), latency)
        attempts[number] = Attempts(before.attempts + 1, plus_cost(before.cost_usd, cost), reply)
    return attempts


def format_case(case: Case) -> str:
    """The messages of a case and its right answers, as JSON."""
    data: dict[str, Any] = {"messages": case.messages}
    data["answers"] = None if case.expected is None else [_answer(answer) for answer in case.answers]
    if case.match is not Matching.EXACT:
        data["match"] = case.match.value
    for key in ("forbidden", "allowed_extra"):
        if tools := getattr(case, key):
            data[key] = sorted(tools)
    if case.role is not None:
        data["role"] = case.role
    return json.dumps(data)  # ASCII, so that half a surrogate pair can be kept


def parse_case(text: str) -> dict[str, Any]:
    """Read a case that `format_case` wrote, as plain values."""
    data: dict[str, Any] = json.loads(text)
    return data


def _answer(answer: Answer) -> list[dict[str, Any]]:
    return [_call(call) for call in answer]


def _call(call: ExpectedCall) -> dict[str, Any]:
    data: dict[str, Any] = {"tools": call.tools}
    if call.arguments is not None:
        data["args"] = call.arguments.accepted
        if call.arguments.contains:
            data["contains"] = call.arguments.contains
        if call.arguments.optional:
            data["optional"] = sorted(call.arguments.optional)
    return data


class Done(Collection[int]):
    """The numbers of finished trials; uses one byte for each planned trial, however many are done."""

    def __init__(self, size: int) -> None:
        self._marks = bytearray(size)
        self._count = 0

    def add(self, number: int) -> None:
        """Mark a trial as done."""
        if not self._marks[number]:
            self._marks[number] = 1
            self._count += 1

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and bool(self._marks[number])

    def __iter__(self) -> Iterator[int]:
        return (number for number, mark in enumerate(self._marks) if mark)

    def __len__(self) -> int:
        return self._count
