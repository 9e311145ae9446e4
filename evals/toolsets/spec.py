"""Toolsets as values: how their names are written, and the table of all kinds (rule E1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.loadouts.loadout import AUTO
from toolbelt.models.recommended import spell_loadout, split_toolset_name
from toolbelt.patterns import fold, is_prefix_pattern
from toolbelt.providers.hosted_search import TOOLSET, SearchMethod, find_method
from toolbelt.search.presets import PRESET_KIND, parse_search, shorten_search
from toolbelt.search.settings import SearchSettings

_DISTRACTORS = re.compile(r"\+([0-9]{1,6})(?::(near|random))?", re.IGNORECASE)


class ToolsetKind(StrEnum):
    """The kinds of toolsets; a toolset's name begins with its kind."""

    FULL = "full"
    LOADOUT = "loadout"
    TIERED = "tiered"
    DYNAMIC = "dynamic"
    SEARCH = "search"
    HOSTED_SEARCH = "hosted-search"
    ORACLE = "oracle"


class NameOf(StrEnum):
    """What the name in `KIND:NAME` belongs to."""

    LOADOUT = "loadout"
    AGENT = "agent"
    SEARCH = "search"
    METHOD = "search method"


@dataclass(frozen=True, slots=True)
class ToolsetEntry:
    """One row of the table of toolsets.

    Attributes:
        factory: `module:callable`, which is called with a `ToolsetSpec` and a `ToolsetContext`. It is loaded when it
            is first needed: whoever only reads names does not pay for the toolsets' imports.
        forms: How its names are written.
        name_of: What `KIND:NAME` names; `None` where the kind takes no name.
        takes_distractors: Whether `KIND+N`, `KIND+N:near` and `KIND+N:random` exist.
        about: What a model is offered, in a few words.
    """

    factory: str
    forms: tuple[str, ...]
    name_of: NameOf | None = None
    takes_distractors: bool = False
    about: str = ""


TOOLSETS: Mapping[ToolsetKind, ToolsetEntry] = MappingProxyType(
    {
        ToolsetKind.FULL: ToolsetEntry(
            "toolbelt.evals.toolsets.fixed:make_full", ("full",), about="every tool of the catalog"
        ),
        ToolsetKind.LOADOUT: ToolsetEntry(
            "toolbelt.evals.toolsets.fixed:make_loadout",
            ("loadout", "loadout:NAME", "loadout:*", "loadout:auto"),
            name_of=NameOf.LOADOUT,
            about="the tools of a loadout; without a name, of the one for the role of each case",
        ),
        ToolsetKind.TIERED: ToolsetEntry(
            "toolbelt.evals.toolsets.tiered:Tiered",
            ("tiered",),
            about="a few core tools; the model browses and loads the others as it needs them",
        ),
        ToolsetKind.DYNAMIC: ToolsetEntry(
            "toolbelt.evals.toolsets.dynamic:make_dynamic",
            ("dynamic", "dynamic:AGENT", "dynamic:*"),
            name_of=NameOf.AGENT,
            about="the core tools, and a toolkit for each category that the model loads as it needs them",
        ),
        ToolsetKind.SEARCH: ToolsetEntry(
            "toolbelt.evals.toolsets.search:SearchToolset",
            ("search", "search:PRESET", "search:NAME", "search:PRESET:KEY=VALUE:…"),
            name_of=NameOf.SEARCH,
            about="a few pinned tools; the model finds the others by search",
        ),
        ToolsetKind.HOSTED_SEARCH: ToolsetEntry(
            "toolbelt.evals.toolsets.hosted_search:HostedSearch",
            (TOOLSET, *(f"{TOOLSET}:{method}" for method in SearchMethod)),
            name_of=NameOf.METHOD,
            about="the core tools; the vendor's own search finds the others",
        ),
        ToolsetKind.ORACLE: ToolsetEntry(
            "toolbelt.evals.toolsets.oracle:Oracle",
            ("oracle", "oracle+N", "oracle+N:near", "oracle+N:random"),
            takes_distractors=True,
            about="the right tools, with +N also N wrong ones: an upper bound, for orientation only",
        ),
    }
)
"""Every kind of toolset. A new one is a row here and the module that makes it."""


@dataclass(frozen=True, slots=True)
class ToolsetSpec:
    """What the name of a toolset says; `str()` gives the name back, in its one spelling.

    Attributes:
        kind: Which row of `TOOLSETS`.
        name: Of a loadout or an agent, or a pattern that stands for several; `auto` for the loadout that is chosen by
            the model's context window; the settings of a search, in their full form where it is one of a preset; the
            method of a vendor's own search; empty for none.
        distractors: Wrong tools beside the right ones.
        near: Whether these are the nearest ones by words, rather than random ones.
    """

    kind: ToolsetKind
    name: str = ""
    distractors: int = 0
    near: bool = False

    def __str__(self) -> str:
        name = f":{self.name}" if self.name else ""
        distractors = f"+{self.distractors}{':near' if self.near else ''}" if self.distractors else ""
        return f"{self.kind}{name}{distractors}"

    @property
    def is_auto(self) -> bool:
        """Whether each model gets the loadout that its context window allows (rule L15)."""
        return self.kind is ToolsetKind.LOADOUT and self.name == AUTO

    @property
    def is_by_role(self) -> bool:
        """Whether each case gets the loadout of its own role."""
        return self.kind is ToolsetKind.LOADOUT and not self.name

    @property
    def is_assignable(self) -> bool:
        """Whether a project can recommend it for a model, as `toolbelt.models.recommended` reads it.

        Not one that goes by the case: an oracle knows the answer, and `loadout` alone the role. Nor a pattern.
        """
        return (
            self.kind not in (ToolsetKind.ORACLE, ToolsetKind.HOSTED_SEARCH)
            and not self.is_by_role
            and not is_prefix_pattern(self.name)
        )

    @property
    def search(self) -> SearchSettings | None:
        """The settings of a search; `None` for any other kind."""
        return parse_search(self.name) if self.kind is ToolsetKind.SEARCH else None

    @property
    def is_list(self) -> bool:
        """Whether it shows one list of tools, which does not change as a trial goes on."""
        return self.kind in (ToolsetKind.FULL, ToolsetKind.LOADOUT)

    @property
    def loadout(self) -> str:
        """The loadout that is shown; empty if none is named, or it is chosen by the model's window."""
        return self.name if self.kind is ToolsetKind.LOADOUT and not self.is_auto else ""

    @property
    def agent(self) -> str:
        """The project's agent whose tools are shown; empty if none is named."""
        return self.name if self.kind is ToolsetKind.DYNAMIC else ""


FULL = ToolsetSpec(ToolsetKind.FULL)
TIERED = ToolsetSpec(ToolsetKind.TIERED)
BY_ROLE = ToolsetSpec(ToolsetKind.LOADOUT)
BY_WINDOW = ToolsetSpec(ToolsetKind.LOADOUT, AUTO)


@lru_cache(1024)  # the arms of a run are few, and asked often
def parse_toolset(text: str) -> ToolsetSpec:
    """The toolset that a name means; whether its loadout or agent exists is for `expand_toolsets`.

    Args:
        text: As on the command line. Case and blanks around the parts do not matter.

    Raises:
        NotFoundError: no kind of toolset is called so.
        ToolbeltError: the name is malformed.
    """
    word, rest = split_toolset_name(text)
    if word not in set(ToolsetKind):
        raise NotFoundError("toolset", text, toolset_forms())
    kind = ToolsetKind(word)
    entry = TOOLSETS[kind]
    if kind is ToolsetKind.SEARCH and rest[:1] in ("", ":"):
        return ToolsetSpec(kind, _spell_search(rest[1:].strip()))
    if not rest:
        return ToolsetSpec(kind)
    if entry.name_of is not None and rest[0] == ":" and (name := rest[1:].strip()):
        if entry.name_of is NameOf.METHOD:
            return ToolsetSpec(kind, find_method(name))
        return ToolsetSpec(kind, spell_loadout(name) if entry.name_of is NameOf.LOADOUT else name)
    if entry.takes_distractors and (match := _DISTRACTORS.fullmatch(rest)) is not None:
        count = int(match[1])
        return ToolsetSpec(kind, distractors=count, near=bool(count) and fold(match[2] or "") == "near")
    if len(entry.forms) == 1:
        raise ToolbeltError(f"Toolset {kind.value!r} is written by its name alone, without {rest!r}.")
    forms = [repr(form.replace("+N", "+9")) for form in entry.forms if "*" not in form]
    raise ToolbeltError(f"Toolset '{kind}{rest}' is malformed; write {', '.join(forms[:-1])} or {forms[-1]}.")


def shorten_toolset(name: str) -> str:
    """A toolset's name for people: of a search, what differs from its preset; any other as it is."""
    begin = f"{ToolsetKind.SEARCH}:"
    if not name.startswith(begin):
        return name
    return f"{begin}{shorten_search(name[len(begin) :])}".removesuffix(":")


def _spell_search(text: str) -> str:
    """The settings of a search in their full form; the text itself where it begins with no preset's name."""
    try:
        return str(parse_search(text))
    except NotFoundError as error:
        if error.kind != PRESET_KIND:
            raise
        return text


def find_toolset(name: str) -> ToolsetSpec | None:
    """As `parse_toolset`; `None` for a name that is of no toolset, as a file that another wrote may hold."""
    try:
        return parse_toolset(name)
    except ToolbeltError:
        return None


def is_oracle(name: str) -> bool:
    """Whether a toolset of that name knows the right tools, so that no model can be given it."""
    spec = find_toolset(name)
    return spec is not None and spec.kind is ToolsetKind.ORACLE


def toolset_forms() -> tuple[str, ...]:
    """How the names of all toolsets are written."""
    return tuple(form for entry in TOOLSETS.values() for form in entry.forms)
