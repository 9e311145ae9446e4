"""A part of a written file, with the place where it stands: what is wrong with it is said with line and path."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from toolbelt.findings import Finding
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key
from toolbelt.toolkits.advice import Advice

_LONGEST = 60
"""Characters of a wrong value that a message repeats."""
_PLAIN_KEY = re.compile(r"[\w-]+")


class Kind(Enum):
    """What may stand under a key."""

    TEXT = "text that is not blank"
    PROSE = "text"
    SWITCH = "true or false"
    NAMES = "a list of names"
    ENTRIES = "a list of tools, each a name or a name with overrides"
    POLICY = "a text, or a mapping of text, tools and unavailable"
    LINES = "a mapping from members to lines"
    DIRECTIVE = "a list of rules"
    PHRASES = "words, one or several"
    COUNT = "a whole number above 0"
    PRICE = "a number, 0 or more"
    PRICES = "a mapping of prices"
    TOOLSET = "the name of a toolset"


@dataclass(frozen=True)
class WrittenKey:
    """A key of a mapping that people write.

    Attributes:
        kind: What may stand under it.
        description: For the JSON Schema.
        elsewhere: How Python or another product spells it, which may well be tried here.
    """

    kind: Kind
    description: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Section:
    """A value of a document, where it stands, and everything found wrong so far.

    Attributes:
        document: The file.
        path: Keys from the top of the document.
        value: What stands there.
        findings: Shared by all sections that were made of one.
        advise: Likewise; gives the nearest names.
    """

    document: Document
    path: tuple[Key, ...]
    value: Any
    findings: list[Finding] = field(default_factory=list)
    advise: Advice = field(default_factory=Advice)

    @classmethod
    def of(cls, document: Document, *path: Key) -> Section:
        """What stands under `path`; `None` where nothing does."""
        value = document.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return cls(document, path, value)

    @property
    def shown(self) -> str:
        """The path as people write it: `agents.code.allowed_toolkits[0]`."""
        made = ""
        for key in self.path:
            if isinstance(key, str) and _PLAIN_KEY.fullmatch(key):
                made += f".{key}" if made else key
            else:
                made += f"[{json.dumps(key, ensure_ascii=False)}]"
        return made

    def refuse(self, rule: str, message: str) -> None:
        """Say that this is wrong."""
        self.findings.append(self.document.finding(rule, message, *self.path))

    def refuse_type(self, wanted: str) -> None:
        """Say that this is not what it has to be."""
        self.refuse("wrong-type", f"`{self.shown}` must be {wanted}, not {_shown(self.value)}.")

    def at(self, key: Key) -> Section:
        """What stands under `key`; `None` where nothing does."""
        if isinstance(self.value, dict):
            value = self.value.get(key)
        else:
            value = self.value[key] if isinstance(key, int) else None
        return replace(self, path=(*self.path, key), value=value)

    def members(self, what: str) -> Iterator[tuple[str, Section]]:
        """The entries of a mapping from names, without those whose name is blank.

        A name that is another in another case is wrong, too; it is given all the same, for what is below it to be read.

        Args:
            what: What is named, for messages.
        """
        if self.value is None:
            return
        if not isinstance(self.value, dict):
            self.refuse_type(f"a mapping from names to {what}s")
            return
        earlier: dict[str, str] = {}
        for name in self.value:
            one = self.at(name)
            if not name.strip():
                one.refuse("blank-name", f"`{self.shown}`: the name of {_a(what)} may not be blank.")
                continue
            if (first := earlier.setdefault(fold(name), name)) != name:
                one.refuse("duplicate-name", f"`{one.shown}`: {first!r} is there already, but for its case.")
            yield name, one

    def keys(self, known: Mapping[str, WrittenKey], what: str) -> Iterator[tuple[str, Section]]:
        """The keys of a mapping that are known and say something; what is unknown is wrong.

        Args:
            known: Keys that may stand there.
            what: Whose keys they are, for messages.
        """
        if self.value is None:
            return
        if not isinstance(self.value, dict):
            self.refuse_type("a mapping")
            return
        for key, value in self.value.items():
            if key not in known:
                advice = _spelled_here(key, known) or self.advise(key, known)
                message = f"`{self.at(key).shown}`: {_a(what)} has no key {key!r}.{advice}"
                self.at(key).refuse("unknown-key", message)
            elif value is not None:
                yield key, self.at(key)

    def text(self, *, blank: bool = False) -> str:
        """The text; empty, and said to be wrong, where there is none.

        Args:
            blank: Whether it may be blank.
        """
        if isinstance(self.value, str) and (blank or self.value.strip()):
            return self.value
        self.refuse_type(Kind.PROSE.value if blank else Kind.TEXT.value)
        return ""

    def switch(self) -> bool:
        """Whether it is on."""
        if not isinstance(self.value, bool):
            self.refuse_type(Kind.SWITCH.value)
        return self.value is True

    def count(self) -> int | None:
        """The whole number above 0; `None`, and said to be wrong, where there is none."""
        value = self.value
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and value == value // 1:
            return int(value)
        self.refuse_type(Kind.COUNT.value)
        return None

    def price(self) -> float | None:
        """The number that is not negative; `None`, and said to be wrong, where there is none."""
        value = self.value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            return float(value)
        self.refuse_type(Kind.PRICE.value)
        return None

    def items(self, wanted: str) -> Iterator[Section]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.refuse_type(wanted)
            return
        for index in range(len(self.value)):
            yield self.at(index)

    def names(self, known: Collection[str] | None = None, what: str = "name") -> Iterator[tuple[str, Section]]:
        """The names of a list, each with its place, without those that are unknown or repeat.

        Args:
            known: The names there are; `None` where any will do.
            what: What is named, for messages.
        """
        earlier: dict[str, str] = {}
        for item in self.items(Kind.NAMES.value):
            if not isinstance(item.value, str) or not item.value.strip():
                item.refuse_type("a name")
                continue
            name = item.value
            if (known is None or item.is_known(name, known, what)) and item.is_new(name, earlier):
                yield name, item

    def is_known(self, name: str, known: Collection[str], what: str) -> bool:
        """Whether there is such a name; says so if not, with the nearest.

        Args:
            name: Of this.
            known: The names there are.
            what: What is named, for messages; the rule is called by it, without ` of ` and what follows.
        """
        if name in known:
            return True
        rule = f"unknown-{what.split(' of ', maxsplit=1)[0].replace(' ', '-')}"
        self.refuse(rule, f"`{self.shown}`: no {what} is named {name!r}.{self.advise(name, known)}")
        return False

    def is_new(self, name: str, earlier: dict[str, str]) -> bool:
        """Whether no name before was the same, ignoring case; says so if one was.

        Args:
            name: Of this.
            earlier: Names before as written, by how names are compared; this one is added.
        """
        key = fold(name)
        if key not in earlier:
            earlier[key] = name
            return True
        difference = "" if earlier[key] == name else f", first as {earlier[key]!r}"
        self.refuse("duplicate-entry", f"`{self.shown}`: {name!r} stands here twice{difference}.")
        return False


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def _spelled_here(key: str, known: Mapping[str, WrittenKey]) -> str:
    for written, meant in known.items():
        if key in meant.elsewhere:
            return f" It is written {written!r} here."
    return ""


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()} (put it in quotes if it is a name)"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    return repr(value) if len(repr(value)) <= _LONGEST else f"{repr(value)[:_LONGEST]}…"
