"""Lists of records, such as the tickets of a board: how many of which status, and the first that are open (rule R5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.text import is_noted, noted, read_json, replace_value
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
"""What is shown of a record, and the keys it may be under, the likeliest first."""
_DONE_KEYS = ("done", "completed", "complete", "closed", "resolved", "finished", "archived")
"""Keys that say with a yes or no what others say with a status."""
_NAME_KEYS = ("name", "display_name", "displayname", "login", "username", "title", "label", "value", "email", "id")
_CLOSED = frozenset(
    {
        *("done", "closed", "complete", "completed", "resolved", "cancelled", "canceled", "archived", "merged"),
        *("fixed", "finished", "wontfix", "wont fix", "wont do", "duplicate", "rejected", "abandoned", "deleted"),
        *("released", "shipped", "delivered", "deployed", "invalid", "obsolete", "declined", "dismissed", "verified"),
        *("not planned", "closed as duplicate", "closed as not planned", "solved", "accepted", "dropped"),
    }
)
"""Statuses that ask for nothing more; compared ignoring case and punctuation."""
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
"""Words that say how pressing something is. Numbers do not: in some systems 1 is the most, in others the least."""
_UNRANKED = 2
_NO_STATUS = "(no status)"
_LONGEST_TEXT = 160


@dataclass(frozen=True, slots=True)
class RecordsReducer:
    """Sums a long list of records up: how many there are of each status, and the first that are open.

    The records are a JSON list of objects, or the one long list of them in an object, whose other keys stay. Open is
    what has no status that closes (`done`, `resolved`, `Cancelled`, ...), and so what has none at all. The most
    pressing come first where priorities are words (`high`, `P1`), else they come in the order of the list.

    Attributes:
        tool_name: The tool whose results these are.
        max_records: Records that are left as they are.
        top: Open ones that are named.
    """

    tool_name: str = "kanban_list"
    max_records: int = MAX_RECORDS
    top: int = TOP

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:  # noqa: ARG002  # of the protocol
        """The result with a summary in place of the list, if that is long."""
        if not result.ok or is_noted(result.value):
            return result
        document = read_json(result.value)
        found = _find_records(result.structured if document is None else document, self.max_records)
        if found is None:
            return result
        where, records, rest = found
        summary, note = self._sum_up(records)
        made = summary if where is None else {**rest, where: summary}
        try:
            text = json.dumps(made, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):  # what a program returned may hold anything
            return result
        return replace_value(result, noted(note, text))

    def _sum_up(self, records: Sequence[Mapping[Any, Any]]) -> tuple[dict[str, Any], str]:
        plain = [_fold_keys(record) for record in records]
        keys = {part: _find_key(plain, names) for part, names in _PARTS.items()}
        statuses = [_status(record, keys["status"]) for record in plain]
        spelled: dict[str, str] = {}
        counts: dict[str, int] = {}
        for status in statuses:
            name = spelled.setdefault(status.casefold(), status)
            counts[name] = counts.get(name, 0) + 1
        opened = [record for record, status in zip(plain, statuses, strict=True) if _plain_word(status) not in _CLOSED]
        opened.sort(key=lambda record: _rank(record.get(keys["priority"] or "")))
        shown = [
            {part: told for part, key in keys.items() if key and (told := _tell(record.get(key))) not in (None, "")}
            for record in opened[: self.top]
        ]
        summary = {"count": len(records), "by_status": counts, "open": len(opened), "top_open": shown}
        which = f"the first {len(shown)} of {len(opened)} open ones" if shown else "none of them open"
        note = f"{len(records)} records, told by count and status, {which}; ask for one by its id, or filter, for more"
        return summary, note


def _find_records(document: Any, few: int) -> tuple[str | None, Sequence[Mapping[Any, Any]], Mapping[Any, Any]] | None:
    """The key of the list that is longer than a few (`None` for none), the records, and the object around them."""
    if _are_records(document) and len(document) > few:
        return None, document, {}
    if not isinstance(document, Mapping):
        return None
    keys = [key for key, value in document.items() if _are_records(value) and len(value) > few]
    return (keys[0], document[keys[0]], document) if len(keys) == 1 else None


def _are_records(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _fold_keys(record: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).casefold().replace("-", "_"): value for key, value in record.items()}


def _find_key(records: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The likeliest key that any record says something under."""
    said = {key for record in records for key in names if _tell(record.get(key)) not in (None, "")}
    return next((name for name in names if name in said), None)


def _status(record: Mapping[str, Any], key: str | None) -> str:
    if key is not None:
        told = _tell(record.get(key))
        return _NO_STATUS if told in (None, "") else str(told)
    switches = [record[name] for name in _DONE_KEYS if isinstance(record.get(name), bool)]
    if not switches:
        return _NO_STATUS
    return "done" if any(switches) else "open"


def _tell(value: Any) -> Any:
    """A value as a summary shows it: a person or a column by its name, a long text by its beginning."""
    if isinstance(value, Mapping):
        folded = _fold_keys(value)
        value = next((folded[key] for key in _NAME_KEYS if isinstance(folded.get(key), str | int)), None)
    if isinstance(value, list | tuple):
        names = [str(told) for item in value[:3] if not isinstance(item, list | tuple) and (told := _tell(item))]
        value = ", ".join(names) + (f" and {len(value) - 3} more" if len(value) > 3 else "")
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}..."
    return value if isinstance(value, int | float) else None


def _plain_word(text: str) -> str:
    return " ".join(
        re.sub(r"[^\w\s-]|_", lambda found: " " if found[0] == "_" else "", text.casefold()).replace("-", " ").split()
    )


def _rank(priority: Any) -> int:
    told = _tell(priority)
    return _RANKS.get(_plain_word(told), _UNRANKED) if isinstance(told, str) else _UNRANKED
