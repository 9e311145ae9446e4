"""The definitions of the meta-tools (rule M6), whose descriptions list what can be found."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from toolbelt.catalog import Tool
from toolbelt.catalog.tool_names import describe_tools
from toolbelt.patterns import fold
from toolbelt.text import plural, visible

PAGE_SIZE = 10
"""Tools of one page of `search_tools`."""
MAX_DESCRIBED = 10
"""Names that one call of `describe_tools` may have."""
MAX_GROUPS_CHARS = 2_400
"""Characters of the list of groups in a description: about 600 tokens in every request."""
_MAX_GROUP_CHARS = 160
_PREFIX = "toolbelt_"
"""Before the name of a meta-tool, where a tool of a server has that name."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


class DiscoveryRole(StrEnum):
    """The meta-tools; the value is the name, unless a tool of a server has it."""

    SEARCH = "search_tools"
    DESCRIBE = "describe_tools"
    CALL_READ = "call_tool_read"
    CALL = "call_tool"


@dataclass(frozen=True, slots=True)
class Group:
    """Discoverable tools that belong together.

    Attributes:
        name: Of their plugin.
        description: Of their plugin; may be empty.
        tools: Their wire names.
    """

    name: str
    description: str
    tools: tuple[str, ...]


_NAME = {"type": "string", "description": "The name of the tool, as it was found."}
_CALL_PARAMETERS = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "arguments": {"type": "object", "description": "The arguments, as describe_tools describes them."},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_DEFINITIONS: Mapping[DiscoveryRole, Tool] = MappingProxyType(
    {
        DiscoveryRole.SEARCH: Tool(
            DiscoveryRole.SEARCH.value,
            "Find tools that you can use but that are not in your list: there are {count}. Call this whenever none of "
            "your tools does what is asked. Answers with names and short descriptions, the best match first, {page} a "
            "page; {describe_tools} then gives the arguments, and {call_tool_read} or {call_tool} runs a tool.",
            {
                "type": "object",
                "properties": {
                    "query": {
                        "type": ["string", "null"],
                        "description": "Words for what the tool should do. Without it, the tools are listed in order.",
                    },
                    "group": {"type": ["string", "null"], "description": "Only the tools of this group."},
                    "page": {"type": ["integer", "null"], "minimum": 1, "description": "Which page; 1 if left out."},
                },
                "additionalProperties": False,
            },
            _READS,
        ),
        DiscoveryRole.DESCRIBE: Tool(
            DiscoveryRole.DESCRIBE.value,
            "Get the full descriptions and the arguments (JSON Schema) of tools that {found}. Call this "
            "before you run a tool for the first time.",
            {
                "type": "object",
                "properties": {
                    "names": {
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 1,
                        "maxItems": MAX_DESCRIBED,
                        "description": "Names of tools, as they were found.",
                    }
                },
                "required": ["names"],
                "additionalProperties": False,
            },
            _READS,
        ),
        DiscoveryRole.CALL_READ: Tool(
            DiscoveryRole.CALL_READ.value,
            "Run a tool that {found} and that only reads (`call_with` is {call_tool_read}).",
            _CALL_PARAMETERS,
            {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
        ),
        DiscoveryRole.CALL: Tool(
            DiscoveryRole.CALL.value,
            "Run a tool that {found} and that may change something (`call_with` is {call_tool}).",
            _CALL_PARAMETERS,
            {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
        ),
    }
)
"""The meta-tools; `{…}` in a description is filled in for each surface."""


def name_meta_tools(taken: Collection[str]) -> dict[DiscoveryRole, str]:
    """Names of the meta-tools by role.

    Args:
        taken: Names of all other tools, as names are compared.
    """
    return {role: _free_name(role, taken) for role in DiscoveryRole}


def _free_name(role: DiscoveryRole, taken: Collection[str]) -> str:
    name = role.value
    while fold(name) in taken:
        name = f"{_PREFIX}{name}"
    return name


def define_meta_tools(names: Mapping[DiscoveryRole, str], groups: Sequence[Group], loader: str) -> tuple[Tool, ...]:
    """The meta-tools, in the order in which they are listed.

    Args:
        names: As `name_meta_tools` gives them.
        groups: Everything that can be found.
        loader: Name of the tool that brings the others, if that is not by search: then nothing searches.
    """
    count = plural(sum(len(group.tools) for group in groups), "more tool")
    filled = {role.value: name for role, name in names.items()}
    filled["found"] = f"{loader} loaded" if loader else f"{names[DiscoveryRole.SEARCH]} found"
    tools = []
    for role, tool in _DEFINITIONS.items():
        if role is DiscoveryRole.SEARCH and loader:
            continue
        description = tool.description.format(**filled, count=count, page=PAGE_SIZE)
        if role is DiscoveryRole.SEARCH:
            description = f"{description}\nGroups:\n{_list_groups(groups)}"
        tools.append(replace(tool, name=names[role], description=description, id="", wire_name=names[role]))
    return tuple(tools)


def _list_groups(groups: Sequence[Group]) -> str:
    """The groups with what they are for; with their counts alone, where that would be too long."""
    counted = [f"{visible(group.name)} ({len(group.tools)})" for group in groups]
    long = [f"- {entry}: {_describe(group)}" for entry, group in zip(counted, groups, strict=True)]
    if sum(map(len, long)) <= MAX_GROUPS_CHARS:
        return "\n".join(long)
    shown, size = 0, 0
    while shown < len(counted) and (size := size + len(counted[shown]) + 2) <= MAX_GROUPS_CHARS:
        shown += 1
    more = f" and {plural(len(counted) - shown, 'more group')}" if shown < len(counted) else ""
    return f"{', '.join(counted[:shown])}{more}"


def _describe(group: Group) -> str:
    if group.description.strip():
        return first_sentence(group.description, _MAX_GROUP_CHARS)
    return cut(visible(describe_tools(group.tools)), _MAX_GROUP_CHARS)


def first_sentence(text: str, limit: int) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = visible(text.strip().split("\n\n", 1)[0])
    return cut(_SENTENCE_END.split(paragraph, maxsplit=1)[0], limit)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning with an ellipsis; `limit` characters at most."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
