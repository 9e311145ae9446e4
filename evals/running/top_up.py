"""Further epochs of the arms of a run whose verdict is open (rule X6): how often each is asked, and by which level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class TopUp:
    """How far each arm of a run is asked; a look after each epoch.

    Attributes:
        epochs: The most, which are those of the baseline.
        level: Of the intervals at every look, a fraction.
        asked: Epochs of each arm so far, in the order of the arms.
    """

    epochs: int
    level: float
    asked: tuple[int, ...]

    def with_further(self, arms: Sequence[int]) -> TopUp:
        """The same with an epoch more of some arms, by their place."""
        return replace(self, asked=tuple(epochs + (arm in arms) for arm, epochs in enumerate(self.asked)))


def read_top_up(data: Mapping[str, Any] | None) -> TopUp | None:
    """Read what `dataclasses.asdict` made of one."""
    return TopUp(data["epochs"], data["level"], tuple(data["asked"])) if data else None
