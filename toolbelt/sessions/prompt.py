"""The prompt text on toolkits, in a constant and a changing part, so that the prefix stays cached (rules D8, K4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import escaped, quoted
from toolbelt.toolkits.policy import build_policy_section
from toolbelt.toolkits.toolkit import MetaRole

_INTRODUCTION = (
    f"Further tools come in toolkits. {MetaRole.LOAD} loads one and {MetaRole.UNLOAD} unloads it; either takes effect "
    f"with the user's next message. {MetaRole.LIST} tells which tools are in them. The toolkits:"
)


@dataclass(frozen=True, slots=True)
class ToolkitPrompt:
    """The two parts, for two places of the prompt; both empty if the agent cannot load anything.

    Attributes:
        static: All toolkits; identical to the byte as long as the configuration is. Goes early.
        volatile: The loaded toolkits and their policies. Goes as late as possible, after everything to be cached.
    """

    static: str = ""
    volatile: str = ""

    @classmethod
    def of(
        cls,
        toolkits: DynamicToolkits,
        loaded: Iterable[str],
        available: Iterable[str] | None = None,
        *,
        may_load: bool = True,
    ) -> ToolkitPrompt:
        """The parts for an agent and its loaded toolkits.

        Args:
            toolkits: The agent's.
            loaded: Keys of toolkits.
            available: Keys of the tools that policies may name; by default all that it has.
            may_load: Whether it has the meta-tools; if not, the text has only the policies.

        Raises:
            InvalidDefinitionError: a policy that is a function gave neither a text nor `None`.
        """
        loaded = tuple(loaded)
        tool_keys = toolkits.tool_keys(loaded) if available is None else tuple(available)
        names = {key: toolkits.shown_as(key) for key in tool_keys}
        sections = (build_policy_section(toolkit, tool_keys, names) for toolkit in toolkits.expand_loaded(loaded))
        policies = dict.fromkeys(text for text in sections if text is not None)  # a shared policy appears once
        if not may_load:
            return cls("", "\n\n".join(policies))
        rows = [
            f"- {quoted(key)}{' (always loaded)' if key in toolkits.initial else ''}"
            f"{_format_description(toolkit.description)}"
            for key, toolkit in toolkits.toolkits.items()
        ]
        now = ", ".join(map(quoted, loaded)) or "none"
        return cls("\n".join((_INTRODUCTION, *rows)), "\n\n".join((f"Loaded now: {now}.", *policies)))


def _format_description(description: str) -> str:
    """On one line: a paragraph in YAML has line breaks."""
    words = " ".join(description.split())
    return f": {escaped(words)}" if words else ""
