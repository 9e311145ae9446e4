"""Chunks: parts of what is left of a run, each asked by one worker."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.running.plan import Plan

MOST_TRIALS = 500
"""Of a chunk, unless more are under way at once: rows then arrive often, and the cost of a chunk is not felt."""
_CHUNKS_A_WORKER = 4
"""At least, so that no worker is without work for long at the end."""
_FILLINGS = 8
"""How often the trials that a worker runs at once fit into a chunk, so that its end, where fewer run, is short."""


@dataclass(frozen=True)
class Chunk:
    """A part of what is left of a run.

    Attributes:
        positions: Of its cases in the plan; a cluster of cases is in one chunk.
        done: Numbers of those of their trials that are finished.
        trials: How many are left.
        earlier: Rows of finished trials, and of requests of unfinished ones, by table: what was answered is not asked
            again.
        spent: How many requests these are, and their cost in USD.
        least_cost_usd: What it has to be lent at least, as less did not suffice.
    """

    positions: Sequence[int]
    done: frozenset[int] = frozenset()
    trials: int = 0
    earlier: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    spent: tuple[int, float] = (0, 0.0)
    least_cost_usd: float = 0.0


def choose_size(trials: int, workers: int, concurrency: int) -> int:
    """How many trials a chunk should have.

    Args:
        trials: Left of the run.
        workers: That share them.
        concurrency: Trials that each runs at once.
    """
    full = _FILLINGS * concurrency
    return max(
        1, min(max(MOST_TRIALS, full), max(trials // (_CHUNKS_A_WORKER * workers), min(full, trials // workers)))
    )


def count_left(plan: Plan, positions: Sequence[int], done: Collection[int]) -> int:
    """Trials of these cases that are not done."""
    return sum(1 for _ in plan.trials(done, positions))


def make_chunks(
    plan: Plan, clusters: Sequence[int], positions: Sequence[int], done: Collection[int], size: int
) -> Iterator[Chunk]:
    """Split what is left, in the order of the cases; a cluster is never cut.

    Args:
        plan: Of the run.
        clusters: Of each case of the plan, a number that only the cases of its cluster have.
        positions: Of the cases that are asked.
        done: Numbers of finished trials.
        size: Trials of a chunk, at least, but for the last one.
    """
    members: dict[int, array[int]] = {}
    for position in positions:
        members.setdefault(clusters[position], array("I")).append(position)
    chosen, finished, left = array("I"), set[int](), 0
    for cluster in members.values():
        numbers = {trial.number for trial in plan.trials((), cluster)}
        over = {number for number in numbers if number in done}
        if len(over) == len(numbers):
            continue
        chosen += cluster
        finished |= over
        left += len(numbers) - len(over)
        if left >= size:
            yield Chunk(chosen, frozenset(finished), left)
            chosen, finished, left = array("I"), set(), 0
    if chosen:
        yield Chunk(chosen, frozenset(finished), left)
