"""How often a case is right that is asked several times: pass@k and pass^k, counted by the database."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolbelt.evals.analysis.summary.counting import RATES, SCORED, quoted
from toolbelt.evals.statistics.passing import Passing, pass_all_k, pass_at_k

_Tally = Mapping[tuple[int, int], int]
"""How many cases have each pair of right and scored epochs."""


@dataclass(frozen=True, slots=True)
class EpochMeasures:
    """Of one arm, by k; see `ArmSummary` for their meaning."""

    pass_at: Mapping[int, float | None] = field(default_factory=dict)
    pass_all: Mapping[int, float | None] = field(default_factory=dict)
    pass_cases: Mapping[int, int] = field(default_factory=dict)


def draws_of(epochs: int) -> tuple[int, ...]:
    """The k that are told: 1, 2, 4, … and the number of epochs; none where each case is asked once."""
    if epochs < 2:
        return ()
    return (*(1 << power for power in range((epochs - 1).bit_length())), epochs)


def measure_epochs(
    connection: sqlite3.Connection, run: str, arms: Iterable[int], epochs: int
) -> dict[int, EpochMeasures]:
    """pass@k and pass^k of each arm, over accuracy: a trial is right as it is there, so never one that is uncovered.

    Args:
        connection: To the file of runs.
        run: Its id.
        arms: Their numbers.
        epochs: How often each case is asked.
    """
    draws = draws_of(epochs)
    if not draws:
        return {}
    tallies: dict[int, dict[tuple[int, int], int]] = {arm: {} for arm in arms}
    # Names and expressions are this package's own. Unscored epochs say nothing, and their case may have others.
    by_case = (
        f"SELECT arm, sum({RATES['accuracy'].whole_numerator}) AS passed, count(*) AS scored FROM trials "  # noqa: S608
        f"WHERE run = ? AND outcome IN ({quoted(SCORED)}) GROUP BY arm, case_id"
    )
    rows = connection.execute(
        f"SELECT arm, passed, scored, count(*) FROM ({by_case}) GROUP BY arm, passed, scored",  # noqa: S608
        (run,),
    )
    for arm, passed, scored, cases in rows:
        tallies[arm][passed, scored] = cases
    return {arm: _measure(tally, draws) for arm, tally in tallies.items()}


def _measure(tally: _Tally, draws: Sequence[int]) -> EpochMeasures:
    return EpochMeasures(
        {k: _mean(tally, k, pass_at_k) for k in draws},
        {k: _mean(tally, k, pass_all_k) for k in draws},
        {k: sum(cases for (_, scored), cases in tally.items() if scored >= k) for k in draws},
    )


def _mean(tally: _Tally, k: int, measure: Callable[[Iterable[tuple[int, int]], int], Passing]) -> float | None:
    """Over cases; those with the same counts have the same value, which is worked out once."""
    values = [(measure([counts], k).value, cases) for counts, cases in tally.items()]
    known = [(value, cases) for value, cases in values if value is not None]
    total = sum(cases for _, cases in known)
    return math.fsum(value * cases for value, cases in known) / total if total else None
