"""What the audit log says about tools: calls, failures, tokens, and what was offered and never called (M10)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.mcp.logs.audit import CallStatus, find_files

_RECORD_START = '{"record":'


class UsageBy(StrEnum):
    """What the rows are."""

    TOOL = "tool"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The calls of a tool, or of all tools of a server.

    Attributes:
        name: Wire name of the tool, or name of the server; empty for tools without server.
        server: Of the tool.
        tools: Number of tools that the row is about.
        sessions: Sessions in which it was offered or called.
        calls: How often it was called.
        failures: Calls that were refused, failed, or were answered with an error.
        statuses: Calls by status.
        definition_tokens: Tokens that its definition takes in each request, at last; 0 where it was never offered.
        answer_tokens: Of all answers whose tokens were counted.
        answer_bytes: Of all answers.
        seconds: Time of all calls together.
    """

    name: str
    server: str
    tools: int
    sessions: int
    calls: int
    failures: int
    statuses: Mapping[str, int]
    definition_tokens: int
    answer_tokens: int
    answer_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What an audit log comes to.

    Attributes:
        sessions: Number of sessions.
        rows: What was called, most calls first.
        never_called: What was offered and never called, most tokens first.
        lost: Records that the gateway could not write.
        damaged_lines: Lines that cannot be read.
        first: Time of the first record; empty without any.
        last: Time of the last one.
    """

    sessions: int
    rows: tuple[UsageRow, ...]
    never_called: tuple[UsageRow, ...]
    lost: int
    damaged_lines: int
    first: str
    last: str

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(row.calls for row in self.rows)

    @property
    def failures(self) -> int:
        """All calls that were refused, failed, or were answered with an error."""
        return sum(row.failures for row in self.rows)


@dataclass(slots=True)
class _Counts:
    server: str = ""
    tools: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    definition_tokens: dict[str, int] = field(default_factory=dict)
    answer_tokens: int = 0
    answer_bytes: int = 0
    milliseconds: float = 0.0

    def to_row(self, name: str) -> UsageRow:
        calls = self.statuses.total()
        failures = calls - self.statuses[CallStatus.OK]
        tokens = sum(self.definition_tokens.values())
        answers = (self.answer_tokens, self.answer_bytes, self.milliseconds / 1000)
        counts = (len(self.tools), len(self.sessions), calls, failures, dict(self.statuses), tokens)
        return UsageRow(name, self.server, *counts, *answers)


def find_sources(references: Iterable[str], folder: Path) -> list[Path]:
    """The files of an audit log.

    Args:
        references: Files, and folders with audit logs; those of `folder` if there are none.
        folder: Where the gateway writes.

    Raises:
        NotFoundError: a reference does not exist.
    """
    paths: list[Path] = []
    given = [Path(reference) for reference in references]
    for path in given:
        if not path.exists():
            raise NotFoundError("audit log", str(path), map(str, find_files(folder)))
        paths += find_files(path) if path.is_dir() else [path]
    return paths if given else find_files(folder)


def read_records(paths: Iterable[Path]) -> Iterator[dict[str, Any] | None]:
    """The records of audit logs, in order; `None` for each line that cannot be read.

    A full disk may have cut a line short, and another record may follow in the same line.
    """
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.strip():
                    yield from _read_line(line)


def _read_line(line: str) -> Iterator[dict[str, Any] | None]:
    if (data := _parse(line)) is not None:
        yield data
        return
    yield None
    start = 0
    while (start := line.find(_RECORD_START, start + 1)) > 0:
        if (data := _parse(line[start:])) is not None:
            yield data
            return


def _parse(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and isinstance(data.get("record"), str) else None


def summarize_usage(records: Iterable[Mapping[str, Any] | None], *, since: str, by: UsageBy) -> Usage:
    """Count an audit log.

    Args:
        records: As `read_records` gives them.
        since: Time of the first record that counts, as the log writes times; empty for all.
        by: What the rows are.
    """
    counts: dict[tuple[str, str], _Counts] = {}
    offers: dict[str, Mapping[str, Any]] = {}
    active: dict[str, None] = {}
    times: list[str] = []
    lost = damaged = 0

    def of(tool: str, server: str) -> _Counts:
        key = (tool, server) if by is UsageBy.TOOL else (server, server)
        row = counts.setdefault(key, _Counts(server))
        row.tools.add(tool)
        return row

    for record in records:
        if record is None:
            damaged += 1
            continue
        session, time = _text(record, "session"), _text(record, "time")
        if record["record"] == "session":
            offers[session] = record
        if time < since:
            continue
        times.append(time)
        match record["record"]:
            case "session":
                active[session] = None
            case "lost":
                lost += _number(record, "count")
            case "call":
                active[session] = None
                row = of(_text(record, "tool"), _text(record, "server"))
                row.sessions.add(session)
                row.statuses[_text(record, "status")] += 1
                row.answer_tokens += _number(record, "tokens")
                row.answer_bytes += _number(record, "bytes")
                row.milliseconds += _amount(record, "milliseconds")
            case _:
                pass
    for session in active:
        for tool in _offered(offers.get(session, {})):
            name = _text(tool, "name")
            row = of(name, _text(tool, "server"))
            row.sessions.add(session)
            row.definition_tokens[name] = _number(tool, "tokens")
    rows = [row.to_row(key[0]) for key, row in counts.items()]
    called = sorted((row for row in rows if row.calls), key=lambda row: (-row.calls, row.name))
    never_called = sorted((row for row in rows if not row.calls), key=lambda row: (-row.definition_tokens, row.name))
    span = (min(times, default=""), max(times, default=""))
    return Usage(len(active), tuple(called), tuple(never_called), lost, damaged, *span)


def _offered(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tools = record.get("offered")
    return [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _number(record: Mapping[str, Any], key: str) -> int:
    return int(_amount(record, key))


def _amount(record: Mapping[str, Any], key: str) -> float:
    value = record.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0
