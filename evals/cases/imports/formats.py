"""The formats that can be imported, and how they are recognised."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.audit_log import AuditLogCalls
from toolbelt.evals.cases.imports.bfcl import Bfcl
from toolbelt.evals.cases.imports.context import Format
from toolbelt.evals.cases.imports.inspect_samples import InspectSamples
from toolbelt.evals.cases.imports.livemcpbench import LiveMCPBench
from toolbelt.evals.cases.imports.mcp_atlas import McpAtlas
from toolbelt.evals.cases.imports.openai_log import OpenAILog
from toolbelt.evals.cases.imports.promptfoo import Promptfoo
from toolbelt.evals.cases.imports.queries import Queries
from toolbelt.evals.cases.imports.sources import SourceFile, open_source
from toolbelt.evals.cases.imports.traces import (
    ai_sdk,
    claude_code,
    codex,
    deepeval,
    gemini,
    langchain,
    langfuse,
    langsmith,
    otlp,
    pydantic_ai,
)
from toolbelt.evals.cases.imports.traces.trace_format import TraceFormat, TraceReader
from toolbelt.evals.cases.layout import LayoutKind, layout_of_line
from toolbelt.findings import Finding, Severity

_LOOKED_AT = 100
"""Records at most that are read to recognise a format."""


@dataclass(frozen=True, slots=True)
class FormatEntry:
    """A format of sources.

    Attributes:
        label: Its name for people.
        recognises: Whether the data of a record looks like this format.
        make: Makes a reader for one import.
        layout: The layout of the cases that it writes.
        is_whole: Whether a conversation is spread over the records of a file.
        is_recorded: Whether it has what real users wrote, which is redacted unless the user objects.
    """

    label: str
    recognises: Callable[[Any], bool]
    make: Callable[[], Format]
    layout: LayoutKind = LayoutKind.OWN
    is_whole: bool = False
    is_recorded: bool = False


def _trace(label: str, reader: TraceReader) -> FormatEntry:
    return FormatEntry(
        label, reader.recognises, lambda: TraceFormat(label, reader.read), is_whole=True, is_recorded=True
    )


FORMATS: Mapping[str, FormatEntry] = MappingProxyType(
    {
        "deepeval": _trace("test cases of DeepEval", deepeval),
        "livemcpbench": FormatEntry(LiveMCPBench.label, LiveMCPBench.recognises, LiveMCPBench),
        "bfcl": FormatEntry(Bfcl.label, Bfcl.recognises, Bfcl, LayoutKind.PUBLIC),
        "promptfoo": FormatEntry(Promptfoo.label, Promptfoo.recognises, Promptfoo),
        "inspect": FormatEntry(InspectSamples.label, InspectSamples.recognises, InspectSamples),
        "toolbelt-audit": FormatEntry(AuditLogCalls.label, AuditLogCalls.recognises, AuditLogCalls, is_recorded=True),
        "otlp": _trace("traces in OTLP JSON", otlp),
        "codex": _trace("Codex sessions", codex),
        "langsmith": _trace("runs of LangSmith", langsmith),
        "langfuse": _trace("observations of Langfuse", langfuse),
        "gemini": _trace("logs of Gemini", gemini),
        "ai-sdk": _trace("messages of the AI SDK", ai_sdk),
        "pydantic-ai": _trace("messages of pydantic-ai", pydantic_ai),
        "langchain": _trace("messages of LangChain", langchain),
        "claude-code": _trace("Claude Code sessions", claude_code),
        "openai": FormatEntry(OpenAILog.label, OpenAILog.recognises, OpenAILog, is_recorded=True),
        "mcp-atlas": FormatEntry(McpAtlas.label, McpAtlas.recognises, McpAtlas),
        "queries": FormatEntry(Queries.label, Queries.recognises, Queries),
    }
)
"""All formats, in the order in which they are tried."""


def is_foreign(reference: str) -> bool:
    """Whether a file is no file of cases of our own, but one to be imported first.

    Args:
        reference: Of a dataset, as the user wrote it.
    """
    if not os.path.isfile(reference):  # noqa: PTH113
        return False
    with ExitStack() as stack:
        source = open_source(reference, stack, io.BytesIO())
        if not source.has_lines:
            return True
        record = next(iter(source.records(lambda _: None)), None)
        data = None if record is None else record.data
        if not isinstance(data, Mapping) or layout_of_line(data) is not None:
            return False
        if {"query", "messages"} & data.keys() and "expected" in data:
            return False
        return any(entry.recognises(data) for entry in FORMATS.values())


def find_format(sources: Sequence[SourceFile]) -> str:
    """The format of all these sources, a key of `FORMATS`.

    Raises:
        InvalidFileError: a source has no known format, the sources have several, or no record of a source can be
            read; then with every mistake.
    """
    by_source = {source.name: _find(source) for source in sources}
    kinds = dict.fromkeys(kind for kind in by_source.values() if kind is not None)
    if len(kinds) == 1 and None not in by_source.values():
        return next(iter(kinds))
    findings = [_unknown(name) for name, kind in by_source.items() if kind is None]
    if len(kinds) > 1:
        listed = ", ".join(f"{name} is {FORMATS[kind].label}" for name, kind in by_source.items() if kind is not None)
        message = f"These are of several kinds ({listed}); import each kind into a folder of its own."
        findings.append(Finding("several-formats", Severity.ERROR, message))
    raise InvalidFileError(findings)


def _find(source: SourceFile) -> str | None:
    complaints: list[Finding] = []
    seen = False
    for record in islice(source.records(complaints.extend), _LOOKED_AT):
        seen = True
        kind = next((kind for kind, entry in FORMATS.items() if entry.recognises(record.data)), None)
        if kind is not None:
            return kind
    if not seen:
        raise InvalidFileError(complaints[:_LOOKED_AT] or [_empty(source.name)])
    return None


def _unknown(name: str) -> Finding:
    known = ", ".join(f"{kind} ({entry.label})" for kind, entry in FORMATS.items())
    message = f"This looks like none of what can be read: {known}; name its format with --format."
    return Finding("unknown-format", Severity.ERROR, message, name)


def _empty(name: str) -> Finding:
    return Finding("empty", Severity.ERROR, "There is nothing in this file.", name)


def empty_sources(sources: Iterable[SourceFile]) -> list[Finding]:
    """A finding for each source that is empty."""
    findings = []
    for source in sources:
        complaints: list[Finding] = []
        if next(iter(source.records(complaints.extend)), None) is None and not complaints:
            findings.append(_empty(source.name))
    return findings
