"""Tools granted by one switch, what goes with them, and the names they may not have (rules K1, K4, K5, D1, D2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import InvalidDefinitionError
from toolbelt.patterns import find_name_problem


@dataclass(frozen=True)
class ToolSpec:
    """A tool, as far as switches go.

    Attributes:
        key: What a config switches it by.
        label: What an interface calls it; the key if left out.
        default_on: Whether it is on where no config says anything; `None` leaves it to its toolkits: it is on if any
            of them has `default_on`.
        description: What it does, for an interface.
        policy: The text for the prompt of an agent that has it (rule K7).

    Raises:
        InvalidDefinitionError: a blank key, a `default_on` that is no boolean, texts that are none.
    """

    key: str
    label: str = ""
    default_on: bool | None = None
    description: str = ""
    policy: str = ""

    def __post_init__(self) -> None:
        _require_name("tool", self.key)
        object.__setattr__(self, "label", self.label or self.key)
        _refuse_wrong_types(f"tool {self.key!r}", self, ("label", "description", "policy"))


@dataclass(frozen=True)
class Directive:
    """What one request is narrowed to (rule K5).

    Attributes:
        active_tools: Keys of the tools that are sent, in order.
        tool_choice: `required`, `auto`, `none` or a tool's key; `None` leaves it to the caller. It may name a
            tool that another toolkit sends; where none does, `directive` and `narrow` drop it.

    Raises:
        InvalidDefinitionError: a choice that is no text.
    """

    active_tools: tuple[str, ...]
    tool_choice: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "active_tools", as_names(self.active_tools))
        require_choice("directive", self.tool_choice)


DirectiveMaker = Callable[[str, Collection[str]], Directive | None]
"""Gets the user's message and the keys of the toolkit's members that are available."""
PolicyMaker = Callable[[Sequence[str]], str | None]
"""Gets the keys of the toolkit's members that are available, in the toolkit's order; of none, if none is."""


@dataclass(frozen=True)
class Toolkit:
    """A bundle of tools granted by one switch (K), loaded by name (D), or both.

    Attributes:
        key: Its name, in configs and for the model; not blank.
        label: What an interface calls it; the key if left out.
        default_on: Whether a new config grants it.
        member_tools: Keys of its tools, in order; not twice the same. In `toolbelt.yaml` one may name a whole plugin.
        description: What it is for: the model reads it to decide what to load.
        policy: Its prompt text (read as `PolicyText` reads it), or what makes it; `None` for none.
        directive: What narrows a request, by the user's message; `None` for nothing.
        overrides: By member, what the configuration says of that tool (rule D1); frozen.

    Raises:
        InvalidDefinitionError: a blank key, a member twice, overrides for what is no member or that are no mapping, a
            `default_on` that is no boolean, texts that are none, a directive or policy that cannot be called.
    """

    key: str
    label: str = ""
    default_on: bool = False
    member_tools: tuple[str, ...] = ()
    description: str = ""
    policy: PolicyMaker | str | None = None
    directive: DirectiveMaker | None = None
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        _require_name("toolkit", self.key)
        object.__setattr__(self, "label", self.label or self.key)
        _refuse_wrong_types(f"toolkit {self.key!r}", self, ("label", "description"))
        if not (self.policy is None or isinstance(self.policy, str) or callable(self.policy)):
            raise InvalidDefinitionError(f"The policy of toolkit {self.key!r} must be a text or a function.")
        if not (self.directive is None or callable(self.directive)):
            raise InvalidDefinitionError(f"The directive of toolkit {self.key!r} must be a function.")
        object.__setattr__(self, "member_tools", _members(self.key, self.member_tools))
        object.__setattr__(self, "overrides", freeze(self.overrides))
        members = frozenset(self.member_tools)
        if unknown := [name for name in self.overrides if name not in members]:
            raise InvalidDefinitionError(f"Toolkit {self.key!r} has overrides for no member: {', '.join(unknown)}.")
        require_overrides(f"toolkit {self.key!r}", self.overrides)


def as_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in a tuple; a lone one is a list of one, not of its letters."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise InvalidDefinitionError(f"Names are given as a list, not as something of type {type(names).__name__}.")
    return tuple(names)


def repeated(names: Iterable[str]) -> list[str]:
    """Those that stand there more than once, in order."""
    return [name for name, count in Counter(names).items() if count > 1]


def require_overrides(of: str, overrides: Mapping[str, Any]) -> None:
    """Raise where the settings of a tool are neither a mapping nor empty.

    Raises:
        InvalidDefinitionError: as said.
    """
    if wrong := [name for name, value in overrides.items() if not (value is None or isinstance(value, Mapping))]:
        raise InvalidDefinitionError(f"The overrides of {of} are mappings; those for {', '.join(wrong)} are not.")


def require_choice(of: str, choice: object) -> None:
    """Raise where a `tool_choice` is neither a text that is not blank nor `None`.

    Raises:
        InvalidDefinitionError: as said.
    """
    if choice is not None and (not isinstance(choice, str) or not choice.strip()):
        raise InvalidDefinitionError(
            f"The tool_choice of a {of} must be 'required', 'auto', 'none' or the key of a tool, not {choice!r}."
        )


def _members(key: str, members: Iterable[str]) -> tuple[str, ...]:
    names = as_names(members)
    for member in names:
        _require_name(f"member of toolkit {key!r}", member)
    if twice := repeated(names):
        raise InvalidDefinitionError(f"Toolkit {key!r} names these members twice: {', '.join(twice)}.")
    return names


def _refuse_wrong_types(what: str, of: ToolSpec | Toolkit, texts: Iterable[str]) -> None:
    """A switch that is "false" would be on, and an interface is handed these as they are."""
    if type(of.default_on) is not bool and not (isinstance(of, ToolSpec) and of.default_on is None):
        raise InvalidDefinitionError(f"The default_on of {what} must be true or false, not {of.default_on!r}.")
    if wrong := [part for part in texts if not isinstance(getattr(of, part), str)]:
        raise InvalidDefinitionError(f"The {wrong[0]} of {what} must be text.")


def _require_name(what: str, key: object) -> None:
    if (problem := find_name_problem(key)) is not None:
        raise InvalidDefinitionError(f"The key of a {what} {problem}.")


DYNAMIC_TOOLS = "dynamic_tools"
"""What the three go by together; every answer of theirs says so."""


class MetaRole(StrEnum):
    """What a meta-tool is for; the value is the name it goes by."""

    LIST = "list_toolkits"
    LOAD = "load_tools"
    UNLOAD = "unload_tools"


RESERVED = frozenset({DYNAMIC_TOOLS, *(role.value for role in MetaRole)})
"""What no toolkit and no tool of an agent may be called, in any case."""
