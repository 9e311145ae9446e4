"""Message logs of the chat completions API as cases.

An agent's calls may be wrong, so these cases are drafts until somebody has reviewed them.

A **conversation** makes one case for each turn of the user. The messages before the turn are its history, the calls
up to the user's next message are expected, and the tools' answers to them are its `results`. If a turn has several
steps of one call each, their order counts (`match: ordered`); parallel calls have no order. Of a call that failed and
was made again, only the later one is expected. Where the user's next words say that it was wrong, the case is a
negative: any call but those (`expected: null` with `forbidden`).

A **request with its response** makes one case: the request as it was sent, and only the calls of the response. The
earlier steps are in the request, and have records of their own in a complete log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.context import CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.import_report import UnmappedError
from toolbelt.evals.cases.imports.messages import (
    Call,
    Message,
    calls_of,
    check_answers,
    opening,
    results_of,
    without_failed,
)
from toolbelt.evals.cases.imports.openai_log_records import (
    BROKEN_CALL,
    LoggedExchange,
    count_choices,
    is_batch_response,
    looks_like_exchange,
    read_answer,
    read_exchange,
)
from toolbelt.evals.cases.imports.sources import Record, RecordsById
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.providers.calls_in_text import find_call_in_text, offered_parameters

_USERS = ("user", "system", "developer")
NO_TOOLS = "no tools were offered and none was called, which says nothing about choosing"
FORCED = "`tool_choice` left the model no choice"
UNANSWERED = "a turn without an answer"
OPEN_CALLS = "its history has calls that were never answered"
SILENT = "a turn in which the user says nothing"
UNASKED = "an answer that follows no words of a user's"
REFUSED = "the model refused"
EMPTY = "an answer that says nothing"
CALL_IN_TEXT = "the server left a call in the text of its answer"
NOT_TO_LEARN = "its answer is marked with `weight` 0"
CORRECTED = "the user said in the next turn that it was wrong, and no tool shows what was wrong"
OWN_TOOLS_ONLY = "calls only tools that the agent brings along, which are not in the catalog"
OWN_TOOLS_LEFT_OUT = "calls of tools that the agent brings along and the catalog lacks are not part of what is expected"
IN_A_ROW = "calls of one tool in a row count once, and others are allowed between (`match: in_order`)"
NO_RESPONSE = "a request of a batch whose response is in no source"
NO_REQUEST = "the response of a batch whose request is in no source"
_CORRECTION = re.compile(
    r"\W*(?:no(?:pe)?(?=[,.!:;]|\s*$|\s+(?:not|i|that|you|use|please|wait)\b)(?!\W+(?:thank|problem|worries|need))"
    r"|not (?:that|this|what)\b|wrong\b|(?:that(?:['’]?s| is| was)|this is) (?:wrong|not|the wrong)\b"
    r"|i (?:meant|did(?:n['’]?t| not) (?:ask|want|mean))\b|you (?:misunderstood|should(?:n['’]?t| not| have))\b"
    r"|(?:please )?(?:undo|revert) (?:that|this|it)\b|stop(?=[,.!]|\s*$)|nein[,.!]|falsch\b|no era\b|c['’]est faux\b)",
    re.IGNORECASE,
)
"""How a user's words begin that say that what was just done is wrong."""


class OpenAILog:
    """Reads records of a message log."""

    label = "OpenAI message log"

    def __init__(self) -> None:
        self._responses = RecordsById()
        self._conversations = RecordsById()

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like one."""
        return looks_like_exchange(data)

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect the tools of a record, or store the response of a batch for its request."""
        if isinstance(record.data, dict) and is_batch_response(record.data):
            error = record.data.get("error")
            self._responses.add(str(record.data["custom_id"]), {"error": error} if error else record.data["response"])
            return
        try:
            exchange = read_exchange(record.data, self._earlier)
        except UnmappedError:  # `rows` reports it
            return
        if exchange.tools is not None:
            pool.add_list(exchange.tools)
        if exchange.answer is not None and (response_id := _response_id(record.data)):
            said = [message for message in exchange.messages if message["role"] not in ("system", "developer")]
            self._conversations.add(response_id, [*said, *exchange.answer])

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a record."""
        if isinstance(record.data, dict) and is_batch_response(record.data):
            return
        exchange = read_exchange(record.data, self._earlier)
        if exchange.answer is None and "custom_id" in record.data:
            exchange = self._answered(exchange, str(record.data["custom_id"]))
        if exchange.choices > 1:
            context.report.note("of several `choices` of one response only the first was read")
        yield from exchange_rows(exchange, context, record)

    def finish(self, context: Context) -> None:
        """Count batch responses without a request, and second responses."""
        if count := self._responses.unclaimed:
            context.report.count(NO_REQUEST, count)
        if count := self._responses.repeated:
            context.report.count("a second response to one request of a batch", count)

    def _earlier(self, response_id: str) -> list[Message] | None:
        found = self._conversations.find(response_id)
        return None if found is None else found[0]

    def _answered(self, exchange: LoggedExchange, custom_id: str) -> LoggedExchange:
        response = self._responses.find(custom_id)
        if response is None:
            raise UnmappedError(NO_RESPONSE)
        answer, choices = read_answer(response[0]), count_choices(response[0])
        return replace(exchange, answer=answer, id=custom_id, choices=choices)


def exchange_rows(exchange: LoggedExchange, context: Context, record: Record) -> Iterator[CaseRow]:
    """The cases of a conversation, or of a request with its response.

    Raises:
        BrokenError: it has a mistake.
        UnmappedError: no case can be made of it.
    """
    offered = context.offered(exchange.tools)
    if _leaves_no_choice(exchange.tool_choice):
        raise UnmappedError(FORCED)
    turns = _Turns(exchange, offered, context, record)
    yield from turns.conversation() if exchange.answer is None else turns.single(exchange.answer)


def _response_id(data: Any) -> str:
    """The id of a response of the Responses API, which a later request may go on from; empty where there is none."""
    found = [each.get("id") for each in (data.get("response"), data) if isinstance(each, dict)]
    return next((one for one in found if isinstance(one, str) and one.startswith("resp_")), "")


class _Turns:
    """The cases of one record."""

    def __init__(
        self, exchange: LoggedExchange, offered: tuple[str, ...] | None, context: Context, record: Record
    ) -> None:
        self._exchange = exchange
        self._offered = offered
        self._context = context
        self._record = record
        self._unknown = frozenset(name for name in exchange.own_tools if not context.knows(name))

    def conversation(self) -> Iterator[CaseRow]:
        """A case for each turn of the user."""
        messages = self._exchange.messages
        sound = check_answers(messages)
        turns = list(_turns(messages))
        if not turns:
            raise UnmappedError(UNANSWERED)
        own_id = self._exchange.id or self._record.own_id
        for number, (start, end) in enumerate(turns, start=1):
            try:
                row = self._case(messages[:start], messages[start:end], start, sound=start <= sound)
                following = turns[number] if number < len(turns) else (len(messages), len(messages))
                row = self._as_corrected(
                    row, messages[start:end], messages[end : following[0]], messages[slice(*following)]
                )
            except UnmappedError as reason:
                detail = f"turn {number}{f': {reason.detail}' * bool(reason.detail)}"
                self._context.report.leave_out(self._record.source, self._record.line, reason.reason, detail)
                continue
            if len(turns) > 1:
                row["cluster"] = own_id
            yield {"id": f"{own_id}/{number}" if len(turns) > 1 else own_id} | row
        for index, loose in _uncovered(messages, turns):
            self._context.report.leave_out(self._record.source, self._record.line, loose, f"messages[{index}]")

    def single(self, answer: Sequence[Message]) -> Iterator[CaseRow]:
        """The case of a request and its response."""
        messages = self._exchange.messages
        sound = check_answers(messages) == len(messages) and not _has_open_calls(messages[-1])
        yield {"id": self._exchange.id} | self._case(messages, answer, None, sound=sound)

    def _case(
        self, history: Sequence[Message], answer: Sequence[Message], first: int | None, *, sound: bool
    ) -> CaseRow:
        if not sound:
            raise UnmappedError(OPEN_CALLS)
        if not _has_user_text(history):
            raise UnmappedError(SILENT)
        steps = self._steps(answer, first)
        if any(call.name in self._unknown for step in steps for call in step):
            steps = [kept for step in steps if (kept := tuple(call for call in step if call.name not in self._unknown))]
            if not steps:
                raise UnmappedError(OWN_TOOLS_ONLY)
            self._context.report.note(OWN_TOOLS_LEFT_OUT)
        self._refuse_calls_in_text(history, answer)
        if not steps:
            _refuse_empty(answer)
        if not steps and not self._offered:
            raise UnmappedError(NO_TOOLS)
        context, settings = self._context, self._context.settings
        steps = without_failed(steps, answer, self._context.report)
        keeps = settings.keeps(recorded=True)
        length = len(steps)
        if self._exchange.is_trace and not keeps:
            steps = [step for index, step in enumerate(steps) if not index or _names(step) != _names(steps[index - 1])]
        calls = [call for step in steps for call in step]
        references = {call.name: context.reference(call.name, self._offered) for call in calls}
        row: CaseRow = opening(history)
        row["expected"] = [
            {"tool": references[call.name]} | ({"args": dict(call.arguments)} if keeps and call.arguments else {})
            for call in calls
        ]
        is_ordered = all(len(step) == 1 for step in steps)
        if len(steps) < length:
            row["match"] = "in_order" if is_ordered else "superset"
            context.report.note(IN_A_ROW)
        elif len(steps) > 1 and is_ordered:
            row["match"] = "ordered"
        row |= context.universe(self._offered)
        if results := self._results(answer, calls, references):
            row["results"] = results
        row |= context.common(kind=kind_of(steps))
        if not settings.reviewed:
            row["draft"] = True
        return row

    def _as_corrected(
        self, row: CaseRow, answer: Sequence[Message], words: Sequence[Message], later: Sequence[Message]
    ) -> CaseRow:
        """The case as a negative where the user refused a call, or said next that it was wrong.

        Args:
            row: The case.
            answer: What it was made of.
            words: The user's next messages.
            later: The answer to them: a tool that is called there, too, was not wrong.
        """
        refused = {str(message.get("tool_call_id")) for message in answer if message.get("refused")}
        said = next((content_text(each.get("content")) for each in words if each["role"] == "user"), "")
        is_corrected = _CORRECTION.match(said) is not None
        if not refused and not is_corrected:
            return row
        calls = [call for step in self._steps(answer, None) for call in step]
        right = {call.name for step in self._steps(later, None) for call in step if is_corrected}
        wrong = [call.name for call in calls if (is_corrected or call.id in refused) and call.name not in right]
        references = [self._context.reference(name, self._offered) for name in wrong if name not in self._unknown]
        ids = [one for found in references for one in ([found] if isinstance(found, str) else found)]
        if not ids:
            raise UnmappedError(CORRECTED)
        kept = {key: value for key, value in row.items() if key not in ("match", "results", "kind")}
        negative = {"expected": None, "forbidden": list(dict.fromkeys(ids))}
        return kept | negative | self._context.common(("corrected",), "negative")

    def _refuse_calls_in_text(self, history: Sequence[Message], answer: Sequence[Message]) -> None:
        """Raises `UnmappedError` if a message has its call in its text: what it calls is for the server to say."""
        offered = offered_parameters(self._exchange.tools or ())
        asked = next((message.get("content") for message in reversed(history) if message["role"] == "user"), "")
        for message in answer:
            if message["role"] == "assistant" and not message.get("tool_calls"):
                thoughts = content_text(message.get("reasoning_content") or message.get("reasoning"))
                text = content_text(message.get("content"))
                if (call := find_call_in_text(text, thoughts, offered, asked=content_text(asked))) is not None:
                    raise UnmappedError(BROKEN_CALL if call.is_broken else CALL_IN_TEXT, call.form)

    @staticmethod
    def _steps(answer: Sequence[Message], first: int | None) -> list[tuple[Call, ...]]:
        steps = []
        for index, message in enumerate(answer):
            if message["role"] != "assistant":
                continue
            if message.get("weight") == 0:
                raise UnmappedError(NOT_TO_LEARN)
            if calls := calls_of(message, "response" if first is None else f"messages[{first + index}]"):
                steps.append(calls)
        return steps

    @staticmethod
    def _results(
        answer: Sequence[Message], calls: Sequence[Call], references: dict[str, str | list[str]]
    ) -> dict[str, Any]:
        texts_by_name = results_of(answer, {call.id: call.name for call in calls})
        results: dict[str, Any] = {}
        for name, texts in texts_by_name.items():
            tool_id = references.get(name)
            if isinstance(tool_id, str):
                results[tool_id] = texts[0] if len(texts) == 1 else texts
        return results


def _names(step: Sequence[Call]) -> list[str]:
    return sorted(call.name for call in step)


def _turns(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Start and end of each turn's answer: from after a user's message to before the next one."""
    start: int | None = None
    for index, message in enumerate(messages):
        if message["role"] in _USERS:
            if start is not None and _has_answer(messages[start:index]):
                yield start, index
                start = None
            if message["role"] == "user" or start is not None:
                start = index + 1
    if start is not None and _has_answer(messages[start:]):
        yield start, len(messages)


def _has_answer(messages: Sequence[Message]) -> bool:
    return any(message["role"] == "assistant" for message in messages)


def _uncovered(messages: Sequence[Message], turns: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Positions of answers that are in no turn, and of the user's last message if nobody answered it."""
    covered = {index for start, end in turns for index in range(start, end)}
    is_going = False
    for index, message in enumerate(messages):
        is_loose = message["role"] == "assistant" and index not in covered
        if is_loose and not is_going:
            yield index, UNASKED
        is_going = is_loose or (is_going and message["role"] in ("tool", "function"))
    last = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)
    if last is not None and all(message["role"] != "assistant" for message in messages[last:]):
        yield last, UNANSWERED


def _leaves_no_choice(tool_choice: Any) -> bool:
    """Whether `tool_choice`, or the older `function_call`, demands one tool, or forbids all."""
    if isinstance(tool_choice, dict):  # Anthropic writes `auto` and `any` as objects, too.
        return tool_choice.get("type") not in ("auto", "any")
    return bool(tool_choice == "none")


def _refuse_empty(answer: Sequence[Message]) -> None:
    """Raises `UnmappedError` if an answer without calls is a refusal, or empty."""
    replies = [message for message in answer if message["role"] == "assistant"]
    for message in replies:
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        if message.get("refusal") or any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts):
            raise UnmappedError(REFUSED)
    if not any(message.get("content") for message in replies):
        raise UnmappedError(EMPTY)


def _has_user_text(history: Sequence[Message]) -> bool:
    """Whether the user's last message is more than blanks; a picture alone is enough."""
    content = next((message.get("content") for message in reversed(history) if message["role"] == "user"), None)
    return bool(content.strip() if isinstance(content, str) else content)


def _has_open_calls(message: Message) -> bool:
    return message["role"] == "assistant" and bool(message.get("tool_calls"))
