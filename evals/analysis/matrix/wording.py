"""Why a model is to be given a toolset, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.advice import advice, common_advice
from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, Contrast
from toolbelt.evals.analysis.comparison.wording import format_bounds, format_margin, format_points
from toolbelt.evals.analysis.evidence.evidence import About
from toolbelt.evals.analysis.matrix.arms import (
    can_be_given,
    count_unanswered,
    is_answered,
    may_do,
    other_cells,
    served,
)
from toolbelt.evals.analysis.matrix.idling import tell_all_idle, tell_idle
from toolbelt.evals.analysis.matrix.matrix import Candidate, Cell, CellState, Pick
from toolbelt.evals.analysis.summary.measures import ArmSummary, Rate, RunSummary
from toolbelt.text import plural

_FEW = 2
"""Toolsets that are each told of in a sentence."""
_MOST_NAMES = 4
"""Toolsets that are told of by name where nothing more is said of each."""


@dataclass(frozen=True)
class _Told:
    """What is told of, and how far apart is too far.

    Attributes:
        pick: Without its reasons.
        arms: Of the run.
        cells: Of the model.
        about: What the run is of.
        margin: Accuracy that may be lost, a fraction.
    """

    pick: Pick
    arms: Sequence[ArmSummary]
    cells: Sequence[Cell]
    about: About
    margin: float

    @property
    def points(self) -> str:
        """How far is too far, in words: `2.0 points`."""
        return f"{format_margin(self.margin)} points"

    def name(self, arm: int) -> str:
        """Of its toolset."""
        return self.arms[arm].toolset_label

    def share(self, arm: int) -> str:
        """How often it was right."""
        return tell_accuracy(self.arms[arm].accuracy)


def give_reasons(
    pick: Pick, summary: RunSummary, about: About, cells: Mapping[tuple[str, str], Cell], margin: float
) -> tuple[str, ...]:
    """Why what was chosen was, or why nothing was; then what else is to be known, a sentence each.

    Args:
        pick: What was chosen.
        summary: What the run came to.
        about: What the run is of.
        cells: Of every model and toolset.
        margin: Accuracy that may be lost, a fraction.
    """
    own = [cell for (model, _), cell in cells.items() if model == pick.model]
    told = _Told(pick, summary.arms, own, about, margin)
    return (*_main(told), *_promise(told), *_too_long(told), *_idle(told), *_set_aside(told))


def tell_accuracy(rate: Rate) -> str:
    """`85.0%`, never rounded to all or none; `nothing` where there is nothing."""
    value = rate.value
    return "nothing" if value is None else tell_share(value)


def tell_share(value: float) -> str:
    """A share in percent, never rounded to all or none."""
    if 0 < value < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= value < 1 else f"{value:.1%}"


def tell_percent(share: float) -> str:
    """In whole percent, never rounded to all or none."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def tell_difference(contrast: Contrast, margin: float, level: float = LEVEL) -> str:
    """`-0.8 points, 95% interval -1.9 to +0.3`; empty where it is not known."""
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None:
        return ""
    return f"{format_points(difference)} points, {100 * level:.3g}% interval {format_bounds(low, high, margin)}"


def _main(told: _Told) -> Iterator[str]:
    pick, best = told.pick, told.pick.best
    if best is None:
        yield _nothing(told)
    elif pick.choice is None:
        yield _undecided(told, best)
    elif pick.choice != best:
        yield _smaller(told, best, pick.choice)
    elif pick.sure:
        yield _best(told, best)
    else:
        yield _unsure(told, best)
    if pick.choice is not None and pick.toolset != told.arms[pick.choice].toolset:
        yield f"{told.name(pick.choice)} was {pick.toolset} here."


def _nothing(told: _Told) -> str:
    """Why there is no best."""
    if told.pick.idle:
        return tell_all_idle([told.arms[arm] for arm in told.pick.idle], told.margin)
    states = {cell.state for cell in told.cells}
    why = next((cell.reason for cell in told.cells if cell.reason), "")
    if states == {CellState.UNSUPPORTED}:
        return why or "It does not call tools."
    if any(cell.scored for cell in told.cells):
        return "Only toolsets that no model can be given were scored: they go by the case, or are experiments."
    if CellState.UNSCORED in states:
        why = next((cell.reason for cell in told.cells if cell.state is CellState.UNSCORED), "")
        return f"Nothing was scored: {why[0].lower()}{why[1:]}" if why else "Nothing was scored."
    return f"No toolset of this run fits it: {why[0].lower()}{why[1:]}" if why else "No toolset of this run fits it."


def _undecided(told: _Told, best: int) -> str:
    """Why there is a best and no choice."""
    arm, as_measured = told.arms[best], _as_measured(told, best)
    if told.about.drafts:
        of = f"{told.about.drafts:,} of {plural(told.about.cases, 'case')}"
        return f"{as_measured}, but {of} are drafts, which prove nothing until somebody has reviewed them."
    if not is_answered(arm):
        return f"Too little is answered yet: {as_measured}, and {_lacking(arm)}."
    if served(arm) <= told.margin:
        if told.margin > MARGIN and served(arm):
            return f"A margin of {told.points} decides nothing: {as_measured}, which is no more."
        return f"No toolset does: {as_measured}, which is no more than the {told.points} that may be lost."
    return f"Only {told.name(best)} was asked ({told.share(best)}), so that there is nothing to choose from."


def _as_measured(told: _Told, best: int) -> str:
    arm = told.arms[best]
    return f"{told.name(best)} is the best as measured ({told.share(best)} of {plural(arm.scored, 'trial')})"


def _unsure(told: _Told, best: int) -> str:
    """The best, and what speaks against its being the best, by the rival that does most."""
    smallest = " and the smallest" if told.pick.candidates[0].arm == best and len(told.pick.candidates) > 1 else ""
    smallest += " of those it calls tools with" if smallest and told.pick.idle else ""
    return f"{_as_measured(told, best)}{smallest}; not sure: {_doubt(told, best)}."


def _doubt(told: _Told, best: int) -> str:
    against = [rival for rival in told.pick.rivals if not rival.holds]
    if not against:
        return f"too little is known of {_listed(_unknown(told))}"
    worst = min(against, key=lambda one: (not one.overflowing, _low(one)))
    name = told.name(worst.arm)
    if worst.overflowing:
        does = "does" if worst.overflowing == 1 else "do"
        return f"with it {plural(worst.overflowing, 'case')} that {_fit(worst.overflowing)} with {name} {does} not"
    more = f", and so may {plural(len(against) - 1, 'other')}" if len(against) > 1 else ""
    difference = "" if worst.contrast is None else tell_difference(worst.contrast, told.margin)
    interval = f" ({told.name(best)} less {name}: {difference})" if difference else ""
    return f"{name} may be better by more than {told.points}{interval}{more}"


def _unknown(told: _Told) -> list[str]:
    """Toolsets that may fit, and that it was not held against."""
    held = {rival.arm for rival in told.pick.rivals}
    others = other_cells(told.pick, told.arms, told.cells)
    return [cell.toolset for cell in others if cell.arm not in held and may_do(cell, told.pick)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{plural(len(names), 'other')}"


def _low(candidate: Candidate) -> float:
    low = None if candidate.contrast is None else candidate.contrast.low
    return -1.0 if low is None else low


def _best(told: _Told, best: int) -> str:
    pick, share = told.pick, told.share(best)
    if not pick.rivals:
        does = "that it calls right tools with" if pick.idle else f"that fits it{_in_all(told)}"
        return f"{told.name(best)} is the only toolset of this run {does} ({share})."
    others = "any other that it calls tools with" if pick.idle else "any other"
    sure = f"{told.name(best)} is the best ({share}), and surely not worse than {others} by more than {told.points}"
    is_smallest = pick.candidates[0].arm == best
    smaller = "none of these is smaller" if pick.idle else "none is smaller"
    return f"{sure}; {smaller if is_smallest else 'no smaller one is sure to be that near to it'}."


def _in_all(told: _Told) -> str:
    """Where others fit it in part."""
    return " in every case that any does" if any(one.overflowing for one in told.pick.candidates) else ""


def _smaller(told: _Told, best: int, choice: int) -> str:
    contrast = next(one.contrast for one in told.pick.candidates if one.arm == choice)
    assert contrast is not None  # noqa: S101  it was held against the best
    assert contrast.old is not None and contrast.new is not None  # noqa: S101, PT018  it holds, so it has figures
    over = f"{contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else "all cases"
    figures = f"{tell_share(contrast.new)} against {tell_share(contrast.old)} over {over}"
    difference = tell_difference(contrast, told.margin, told.pick.level)
    return (
        f"{told.name(choice)} is the smallest that is surely within {told.points} of the best, {told.name(best)}: "
        f"{figures} ({difference}){_saved(told.arms[choice], told.arms[best])}."
    )


def _saved(chosen: ArmSummary, best: ArmSummary) -> str:
    few, many = chosen.definition_tokens_total, best.definition_tokens_total
    if few is None or not many or few >= many:
        return ""
    return f", with {tell_percent(1 - few / many)} fewer definition tokens"


def _promise(told: _Told) -> Iterator[str]:
    """How many cases would do, for what is not sure."""
    pick = told.pick
    if pick.choice is not None and not pick.sure and not any(rival.overflowing for rival in pick.rivals):
        wanted = [rival.contrast for rival in pick.rivals if not rival.holds and rival.contrast is not None]
        if said := common_advice(wanted, told.margin):
            yield f"To be sure of {told.name(pick.choice)}: {said}."
    if pick.promising is None:
        return
    contrast = next(one.contrast for one in pick.candidates if one.arm == pick.promising)
    assert contrast is not None  # noqa: S101  it was held against the best
    wanted_more = advice(contrast, told.margin, pick.level)
    difference = tell_difference(contrast, told.margin, pick.level)
    yield (
        f"{told.name(pick.promising)} is smaller and looks good enough, but is not sure to be (against the best "
        f"{difference}){f': {wanted_more}' if wanted_more else ''}."
    )


def _too_long(told: _Told) -> Iterator[str]:
    """Smaller toolsets that would do, but for what no longer fits: they may grow, or talk longer."""
    found = []
    for candidate in told.pick.candidates:
        if candidate.arm in (told.pick.choice, told.pick.best):
            break
        contrast = candidate.contrast
        if candidate.overflowing and contrast is not None and (contrast.difference or 0.0) > -told.margin:
            found.append(candidate)
    if len(found) > _FEW:
        yield f"{len(found):,} smaller ones do not fit it in cases that fit with the best."
        return
    for one in found:
        cases = plural(one.overflowing, "case")
        yield f"{told.name(one.arm)} does not fit it in {cases} that {_fit(one.overflowing)} with the best."


def _fit(count: int) -> str:
    return "fits" if count == 1 else "fit"


def _idle(told: _Told) -> Iterator[str]:
    """What is left out as it called nothing, where something else is the best."""
    if told.pick.best is not None:
        yield from tell_idle([told.arms[arm] for arm in told.pick.idle], told.margin)


def _set_aside(told: _Told) -> Iterator[str]:
    if told.pick.best is None:
        return
    best = told.arms[told.pick.best]
    found = [
        arm
        for arm in told.arms
        if arm.model == best.model and arm is not best and can_be_given(arm) and not is_answered(arm)
    ]
    if len(found) > _FEW:
        yield f"{', '.join(arm.toolset_label for arm in found)} were not considered: too many trials lack an answer."
        return
    yield from (f"{arm.toolset_label} was not considered: {_lacking(arm)}." for arm in found)


def _lacking(arm: ArmSummary) -> str:
    missing = count_unanswered(arm)
    return f"{missing:,} of {plural(arm.planned, 'trial')} {'lacks' if missing == 1 else 'lack'} an answer"
