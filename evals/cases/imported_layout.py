"""Cases in the layout that public data sets are converted to: bare names as labels, arguments beside them.

A line is `{"id", "query" or "messages", "expected": [names] or [] or null}` with, where the source has them,
`expected_args` (per call), `expected_ids` (per call, the ids that its label could mean), `offered` (ids), `kind`
and `system`. Fields that a source brings besides are left alone, but for a few that make tags; keys of toolbelt's own
layout, and slips of them, are refused (`toolbelt.evals.cases.imported_layout`).

Arguments are compared as the Berkeley Function Calling Leaderboard does. There each has the list of its accepted
values, `""` among them where it may be left out; other sources give the one value. A value `API_call_N` stands for
what an earlier call gave back, which nothing can be held against, so that call's arguments may be more than are named.
Within an object the leaderboard's rules have a list of accepted values for each key; plain values are wrapped so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.evals.cases.case import ArgumentRules, Case, ExpectedArguments, ExpectedCall
from toolbelt.evals.cases.fields import Parsed, Row, default_steps, shown
from toolbelt.evals.cases.own_layout import CALL_KEYS, CASE_KEYS
from toolbelt.evals.cases.references import Names, Unresolved

NOT_IN_CATALOG = "label not in the catalog"
NOT_OFFERED = "label not among the tools offered"
OFFER_NOT_IN_CATALOG = "offered tool not in the catalog"
_TAG_FIELDS = ("subset", "split", "group")
"""Fields of public sets that say which part of them a case is from."""
_EARLIER_CALL = re.compile(r"API_call_\d+")


class _ExcludedError(Exception):
    """A case that cannot be asked with this catalog."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def adapt_case(data: object, names: Names, *, lists: bool) -> Parsed:
    """The case of one line of the public layout, a pure function of the line and the catalog.

    Args:
        data: What the line holds, as JSON.
        names: What labels mean.
        lists: Whether `expected_args` has lists of accepted values, rather than the values.
    """
    row = _PublicRow(data if isinstance(data, dict) else {}, names, lists=lists)
    if not isinstance(data, dict):
        row.error("wrong-type", f"A case is an object, not {shown(data)}.")
        return Parsed(None, tuple(row.findings))
    try:
        case = row.case()
    except _ExcludedError as reason:
        if not row.is_wrong:
            return Parsed(None, (), reason.reason, reason.detail)
        case = None
    return Parsed(None if row.is_wrong else case, tuple(row.findings))


class _PublicRow(Row):
    def __init__(self, data: Mapping[str, Any], names: Names, *, lists: bool) -> None:
        super().__init__(data)
        self._names = names
        self._lists = lists

    def case(self) -> Case:
        data = self.data
        for key in ("id", "expected"):
            if key not in data:
                self.error("missing-field", f"A case needs `{key}`.")
        for key, meant in stray_keys(data):
            self.error("own-key", _own_key_message(key, meant))
        case_id = self.text("id") or ""
        # `query` repeats what the user says last in `messages`.
        messages = self.messages()
        labels = None if data.get("expected") is None else self.texts("expected")
        ids = self._per_call("expected_ids", labels)
        arguments = self._per_call("expected_args", labels)
        kind = self.text("kind") or ""
        offered = self._offered()
        calls: tuple[ExpectedCall, ...] | None = None
        if labels is not None:
            tools = [self._tools(label, offered, ids, number) for number, label in enumerate(labels)]
            calls = tuple(ExpectedCall(one, self._arguments(arguments, number)) for number, one in enumerate(tools))
        return Case(
            id=case_id,
            messages=messages,
            expected=calls,
            role=_label(data.get("role")),
            kind=kind,
            tags=tuple(dict.fromkeys(self._tags())),
            cluster=_label(data.get("cluster")) or "",
            offered=offered,
            steps=default_steps(() if calls is None else (calls,)),
        )

    def _per_call(self, key: str, labels: tuple[str, ...] | None) -> list[Any] | None:
        if self.data.get(key) is None:
            return None
        value = self.data[key]
        if not isinstance(value, list):
            self.error("wrong-type", f"`{key}` must be a list, not {shown(value)}.")
        elif len(value) != len(labels or ()):
            self.error("wrong-length", f"`{key}` has {len(value)} entries for {len(labels or ())} calls in `expected`.")
        else:
            return value
        return None

    def _offered(self) -> tuple[str, ...] | None:
        if self.data.get("offered") is None:
            return None
        written = self.texts("offered")
        found = []
        for reference in written:
            tool_id = self._names.look_up(reference)
            if isinstance(tool_id, Unresolved):
                raise _ExcludedError(OFFER_NOT_IN_CATALOG, reference)
            found.append(tool_id)
        return tuple(dict.fromkeys(found))

    def _tools(
        self, label: str, offered: tuple[str, ...] | None, ids: list[Any] | None, number: int
    ) -> tuple[str, ...]:
        if ids is not None:
            found = self._known(self.texts_of(ids[number], f"expected_ids[{number}]"))
            if not found:
                raise _ExcludedError(NOT_IN_CATALOG, label)
            if offered is not None:
                found = tuple(tool_id for tool_id in found if tool_id in offered)
        elif offered is not None:
            found = self._names.within(offered, label)
        else:
            found = tuple(self._candidates(label))
            if not found:
                raise _ExcludedError(NOT_IN_CATALOG, label)
        if not found:
            raise _ExcludedError(NOT_OFFERED, label)
        if ids is None and len(found) > 1:
            self.warn("ambiguous-label", f"{label!r} may be any of {', '.join(found)}; each of them counts as right.")
        return found

    def _known(self, references: tuple[str, ...]) -> tuple[str, ...]:
        found = map(self._names.look_up, references)
        return tuple(dict.fromkeys(tool_id for tool_id in found if isinstance(tool_id, str)))

    def _candidates(self, label: str) -> Iterator[str]:
        """The tool a label means; every one that bears it, where several do and nothing says which."""
        found = self._names.look_up(label)
        if isinstance(found, str):
            yield found
            return
        yield from found.candidates

    def _arguments(self, written: list[Any] | None, number: int) -> ExpectedArguments | None:
        if written is None or written[number] is None:
            return None
        values = self.mapping(written[number], f"expected_args[{number}]")
        accepted: dict[str, tuple[Any, ...]] = {}
        unknowable = False
        for name, value in values.items():
            if not self._lists and _is_earlier_call(value):
                unknowable = True
            else:
                accepted[name] = tuple(map(freeze, value)) if self._lists else (freeze(_wrapped(value)),)
        optional = frozenset(name for name in accepted if self._lists and "" in accepted[name])
        return ExpectedArguments(FrozenDict(accepted), optional, not unknowable, ArgumentRules.BFCL)

    def _tags(self) -> Iterator[str]:
        tags = self.data.get("tags")
        yield from (tag for tag in (tags if isinstance(tags, list) else ()) if _label(tag))
        yield from (value for key in _TAG_FIELDS if (value := _label(self.data.get(key))))


def has_only_lists(data: Mapping[str, Any]) -> bool | None:
    """Whether every value in `expected_args` of a line is a list; `None` where there is no value."""
    written = data.get("expected_args")
    calls = [call for call in written if isinstance(call, dict)] if isinstance(written, list) else []
    values = [value for call in calls for value in call.values()]
    return all(isinstance(value, list) for value in values) if values else None


def _own_key_message(key: str, meant: str) -> str:
    remedy = 'write each call in `expected` as {"tool": NAME} to use it, or take it out'
    if key == meant:
        return f"`{key}` is of toolbelt's own layout and would be overlooked in an imported case: {remedy}."
    return f"{key!r} looks like `{meant}`, a key of toolbelt's own: put that right, or rename it if it is the source's."


def _wrapped(value: Any) -> Any:
    """A plain value as the leaderboard's rules write it: each key of an object with the list of what is accepted."""
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


def _label(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


IMPORTED_KEYS = frozenset({"expected_args", "expected_ids", "expected_any_of"})
"""Keys that only the imported layout has."""
_SHARED_KEYS = frozenset(
    ("id", "query", "messages", "system", "expected", "offered", "role", "kind", "tags", "cluster", "note")
)
"""Keys that mean the same in both layouts."""
OWN_KEYS = (frozenset(CASE_KEYS) - _SHARED_KEYS) | (frozenset(CALL_KEYS) - {"tool"})
"""Keys that only toolbelt's own layout has, of a case or of a call; each changes what is right."""
_COMPARED = tuple(key for key in (*CASE_KEYS, *sorted(OWN_KEYS - set(CASE_KEYS))) if key not in ("id", "note", "args"))
"""Those that another key may be a slip of; the rest are too short to tell, or change nothing."""
_ALIKE = 0.8
_NO_LETTER = re.compile(r"[^a-z]")


def stray_keys(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of an imported line that are toolbelt's own, or nearly so, each with the key that it is or may mean.

    `steps` is left alone where it is text: public sets tell there how people went about it.
    """
    for key in data:
        if key == "steps" and isinstance(data[key], str):
            continue
        if (meant := _meant(key)) is not None:
            yield key, meant


def has_foreign_key(data: Mapping[str, Any]) -> bool:
    """Whether any key is a source's own: neither of toolbelt's layout nor a slip of a key of it."""
    return any(key not in _SHARED_KEYS and _meant(key) is None for key in data)


@lru_cache(maxsize=4096)
def _meant(key: str) -> str | None:
    """The key of toolbelt's own that a key is or may be a slip of; `None` for one that is a source's own."""
    if key in OWN_KEYS:
        return key
    if key in _SHARED_KEYS or key in IMPORTED_KEYS:
        return None
    spelled = _letters(key)
    return next((known for known in _COMPARED if _is_slip(spelled, _letters(known))), None)


def _is_slip(spelled: str, known: str) -> bool:
    """A letter more, less, changed or swapped."""
    return abs(len(spelled) - len(known)) <= 1 and SequenceMatcher(None, spelled, known).ratio() >= _ALIKE


def _letters(key: str) -> str:
    return _NO_LETTER.sub("", key.casefold())
