"""The reducer of lists of records, such as tickets: counts by status, and the first open records (rule R5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.text import add_note, has_note, read_json, replace_if_shorter
from toolbelt.runtime.results import ToolResult

MAX_RECORDS = 10
TOP = 5
_PARTS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "key", "number", "identifier", "ticket", "ticket_id", "issue", "uuid"),
    "title": ("title", "name", "summary", "subject", "description"),
    "status": ("status", "state", "column", "stage", "lane", "list", "phase"),
    "assignee": ("assignee", "assignees", "assigned_to", "assigned", "owner"),
    "priority": ("priority", "severity", "urgency"),
}
"""The shown parts of a record, and the keys that they may have, the likeliest first."""
_DONE_KEYS = ("done", "completed", "complete", "closed", "resolved", "finished", "archived")
"""Keys with a boolean instead of a status."""
_NAME_KEYS = ("name", "display_name", "displayname", "login", "username", "title", "label", "value", "email", "id")
_CLOSED = frozenset(
    {
        *("done", "closed", "complete", "completed", "resolved", "cancelled", "canceled", "archived", "merged"),
        *("fixed", "finished", "wontfix", "wont fix", "wont do", "duplicate", "rejected", "abandoned", "deleted"),
        *("released", "shipped", "delivered", "deployed", "invalid", "obsolete", "declined", "dismissed", "verified"),
        *("not planned", "closed as duplicate", "closed as not planned", "solved", "accepted", "dropped"),
    }
)
"""Statuses of closed records; compared without case and punctuation."""
_RANKS: Mapping[str, int] = {
    word: rank
    for rank, words in enumerate(
        (
            ("p0", "blocker", "critical", "urgent", "highest", "immediate", "sev0", "s0"),
            ("p1", "high", "major", "important", "sev1", "s1"),
            ("p2", "medium", "normal", "moderate", "default", "sev2", "s2"),
            ("p3", "low", "minor", "sev3", "s3"),
            ("p4", "lowest", "trivial", "none", "sev4", "s4"),
        )
    )
    for word in words
}
"""Ranks of priority words. Numbers have none: in some systems 1 is the highest priority, in others the lowest."""
_UNRANKED = 2
_NO_STATUS = "(no status)"
_MAX_TEXT_CHARS = 160


@dataclass(frozen=True, slots=True)
class RecordsReducer:
    """Summarizes a long list of records: the count of each status, and the first open records.

    The records are a JSON list of objects, or the one long list of them in an object, whose other keys stay. Open is
    what has no status that closes (`done`, `resolved`, `Cancelled`, ...), and so what has none at all. The most
    pressing come first where priorities are words (`high`, `P1`), else they come in the order of the list.

    Attributes:
        tool_name: The tool whose results these are.
        max_records: Records that are left as they are.
        top: Open records that are shown.
    """

    tool_name: str = "kanban_list"
    max_records: int = MAX_RECORDS
    top: int = TOP

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:  # noqa: ARG002  # of the protocol
        """The result with a summary in place of a long list."""
        if not result.ok or has_note(result.value):
            return result
        document = read_json(result.value)
        location = _find_records(result.structured if document is None else document, self.max_records)
        if location is None:
            return result
        list_key, records, parent = location
        summary, note = self._summarize(records)
        reduced = summary if list_key is None else {**parent, list_key: summary}
        try:
            text = json.dumps(reduced, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):  # what a program returned may hold anything
            return result
        return replace_if_shorter(result, add_note(note, text))

    def _summarize(self, records: Sequence[Mapping[Any, Any]]) -> tuple[dict[str, Any], str]:
        plain = [_fold_keys(record) for record in records]
        keys = {part: _find_key(plain, names) for part, names in _PARTS.items()}
        statuses = [_status(record, keys["status"]) for record in plain]
        spellings: dict[str, str] = {}
        counts: dict[str, int] = {}
        for status in statuses:
            name = spellings.setdefault(status.casefold(), status)
            counts[name] = counts.get(name, 0) + 1
        opened = [record for record, status in zip(plain, statuses, strict=True) if _plain_word(status) not in _CLOSED]
        opened.sort(key=lambda record: _rank(record.get(keys["priority"] or "")))
        shown = [
            {
                part: value
                for part, key in keys.items()
                if key and (value := _shorten(record.get(key))) not in (None, "")
            }
            for record in opened[: self.top]
        ]
        summary = {"count": len(records), "by_status": counts, "open": len(opened), "top_open": shown}
        which = f"the first {len(shown)} of {len(opened)} open ones" if shown else "none of them open"
        note = f"{len(records)} records, with counts by status, {which}; ask for one by its id, or filter, for more"
        return summary, note


def _find_records(
    document: Any, max_records: int
) -> tuple[str | None, Sequence[Mapping[Any, Any]], Mapping[Any, Any]] | None:
    """The key of the long list (`None` if the document is the list), its records, and the object that contains it."""
    if _are_records(document) and len(document) > max_records:
        return None, document, {}
    if not isinstance(document, Mapping):
        return None
    keys = [key for key, value in document.items() if _are_records(value) and len(value) > max_records]
    return (keys[0], document[keys[0]], document) if len(keys) == 1 else None


def _are_records(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _fold_keys(record: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).casefold().replace("-", "_"): value for key, value in record.items()}


def _find_key(records: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The likeliest key with a value in any record."""
    used = {key for record in records for key in names if _shorten(record.get(key)) not in (None, "")}
    return next((name for name in names if name in used), None)


def _status(record: Mapping[str, Any], key: str | None) -> str:
    if key is not None:
        status = _shorten(record.get(key))
        return _NO_STATUS if status in (None, "") else str(status)
    switches = [record[name] for name in _DONE_KEYS if isinstance(record.get(name), bool)]
    if not switches:
        return _NO_STATUS
    return "done" if any(switches) else "open"


def _shorten(value: Any) -> Any:
    """A value for the summary: a person or a column by its name, a long text by its beginning."""
    if isinstance(value, Mapping):
        folded = _fold_keys(value)
        value = next((folded[key] for key in _NAME_KEYS if isinstance(folded.get(key), str | int)), None)
    if isinstance(value, list | tuple):
        names = [str(name) for item in value[:3] if not isinstance(item, list | tuple) and (name := _shorten(item))]
        value = ", ".join(names) + (f" and {len(value) - 3} more" if len(value) > 3 else "")
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT_CHARS else f"{value[:_MAX_TEXT_CHARS]}..."
    return value if isinstance(value, int | float) else None


def _plain_word(text: str) -> str:
    return " ".join(
        re.sub(r"[^\w\s-]|_", lambda match: " " if match[0] == "_" else "", text.casefold()).replace("-", " ").split()
    )


def _rank(priority: Any) -> int:
    word = _shorten(priority)
    return _RANKS.get(_plain_word(word), _UNRANKED) if isinstance(word, str) else _UNRANKED
