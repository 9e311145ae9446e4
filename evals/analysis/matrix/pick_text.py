"""Why a toolset is recommended for a model, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, Contrast
from toolbelt.evals.analysis.comparison.comparison_text import describe_advice
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_margin, format_points
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.matrix.candidates import (
    count_calls,
    count_unanswered,
    is_answered,
    is_assignable,
    may_suit,
    other_cells,
    share_right,
)
from toolbelt.evals.analysis.matrix.matrix import Candidate, Cell, CellState, Pick
from toolbelt.evals.analysis.matrix.note_text import describe_cell
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.text import plural

_FEW = 2
"""Toolsets that get a sentence each."""
_MOST_NAMES = 4
"""Toolsets that are named; more of them are counted."""


@dataclass(frozen=True)
class _Context:
    """What the sentences are about.

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
    about: SideInfo
    margin: float

    @property
    def points(self) -> str:
        """The margin in words: `2.0 points`."""
        return f"{format_margin(self.margin)} points"

    def name(self, arm: int) -> str:
        """The label of the arm's toolset."""
        return self.arms[arm].toolset_label

    def share(self, arm: int) -> str:
        """The arm's accuracy, formatted."""
        return format_accuracy(self.arms[arm].accuracy)


def give_reasons(
    pick: Pick, summary: RunSummary, about: SideInfo, cells: Mapping[tuple[str, str], Cell], margin: float
) -> tuple[str, ...]:
    """Why what was chosen was, or why nothing was; then what else is to be known, a sentence each.

    Args:
        pick: What was chosen.
        summary: Of the run.
        about: What the run is of.
        cells: Of every model and toolset.
        margin: Accuracy that may be lost, a fraction.
    """
    own = [cell for (model, _), cell in cells.items() if model == pick.model]
    context = _Context(pick, summary.arms, own, about, margin)
    return (
        *_main(context),
        *_promise(context),
        *_too_long(context),
        *_describe_never_calling(context),
        *_set_aside(context),
    )


def format_accuracy(rate: Rate) -> str:
    """`85.0%`, never rounded to all or none; `nothing` where there is nothing."""
    value = rate.value
    return "nothing" if value is None else format_accuracy_percent(value)


def format_accuracy_percent(value: float) -> str:
    """A share in percent, never rounded to all or none."""
    if 0 < value < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= value < 1 else f"{value:.1%}"


def format_whole_percent(share: float) -> str:
    """In whole percent, never rounded to all or none."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def format_accuracy_difference(contrast: Contrast, margin: float, level: float = LEVEL) -> str:
    """`-0.8 points, 95% interval -1.9 to +0.3`; empty where it is not known."""
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None:
        return ""
    return f"{format_points(difference)} points, {100 * level:.3g}% interval {format_bounds(low, high, margin)}"


def _main(context: _Context) -> Iterator[str]:
    pick, best = context.pick, context.pick.best
    if best is None:
        yield _nothing(context)
    elif pick.choice is None:
        yield _undecided(context, best)
    elif pick.choice != best:
        yield _smaller(context, best, pick.choice)
    elif pick.sure:
        yield _best(context, best)
    else:
        yield _unsure(context, best)
    if pick.choice is not None and pick.toolset != context.arms[pick.choice].toolset:
        yield f"{context.name(pick.choice)} was {pick.toolset} here."


def _nothing(context: _Context) -> str:
    """Why there is no best toolset."""
    if context.pick.never_calls:
        return describe_only_never_calling([context.arms[arm] for arm in context.pick.never_calls], context.margin)
    states = {cell.state for cell in context.cells}
    why = next((describe_cell(cell) for cell in context.cells if cell.reasons), "")
    if states == {CellState.UNSUPPORTED}:
        return why or "It does not call tools."
    if any(cell.scored for cell in context.cells):
        return "Only toolsets that no model can be given were scored: they go by the case, or are experiments."
    if CellState.UNSCORED in states:
        why = next((describe_cell(cell) for cell in context.cells if cell.state is CellState.UNSCORED), "")
        return f"Nothing was scored: {why[0].lower()}{why[1:]}" if why else "Nothing was scored."
    return f"No toolset of this run fits it: {why[0].lower()}{why[1:]}" if why else "No toolset of this run fits it."


def _undecided(context: _Context, best: int) -> str:
    """Why there is a best toolset but no choice."""
    arm, as_measured = context.arms[best], _as_measured(context, best)
    if context.about.drafts:
        of = f"{context.about.drafts:,} of {plural(context.about.cases, 'case')}"
        return f"{as_measured}, but {of} are drafts, which prove nothing until somebody has reviewed them."
    if not is_answered(arm):
        return f"Too little is answered yet: {as_measured}, and {_lacking(arm)}."
    if share_right(arm) <= context.margin:
        if context.margin > MARGIN and share_right(arm):
            return f"A margin of {context.points} decides nothing: {as_measured}, which is no more."
        return f"No toolset does: {as_measured}, which is no more than the {context.points} that may be lost."
    return f"Only {context.name(best)} was asked ({context.share(best)}), so that there is nothing to choose from."


def _as_measured(context: _Context, best: int) -> str:
    arm = context.arms[best]
    return f"{context.name(best)} is the best as measured ({context.share(best)} of {plural(arm.scored, 'trial')})"


def _unsure(context: _Context, best: int) -> str:
    """The best, and what speaks against its being the best, by the rival that does most."""
    smallest = (
        " and the smallest" if context.pick.candidates[0].arm == best and len(context.pick.candidates) > 1 else ""
    )
    smallest += " of those it calls tools with" if smallest and context.pick.never_calls else ""
    return f"{_as_measured(context, best)}{smallest}; not sure: {_doubt(context, best)}."


def _doubt(context: _Context, best: int) -> str:
    against = [rival for rival in context.pick.rivals if not rival.holds]
    if not against:
        return f"too little is known of {_listed(_unknown(context))}"
    worst = min(against, key=lambda candidate: (not candidate.overflowing, _low(candidate)))
    name = context.name(worst.arm)
    if worst.overflowing:
        does = "does" if worst.overflowing == 1 else "do"
        return f"with it {plural(worst.overflowing, 'case')} that {_fit(worst.overflowing)} with {name} {does} not"
    more = f", and so may {plural(len(against) - 1, 'other')}" if len(against) > 1 else ""
    difference = "" if worst.contrast is None else format_accuracy_difference(worst.contrast, context.margin)
    interval = f" ({context.name(best)} less {name}: {difference})" if difference else ""
    return f"{name} may be better by more than {context.points}{interval}{more}"


def _unknown(context: _Context) -> list[str]:
    """Toolsets that may fit, and that the best was not compared with."""
    held = {rival.arm for rival in context.pick.rivals}
    others = other_cells(context.pick, context.arms, context.cells)
    return [cell.toolset for cell in others if cell.arm not in held and may_suit(cell, context.pick)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{plural(len(names), 'other')}"


def _low(candidate: Candidate) -> float:
    low = None if candidate.contrast is None else candidate.contrast.low
    return -1.0 if low is None else low


def _best(context: _Context, best: int) -> str:
    pick, share = context.pick, context.share(best)
    if not pick.rivals:
        does = "that it calls right tools with" if pick.never_calls else f"that fits it{_in_all(context)}"
        return f"{context.name(best)} is the only toolset of this run {does} ({share})."
    others = "any other that it calls tools with" if pick.never_calls else "any other"
    sure = (
        f"{context.name(best)} is the best ({share}), and surely not worse than {others} by more than {context.points}"
    )
    is_smallest = pick.candidates[0].arm == best
    smaller = "none of these is smaller" if pick.never_calls else "none is smaller"
    return f"{sure}; {smaller if is_smallest else 'no smaller one is sure to be that near to it'}."


def _in_all(context: _Context) -> str:
    """The condition, if other toolsets fit the model only in part."""
    return " in every case that any does" if any(candidate.overflowing for candidate in context.pick.candidates) else ""


def _smaller(context: _Context, best: int, choice: int) -> str:
    contrast = next(candidate.contrast for candidate in context.pick.candidates if candidate.arm == choice)
    assert contrast is not None  # noqa: S101  it was compared with the best
    assert contrast.old is not None and contrast.new is not None  # noqa: S101, PT018  it holds, so it has figures
    over = f"{contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else "all cases"
    figures = f"{format_accuracy_percent(contrast.new)} against {format_accuracy_percent(contrast.old)} over {over}"
    difference = format_accuracy_difference(contrast, context.margin, context.pick.level)
    return (
        f"{context.name(choice)} is the smallest that is surely within {context.points} of the best, "
        f"{context.name(best)}: {figures} ({difference}){_saved(context.arms[choice], context.arms[best])}."
    )


def _saved(chosen: ArmSummary, best: ArmSummary) -> str:
    few, many = chosen.definition_tokens_total, best.definition_tokens_total
    if few is None or not many or few >= many:
        return ""
    return f", with {format_whole_percent(1 - few / many)} fewer definition tokens"


def _promise(context: _Context) -> Iterator[str]:
    """How many cases would settle a doubtful choice."""
    pick = context.pick
    if pick.choice is not None and not pick.sure and not any(rival.overflowing for rival in pick.rivals):
        contrasts = [rival.contrast for rival in pick.rivals if not rival.holds and rival.contrast is not None]
        if advice := describe_advice(contrasts, context.margin):
            yield f"To be sure of {context.name(pick.choice)}: {advice}."
    if pick.promising is None:
        return
    contrast = next(candidate.contrast for candidate in pick.candidates if candidate.arm == pick.promising)
    assert contrast is not None  # noqa: S101  it was compared with the best
    wanted_more = describe_advice([contrast], context.margin, pick.level)
    difference = format_accuracy_difference(contrast, context.margin, pick.level)
    yield (
        f"{context.name(pick.promising)} is smaller and looks good enough, but is not sure to be (against the best "
        f"{difference}){f': {wanted_more}' if wanted_more else ''}."
    )


def _too_long(context: _Context) -> Iterator[str]:
    """Smaller toolsets that are good enough, except that some cases no longer fit: they may grow, or the conversations
    get longer.
    """
    too_long = []
    for candidate in context.pick.candidates:
        if candidate.arm in (context.pick.choice, context.pick.best):
            break
        contrast = candidate.contrast
        if candidate.overflowing and contrast is not None and (contrast.difference or 0.0) > -context.margin:
            too_long.append(candidate)
    if len(too_long) > _FEW:
        yield f"{len(too_long):,} smaller ones do not fit it in cases that fit with the best."
        return
    for longer in too_long:
        cases = plural(longer.overflowing, "case")
        yield f"{context.name(longer.arm)} does not fit it in {cases} that {_fit(longer.overflowing)} with the best."


def _fit(count: int) -> str:
    return "fits" if count == 1 else "fit"


def _describe_never_calling(context: _Context) -> Iterator[str]:
    """Toolsets that are left out because the model called nothing with them, where another one is the best."""
    if context.pick.best is not None:
        yield from describe_never_calling([context.arms[arm] for arm in context.pick.never_calls], context.margin)


def _set_aside(context: _Context) -> Iterator[str]:
    if context.pick.best is None:
        return
    best = context.arms[context.pick.best]
    arms = [
        arm
        for arm in context.arms
        if arm.model == best.model and arm is not best and is_assignable(arm) and not is_answered(arm)
    ]
    if len(arms) > _FEW:
        yield f"{', '.join(arm.toolset_label for arm in arms)} were not considered: too many trials lack an answer."
        return
    yield from (f"{arm.toolset_label} was not considered: {_lacking(arm)}." for arm in arms)


def _lacking(arm: ArmSummary) -> str:
    missing = count_unanswered(arm)
    return f"{missing:,} of {plural(arm.planned, 'trial')} {'lacks' if missing == 1 else 'lack'} an answer"


_FEW_EACH = 2
"""Toolsets that get a clause each."""
_MOST_NAMED = 4


def describe_never_calling(arms: Sequence[ArmSummary], margin: float) -> tuple[str, ...]:
    """Why they are not recommended, a sentence each.

    Args:
        arms: Of one model, for each of which `candidates.hardly_calls` is true.
        margin: Accuracy that may be lost, a fraction.
    """
    return tuple(f"{text[0].upper()}{text[1:]}." for text in _describe_no_calls(arms, margin))


def describe_only_never_calling(arms: Sequence[ArmSummary], margin: float) -> str:
    """Why no toolset is recommended if the model calls no right tool with any of those scored; or why the margin is too
    wide.

    Args:
        arms: One or more, of one model, for each of which `candidates.hardly_calls` is true.
        margin: Accuracy that may be lost, a fraction.
    """
    best = max(arms, key=_share)
    right, of = count_calls(best)
    if right and margin > MARGIN:
        return (
            f"A margin of {format_margin(margin)} points decides nothing: the right tools were called in {right:,} of "
            f"{of:,} trials that need a call with {best.toolset_label}, the most of all, and that is no more, so that "
            "a toolset with which it never calls any would do."
        )
    return f"No toolset does: {'; '.join(_describe_no_calls(arms, margin))}."


def _share(arm: ArmSummary) -> float:
    right, of = count_calls(arm)
    return right / of if of else 0.0


def _describe_no_calls(arms: Sequence[ArmSummary], margin: float) -> Iterator[str]:
    silent = [arm for arm in arms if not count_calls(arm)[0]]
    abstaining = [arm for arm in silent if _abstained(arm)]
    if len(abstaining) > _FEW_EACH:
        yield f"it called no right tool with {_names(silent)}: its right answers are cases that need none"
    else:
        yield from (f"it called no right tool with {arm.toolset_label}: {_instead(arm)}" for arm in abstaining)
        if others := [arm for arm in silent if arm not in abstaining]:
            yield f"it called no right tool with {_names(others)}"
    if few := [arm for arm in arms if arm not in silent]:
        right, of = max((count_calls(arm) for arm in few), key=lambda counts: counts[0] / counts[1])
        yield (
            f"with {_names(few)} it called the right tools in {'no more than ' if len(few) > 1 else ''}{right:,} of "
            f"{of:,} trials that need a call, which the margin of {format_margin(margin)} points counts as zero"
        )


def _names(arms: Sequence[ArmSummary]) -> str:
    return ", ".join(arm.toolset_label for arm in arms) if len(arms) <= _MOST_NAMED else plural(len(arms), "toolset")


def _instead(arm: ArmSummary) -> str:
    count = _abstained(arm)
    return (
        f"its {count:,} right answers are cases that need none"
        if count > 1
        else "its one right answer is a case that needs none"
    )


def _abstained(arm: ArmSummary) -> int:
    return arm.abstention.numerator
