"""Records of an audit log, and a log to write them to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.mcp.logs.audit import AuditLog, CallRecord, CallStatus, OfferedTool, SessionRecord

SESSION = SessionRecord(
    "s1",
    "claude\x1b[31m",
    "1.0",
    "2025-11-25",
    "developer",
    "",
    "abc",
    (OfferedTool("git_status", "git", 40), OfferedTool("search_tools", "", 60)),
    "estimate",
)
CALL = CallRecord("s1", "git_status", "git", CallStatus.OK, 0.0125, answer=("abcd" * 3,), bytes=20)


def make_log(folder: Path, reports: list[str] | None = None, **settings: Any) -> AuditLog:
    kept: list[str] = [] if reports is None else reports
    return AuditLog(folder, report=kept.append, count=EstimateCounter(), **settings)
