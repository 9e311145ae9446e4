"""Calls that a tool took before and refuses now, read from its two schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from toolbelt.catalog.schema_outline import References

_DEEPEST = 8
"""Levels of arguments that are compared; schemas that refer to themselves have no end."""
_WIDER = {"integer": "number"}
"""A type by one that takes all of its values, too."""


class BreakKind(StrEnum):
    """How a schema takes less than before."""

    REQUIRED = "argument-required"
    """A new argument must be given, or one that could be left out."""
    REMOVED = "argument-removed"
    TYPE = "type-changed"
    ENUM = "enum-narrowed"


class SchemaBreak(NamedTuple):
    """One way in which a schema takes less than before.

    Attributes:
        kind: Which.
        argument: Path of the argument: `filter.state`, `labels[]`.
        before: Types or values that it took; for `REMOVED` and `REQUIRED` empty.
        after: Those that it takes now.
    """

    kind: BreakKind
    argument: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def find_schema_breaks(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[SchemaBreak]:
    """What calls the new schema of a tool's arguments no longer takes.

    Compared are names, required ones, types and enumerated values, into objects and lists; alternatives (`anyOf`) by
    the types and values of all of them together. Bounds and patterns are not compared.
    """
    yield from _compare(_Node(old, References(old)), _Node(new, References(new)), "", _DEEPEST)


class _Node:
    """A schema with what its reference and its alternatives lead to.

    Args:
        schema: Any value that stands for a schema.
        references: Of the whole.
    """

    def __init__(self, schema: Any, references: References) -> None:
        self.references = references
        self._parts = list(_find_parts(schema, references, _DEEPEST))

    @property
    def types(self) -> frozenset[str]:
        """Names of the types that it takes; empty for any."""
        types = [part["type"] for part in self._parts if part.get("type")]
        return frozenset(str(name) for each in types for name in (each if isinstance(each, list) else [each]))

    @property
    def values(self) -> frozenset[str]:
        """The enumerated values, as written in JSON by Python; empty where a part takes any."""
        listed = [part.get("enum", [part["const"]] if "const" in part else None) for part in self._parts]
        typed = [values for part, values in zip(self._parts, listed, strict=True) if part.get("type") != "null"]
        if any(not isinstance(values, list) for values in typed):
            return frozenset()
        return frozenset(str(value) for values in typed for value in values)

    @property
    def properties(self) -> dict[str, Any]:
        """The arguments of all alternatives."""
        found: dict[str, Any] = {}
        for part in self._parts:
            if isinstance(part.get("properties"), Mapping):
                found.update(part["properties"])
        return found

    @property
    def required(self) -> frozenset[str]:
        """The arguments that every alternative with arguments requires."""
        objects = [part for part in self._parts if isinstance(part.get("properties"), Mapping)]
        sets = [frozenset(map(str, part.get("required") or ())) for part in objects]
        return frozenset.intersection(*sets) if sets else frozenset()

    @property
    def is_open(self) -> bool:
        """Whether arguments that it does not name may be given."""
        return any(part.get("additionalProperties") not in (None, False) for part in self._parts)

    def inner(self, schema: Any) -> _Node:
        """A schema within."""
        return _Node(schema, self.references)

    @property
    def items(self) -> Any:
        """The schema of a list's items; `None` for any."""
        return next((part["items"] for part in self._parts if isinstance(part.get("items"), Mapping)), None)


def _find_parts(schema: Any, references: References, depth: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping) or not depth:
        return
    if isinstance(reference := schema.get("$ref"), str):
        yield from _find_parts(references.find(reference), references, depth - 1)
        return
    alternatives = [each for key in ("anyOf", "oneOf") for each in schema.get(key) or ()]
    if not alternatives or "properties" in schema:
        yield schema
    for each in alternatives:
        yield from _find_parts(each, references, depth - 1)


def _compare(old: _Node, new: _Node, path: str, depth: int) -> Iterator[SchemaBreak]:
    types, now = old.types, new.types
    if types and now and any(name not in now and _WIDER.get(name) not in now for name in types):
        yield SchemaBreak(BreakKind.TYPE, path or ".", tuple(sorted(types)), tuple(sorted(now)))
        return
    if new.values and (not old.values or not old.values <= new.values):
        yield SchemaBreak(
            BreakKind.ENUM, path or ".", tuple(sorted(old.values - new.values)), tuple(sorted(new.values))
        )
    if not depth:
        return
    before, after = old.properties, new.properties
    required = new.required & after.keys()
    for name, schema in after.items():
        place = f"{path}.{name}" if path else name
        if name in required and name not in old.required:
            yield SchemaBreak(BreakKind.REQUIRED, place)
        if name in before:
            yield from _compare(old.inner(before[name]), new.inner(schema), place, depth - 1)
    if not new.is_open:
        yield from (
            SchemaBreak(BreakKind.REMOVED, f"{path}.{name}" if path else name) for name in before if name not in after
        )
    if old.items is not None and new.items is not None:
        yield from _compare(old.inner(old.items), new.inner(new.items), f"{path}[]", depth - 1)
