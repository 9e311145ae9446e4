"""Tools as strict MCP clients take them.

The TypeScript SDK validates a list of tools as a whole: one null where a text may stand, and the tools of all servers
of a gateway are gone. What means the same in another form is written so, and what means nothing is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolbelt.errors import InvalidDefinitionError

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SUPPORT = ("required", "optional", "forbidden")
_Notes = dict[str, list[str]]


def mend_tools(entries: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The tools of a list as strict clients take them.

    Args:
        entries: As `tools/list` has them.

    Returns:
        The tools, and what was changed or left out, in words that follow the name of the server.
    """
    tools, notes = [], []
    changed: _Notes = {}
    for entry in entries:
        try:
            _refuse_odd_numbers(entry)
            tool, changes = mend_tool(entry)
        except InvalidDefinitionError as error:
            notes.append(f"lists {entry.get('name')!r}, which is left out: {error}")
            continue
        tools.append(tool)
        for change in changes:
            changed.setdefault(change, []).append(str(entry.get("name")))
    for change, names in changed.items():
        more = f" and {len(names) - 1:,} more tools" if len(names) > 1 else ""
        notes.append(f"lists {names[0]!r}{more} with {change}")
    return tools, notes


def _refuse_odd_numbers(entry: Mapping[str, Any]) -> None:
    try:
        json.dumps(entry, allow_nan=False)
    except ValueError:
        raise InvalidDefinitionError("it has NaN or an infinite number, for which JSON has no form.") from None


def mend_tool(entry: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A tool as strict clients take it, and what was changed.

    Raises:
        InvalidDefinitionError: its schema says what has no meaning.
    """
    tool, changes = dict(entry), []
    for key, is_right in _FIELDS.items():
        if key in tool and not is_right(tool[key]):
            changes.append(_left_out(tool[key], key))
            del tool[key]
    if isinstance(annotations := tool.get("annotations"), dict):
        wrong = {key for key, is_right in _ANNOTATIONS.items() if key in annotations and not is_right(annotations[key])}
        changes += (_left_out(annotations[key], f"annotations.{key}") for key in sorted(wrong))
        if wrong:
            tool["annotations"] = {key: value for key, value in annotations.items() if key not in wrong}
    for key in ("inputSchema", "outputSchema"):
        if isinstance(schema := tool.get(key), dict):
            tool[key] = _mend_schema(schema, key, changes)
    return tool, changes


def _mend_schema(schema: dict[str, Any], place: str, changes: list[str]) -> dict[str, Any]:
    """The root of a schema of arguments or results."""
    nulls = [key for key in ("properties", "required") if key in schema and schema[key] is None]
    changes += (_left_out(None, f"{place}.{key}") for key in nulls)
    mended = {key: value for key, value in schema.items() if key not in nulls}
    required = mended.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise InvalidDefinitionError(f"`{place}.required` must be a list of names.")
    properties = mended.get("properties", {})
    if not isinstance(properties, dict):
        raise InvalidDefinitionError(f"`{place}.properties` must be an object.")
    if all(isinstance(value, dict) for value in properties.values()):
        return mended
    if wrong := next((name for name, value in properties.items() if not isinstance(value, dict | bool)), None):
        raise InvalidDefinitionError(f"`{place}.properties.{wrong}` must be a schema.")
    changes.append(f"`true` or `false` as schemas of `{place}.properties`, which are written as objects")
    forms: dict[object, dict[str, Any]] = {True: {}, False: {"not": {}}}
    return mended | {
        "properties": {name: value if isinstance(value, dict) else forms[value] for name, value in properties.items()}
    }


def with_object_output(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool for clients of the protocols before 2026, which have no output schema but of an object."""
    schema = tool.get("outputSchema")
    if not isinstance(schema, dict) or schema.get("type") == "object":
        return tool
    if "type" in schema:
        return {key: value for key, value in tool.items() if key != "outputSchema"}
    return {**tool, "outputSchema": {"type": "object", **schema}}


def _left_out(value: object, place: str) -> str:
    return f"{'null' if value is None else 'a value of the wrong type'} as `{place}`, which is left out"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_icons(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_icon, value))


def _is_icon(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("src"), str):
        return False
    sizes = value.get("sizes", [])
    texts = isinstance(value.get("mimeType", ""), str) and isinstance(sizes, list) and all(map(_is_text, sizes))
    return texts and value.get("theme", "light") in ("light", "dark")


_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "description": lambda value: value is not None,  # of another type, the tool is refused where it is read
    "annotations": lambda value: value is not None,
    "icons": _is_icons,
    "outputSchema": lambda value: isinstance(value, dict),
    "execution": lambda value: isinstance(value, dict) and value.get("taskSupport", "optional") in _SUPPORT,
    "_meta": lambda value: isinstance(value, dict),
}
"""Whether the value of an optional field of a tool is right."""
_ANNOTATIONS: Mapping[str, Callable[[Any], bool]] = {
    "title": _is_text,
    **dict.fromkeys(_HINTS, lambda value: isinstance(value, bool)),
}
