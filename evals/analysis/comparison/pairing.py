"""Pairs arms for a comparison: by name, by model, or as the user says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.evidence.case_table import as_table
from toolbelt.evals.analysis.evidence.evidence import ArmName, Side
from toolbelt.evals.analysis.evidence.sides import choose_arms, find_arm, find_arms, is_toolset_name
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import FULL, find_toolset, is_oracle


@dataclass(frozen=True, slots=True)
class Pairing:
    """Positions of arms among those of their side.

    Attributes:
        pairs: `(old, new)` of each pair, in the order of the new arms.
        missing: Old arms that the new side lacks.
        added: New arms that the old side lacks.
        is_within: Whether both sides are the same run, and its arms are the contrast.
        unfit: Arms of one run that are in no pair, as they do not fit their model and nothing of them was scored.
        alone: Those that are in none, as there is no arm of their model to compare them with.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    is_within: bool = False
    unfit: tuple[int, ...] = ()
    alone: tuple[int, ...] = ()


class Contrasted(StrEnum):
    """What the arms of one run are compared by: those of a model among each other, or those of a toolset."""

    TOOLSET = "toolset"
    MODEL = "model"


def pair_by_names(
    old: Side,
    new: Side | None,
    against: str | None = None,
    names: Sequence[str] = (),
    by: Contrasted = Contrasted.TOOLSET,
) -> Pairing:
    """Pair arms as a user names them.

    Args:
        old: What is compared with.
        new: What is judged; the arms of `old` among each other, if `None`.
        against: Name of the old arm that all others are compared with, each with that of its own model where several
            models have one; each has its namesake, or the first of its own model that was scored, if `None`.
        names: Of the arms that are judged; all if empty.
        by: Within one side and without `against`: whether toolsets or models are compared.

    Raises:
        NotFoundError: no arm has one of the names.
        ToolbeltError: several arms have the name, or there is nothing to compare with.
    """
    if new is None:
        return _pair_within_by_names(old, against, names, by)
    chosen = choose_arms(new.arms, names) if names else tuple(range(len(new.arms)))
    if against is not None:
        return _pair_with_named(new.arms, chosen, old.arms, against, is_within=False)
    keys = {new.arms[place].key for place in chosen}
    candidates = [place for place, arm in enumerate(old.arms) if not names or arm.key in keys] or range(len(old.arms))
    paired = pair_arms([old.arms[place] for place in candidates], [new.arms[place] for place in chosen])
    return Pairing(
        tuple((candidates[before], chosen[after]) for before, after in paired.pairs),
        missing=tuple(candidates[place] for place in paired.missing),
        added=tuple(chosen[place] for place in paired.added),
    )


def _pair_within_by_names(side: Side, against: str | None, names: Sequence[str], by: Contrasted) -> Pairing:
    if len(side.arms) < 2:
        label = side.arms[0].label if side.arms else "none"
        raise ToolbeltError(
            f"{side.about.name} has a single arm, {label}, and nothing to compare it with; name a second run: "
            f"toolbelt eval compare {side.about.name} B"
        )
    if against is not None:
        within = pair_against(side.arms, against)
    elif by is Contrasted.MODEL:
        within = _pair_models(side)
    else:
        within = pair_by_model(side)
    if not names:
        return within
    chosen = choose_arms(side.arms, names)
    pairs = tuple(pair for pair in within.pairs if pair[1] in chosen)
    unfit, alone = (tuple(place for place in places if place in chosen) for places in (within.unfit, within.alone))
    if not pairs:
        why = "is what the others are compared with"
        if chosen[0] in unfit:
            why = "does not fit its model, so that nothing of it was scored"
        elif chosen[0] in alone:
            why = "has no other of its model to be compared with"
        label = side.arms[chosen[0]].label
        raise ToolbeltError(f"{label!r} {why}; name with `against` another arm to compare it with.")
    return Pairing(pairs, is_within=True, unfit=unfit, alone=alone)


def _pair_models(side: Side) -> Pairing:
    within = pair_by_toolset(side)
    if not within.pairs:
        models = ", ".join(dict.fromkeys(arm.model for arm in side.arms))
        raise ToolbeltError(
            f"{side.about.name} has no two models with the same toolset to compare ({models}); "
            "run several: toolbelt eval run --model A,B"
        )
    return within


def pair_arms(old: Sequence[ArmName], new: Sequence[ArmName], against: int | None = None) -> Pairing:
    """Pair the arms of two sides: each with its own kind, model, toolset and variant being the same.

    Where no arm is in both and either side has just one, those two are paired: what differs is the contrast then.

    Args:
        old: Arms of the old side.
        new: Arms of the new side.
        against: An old arm that every new one is compared with, whatever it is; none is missing or added then.

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
    known, paired = {arm.key for arm in new}, {position for _, position in pairs}
    return Pairing(
        pairs,
        missing=tuple(position for position, arm in enumerate(old) if arm.key not in known),
        added=tuple(position for position in range(len(new)) if position not in paired),
    )


def pair_against(arms: Sequence[ArmName], against: str) -> Pairing:
    """Hold the arms of a run against the one of that name: a toolset's against that of their own model.

    Args:
        arms: Of the run.
        against: Its name.

    Returns:
        The pairs; `alone` are arms whose model has no arm of that name, if others have.

    Raises:
        NotFoundError: no arm has the name.
        ToolbeltError: several arms of a model have it.
    """
    return replace(_pair_with_named(arms, range(len(arms)), arms, against, is_within=True), is_within=True)


def _pair_with_named(
    new: Sequence[ArmName], chosen: Sequence[int], old: Sequence[ArmName], name: str, *, is_within: bool
) -> Pairing:
    """Each chosen arm with the old one of that name, of its own model where that is the name of a toolset."""
    places = find_arms(old, name)
    references = {old[place].model: place for place in places}
    if len(references) < len(places):
        find_arm(old, name)  # which refuses a name that several arms have
    judged = [place for place in chosen if not (is_within and place in places)]
    pairs = tuple((references[new[at].model], at) for at in judged if new[at].model in references)
    if len(places) == 1 and not (is_toolset_name(old[places[0]], name) and pairs):
        return Pairing(tuple((places[0], at) for at in judged))
    return Pairing(pairs, alone=tuple(at for at in judged if new[at].model not in references))


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


@dataclass(frozen=True, slots=True)
class _Arm:
    """What is needed of an arm to pair it.

    Attributes:
        place: Its 0-based position.
        name: Of the arm.
        is_scored: Whether anything of it was.
        is_unfit: Whether nothing was, as it does not fit its model.
    """

    place: int
    name: ArmName
    is_scored: bool
    is_unfit: bool


def pair_by_model(side: Side) -> Pairing:
    """Compare every arm with an arm of the same model; between models, a toolset has no contrast.

    That is the model's first arm of which anything was scored, in the order asked for; or, where that one is a variant,
    its toolset as it is, if that was scored. An oracle, which knows the answer, is never it while there is another: in
    place of a first one stands `full`, else the next that is none. Where every model has a single arm the models are
    the contrast: each is compared with the first that was scored. An arm of which nothing was scored, as it does not
    fit its model, is compared with no other: there is no answer to compare.

    Args:
        side: The run or baseline with the arms; each arm is read once.

    Returns:
        Within one run, with the arms that are `unfit`, and those that are `alone`: the only one left of their model.
    """
    arms = [_read_arm(side, place) for place in range(len(side.arms))]
    return _pair_groups(arms, _group(arms, [arm for arm in arms if not arm.is_unfit]))


def pair_by_toolset(side: Side) -> Pairing:
    """Compare the models: every arm with the first scored arm of the same toolset and variant.

    Args:
        side: The run or baseline with the arms; each arm is read once.
    """
    arms = [_read_arm(side, place) for place in range(len(side.arms))]
    toolsets: dict[tuple[str, str], list[_Arm]] = {}
    for arm in arms:
        if not arm.is_unfit:
            toolsets.setdefault((arm.name.toolset, arm.name.variant), []).append(arm)
    return _pair_groups(arms, list(toolsets.values()))


def _pair_groups(arms: Sequence[_Arm], groups: Sequence[Sequence[_Arm]]) -> Pairing:
    pairs: list[tuple[int, int]] = []
    alone = []
    for group in groups:
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


def _read_arm(side: Side, place: int) -> _Arm:
    ended: Counter[Outcome] = Counter()
    for attempt, trials in as_table(side.read(place), side.about.epochs_of(side.arms[place])).count_ends():
        ended[attempt.outcome] += trials
    too_long, is_scored = ended[Outcome.CONTEXT_OVERFLOW], any(outcome.is_scored for outcome in ended)
    # Where most trials failed, that is why nothing was scored.
    return _Arm(place, side.arms[place], is_scored, is_unfit=not is_scored and 2 * too_long > ended.total())


def _group(arms: Sequence[_Arm], left: Sequence[_Arm]) -> list[list[_Arm]]:
    """Groups of arms; the arms of a group are compared with one of them."""
    if len({arm.name.model for arm in arms}) == len(arms):
        return [list(left)] if left else []
    models: dict[str, list[_Arm]] = {}
    for arm in left:
        models.setdefault(arm.name.model, []).append(arm)
    return list(models.values())


def _base(group: Sequence[_Arm]) -> _Arm:
    """The arm that the others of a group are compared with."""
    scored = [arm for arm in group if arm.is_scored] or list(group)
    usable = [arm for arm in scored if not is_oracle(arm.name.toolset)] or scored
    # Instead of an oracle stands what everybody has.
    whole = [arm for arm in usable if usable[0] is not scored[0] and find_toolset(arm.name.toolset) == FULL]
    first = (whole or usable)[0]
    plain = (arm for arm in usable if arm.name.key == (first.name.model, first.name.toolset, ""))
    return next(plain, first)
