"""What is no JSON Schema of draft 2020-12, in its words: older drafts, types of Python and Java, empty lists of PHP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbelt.catalog.definitions import convert_type
from toolbelt.models.schema_parts import Place, find_invalid, follow, has_dangling, is_schema, set_part

Schema = dict[str, Any]
Record = Callable[[Place, Any, Any], None]
_HOLDERS = (
    *("properties", "patternProperties", "$defs", "definitions"),
    *("dependentSchemas", "additionalProperties", "items"),
)


def in_newest_draft(place: Place, part: Schema, root: Schema, record: Record, *, tuples: bool) -> Schema:
    """A part in the words of draft 2020-12; a keyword that has none there is left out.

    Args:
        place: Where the part stands in the schema.
        part: It is not changed.
        root: The whole schema.
        record: Called with each change: its place, what was there, and what is.
        tuples: Whether `prefixItems` may be written.
    """
    result = dict(part)
    _replace_drafts(place, result, record, tuples=tuples)
    for at in sorted(find_invalid(result), key=len, reverse=True):
        keyword, was = str(at[0]), follow(result, tuple(map(str, at)))
        is_needed = keyword not in _HOLDERS or was not in ([], None)  # PHP and Lua write nothing as a list
        if len(at) > 1 and keyword != "patternProperties":
            now: Any = {}
            set_part(result, at, now)
        elif len(at) > 1:
            now = None
            result[keyword] = {name: each for name, each in result[keyword].items() if name != at[1]}
        elif keyword == "required":
            now = list(dict.fromkeys(_texts(was))) or None
        elif keyword == "type":
            now = convert_type(was)
            now = None if find_invalid({"type": now}) else now
        else:
            now = None if is_needed else {}
        if len(at) == 1:
            result[keyword] = now
            if now is None:
                del result[keyword]
        record((*place, *at), was, now)
    if has_dangling(result, root):
        record((*place, "$ref"), result.pop("$ref"), None)
    return result


def _replace_drafts(place: Place, part: Schema, record: Record, *, tuples: bool) -> None:
    """Keywords of drafts 3 to 2019-09 in those of 2020-12."""
    if part.get("$recursiveRef") == "#" and "$ref" not in part:
        record((*place, "$recursiveRef"), part.pop("$recursiveRef"), None)
        part["$ref"] = "#"
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if part.get(exclusive) is True and not find_invalid({bound: part.get(bound)}):
            record((*place, exclusive), True, part[bound])
            part[exclusive] = part.pop(bound)
    if isinstance(several := part.get("items"), list) and several and "prefixItems" not in part:
        del part["items"]
        if not tuples:
            part["items"] = several[0] if len(several) == 1 and isinstance(several[0], dict) else {}
        else:
            part["prefixItems"] = several
            if is_schema(part.get("additionalItems")):
                part["items"] = part.pop("additionalItems")
        record((*place, "items"), several, part.get("items"))
    properties = part.get("properties")
    if isinstance(properties, dict):
        needed = [name for name, each in properties.items() if isinstance(each, dict) and each.get("required") is True]
        if needed:
            now = list(dict.fromkeys([*_texts(part.get("required")), *needed]))
            record((*place, "required"), part.get("required"), now)
            part["required"] = now


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
