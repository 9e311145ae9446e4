"""Which tools a config switches on, and which of its keys decided (rules K1 to K3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from toolbelt.errors import InvalidDefinitionError, NotFoundError, Suggester, require_items
from toolbelt.patterns import fold
from toolbelt.toolkits.switch_decisions import ConfigNote, SwitchDecision, SwitchRule
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec

_Item = TypeVar("_Item")


class _Switch(NamedTuple):
    """The value that a config gives a tool or toolkit, and its key as written there."""

    written: str
    value: bool


@dataclass(frozen=True)
class ToolkitCatalog:
    """The tools that can be switched, and the toolkits they are in: the one source for config, interface and run time.

        catalog = ToolkitCatalog((ToolSpec("search"), ToolSpec("fetch")), (Toolkit("web", member_tools=("fetch",)),))
        catalog.enabled_tools({"web": True, "search": True})     # ("search", "fetch")
        catalog.decide("fetch", {"web": False}).reason           # "toolkit 'web' is off"

    A config (`tools_config`) maps keys of tools and toolkits to booleans. Any other value, 1 and "true" among them,
    counts as absent, and so do keys of nothing; `check_config` warns of both. Keys are compared as names are, without
    case, but a key that is spelled exactly comes first; where two keys mean the same and differ, `false` stands.

    Attributes:
        tools: In order.
        toolkits: In order; members are keys of `tools`, spelled as there, and one tool may be a member of several.

    Raises:
        InvalidDefinitionError: a key that two tools or toolkits have, or a member that is no tool; all of
            them at once.
    """

    tools: tuple[ToolSpec, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tools", require_items("The tools of a catalog of switches", self.tools, ToolSpec))
        object.__setattr__(self, "toolkits", require_items("The toolkits", self.toolkits, Toolkit))
        if wrong := [*_shared_keys(self.tools, self.toolkits), *self._unknown_members()]:
            raise InvalidDefinitionError(*wrong)
        object.__setattr__(self, "toolkits", tuple(map(self._respelled, self.toolkits)))

    def find_tool(self, key: str) -> ToolSpec | None:
        """The tool of that key, `None` if there is none, or several that differ from it in case."""
        return self._tools_by_key.get(key) or _only(self._tools_by_fold.get(fold(key), ()))

    def get_tool(self, key: str) -> ToolSpec:
        """The tool of that key.

        Raises:
            NotFoundError: with the nearest keys.
        """
        if (tool := self.find_tool(key)) is None:
            raise NotFoundError("tool", key, self._tools_by_key)
        return tool

    def find_toolkit(self, key: str) -> Toolkit | None:
        """The toolkit of that key, `None` if there is none, or several that differ from it in case."""
        return self._toolkits_by_key.get(key) or _only(self._toolkits_by_fold.get(fold(key), ()))

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
        tool = self.find_tool(tool_key)
        return () if tool is None else self._owners.get(tool.key, ())

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
        return self._decide(tool_key, self._read_switches(config))

    def decisions(self, config: Mapping[str, Any]) -> tuple[SwitchDecision, ...]:
        """What `decide` says of every tool, in order; raises as that."""
        switches = self._read_switches(config)
        return tuple(self._decide(tool.key, switches) for tool in self.tools)

    def _decide(self, key: str, switches: Mapping[str, _Switch]) -> SwitchDecision:
        if (tool := self.find_tool(key)) is None:
            toolkit = key if self.find_toolkit(key) is not None else None
            decision = SwitchDecision(key, False, SwitchRule.UNKNOWN, None, None, (), toolkit)
            return replace(decision, known=tuple(self._tools_by_key))
        owners = tuple(kit.key for kit in self.owners(tool.key))
        own = switches.get(tool.key)

        def decided(enabled: bool, rule: SwitchRule, by: _Switch | None, toolkit: str | None = None) -> SwitchDecision:
            written, value = (None, None) if by is None else (by.written, by.value)
            own_value = None if own is None else own.value
            return SwitchDecision(tool.key, enabled, rule, written, value, owners, toolkit, own_value)

        if (off := _first(owners, switches, False)) is not None:
            return decided(False, SwitchRule.TOOLKIT_OFF, switches[off], off)
        if (on := _first(owners, switches, True)) is not None:
            return decided(own is None or own.value, SwitchRule.TOOLKIT_ON, own or switches[on], on)
        if own is not None:
            return decided(own.value, SwitchRule.OWN, own)
        return decided(self.is_on_by_default(tool.key), SwitchRule.DEFAULT, None)

    def is_on_by_default(self, tool_key: str) -> bool:
        """Whether a tool is on where no config says anything: by its own `default_on`, else by any of its toolkits'.

        Raises:
            NotFoundError: no such tool, with the nearest keys.
        """
        tool = self.get_tool(tool_key)
        own = tool.default_on
        return any(toolkit.default_on for toolkit in self.owners(tool.key)) if own is None else own

    def enabled_tools(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Keys of the tools that are on under a config, in order.

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        return tuple(decision.tool for decision in self.decisions(require_mapping(config)) if decision.enabled)

    def toolkit_switch(self, key: str, config: Mapping[str, Any]) -> bool:
        """Whether an interface shows a toolkit's switch as on (rule K3).

        It does where the config says so. Where the toolkit is absent, it does if any member is switched on by its own
        key, as in older configs, or if any member is on.

        Raises:
            NotFoundError: no such toolkit, with the nearest keys.
            InvalidDefinitionError: the config is no mapping.
        """
        switches = self._read_switches(config)
        toolkit = self.get_toolkit(key)
        if (own := switches.get(toolkit.key)) is not None:
            return own.value
        is_named = any(member in switches and switches[member].value for member in toolkit.member_tools)
        return is_named or any(self._decide(member, switches).enabled for member in toolkit.member_tools)

    def new_config(self) -> dict[str, bool | None]:
        """A config to begin with: the defaults of each toolkit and of each tool in no toolkit (rule K3).

        By rule K2 a toolkit that is written off is off with all its tools. So `None`, which counts as absent, stands
        for a toolkit that is off by default but shares a tool with one that is on: that tool stays on, as under `{}`.
        A `default_on` of a tool itself counts only as long as its toolkit is absent.
        """
        toolkits = {toolkit.key: self._new_switch(toolkit) for toolkit in self.toolkits}
        return toolkits | {tool.key: self.is_on_by_default(tool.key) for tool in self.unowned_tools}

    def _new_switch(self, toolkit: Toolkit) -> bool | None:
        shared = (key for key in toolkit.member_tools if self._tools_by_key[key].default_on is None)
        return None if not toolkit.default_on and any(map(self.is_on_by_default, shared)) else toolkit.default_on

    def check_config(self, config: Mapping[str, Any]) -> tuple[ConfigNote, ...]:
        """What in a config has no effect, or not the one it seems to have, in its order.

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        return tuple(self._notes(require_mapping(config)))

    def _notes(self, config: Mapping[Any, Any]) -> Iterator[ConfigNote]:
        known = dict.fromkeys((*self._toolkits_by_key, *self._tools_by_key))
        suggest = Suggester()
        switches, new_config = self._read_switches(config), self.new_config()
        for key, value in config.items():
            meant = self._meant(key)
            if not meant:
                close = suggest(str(key), known)
                yield ConfigNote(key, "unknown-key", f"No tool or toolkit has the key {key!r}; it does nothing.{close}")
            elif value is None and meant[0] in self._toolkits_by_key and new_config[meant[0]] is None:
                continue  # as a new config has it
            elif type(value) is not bool:
                shown = "null" if value is None else repr(value)  # as files have it
                message = f"{key!r} is switched by true or false; {shown} is neither, and counts as absent."
                yield ConfigNote(key, "not-a-boolean", message)
            elif value and len(meant) > 1:
                message = f"{key!r} may be {' or '.join(map(repr, meant))}; it does nothing. Say which."
                yield ConfigNote(key, "ambiguous-key", message)
            elif switches[meant[0]].value is not value:
                message = f"{switches[meant[0]].written!r} and {key!r} are the same and differ, so it is off; keep one."
                yield ConfigNote(key, "contradiction", message)
            elif value and (off := _first([kit.key for kit in self.owners(meant[0])], switches, False)):
                message = f"{key!r} stays off: toolkit {off!r} is off, which its members cannot undo."
                yield ConfigNote(key, "overruled-by-toolkit", message)

    def _read_switches(self, config: Mapping[str, Any]) -> dict[str, _Switch]:
        """What a config says, by key of the tool or toolkit; what is no boolean (1 is none) is left out."""
        switches: dict[str, _Switch] = {}
        for written, value in require_mapping(config).items():
            if type(value) is not bool:
                continue
            meant = self._meant(written)
            for key in meant if len(meant) == 1 or not value else ():
                if key not in switches or not value:
                    switches[key] = _Switch(written, value)
        return switches

    def _meant(self, key: object) -> tuple[str, ...]:
        """The keys that a key of a config means: itself, else all that differ from it in case alone."""
        if not isinstance(key, str):
            return ()
        if key in self._toolkits_by_key or key in self._tools_by_key:
            return (key,)
        folded = fold(key)
        toolkits, tools = self._toolkits_by_fold.get(folded, ()), self._tools_by_fold.get(folded, ())
        return (*(toolkit.key for toolkit in toolkits), *(tool.key for tool in tools))

    def _respelled(self, toolkit: Toolkit) -> Toolkit:
        """The toolkit with its members spelled as the tools are."""
        spelled = {member: self.get_tool(member).key for member in toolkit.member_tools}
        if all(member == key for member, key in spelled.items()):
            return toolkit
        overrides = {spelled[member]: values for member, values in toolkit.overrides.items()}
        return replace(toolkit, member_tools=tuple(dict.fromkeys(spelled.values())), overrides=overrides)

    def _unknown_members(self) -> Iterator[str]:
        suggest = Suggester()
        for toolkit in self.toolkits:
            for member in toolkit.member_tools:
                if self.find_tool(member) is None:
                    close = suggest(member, self._tools_by_key)
                    yield f"Toolkit {toolkit.key!r} has a member {member!r} that is no known tool.{close}"

    @cached_property
    def _tools_by_fold(self) -> dict[str, tuple[ToolSpec, ...]]:
        return _by_fold(self._tools_by_key)

    @cached_property
    def _toolkits_by_fold(self) -> dict[str, tuple[Toolkit, ...]]:
        return _by_fold(self._toolkits_by_key)

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


def _first(keys: Iterable[str], switches: Mapping[str, _Switch], wanted: bool) -> str | None:
    return next((key for key in keys if key in switches and switches[key].value is wanted), None)


def _by_fold(by_key: Mapping[str, _Item]) -> dict[str, tuple[_Item, ...]]:
    by_fold: dict[str, tuple[_Item, ...]] = {}
    for key, item in by_key.items():
        by_fold[fold(key)] = (*by_fold.get(fold(key), ()), item)
    return by_fold


def _only(items: Sequence[_Item]) -> _Item | None:
    return items[0] if len(items) == 1 else None


def _shared_keys(tools: Iterable[ToolSpec], toolkits: Iterable[Toolkit]) -> Iterator[str]:
    of_tools, of_toolkits = Counter(tool.key for tool in tools), Counter(toolkit.key for toolkit in toolkits)
    for kind, keys in (("tools", of_tools), ("toolkits", of_toolkits)):
        for key, count in keys.items():
            if count > 1:
                yield f"{count} {kind} have the key {key!r}; give each one of its own."
    for key in of_toolkits:
        if key in of_tools:
            yield f"{key!r} is the key of a tool and of a toolkit; a config could not tell them apart; rename one."


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
            "default_on": catalog.is_on_by_default(tool.key),
            "enabled": decision.enabled,
            "rule": decision.rule.value,
            "toolkits": list(decision.toolkits),
        }
        for tool, decision in zip(catalog.tools, catalog.decisions(switches), strict=True)
    ]
    return {"toolkits": toolkits, "tools": tools}
