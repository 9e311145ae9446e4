"""The rates of rule E5: what is counted, of what, and how sure one may be."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.evals.analysis.summary.run_summary import Rate
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.intervals import clustered_interval, wilson_interval

SCORED = frozenset(outcome.value for outcome in Outcome if outcome.is_scored)
"""Outcomes that are in the rates."""

_RIGHT = frozenset(outcome.value for outcome in Outcome if outcome.is_right_by_names)


@dataclass(frozen=True, slots=True)
class RateQuery:
    """A rate as two SQL expressions over a row of `trials`.

    Attributes:
        numerator: How many did.
        denominator: Of how many; NULL or 0 where the row has no part in the rate.
        outcomes: The outcomes that count in the numerator.
        of: Those that count in the denominator.
    """

    numerator: str
    denominator: str
    outcomes: frozenset[str] = SCORED
    of: frozenset[str] = SCORED

    @property
    def whole_numerator(self) -> str:
        """The numerator with the outcomes that count in it."""
        return (
            f"{self.numerator} AND outcome IN ({quoted(self.outcomes)})" if self.outcomes != SCORED else self.numerator
        )


def quoted(outcomes: Iterable[str]) -> str:
    """Outcomes as SQL lists them."""
    return ", ".join(f"'{outcome}'" for outcome in sorted(outcomes))


_UNDECIDED = (Outcome.REFUSED, Outcome.GAVE_UP, Outcome.TRUNCATED, Outcome.BROKEN_CALL)
"""A model that refused, was still browsing at the limit, was cut, or wrote what nobody can read decided nothing."""
_UNCOVERED = f"NOT covered AND outcome NOT IN ({quoted(_UNDECIDED)})"

RATES: Mapping[str, RateQuery] = MappingProxyType(
    {
        # An uncovered case is never right (rule E5).
        "accuracy": RateQuery("covered", "1", _RIGHT),
        # What did not fit was asked, and is not right (rule V1).
        "right_of_asked": RateQuery("covered", "1", _RIGHT, SCORED | {Outcome.CONTEXT_OVERFLOW.value}),
        "solved": RateQuery("covered", "1", frozenset({Outcome.CORRECT.value})),
        "coverage": RateQuery("covered", "1"),
        "surfaced": RateQuery("surfaced", "1"),
        "selection_given_coverage": RateQuery("covered", "covered", _RIGHT),
        "abstention": RateQuery("expects_nothing AND covered", "expects_nothing", _RIGHT),
        "hallucination": RateQuery("1", "1", frozenset({Outcome.HALLUCINATED_TOOL.value})),
        "truncated": RateQuery("1", "1", frozenset({Outcome.TRUNCATED.value})),
        "abstained_uncovered": RateQuery(f"{_UNCOVERED} AND selections = 0", _UNCOVERED),
        "argument_correctness": RateQuery("arguments_right", "arguments_checked"),
        "precision": RateQuery("hits", "made"),
        "recall": RateQuery("hits", "wanted"),
    }
)
"""By the name of the measure."""
CALL_RATES = ("argument_correctness", "precision", "recall")
"""Those of calls, of which one trial may have several."""
ClusterCounts = Mapping[tuple[int, str], Mapping[tuple[int, int], int]]
"""By arm and rate: how many clusters have each pair of numerator and denominator."""


def make_rate(numerator: int, denominator: int, clusters: Mapping[tuple[int, int], int] | None) -> Rate:
    """A rate with its interval.

    Args:
        numerator: How many did.
        denominator: Of how many.
        clusters: How many clusters have each pair of counts; `None` where all that was counted stands alone.
    """
    if not denominator:
        return Rate()
    if clusters is None:
        return Rate(numerator, denominator, *wilson_interval(numerator, denominator))
    expanded = (pair for pair, times in sorted(clusters.items()) for _ in range(times))
    return Rate(numerator, denominator, *clustered_interval(expanded))


def has_single_clusters(connection: sqlite3.Connection, run: str) -> bool:
    """Whether no arm has two trials of one cluster, in a run of one epoch."""
    # Cases that are clusters of their own are distinct; only where others are there the clusters have to be counted.
    others = connection.execute("SELECT 1 FROM trials WHERE run = ? AND cluster <> case_id LIMIT 1", (run,))
    if others.fetchone() is None:
        return True
    repeated = "SELECT 1 FROM trials WHERE run = ? GROUP BY arm, cluster HAVING count(*) > 1 LIMIT 1"
    return connection.execute(repeated, (run,)).fetchone() is None


def count_clusters(connection: sqlite3.Connection, run: str, names: Collection[str]) -> ClusterCounts:
    """Counts by cluster, as many as differ: clusters with the same counts are only counted.

    Args:
        connection: To the file of runs.
        run: Its id.
        names: Of the rates wanted.
    """
    counts: dict[tuple[int, str], Counter[tuple[int, int]]] = {}
    for of in dict.fromkeys(RATES[name].of for name in names):
        counts |= _count_clusters(connection, run, [name for name in names if RATES[name].of == of], of)
    return counts


def _count_clusters(
    connection: sqlite3.Connection, run: str, names: Sequence[str], of_outcomes: frozenset[str]
) -> dict[tuple[int, str], Counter[tuple[int, int]]]:
    sums = ", ".join(f"sum({RATES[name].whole_numerator}), sum({RATES[name].denominator})" for name in names)
    counts: dict[tuple[int, str], Counter[tuple[int, int]]] = {}
    # Names and expressions are this package's own.
    rows = connection.execute(
        f"SELECT arm, {sums} FROM trials WHERE run = ? AND outcome IN ({quoted(of_outcomes)}) GROUP BY arm, cluster",  # noqa: S608
        (run,),
    )
    for arm, *values in rows:
        for place, name in enumerate(names):
            top, of = values[2 * place : 2 * place + 2]
            if of:
                counts.setdefault((arm, name), Counter())[top or 0, of] += 1
    return counts
