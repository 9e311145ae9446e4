"""The numbers that a run takes, the same from Python as on the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

from toolbelt.errors import OutOfRangeError


@dataclass(frozen=True, slots=True)
class Range:
    """Which numbers are allowed; `nan` and the infinities never are.

    Attributes:
        low: The least; `None` for no bound.
        high: The most; `None` for no bound.
        is_low_open: Whether `low` itself is not allowed.
        is_whole: Whether only whole numbers are.
        is_optional: Whether `None` is allowed, too.
    """

    low: int | None = None
    high: float | None = None
    is_low_open: bool = False
    is_whole: bool = True
    is_optional: bool = False

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.is_optional
        if isinstance(value, bool) or not isinstance(value, int if self.is_whole else int | float):
            return False
        if not math.isfinite(value) or (self.is_low_open and value == self.low):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        bounds = [f"{'above' if self.is_low_open else 'at least'} {self.low}"] if self.low is not None else []
        bounds += [f"at most {self.high}"] if self.high is not None else []
        number = " ".join(["a whole number" if self.is_whole else "a number", " and ".join(bounds)]).rstrip()
        return f"{number}, or None" if self.is_optional else number


HIGHEST_LEVEL = 0.9997
"""Of an interval; 10,000 resamples are too few for more."""
LEVELS = Range(0, HIGHEST_LEVEL, is_low_open=True, is_whole=False)


def refuse_outside(ranges: Mapping[str, Range], values: object) -> None:
    """Raise `OutOfRangeError` for the first field of `values` that is not within its range."""
    for path, allowed in ranges.items():
        if (value := attrgetter(path)(values)) not in allowed:
            raise OutOfRangeError(path.rpartition(".")[2], value, allowed)
