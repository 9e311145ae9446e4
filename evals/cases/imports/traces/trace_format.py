"""Recorded conversations of agents as drafts of cases.

A reader turns the values of a file into exchanges (messages in OpenAI's form, with the tools offered). The rules of
message logs make cases of them, one for each turn of the user. What an agent carries along is long: of the history
the last turns are kept, and of a tool's answer the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.context import CaseRow, Context
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import Message, opening
from toolbelt.evals.cases.imports.openai_log import exchange_rows
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.evals.cases.imports.traces.conversations import OTHER_SHAPE, Attempt, joined

MAX_HISTORY = 32_000
"""Characters of the messages before a turn, as JSON, that are kept: its last whole turns."""
MAX_ANSWER = 2_000
"""Characters of a tool's answer that are kept."""
SHORTENED = f"of a long history the last turns are kept, {MAX_HISTORY:,} characters"
CUT = f"of a tool's long answer the first {MAX_ANSWER:,} characters are kept"
NO_CONVERSATION = "There is no conversation in this file that can be read as this format."
Read = Callable[[Sequence[Any]], Iterator[Attempt]]
"""Makes the conversations of a file from its JSON values, in order."""


class TraceReader(Protocol):
    """The module of a format."""

    def recognises(self, data: Any, /) -> bool:
        """Whether a value of a file looks like this format."""
        ...

    def read(self, values: Sequence[Any], /) -> Iterator[Attempt]:
        """The conversations of a file."""
        ...


class TraceFormat:
    """Reads files of recorded conversations.

    Args:
        label: The format's name for people.
        read: Makes conversations.
    """

    def __init__(self, label: str, read: Read) -> None:
        self.label = label
        self._read = read

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect the tools that were offered."""
        for exchange in self._exchanges(record)[0]:
            if exchange.tools is not None:
                pool.add_list(exchange.tools)

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a file; a conversation of which none can be made does not end the others."""
        exchanges, left_out = self._exchanges(record)
        for reason in left_out:
            if isinstance(reason, BrokenError):
                context.report.add_broken(*reason.all_findings(record.source, record.line))
            else:
                context.report.leave_out(record.source, record.line, reason.reason, reason.detail)
        stem = record.own_id.rpartition("-")[0]
        for number, found in enumerate(exchanges, start=1):
            exchange = found if found.id or len(exchanges) == 1 else replace(found, id=f"{stem}-{number}")
            try:
                for row in exchange_rows(exchange, context, record):
                    yield _shortened(row, exchange, context)
            except UnmappedError as reason:
                detail = ": ".join(filter(None, (exchange.id, reason.detail)))
                context.report.leave_out(record.source, record.line, reason.reason, detail)
            except BrokenError as error:
                context.report.add_broken(*error.all_findings(record.source, record.line))

    def finish(self, context: Context) -> None:
        """Nothing: no file refers to another."""

    def _exchanges(self, record: Record) -> tuple[list[LoggedExchange], list[UnmappedError | BrokenError]]:
        try:
            exchanges, left_out = joined(self._read(record.data))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise BrokenError("wrong-type", f"{OTHER_SHAPE} ({type(error).__name__}: {error}).") from None
        broken = [each for each in left_out if isinstance(each, BrokenError)]
        if not exchanges and len(broken) == len(left_out) > 0:
            raise broken[0]
        if not exchanges and not left_out:
            raise BrokenError("no-messages", NO_CONVERSATION)
        return exchanges, left_out


def _shortened(row: CaseRow, exchange: LoggedExchange, context: Context) -> CaseRow:
    unknown = {name for name in exchange.own_tools if not context.knows(name)}
    if "results" in row:
        row["results"] = {name: _cut(result, context) for name, result in row["results"].items()}
    if "messages" not in row:
        return row
    messages: list[Message] = row["messages"]
    starts = [index for index, message in enumerate(messages) if message["role"] == "user"]
    kept: list[Message] = []
    size, end = 0, len(messages)
    for start in reversed(starts):  # from the end, so that a long session is not read again for each of its turns
        turn = [_with_short_answer(each, context) for each in _without_calls(messages[start:end], unknown, context)]
        size += len(json.dumps(turn))
        if kept and size > MAX_HISTORY:
            context.report.note(SHORTENED)
            break
        kept, end = [*turn, *kept], start
    system = [message for message in messages[: starts[0]] if message["role"] in ("system", "developer")]
    return {key: value for key, value in row.items() if key != "messages"} | opening([*system, *kept])


def _with_short_answer(message: Message, context: Context) -> Message:
    return {**message, "content": _cut(message["content"], context)} if message["role"] == "tool" else message


def _without_calls(messages: Sequence[Message], names: set[str], context: Context) -> Iterator[Message]:
    """The messages without the calls of these tools and their answers; other calls by the names in the catalog."""
    gone: set[str] = set()
    for message in messages:
        if message["role"] == "tool" and message["tool_call_id"] in gone:
            continue
        if calls := message.get("tool_calls"):
            gone |= {str(call["id"]) for call in calls if call["function"]["name"] in names}
            kept = [_renamed(call, context) for call in calls if call["function"]["name"] not in names]
            if not kept and not content_text(message.get("content")):
                continue
            others = {key: value for key, value in message.items() if key != "tool_calls"}
            yield others | ({"tool_calls": kept} if kept else {})
        else:
            yield message


def _renamed(call: dict[str, Any], context: Context) -> dict[str, Any]:
    name = call["function"]["name"]
    tool_id = context.reference(name, None) if context.knows(name) else name
    if not isinstance(tool_id, str) or tool_id == name:
        return call
    return {**call, "function": {**call["function"], "name": context.catalog.wire_names[tool_id]}}


def _cut(result: Any, context: Context) -> Any:
    if isinstance(result, list):
        return [_cut(one, context) for one in result]
    if not isinstance(result, str) or len(result) <= MAX_ANSWER:
        return result
    context.report.note(CUT)
    return f"{result[:MAX_ANSWER]}\n[truncated — {len(result)} chars total]"
