"""Counts that the database makes of a run: pass@k and pass^k, latencies, why trials were not scored."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from toolbelt.evals.analysis.summary.rates import RATES, SCORED, quoted
from toolbelt.evals.analysis.summary.run_summary import PassAtK
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.pass_at_k import Passing, pass_all_k, pass_at_k

_Tally = Mapping[tuple[int, int], int]
"""How many cases have each pair of right and scored epochs."""


def draws_of(epochs: int) -> tuple[int, ...]:
    """The k that are reported: 1, 2, 4, … and the number of epochs; none where each case is asked once."""
    if epochs < 2:
        return ()
    return (*(1 << power for power in range((epochs - 1).bit_length())), epochs)


def measure_epochs(
    connection: sqlite3.Connection, run: str, arms: Iterable[int], *, cases: int, epochs: int
) -> dict[int, tuple[PassAtK, ...]]:
    """pass@k and pass^k of each arm, over accuracy: a trial is right as it is there, so never one that is uncovered.

    Args:
        connection: To the file of runs.
        run: Its id.
        arms: Their numbers.
        cases: How many each arm is asked.
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
    for arm, passed, scored, alike in rows:
        tallies[arm][passed, scored] = alike
    return {arm: tuple(_measure(tally, k, cases) for k in draws) for arm, tally in tallies.items()}


def _measure(tally: _Tally, k: int, cases: int) -> PassAtK:
    covered = sum(alike for (_, scored), alike in tally.items() if scored >= k)
    return PassAtK(k, _mean(tally, k, pass_at_k), _mean(tally, k, pass_all_k), covered, cases - covered)


def _mean(tally: _Tally, k: int, measure: Callable[[Iterable[tuple[int, int]], int], Passing]) -> float | None:
    """Over cases; those with the same counts have the same value, which is worked out once."""
    values = [(measure([counts], k).value, cases) for counts, cases in tally.items()]
    known = [(value, cases) for value, cases in values if value is not None]
    total = sum(cases for _, cases in known)
    return math.fsum(value * cases for value, cases in known) / total if total else None


_MADE = (
    "FROM trials AS t CROSS JOIN requests AS r ON r.run = t.run AND r.trial = coalesce(t.same_as, t.trial) "
    "WHERE t.run = ?"
)
"""Requests by trial: those of another where that one asked for both. CROSS keeps the order of the tables: without it,
SQLite reads all trials for each request."""
_ASKED = (
    "r.failure IS NULL AND NOT EXISTS (SELECT 1 FROM responses AS p WHERE p.run = r.run AND p.trial = r.trial "
    "AND p.request = r.request AND p.attempt = r.attempt AND p.is_reused)"
)
"""Answered, and not by a recorded response, which has no latency."""
_COUNTED = (
    f"t.arm, count(CASE WHEN {_ASKED} THEN 1 END), "
    "avg(CASE WHEN r.request = 0 AND r.failure IS NULL THEN r.tools END), "
    "count(DISTINCT CASE r.request WHEN 0 THEN r.offer END), min(CASE r.request WHEN 0 THEN r.offer END)"
)


@dataclass(frozen=True, slots=True)
class ArmTiming:
    """Of the answered requests of an arm's finished trials; `None` where there are none.

    Attributes:
        median_seconds: Half of those took at most this long that were asked, not answered by a recorded response.
        p95_seconds: 95% of them took at most this long.
        tools_offered: Mean number of tools at the first request of a trial.
        first_offers: Different lists of tools at the first requests, also of those that were not answered.
        first_offer: Digest of that list, where there is just one.
    """

    median_seconds: float | None = None
    p95_seconds: float | None = None
    tools_offered: float | None = None
    first_offers: int | None = None
    first_offer: str | None = None


def time_requests(connection: sqlite3.Connection, run: str) -> dict[int, ArmTiming]:
    """By arm; the database sorts, on its disk if need be, and nothing is held here.

    A median between two requests is the mean of both; the 95th percentile is the latency of a request (nearest rank).
    """
    counted = connection.execute(f"SELECT {_COUNTED} {_MADE} GROUP BY t.arm ORDER BY t.arm", (run,)).fetchall()
    ordered = connection.execute(
        f"SELECT r.latency_seconds {_MADE} AND {_ASKED} ORDER BY t.arm, r.latency_seconds", (run,)
    )
    timings: dict[int, ArmTiming] = {}
    for arm, count, tools, offers, offer in counted:  # in the order of the arms, as the latencies are
        only = offer if offers == 1 else None
        if not count:
            timings[arm] = ArmTiming(tools_offered=tools, first_offers=offers or None, first_offer=only)
            continue
        ranks = {(count - 1) // 2, count // 2, (95 * count - 1) // 100}
        at = {rank: latency for rank, (latency,) in enumerate(islice(ordered, count)) if rank in ranks}
        median = (at[(count - 1) // 2] + at[count // 2]) / 2
        timings[arm] = ArmTiming(median, at[(95 * count - 1) // 100], tools, offers or None, only)
    return timings


def find_reasons(connection: sqlite3.Connection, run: str) -> dict[tuple[int, str], str]:
    """The commonest reason by arm and outcome, of outcomes that are not scored; of equals, that of the first trial."""
    rows = connection.execute(
        "SELECT arm, outcome, reason FROM trials WHERE run = ? AND outcome IN (?, ?) "
        "GROUP BY arm, outcome, reason ORDER BY arm, outcome, count(*), min(trial) DESC",
        (run, Outcome.ERROR.value, Outcome.CONTEXT_OVERFLOW.value),
    )
    return {(arm, outcome): reason for arm, outcome, reason in rows}  # the last of each is kept
