"""How long requests took, and how many tools they offered."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from itertools import islice

_MADE = "FROM requests AS r JOIN trials AS t ON t.run = r.run AND t.trial = r.trial WHERE r.run = ?"
_COUNTED = (
    "t.arm, count(CASE WHEN r.failure IS NULL THEN 1 END), "
    "avg(CASE WHEN r.request = 0 AND r.failure IS NULL THEN r.tools END), "
    "count(DISTINCT CASE r.request WHEN 0 THEN r.offer END), min(CASE r.request WHEN 0 THEN r.offer END)"
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Of the answered requests of an arm's finished trials; `None` where there are none.

    Attributes:
        median_seconds: Half of them took at most this long.
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


def time_requests(connection: sqlite3.Connection, run: str) -> dict[int, Timing]:
    """By arm; the database sorts, on its disk if need be, and nothing is held here.

    A median between two requests is the mean of both; the 95th percentile is the latency of a request (nearest rank).
    """
    counted = connection.execute(f"SELECT {_COUNTED} {_MADE} GROUP BY t.arm ORDER BY t.arm", (run,)).fetchall()
    ordered = connection.execute(
        f"SELECT r.latency_seconds {_MADE} AND r.failure IS NULL ORDER BY t.arm, r.latency_seconds", (run,)
    )
    found: dict[int, Timing] = {}
    for arm, count, tools, offers, offer in counted:  # in the order of the arms, as the latencies are
        only = offer if offers == 1 else None
        if not count:
            found[arm] = Timing(first_offers=offers or None, first_offer=only)
            continue
        ranks = {(count - 1) // 2, count // 2, (95 * count - 1) // 100}
        at = {rank: latency for rank, (latency,) in enumerate(islice(ordered, count)) if rank in ranks}
        median = (at[(count - 1) // 2] + at[count // 2]) / 2
        found[arm] = Timing(median, at[(95 * count - 1) // 100], tools, offers or None, only)
    return found
