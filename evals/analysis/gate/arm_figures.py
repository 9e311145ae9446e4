"""Figures of one arm of the run itself, for limits that need no baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.comparison.comparison import LEVEL, Measure
from toolbelt.evals.analysis.comparison.paired_cases import is_right_by
from toolbelt.evals.analysis.evidence.case_table import CaseTable, as_table
from toolbelt.evals.analysis.evidence.evidence import ArmName, Side
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.clusters import count_different
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
        high: Upper bound, with those that failed or were not run counted as right; what did not fit is not right.
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
        """Right ones of all asked, of which what did not fit is not right; `None` where nothing was scored."""
        return self.right / (self.scored + self.overflows) if self.scored else None


def read_figures(side: Side, arm: int, measure: Measure) -> ArmFigures:
    """Read an arm.

    Args:
        side: The run.
        arm: Its 0-based position.
        measure: `accuracy` or `solved`.
    """
    about = side.about
    epochs = about.epochs_of(side.arms[arm])
    cases = as_table(side.read(arm), epochs)
    counts: Counter[Outcome] = Counter()
    for attempt, trials in cases.count_ends():
        counts[attempt.outcome] += trials
    scored = cases.by_end(lambda end: end is not None and end.is_scored)
    right = cases.by_end(lambda end: end is not None and end.is_scored and is_right_by(measure, end))
    is_open = cases.by_end(lambda end: end is None or end.outcome is Outcome.ERROR)
    is_tried = scored.any(axis=1)
    unread = max(0, about.cases - len(cases))
    low, _ = _bounds(cases, right, [(0, epochs)] * unread)
    _, high = _bounds(cases, right | is_open, [(epochs, epochs)] * unread)
    return ArmFigures(
        side.arms[arm],
        cases=int(is_tried.sum()),
        asked=about.cases,
        planned=about.cases * epochs,
        finished=counts.total(),
        scored=int(scored.sum()),
        right=int(right.sum()),
        errors=counts[Outcome.ERROR],
        overflows=counts[Outcome.CONTEXT_OVERFLOW],
        clusters=count_different(cases.names.clusters[is_tried]),
        low=low,
        high=high,
    )


def _bounds(cases: CaseTable, counts: NDArray[np.bool_], unread: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Of the share of trials that count; cases of which nothing is known yet are clusters of their own."""
    of = cases.names.clusters
    sums = np.bincount(of, weights=counts.sum(axis=1)), np.bincount(of) * cases.epochs
    clusters = zip(*(column.astype(int).tolist() for column in sums), strict=True)
    if not len(of) and not unread:
        return 0.0, 1.0
    return clustered_interval(chain(clusters, unread), LEVEL)
