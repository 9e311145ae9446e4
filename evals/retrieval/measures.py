"""The measures of one search: recall, reciprocal rank and nDCG, where a case may need several tools (rule S3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from toolbelt.evals.cases.case import Case

DEPTH = 100
"""Tools that are looked at: a right one that comes later counts as not found."""
Places = tuple[tuple[int | None, ...], ...]
"""Of each accepted answer, where each of its distinct tools was found, from 1; `None` where it was not."""


def find_places(case: Case, ids: Sequence[str]) -> Places:
    """Where a search found the tools of each accepted answer that calls one.

    Args:
        case: The case.
        ids: Of the tools that were found, the best first. Where a call may be of any of several tools, the first of
            them counts.
    """
    places = {tool_id: place for place, tool_id in reversed(list(enumerate(ids, start=1)))}
    return tuple(
        tuple(
            min((places[tool] for tool in tools if tool in places), default=None)
            for tools in dict.fromkeys(call.tools for call in answer)
        )
        for answer in case.answers
        if answer
    )


def recall_at(places: Places, k: int) -> float:
    """The best share, over accepted answers, of its tools within the first `k`."""
    return max(_count_within(answer, k) / len(answer) for answer in places)


def reciprocal_rank(places: Places) -> float:
    """One by the place of the first tool of any accepted answer; 0 where none was found."""
    return max((1 / place for answer in places for place in answer if place is not None), default=0.0)


def ndcg_at(places: Places, k: int) -> float:
    """Discounted gain of the first `k` by the greatest there can be, of the accepted answer where that is best.

    Each tool of the answer has a gain of 1, divided by log2(place + 1) (Järvelin and Kekäläinen 2002).
    """
    return max(_gain(answer, k) / _gain(range(1, len(answer) + 1), k) for answer in places)


def _count_within(answer: Sequence[int | None], k: int) -> int:
    return sum(place is not None and place <= k for place in answer)


def _gain(answer: Sequence[int | None], k: int) -> float:
    # Summed exactly, so that tools in another order have no other gain.
    return math.fsum(1 / math.log2(place + 1) for place in answer if place is not None and place <= k)
