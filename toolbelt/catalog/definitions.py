"""Tool definitions as providers take them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tool import Tool

Definition = dict[str, Any]
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def openai_definition(tool: Tool, wire_name: str) -> Definition:
    """As the chat completions API of OpenAI and its many likenesses takes it; `strict` is passed on."""
    function: Definition = {"name": wire_name, "description": tool.description, "parameters": _schema(tool)}
    if "strict" in tool.extra:
        function["strict"] = tool.extra["strict"]
    return {"type": "function", "function": function}


def anthropic_definition(tool: Tool, wire_name: str) -> Definition:
    """As Anthropic's messages API takes it; `cache_control` is passed on."""
    made: Definition = {"name": wire_name, "description": tool.description, "input_schema": _schema(tool)}
    if "cache_control" in tool.extra:
        made["cache_control"] = tool.extra["cache_control"]
    return made


def mcp_definition(tool: Tool, wire_name: str) -> Definition:
    """As an MCP server lists it, hints and output schema included."""
    made: Definition = {"name": wire_name, "description": tool.description, "inputSchema": _schema(tool)}
    for key in ("title", "outputSchema"):
        if key in tool.extra:
            made[key] = tool.extra[key]
    if tool.annotations:
        made["annotations"] = tool.annotations
    return made


DEFINITION_FORMATS: Mapping[str, Callable[[Tool, str], Definition]] = MappingProxyType(
    {
        "openai": openai_definition,
        "anthropic": anthropic_definition,
        "mcp": mcp_definition,
        "litellm": openai_definition,  # litellm takes OpenAI's form and translates for the others
    }
)


def definition_text(definition: Definition) -> str:
    """The definition as it travels: compact JSON, nothing escaped that need not be."""
    return _COMPACT.encode(definition)


def export_definitions(tools: Iterable[Tool], wire_names: Mapping[str, str], form: str) -> Any:
    """What an agent would pass to the API as its tools.

    Args:
        tools: In the order they are to be offered.
        wire_names: By tool id, as `Catalog.wire_names` has them.
        form: A key of `DEFINITION_FORMATS`.

    Returns:
        Plain values: a list of definitions; for `mcp` the `{"tools": [...]}` of a `tools/list` result.
    """
    render = DEFINITION_FORMATS[form]
    made = [thaw(render(tool, wire_names[tool.id])) for tool in tools]
    return {"tools": made} if form == "mcp" else made


def _schema(tool: Tool) -> Mapping[str, Any]:
    # Providers refuse a schema that is not of an object, and OpenAI one of an object without properties; an MCP
    # server or a person may well leave either out.
    given = tool.parameters
    if given.get("type") == "object" and "properties" in given:
        return given
    return {"type": "object", "properties": {}} | {key: value for key, value in given.items() if key != "type"}
