"""Matches the calls made with the calls of an accepted answer (rule E3).

An answer asks for calls, each of which is met by one call made, and a call made meets one at most. Of all ways to match
them, the best one is taken: first that with the most calls met, then that which leaves the fewest surplus calls that
are not permitted, then the one with the fewest faults against the schemas, then the one with the most right arguments.
So an answer is met, by names or wholly, exactly if the way that is found says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchQuality:
    """How well a call made meets a call asked for.

    Attributes:
        is_valid: Its arguments go with the tool's schema.
        is_right: And are what was expected.
    """

    is_valid: bool
    is_right: bool


CompareCalls = Callable[[int, int], MatchQuality | None]
"""How a call made (second index) meets a call asked for (first index); `None` if it is of another tool."""


@dataclass(frozen=True, slots=True)
class MatchedCall:
    """A call asked for and the call made that meets it, by index."""

    wanted: int
    made: int
    fit: MatchQuality


def match_calls(
    wanted: int, permitted: Sequence[bool], compare_calls: CompareCalls, *, in_order: bool = False
) -> list[MatchedCall]:
    """The best way to lay calls made against calls asked for, in the order of those asked for.

    Args:
        wanted: Number of calls asked for.
        permitted: For each call made, whether it may be surplus.
        fitting: How they go together.
        in_order: Whether calls must be met in the order in which they are asked for.
    """
    made = len(permitted)
    if not wanted or not made:
        return []
    fits = [[compare_calls(row, column) for column in range(made)] for row in range(wanted)]
    base = min(wanted, made) + 1
    worth = [[_worth(fit, permitted[column], base) for column, fit in enumerate(row)] for row in fits]
    if wanted == 1:
        best = max(range(made), key=worth[0].__getitem__)
        assigned = [(0, best)]
    else:
        assigned = _assign_in_order(worth) if in_order else _assign(worth)
    return [MatchedCall(row, column, fit) for row, column in assigned if (fit := fits[row][column]) is not None]


def _worth(fit: MatchQuality | None, permitted: bool, base: int) -> int:
    """What a pair counts: digits in a base that no number of pairs can carry over, the weightiest first."""
    if fit is None:
        return 0
    return ((base + (not permitted)) * base + fit.is_valid) * base + fit.is_right


def _assign_in_order(worth: list[list[int]]) -> list[tuple[int, int]]:
    """Pairs of rows and columns, both rising, of the greatest worth together (as in a longest common subsequence)."""
    rows, columns = len(worth), len(worth[0])
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            paired = worth[row][column] + best[row + 1][column + 1] if worth[row][column] else 0
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    assigned, row, column = [], 0, 0
    while row < rows and column < columns:
        if best[row][column] == best[row + 1][column]:
            row += 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            assigned.append((row, column))
            row, column = row + 1, column + 1
    return assigned


def _assign(worth: list[list[int]]) -> list[tuple[int, int]]:
    """Pairs of rows and columns, each used once, of the greatest worth together.

    The Hungarian method with potentials (Kuhn 1955, Munkres 1957): rows are added one by one, each along a shortest
    augmenting path, in time of rows² × columns.
    """
    if len(worth) > len(worth[0]):
        turned = _assign([list(column) for column in zip(*worth, strict=True)])
        return sorted((row, column) for column, row in turned)
    rows, columns = len(worth), len(worth[0])
    row_potential = [0] * rows
    column_potential = [0] * (columns + 1)  # the last column is where each search starts
    row_of = [-1] * (columns + 1)
    top = max(map(max, worth))
    beyond = (top + 1) * (rows + columns + 2) * 2
    for added in range(rows):
        row_of[columns] = added
        current = columns
        distance = [beyond] * columns
        reached_from = [columns] * columns
        visited = [False] * (columns + 1)
        while (row := row_of[current]) != -1:
            visited[current] = True
            step, nearest = beyond, -1
            costs, potential = worth[row], row_potential[row]
            for column in range(columns):
                if visited[column]:
                    continue
                cost = top - costs[column] - potential - column_potential[column]
                if cost < distance[column]:
                    distance[column], reached_from[column] = cost, current
                if distance[column] < step:
                    step, nearest = distance[column], column
            for column in range(columns + 1):
                if visited[column]:
                    row_potential[row_of[column]] += step
                    column_potential[column] -= step
                elif column < columns:
                    distance[column] -= step
            current = nearest
        while current != columns:
            previous = reached_from[current]
            row_of[current] = row_of[previous]
            current = previous
    return sorted((row_of[column], column) for column in range(columns) if row_of[column] != -1)
