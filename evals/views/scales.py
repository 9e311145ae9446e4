"""Axes: where their marks are, and what these say."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SI = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_number(value: float) -> str:
    """`250`, `1k`, `2.5k`, `12M`."""
    for unit, letter in _SI:
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def linear_marks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values from `low` to `high`, about so many."""
    span = high - low
    if span < 1e-9:
        return [low]
    rough = span / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def logarithmic_marks(low: float, high: float) -> list[float]:
    """Round values from `low` to `high`, both above 0: 1, 2, 5, 10, …, fewer where there are many tens."""
    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades <= 2.2 else (1, 3) if decades <= 3.5 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [step * 10.0**power for power in powers for step in steps]
    return [value for value in found if low * 0.999 <= value <= high * 1.001]


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether values differ so much that an even axis would heap the small ones up."""
    return bool(values) and min(values) > 0.01 and max(values) / min(values) > 12


def share_range(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    """A part of 0 to 1 that shows all, with some air, and makes no mountain of a small difference."""
    low, high = min(lows, default=0.0), max(highs, default=1.0)
    air = max(0.04, (0.3 - (high - low)) / 2)
    return max(0.0, low - air), min(1.0, high + air)
