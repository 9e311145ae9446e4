"""The rules of a provider for the tools of a request, as values with their sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class Effect(StrEnum):
    """The effect of a rule on a request that breaks it."""

    REFUSED = "refused"  # an error for the whole request, the other tools included
    SOME_REFUSE = "some_refuse"  # by some of the provider's models or at some time, as far as reports go
    IGNORED = "ignored"  # the model never sees it


LITELLM_READ = ("1.105.3", "1.110.2")
"""The releases of litellm of which it was read what they send."""

COMBINATORS = frozenset({"oneOf", "anyOf", "allOf"})
LEFT_OUT = "leaves them out, with what they say"
NO_LOSS = "leaves it out, and the model misses nothing"
"""What litellm changes without a word that a model needs."""


class Source(NamedTuple):
    """The source of a fact.

    Attributes:
        url: The page, issue or file.
        read: The day on which it was read for this table.
    """

    url: str
    read: date


def read_on(day: date, *urls: str) -> tuple[Source, ...]:
    """Sources that were all read on one day, the most important first."""
    return tuple(Source(url, day) for url in urls)


@dataclass(frozen=True)
class MaxTools:
    """The most tools in a request; only a smaller toolset repairs a violation."""

    most: int


ANY_CHARACTER = r"\s\S"
"""For a pattern that limits only the length."""


@dataclass(frozen=True)
class NamePattern:
    """The characters and the length of a name.

    Attributes:
        first: Characters for the first place, as the inside of a character class; always with letters and `_`.
        rest: Characters for all other places; always with `_`.
        longest: Most characters; `None` if no limit is known.
        reserved: Names that it may not be.
    """

    first: str = "A-Za-z0-9_-"
    rest: str = "A-Za-z0-9_-"
    longest: int | None = None
    reserved: frozenset[str] = frozenset()

    def allows(self, name: str) -> bool:
        """Whether `name` fits the pattern."""
        return (
            name not in self.reserved
            and self._whole.fullmatch(name) is not None
            and (self.longest is None or len(name) <= self.longest)
        )

    def clean(self, name: str) -> str:
        """`name` with legal characters only, of any length; never empty."""
        legal = self._illegal.sub("_", name)
        if re.search("[A-Za-z0-9]", legal) is not None and legal != name:
            legal = legal.strip("_") or legal
        return legal if self._start.match(legal) else f"t_{legal}"

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile(f"[{self.first}][{self.rest}]*")

    @cached_property
    def _start(self) -> re.Pattern[str]:
        return re.compile(f"[{self.first}]")

    @cached_property
    def _illegal(self) -> re.Pattern[str]:
        return re.compile(f"[^{self.rest}]+")

    def __str__(self) -> str:
        parts = [] if self.rest == ANY_CHARACTER else [f"[{self.first}][{self.rest}]*"]
        parts += [] if self.longest is None else [f"{self.longest} characters at most"]
        parts += [f"not {name!r}" for name in sorted(self.reserved)]
        return ", ".join(parts)


@dataclass(frozen=True)
class _Name:
    pattern: NamePattern


class ToolName(_Name):
    """The names of tools."""


class ParameterName(_Name):
    """The names of a tool's parameters: the keys of the `properties` at the root, not those further in."""


@dataclass(frozen=True)
class DescriptionLength:
    """Numbers of characters of a tool's description; a `shortest` of 1 means that it is required."""

    shortest: int = 0
    longest: int | None = None


class _Plain:
    """A rule without parameters: two rules of one kind are equal.

    It is no dataclass, as each dataclass adds half a millisecond to the start of commands that look up a model. For
    the same reason, kinds of rules share one where they have the same parameters, and facts are named tuples.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RootObject(_Plain):
    """The schema must say `type: object` at its root."""

    __slots__ = ()


@dataclass(frozen=True)
class RootKeywords:
    """Keywords of the schema's root.

    Attributes:
        allowed: The allowed ones; `None` allows all but `barred`.
        barred: The forbidden ones.
    """

    allowed: frozenset[str] | None = None
    barred: frozenset[str] = frozenset()

    def bars(self, keyword: str) -> bool:
        """Whether `keyword` may not stand there."""
        return keyword in self.barred or (self.allowed is not None and keyword not in self.allowed)


class SchemaKeywords(RootKeywords):
    """Keywords anywhere in the schema."""


class ArrayItems(_Plain):
    """Every `type: array` must say what its `items` are."""

    __slots__ = ()


class SingleType(_Plain):
    """`type` is one name, not a list of them."""

    __slots__ = ()


class TextEnum(_Plain):
    """`enum` holds texts alone, of a parameter of `type: string`."""

    __slots__ = ()


@dataclass(frozen=True)
class TextFormat:
    """The `format`s that a text may have."""

    allowed: frozenset[str]


class RequiredDescribed(_Plain):
    """Every name under `required` is one of `properties`."""

    __slots__ = ()


class FilledEnum(_Plain):
    """`enum` has values, none of them an empty text."""

    __slots__ = ()


class LoneAnyOf(_Plain):
    """Below the root, nothing stands beside `anyOf`."""

    __slots__ = ()


class TypeGiven(_Plain):
    """Every schema below the root says its `type`, or what it may be by `anyOf`."""

    __slots__ = ()


class SchemaObjects(_Plain):
    """What `properties`, `items` and `anyOf` hold are objects: not `true`, not `false`."""

    __slots__ = ()


class ValidSchema(_Plain):
    """It is a JSON Schema of draft 2020-12, with patterns that Python can read."""

    __slots__ = ()


class KnownReferences(_Plain):
    """What a `$ref` names is there, within the schema."""

    __slots__ = ()


SchemaRule = (
    RootObject
    | ValidSchema
    | KnownReferences
    | SchemaKeywords
    | RootKeywords
    | ArrayItems
    | SingleType
    | TextEnum
    | TextFormat
    | RequiredDescribed
    | FilledEnum
    | LoneAnyOf
    | TypeGiven
    | SchemaObjects
)
Rule = MaxTools | ToolName | ParameterName | DescriptionLength | SchemaRule


class Fact(NamedTuple):
    """A rule of a provider.

    Attributes:
        rule: The rule itself.
        sources: Its sources, the most important first; at least one.
        effect: The effect on a request that breaks it.
        only: It holds for models with this part in their name; empty for all.
        note: A remark.
        litellm: What litellm makes of what breaks the rule, so that the request succeeds; empty where it sends it as it
            is. Read in the releases `LITELLM_READ`.
    """

    rule: Rule
    sources: tuple[Source, ...]
    effect: Effect = Effect.REFUSED
    only: str = ""
    note: str = ""
    litellm: str = ""


@dataclass(frozen=True, eq=False)
class ProviderRules:
    """The known rules of a provider's API; a rule that is not listed is unknown, so nothing is proved to be allowed.

    Attributes:
        key: Short name, unique.
        title: As people call the API.
        providers: litellm's names for it.
        facts: In the order in which they are reported and repaired.
        models: The rules are for models with this part in their name; empty for all.
        modes: litellm's modes for which the facts hold.
    """

    key: str
    title: str
    providers: frozenset[str]
    facts: tuple[Fact, ...]
    models: str = ""
    modes: frozenset[str] = field(default=frozenset({"chat"}))

    def for_model(self, *names: str | None) -> tuple[Fact, ...]:
        """The facts that hold for a model, by any of its names."""
        return tuple(fact for fact in self.facts if any(fact.only in name.lower() for name in names if name))

    @property
    def most_tools(self) -> int | None:
        """The most tools of a request; `None` if no limit is known."""
        return next((fact.rule.most for fact in self.facts if isinstance(fact.rule, MaxTools)), None)

    @property
    def most_tools_fact(self) -> Fact | None:
        """The fact that sets this limit, with its sources."""
        return next((fact for fact in self.facts if isinstance(fact.rule, MaxTools)), None)


def deleted_by_litellm(*names: str, file: str, note: str = "", effect: Effect = Effect.IGNORED) -> Fact:
    """Parameters that litellm takes for keywords and deletes, though they stay under `required`.

    Args:
        names: Of the parameters.
        file: The file of litellm that does it.
        note: As of any fact.
        effect: As of any fact.
    """
    pattern = NamePattern(ANY_CHARACTER, ANY_CHARACTER, reserved=frozenset(names))
    source = f"https://github.com/BerriAI/litellm/blob/main/litellm/llms/{file}"
    said = f"litellm ({', '.join(LITELLM_READ)}) deletes it from the properties and keeps it under required"
    return Fact(ParameterName(pattern), read_on(date(2026, 11, 28), source), effect, note=f"{said}{note}")


RULE_NAMES: Mapping[type[object], str] = {
    MaxTools: "max-tools",
    ToolName: "tool-name",
    ParameterName: "parameter-name",
    DescriptionLength: "description-length",
    RootObject: "root-object",
    ValidSchema: "valid-schema",
    KnownReferences: "known-references",
    RootKeywords: "root-keyword",
    SchemaKeywords: "schema-keyword",
    ArrayItems: "array-items",
    SingleType: "single-type",
    TextEnum: "text-enum",
    TextFormat: "text-format",
    RequiredDescribed: "required-described",
    FilledEnum: "filled-enum",
    LoneAnyOf: "lone-any-of",
    TypeGiven: "type-given",
    SchemaObjects: "schema-objects",
}
"""The name of each kind of rule in output."""


def rule_name(fact: Fact) -> str:
    """The name of a rule's kind in output."""
    return RULE_NAMES[type(fact.rule)]
