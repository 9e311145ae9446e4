"""Schemas that contain themselves with no property or item between, which no validator gets to the end of.

Generators write such loops for a discriminator: `Pet` is one of `Cat` and `Dog`, and each of these takes `Pet` in by
`allOf`. What is meant by the second is only what `Pet` says itself, so that part becomes a definition of its own,
`Pet_base`, which the subtypes take in instead. In any other loop the `$ref` that closes it is left out: `{}` is there.
What is cut widens a schema, so that no call is refused which the API would take.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from toolbelt.importers.openapi.keywords import DEFS, Schema


@dataclass(frozen=True, slots=True)
class Reference:
    """A `$ref` for the same value.

    Attributes:
        target: Name of the definition.
        is_taken_in: Whether it stands alone or in `allOf`, so that the schema says all that its target says.
    """

    target: str
    is_taken_in: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """A reference that closed a loop.

    Attributes:
        source: Name of the definition that it was in.
        target: Name of the definition that it was to.
        base: Name of the definition that it is to now; `None` where it is left out.
    """

    source: str
    target: str
    base: str | None


def references_in_place(schema: Schema) -> tuple[Reference, ...]:
    """The references of `schema` that are for the same value, each once, as they come."""
    references: dict[Reference, None] = {}

    def keep(reference: Reference) -> str:
        references[reference] = None
        return reference.target

    _redirected(schema, keep)
    return tuple(references)


def break_loops(
    schemas: Mapping[str, Schema], base_name: Callable[[str], str]
) -> tuple[dict[str, Schema], tuple[Cut, ...]]:
    """Those of `schemas` that are in a loop, out of it, with the definitions made for that.

    Args:
        schemas: Definitions by name; none that is missing may lead back to them for the same value.
        base_name: A free name for what the definition of this name says itself; asked once for each.

    Returns:
        The changed and new definitions by name, and what was cut, each once.
    """
    references = {name: references_in_place(schema) for name, schema in schemas.items()}
    changed: dict[str, Schema] = {}
    cuts: dict[Cut, None] = {}
    graph = {name: [each.target for each in references[name] if each.target in schemas] for name in schemas}
    for ring in rings(graph):
        breaker = _Breaker({name: references[name] for name in schemas if name in ring}, base_name)
        for name in breaker.members:
            changed[name] = _redirected(schemas[name], partial(breaker.redirect, name))
        for name, base in breaker.each_base():
            changed[base] = _redirected(schemas[name], partial(breaker.redirect_in_base, name))
        cuts |= breaker.cuts
    return changed, tuple(cuts)


class _Breaker:
    """Where the references of one ring lead once it is broken."""

    def __init__(self, members: Mapping[str, Iterable[Reference]], base_name: Callable[[str], str]) -> None:
        self.members = members
        self.cuts: dict[Cut, None] = {}
        self._base_name = base_name
        self._bases: dict[str, str] = {}
        self._based: list[str] = []
        self._closing_choices = self._closing(is_taken_in=False)
        self._closing_parts = self._closing(is_taken_in=True)

    def redirect(self, source: str, reference: Reference) -> str | None:
        """What the member `source` refers to instead."""
        target = reference.target
        if target not in self.members:
            return target
        if not reference.is_taken_in and (source, target) not in self._closing_choices:
            return target
        base = self._base(target) if reference.is_taken_in and target != source else None
        self.cuts[Cut(source, target, base)] = None
        return base

    def redirect_in_base(self, source: str, reference: Reference) -> str | None:
        """What the base of the member `source` refers to instead."""
        target = reference.target
        if target not in self.members:
            return target
        is_kept = reference.is_taken_in and (source, target) not in self._closing_parts
        return self._base(target) if is_kept else None

    def each_base(self) -> Iterator[tuple[str, str]]:
        """Every member that needs a base, with the name of that; more may come up while these are made."""
        for name in self._based:  # it grows meanwhile
            yield name, self._bases[name]

    def _closing(self, *, is_taken_in: bool) -> frozenset[tuple[str, str]]:
        graph = {
            name: [
                each.target for each in references if each.is_taken_in is is_taken_in and each.target in self.members
            ]
            for name, references in self.members.items()
        }
        return closing_steps(graph)

    def _base(self, name: str) -> str:
        if name not in self._bases:
            self._bases[name] = self._base_name(name)
            self._based.append(name)
        return self._bases[name]


def _redirected(schema: Any, redirect: Callable[[Reference], str | None], *, is_taken_in: bool = True) -> Any:
    """`schema` with every reference for the same value to what `redirect` says, or left out for `None`."""
    if not isinstance(schema, dict):
        return schema
    redirected = dict(schema)
    if "$ref" in redirected:
        name = redirect(Reference(redirected["$ref"].removeprefix(DEFS), is_taken_in))
        if name is None:
            del redirected["$ref"]
        else:
            redirected["$ref"] = DEFS + name
    if "allOf" in redirected:
        redirected["allOf"] = [_redirected(part, redirect) for part in redirected["allOf"]]
        if redirected["allOf"] != schema["allOf"]:
            redirected["allOf"] = [part for part in redirected["allOf"] if part != {}]
        if not redirected["allOf"]:
            del redirected["allOf"]
    choice = partial(_redirected, redirect=redirect, is_taken_in=False)
    for key in ("then", "else"):
        if key in redirected:
            redirected[key] = choice(redirected[key])
    if "dependentSchemas" in redirected:
        redirected["dependentSchemas"] = {name: choice(part) for name, part in redirected["dependentSchemas"].items()}
    _redirect_alternatives(redirected, choice)
    _drop_changed_conditions(redirected, choice)
    return redirected


def _redirect_alternatives(redirected: dict[str, Any], choice: Callable[[Any], Any]) -> None:
    for key in ("anyOf", "oneOf"):
        if key not in redirected:
            continue
        old = redirected[key]
        redirected[key] = [choice(part) for part in old]
        if redirected[key] == old:
            continue
        # What fits the wider alternative may fit another too, which `oneOf` would refuse.
        parts = redirected.pop(key)
        if any(part != {} for part in parts):
            redirected.setdefault("anyOf", parts)


def _drop_changed_conditions(redirected: dict[str, Any], choice: Callable[[Any], Any]) -> None:
    """Leave out a `not` or `if` in which something is wider now, for what hangs on it would be narrower."""
    if "not" in redirected and choice(redirected["not"]) != redirected["not"]:
        del redirected["not"]
    if "if" in redirected and choice(redirected["if"]) != redirected["if"]:
        for key in ("if", "then", "else"):
            redirected.pop(key, None)


Name = TypeVar("Name", bound=Hashable)
Graph = Mapping[Name, Iterable[Name]]
"""The names that each name leads to, every one of them a key."""


def closure(roots: Iterable[Name], targets: Callable[[Name], Iterable[Name]]) -> frozenset[Name]:
    """`roots` and all that they lead to."""
    reached: set[Name] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(targets(name))
    return frozenset(reached)


def closing_steps(graph: Graph[Name]) -> frozenset[tuple[Name, Name]]:
    """Steps without which nothing leads back to itself; which ones hangs on the order of `graph`."""
    return _walk(graph)[1]


def components(graph: Graph[Name]) -> list[frozenset[Name]]:
    """The largest groups of names that all lead to each other, each group after all that it leads to."""
    finished, closing = _walk(graph)
    if not closing:
        return [frozenset((name,)) for name in finished]
    # Kosaraju: against the arrows, from the last that was finished, one reaches just its own group.
    backwards: dict[Name, list[Name]] = {name: [] for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backwards[target].append(name)
    placed: set[Name] = set()
    groups = []
    for name in reversed(finished):
        if name not in placed:
            group = closure([name], lambda each: [source for source in backwards[each] if source not in placed])
            placed.update(group)
            groups.append(group)
    return groups[::-1]


def rings(graph: Graph[Name]) -> list[frozenset[Name]]:
    """The components with a way back: several names, or a name that leads to itself."""
    return [
        group
        for group in reversed(components(graph))
        if len(group) > 1 or not group.isdisjoint(graph[next(iter(group))])
    ]


def _walk(graph: Graph[Name]) -> tuple[list[Name], frozenset[tuple[Name, Name]]]:
    """Every name after all that it leads to, rings aside, and the steps back into the way that led there."""
    finished: dict[Name, None] = {}
    closing: set[tuple[Name, Name]] = set()
    for root in graph:
        way = {} if root in finished else {root: iter(graph[root])}
        while way:
            name, targets = next(reversed(way.items()))
            target = next(targets, None)
            if target is None:
                finished[name] = None
                del way[name]
            elif target in way:
                closing.add((name, target))
            elif target not in finished:
                way[target] = iter(graph[target])
    return list(finished), frozenset(closing)
