"""Further epochs of the arms of a run whose verdict is open (rule X6): how often each is asked, and by which level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.evals.running.ranges import LEVELS, refuse_outside


@dataclass(frozen=True, slots=True)
class TopUp:
    """How far each arm of a run is asked; a look after each epoch.

    Attributes:
        epochs: The most, which are those of the baseline.
        level: Of the intervals at every look, a fraction.
        asked: Epochs of each arm so far, in the order of the arms.

    Raises:
        OutOfRangeError: the level is none.
    """

    epochs: int
    level: float
    asked: tuple[int, ...]

    def __post_init__(self) -> None:
        refuse_outside({"level": LEVELS}, self)

    def with_further(self, arms: Sequence[int]) -> TopUp:
        """The same with an epoch more of some arms, by their place."""
        return replace(self, asked=tuple(epochs + (arm in arms) for arm, epochs in enumerate(self.asked)))


def format_epochs(most: int, by_arm: Iterable[int]) -> str:
    """`3`, or `1 to 3` where some arms were asked less often.

    Args:
        most: Epochs of the arm that was asked most often.
        by_arm: Of each arm; empty where all were asked as often.
    """
    least = min(by_arm, default=most)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def times_epochs(most: int, by_arm: Iterable[int]) -> str:
    """` × 3 epochs`, to follow a number of cases; empty where each was asked once."""
    return f" × {format_epochs(most, by_arm)} epochs" if most > 1 else ""


def read_top_up(data: Mapping[str, Any] | None) -> TopUp | None:
    """Read what `dataclasses.asdict` made of one."""
    return TopUp(data["epochs"], data["level"], tuple(data["asked"])) if data else None
