"""Which arms of one run are held against which, where nobody says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.pairing import Pairing
from toolbelt.evals.analysis.evidence.evidence import ArmName, Side
from toolbelt.evals.scoring.outcome import Outcome


@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm, as far as choosing what it is held against goes.

    Attributes:
        place: Its 0-based position.
        name: Which.
        is_scored: Whether anything of it was.
        is_unfit: Whether nothing was, as it does not fit its model.
    """

    place: int
    name: ArmName
    is_scored: bool
    is_unfit: bool


def pair_by_model(side: Side) -> Pairing:
    """Hold every arm against one of its own model: of another model, the toolset would be no contrast.

    That is the model's first arm of which anything was scored, in the order asked for; or, where that one is a variant,
    its toolset as it is, if that was scored. Where every model has a single arm the models are the contrast: each is
    held against the first that was scored. An arm of which nothing was scored, as it does not fit its model, is neither
    held against another nor another against it: it is no worse answer, and there is none that it could be told by.

    Args:
        side: Whose; each arm is read once.

    Returns:
        Within one run, with the arms that are `unfit`, and those that are `alone`: the only one left of their model.
    """
    arms = [_look(side, place) for place in range(len(side.arms))]
    left = [arm for arm in arms if not arm.is_unfit]
    pairs: list[tuple[int, int]] = []
    alone = []
    for group in _group(arms, left):
        base = _base(group)
        pairs += ((base.place, arm.place) for arm in group if arm is not base)
        if len(group) == 1:
            alone.append(base.place)
    return Pairing(
        tuple(sorted(pairs, key=lambda pair: pair[1])),
        is_within=True,
        unfit=tuple(arm.place for arm in arms if arm.is_unfit),
        alone=tuple(sorted(alone)),
    )


def _look(side: Side, place: int) -> _Arm:
    ended = [one.outcome for case in side.read(place).values() for one in case.attempts if one is not None]
    too_long = sum(outcome is Outcome.CONTEXT_OVERFLOW for outcome in ended)
    is_scored = any(outcome.is_scored for outcome in ended)
    # Where most trials failed, that is why nothing was scored.
    return _Arm(place, side.arms[place], is_scored, is_unfit=not is_scored and 2 * too_long > len(ended))


def _group(arms: Sequence[_Arm], left: Sequence[_Arm]) -> list[list[_Arm]]:
    """Those that are held against one of them."""
    if len({arm.name.model for arm in arms}) == len(arms):
        return [list(left)] if left else []
    models: dict[str, list[_Arm]] = {}
    for arm in left:
        models.setdefault(arm.name.model, []).append(arm)
    return list(models.values())


def _base(group: Sequence[_Arm]) -> _Arm:
    """What the others of a group are held against."""
    scored = [arm for arm in group if arm.is_scored] or list(group)
    first = scored[0].name
    plain = (arm for arm in scored if arm.name.key == (first.model, first.toolset, ""))
    return next(plain, scored[0])
