"""What the prompt says of toolkits: what never changes apart from what does, so that the prefix is cached (rule D8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolbelt.sessions.answers import escaped, quoted
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import MetaRole

_INTRODUCTION = (
    f"Further tools come in toolkits. {MetaRole.LOAD} loads one and {MetaRole.UNLOAD} unloads it; either takes effect "
    f"with the user's next message. {MetaRole.LIST} tells which tools are in them. The toolkits:"
)


@dataclass(frozen=True, slots=True)
class ToolkitPrompt:
    """The two parts, for two places of the prompt; both empty where the agent cannot load anything.

    Attributes:
        static: The toolkits there are; the same to the byte as long as the configuration is. Goes early.
        volatile: What is loaded now. Goes as late as possible, after whatever is to be cached.
    """

    static: str = ""
    volatile: str = ""

    @classmethod
    def of(cls, toolkits: DynamicToolkits, loaded: Iterable[str]) -> ToolkitPrompt:
        """The parts for an agent that may load, and what it has loaded; one line for each toolkit."""
        rows = [
            f"- {quoted(key)}{' (always loaded)' if key in toolkits.initial else ''}{_described(toolkit.description)}"
            for key, toolkit in toolkits.toolkits.items()
        ]
        now = ", ".join(map(quoted, loaded)) or "none"
        return cls("\n".join((_INTRODUCTION, *rows)), f"Loaded now: {now}.")


def _described(description: str) -> str:
    """On the same line: what is one paragraph in YAML comes with line breaks."""
    words = " ".join(description.split())
    return f": {escaped(words)}" if words else ""
