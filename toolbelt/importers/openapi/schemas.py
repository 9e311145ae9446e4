"""Schemas of an OpenAPI document as JSON Schema 2020-12.

A schema that is referred to becomes an entry of `$defs` and is never copied to where it is used: it is
converted once and shared by every tool that reaches it, so recursion needs no care and nothing can multiply.
Only what contains itself with nothing between is changed (see `loops.py`), before anything else looks at it.
All of it is read as a request would be: what is `readOnly` is left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.importers.openapi.keywords import (
    BESIDE_REF,
    DEFS,
    DROPPED,
    SUBSCHEMA_LISTS,
    SUBSCHEMA_MAPS,
    SUBSCHEMAS,
    VALUES,
    Schema,
    translate,
)
from toolbelt.importers.openapi.loops import break_loops, components, references_in_place
from toolbelt.importers.openapi.spec import Spec, free_name
from toolbelt.sources.section import Section

if TYPE_CHECKING:
    from toolbelt.sources import Key

    Path = tuple[Key, ...]
    """Where a schema stands: keys and indexes from the top of the document."""


class Schemas:
    """The schemas of a document, converted as they are asked for.

    Args:
        spec: Where mistakes and remarks go.
        siblings_count: Whether keywords beside a `$ref` apply: since OpenAPI 3.1, but not in 3.0.

    Attributes:
        read_only: Which properties no request sends.
        met_mistake: Whether a schema that was asked for has a mistake, which is found once; set to `False` by whoever
            wants to know it of what follows.
    """

    def __init__(self, spec: Spec, *, siblings_count: bool) -> None:
        self.read_only = ReadOnly(spec)
        self.met_mistake = False
        self._spec = spec
        self._siblings_count = siblings_count
        self._converted: dict[tuple[Key, ...], Schema] = {}
        self._wrong: set[tuple[Key, ...]] = set()
        self._names: dict[tuple[Key, ...], str] = {}
        self._nodes: dict[str, Section] = {}
        self._loopless: dict[str, Schema] = {}
        self._edges: dict[str, frozenset[str]] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._definitions: dict[frozenset[str], FrozenDict] = {}

    def convert(self, node: Section) -> Schema:
        """The schema at `node` in JSON Schema 2020-12, frozen; its references are to `$defs`."""
        if node.path not in self._converted:
            before = len(node.findings)
            self._converted[node.path] = freeze(self._schema(node))
            if len(node.findings) > before:
                self._wrong.add(node.path)
        self.met_mistake |= node.path in self._wrong
        return self._converted[node.path]

    def definition(self, name: str) -> Schema:
        """The schema that is called `name` in `$defs`; it contains itself at most by way of a property or item."""
        if name not in self._loopless:
            self._break_loops(name)
        self.met_mistake |= self._nodes[name].path in self._wrong
        return self._loopless[name]

    def definitions(self, schemas: Iterable[Schema]) -> FrozenDict:
        """The `$defs` that `schemas` need: all they reach, and nothing else."""
        roots = frozenset().union(*(self._references(schema) for schema in schemas))
        if roots not in self._definitions:
            names = frozenset().union(*(self._reach(root) for root in roots))
            if names not in self._definitions:
                self._definitions[names] = FrozenDict({name: self.definition(name) for name in sorted(names)})
            self._definitions[roots] = self._definitions[names]
        definitions = self._definitions[roots]
        self.met_mistake |= any(self._nodes[name].path in self._wrong for name in definitions if self._wrong)
        return definitions

    def _schema(self, node: Section, unrequired: frozenset[str] = frozenset()) -> dict[str, Any] | bool:
        value = node.value
        if isinstance(value, bool):
            return value
        if node.read_mapping() is None:
            return {}
        if "required" in value or "allOf" in value:
            unrequired |= self.read_only.names(node)
        converted: dict[str, Any] = {}
        for key in value:
            if "$ref" not in value or self._siblings_count or key in BESIDE_REF:
                self._keyword(node, key, unrequired, converted)
        return translate(converted)

    def _keyword(self, node: Section, key: str, unrequired: frozenset[str], converted: dict[str, Any]) -> None:
        child = node.child(key)
        if key == "$ref":
            if (target := self._spec.find_target(node)) is not None:
                converted[key] = DEFS + self._name(target)
        elif key in SUBSCHEMAS:
            converted[key] = self._schema(child)
        elif key in SUBSCHEMA_LISTS:
            converted[key] = self._list(child, key, unrequired if key == "allOf" else frozenset())
        elif key in SUBSCHEMA_MAPS:
            converted[key] = self._map(child, key)
        elif key in VALUES:
            if self._is_right(child, key):
                converted[key] = child.value
                if key == "required":
                    converted[key] = [name for name in child.value if name not in unrequired]
        elif key not in DROPPED and not key.startswith("x-"):
            self._spec.note(f"the schema keyword {key!r} is not read")

    def _list(self, node: Section, key: str, unrequired: frozenset[str]) -> list[Any]:
        if not isinstance(node.value, list) or not node.value:
            node.add_error("wrong-type", f"`{key}` must be a list of schemas that is not empty.")
            return [{}]
        return [self._schema(node.child(index), unrequired) for index in range(len(node.value))]

    def _map(self, node: Section, key: str) -> dict[str, Any]:
        if node.read_mapping() is None:
            return {}
        return {name: self._schema(node.child(name)) for name in node.value if not self._is_left_out(node, key, name)}

    def _is_left_out(self, node: Section, key: str, name: str) -> bool:
        if key == "patternProperties":
            return not self._is_pattern(name)
        return key == "properties" and self.read_only.covers(node.child(name))

    def _is_right(self, node: Section, key: str) -> bool:
        if node.value is None and key in ("title", "description"):
            return False  # nothing written after the colon
        check, wanted = VALUES[key]
        if not check(node.value):
            node.add_error("wrong-type", f"`{key}` of a schema must be {wanted}.")
            return False
        return key != "pattern" or self._is_pattern(node.value)

    def _is_pattern(self, pattern: str) -> bool:
        # OpenAPI has JavaScript's expressions; arguments are checked with Python's.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            self._spec.note(f"the pattern {pattern!r} is left out, as Python cannot read it")
            return False
        return True

    def _name(self, target: Section) -> str:
        if target.path not in self._names:
            is_component = target.path[:2] == ("components", "schemas") and len(target.path) == 3
            words = target.path[2:] if is_component else target.path
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", "_".join(map(str, words))).strip("_") or "schema"
            self._names[target.path] = name = free_name(name, self._nodes)
            self._nodes[name] = target
        return self._names[target.path]

    def _reach(self, name: str) -> frozenset[str]:
        """`name` and all that it leads to in `$defs`."""
        if name not in self._reached:
            reached: set[str] = set()
            pending = [name]
            while pending:
                current = pending.pop()
                if current in reached:
                    continue
                if current in self._reached:
                    reached |= self._reached[current]
                else:
                    reached.add(current)
                    pending.extend(self._targets(current))
            self._reached[name] = frozenset(reached)
        return self._reached[name]

    def _targets(self, name: str) -> frozenset[str]:
        if name not in self._edges:
            self._edges[name] = self._references(self.definition(name))
        return self._edges[name]

    def _references(self, schema: Schema) -> frozenset[str]:
        """Names in `$defs` that `schema` refers to."""
        names: set[str] = set()
        pending: list[Any] = [schema]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                ref = value.get("$ref")
                if isinstance(ref, str) and ref.startswith(DEFS):
                    names.add(ref.removeprefix(DEFS))
                pending.extend(value.values())
        return frozenset(names & self._nodes.keys())  # a default or example may look like a reference

    def _break_loops(self, name: str) -> None:
        """Take what is called `name`, and all that it contains for the same value, into `_loopless`."""
        schemas: dict[str, Schema] = {}
        pending = [name]
        while pending:
            current = pending.pop()
            if current not in schemas and current not in self._loopless:
                schemas[current] = self.convert(self._nodes[current])
                pending.extend(each.target for each in reversed(references_in_place(schemas[current])))
        changed, cuts = break_loops(schemas, self._base_name)
        self._loopless |= schemas | {each: freeze(schema) for each, schema in changed.items()}
        for cut in cuts:
            text = f"refers to {cut.target!r}, which leads back here with no property or item between; "
            text += (
                f"it takes in {cut.base!r} instead, what {cut.target!r} says itself" if cut.base else "that is left out"
            )
            self._spec.note(text, f"schema {cut.source!r}")

    def _base_name(self, name: str) -> str:
        base = free_name(f"{name}_base", self._nodes)
        self._nodes[base] = self._nodes[name]
        return base


class ReadOnly:
    """The read-only properties of a document's schemas."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._names: dict[Path, frozenset[str]] = {}

    def names(self, node: Section) -> frozenset[str]:
        """Properties that only answers have, of the schema at `node` and of all it takes in by `allOf` and `$ref`.

        A chain of references is asked for from each of its members, so that what each comes to is kept.
        """
        own: dict[Path, frozenset[str]] = {}
        taken_in: dict[Path, list[Path]] = {}
        pending = [(node.path, node)]
        while pending:
            path, current = pending.pop()
            if path not in own and path not in self._names:
                own[path], schemas = self._own(current)
                placed = [(schema.path, schema) for schema in schemas]
                taken_in[path] = [place for place, _ in placed]
                pending.extend(placed)
        graph = {path: [part for part in parts if part not in self._names] for path, parts in taken_in.items()}
        for group in components(graph):
            behind = {part for path in group for part in taken_in[path]} - group
            sources = [*(self._names[part] for part in behind), *(own[path] for path in group)]
            names = frozenset().union(*sources)
            # A long chain shares one set rather than to hold as many as it has members.
            shared = next((source for source in sources if len(source) == len(names)), names)
            self._names.update(dict.fromkeys(group, shared))
        return self._names[node.path]

    def covers(self, node: Section) -> bool:
        """Whether the schema at `node`, or one that it refers to, is marked."""
        seen: set[Path] = set()
        current: Section | None = node
        while current is not None and isinstance(current.value, dict) and current.path not in seen:
            if current.value.get("readOnly") is True:
                return True
            seen.add(current.path)
            current = self._spec.find_target(current) if "$ref" in current.value else None
        return False

    def _own(self, node: Section) -> tuple[frozenset[str], list[Section]]:
        """The read-only properties written at `node` itself, and the schemas it takes in."""
        taken_in: list[Section] = []
        names: frozenset[str] = frozenset()
        value = node.value if isinstance(node.value, dict) else {}
        if "$ref" in value and (target := self._spec.find_target(node)):
            taken_in.append(target)
        if isinstance(value.get("properties"), dict):
            properties = node.child("properties")
            names = frozenset(name for name in properties.value if self.covers(properties.child(name)))
        if isinstance(value.get("allOf"), list):
            parts = node.child("allOf")
            taken_in.extend(parts.child(index) for index in range(len(parts.value)))
        return names, taken_in
