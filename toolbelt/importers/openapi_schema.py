"""Schemas of an OpenAPI document as JSON Schema 2020-12, and what its `$ref`s mean.

A schema that is referred to becomes an entry of `$defs` and is never copied to where it is used: it is
converted once and shared by every tool that reaches it, so recursion needs no care and nothing can multiply.
All of it is read as a request would be: what is `readOnly` is left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.findings import Finding

if TYPE_CHECKING:
    from toolbelt.documents import Document, Key

Schema = Mapping[str, Any] | bool
T = TypeVar("T")

_DEFS = "#/$defs/"
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


@dataclass(frozen=True, slots=True)
class Node:
    """A value with where it stands in the document."""

    value: Any
    path: tuple[Key, ...] = ()

    def child(self, key: Key) -> Node:
        """What stands under `key`."""
        return Node(self.value[key], (*self.path, key))


class Reading:
    """A document being read: the mistakes and remarks so far, and what its `$ref`s mean."""

    def __init__(self, document: Document) -> None:
        self.root = Node(document.data)
        self._document = document
        self._findings: dict[Finding, None] = {}
        self._notes: dict[str, list[str]] = {}

    @property
    def findings(self) -> list[Finding]:
        """Every mistake, once, in the order of lines."""
        return sorted(self._findings, key=lambda finding: finding.line or 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every remark, once, after the names of what it is about."""
        return tuple(f"{_listed(labels)}: {text}" if labels else text for text, labels in self._notes.items())

    def refuse(self, rule: str, message: str, node: Node) -> None:
        """Keep a mistake; what many operations share is met many times and told once."""
        self._findings[self._document.finding(rule, message, *node.path)] = None

    def note(self, text: str, label: str = "") -> None:
        """Keep a remark about `label`."""
        labels = self._notes.setdefault(text, [])
        if label:
            labels.append(label)

    def find_line(self, node: Node) -> int | None:
        """1-based line of `node`."""
        return self._document.find_line(*node.path)

    def field(self, node: Node, key: str, kind: type[T], wanted: str) -> T | None:
        """The value under `key`; `None` if there is none, or one of the wrong type, which is a mistake."""
        return self.typed(node.child(key), f"`{key}`", kind, wanted) if key in node.value else None

    def typed(self, node: Node, what: str, kind: type[T], wanted: str) -> T | None:
        """The value of `node`; `None` if it is empty, or of the wrong type, which is a mistake."""
        if node.value is None or isinstance(node.value, kind):
            return node.value
        self.refuse("wrong-type", f"{what} must be {wanted}, not {_kind(node.value)}.", node)
        return None

    def is_mapping(self, node: Node, what: str) -> bool:
        """Whether `node` holds a mapping; that it does not is a mistake."""
        if isinstance(node.value, dict):
            return True
        self.refuse("wrong-type", f"{what} must be a mapping, not {_kind(node.value)}.", node)
        return False

    def follow(self, node: Node) -> Node | None:
        """What `node` stands for once its `$ref`s are followed; `None` if they lead nowhere."""
        chain = self.chain(node)
        return chain[-1] if chain else None

    def chain(self, node: Node) -> tuple[Node, ...]:
        """`node` and what it refers to, step by step; empty if that leads nowhere."""
        nodes = [node]
        seen = {node.path}
        while isinstance(nodes[-1].value, dict) and "$ref" in nodes[-1].value:
            target = self.find_target(nodes[-1])
            if target is None:
                return ()
            if target.path in seen:
                self.refuse("ref-cycle", f"The `$ref` {node.value['$ref']!r} leads back to itself.", node)
                return ()
            seen.add(target.path)
            nodes.append(target)
        return tuple(nodes)

    def find_target(self, node: Node) -> Node | None:
        """What the `$ref` of `node` names; `None` if nothing in this document."""
        ref = node.value["$ref"]
        if not isinstance(ref, str):
            self.refuse("wrong-type", f"`$ref` must be text, not {_kind(ref)}.", node.child("$ref"))
            return None
        if not ref.startswith("#"):
            message = f"The `$ref` {ref!r} is outside of this document and not fetched; bundle the parts into one file."
            self.refuse("external-ref", message, node.child("$ref"))
            return None
        target = self.root if ref.startswith("#/") else None
        known: Iterable[str] = ()
        for token in unquote(ref[2:]).split("/"):
            if target is None:
                break
            key = token.replace("~1", "/").replace("~0", "~")
            known = target.value if isinstance(target.value, dict) else ()
            target = _step(target, key)
        if target is None:
            hint = suggestion(key, known) if known else ""
            self.refuse("unresolved-ref", f"Nothing stands at {ref!r}.{hint}", node.child("$ref"))
        return target


class Schemas:
    """The schemas of a document, converted as they are asked for.

    Args:
        reading: Where mistakes and remarks go.
        siblings_count: Whether keywords beside a `$ref` apply: since OpenAPI 3.1, but not in 3.0.
    """

    def __init__(self, reading: Reading, *, siblings_count: bool) -> None:
        self._reading = reading
        self._siblings_count = siblings_count
        self._converted: dict[tuple[Key, ...], Schema] = {}
        self._parts: dict[tuple[Key, ...], tuple[frozenset[str], list[Node]]] = {}
        self._names: dict[tuple[Key, ...], str] = {}
        self._nodes: dict[str, Node] = {}
        self._edges: dict[str, frozenset[str]] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._definitions: dict[frozenset[str], FrozenDict] = {}

    def convert(self, node: Node) -> Schema:
        """The schema at `node` in JSON Schema 2020-12, frozen; its references are to `$defs`."""
        if node.path not in self._converted:
            self._converted[node.path] = freeze(self._schema(node))
        return self._converted[node.path]

    def definition(self, name: str) -> Schema:
        """The schema that is called `name` in `$defs`."""
        return self.convert(self._nodes[name])

    def definitions(self, schemas: Iterable[Schema]) -> FrozenDict:
        """The `$defs` that `schemas` need: all they reach, and nothing else."""
        roots = frozenset().union(*(self._references(schema) for schema in schemas))
        if roots not in self._definitions:
            names = frozenset().union(*(self._reach(root) for root in roots))
            self._definitions[roots] = FrozenDict({name: self.definition(name) for name in sorted(names)})
        return self._definitions[roots]

    def refuse_endless(self) -> None:
        """Report every schema that contains itself with no property or item between: checking it never ends."""
        pending = list(self._nodes)
        graph: dict[str, frozenset[str]] = {}
        while pending:
            name = pending.pop()
            if name not in graph:
                graph[name] = self._references(self.definition(name), in_place=True)
                pending.extend(graph[name])
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            for name, targets in graph.items():
                if name in _closure(targets, graph.__getitem__):
                    message = f"The schema {name!r} contains itself with no property or item between."
                    self._reading.refuse("endless-schema", message, self._nodes[name])

    def read_only_names(self, node: Node) -> frozenset[str]:
        """Properties that only answers have, of the schema at `node` and of all it takes in by `allOf` and `$ref`."""
        names: set[str] = set()
        seen: set[tuple[Key, ...]] = set()
        pending = [node]
        while pending:
            current = pending.pop()
            if current.path not in seen:
                seen.add(current.path)
                own, taken_in = self._read_only_parts(current)
                names |= own
                pending.extend(taken_in)
        return frozenset(names)

    def _read_only_parts(self, node: Node) -> tuple[frozenset[str], list[Node]]:
        """The read-only properties written at `node` itself, and the schemas it takes in."""
        if node.path not in self._parts:
            taken_in: list[Node] = []
            names: frozenset[str] = frozenset()
            value = node.value if isinstance(node.value, dict) else {}
            if "$ref" in value and (target := self._reading.find_target(node)):
                taken_in.append(target)
            if isinstance(value.get("properties"), dict):
                properties = node.child("properties")
                names = frozenset(name for name in properties.value if self._is_read_only(properties.child(name)))
            if isinstance(value.get("allOf"), list):
                parts = node.child("allOf")
                taken_in.extend(parts.child(index) for index in range(len(parts.value)))
            self._parts[node.path] = names, taken_in
        return self._parts[node.path]

    def _is_read_only(self, node: Node) -> bool:
        seen: set[tuple[Key, ...]] = set()
        current: Node | None = node
        while current is not None and isinstance(current.value, dict) and current.path not in seen:
            if current.value.get("readOnly") is True:
                return True
            seen.add(current.path)
            current = self._reading.find_target(current) if "$ref" in current.value else None
        return False

    def _schema(self, node: Node, unrequired: frozenset[str] = frozenset()) -> dict[str, Any] | bool:
        value = node.value
        if isinstance(value, bool):
            return value
        if not self._reading.is_mapping(node, "A schema"):
            return {}
        if "required" in value or "allOf" in value:
            unrequired |= self.read_only_names(node)
        made: dict[str, Any] = {}
        for key in value:
            if "$ref" not in value or self._siblings_count or key in _BESIDE_REF:
                self._keyword(node, key, unrequired, made)
        return _translate(made)

    def _keyword(self, node: Node, key: str, unrequired: frozenset[str], made: dict[str, Any]) -> None:
        child = node.child(key)
        if key == "$ref":
            if (target := self._reading.find_target(node)) is not None:
                made[key] = _DEFS + self._name(target)
        elif key in _SUBSCHEMAS:
            made[key] = self._schema(child)
        elif key in _SUBSCHEMA_LISTS:
            made[key] = self._list(child, key, unrequired if key == "allOf" else frozenset())
        elif key in _SUBSCHEMA_MAPS:
            made[key] = self._map(child, key)
        elif key in _VALUES:
            if self._is_right(child, key):
                made[key] = child.value
                if key == "required":
                    made[key] = [name for name in child.value if name not in unrequired]
        elif key not in _DROPPED and not key.startswith("x-"):
            self._reading.note(f"the schema keyword {key!r} is not read")

    def _list(self, node: Node, key: str, unrequired: frozenset[str]) -> list[Any]:
        if not isinstance(node.value, list) or not node.value:
            self._reading.refuse("wrong-type", f"`{key}` must be a list of schemas that is not empty.", node)
            return [{}]
        return [self._schema(node.child(index), unrequired) for index in range(len(node.value))]

    def _map(self, node: Node, key: str) -> dict[str, Any]:
        if not self._reading.is_mapping(node, f"`{key}`"):
            return {}
        return {name: self._schema(node.child(name)) for name in node.value if not self._is_left_out(node, key, name)}

    def _is_left_out(self, node: Node, key: str, name: str) -> bool:
        if key == "patternProperties":
            return not self._is_pattern(name)
        return key == "properties" and self._is_read_only(node.child(name))

    def _is_right(self, node: Node, key: str) -> bool:
        if node.value is None and key in ("title", "description"):
            return False  # nothing written after the colon
        check, wanted = _VALUES[key]
        if not check(node.value):
            self._reading.refuse("wrong-type", f"`{key}` of a schema must be {wanted}.", node)
            return False
        return key != "pattern" or self._is_pattern(node.value)

    def _is_pattern(self, pattern: str) -> bool:
        # OpenAPI has JavaScript's expressions; arguments are checked with Python's.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            self._reading.note(f"the pattern {pattern!r} is left out, as Python cannot read it")
            return False
        return True

    def _name(self, target: Node) -> str:
        if target.path not in self._names:
            is_component = target.path[:2] == ("components", "schemas") and len(target.path) == 3
            words = target.path[2:] if is_component else target.path
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", "_".join(map(str, words))).strip("_") or "schema"
            self._names[target.path] = name = free_name(name, self._nodes)
            self._nodes[name] = target
        return self._names[target.path]

    def _reach(self, name: str) -> frozenset[str]:
        if name not in self._reached:
            self._reached[name] = _closure([name], self._targets)
        return self._reached[name]

    def _targets(self, name: str) -> frozenset[str]:
        if name not in self._edges:
            self._edges[name] = self._references(self.definition(name))
        return self._edges[name]

    def _references(self, schema: Schema, *, in_place: bool = False) -> frozenset[str]:
        """Names in `$defs` that `schema` refers to; `in_place`: only those for the same value."""
        found: set[str] = set()
        pending: list[Any] = [schema]
        while pending:
            value = pending.pop()
            if isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                ref = value.get("$ref")
                if isinstance(ref, str) and ref.startswith(_DEFS):
                    found.add(ref.removeprefix(_DEFS))
                pending.extend(value.values() if not in_place else (value[key] for key in _IN_PLACE if key in value))
                if in_place:
                    pending.extend(value.get("dependentSchemas", {}).values())
        return frozenset(found & self._nodes.keys())  # a default or example may look like a reference


def flatten(schema: Schema, schemas: Schemas) -> dict[str, Any] | None:
    """A plain object with no `$ref` or `allOf` around its properties.

    Args:
        schema: Converted.
        schemas: Where it is from.

    Returns:
        `properties`, `required` and, where something says so, `additionalProperties`; `None` if it is no plain
        object, or its parts say different things of the same property.
    """
    parts: list[Mapping[str, Any]] = []
    pending: list[Any] = [schema]
    seen: set[str] = set()
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or not _is_plain(part):
            return None
        if "$ref" in part and part["$ref"] not in seen:
            seen.add(part["$ref"])
            pending.append(schemas.definition(part["$ref"].removeprefix(_DEFS)))
        pending.extend(reversed(part.get("allOf", ())))
        if any(key in part for key in ("properties", "required", "additionalProperties")):
            parts.append(part)
    return _merged(parts)


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or it with the first number from 2 up that makes it free."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}_{number}"
    return free


def _kind(value: object) -> str:
    for kind, words in ((bool, "true or false"), (str, "text"), (dict, "a mapping"), (list, "a list")):
        if isinstance(value, kind):
            return words
    return "empty" if value is None else "a number"


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _step(node: Node, key: str) -> Node | None:
    if isinstance(node.value, dict):
        return node.child(key) if key in node.value else None
    is_index = isinstance(node.value, list) and key.isascii() and key.isdecimal() and len(key) < 10
    return node.child(int(key)) if is_index and int(key) < len(node.value) else None


def _closure(roots: Iterable[str], targets: Callable[[str], Iterable[str]]) -> frozenset[str]:
    found: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(targets(name))
    return frozenset(found)


def _translate(made: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI 3.0's own keywords in those of JSON Schema."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and bound in made:
            made[exclusive] = made.pop(bound)
    if "example" in made:
        made["examples"] = [*made.get("examples", ()), made.pop("example")]
    return _with_null(made) if made.pop("nullable", False) else made


def _with_null(made: dict[str, Any]) -> dict[str, Any]:
    if any(key in made for key in ("$ref", "const", *_IN_PLACE)):
        kept = {key: made.pop(key) for key in tuple(made) if key in _ANNOTATIONS}
        return {**kept, "anyOf": [made, {"type": "null"}]}
    if "type" in made:
        types = [made["type"]] if isinstance(made["type"], str) else made["type"]
        made["type"] = types if "null" in types else [*types, "null"]
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


def _is_plain(part: Mapping[str, Any]) -> bool:
    if part.get("type", "object") not in ("object", ["object"]):
        return False
    return all(key in _PLAIN or key in _ANNOTATIONS for key in part)


def _merged(parts: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    properties: dict[str, Any] = {}
    for part in parts:
        for name, schema in part.get("properties", {}).items():
            if properties.setdefault(name, schema) != schema:
                return None
    additional = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
    if not properties or (len(parts) > 1 and any(schema is not True for schema in additional)):
        return None  # in an `allOf`, each part's limit would refuse the properties of the others
    required = dict.fromkeys(name for part in parts for name in part.get("required", ()))
    return {
        "properties": properties,
        "required": list(required),
        **({"additionalProperties": additional[0]} if additional else {}),
    }


def _is_of(*kinds: type) -> Callable[[Any], bool]:
    """A check of type in which true and false are no numbers."""
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


_is_number = _is_of(int, float)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_names(value) and _TYPES.issuperset(value)
    return isinstance(value, str) and value in _TYPES


_ANYTHING = (_is_of(object, bool), "anything")
_TEXT, _FLAG, _LIST = (_is_of(str), "text"), (_is_of(bool), "true or false"), (_is_of(list), "a list")
_NUMBER, _COUNT = (_is_number, "a number"), (_is_count, "a whole number of 0 or more")
_BOUND = (_is_of(int, float, bool), "a number, or true or false")
_NAMES = (_is_names, "a list of names, each once")

_VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "type": (_is_type, f"one of {', '.join(sorted(_TYPES))}, or a list of these; `null` stands in quotes"),
        **dict.fromkeys(("const", "default", "example"), _ANYTHING),
        "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
        **dict.fromkeys(("minimum", "maximum"), _NUMBER),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _BOUND),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
        **dict.fromkeys(("minContains", "maxContains"), _COUNT),
        "uniqueItems": _FLAG,
        "required": _NAMES,
        "dependentRequired": (
            lambda value: isinstance(value, dict) and all(map(_is_names, value.values())),
            "a mapping of name to a list of names",
        ),
        **dict.fromkeys(("pattern", "format", "contentEncoding", "contentMediaType", "title", "description"), _TEXT),
        **dict.fromkeys(("enum", "examples"), _LIST),
        **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "nullable"), _FLAG),
    }
)
_SUBSCHEMAS = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "contentSchema"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_SUBSCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SUBSCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas are for the same value; `dependentSchemas` too, a mapping of such."""
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})
_BESIDE_REF = _ANNOTATIONS | {"$ref", "example", "nullable"}
"""What is kept beside a `$ref` in OpenAPI 3.0, which ignores all of it: it restricts nothing, and is meant."""
_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "allOf", "$ref"})
_DROPPED = frozenset(
    {"discriminator", "xml", "externalDocs", "$schema", "$id", "$anchor", "$comment", "$vocabulary"}
    | {"$defs", "definitions", "$dynamicAnchor"}
)
