"""Rewrites a schema so that it breaks none of a provider's rules, and records each change.

A part with an equivalent is replaced by it (`const` by an `enum` of one, a list of types by `anyOf`, `$ref` by its
target); a part without one, or that is no JSON Schema of 2020-12, is left out, so that what is sent always is one. The
result may allow more than the tool takes, so the arguments must still be checked against the tool's own schema. It
allows less in two cases, both where the API demands a type and the schema has none: arrays of arrays are left out, and
a part with `properties` is an object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.models.rules import (
    ArrayItems,
    Fact,
    FilledEnum,
    LoneAnyOf,
    RequiredDescribed,
    RootKeywords,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    TextEnum,
    TextFormat,
    TypeGiven,
)
from toolbelt.models.schema_drafts import in_newest_draft
from toolbelt.models.schema_merging import KINDS, distribute, intersect
from toolbelt.models.schema_parts import (
    Place,
    children,
    find_non_schemas,
    find_referred,
    is_bare_array,
    is_crowded,
    is_empty_enum,
    is_other_enum,
    is_untyped,
    set_part,
    subschemas,
    text_format,
    undescribed_names,
)

Schema = dict[str, Any]
_DEFINITIONS = ("$defs", "definitions")
_HOLDERS = (
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "additionalProperties",
    "items",
)
_COMBINATORS = ("allOf", "anyOf", "oneOf")
_ORDER = (
    *(SchemaObjects, LoneAnyOf, SingleType, TextEnum, FilledEnum, TextFormat),
    *(TypeGiven, ArrayItems, RequiredDescribed),
)
"""One type makes what an `enum` is of plain, and may leave an array that does not say of what."""
_PLAIN_KINDS = ("string", "number", "boolean", "object")
_MAX_PARTS = 1_000
"""Parts of a schema whose references are written out; definitions that refer to each other grow without end."""


@dataclass(frozen=True)
class SchemaChange:
    """A part of a definition that is sent differently.

    Attributes:
        place: Where in the schema; for what is not in it, `("name",)` or `("description",)`.
        was: The part before; `None` if there was none.
        now: The part that is sent; `None` if it is left out.
    """

    place: Place
    was: Any
    now: Any


class SchemaRewriter:
    """Rewrites one schema.

    Args:
        facts: The rules to keep.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        rules = [fact.rule for fact in facts]
        self._rules = [rule for kind in _ORDER for rule in rules if type(rule) is kind]
        self._everywhere = [rule for rule in rules if isinstance(rule, SchemaKeywords)]
        self._at_root = [rule for rule in rules if type(rule) is RootKeywords]
        self.changes: list[SchemaChange] = []
        self._room = _MAX_PARTS

    def rewrite(self, schema: Schema) -> Schema:
        """The schema as it is sent; `schema` is not changed."""
        root = schema
        schema = self._rewrite_parts((), schema, lambda place, part: self._in_newest_draft(place, part, root))
        if any(self._forbids_at_root(keyword) for keyword in _DEFINITIONS) or self._forbids("$ref"):
            return self._rewrite_whole(self._inline_references(schema))
        valid = len(self.changes)
        result = self._rewrite_whole(schema)
        if _find_dangling(result) <= _find_dangling(schema):
            return result
        # What is referred to is left out or stands elsewhere now.
        del self.changes[valid:]
        return self._rewrite_whole(self._inline_references(schema))

    def _rewrite_whole(self, schema: Schema) -> Schema:
        result = self._fold_branches(schema)
        result = self._make_object(result)
        result = self._rewrite_parts((), result, self._rewrite_part)
        return self._drop_keywords((), result, self._forbids_at_root)

    def _forbids(self, keyword: str) -> bool:
        return any(rule.bars(keyword) for rule in self._everywhere)

    def _forbids_at_root(self, keyword: str) -> bool:
        return self._forbids(keyword) or any(rule.bars(keyword) for rule in self._at_root)

    def _record_change(self, place: Place, was: Any, now: Any) -> None:
        self.changes.append(SchemaChange(place, was, now))

    def _drop_keywords(self, place: Place, schema: Schema, bars: Callable[[str], bool]) -> Schema:
        for keyword in schema:
            if bars(keyword):
                self._record_change((*place, keyword), schema[keyword], None)
        return {keyword: value for keyword, value in schema.items() if not bars(keyword)}

    def _rewrite_parts(self, place: Place, schema: Any, change: Callable[[Place, Schema], Schema]) -> Any:
        """`schema` with `change` applied to it, and then to every part of the result."""
        if not isinstance(schema, dict):
            return schema
        result = dict(change(place, schema))
        for inner, part in _parts(result):
            set_part(result, inner, self._rewrite_parts((*place, *inner), part, change))
        return result

    def _rewrite_part(self, place: Place, part: Schema) -> Schema:
        result = self._replace_keywords(place, part)
        result = self._drop_keywords(place, result, self._forbids)
        for rule in self._rules:
            match rule:
                case SchemaObjects() if loose := find_non_schemas(result):
                    result = self._replace_non_schemas(place, result, loose)
                case LoneAnyOf() if place and is_crowded(result):
                    result = self._stand_alone(place, result)
                case SingleType():
                    result = self._single_type(place, result)
                case TextEnum():
                    result = self._text_enum(place, result)
                case TextFormat(allowed) if (
                    format_name := text_format(result)
                ) is not None and format_name not in allowed:
                    result = self._drop_keywords(place, result, "format".__eq__)
                case FilledEnum() if is_empty_enum(result):
                    result = self._describe_enum(place, result)
                case TypeGiven() if place:
                    result = self._add_type(place, result)
                case ArrayItems() if is_bare_array(result):
                    result = self._add_items(place, result)
                case RequiredDescribed() if gaps := undescribed_names(result):
                    described = [name for name in result["required"] if name not in gaps]
                    self._record_change((*place, "required"), result["required"], described or None)
                    result = {**result, "required": described} if described else _without(result, "required")
                case _:
                    pass
        return result

    def _replace_keywords(self, place: Place, part: Schema) -> Schema:
        """Forbidden keywords that have an allowed equivalent, replaced by it."""
        result = dict(part)
        while self._forbids("allOf") and isinstance(branches := result.pop("allOf", None), list):
            self._record_change((*place, "allOf"), branches, "folded in")
            for branch in _dicts(branches):
                result = intersect(result, branch) or result
        if self._forbids("oneOf") and not self._forbids("anyOf") and "oneOf" in result and "anyOf" not in result:
            self._record_change((*place, "oneOf"), result["oneOf"], {"anyOf": result["oneOf"]})
            result["anyOf"] = result.pop("oneOf")
        if self._forbids("const") and not self._forbids("enum") and "const" in result and "enum" not in result:
            self._record_change((*place, "const"), result["const"], {"enum": [result["const"]]})
            result["enum"] = [result.pop("const")]
        return result

    def _single_type(self, place: Place, part: Schema) -> Schema:
        kinds = part.get("type")
        if not isinstance(kinds, list):
            return part
        result = _without(part, "type")
        remaining = [kind for kind in dict.fromkeys(k for k in kinds if isinstance(k, str)) if kind != "null"]
        if len(remaining) > 1 and "anyOf" not in result and not self._forbids("anyOf"):
            named = [*remaining, *(["null"] if "null" in kinds and not self._forbids("nullable") else [])]
            self._record_change((*place, "type"), kinds, {"anyOf": remaining})
            return self._stand_alone(place, {**result, "anyOf": [{"type": kind} for kind in named]})
        if "null" in kinds and not self._forbids("nullable"):
            result["nullable"] = True
        # no type at all says more than one of several would
        self._record_change((*place, "type"), kinds, remaining[0] if len(remaining) == 1 else None)
        return {"type": remaining[0], **result} if len(remaining) == 1 else result

    def _stand_alone(self, place: Place, part: Schema) -> Schema:
        own, branches = _without(part, "anyOf"), _dicts(part["anyOf"])
        self._room -= len(branches) * sum(1 for _ in subschemas(own))
        result = distribute(own, branches, nullable=not self._forbids("nullable")) if self._room > 0 else own
        self._record_change((*place, "anyOf"), part["anyOf"], result.get("anyOf"))
        return result

    def _text_enum(self, place: Place, part: Schema) -> Schema:
        if not is_other_enum(part):
            return part
        values = part["enum"]
        texts = [value for value in _listed(values) if isinstance(value, str)]
        others = [value for value in _listed(values) if value is not None and not isinstance(value, str)]
        if texts and not others and part.get("type", "string") == "string":
            self._record_change((*place, "enum"), values, texts)
            nullable = None in values and not self._forbids("nullable")
            return {**part, "type": "string", "enum": texts, **({"nullable": True} if nullable else {})}
        return self._describe_enum(place, part)

    def _describe_enum(self, place: Place, part: Schema) -> Schema:
        """The values of the `enum` in the description instead: an API refuses no value there."""
        values = part["enum"]
        self._record_change((*place, "enum"), values, "in the description" if values else None)
        result = _without(part, "enum")
        if not values or not isinstance(values, list):
            return result
        kinds = {type(value) for value in values if value is not None}
        if "type" not in result and len(kinds) == 1 and (kind := KINDS.get(kinds.pop())) not in (None, "array"):
            result["type"] = kind
            if None in values and not self._forbids("nullable"):
                result["nullable"] = True
        if not self._forbids("description"):
            listing = f"One of: {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}."
            described = part.get("description")
            result["description"] = f"{described} {listing}" if isinstance(described, str) and described else listing
        return result

    def _replace_non_schemas(self, place: Place, part: Schema, loose: Sequence[Place]) -> Schema:
        """`{}` for a part that allows anything; a part that allows nothing is left out."""
        result = dict(part)
        for at in reversed(loose):  # from the end, so that the numbers in a list hold
            keyword = str(at[0])
            removed = part[keyword] if len(at) == 1 else part[keyword][at[1]]
            is_dropped = removed is False and keyword != "items"
            self._record_change((*place, *at), removed, None if is_dropped else {})
            if not is_dropped:
                set_part(result, at, {})
            elif keyword == "anyOf":
                result["anyOf"] = [branch for number, branch in enumerate(result["anyOf"]) if number != at[1]]
            else:
                result["properties"] = _without(result["properties"], str(at[1]))
                if at[1] in _listed(result.get("required")):
                    result["required"] = [name for name in result["required"] if name != at[1]]
        return result

    def _add_type(self, place: Place, part: Schema) -> Schema:
        result = dict(part)
        if "anyOf" in result and any(not branch for branch in _listed(result["anyOf"])):
            self._record_change((*place, "anyOf"), result.pop("anyOf"), None)  # one that takes anything
        if not is_untyped(result):
            return result
        result = _without(result, "anyOf")
        if "properties" in result or "required" in result:
            return {**result, "type": "object"}
        if "items" in result:
            return {**result, "type": "array"}
        if self._forbids("anyOf") or isinstance(result.get("enum"), list):
            return {**result, "type": "string"}
        plain = [{"type": kind} for kind in _PLAIN_KINDS]
        every = [*plain, {"type": "array", "items": {"anyOf": plain}}]
        return self._stand_alone(place, {**_without(result, "type"), "anyOf": every})

    def _add_items(self, place: Place, part: Schema) -> Schema:
        self._record_change((*place, "items"), None, {})
        return {**part, "items": {}}

    def _in_newest_draft(self, place: Place, part: Schema, root: Schema) -> Schema:
        return in_newest_draft(place, part, root, self._record_change, tuples=not self._forbids("prefixItems"))

    def _make_object(self, schema: Schema) -> Schema:
        # Every definition says so, whatever the API demands.
        if not schema or schema.get("type") == "object":
            return schema
        self._record_change(("type",), schema.get("type"), "object")
        return {"type": "object", **_without(schema, "type")}

    def _fold_branches(self, schema: Schema) -> Schema:
        """The properties of alternatives that may not stand at the root, as properties of the root."""
        result = dict(schema)
        for keyword in _COMBINATORS:
            if keyword not in result or not self._forbids_at_root(keyword):
                continue
            branches = result.pop(keyword)
            self._record_change((keyword,), branches, "its properties")
            known = [
                resolved for branch in _listed(branches) if (resolved := _resolve_branch(branch, schema)) is not None
            ]
            properties = dict(result["properties"]) if isinstance(result.get("properties"), dict) else {}
            for branch in known:
                properties = {**_mapping(branch.get("properties")), **properties}
            required_lists = [
                [name for name in _listed(branch.get("required")) if isinstance(name, str)] for branch in known
            ]
            if keyword == "allOf":
                needed = [name for names in required_lists for name in names]
            else:  # what every alternative requires
                needed = (
                    [name for name in required_lists[0] if all(name in names for names in required_lists)]
                    if required_lists
                    else []
                )
            required = dict.fromkeys([*_texts(result.get("required")), *needed])
            result["properties"] = properties
            if required:
                result["required"] = list(required)
            if "type" not in result and any(branch.get("type") == "object" for branch in known):
                result["type"] = "object"
        return result

    def _inline_references(self, schema: Schema) -> Schema:
        """`schema` with each reference replaced by its target; a reference to itself ends there."""
        if not any(isinstance(part.get("$ref"), str) for _, part in subschemas(schema)):
            return schema
        remaining = _MAX_PARTS

        def inline(place: Place, part: Any, open_: tuple[str, ...]) -> Any:
            nonlocal remaining
            remaining -= 1
            if not isinstance(part, dict):
                return part
            reference = part.get("$ref")
            if isinstance(reference, str):
                target = _follow_reference(schema, reference)
                own = _without(part, "$ref")
                if not open_:
                    self._record_change((*place, "$ref"), reference, "what it refers to")
                if target is None or reference in open_ or remaining <= 0:
                    kind = target.get("type") if target is not None else None
                    return {"type": kind, **own} if isinstance(kind, str) else own
                return inline(place, {**_without(target, *_DEFINITIONS), **own}, (*open_, reference))
            result = dict(part)
            for inner, child in _parts(part):
                if inner[0] not in _DEFINITIONS:
                    set_part(result, inner, inline((*place, *inner), child, open_))
            return result

        result = inline((), schema, ())
        return _without(result, *_DEFINITIONS) if isinstance(result, dict) else {}


def _parts(schema: Mapping[str, Any]) -> list[tuple[Place, Any]]:
    """The schemas right below one, with their places."""
    return [(place, part) for place, part in children((), schema) if isinstance(part, dict)]


def _follow_reference(root: Schema, reference: str) -> Schema | None:
    """The target of a reference within the document."""
    referred = find_referred(root, reference)
    return None if referred is None else dict(referred[1])


def _find_dangling(root: Schema) -> set[str]:
    """References within the document without a target."""
    references = {part["$ref"] for _, part in subschemas(root) if isinstance(part.get("$ref"), str)}
    return {reference for reference in references if find_referred(root, reference) is None}


def _resolve_branch(branch: Any, root: Schema) -> Schema | None:
    if isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
        return _follow_reference(root, branch["$ref"])
    return branch if isinstance(branch, dict) else None


def _without(schema: Mapping[str, Any], *keywords: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keywords}


def _dicts(value: Any) -> list[Schema]:
    return [item for item in _listed(value) if isinstance(item, dict)]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [item for item in _listed(value) if isinstance(item, str)]
