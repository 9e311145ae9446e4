"""What leads to what among names: all that is reached, rings, and the steps that close them.

No function recurses, so a chain may be as long as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

Graph = Mapping[str, Iterable[str]]
"""The names that each name leads to, every one of them a key."""


def closure(roots: Iterable[str], targets: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """`roots` and all that they lead to."""
    found: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(targets(name))
    return frozenset(found)


def closing_steps(graph: Graph) -> frozenset[tuple[str, str]]:
    """Steps without which nothing leads back to itself; which ones hangs on the order of `graph`."""
    return _walk(graph)[1]


def rings(graph: Graph) -> list[frozenset[str]]:
    """The largest groups of names that all lead to each other, or a name that leads to itself."""
    finished, closing = _walk(graph)
    if not closing:
        return []
    # Kosaraju: against the arrows, from the last that was finished, one reaches just its own group.
    backwards: dict[str, list[str]] = {name: [] for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backwards[target].append(name)
    placed: set[str] = set()
    groups = []
    for name in reversed(finished):
        if name not in placed:
            group = closure([name], lambda each: [source for source in backwards[each] if source not in placed])
            placed.update(group)
            groups.append(group)
    return [group for group in groups if len(group) > 1 or not group.isdisjoint(graph[min(group)])]


def _walk(graph: Graph) -> tuple[list[str], frozenset[tuple[str, str]]]:
    """Every name after all that it leads to, rings aside, and the steps back into the way that led there."""
    finished: dict[str, None] = {}
    closing: set[tuple[str, str]] = set()
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
