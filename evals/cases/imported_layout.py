"""Read a case in the layout that public data sets are converted to: bare names as labels, arguments beside them.

A line is `{"id", "query" or "messages", "expected": [names] or [] or null}` with, where the source has them,
`expected_args` (per call), `expected_ids` (per call, the id of its label, or a list of the ids that it could mean),
`offered` (ids), `kind` and `system`. A `query` beside `messages` is the next message of the user, unless it repeats
the last one. A few fields of sources become tags; the others have no effect, and a warning says so. Keys of toolbelt's
own layout, and misspelt ones, are refused, because they would have no effect here.

Arguments are compared as the Berkeley Function Calling Leaderboard does. There, each argument has the list of its
accepted values, with `""` among them where it may be missing; other sources have the one value. A value `API_call_N`
stands for the result of an earlier call. It cannot be checked, so that call may have more arguments than those named.
Inside an object, the leaderboard's rules have a list of accepted values for each key; plain values are wrapped so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import ArgumentRules, Case, ExpectedArguments, ExpectedCall, content_text
from toolbelt.evals.cases.fields import (
    UNKNOWN_KEY,
    ExclusionReason,
    ParsedCase,
    default_steps,
    find_case_id,
    read_messages,
)
from toolbelt.evals.cases.own_layout import CALL_KEYS, CASE_KEYS
from toolbelt.evals.cases.references import ToolNames, Unresolved
from toolbelt.evals.conversation import Message
from toolbelt.sources.section import Section

IMPORTED_KEYS = frozenset({"expected_args", "expected_ids", "expected_any_of"})
"""Keys that only the imported layout has."""
_SHARED_KEYS = frozenset(
    ("id", "query", "messages", "system", "expected", "offered", "role", "kind", "tags", "cluster", "note")
)
"""Keys that mean the same in both layouts."""
OWN_KEYS = (frozenset(CASE_KEYS) - _SHARED_KEYS) | (frozenset(CALL_KEYS) - {"tool"})
"""Keys that only toolbelt's own layout has, of a case or of a call; each changes what is right."""
_COMPARED = tuple(key for key in (*CASE_KEYS, *sorted(OWN_KEYS - set(CASE_KEYS))) if key not in ("id", "note", "args"))
"""Keys that another key may be a misspelling of; the others are too short to tell, or change nothing."""
_ALIKE = 0.8
_NO_LETTER = re.compile(r"[^a-z]")
OWN_KEY = "own-key"
"""Rule of the findings about these."""
_TAG_FIELDS = ("subset", "split", "group")
"""Fields of public sets that say which part of them a case is from."""
_USED_KEYS = (*sorted(_SHARED_KEYS), "expected_args", "expected_ids", *_TAG_FIELDS)
"""Keys that have an effect in this layout, and `note`."""
_EARLIER_CALL = re.compile(r"API_call_\d+")


class _ExcludedError(Exception):
    """A case that cannot be asked with this catalog."""

    def __init__(self, reason: ExclusionReason, detail: str) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def parse_imported_case(data: object, names: ToolNames, *, lists: bool) -> ParsedCase:
    """The case of one line, a pure function of the line and the catalog.

    Args:
        data: The JSON value of the line.
        names: Resolves the labels.
        lists: Whether `expected_args` has lists of accepted values, not the values.
    """
    row = Section.of_row(data)
    if not isinstance(data, dict):
        row.add_error("wrong-type", f"A case is an object, not {row.describe()}.")
        return ParsedCase(None, tuple(row.findings))
    try:
        case = _ImportedLayoutReader(row, names, lists=lists).read()
    except _ExcludedError as exclusion:
        if not row.has_errors:
            about_keys = tuple(finding for finding in row.findings if finding.rule == UNKNOWN_KEY)
            return ParsedCase(None, about_keys, exclusion.reason, exclusion.detail)
        case = None
    return ParsedCase(None if row.has_errors else case, tuple(row.findings))


class _ImportedLayoutReader:
    """Reads one line; a wrong value adds a finding and counts as absent."""

    def __init__(self, row: Section, names: ToolNames, *, lists: bool) -> None:
        self._row = row
        self._names = names
        self._lists = lists

    def read(self) -> Case:
        row = self._row
        if "expected" not in row.value:
            row.add_error("missing-field", "A case needs `expected`.")
        for key, own_key in stray_keys(row.value):
            row.add_error(OWN_KEY, _own_key_message(key, own_key))
        for key in unused_keys(row.value):
            row.add_warning(UNKNOWN_KEY, _unused_key_message(key))
        case_id = (row.read_text("id") if "id" in row.value else find_case_id(row.value)) or ""
        messages = read_messages(row)
        if "messages" in row.value and self._asks_more(messages):
            messages = (*messages, FrozenDict(role="user", content=row.value["query"]))
        labels = None if row.value.get("expected") is None else row.read_texts("expected")
        ids = self._ids(labels)
        arguments = self._per_call("expected_args", labels)
        kind = row.read_text("kind") or ""
        offered = self._offered()
        calls: tuple[ExpectedCall, ...] | None = None
        if labels is not None:
            tools = [self._tools(label, offered, ids, number) for number, label in enumerate(labels)]
            calls = tuple(
                ExpectedCall(tool_ids, self._arguments(arguments, number)) for number, tool_ids in enumerate(tools)
            )
        return Case(
            id=case_id,
            messages=messages,
            expected=calls,
            role=_text_or_none(row.value.get("role")),
            kind=kind,
            tags=tuple(dict.fromkeys(self._tags())),
            cluster=_text_or_none(row.value.get("cluster")) or "",
            offered=offered,
            steps=default_steps(() if calls is None else (calls,)),
        )

    def _asks_more(self, messages: tuple[Message, ...]) -> bool:
        """Whether the `query` beside these messages is a further one: not blank, and not what is to be answered."""
        if self._row.value.get("query") in (None, "") or (query := self._row.read_text("query")) is None:
            return False
        latest = next((message for message in reversed(messages) if message.get("role") == "user"), None)
        is_repeat = latest is not None and content_text(latest.get("content")).strip() == query.strip()
        return not is_repeat or messages[-1].get("role") == "assistant"

    def _ids(self, labels: tuple[str, ...] | None) -> list[tuple[str, ...]] | None:
        """The ids that each label may mean; `None` where the line has none."""
        written = self._row.value.get("expected_ids")
        is_flat = isinstance(written, list) and all(isinstance(entry, str) for entry in written)
        if is_flat and len(labels or ()) == 1:
            return [self._row.read_texts("expected_ids")]  # all of the one label
        entries = self._per_call("expected_ids", labels)
        return None if entries is None else [_read_ids(entry) for entry in entries]

    def _per_call(self, key: str, labels: tuple[str, ...] | None) -> list[Section] | None:
        """The entries of a list with one for each call; `None` where there is no such list."""
        if self._row.value.get(key) is None or (entries := self._row.read_list(key)) is None:
            return None
        if len(entries) == len(labels or ()):
            return self._row.read_items(key)
        message = f"`{key}` has {len(entries)} entries for {len(labels or ())} calls in `expected`."
        self._row.add_error("wrong-length", message)
        return None

    def _offered(self) -> tuple[str, ...] | None:
        if self._row.value.get("offered") is None:
            return None
        tool_ids = []
        for reference in self._row.read_texts("offered"):
            tool_id = self._names.resolve(reference)
            if isinstance(tool_id, Unresolved):
                raise _ExcludedError(ExclusionReason.OFFER_NOT_IN_CATALOG, reference)
            tool_ids.append(tool_id)
        return tuple(dict.fromkeys(tool_ids))

    def _tools(
        self, label: str, offered: tuple[str, ...] | None, ids: list[tuple[str, ...]] | None, number: int
    ) -> tuple[str, ...]:
        """Ids of the tools that a label may mean."""
        if ids is not None:
            tool_ids = self._known(ids[number])
            if not tool_ids:
                raise _ExcludedError(ExclusionReason.NOT_IN_CATALOG, label)
            if offered is not None:
                tool_ids = tuple(tool_id for tool_id in tool_ids if tool_id in offered)
        elif offered is not None:
            tool_ids = self._names.within(offered, label)
        else:
            resolved = self._names.resolve(label)
            tool_ids = (resolved,) if isinstance(resolved, str) else resolved.candidates
            if not tool_ids:
                raise _ExcludedError(ExclusionReason.NOT_IN_CATALOG, label)
        if not tool_ids:
            raise _ExcludedError(ExclusionReason.NOT_OFFERED, label)
        if ids is None and len(tool_ids) > 1:
            message = f"{label!r} may be any of {', '.join(tool_ids)}; each of them counts as right."
            self._row.add_warning("ambiguous-label", message)
        return tool_ids

    def _known(self, references: tuple[str, ...]) -> tuple[str, ...]:
        resolved = map(self._names.resolve, references)
        return tuple(dict.fromkeys(tool_id for tool_id in resolved if isinstance(tool_id, str)))

    def _arguments(self, entries: list[Section] | None, number: int) -> ExpectedArguments | None:
        if entries is None or entries[number].value is None:
            return None
        accepted: dict[str, tuple[Any, ...]] = {}
        has_unknown = False
        for name, value in (entries[number].read_mapping() or {}).items():
            if not self._lists and _is_earlier_call(value):
                has_unknown = True
            else:
                accepted[name] = tuple(map(freeze, value)) if self._lists else (freeze(_wrapped(value)),)
        optional = frozenset(name for name in accepted if self._lists and "" in accepted[name])
        return ExpectedArguments(FrozenDict(accepted), optional, not has_unknown, ArgumentRules.BFCL)

    def _tags(self) -> Iterator[str]:
        tags = self._row.value.get("tags")
        yield from (tag for tag in (tags if isinstance(tags, list) else ()) if _text_or_none(tag))
        yield from (value for key in _TAG_FIELDS if (value := _text_or_none(self._row.value.get(key))))


def stray_keys(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of an imported line that are toolbelt's own, or a misspelling, each with the own key.

    `steps` is ignored where it is text: public sets describe there how people solved the task.
    """
    for key in data:
        if key == "steps" and isinstance(data[key], str):
            continue
        if (own_key := _find_own_key(key)) is not None:
            yield key, own_key


def unused_keys(data: Mapping[str, Any]) -> Iterator[str]:
    """Keys of an imported line that are the source's own, and have no effect."""
    yield from (key for key in data if key not in _USED_KEYS and key != "steps" and _find_own_key(key) is None)


def has_foreign_key(data: Mapping[str, Any]) -> bool:
    """Whether a line has a key of another source: neither a key of toolbelt nor a misspelling of one."""
    return any(key not in _SHARED_KEYS and _find_own_key(key) is None for key in data)


@lru_cache(maxsize=4096)
def _find_own_key(key: str) -> str | None:
    """The own key that a key is, or is a misspelling of; `None` for a key of another source."""
    if key in OWN_KEYS:
        return key
    if key in _SHARED_KEYS or key in IMPORTED_KEYS:
        return None
    letters = _letters(key)
    return next((known for known in _COMPARED if _is_misspelling(letters, _letters(known))), None)


def _is_misspelling(key: str, known: str) -> bool:
    """One letter more, less, changed or swapped."""
    return abs(len(key) - len(known)) <= 1 and SequenceMatcher(None, key, known).ratio() >= _ALIKE


def _letters(key: str) -> str:
    return _NO_LETTER.sub("", key.casefold())


def has_value_lists(data: Mapping[str, Any]) -> bool | None:
    """Whether every value in `expected_args` of a line is a list; `None` where there is no value."""
    written = data.get("expected_args")
    calls = [call for call in written if isinstance(call, dict)] if isinstance(written, list) else []
    values = [value for call in calls for value in call.values()]
    return all(isinstance(value, list) for value in values) if values else None


def _own_key_message(key: str, own_key: str) -> str:
    remedy = 'write each call in `expected` as {"tool": NAME} to use it, or take it out'
    if key == own_key:
        return f"`{key}` is a key of toolbelt's own layout and has no effect in an imported case: {remedy}."
    return f"{key!r} looks like `{own_key}`, a key of toolbelt's own: correct it, or rename it if it is the source's."


@lru_cache(maxsize=4096)
def _unused_key_message(key: str) -> str:
    hint = "" if key in IMPORTED_KEYS else suggestion(key, _USED_KEYS)
    return f"{key!r} has no effect: it is no key of an imported case.{hint}"


def _read_ids(entry: Section) -> tuple[str, ...]:
    if isinstance(entry.value, str):
        written = entry.read_text()
        return () if written is None else (written,)
    return entry.read_texts()


def _wrapped(value: Any) -> Any:
    """A plain value as the leaderboard's rules write it: each key of an object has the list of accepted values."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    if isinstance(value, list):
        return [_wrapped(item) if isinstance(item, dict) else item for item in value]
    return value


def _is_earlier_call(value: Any) -> bool:
    if isinstance(value, str):
        return _EARLIER_CALL.match(value) is not None
    if isinstance(value, list | dict):
        return any(map(_is_earlier_call, value.values() if isinstance(value, dict) else value))
    return False


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
