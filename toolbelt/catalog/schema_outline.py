"""What there is in a JSON Schema that may cost time: its patterns, references, and how often these multiply.

The schema may come from anyone. Every walk here goes through all objects and lists but those that hold data (`enum`,
`default`, ...), because a reference may point to any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
MAX_EVALUATIONS = 5_000
"""Subschemas after following each reference; of a schema that is larger as it is written, as many as are in it."""
MAX_WORK = 2_000_000
"""Subschemas times parts of a value: some 50 ms."""
_DATA = frozenset({"enum", "const", "default", "example", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""Keywords that hold schemas by names, which are no keywords."""
_OF_PARTS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_OF_PROPERTIES = frozenset({"patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"})
_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_META_SCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")

Step = str | None
"""From a value to the part of it that a subschema is about; `None` for the value itself."""
_BackEdges = Counter[tuple[int, tuple[str, ...]]]
"""How many references lead back to a schema (by `id`) from the same part of the value."""


class Cost(NamedTuple):
    """How much work a value can make.

    Attributes:
        evaluations: Subschemas that a value is checked against, up to one round of each recursion.
        growth: By how much that multiplies with each further round, which goes one level deeper into the value.
    """

    evaluations: int
    growth: int

    def is_affordable(self, parts: int, depth: int) -> bool:
        """Whether a value of so many parts, nested so deep, makes at most `MAX_WORK`."""
        return self.evaluations * parts * int(self.growth**depth) <= MAX_WORK


def find_patterns(schema: Any) -> list[str]:
    """Every regular expression in a schema, those of `patternProperties` among them."""
    patterns: list[str] = []
    for node in _nodes(schema):
        if isinstance(node.get("pattern"), str):
            patterns.append(node["pattern"])
        if isinstance(node.get("patternProperties"), Mapping):
            patterns += node["patternProperties"]
    return patterns


def has_references(schema: Any) -> bool:
    """Whether anything in a schema refers to anything."""
    return has_keyword(schema, *REFERENCES)


def has_keyword(schema: Any, *keywords: str) -> bool:
    """Whether any schema in it has any of these keywords."""
    return any(key in node for node in _nodes(schema) for key in keywords)


def find_references(schema: Any) -> list[str]:
    """Every reference in a schema."""
    return [node[key] for node in _nodes(schema) for key in REFERENCES if isinstance(node.get(key), str)]


def has_inner_ids(schema: Any) -> bool:
    """Whether a subschema has an id of its own, from which its references count."""
    return any(isinstance(node.get(key), str) for node in _nodes(schema) if node is not schema for key in ("$id", "id"))


def without(
    schema: Any, *, pattern: Callable[[str], bool] = lambda _: False, reference: Callable[[str], bool] = lambda _: False
) -> Any:
    """A copy of a schema without the patterns and references of which that is true."""
    if isinstance(schema, list):
        return [without(item, pattern=pattern, reference=reference) for item in schema]
    if not isinstance(schema, dict):
        return schema
    stripped: dict[str, Any] = {}
    for key, value in schema.items():
        if (key == "pattern" and isinstance(value, str) and pattern(value)) or (
            key in REFERENCES and isinstance(value, str) and reference(value)
        ):
            continue
        if key in _DATA:
            stripped[key] = value
        elif key in _NAMED and isinstance(value, dict):
            stripped[key] = {
                name: without(item, pattern=pattern, reference=reference)
                for name, item in value.items()
                if key != "patternProperties" or not pattern(name)
            }
        else:
            stripped[key] = without(value, pattern=pattern, reference=reference)
    return stripped


class References:
    """Finds what the references of a schema point to.

    Args:
        schema: Without inner ids.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._own_id = str(schema.get("$id") or schema.get("id") or "").removesuffix("#")
        self._anchors = {
            node[key]: node
            for node in _nodes(schema)
            for key in ("$anchor", "$dynamicAnchor")
            if isinstance(node.get(key), str)
        }

    def is_known(self, reference: str) -> bool:
        """Whether a reference points to something in the schema, or to the schema of schemas."""
        return reference.startswith(_META_SCHEMAS) or self.find(reference) is not None

    def find(self, reference: str) -> Any:
        """What a reference points to; `None` if that is not in the schema."""
        place = reference.removeprefix(self._own_id) if self._own_id else reference
        if place in ("", "#"):
            return self._root
        if not place.startswith("#"):
            return None
        if not place.startswith("#/"):
            return self._anchors.get(place[1:])
        target: Any = self._root
        is_name = False
        for part in place[2:].split("/"):
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and step in target and (is_name or step not in _DATA):
                is_name = not is_name and step in _NAMED
                target = target[step]
            elif isinstance(target, list) and step.isdecimal() and int(step) < len(target):
                target = target[int(step)]
            else:
                return None
        return target if isinstance(target, dict | bool) else None


class TooCostlyError(Exception):
    """The references multiply beyond `MAX_EVALUATIONS`, or the schema is nested too deep to count."""


def find_cost(schema: Any, references: References) -> Cost:
    """How much work a value makes.

    Raises:
        TooCostlyError: too much, for any value.
    """
    counter = _Counter(references, max(MAX_EVALUATIONS, sum(1 for _ in _nodes(schema))))
    try:
        evaluations, _ = counter.visit(schema)
    except RecursionError:
        raise TooCostlyError from None
    return Cost(evaluations, counter.growth)


class _Counter:
    def __init__(self, references: References, limit: int) -> None:
        self._references = references
        self._limit = limit
        self._done: dict[int, tuple[int, _BackEdges]] = {}
        self._open: set[int] = set()
        self.growth = 1

    def visit(self, schema: Any) -> tuple[int, _BackEdges]:
        """The evaluations of a schema, and the references in it that lead back to what is still being counted."""
        if not isinstance(schema, dict):
            return 1, Counter()
        own = id(schema)
        if own in self._open:
            return 1, Counter({(own, ()): 1})
        if own in self._done:
            return self._done[own]
        self._open.add(own)
        evaluations, back = 1, _BackEdges()
        for step, part in self._parts(schema):
            count, edges = self.visit(part)
            evaluations += count
            if evaluations > self._limit:
                raise TooCostlyError
            for (target, path), times in edges.items():
                back[target, path if step is None else (step, *path)] += times
        self._open.discard(own)
        self.growth = max([self.growth, *(times for (target, _), times in back.items() if target == own)])
        back = Counter({edge: times for edge, times in back.items() if edge[0] != own})
        self._done[own] = evaluations, back
        return evaluations, back

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[tuple[Step, Any]]:
        for key, value in schema.items():
            if key in REFERENCES and isinstance(value, str):
                yield None, self._references.find(value)
            elif key == "properties" and isinstance(value, dict):
                yield from value.items()
            elif key in _OF_PARTS or key in _OF_PROPERTIES or key in _IN_PLACE:
                step = "[]" if key in _OF_PARTS else "{}" if key in _OF_PROPERTIES else None
                values = value.values() if key in _NAMED and isinstance(value, dict) else value
                for part in (values,) if isinstance(values, dict) else values if not isinstance(values, bool) else ():
                    yield step, part


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema that may be a schema itself."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            yield node
            for key, value in node.items():
                if key in _NAMED and isinstance(value, dict):
                    waiting += value.values()
                elif key not in _DATA:
                    waiting.append(value)
