"""Which tools a config switches on, and which of its keys decided (rules K1 to K3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, assert_never

from toolbelt.errors import InvalidDefinitionError, NotFoundError, Suggester, suggestion
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec


class SwitchRule(StrEnum):
    """The branch of rule K2 that decided about a tool; the first that applies does."""

    TOOLKIT_OFF = "toolkit_off"
    TOOLKIT_ON = "toolkit_on"
    OWN = "own"
    DEFAULT = "default"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SwitchDecision:
    """Whether a tool is on, and why.

    Attributes:
        tool: Its key.
        enabled: Whether it is on.
        rule: The branch that decided.
        key: The key of the config that decided, a toolkit's or the tool's own; `None` where none did.
        value: What stands there; `None` where no key decided.
        toolkits: Keys of the toolkits it is in, in order.
        toolkit: Key of the toolkit whose switch decided, or, where the key is no tool's, of the toolkit that it is.
        own: What the config says of the tool itself; `None` for nothing.
        known: Where the key is no tool's, the keys of the tools there are.
    """

    tool: str
    enabled: bool
    rule: SwitchRule
    key: str | None
    value: bool | None
    toolkits: tuple[str, ...]
    toolkit: str | None = None
    own: bool | None = None
    known: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why, in words."""
        match self.rule:
            case SwitchRule.TOOLKIT_OFF:
                overruled = f", whatever {self.tool!r} says of itself" if self.own else ""
                return f"toolkit {self.toolkit!r} is off{overruled}"
            case SwitchRule.TOOLKIT_ON if self.own is None:
                return f"toolkit {self.toolkit!r} is on"
            case SwitchRule.TOOLKIT_ON:
                own = "is on, too" if self.own else "opts out"
                return f"toolkit {self.toolkit!r} is on, and {self.tool!r} {own}"
            case SwitchRule.OWN:
                return f"{self.tool!r} itself is {_on(self.enabled)}"
            case SwitchRule.DEFAULT:
                return f"nothing is said of it; by default it is {_on(self.enabled)}"
            case SwitchRule.UNKNOWN if self.toolkit is not None:
                return f"{self.tool!r} is a toolkit and no tool"
            case SwitchRule.UNKNOWN:
                return f"no tool has the key {self.tool!r}.{suggestion(self.tool, self.known)}"
            case _:
                assert_never(self.rule)


@dataclass(frozen=True, slots=True)
class ConfigNote:
    """Something in a config that does not do what it seems to; it does no harm.

    Attributes:
        key: The key it is about, as it stands there.
        rule: `unknown-key`, `not-a-boolean`, `overruled-by-toolkit`, `ambiguous-key` or `contradiction`.
        message: One sentence that says what comes of it, and what to do.
    """

    key: object
    rule: str
    message: str


@dataclass(frozen=True)
class ToolkitCatalog:
    """The tools that can be switched, and the toolkits they are in: the one source for config, interface and run time.

        catalog = ToolkitCatalog((ToolSpec("search"), ToolSpec("fetch")), (Toolkit("web", member_tools=("fetch",)),))
        catalog.enabled_tools({"web": True, "search": True})     # ("search", "fetch")
        catalog.decide("fetch", {"web": False}).reason           # "toolkit 'web' is off"

    A config (`tools_config`) maps keys of tools and toolkits to booleans. Any other value, 1 and "true" among them,
    counts as absent, and so do keys of nothing; `check_config` tells of both.

    Attributes:
        tools: In order.
        toolkits: In order; members are keys of `tools`, and one tool may be a member of several.

    Raises:
        InvalidDefinitionError: a key that two bear, be they tools or toolkits, or a member that is no tool; all of
            them at once.
    """

    tools: tuple[ToolSpec, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", tuple(self.tools))
        object.__setattr__(self, "toolkits", tuple(self.toolkits))
        if wrong := [*_shared_keys(self.tools, self.toolkits), *_strangers(self.tools, self.toolkits)]:
            raise InvalidDefinitionError("\n".join(wrong))

    def find_tool(self, key: str) -> ToolSpec | None:
        """The tool of that key, `None` if there is none."""
        return self._tools_by_key.get(key)

    def get_tool(self, key: str) -> ToolSpec:
        """The tool of that key.

        Raises:
            NotFoundError: with the nearest keys.
        """
        if (tool := self.find_tool(key)) is None:
            raise NotFoundError("tool", key, self._tools_by_key)
        return tool

    def find_toolkit(self, key: str) -> Toolkit | None:
        """The toolkit of that key, `None` if there is none."""
        return self._toolkits_by_key.get(key)

    def get_toolkit(self, key: str) -> Toolkit:
        """The toolkit of that key.

        Raises:
            NotFoundError: with the nearest keys.
        """
        if (toolkit := self.find_toolkit(key)) is None:
            raise NotFoundError("toolkit", key, self._toolkits_by_key)
        return toolkit

    def owners(self, tool_key: str) -> tuple[Toolkit, ...]:
        """The toolkits that a tool is in, in order."""
        return self._owners.get(tool_key, ())

    def members(self, toolkit_key: str) -> tuple[ToolSpec, ...]:
        """The tools of a toolkit, in its order.

        Raises:
            NotFoundError: no such toolkit, with the nearest keys.
        """
        return tuple(self._tools_by_key[member] for member in self.get_toolkit(toolkit_key).member_tools)

    @property
    def unowned_tools(self) -> tuple[ToolSpec, ...]:
        """The tools that are in no toolkit, in order."""
        return tuple(tool for tool in self.tools if tool.key not in self._owners)

    def decide(self, tool_key: str, config: Mapping[str, Any]) -> SwitchDecision:
        """Whether a tool is on under a config, and why (rule K2).

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        require_mapping(config)
        owners = self.owners(tool_key)

        own = _switch(config, tool_key)

        def decided(
            enabled: bool, rule: SwitchRule, key: str | None = None, toolkit: str | None = None
        ) -> SwitchDecision:
            value = None if key is None else _switch(config, key)
            return SwitchDecision(tool_key, enabled, rule, key, value, tuple(kit.key for kit in owners), toolkit, own)

        if (tool := self.find_tool(tool_key)) is None:
            toolkit = tool_key if self.find_toolkit(tool_key) is not None else None
            return replace(decided(False, SwitchRule.UNKNOWN, None, toolkit), known=tuple(self._tools_by_key))
        switches = {toolkit.key: _switch(config, toolkit.key) for toolkit in owners}
        if (off := _first(switches, False)) is not None:
            return decided(False, SwitchRule.TOOLKIT_OFF, off, off)
        if (on := _first(switches, True)) is not None:
            return decided(own is not False, SwitchRule.TOOLKIT_ON, on if own is None else tool_key, on)
        if own is not None:
            return decided(own, SwitchRule.OWN, tool_key)
        return decided(tool.default_on, SwitchRule.DEFAULT)

    def decisions(self, config: Mapping[str, Any]) -> tuple[SwitchDecision, ...]:
        """What `decide` says of every tool, in order; raises as that."""
        return tuple(self.decide(tool.key, config) for tool in self.tools)

    def enabled_tools(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Keys of the tools that are on under a config, in order.

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        return tuple(decision.tool for decision in self.decisions(require_mapping(config)) if decision.enabled)

    def toolkit_switch(self, key: str, config: Mapping[str, Any]) -> bool:
        """Whether an interface shows a toolkit's switch as on (rule K3).

        It does where the config says so, and where the toolkit is absent, as in older configs, and any member is on
        by its own key.

        Raises:
            NotFoundError: no such toolkit, with the nearest keys.
            InvalidDefinitionError: the config is no mapping.
        """
        require_mapping(config)
        toolkit = self.get_toolkit(key)
        own = _switch(config, key)
        return any(_switch(config, member) is True for member in toolkit.member_tools) if own is None else own

    def new_config(self) -> dict[str, bool]:
        """A config to begin with: the defaults of each toolkit and of each tool in no toolkit (rule K3).

        By rule K2 a toolkit that is written off is off with all its tools, also with one that is on by its own default
        or by another toolkit as long as nothing is written.
        """
        toolkits = {toolkit.key: toolkit.default_on for toolkit in self.toolkits}
        return toolkits | {tool.key: tool.default_on for tool in self.unowned_tools}

    def check_config(self, config: Mapping[str, Any]) -> tuple[ConfigNote, ...]:
        """What in a config has no effect, or not the one it seems to have, in its order.

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        return tuple(self._notes(require_mapping(config)))

    def _notes(self, config: Mapping[Any, Any]) -> Iterator[ConfigNote]:
        known = dict.fromkeys((*self._toolkits_by_key, *self._tools_by_key))
        suggest = Suggester()
        for key, value in config.items():
            if not isinstance(key, str) or key not in known:
                close = suggest(str(key), known)
                yield ConfigNote(key, "unknown-key", f"No tool or toolkit has the key {key!r}; it does nothing.{close}")
            elif type(value) is not bool:
                shown = "null" if value is None else repr(value)  # as files have it
                message = f"{key!r} is switched by true or false; {shown} is neither, and counts as absent."
                yield ConfigNote(key, "not-a-boolean", message)
            elif value and (off := [kit.key for kit in self.owners(key) if _switch(config, kit.key) is False]):
                message = f"{key!r} stays off: toolkit {off[0]!r} is off, which its members cannot undo."
                yield ConfigNote(key, "overruled-by-toolkit", message)

    @cached_property
    def _tools_by_key(self) -> dict[str, ToolSpec]:
        return {tool.key: tool for tool in self.tools}

    @cached_property
    def _toolkits_by_key(self) -> dict[str, Toolkit]:
        return {toolkit.key: toolkit for toolkit in self.toolkits}

    @cached_property
    def _owners(self) -> dict[str, tuple[Toolkit, ...]]:
        owners: dict[str, list[Toolkit]] = {}
        for toolkit in self.toolkits:
            for member in toolkit.member_tools:
                owners.setdefault(member, []).append(toolkit)
        return {member: tuple(toolkits) for member, toolkits in owners.items()}


def require_mapping(config: object) -> Mapping[str, Any]:
    """`config`, if it is a mapping.

    Raises:
        InvalidDefinitionError: it is not.
    """
    if not isinstance(config, Mapping):
        raise InvalidDefinitionError(
            f"A config maps keys of tools and toolkits to true or false; this is of type {type(config).__name__}."
        )
    return config


def _switch(config: Mapping[str, Any], key: str) -> bool | None:
    """What a config says of a key; `None` for nothing, which every value is that is no boolean (1 is none)."""
    value = config.get(key)
    return value if type(value) is bool else None


def _first(switches: Mapping[str, bool | None], wanted: bool) -> str | None:
    return next((key for key, value in switches.items() if value is wanted), None)


def _on(value: bool) -> str:
    return "on" if value else "off"


def _shared_keys(tools: Iterable[ToolSpec], toolkits: Iterable[Toolkit]) -> Iterator[str]:
    of_tools, of_toolkits = Counter(tool.key for tool in tools), Counter(toolkit.key for toolkit in toolkits)
    for kind, keys in (("tools", of_tools), ("toolkits", of_toolkits)):
        for key, count in keys.items():
            if count > 1:
                yield f"{count} {kind} have the key {key!r}; give each one of its own."
    for key in of_toolkits:
        if key in of_tools:
            yield f"{key!r} is the key of a tool and of a toolkit; a config could not tell them apart; rename one."


def _strangers(tools: Iterable[ToolSpec], toolkits: Iterable[Toolkit]) -> Iterator[str]:
    known = dict.fromkeys(tool.key for tool in tools)
    suggest = Suggester()
    for toolkit in toolkits:
        for member in toolkit.member_tools:
            if member not in known:
                close = suggest(member, known)
                yield f"Toolkit {toolkit.key!r} has a member {member!r} that is no known tool.{close}"


def describe(catalog: ToolkitCatalog, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A view that is safe to hand to a client: plain JSON, without policies, code, guards or overrides.

    What is in it is listed here, not what is left out, so that a new attribute of a tool does not slip through.

    Args:
        catalog: What there is.
        config: By which switches are shown; `None` for one that says nothing.

    Returns:
        `{"toolkits": [{"key", "label", "description", "default_on", "on", "members"}], "tools": [{"key", "label",
        "description", "default_on", "enabled", "rule", "toolkits"}]}`, both in the catalog's order; `on` is the state
        of the switch (rule K3), `rule` the branch that decided (`SwitchRule`).

    Raises:
        InvalidDefinitionError: the config is no mapping.
    """
    switches = {} if config is None else config
    toolkits = [
        {
            "key": toolkit.key,
            "label": toolkit.label,
            "description": toolkit.description,
            "default_on": toolkit.default_on,
            "on": catalog.toolkit_switch(toolkit.key, switches),
            "members": list(toolkit.member_tools),
        }
        for toolkit in catalog.toolkits
    ]
    tools = [
        {
            "key": tool.key,
            "label": tool.label,
            "description": tool.description,
            "default_on": tool.default_on,
            "enabled": decision.enabled,
            "rule": decision.rule.value,
            "toolkits": list(decision.toolkits),
        }
        for tool, decision in zip(catalog.tools, catalog.decisions(switches), strict=True)
    ]
    return {"toolkits": toolkits, "tools": tools}
