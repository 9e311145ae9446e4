"""The three tools by which an agent finds, loads and unloads toolkits itself (rule D2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolbelt.catalog import Tool
from toolbelt.toolkits.reserved import MetaRole

_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_CHANGES = {**_READS, "readOnlyHint": False}


def _takes_toolkit(what: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"toolkit": {"type": "string", "description": what}},
        "required": ["toolkit"],
        "additionalProperties": False,
    }


META_TOOLS: Mapping[MetaRole, Tool] = MappingProxyType(
    {
        MetaRole.LIST: Tool(
            MetaRole.LIST.value,
            "List the toolkits you may load: name, description and tools of each, whether it is loaded, and whether it "
            "is sticky, that is always loaded. Call this when none of the tools you have does what is asked and you "
            "are not sure which toolkit does.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            _READS,
        ),
        MetaRole.LOAD: Tool(
            MetaRole.LOAD.value,
            "Load one toolkit by its name. Its tools are not there at once: they come with the user's next message, "
            "and stay for the rest of this conversation. So finish your answer after loading, and tell the user that "
            "you will have them then.",
            _takes_toolkit("The name of a toolkit, as list_toolkits gives it."),
            _CHANGES,
        ),
        MetaRole.UNLOAD: Tool(
            MetaRole.UNLOAD.value,
            "Unload one toolkit by its name, when it is no longer needed. Its tools go with the user's next message. "
            "Sticky toolkits cannot be unloaded.",
            _takes_toolkit("The name of a loaded toolkit, as list_toolkits gives it."),
            _CHANGES,
        ),
    }
)
"""Definitions of the three; load and unload take `{"toolkit": string}`."""
