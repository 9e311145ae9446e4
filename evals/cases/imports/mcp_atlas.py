"""MCP-Atlas: tasks with the tools that an agent is offered and a trajectory that solves them.

A task is a row of a table, CSV or Parquet, with `TASK`, `PROMPT`, `ENABLED_TOOLS` (names, or objects with a `name`: a
list, or JSON of one) and `TRAJECTORY` (JSON: messages of an assistant with `tool_calls`, and the tools' answers). Tools
are named `server_tool`. The trajectory is what an expert did and others reviewed; it is one right way of several.
Claims about the answer (`GTFA_CLAIMS`) are not read: no case holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.context import NOT_OFFERED, CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import calls_of, check_messages, results_of, without_failed
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.sources import parse_json

NO_TRAJECTORY = "it has no trajectory with a call"
ONE_WAY = "a trajectory is one right way of a task; a run over these cases counts every other way as wrong"
OFFERED_LESS = "a task offers tools that are not in the catalog; its case does without them"
_FIELDS = frozenset({"TASK", "PROMPT", "ENABLED_TOOLS"})
_RENAMED = {"brave_brave_web_search": "brave-search_brave_web_search"}
"""Names in trajectories that the benchmark's own scripts replace (July 2026)."""


class McpAtlas:
    """Reads tasks of MCP-Atlas."""

    label = "MCP-Atlas"

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a task."""
        return isinstance(data, Mapping) and data.keys() >= _FIELDS

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Nothing: tasks name tools, and do not define them."""

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The case of a task."""
        data = record.data
        if not McpAtlas.recognises(data) or not isinstance(data["PROMPT"], str):
            raise BrokenError("wrong-type", "A task has a `TASK`, a `PROMPT` and `ENABLED_TOOLS`.")
        trajectory = _parsed(data.get("TRAJECTORY"), "TRAJECTORY")
        messages = check_messages(trajectory, "TRAJECTORY") if trajectory else []
        steps = [
            calls_of(message, f"TRAJECTORY[{index}]")
            for index, message in enumerate(messages)
            if message["role"] == "assistant"
        ]
        calls = [call for step in without_failed(steps, messages, context.report) for call in step]
        if not calls:
            raise UnmappedError(NO_TRAJECTORY)
        context.report.note(ONE_WAY)
        tools = {name: _tool(name, context) for name in dict.fromkeys(call.name for call in calls)}
        row: CaseRow = {"id": str(data["TASK"]), "query": data["PROMPT"]}
        row["expected"] = [
            {"tool": tools[call.name]}
            | ({"args": dict(call.arguments)} if call.arguments and context.settings.keeps(recorded=True) else {})
            for call in calls
        ]
        answers = results_of(messages, {call.id: call.name for call in calls})
        if results := {
            tool: answers[name] for name, tool in tools.items() if name in answers and isinstance(tool, str)
        }:
            row["results"] = results
        row |= _universe(data["ENABLED_TOOLS"], tools, context)
        yield row | context.common(kind=kind_of([[call] for call in calls]))

    def finish(self, context: Context) -> None:
        """Nothing: no record refers to another."""


def _tool(name: str, context: Context) -> str | list[str]:
    return context.spelled_reference(_RENAMED.get(name, name))


def _universe(written: Any, expected: Mapping[str, str | list[str]], context: Context) -> CaseRow:
    """`offered` for a row: the enabled tools that are in the catalog."""
    entries = _parsed(written, "ENABLED_TOOLS") or []
    offered: dict[str, None] = {}
    complete = True
    for entry in entries:
        name = entry.get("name") if isinstance(entry, Mapping) else entry
        if not isinstance(name, str):
            raise BrokenError("wrong-type", "`ENABLED_TOOLS` must be a list of names, or of objects with a `name`.")
        try:
            tool = _tool(name, context)
        except UnmappedError:
            complete = False
            continue
        offered |= dict.fromkeys([tool] if isinstance(tool, str) else tool)
    if not complete:
        context.report.note(OFFERED_LESS)
    if offered and (
        lacking := [
            name
            for name, tool in expected.items()
            if offered.keys().isdisjoint([tool] if isinstance(tool, str) else tool)
        ]
    ):
        raise UnmappedError(NOT_OFFERED, lacking[0])
    return context.universe(tuple(offered) or None)


def _parsed(value: Any, field: str) -> list[Any]:
    """A list, written as one, as JSON, or as names with commas between them."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{", '"'):
        try:
            value = parse_json(value, field).data
        except InvalidFileError as error:
            raise BrokenError("syntax", f"`{field}` is not JSON: {error.findings[0].message}") from None
    elif isinstance(value, str) and field == "ENABLED_TOOLS":
        value = [name.strip() for name in value.split(",") if name.strip()]
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        raise BrokenError("wrong-type", f"`{field}` must be a list, or JSON of one.")
    return value
