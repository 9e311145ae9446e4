"""Rounds of a run that stops when its comparison is decided (rule X6): clusters in random order, a look after each."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from toolbelt.evals.running.ranges import LEVELS, Range, refuse_outside

MARGINS = Range(0, 1, is_whole=False)
"""Accuracy that may be lost, a fraction."""


@dataclass(frozen=True, slots=True)
class Round:
    """A part of a run, and the look at the data after it; numbers are of the run up to there.

    Attributes:
        clusters: How many.
        cases: How many.
        level: Of the intervals at the look, a fraction.
        is_decided: Whether the look came to a verdict on every comparison; `None` before it was taken.
        verdicts: What it came to, by the label of the arm; with `difference`, `low`, `high` and `verdict`.

    Raises:
        OutOfRangeError: the level is none.
    """

    clusters: int
    cases: int
    level: float
    is_decided: bool | None = None
    verdicts: Mapping[str, Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        refuse_outside({"level": LEVELS}, self)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be decided, and the rounds in which it is asked.

    Attributes:
        margin: Accuracy that may be lost, a fraction.
        baseline: The run or file that arms are compared with; empty where they are compared with each other.
        rounds: In order; none in a request.

    Raises:
        OutOfRangeError: the margin is none.
    """

    margin: float
    baseline: str = ""
    rounds: tuple[Round, ...] = ()

    def __post_init__(self) -> None:
        refuse_outside({"margin": MARGINS}, self)

    @property
    def end(self) -> Round | None:
        """The round after which it was decided; `None` if it is not."""
        return next((each for each in self.rounds if each.is_decided), None)

    @property
    def last_look(self) -> int | None:
        """0-based number of the last round that was looked at; `None` before the first look."""
        taken = [number for number, each in enumerate(self.rounds) if each.is_decided is not None]
        return taken[-1] if taken else None

    def describe(self, cases: int) -> dict[str, Any]:
        """As a setting of the run, of so many cases in all."""
        return {
            "margin": self.margin,
            **({"baseline": self.baseline} if self.baseline else {}),
            "cases": cases,
            "decided_after": None if self.end is None else self.end.cases,
        }

    def with_look(
        self, number: int, *, is_decided: bool, verdicts: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Decision:
        """The same with the look after a round."""
        looked = replace(self.rounds[number], is_decided=is_decided, verdicts=verdicts)
        return replace(self, rounds=(*self.rounds[:number], looked, *self.rounds[number + 1 :]))


def read_decision(data: Mapping[str, Any] | None) -> Decision | None:
    """Read what `dataclasses.asdict` made of one."""
    if not data:
        return None
    return Decision(data["margin"], data["baseline"], tuple(Round(**each) for each in data["rounds"]))


def draw_rounds(clusters: Sequence[int], counts: Sequence[int], seed: int) -> tuple[Sequence[int], ...]:
    """The positions of each round's cases: clusters in random order, the cases of one in their own.

    Args:
        clusters: Of each case of the plan, a number that only the cases of its cluster have.
        counts: How many clusters there are by the end of each round, rising.
        seed: Of the order, in which a cluster's place depends on its own number alone.
    """
    members: dict[int, array[int]] = {}
    for position, label in enumerate(clusters):
        members.setdefault(label, array("I")).append(position)
    key = seed.to_bytes(16, signed=True)
    drawn = sorted(members, key=lambda label: blake2b(label.to_bytes(8), key=key, digest_size=16).digest())
    starts = (0, *counts[:-1])
    return tuple(
        array("I", (position for label in drawn[start:end] for position in members[label]))
        for start, end in zip(starts, counts, strict=True)
    )
