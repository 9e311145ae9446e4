"""Tool definitions as providers take them, and the names that providers are shown.

A wire name is legal everywhere, unique, stable, and reversible to the id.
Legal is what OpenAI, Anthropic and Gemini all take: a letter or underscore, then letters, digits, `_` or `-`,
64 characters at most. A tool's wire name depends on all tools that can be offered in a conversation, not on what is
offered this time, so that it stays the same when more are loaded in the middle of it: on the whole catalog, or in an
eval on the universe of the case.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tool import Tool

Definition = dict[str, Any]
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def openai_definition(tool: Tool, wire_name: str) -> Definition:
    """As the chat completions API of OpenAI and its many likenesses takes it; `strict` is passed on."""
    function: Definition = {
        "name": wire_name,
        "description": tool.description,
        "parameters": sent_schema(tool.parameters),
    }
    if "strict" in tool.extra:
        function["strict"] = tool.extra["strict"]
    return {"type": "function", "function": function}


def anthropic_definition(tool: Tool, wire_name: str) -> Definition:
    """As Anthropic's messages API takes it; `cache_control` is passed on."""
    definition: Definition = {
        "name": wire_name,
        "description": tool.description,
        "input_schema": sent_schema(tool.parameters),
    }
    if "cache_control" in tool.extra:
        definition["cache_control"] = tool.extra["cache_control"]
    return definition


_MCP_FIELDS = ("title", "outputSchema", "icons", "execution", "_meta")


def mcp_definition(tool: Tool, wire_name: str) -> Definition:
    """As an MCP server lists it, with everything that it sent; its schema is never normalised (rule M5)."""
    definition: Definition = {"name": wire_name}
    if tool.description:
        definition["description"] = tool.description
    definition["inputSchema"] = tool.parameters or {"type": "object"}
    for key in _MCP_FIELDS:
        if key in tool.extra:
            definition[key] = tool.extra[key]
    if tool.annotations:
        definition["annotations"] = tool.annotations
    return definition


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
    definitions = [thaw(render(tool, wire_names[tool.id])) for tool in tools]
    return {"tools": definitions} if form == "mcp" else definitions


def sent_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of arguments as it is sent, which is the one that arguments are checked against.

    Providers refuse a schema that is not of an object, and OpenAI one of an object without properties; an MCP server or
    a person may well leave either out. What of the root no object could fit is left out.
    """
    if schema.get("type") == "object" and "properties" in schema:
        return schema
    kept = {key: value for key, value in schema.items() if key != "type" and not _refuses_objects({key: value})}
    return {"type": "object", "properties": {}} | kept


_TYPE_WORDS: Mapping[str, str | None] = {
    **dict.fromkeys(("dict", "map", "mapping", "hashmap", "hashtable"), "object"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("tuple", "list", "set", "sequence", "arraylist", "queue", "stack"), "array"),
    **dict.fromkeys(("str", "char", "text"), "string"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    "bool": "boolean",
    "any": None,
    "none": "null",
}
"""Words of programming languages, in lower case, for JSON Schema's types; of `any`, none."""
TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_VALUES = ("default", "enum", "const", "example", "examples")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def convert_type(written: Any) -> Any:
    """A `type` in JSON Schema's words; `None` for any type, and as it is where it is neither."""
    if isinstance(written, str):
        word = written.lower()
        return _TYPE_WORDS.get(word, word if word in TYPES else written)
    if not isinstance(written, list):
        return written
    kinds = list(dict.fromkeys(convert_type(kind) if isinstance(kind, str) else str(kind) for kind in written))
    return None if None in kinds else kinds


def convert_types(schema: Any, words: Mapping[str, str] = MappingProxyType({})) -> Any:
    """A schema in which the types of Python and Java are JSON Schema's; the same where there are none.

    Args:
        schema: Frozen or not; it is not changed.
        words: Translations that go before the usual ones.
    """
    if isinstance(schema, list):
        return [convert_types(item, words) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    converted: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str | list):
            kind = words.get(value) if isinstance(value, str) else None
            if (kind := kind or convert_type(value)) is not None:
                converted[key] = kind
        elif key in _NAMED and isinstance(value, Mapping):  # a property may itself be called `type`
            converted[key] = {name: convert_types(inner, words) for name, inner in value.items()}
        else:
            converted[key] = value if key in _VALUES else convert_types(value, words)
    return converted


def _refuses_objects(schema: Any) -> bool:
    """Whether no object fits a schema, as far as its type, listed values and alternatives say so."""
    if not isinstance(schema, Mapping):
        return schema is False
    kind, values = schema.get("type", "object"), [schema["const"]] if "const" in schema else schema.get("enum", [{}])
    return (
        "object" not in (kind if isinstance(kind, list) else [kind])
        or (isinstance(values, list) and not any(isinstance(value, Mapping) for value in values))
        or any(_is_list(schema.get(key)) and all(map(_refuses_objects, schema[key])) for key in ("anyOf", "oneOf"))
        or (_is_list(schema.get("allOf")) and any(map(_refuses_objects, schema["allOf"])))
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


MAX_LENGTH = 64
"""Characters; the limit of OpenAI's and Gemini's APIs. Anthropic takes 128."""
_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ILLEGAL_RUN = re.compile(r"[^A-Za-z0-9_-]+")


def is_legal_wire_name(name: str, max_length: int = MAX_LENGTH) -> bool:
    """Whether every provider takes `name` as it is."""
    return len(name) <= max_length and _LEGAL.fullmatch(name) is not None


def assign_wire_names(
    tools: Iterable[Tool], reserved: Collection[str] = (), *, max_length: int = MAX_LENGTH
) -> dict[str, str]:
    """Give every tool its wire name.

    Its own `wire_name`, where that is legal and no tool before it has it; else the plain name where it is legal and no
    other tool has it; else the name with its illegal characters replaced, with the plugin before it where that tells
    tools apart; else that with the start of a hash of the id.
    The result does not depend on the order of `tools`.

    Args:
        tools: With unique ids.
        reserved: Names not to give away, such as those of meta-tools.
        max_length: Characters of a name; more than a hash needs, 16.

    Returns:
        Wire name by tool id, in the order of `tools`.
    """
    tools = tuple(tools)
    fixed: dict[str, Tool] = {}
    for tool in tools:
        if tool.wire_name and tool.wire_name not in reserved and is_legal_wire_name(tool.wire_name, max_length):
            fixed.setdefault(tool.wire_name, tool)
    assigned = {tool.id: wire_name for wire_name, tool in fixed.items()}
    others = [tool for tool in tools if tool.id not in assigned]
    # The bare name of a tool with a fixed name is taken, too, whatever that tool is sent under.
    name_counts = Counter([tool.name for tool in tools])
    name_counts.update(wire_name for wire_name, tool in fixed.items() if tool.name != wire_name)
    assigned |= _assign_others(others, reserved, name_counts, max_length)
    return {tool.id: assigned[tool.id] for tool in tools}


def _assign_others(
    tools: Sequence[Tool], reserved: Collection[str], name_counts: Mapping[str, int], max_length: int
) -> dict[str, str]:
    plain = {
        tool.id: tool.name
        for tool in tools
        if name_counts[tool.name] == 1 and tool.name not in reserved and is_legal_wire_name(tool.name, max_length)
    }
    # A name that several tools share goes to no third tool either: it would be ambiguous.
    taken = {*reserved, *name_counts, "t_"}  # and a name without any character left
    paths = Counter(tool.path for tool in tools)
    wanted = {
        tool.id: _readable(tool, max_length, prefixed=name_counts[tool.name] > 1 and paths[tool.path] == 1)
        for tool in tools
        if tool.id not in plain
    }
    claims = Counter(wanted.values())
    assigned = plain | {
        tool_id: name
        for tool_id, name in wanted.items()
        if claims[name] == 1 and name not in taken and is_legal_wire_name(name, max_length)
    }
    taken.update(assigned.values())
    # In the order of the ids, so that the order of the tools cannot matter even in the last resort.
    for tool_id in sorted(wanted.keys() - assigned.keys()):
        assigned[tool_id] = _hashed(tool_id, wanted[tool_id], taken, max_length)
        taken.add(assigned[tool_id])
    return assigned


def _readable(tool: Tool, max_length: int, *, prefixed: bool) -> str:
    return rewrite_name(f"{tool.plugin}__{tool.name}" if prefixed and tool.plugin else tool.name, max_length)


def rewrite_name(name: str, max_length: int = MAX_LENGTH) -> str:
    """A name with its illegal characters replaced; the name itself where it is legal."""
    legal = _ILLEGAL_RUN.sub("_", name).strip("_") if not is_legal_wire_name(name, max_length) else name
    return legal if legal[:1].isalpha() or legal[:1] == "_" else f"t_{legal}"


def _hashed(tool_id: str, name: str, taken: Collection[str], max_length: int) -> str:
    import hashlib  # loads OpenSSL, and few names need it

    digest = hashlib.sha256(tool_id.encode(errors="surrogatepass")).hexdigest()
    for length in range(8, max_length - 7):
        candidate = f"{name[: max_length - length - 1]}_{digest[:length]}"
        if candidate not in taken:
            return candidate
    raise AssertionError(f"no free wire name for {tool_id!r}")  # needs many colliding digits of SHA-256
