"""One line of a case file, being read: its fields, checked, with everything that is wrong about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Answer, Case
from toolbelt.evals.conversation import Message
from toolbelt.findings import Finding, Severity

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""Who may speak in a message."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What came of one line.

    Attributes:
        case: `None` where it is in error, or excluded.
        findings: Everything wrong or doubtful; file and line are the caller's to add.
        excluded: Why an imported case cannot be asked; empty if it can.
        detail: Which label that was about.
    """

    case: Case | None
    findings: tuple[Finding, ...] = ()
    excluded: str = ""
    detail: str = ""


class Row:
    """The fields of a line; a wrong one is noted and taken for absent.

    Args:
        data: The object.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.findings: list[Finding] = []

    @property
    def is_wrong(self) -> bool:
        """Whether any finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def error(self, rule: str, message: str) -> None:
        """Note a mistake."""
        self.findings.append(Finding(rule, Severity.ERROR, message))

    def warn(self, rule: str, message: str) -> None:
        """Note a doubt."""
        self.findings.append(Finding(rule, Severity.WARNING, message))

    def text(self, key: str) -> str | None:
        """A text that is not blank; `None` where there is none."""
        value = self.data.get(key)
        if value is None and key not in self.data:
            return None
        if isinstance(value, str) and value.strip():
            return value
        self.error("wrong-type", f"`{key}` must be text that is not blank, not {shown(value)}.")
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where there is none."""
        return self.texts_of(self.data.get(key, ()), key)

    def texts_of(self, value: Any, place: str) -> tuple[str, ...]:
        """`value` as a list of texts that are not blank."""
        if not isinstance(value, list | tuple):
            self.error("wrong-type", f"`{place}` must be a list, not {shown(value)}.")
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                self.error("wrong-type", f"`{place}[{index}]` must be text that is not blank, not {shown(item)}.")
        return tuple(item for item in value if isinstance(item, str) and item.strip())

    def mapping(self, value: Any, place: str) -> Mapping[str, Any]:
        """`value` as a mapping."""
        if isinstance(value, dict):
            return value
        self.error("wrong-type", f"`{place}` must be an object, not {shown(value)}.")
        return FrozenDict()

    def messages(self) -> tuple[Message, ...]:
        """What opens the conversation, from `system` and either `query` or `messages`."""
        system = self.text("system")
        opening: list[Message] = [] if system is None else [FrozenDict(role="system", content=system)]
        if "messages" in self.data:
            return (*opening, *self._written_messages(self.data["messages"]))
        if "query" not in self.data:
            self.error("missing-field", "A case needs a `query`, or `messages`.")
        elif (query := self.text("query")) is not None:
            opening.append(FrozenDict(role="user", content=query))
        return tuple(opening)

    def _written_messages(self, written: Any) -> Iterable[Message]:
        if not isinstance(written, list) or not written:
            self.error("wrong-type", f"`messages` must be a list with a message in it, not {shown(written)}.")
            return
        for index, message in enumerate(written):
            place = f"messages[{index}]"
            if not isinstance(message, dict):
                self.error("wrong-type", f"`{place}` must be an object with a `role`, not {shown(message)}.")
                continue
            role = message.get("role")
            if role not in ROLES:
                known = suggestion(role, ROLES) if isinstance(role, str) else f" Known: {', '.join(ROLES)}."
                self.error("unknown-role-of-message", f"`{place}` has the role {shown(role)}.{known}")
            content = message.get("content")
            if content is not None and not isinstance(content, str | list):
                self.error("wrong-type", f"`{place}.content` must be text or a list of parts, not {shown(content)}.")
            if message.get("tool_calls") is not None:
                self._check_calls(message["tool_calls"], f"{place}.tool_calls")
            yield freeze(message)

    def _check_calls(self, calls: Any, place: str) -> None:
        """Note calls that are not in OpenAI's form, which no provider would take."""
        if not isinstance(calls, list):
            self.error("wrong-type", f"`{place}` must be a list, not {shown(calls)}.")
            return
        for index, call in enumerate(calls):
            kind = "custom" if isinstance(call, dict) and call.get("type") == "custom" else "function"
            inner = call.get(kind) if isinstance(call, dict) else None
            given = "input" if kind == "custom" else "arguments"
            texts = (call.get("id"), inner.get("name"), inner.get(given)) if isinstance(inner, dict) else (None,)
            if not all(isinstance(text, str) for text in texts):
                form = f"an `id` and a `{kind}` with a `name` and its `{given}`, each a text"
                self.error("invalid-call", f"`{place}[{index}]` must be a call in OpenAI's form: {form}.")


def default_steps(answers: Iterable[Answer]) -> int:
    """Requests with a selection that a trial takes at most: the length of the longest right answer, at least 1."""
    return max((1, *map(len, answers)))


def shown(value: Any) -> str:
    """A value in an error message; one that is long by its kind alone."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "a list" if value else "an empty list"
        case str() if not value.strip():
            return "blank text"
        case str() if len(value) > 60:
            return f"{value[:59]!r}…"
    return repr(value)
