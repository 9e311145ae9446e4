"""Which arm is held against which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.evidence.evidence import ArmName


@dataclass(frozen=True, slots=True)
class Pairing:
    """Positions of arms among those of their side.

    Attributes:
        pairs: `(old, new)` of each pair, in the order of the new arms.
        missing: Old arms that the new side lacks.
        added: New arms that the old side lacks.
        is_within: Whether both sides are the same run, and its arms are the contrast.
        unfit: Arms of one run that are in no pair, as they do not fit their model and nothing of them was scored.
        alone: Those that are in none, as no other of their model could be scored.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    is_within: bool = False
    unfit: tuple[int, ...] = ()
    alone: tuple[int, ...] = ()


def pair_arms(old: Sequence[ArmName], new: Sequence[ArmName], against: int | None = None) -> Pairing:
    """Pair the arms of two sides: each with its own kind, model, toolset and variant being the same.

    Where no arm is in both and either side has just one, those two are paired: what differs is the contrast then.

    Args:
        old: Arms of the old side.
        new: Arms of the new side.
        against: An old arm that every new one is held against, whatever it is; none is missing or added then.

    Raises:
        IndexError: there is no such old arm.
    """
    if against is not None:
        _check(old, against)
        return Pairing(tuple((against, position) for position in range(len(new))))
    places = {arm.key: position for position, arm in enumerate(old)}
    pairs = tuple((places[arm.key], position) for position, arm in enumerate(new) if arm.key in places)
    if not pairs and len(old) == len(new) == 1:
        return Pairing(((0, 0),))
    known, found = {arm.key for arm in new}, {position for _, position in pairs}
    return Pairing(
        pairs,
        missing=tuple(position for position, arm in enumerate(old) if arm.key not in known),
        added=tuple(position for position in range(len(new)) if position not in found),
    )


def pair_within(arms: Sequence[ArmName], against: int = 0) -> Pairing:
    """Hold every other arm of a run against one of them.

    Args:
        arms: Of the run.
        against: The one that counts as the old one.

    Raises:
        IndexError: there is no such arm.
    """
    _check(arms, against)
    others = (position for position in range(len(arms)) if position != against)
    return Pairing(tuple((against, position) for position in others), is_within=True)


def _check(arms: Sequence[ArmName], position: int) -> None:
    if not 0 <= position < len(arms):
        raise IndexError(f"There is no arm {position}; there are {len(arms)}.")
