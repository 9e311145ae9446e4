"""Samples of Inspect AI whose target, or a field of their metadata, names the tools that are right.

A sample is `{"input": text or messages, "target": …, "id"?, "metadata"?, …}`. The field that names the tools holds a
name, a list of names, or a list of calls (`{"tool" or "name" or "function", "args" or "arguments"}`); an empty list
means that no tool is right. Samples bring no tools, so that a catalog has to be given.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import as_sent, check_messages, opening, read_arguments
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool

TARGET_FIELDS = (
    "metadata.expected_tools",
    "metadata.expected_tool",
    "metadata.expected_calls",
    "metadata.tool_calls",
    "target",
)
"""Fields that may name the tools, in the order of the search; `target_field` replaces them."""
MULTIPLE_CHOICE = "a question of multiple choice, which no tool answers"
NO_TOOL_FIELD = "it has no field that names tools"
EMPTY_TARGET = "its target is empty, which may mean anything"
_ELSEWHERE = ("files", "sandbox", "setup")
_NAMES = ("tool", "name", "function", "tool_name", "toolName", "function_name", "api_name")
_ARGUMENTS = (
    "args",
    "arguments",
    "input_parameters",
    "inputParameters",
    "parameters",
    "kwargs",
    "params",
    "tool_input",
    "tool_args",
    "input",
)
"""Fields of a written call that may hold its arguments, an object or JSON of one, in the order of the search."""
_DESCRIBING = ("id", "type", "call_id", "tool_call_id", "index", "description", "reasoning")
_ABSENT = object()


class InspectSamples:
    """Reads samples of Inspect AI."""

    label = "Inspect AI samples"

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like one."""
        return isinstance(data, Mapping) and "input" in data and ("target" in data or "choices" in data)

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Nothing: samples have no tools."""

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The case of a sample."""
        data = record.data
        if not isinstance(data, Mapping) or "input" not in data:
            raise BrokenError("wrong-type", "A sample is an object with an `input`.")
        if data.get("choices"):
            raise UnmappedError(MULTIPLE_CHOICE)
        place, written = _target(data, context.settings.target_field)
        calls = list(_calls(written, place, context))
        row: CaseRow = {"id": "" if data.get("id") is None else str(data["id"]), **_opening(data["input"])}
        row["expected"] = calls
        for key in _ELSEWHERE:
            if data.get(key):
                context.report.note(f"`{key}` of samples is left aside: no tool is ever executed")
        tags = data.get("metadata", {}).get("tags") if isinstance(data.get("metadata"), Mapping) else None
        own_tags = [tag for tag in tags if isinstance(tag, str) and tag.strip()] if isinstance(tags, list) else []
        yield row | context.common(tags=own_tags, kind=kind_of([[call] for call in calls]))

    def finish(self, context: Context) -> None:
        """Nothing: no record refers to another."""


def _opening(value: Any) -> CaseRow:
    if isinstance(value, str):
        return {"query": value}
    messages = check_messages(value, "input")
    return opening(
        [
            {key: item for key, item in message.items() if key not in ("id", "source", "model")}
            for message in as_sent(messages)
        ]
    )


def _target(data: Mapping[str, Any], field: str | None) -> tuple[str, Any]:
    for place in TARGET_FIELDS if field is None else (field,):
        value: Any = data
        for part in place.split("."):
            value = value.get(part, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        if value is not _ABSENT and value is not None:
            return place, value
    raise UnmappedError(NO_TOOL_FIELD, field or "")


def _calls(value: Any, place: str, context: Context) -> Iterator[CaseRow]:
    if value == "":
        raise UnmappedError(EMPTY_TARGET)
    for index, entry in enumerate(
        [value] if isinstance(value, str | Mapping) else value if isinstance(value, list) else [_ABSENT]
    ):
        where = f"{place}[{index}]"
        if isinstance(entry, str):
            yield {"tool": context.reference(entry.strip(), None)}
        elif isinstance(entry, Mapping):
            yield expected_call(entry, where, context)
        else:
            raise BrokenError("wrong-type", f"`{place}` must name tools: a text, a list of texts, or a list of calls.")


def expected_call(
    entry: Mapping[str, Any],
    place: str,
    context: Context,
    find: Callable[[str, Context], str | list[str]] = lambda name, context: context.reference(name, None),
) -> CaseRow:
    """A call that somebody wrote down: the name of its tool, and arguments where it has some.

    A field that is neither, nor describes the call, is noted.

    Raises:
        BrokenError: it names no tool, or its arguments are no object.
        UnmappedError: there is no such tool.
    """
    if isinstance(entry.get("function"), Mapping):  # as OpenAI's API has it
        entry = entry["function"]
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is None and len(entry) == 1 and isinstance(next(iter(entry.values())), Mapping):
        (name,) = entry
        entry = {"name": name, "args": entry[name]}
    if name is None:
        raise BrokenError("wrong-type", f"`{place}` names no tool.")
    call: CaseRow = {"tool": find(name, context)}
    field = next((key for key in _ARGUMENTS if entry.get(key) is not None), "")
    if isinstance(written := entry.get(field), Mapping) and isinstance(written.get("properties"), Mapping):
        field = ""  # a definition: what the tool takes, not what it is given
    for key in entry.keys() - {field, *_NAMES, *_DESCRIBING}:
        if entry[key] not in (None, "", [], {}):
            context.report.note(f"left aside in expected calls, as it is no name and no arguments: `{key}`")
    arguments = read_arguments(entry.get(field), place)
    if arguments and context.settings.keeps(recorded=False):
        call["args"] = dict(arguments)
    return call


def python_calls(text: str, read: Callable[[ast.expr], Any] = ast.literal_eval) -> list[Any] | None:
    """Calls that are written as Python has them: `[get_weather(city="Oslo"), …]`, as ToolACE and BFCL do.

    Args:
        text: Nothing but calls; `None` comes of anything else.
        read: Reads the value of an argument.
    """
    try:
        tree = ast.parse(text, mode="eval").body
        calls = tree.elts if isinstance(tree, ast.List) else [tree]
        return [
            {"name": ast.unparse(call.func), "args": {str(one.arg): read(one.value) for one in call.keywords}}
            for call in calls
            if isinstance(call, ast.Call) and not call.args
        ] or None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
