"""An agent whose tools may change from turn to turn (rule D1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import InvalidDefinitionError
from toolbelt.toolkits.toolkit import as_names, repeated, require_overrides


@dataclass(frozen=True)
class AgentSpec:
    """What the configuration says of an agent.

    Which tools it has is decided by the first five. Of `display_name`, `role`, `model` and `rooms` toolbelt makes
    nothing: it keeps and shows them, for the application that runs the agent.

    Attributes:
        name: Not blank.
        tools: What it always has: plugins, or tools as `plugin/tool`, in order.
        allowed_toolkits: What it may load, in order.
        initial_toolkits: What each of its sessions starts with and cannot unload; allowed ones.
        overrides: By entry of `tools`, what the configuration says of that tool; frozen.
        display_name: What people call it; the name if left out.
        role: What it is for.
        model: What it runs on.
        rooms: Where it takes part.

    Raises:
        InvalidDefinitionError: a name that is blank or no text, something named twice, an initial toolkit that is not
            allowed, overrides for what is not among the tools.
    """

    name: str
    tools: tuple[str, ...] = ()
    allowed_toolkits: tuple[str, ...] = ()
    initial_toolkits: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    display_name: str = ""
    role: str = ""
    model: str = ""
    rooms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidDefinitionError(f"The name of an agent must be text that is not blank, not {self.name!r}.")
        object.__setattr__(self, "display_name", self.display_name or self.name)
        object.__setattr__(self, "overrides", freeze(self.overrides))
        for part in ("tools", "allowed_toolkits", "initial_toolkits", "rooms"):
            names = as_names(getattr(self, part))
            object.__setattr__(self, part, names)
            if wrong := [repr(name) for name in names if not isinstance(name, str) or not name.strip()]:
                words = ", ".join(wrong)
                raise InvalidDefinitionError(f"{part} of agent {self.name!r} holds what is no name: {words}.")
            if twice := repeated(names):
                raise InvalidDefinitionError(f"{part} of agent {self.name!r} names these twice: {', '.join(twice)}.")
        allowed, tools = frozenset(self.allowed_toolkits), frozenset(self.tools)
        if wrong := [name for name in self.initial_toolkits if name not in allowed]:
            raise InvalidDefinitionError(
                f"initial_toolkits of agent {self.name!r} are not among its allowed_toolkits: {', '.join(wrong)}."
            )
        if wrong := [name for name in self.overrides if name not in tools]:
            raise InvalidDefinitionError(f"Agent {self.name!r} has overrides for no tool of its: {', '.join(wrong)}.")
        require_overrides(f"agent {self.name!r}", self.overrides)
