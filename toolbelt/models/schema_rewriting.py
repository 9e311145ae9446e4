"""A schema rewritten so that it breaks none of a provider's rules, with each change written down.

What says the same in other words is rewritten (`const` as an `enum` of one, a list of types as `anyOf`, `$ref` as what
it refers to); what cannot be said is left out. A model may then be offered more than the tool takes, never less: the
arguments are still to be checked against the tool's own schema. Less it is in two places: where a type must be said and
is not, arrays that hold arrays are left out, and what describes properties is an object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.models.pointers import find_referred
from toolbelt.models.rules import (
    ArrayItems,
    Fact,
    FilledEnum,
    RequiredDescribed,
    RootKeywords,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    TextEnum,
    TextFormat,
    TypeGiven,
)
from toolbelt.models.schema_parts import (
    Place,
    children,
    find_loose,
    is_bare_array,
    is_empty_enum,
    is_other_enum,
    is_untyped,
    subschemas,
    text_format,
    undescribed,
)

Schema = dict[str, Any]
_DEFINITIONS = ("$defs", "definitions")
_COMBINATORS = ("allOf", "anyOf", "oneOf")
_ORDER = (SchemaObjects, SingleType, TextEnum, FilledEnum, TextFormat, TypeGiven, ArrayItems, RequiredDescribed)
"""One type makes what an `enum` is of plain, and may leave an array that does not say of what."""
_KINDS: Mapping[type[object], str] = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object"}
_PLAIN_KINDS = ("string", "number", "boolean", "object")
_MOST_PARTS = 1_000
"""Parts of a schema whose references are written out; definitions that refer to each other grow without end."""


@dataclass(frozen=True)
class Change:
    """Something that is sent otherwise than it is.

    Attributes:
        place: Where in the schema; for what is not in it, `("name",)` or `("description",)`.
        was: What stood there; `None` where nothing did.
        now: What is sent; `None` where it is left out.
    """

    place: Place
    was: Any
    now: Any


class SchemaRewriter:
    """Rewrites one schema.

    Args:
        facts: The rules it is to keep.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        given = [fact.rule for fact in facts]
        self._rules = [rule for kind in _ORDER for rule in given if type(rule) is kind]
        self._everywhere = [rule for rule in given if isinstance(rule, SchemaKeywords)]
        self._at_root = [rule for rule in given if type(rule) is RootKeywords]
        self.changes: list[Change] = []

    def mend(self, schema: Schema) -> Schema:
        """The schema as it is to be sent; `schema` is left as it is."""
        if any(self._bars_at_root(keyword) for keyword in _DEFINITIONS) or self._bars("$ref"):
            return self._mend_whole(self._write_out(schema))
        made = self._mend_whole(schema)
        if _dangling(made) <= _dangling(schema):
            return made
        # What is referred to is left out or stands elsewhere now.
        self.changes.clear()
        return self._mend_whole(self._write_out(schema))

    def _mend_whole(self, schema: Schema) -> Schema:
        made = self._fold_branches(schema)
        made = self._make_object(made)
        made = self._rewrite((), made, self._mend_part)
        return self._keep((), made, self._bars_at_root)

    def _bars(self, keyword: str) -> bool:
        return any(rule.bars(keyword) for rule in self._everywhere)

    def _bars_at_root(self, keyword: str) -> bool:
        return self._bars(keyword) or any(rule.bars(keyword) for rule in self._at_root)

    def _note(self, place: Place, was: Any, now: Any) -> None:
        self.changes.append(Change(place, was, now))

    def _keep(self, place: Place, schema: Schema, bars: Callable[[str], bool]) -> Schema:
        for keyword in schema:
            if bars(keyword):
                self._note((*place, keyword), schema[keyword], None)
        return {keyword: value for keyword, value in schema.items() if not bars(keyword)}

    def _rewrite(self, place: Place, schema: Any, change: Callable[[Place, Schema], Schema]) -> Any:
        """`schema` with `change` made to it and then to every part that is left of it."""
        if not isinstance(schema, dict):
            return schema
        made = dict(change(place, schema))
        for inner, part in _parts(made):
            _put(made, inner, self._rewrite((*place, *inner), part, change))
        return made

    def _mend_part(self, place: Place, part: Schema) -> Schema:
        made = self._say_otherwise(place, part)
        made = self._keep(place, made, self._bars)
        for rule in self._rules:
            match rule:
                case SchemaObjects() if loose := find_loose(made):
                    made = self._objects(place, made, loose)
                case SingleType():
                    made = self._single_type(place, made)
                case TextEnum():
                    made = self._text_enum(place, made)
                case TextFormat(allowed) if (found := text_format(made)) is not None and found not in allowed:
                    made = self._keep(place, made, "format".__eq__)
                case FilledEnum() if is_empty_enum(made):
                    made = self._describe_enum(place, made)
                case TypeGiven() if place:
                    made = self._typed(place, made)
                case ArrayItems() if is_bare_array(made):
                    made = self._items(place, made)
                case RequiredDescribed() if gaps := undescribed(made):
                    kept = [name for name in made["required"] if name not in gaps]
                    self._note((*place, "required"), made["required"], kept or None)
                    made = {**made, "required": kept} if kept else _without(made, "required")
                case _:
                    pass
        return made

    def _say_otherwise(self, place: Place, part: Schema) -> Schema:
        """What must not be said in these words, in those that may be."""
        made = dict(part)
        while self._bars("allOf") and isinstance(branches := made.pop("allOf", None), list):
            self._note((*place, "allOf"), branches, "folded in")
            for branch in filter(_is_schema, branches):
                made = _both(made, branch)
        if self._bars("oneOf") and not self._bars("anyOf") and "oneOf" in made and "anyOf" not in made:
            self._note((*place, "oneOf"), made["oneOf"], {"anyOf": made["oneOf"]})
            made["anyOf"] = made.pop("oneOf")
        if self._bars("const") and not self._bars("enum") and "const" in made and "enum" not in made:
            self._note((*place, "const"), made["const"], {"enum": [made["const"]]})
            made["enum"] = [made.pop("const")]
        return made

    def _single_type(self, place: Place, part: Schema) -> Schema:
        kinds = part.get("type")
        if not isinstance(kinds, list):
            return part
        made = dict(part)
        left = [kind for kind in dict.fromkeys(k for k in kinds if isinstance(k, str)) if kind != "null"]
        if "null" in kinds and not self._bars("nullable"):
            made["nullable"] = True
        if len(left) > 1 and "anyOf" not in made and not self._bars("anyOf"):
            made["anyOf"] = [self._branch(kind, made) for kind in left]
            for keyword in ("type", "items", "properties", "required", "enum", "format"):
                made.pop(keyword, None)
            now: Any = {"anyOf": left}
        elif len(left) == 1:
            made["type"] = now = left[0]
        else:  # no type at all says more than one of several would
            del made["type"]
            now = None
        self._note((*place, "type"), kinds, now)
        return made

    def _branch(self, kind: str, part: Schema) -> Schema:
        own = {"array": ("items",), "object": ("properties", "required"), "string": ("enum", "format")}.get(kind, ())
        return {"type": kind, **{keyword: part[keyword] for keyword in own if keyword in part}}

    def _text_enum(self, place: Place, part: Schema) -> Schema:
        if not is_other_enum(part):
            return part
        values = part["enum"]
        texts = [value for value in _listed(values) if isinstance(value, str)]
        others = [value for value in _listed(values) if value is not None and not isinstance(value, str)]
        if texts and not others and part.get("type", "string") == "string":
            self._note((*place, "enum"), values, texts)
            nullable = None in values and not self._bars("nullable")
            return {**part, "type": "string", "enum": texts, **({"nullable": True} if nullable else {})}
        return self._describe_enum(place, part)

    def _describe_enum(self, place: Place, part: Schema) -> Schema:
        """Its values named in the description, of which an API refuses no value."""
        values = part["enum"]
        self._note((*place, "enum"), values, "in the description" if values else None)
        made = _without(part, "enum")
        if not values or not isinstance(values, list):
            return made
        kinds = {type(value) for value in values if value is not None}
        if "type" not in made and len(kinds) == 1 and (kind := _KINDS.get(kinds.pop())) is not None:
            made["type"] = kind
            if None in values and not self._bars("nullable"):
                made["nullable"] = True
        if not self._bars("description"):
            said = f"One of: {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}."
            described = part.get("description")
            made["description"] = f"{described} {said}" if isinstance(described, str) and described else said
        return made

    def _objects(self, place: Place, part: Schema, loose: Sequence[Place]) -> Schema:
        """`{}` for what anything is, and nothing for what nothing is."""
        made = dict(part)
        for at in reversed(loose):  # from the end, so that the numbers in a list hold
            keyword = str(at[0])
            stood = part[keyword] if len(at) == 1 else part[keyword][at[1]]
            gone = stood is False and keyword != "items"
            self._note((*place, *at), stood, None if gone else {})
            if not gone:
                _put(made, at, {})
            elif keyword == "anyOf":
                made["anyOf"] = [one for number, one in enumerate(made["anyOf"]) if number != at[1]]
            else:
                made["properties"] = _without(made["properties"], str(at[1]))
                if at[1] in _listed(made.get("required")):
                    made["required"] = [name for name in made["required"] if name != at[1]]
        return made

    def _typed(self, place: Place, part: Schema) -> Schema:
        made = dict(part)
        if "anyOf" in made and any(not branch for branch in _listed(made["anyOf"])):
            self._note((*place, "anyOf"), made.pop("anyOf"), None)  # one that takes anything
        if not is_untyped(made):
            return made
        made = _without(made, "anyOf")
        if "properties" in made or "required" in made:
            return {**made, "type": "object"}
        if "items" in made:
            return {**made, "type": "array"}
        if self._bars("anyOf") or isinstance(made.get("enum"), list):
            return {**made, "type": "string"}
        plain = [{"type": kind} for kind in _PLAIN_KINDS]
        return {**_without(made, "type"), "anyOf": [*plain, {"type": "array", "items": {"anyOf": plain}}]}

    def _items(self, place: Place, part: Schema) -> Schema:
        several = part.get("items")
        now = several[0] if isinstance(several, list) and len(several) == 1 and _is_schema(several[0]) else {}
        self._note((*place, "items"), several, now)
        return {**part, "items": now}

    def _make_object(self, schema: Schema) -> Schema:
        # Every definition says so, whatever the API demands.
        if not schema or schema.get("type") == "object":
            return schema
        self._note(("type",), schema.get("type"), "object")
        return {"type": "object", **_without(schema, "type")}

    def _fold_branches(self, schema: Schema) -> Schema:
        """The properties of alternatives that may not stand at the root, as properties of the root."""
        made = dict(schema)
        for keyword in _COMBINATORS:
            if keyword not in made or not self._bars_at_root(keyword):
                continue
            branches = made.pop(keyword)
            self._note((keyword,), branches, "its properties")
            known = [found for branch in _listed(branches) if (found := _resolve(branch, schema)) is not None]
            properties = dict(made["properties"]) if isinstance(made.get("properties"), dict) else {}
            for branch in known:
                properties = {**_mapping(branch.get("properties")), **properties}
            wanted = [[name for name in _listed(branch.get("required")) if isinstance(name, str)] for branch in known]
            if keyword == "allOf":
                needed = [name for names in wanted for name in names]
            else:  # what every alternative requires
                needed = [name for name in wanted[0] if all(name in names for names in wanted)] if wanted else []
            required = dict.fromkeys([*_texts(made.get("required")), *needed])
            made["properties"] = properties
            if required:
                made["required"] = list(required)
            if "type" not in made and any(branch.get("type") == "object" for branch in known):
                made["type"] = "object"
        return made

    def _write_out(self, schema: Schema) -> Schema:
        """`schema` without references: what they refer to stands in their place; what refers to itself ends there."""
        if not any(isinstance(part.get("$ref"), str) for _, part in subschemas(schema)):
            return schema
        left = _MOST_PARTS

        def write_out(place: Place, part: Any, open_: tuple[str, ...]) -> Any:
            nonlocal left
            left -= 1
            if not isinstance(part, dict):
                return part
            reference = part.get("$ref")
            if isinstance(reference, str):
                target = _point(schema, reference)
                own = _without(part, "$ref")
                if not open_:
                    self._note((*place, "$ref"), reference, "what it refers to")
                if target is None or reference in open_ or left <= 0:
                    kind = target.get("type") if target is not None else None
                    return {"type": kind, **own} if isinstance(kind, str) else own
                return write_out(place, {**_without(target, *_DEFINITIONS), **own}, (*open_, reference))
            made = dict(part)
            for inner, child in _parts(part):
                if inner[0] not in _DEFINITIONS:
                    _put(made, inner, write_out((*place, *inner), child, open_))
            return made

        made = write_out((), schema, ())
        return _without(made, *_DEFINITIONS) if isinstance(made, dict) else {}


def _parts(schema: Mapping[str, Any]) -> list[tuple[Place, Any]]:
    """The schemas right below one, with their places."""
    return [(place, part) for place, part in children((), schema) if isinstance(part, dict)]


def _put(schema: Schema, inner: Place, value: Any) -> None:
    """Set what stands at `inner` below a schema, in a copy of what holds it."""
    keyword = inner[0]
    if len(inner) == 1:
        schema[str(keyword)] = value
        return
    holder = schema[str(keyword)]
    copied: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    copied[inner[1]] = value
    schema[str(keyword)] = copied


def _point(root: Schema, reference: str) -> Schema | None:
    """What a reference within the document points at."""
    found = find_referred(root, reference)
    return None if found is None else dict(found[1])


def _dangling(root: Schema) -> set[str]:
    """References within the document to what is not there."""
    references = {part["$ref"] for _, part in subschemas(root) if isinstance(part.get("$ref"), str)}
    return {reference for reference in references if find_referred(root, reference) is None}


def _resolve(branch: Any, root: Schema) -> Schema | None:
    if isinstance(branch, dict) and isinstance(branch.get("$ref"), str):
        return _point(root, branch["$ref"])
    return branch if isinstance(branch, dict) else None


def _both(one: Schema, other: Schema) -> Schema:
    """What holds where two schemas hold, as far as one can say it; `one` goes before."""
    made = {**other, **one}
    if isinstance(one.get("properties"), dict) and isinstance(other.get("properties"), dict):
        made["properties"] = {**other["properties"], **one["properties"]}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        made["required"] = list(dict.fromkeys(_texts(one["required"] + other["required"])))
    return made


def _without(schema: Mapping[str, Any], *keywords: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keywords}


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [item for item in _listed(value) if isinstance(item, str)]
