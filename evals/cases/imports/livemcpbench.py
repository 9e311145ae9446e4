"""LiveMCPBench: tasks with the tools their annotators used, transcripts of agents, and the servers' tools.

A task is `{"task_id", "Question", "category", "Annotator Metadata": {"Tools": "1. NAME\\n2. NAME", …}}`; a transcript
is a task with the `messages` of an agent, which calls tools through `execute-tool` with `server_name`, `tool_name` and
`params`. `tools.json` is a list of servers, each `{"name", "category", "tools": {KEY: {"tools": [definitions]}}}`.

Annotators name tools without their server, so that a name that several servers have may be any of these. What they
wrote is one way of doing a task, not the only one.

ProgressiveMCPBench, which grew out of it, has tasks with an `answer`, `required_servers` and `required_tools`, and a
`servers.json` `{KEY: {"server_name", "category", "tools": [definitions]}}`. Its questions were changed after they were
annotated, so that `required_tools` count, and a case from annotations alone is a draft. So is one that requires several
tools: they are the least that a model is offered, and some of them do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.context import NOT_IN_CATALOG, CaseRow, Context, LabelSource, kind_of
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import calls_of, check_messages
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool, read_tool

NO_LABEL = "it has neither annotated tools nor messages"
_METADATA = "Annotator Metadata"
_EXECUTE = ("execute-tool", "execute_tool")
_NUMBERED = re.compile(r"^\s*(?:\d+\s*[.):、]|[-*•])\s*")
Performed = tuple[str, str, Mapping[str, Any], str | None]
"""Server, tool, arguments and the answer, where there is one."""


class LiveMCPBench:
    """Reads tasks, transcripts and servers."""

    label = "LiveMCPBench or ProgressiveMCPBench"

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a task, a transcript or a server."""
        return isinstance(data, Mapping) and (
            _METADATA in data or {"task_id", "Question"} <= data.keys() or _is_server(data) or _is_servers(data)
        )

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect the tools of a server."""
        if not _is_server(record.data) and not _is_servers(record.data):
            return
        servers = record.data if _is_servers(record.data) else record.data["tools"]
        for key, server in servers.items():
            tools = server.get("tools") if isinstance(server, Mapping) else None
            category = server.get("category") if _is_servers(record.data) else record.data.get("category")
            if not isinstance(tools, list):
                raise BrokenError("wrong-type", f"The server {key!r} has no list of `tools`.")
            for index, entry in enumerate(tools):
                if (tool := read_tool(entry, index)) is not None:
                    pool.add(tool, plugin=key, category=category if isinstance(category, str) else "")

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The case of a task or a transcript."""
        data = record.data
        if _is_server(data) or _is_servers(data):
            return
        if not isinstance(data, Mapping) or not isinstance(data.get("Question"), str):
            raise BrokenError("wrong-type", "A task has a `Question`, which is text.")
        performed = list(_performed(data["messages"])) if data.get("messages") is not None else None
        names = _annotated(data.get(_METADATA))
        row: CaseRow = {"id": str(data.get("task_id") or ""), "query": data["Question"]}
        required = data.get("required_tools")
        is_recorded = names is None or context.settings.labels is LabelSource.RECORDED
        if is_recorded and performed is None and not required:
            raise UnmappedError(NO_LABEL)
        if required and performed is None:
            row["expected"] = list(_required(required, data.get("required_servers"), context))
            is_recorded = False
        elif is_recorded:
            row["expected"] = [_recorded_call(call, context) for call in performed or ()]
        else:
            row["expected"] = [{"tool": context.reference(name, None)} for name in names or ()]
        if results := _results(performed or (), row["expected"], context):
            row["results"] = results
        category = data.get("category")
        tags = [category] if isinstance(category, str) and category.strip() else []
        row |= context.common(tags=tags, kind=kind_of([[call] for call in row["expected"]]))
        is_doubtful = len(required) > 1 if required else "answer" in data or "answers" in data
        if (is_recorded or is_doubtful) and not context.settings.reviewed:
            row["draft"] = True
        yield row

    def finish(self, context: Context) -> None:
        """Nothing: no record refers to another."""


def _is_server(data: Any) -> bool:
    return isinstance(data, Mapping) and isinstance(data.get("tools"), dict) and "messages" not in data


def _is_servers(data: Any) -> bool:
    return (
        isinstance(data, Mapping)
        and bool(data)
        and all(isinstance(server, Mapping) and {"server_name", "tools"} <= server.keys() for server in data.values())
    )


def _required(tools: Any, servers: Any, context: Context) -> Iterator[CaseRow]:
    """A call of each required tool, at any of the required servers that has it."""
    if not isinstance(tools, list) or not all(isinstance(name, str) for name in tools):
        raise BrokenError("wrong-type", "`required_tools` must be a list of names.")
    for name in tools:
        paths = [f"{server}/{name}" for server in servers] if isinstance(servers, list) else []
        tool_ids = [tool for path in paths if isinstance(tool := context.names.resolve(path), str)]
        yield {"tool": (tool_ids[0] if len(tool_ids) == 1 else tool_ids) if tool_ids else context.reference(name, None)}


def _annotated(metadata: Any) -> list[str] | None:
    """Names of tools that an annotator listed; `None` if there is no list."""
    written = metadata.get("Tools") if isinstance(metadata, Mapping) else None
    if not isinstance(written, str):
        return None
    lines = (_NUMBERED.sub("", line).strip().strip("`") for line in written.splitlines())
    return [line for line in lines if line]


def _performed(value: Any) -> Iterator[Performed]:
    """Every call of a tool through `execute-tool`; a search for tools does not count as a selection."""
    messages = check_messages(value)
    answers = {
        str(message.get("tool_call_id")): content_text(message.get("content"))
        for message in messages
        if message["role"] == "tool"
    }
    for index, message in enumerate(messages):
        for call in calls_of(message, f"messages[{index}]") if message["role"] == "assistant" else ():
            if call.name in _EXECUTE:
                call_arguments = call.arguments
                server, tool, params = (
                    call_arguments.get("server_name"),
                    call_arguments.get("tool_name"),
                    call_arguments.get("params"),
                )
                if not isinstance(tool, str) or not tool.strip():
                    raise BrokenError("wrong-type", f"A call of {call.name!r} in `messages[{index}]` names no tool.")
                arguments = params if isinstance(params, dict) else {}
                yield server if isinstance(server, str) else "", tool, arguments, answers.get(call.id)


def _recorded_call(call: Performed, context: Context) -> CaseRow:
    server, tool, arguments, _ = call
    reference = _tool_of(server, tool, context)
    if reference is None:
        raise UnmappedError(NOT_IN_CATALOG, f"{server}/{tool}")
    keeps = context.settings.keeps(recorded=True) and arguments
    return {"tool": reference} | ({"args": dict(arguments)} if keeps else {})


def _tool_of(server: str, tool: str, context: Context) -> str | list[str] | None:
    resolved = context.names.resolve(f"{server}/{tool}") if server else None
    if isinstance(resolved, str):
        return resolved
    try:
        return context.reference(tool, None)
    except UnmappedError:
        return None


def _results(performed: Sequence[Performed], expected: Sequence[CaseRow], context: Context) -> CaseRow:
    """Results of the label's tools in the transcript, in order, by tool id."""
    expected_ids = {
        tool for call in expected for tool in (call["tool"] if isinstance(call["tool"], list) else [call["tool"]])
    }
    results: CaseRow = {}
    for server, tool, _, answer in performed:
        tool_id = _tool_of(server, tool, context)
        if isinstance(tool_id, str) and tool_id in expected_ids and answer is not None:
            results.setdefault(tool_id, []).append(answer)
    return results
