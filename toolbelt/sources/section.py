"""The strict reader of every written file: values are checked, and all mistakes are collected with line and place.

A `Section` is a value with its place in a document. Its `read_` methods return a checked value. Where nothing stands,
they return `None`; where something wrong stands, they return `None` and add a finding. So a reader reads everything
first, and refuses all mistakes at once:

    section = Section.of(parse_yaml(text, "zoo.yaml"), "animals")
    for name, animal in section.read_members("animal"):
        animal.check_keys(("kind", "legs", "eats"), "animal")  # unknown keys, with the nearest name
        animal.require_keys("kind")
        kind = animal.read_choice("kind", AnimalKind, "kind")  # a member of the enum
        legs = animal.read_int("legs", least=0)
        eats = animal.read_texts("eats")
    if section.findings:
        raise InvalidFileError(section.findings)

Every `read_` method reads what stands under a key or an index; without one, it reads the section itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

from toolbelt.errors import Suggester
from toolbelt.findings import Finding, Severity
from toolbelt.patterns import find_name_problem, fold
from toolbelt.sources.document import Document, Key, describe_value, format_path
from toolbelt.sources.keys import Keys, Kind, find_spelling

_ABSENT: Final = object()
_INFINITE = math.inf
_Member = TypeVar("_Member", bound=StrEnum)


class TooManyFindingsError(Exception):
    """A reading has as many findings as it may have; it was stopped. The findings are in the section."""


class _Reading:
    """What all sections of one document share."""

    __slots__ = ("document", "findings", "max_findings", "null_is_absent", "source", "suggest")

    def __init__(self, document: Document | None, *, null_is_absent: bool) -> None:
        self.document = document
        self.source = None if document is None else document.source
        self.null_is_absent = null_is_absent
        self.max_findings = _INFINITE
        self.suggest = Suggester()
        self.findings: list[Finding] = []


class Section:
    """A value of a document, with its place and with every finding so far.

    Attributes:
        value: dicts, lists, strings, numbers, booleans or `None`.
    """

    __slots__ = ("_key", "_parent", "_reading", "value")

    def __init__(self, value: Any, reading: _Reading, parent: Section | None = None, key: Key = "") -> None:
        self.value = value
        self._reading = reading
        self._parent = parent
        self._key = key

    @classmethod
    def of(cls, document: Document, *path: Key, null_is_absent: bool = True, most: float = _INFINITE) -> Section:
        """What stands under `path` of a document; its value is `None` where nothing does.

        Args:
            document: Parsed YAML or JSON.
            path: Keys and indexes, from the top of the document.
            null_is_absent: Whether `key: null` is read as if the key were left out. If not, null is a wrong value.
            most: Findings after which a further one raises `TooManyFindingsError` instead.
        """
        reading = _Reading(document, null_is_absent=null_is_absent)
        reading.max_findings = most
        return cls(document.data, reading).at(path)

    @classmethod
    def of_row(cls, value: Any) -> Section:
        """What `json` made of one line of a JSON Lines file, whose path and number the caller adds to the findings.

        Null is a wrong value.
        """
        return cls(value, _Reading(None, null_is_absent=False))

    # Place

    @property
    def path(self) -> tuple[Key, ...]:
        """Keys and indexes from the top of the document."""
        keys: list[Key] = []
        section = self
        while section._parent is not None:
            keys.append(section._key)
            section = section._parent
        return tuple(keys[::-1])

    @property
    def where(self) -> str:
        """The path as people write it: `agents.code.allowed_toolkits[0]`; empty for the whole document."""
        return format_path(self.path)

    @property
    def label(self) -> str:
        """What messages call it: its path in code marks."""
        if self._parent is not None:
            return f"`{self.where}`"
        return "This line" if self._reading.document is None else "This file"

    @property
    def line(self) -> int | None:
        """1-based line, or that of the nearest value around it; `None` where it is unknown."""
        document = self._reading.document
        return None if document is None else document.find_line(*self.path)

    def child(self, key: Key) -> Section:
        """What stands under a key of a mapping or at an index of a list; its value is `None` where nothing does."""
        value = self._get(key)
        return Section(None if value is _ABSENT else value, self._reading, self, key)

    def at(self, path: Iterable[Key]) -> Section:
        """What stands under several keys and indexes, one below the other."""
        section = self
        for key in path:
            section = section.child(key)
        return section

    # Findings

    @property
    def findings(self) -> list[Finding]:
        """Every finding of this reading so far, shared by all its sections."""
        return self._reading.findings

    @property
    def has_errors(self) -> bool:
        """Whether any finding of this reading is an error."""
        return any(finding.severity is Severity.ERROR for finding in self._reading.findings)

    def add_error(self, rule: str, message: str) -> None:
        """Add a finding that refuses the file."""
        self._add(rule, Severity.ERROR, message)

    def add_warning(self, rule: str, message: str) -> None:
        """Add a finding that does not refuse the file."""
        self._add(rule, Severity.WARNING, message)

    def add_wrong_type(self, wanted: str) -> None:
        """Add the finding that this value is not what it has to be, such as `a list of names`."""
        self.add_error("wrong-type", f"{self.label} must be {wanted}, not {self.describe()}.")

    def describe(self) -> str:
        """The value in the words of an error message."""
        return describe_value(self.value, is_json=self._is_json)

    # Keys of a mapping

    def check_keys(self, known: Keys, what: str, *, also: Collection[str] = ()) -> None:
        """Add a finding for each key that is not in `known` or `also`, with the nearest of `known`."""
        for key in self.value if isinstance(self.value, dict) else ():
            if key not in known and key not in also:
                child = self.child(key)
                spelling = find_spelling(key, known)
                hint = f" It is written {spelling!r} here." if spelling else self._reading.suggest(key, known)
                child.add_error("unknown-key", f"{child.label}: {_a(what)} has no key {key!r}.{hint}")

    def require_keys(self, *keys: str, rule: str = "missing-key") -> None:
        """Add a finding for each key that is missing."""
        for key in keys:
            if self._lookup(key) is _ABSENT:
                self.add_error(rule, f"{self.label} needs a `{key}`.")

    def read_fields(self, known: Keys, what: str, *, also: Collection[str] = ()) -> dict[str, Section]:
        """The known keys that stand in this mapping, in the order written; an unknown key adds a finding."""
        entries = self._read_entries()
        self.check_keys(known, what, also=also)
        return {key: self.child(key) for key in entries if key in known and self._lookup(key) is not _ABSENT}

    def read_members(self, what: str) -> Iterator[tuple[str, Section]]:
        """The entries of a mapping from names, without those whose name is blank.

        A name that differs from an earlier one only by case adds a finding. It is returned all the same, so that what
        is below it is checked, too.
        """
        earlier: dict[str, str] = {}
        for name in self._read_entries(f"a mapping from names to {what}s"):
            member = self.child(name)
            if member.is_name(name):
                if (first := earlier.setdefault(fold(name), name)) != name:
                    member.add_error("duplicate-name", f"{member.label}: {first!r} is there already, but for its case.")
                yield name, member

    # Values: under `key`, or this value itself where no key is given. `None` where it is absent or wrong.

    def read_text(self, key: Key | None = None, *, blank: bool = False) -> str | None:
        """A text, which may be blank only if `blank`."""
        value = self._lookup(key)
        if isinstance(value, str) and (blank or value.strip()):
            return value
        self._refuse(key, value, Kind.PROSE.value if blank else Kind.TEXT.value)
        return None

    def read_bool(self, key: Key | None = None) -> bool | None:
        """True or false."""
        value = self._lookup(key)
        if isinstance(value, bool):
            return value
        self._refuse(key, value, Kind.SWITCH.value)
        return None

    def read_int(
        self, key: Key | None = None, *, least: float = -_INFINITE, most: float = _INFINITE, allow_float: bool = False
    ) -> int | None:
        """A whole number of `least` to `most`; `8192.0` is one only if `allow_float`, as JSON Schema has it."""
        value = self._lookup(key)
        is_whole = type(value) is int or (allow_float and isinstance(value, float) and value.is_integer())
        if is_whole and least <= value <= most:
            return int(value)
        self._refuse(key, value, f"a whole number{_bounds(least, most, is_whole=True)}")
        return None

    def read_number(
        self, key: Key | None = None, *, least: float = -_INFINITE, most: float = _INFINITE
    ) -> float | None:
        """A finite number of `least` to `most`."""
        value = self._lookup(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # of a whole number with more digits than a float can have
                if math.isfinite(number := float(value)) and least <= number <= most:
                    return number
        self._refuse(key, value, f"a number{_bounds(least, most)}")
        return None

    @overload
    def read_choice(self, key: Key | None, choices: type[_Member], what: str) -> _Member | None: ...
    @overload
    def read_choice(self, key: Key | None, choices: Collection[str], what: str) -> str | None: ...
    def read_choice(self, key: Key | None, choices: Any, what: str) -> Any:
        """A member of a `StrEnum`, or one of some texts; the rule of the finding is `unknown-` and `what`."""
        value = self._lookup(key)
        known = tuple(str(choice) for choice in choices)
        if isinstance(value, str) and value in known:
            return choices(value) if isinstance(choices, type) else value
        if value is not _ABSENT:
            section = self if key is None else self.child(key)
            hint = self._reading.suggest(value, known) if isinstance(value, str) else f" Known: {', '.join(known)}."
            section.add_error(_unknown(what), f"{section.label} cannot be {section.describe()}.{hint}")
        return None

    def read_mapping(self, key: Key | None = None, wanted: str = "") -> dict[str, Any] | None:
        """A mapping of anything."""
        value = self._lookup(key)
        if isinstance(value, dict):
            return value
        self._refuse(key, value, wanted or ("an object" if self._is_json else "a mapping"))
        return None

    def read_list(self, key: Key | None = None, wanted: str = "a list") -> list[Any] | None:
        """A list of anything."""
        value = self._lookup(key)
        if isinstance(value, list):
            return value
        self._refuse(key, value, wanted)
        return None

    def read_items(self, key: Key | None = None, wanted: str = "a list") -> list[Section]:
        """The items of a list, each with its place."""
        items = self.read_list(key, wanted)
        if not items:
            return []
        section = self if key is None else self.child(key)
        return [Section(item, self._reading, section, index) for index, item in enumerate(items)]

    def read_texts(
        self, key: Key | None = None, wanted: str = "a list", item: str = Kind.TEXT.value
    ) -> tuple[str, ...]:
        """The texts of a list that are not blank, repeats included; `item` is what each has to be."""
        values = self.read_list(key, wanted)
        if not values:
            return ()
        texts = tuple(value for value in values if isinstance(value, str) and value.strip())
        if len(texts) < len(values):
            for section in self.read_items(key):
                if not isinstance(section.value, str) or not section.value.strip():
                    section.add_wrong_type(item)
        return texts

    def read_names(
        self, key: Key | None = None, known: Collection[str] | None = None, what: str = "name"
    ) -> dict[str, Section]:
        """The names of a list with their places, without those that repeat or, where `known` is given, are unknown."""
        names: dict[str, Section] = {}
        earlier: dict[str, str] = {}
        for item in self.read_items(key, Kind.NAMES.value):
            name = item.value
            if not isinstance(name, str) or not name.strip():
                item.add_wrong_type("a name")
            elif (known is None or item.is_known(name, known, what)) and item.is_new(name, earlier):
                names[name] = item
        return names

    # Checks

    def is_known(self, name: str, known: Collection[str], what: str) -> bool:
        """Whether there is such a name; adds a finding with the nearest if not.

        The rule is `unknown-` and what stands in `what` before ` of `.
        """
        if name in known:
            return True
        hint = self._reading.suggest(name, known)
        self.add_error(_unknown(what), f"{self.label}: no {what} is named {name!r}.{hint}")
        return False

    def is_name(self, name: str) -> bool:
        """Whether a text may be a name, which is not blank and has no invisible character; adds a finding if not."""
        if (problem := find_name_problem(name)) is not None:
            rule = "invisible-character" if name.strip() else "blank-name"
            self.add_error(rule, f"{self.label}: a name {problem}.")
        return problem is None

    def is_new(self, name: str, earlier: dict[str, str]) -> bool:
        """Whether no name before was the same, ignoring case; adds a finding if one was.

        Args:
            name: Of this.
            earlier: Names before as written, by their folded form; this one is added.
        """
        key = fold(name)
        if key not in earlier:
            earlier[key] = name
            return True
        difference = "" if earlier[key] == name else f", first as {earlier[key]!r}"
        self.add_error("duplicate-entry", f"{self.label}: {name!r} stands here twice{difference}.")
        return False

    @property
    def _is_json(self) -> bool:
        document = self._reading.document
        return document is None or document.is_json

    def _get(self, key: Key) -> Any:
        value = self.value
        if isinstance(value, dict):
            return value.get(key, _ABSENT)
        return value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else _ABSENT

    def _lookup(self, key: Key | None) -> Any:
        if key is None:
            return self.value
        value = self._get(key)
        return _ABSENT if value is None and self._reading.null_is_absent else value

    def _read_entries(self, wanted: str = "") -> dict[str, Any]:
        is_absent = self.value is None and self._reading.null_is_absent
        return {} if is_absent else self.read_mapping(wanted=wanted) or {}

    def _refuse(self, key: Key | None, value: Any, wanted: str) -> None:
        if value is not _ABSENT:
            (self if key is None else self.child(key)).add_wrong_type(wanted)

    def _add(self, rule: str, severity: Severity, message: str) -> None:
        reading = self._reading
        if len(reading.findings) >= reading.max_findings:
            raise TooManyFindingsError
        reading.findings.append(Finding(rule, severity, message, reading.source, self.line))


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def _bounds(least: float, most: float, *, is_whole: bool = False) -> str:
    if least == -_INFINITE:
        return "" if most == _INFINITE else f", {most:,} or less"
    if most != _INFINITE:
        return f" of {least:,} to {most:,}"
    return " above 0" if is_whole and least == 1 else f", {least:,} or more"


def _unknown(what: str) -> str:
    return f"unknown-{what.split(' of ', maxsplit=1)[0].replace(' ', '-')}"
