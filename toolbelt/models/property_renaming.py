"""Renames properties of a schema's root, in every keyword that names them.

All keywords about the root's own value name its properties: `properties` and `required`, but also the schemas in
`allOf`, `if`, `dependentSchemas` and so on, and the targets of a `$ref` there. A `$ref` to the root from further in is
about another value, whose properties keep their names; it then points to a copy of the original root. Anchors, and
parts with an `$id` of their own, are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolbelt.models.schema_parts import Steps, as_object, find_referred, format_reference

Schema = dict[str, Any]
_DEFINITIONS = ("$defs", "definitions")
_SAME_LISTED = ("allOf", "anyOf", "oneOf")
_SAME = ("not", "if", "then", "else")
_NAMING = ("properties", "dependentSchemas", "dependencies", "dependentRequired")
_OTHER = (
    *("items", "additionalItems", "contains", "unevaluatedItems", "prefixItems"),
    *("additionalProperties", "unevaluatedProperties"),
)
_SPEAKING = frozenset(
    {*_SAME_LISTED, *_SAME, *_NAMING, "patternProperties", "propertyNames", "required", "propertyOrdering"}
    | {"$ref", "const", "enum", "default", "examples"}
)
"""Keywords that may name properties of the value that they describe."""
_COPY = "own_names"


def rename_properties(schema: Schema, new: Mapping[str, str]) -> Schema:
    """A copy of `schema` in which the properties of the root have new names, wherever a keyword names them.

    Args:
        schema: It is not changed.
        new: New names by old name; no new name is that of another property.
    """
    return _Renamer(schema, new).rename() if new else schema


class _Renamer:
    def __init__(self, root: Schema, new: Mapping[str, str]) -> None:
        self._root, self._new = root, new
        self._holder = next((key for key in _DEFINITIONS if isinstance(root.get(key), dict)), _DEFINITIONS[0])
        held = root.get(self._holder)
        self._taken = set(held) if isinstance(held, dict) else set()
        self._added: Schema = {}
        self._copies: dict[tuple[Steps, bool], str] = {}
        self._foreign = 0

    def rename(self) -> Schema:
        renamed: Schema = self._walk(self._root, True)
        if self._added:
            held = renamed.get(self._holder)
            renamed[self._holder] = {**(held if isinstance(held, dict) else {}), **self._added}
        return renamed

    def _walk(self, part: Any, same: bool) -> Any:
        """Renames in a part; `same` means that it describes the same value as the root."""
        if not isinstance(part, dict):
            return part
        foreign = part is not self._root and "$id" in part
        self._foreign += foreign
        renamed = {keyword: self._keyword(keyword, value, same) for keyword, value in part.items()}
        self._foreign -= foreign
        return renamed

    def _keyword(self, keyword: str, value: Any, same: bool) -> Any:
        match value:
            case str() if keyword == "$ref":
                return self._reference(value, same)
            case dict() | False if same and keyword == "propertyNames":
                return {"anyOf": [self._walk(value, False), {"enum": list(self._new.values())}]}
            case dict():
                return self._of_mapping(keyword, value, same)
            case list():
                return self._of_list(keyword, value, same)
            case _:
                return value

    def _of_mapping(self, keyword: str, value: Schema, same: bool) -> Any:
        if keyword in _NAMING:
            about = same and keyword != "properties"
            return {self._name(name, same): self._named(part, about) for name, part in value.items()}
        if keyword == "patternProperties":
            return {self._pattern(text) if same else text: self._walk(part, False) for text, part in value.items()}
        if keyword in _DEFINITIONS:
            return {name: self._walk(part, False) for name, part in value.items()}
        if keyword in ("const", "default"):
            return self._value(value) if same else value
        if keyword in _SAME:
            return self._walk(value, same)
        return self._walk(value, False) if keyword in (*_OTHER, "propertyNames") else value

    def _of_list(self, keyword: str, value: list[Any], same: bool) -> list[Any]:
        if keyword in ("required", "propertyOrdering"):
            return [self._name(name, same) for name in value]
        if keyword in _SAME_LISTED:
            return [self._walk(part, same) for part in value]
        if keyword in _OTHER:
            return [self._walk(part, False) for part in value]
        return [self._value(item) for item in value] if same and keyword in ("enum", "examples") else value

    def _named(self, part: Any, same: bool) -> Any:
        """Renames in a mapping by property: of schemas, or of names that are required with it."""
        return [self._name(name, same) for name in part] if isinstance(part, list) else self._walk(part, same)

    def _name(self, name: Any, same: bool) -> Any:
        return self._new.get(name, name) if same and isinstance(name, str) else name

    def _value(self, value: Any) -> Any:
        return {self._name(key, True): item for key, item in value.items()} if isinstance(value, dict) else value

    def _pattern(self, pattern: str) -> str:
        """A pattern that matches a new name if `pattern` matches the old one, and other names as before."""
        try:
            fits = re.compile(pattern).search
        except re.error:  # JavaScript's patterns are not all Python's
            return pattern
        gained = [re.escape(now) for was, now in self._new.items() if fits(was) and not fits(now)]
        lost = [re.escape(now) for was, now in self._new.items() if fits(now) and not fits(was)]
        rewritten = rf"^(?!(?:{'|'.join(lost)})$)[\s\S]*?(?:{pattern})" if lost else pattern
        return f"(?:{rewritten})|^(?:{'|'.join(gained)})$" if gained else rewritten

    def _reference(self, reference: str, same: bool) -> str:
        referred = None if self._foreign else find_referred(self._root, reference)
        if referred is None:
            return reference
        steps, target = referred
        now, about_root = self._now_at(steps)
        if same == about_root or (same and _SPEAKING.isdisjoint(target)):
            return reference if now == steps else format_reference(now)
        # The same words about another value: a copy, with the names that hold for that one.
        start, rest = ((), steps) if about_root else (steps, ())
        return format_reference((self._holder, self._copy(start, same), *rest))

    def _copy(self, steps: Steps, same: bool) -> str:
        if (steps, same) not in self._copies:
            name, number = _COPY, 1
            while name in self._taken:
                number += 1
                name = f"{_COPY}_{number}"
            self._taken.add(name)
            self._copies[steps, same] = name
            target = _at(self._root, steps)
            self._added[name] = self._walk(
                {key: value for key, value in target.items() if key not in (*_DEFINITIONS, "$id", "$schema")}, same
            )
        return self._copies[steps, same]

    def _now_at(self, steps: Steps) -> tuple[Steps, bool]:
        """The new place of the part that was at `steps`, and whether it describes the same value as the root."""
        now: list[str] = []
        left = list(steps)
        while left:
            step = left.pop(0)
            now.append(step)
            if step in _SAME_LISTED and left:
                now.append(left.pop(0))
            elif step in ("dependentSchemas", "dependencies") and left:
                now.append(self._name(left.pop(0), True))
            elif step not in _SAME:
                if step == "properties" and left:
                    now.append(self._name(left.pop(0), True))
                elif step == "patternProperties" and left:
                    now.append(self._pattern(left.pop(0)))
                elif step == "propertyNames":
                    now += ["anyOf", "0"]
                return (*now, *left), False
        return tuple(now), True


def _at(root: Schema, steps: Steps) -> Schema:
    current: Any = root
    for step in steps:
        current = current[int(step)] if isinstance(current, list) else current[step]
    return dict(as_object(current))
