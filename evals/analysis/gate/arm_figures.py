"""Figures of one arm of the run itself, for limits that need no baseline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.comparison import LEVEL, Measure
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, Side
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.intervals import clustered_interval


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """An arm.

    Attributes:
        name: Of the arm.
        cases: Cases with a scored trial.
        asked: Cases planned.
        planned: Trials.
        finished: Trials with an outcome.
        scored: Trials that count in the share.
        right: Scored trials that are right, by the measure asked for.
        errors: Trials that ended with an error.
        overflows: Trials that did not fit the model's window.
        clusters: Clusters of cases with a scored trial.
        low: Lower bound of the share that is right, of all planned, with those unscored counted as wrong.
        high: Upper bound, with those unscored counted as right.
    """

    name: ArmName
    cases: int
    asked: int
    planned: int
    finished: int
    scored: int
    right: int
    errors: int
    overflows: int
    clusters: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """Right ones of the scored; `None` where there are none."""
        return self.right / self.scored if self.scored else None


def read_figures(side: Side, arm: int, measure: Measure) -> ArmFigures:
    """Read an arm.

    Args:
        side: The run.
        arm: Its 0-based position.
        measure: `accuracy` or `solved`.
    """
    is_right: Callable[[Attempt], bool] = (
        (lambda attempt: attempt.is_solved) if measure is Measure.SOLVED else (lambda attempt: attempt.is_right)
    )
    cases, about = side.read(arm), side.about
    attempts = [attempt for case in cases.values() for attempt in case.attempts if attempt is not None]
    scored = [attempt for attempt in attempts if attempt.is_scored]
    unread = max(0, about.cases - len(cases))
    return ArmFigures(
        side.arms[arm],
        cases=sum(bool(case.scored) for case in cases.values()),
        asked=about.cases,
        planned=about.cases * about.epochs,
        finished=len(attempts),
        scored=len(scored),
        right=sum(map(is_right, scored)),
        errors=sum(attempt.outcome is Outcome.ERROR for attempt in attempts),
        overflows=sum(attempt.outcome is Outcome.CONTEXT_OVERFLOW for attempt in attempts),
        clusters=len({case.cluster for case in cases.values() if case.scored}),
        low=_bounds(cases, about.epochs, unread, lambda each: each is not None and each.is_scored and is_right(each))[
            0
        ],
        high=_bounds(cases, about.epochs, unread, lambda each: each is None or not each.is_scored or is_right(each))[1],
    )


def _bounds(
    cases: Mapping[str, CaseEvidence], epochs: int, unread: int, counts: Callable[[Attempt | None], bool]
) -> tuple[float, float]:
    clusters: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for case in cases.values():
        padded = (*case.attempts, *(None for _ in range(epochs - len(case.attempts))))
        clusters[case.cluster][0] += sum(map(counts, padded))
        clusters[case.cluster][1] += len(padded)
    if not clusters and not unread:
        return 0.0, 1.0
    return clustered_interval(_counted(clusters, epochs, unread, counts), LEVEL)


def _counted(
    clusters: Mapping[str, list[int]], epochs: int, unread: int, counts: Callable[[Attempt | None], bool]
) -> Iterator[tuple[int, int]]:
    yield from ((right, trials) for right, trials in clusters.values())
    yield from ((epochs if counts(None) else 0, epochs) for _ in range(unread))  # cases of which nothing is known yet
