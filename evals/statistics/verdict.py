"""The verdict on a difference, and p values adjusted for several of them (rule E7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

SIGNIFICANT = 0.05
"""An adjusted p value below this, and no margin of error reaching 0, make a regression."""


class Verdict(StrEnum):
    """The verdict on a change."""

    REGRESSION = "regression"
    NO_REGRESSION = "no_regression"
    INSUFFICIENT_DATA = "insufficient_data"


def judge(low: float, high: float, adjusted_p: float, margin: float, significant: float = SIGNIFICANT) -> Verdict:
    """The verdict over a difference (new − old; more is better).

    Args:
        low: Lower bound of the difference's interval.
        high: Upper bound.
        adjusted_p: Of the test that there is no difference, adjusted over the contrasts of one command.
        margin: What may be lost, 0 or more, in the unit of the difference.
        significant: The p value must be below this.

    Returns:
        `NO_REGRESSION` if more than the margin is ruled out; else `REGRESSION` if some loss is certain; else
        `INSUFFICIENT_DATA`, which is never a pass. A bound that is just the margin, or just 0, rules nothing out.

    Raises:
        ValueError: the bounds are none, or in the wrong order; the p value or the margin is out of range.
    """
    if not low <= high:
        raise ValueError(f"{low} to {high} is no interval.")
    if not 0 <= adjusted_p <= 1:
        raise ValueError(f"A p value lies in 0..1; {adjusted_p} does not.")
    if not (margin >= 0 and math.isfinite(margin)):
        raise ValueError(f"A margin is 0 or more; {margin} is not.")
    if low > -margin:
        return Verdict.NO_REGRESSION
    if high < 0 and adjusted_p < significant:
        return Verdict.REGRESSION
    return Verdict.INSUFFICIENT_DATA


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted so that the chance of any false one stays below the level (Holm 1979, step-down Bonferroni).

    Args:
        p_values: Of the contrasts of one command, each in 0..1.

    Returns:
        The adjusted values in the order given, each at least its own p value and at most 1.

    Raises:
        ValueError: a value is out of range.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"p values lie in 0..1; not all of {list(p_values)} do.")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
