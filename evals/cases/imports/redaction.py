"""Redact what real users wrote: mail addresses, keys, home folders, phone numbers, names as far as patterns find them.

A value that was redacted has the same substitute wherever it stands in an import, so that a query and the arguments
of its call still agree. Substitutes keep the form: an address remains an address, a phone number one that nobody has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from toolbelt.evals.cases.imports.context import CaseRow
from toolbelt.mcp.configs.secrets import SECRET_VALUES, is_secret_name

MAILS, KEYS, HOMES, PHONES, NAMES = "mail addresses", "keys", "home folders", "phone numbers", "names of people"
_WORD = r"[A-Z][\w'’-]+"
_FULL = rf"{_WORD}(?: (?:[A-Z]\.|{_WORD})){{1,2}}"
_MAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]+@(?!example\.(?:com|org|net)\b)[\w-]+(?:\.[\w-]+)+")
_ASSIGNED = re.compile(r"""\b([\w-]{2,40})(\\?["']?\s*[:=]\s*\\?["']?)([^\s"'\\,;&}]{6,})""")
_HOME = re.compile(
    r"(/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2}|-(?:home|Users)-)(?!(?:user|Shared|Public)\b)([\w.]+(?:-[\w.]+)*)"
)
_PHONE = re.compile(
    r"(?<![\w.+/-])(?:\+\d(?:[ ()./-]{0,2}\d){7,14}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}([ .-])\d{3}\1\d{4}"
    r"|0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,5})(?![\w/-])"
)
_NAMED = re.compile(
    rf"(?:(?i:my name is|name[’']s) +({_WORD}(?: {_WORD})?)|(?i:i am|i[’']m|this is) ({_FULL})\b"
    rf"|\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau)\.? ({_WORD}(?: {_WORD})?)"
    rf"|\b(?:Dear|(?:Kind |Best )?[Rr]egards,|Sincerely,|Cheers,)\s+({_WORD}(?: {_WORD})?)|({_FULL}) <[^<>\s@]+@"
    rf"|\"(?:full_?name|first_?name|last_?name|author(?:_?name)?|assignee|reporter|customer(?:_?name)?)\\?\"\s*:\s*\\?\""
    rf"({_WORD}(?: {_WORD})*)\\?\")"
)
_NOBODY = frozenset({"All", "Team", "Everyone", "Sir", "Madam", "Claude", "Assistant", "Customer", "User"})
_TEXTS = ("query", "system", "results", "note")


class Redactor:
    """Redacts the rows of one import.

    Attributes:
        counts: Number of values that were replaced, by kind.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._substitutes: dict[tuple[str, str], str] = {}
        self._people: dict[str, str] = {}

    def redact(self, row: CaseRow) -> CaseRow:
        """The row, with substitutes in what the user, the model and the tools said; ids and names of tools stay."""
        changed = {key: self._value(row[key]) for key in _TEXTS if key in row}
        if "messages" in row:
            changed["messages"] = [self._message(message) for message in row["messages"]]
        if row.get("expected"):
            changed["expected"] = [
                {key: self._value(value) if key == "args" else value for key, value in call.items()}
                for call in row["expected"]
            ]
        return row | changed

    def _message(self, message: Mapping[str, Any]) -> Any:
        changed = {key: self._value(value) if key == "content" else value for key, value in message.items()}
        if isinstance(calls := message.get("tool_calls"), list):
            changed["tool_calls"] = [self._call(call, "function") for call in calls]
        return self._call(changed, "function_call")

    def _call(self, holder: Any, key: str) -> Any:
        """The same with other arguments in the function at `key`, where there is one."""
        function = holder.get(key) if isinstance(holder, Mapping) else None
        if not isinstance(function, Mapping) or "arguments" not in function:
            return holder
        return {**holder, key: {**function, "arguments": self._value(function["arguments"])}}

    def _value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Mapping):
            return {key: self._value(item, str(key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item, name) for item in value]
        if not isinstance(value, str) or value.startswith("data:"):
            return value
        return self._replace(KEYS, value) if value and is_secret_name(name) else self._text(value)

    def _text(self, text: str) -> str:
        for match in _NAMED.finditer(text):
            name = next(group for group in match.groups() if group)
            if name.split()[0] not in _NOBODY:
                self._people.setdefault(name, f"Person {len(self._people) + 1}")
        text = SECRET_VALUES.sub(lambda match: self._replace(KEYS, match[0]), text)
        text = _ASSIGNED.sub(self._assigned, text)
        text = _MAIL.sub(lambda match: self._replace(MAILS, match[0]), text)
        text = _HOME.sub(self._home, text)
        text = _PHONE.sub(lambda match: self._replace(PHONES, match[0]), text)
        for name, substitute in self._people.items():
            if name in text:
                text, times = re.subn(rf"\b{re.escape(name)}\b", substitute, text)
                self.counts[NAMES] += times
        return text

    def _assigned(self, match: re.Match[str]) -> str:
        name, between, value = match.groups()
        if not is_secret_name(name) or value.startswith(("REDACTED", "$", "<", "{", "os.")):
            return match[0]
        return f"{name}{between}{self._replace(KEYS, value)}"

    def _home(self, match: re.Match[str]) -> str:
        self.counts[HOMES] += 1
        # In the names of folders that clients make of paths, a dash stands for a slash: only the first word is a name.
        rest = match[2][len(match[2].split("-")[0]) :] if match[1].startswith("-") else ""
        return f"{match[1]}user{rest}"

    def _replace(self, kind: str, value: str) -> str:
        self.counts[kind] += 1
        number = sum(1 for known, _ in self._substitutes if known == kind) + 1
        forms = {
            MAILS: f"user{number}@example.com",
            KEYS: f"REDACTED-{number}",
            PHONES: f"+1-202-555-{100 + number:04}",
        }
        return self._substitutes.setdefault((kind, value), forms[kind])
