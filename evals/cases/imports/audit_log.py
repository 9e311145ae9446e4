"""Audit logs of the gateway as drafts of cases (rule M10).

The log has calls, and their arguments where the gateway ran with `--log-arguments`; it never has the user's words. So
the `query` of a draft lists the arguments of the call, for somebody who writes what the user may have asked. Only
calls that succeeded make a case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.evals.cases.references import Unresolved

NO_ARGUMENTS = "the arguments of the call were not logged"
NOTHING_ASKED = "a call without arguments, which says nothing about what was asked"
FAILED = "a call that failed or was refused"
META_TOOL = "a call of one of the gateway's own tools"
QUERY_START = "Write here what the user asked. The tool was called with"
NO_WORDS = "an audit log does not have the user's words: each `query` must be rewritten, from the arguments in it"
_KINDS = ("session", "call", "guard", "started", "lost")
_MAX_VALUE_CHARS = 300


class AuditLogCalls:
    """Reads records of an audit log."""

    label = "audit log of toolbelt serve"

    def __init__(self) -> None:
        self._gateway_tools: set[str] = set()
        self._calls = 0

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like one."""
        return isinstance(data, Mapping) and data.get("record") in _KINDS and "time" in data

    def collect_tools(self, record: Record, pool: ToolPool) -> None:  # noqa: ARG002
        """Remember the gateway's own tools, which no server has; the log has no definitions."""
        offered = record.data.get("offered") if isinstance(record.data, Mapping) else None
        for tool in offered if isinstance(offered, list) else ():
            if isinstance(tool, Mapping) and tool.get("server") == "":
                self._gateway_tools.add(str(tool.get("name")))

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The case of a call."""
        data = record.data
        if not isinstance(data, Mapping) or "record" not in data:
            raise BrokenError("wrong-type", "A record of an audit log is an object with `record`.")
        if data["record"] != "call":
            return
        if data.get("status") != "ok":
            raise UnmappedError(FAILED, str(data.get("reason") or data.get("status")))
        name, arguments = str(data.get("tool", "")), data.get("arguments")
        if name in self._gateway_tools and isinstance(context.names.resolve(name), Unresolved):
            raise UnmappedError(META_TOOL, name)
        if not isinstance(arguments, Mapping):
            raise UnmappedError(NO_ARGUMENTS)
        if not arguments:
            raise UnmappedError(NOTHING_ASKED, name)
        context.report.note(NO_WORDS)
        call: CaseRow = {"tool": context.reference(name, None)}
        if context.settings.keeps(recorded=True):
            call["args"] = dict(arguments)
        self._calls += 1
        listed = "; ".join(f"{key}: {_shown(value)}" for key, value in arguments.items())
        row: CaseRow = {"id": f"{data.get('session', 'call')}/{self._calls}", "query": f"{QUERY_START} {listed}"}
        row["expected"] = [call]
        row |= context.common(kind=kind_of([[call]]))
        # Not even `--reviewed` makes it a case: nobody has written its query yet.
        yield row | {"draft": True}

    def finish(self, context: Context) -> None:
        """Nothing: no record refers to another."""


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"
