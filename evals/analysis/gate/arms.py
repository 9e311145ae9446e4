"""Some of the arms of a run or a baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from toolbelt.evals.analysis.evidence.evidence import ArmName, CaseEvidence, Side, SideInfo


class ChosenArms:
    """A side that shows some of its arms alone.

    Args:
        side: Whose.
        keys: Which, by `ArmName.key`; those it lacks are left out.
    """

    def __init__(self, side: Side, keys: Collection[tuple[str, str, str]]) -> None:
        self._side = side
        self._places = tuple(place for place, arm in enumerate(side.arms) if arm.key in keys)

    @property
    def about(self) -> SideInfo:
        """What it is of."""
        return self._side.about

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """Those chosen, in their order."""
        return tuple(self._side.arms[place] for place in self._places)

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """Every case of which a trial of the arm has finished."""
        return self._side.read(self._places[arm])
