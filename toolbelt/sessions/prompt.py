"""What the prompt says of toolkits: what never changes apart from what does, which keeps the cache (rules D8, K4)."""

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
    """The two parts, for two places of the prompt; both empty where the agent cannot have anything loaded.

    Attributes:
        static: The toolkits there are; the same to the byte as long as the configuration is. Goes early.
        volatile: What is loaded now, and what the policies of that say. Goes as late as possible, after whatever is to
            be cached.
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
        """The parts for an agent and what it has loaded.

        Args:
            toolkits: The agent's.
            loaded: Keys of toolkits.
            available: Keys of the tools that policies may name; by default all that it has.
            may_load: Whether it has the meta-tools; if not, only the policies are said.

        Raises:
            InvalidDefinitionError: a policy that is a function gave neither a text nor `None`.
        """
        loaded = tuple(loaded)
        there = toolkits.tool_keys(loaded) if available is None else tuple(available)
        names = {key: toolkits.shown_as(key) for key in there}
        found = (build_policy_section(toolkit, there, names) for toolkit in toolkits.over_tools(loaded))
        policies = dict.fromkeys(text for text in found if text is not None)  # what two share is said once
        if not may_load:
            return cls("", "\n\n".join(policies))
        rows = [
            f"- {quoted(key)}{' (always loaded)' if key in toolkits.initial else ''}{_described(toolkit.description)}"
            for key, toolkit in toolkits.toolkits.items()
        ]
        now = ", ".join(map(quoted, loaded)) or "none"
        return cls("\n".join((_INTRODUCTION, *rows)), "\n\n".join((f"Loaded now: {now}.", *policies)))


def _described(description: str) -> str:
    """On the same line: what is one paragraph in YAML comes with line breaks."""
    words = " ".join(description.split())
    return f": {escaped(words)}" if words else ""
