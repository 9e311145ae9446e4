"""The common parts of the two layouts of a case: its messages, and the result of reading a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Answer, Case
from toolbelt.evals.conversation import Message
from toolbelt.findings import Finding
from toolbelt.sources.section import Section

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""Roles that a message may have."""


UNKNOWN_KEY = "unknown-key"
"""Rule of the findings about keys that no case has; a file reports each key once, so each has one message."""


class ExclusionReason(StrEnum):
    """Why an imported case cannot be asked with a catalog; the values are in messages and in `--json`."""

    NOT_IN_CATALOG = "label not in the catalog"
    NOT_OFFERED = "label not among the tools offered"
    OFFER_NOT_IN_CATALOG = "offered tool not in the catalog"


@dataclass(frozen=True, slots=True)
class ParsedCase:
    """The result of reading one line.

    Attributes:
        case: `None` where the line has an error, or the case is excluded.
        findings: Errors and warnings, without file and line, which the caller adds.
        excluded: Why an imported case cannot be asked; `None` if it can.
        detail: The label that excludes it.
    """

    case: Case | None
    findings: tuple[Finding, ...] = ()
    excluded: ExclusionReason | None = None
    detail: str = ""


QUERY_KEYS = ("query", "input", "question", "prompt", "user")
"""What the user's words may be called in toolbelt's own layout; the first is what toolbelt itself writes."""


def content_id(data: Mapping[str, Any]) -> str:
    """An id for a case without one, by what is asked: the same wherever it stands, 8 hexadecimal digits."""
    query = next((data[key] for key in QUERY_KEYS if key in data), None)
    asked = [data.get("system"), data.get("messages"), query]
    text = json.dumps(asked, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def find_case_id(data: object) -> str | None:
    """The id of the case of a line, its own or one of its content; `None` where it is no text."""
    if not isinstance(data, Mapping):
        return None
    case_id = data["id"] if "id" in data else f"case-{content_id(data)}"
    return case_id if isinstance(case_id, str) else None


def refuse_unknown_keys(section: Section, known: tuple[str, ...], what: str) -> None:
    """Add an error for each key of an object that is not known, in the same words wherever the key stands."""
    for key in section.value:
        if key not in known:
            section.add_error(UNKNOWN_KEY, _unknown_key_message(key, known, what))


@lru_cache(maxsize=4096)
def _unknown_key_message(key: str, known: tuple[str, ...], what: str) -> str:
    return f"A {what} has no key {key!r}.{suggestion(key, known)}"


def read_messages(row: Section, keys: tuple[str, ...] = ("query",)) -> tuple[Message, ...]:
    """The beginning of the conversation, from `system` and either `messages` or the first of `keys` that is there."""
    system = row.read_text("system")
    opening: list[Message] = [] if system is None else [FrozenDict(role="system", content=system)]
    if "messages" in row.value:
        return (*opening, *_written_messages(row.child("messages")))
    key = next((key for key in keys if key in row.value), None)
    if key is None:
        row.add_error("missing-field", "A case needs a `query`, or `messages`.")
    elif (query := row.read_text(key)) is not None:
        opening.append(FrozenDict(role="user", content=query))
    return tuple(opening)


def _written_messages(section: Section) -> Iterator[Message]:
    if not isinstance(section.value, list) or not section.value:
        section.add_wrong_type("a list with a message in it")
        return
    for message in section.read_items():
        if message.read_mapping(wanted="an object with a `role`") is None:
            continue
        _check_role(message)
        content = message.child("content")
        if content.value is not None and not isinstance(content.value, str | list):
            content.add_wrong_type("text or a list of parts")
        if message.value.get("tool_calls") is not None:
            _check_calls(message.child("tool_calls"))
        yield freeze(message.value)


def _check_role(message: Section) -> None:
    role = message.child("role")
    if role.value not in ROLES:
        known = suggestion(role.value, ROLES) if isinstance(role.value, str) else f" Known: {', '.join(ROLES)}."
        message.add_error("unknown-role-of-message", f"{message.label} has the role {role.describe()}.{known}")


def _check_calls(section: Section) -> None:
    """Refuse calls that are not in OpenAI's format, which no provider would accept."""
    for call in section.read_items():
        kind = "custom" if isinstance(call.value, dict) and call.value.get("type") == "custom" else "function"
        function = call.value.get(kind) if isinstance(call.value, dict) else None
        arguments = "input" if kind == "custom" else "arguments"
        texts: tuple[Any, ...] = (None,)
        if isinstance(function, dict):
            texts = (call.value.get("id"), function.get("name"), function.get(arguments))
        if not all(isinstance(text, str) for text in texts):
            fields = f"an `id` and a `{kind}` with a `name` and its `{arguments}`, each a text"
            call.add_error("invalid-call", f"{call.label} must be a call in OpenAI's format: {fields}.")


def default_steps(answers: Iterable[Answer]) -> int:
    """Most requests of a trial with a selection: the length of the longest right answer, at least 1."""
    return max((1, *map(len, answers)))
