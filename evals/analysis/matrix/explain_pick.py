"""Finds why a toolset is recommended for a model, or why none is (rule E7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.comparison import MARGIN
from toolbelt.evals.analysis.comparison.sample_size import find_advice
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.matrix.candidates import (
    count_calls,
    count_unanswered,
    is_answered,
    is_assignable,
    may_suit,
    other_cells,
)
from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Candidate, Pick
from toolbelt.evals.analysis.matrix.pick_reasons import (
    BestOverflows,
    CasesWanted,
    ConcreteToolset,
    Doubt,
    HardlyRight,
    MaybeBetter,
    MeasuredToolset,
    MissingAnswers,
    NeverCalls,
    NoBest,
    NoneCalls,
    NotConsidered,
    NothingMeasured,
    OnlyCandidate,
    OnlyOneAsked,
    PickReason,
    PromisingToolset,
    SmallerChoice,
    SureBest,
    TooFewAnswers,
    ToolCalls,
    TooLongToolsets,
    UncomparedToolsets,
    UnreviewedCases,
    UnsureBest,
    WideMargin,
)
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import shorten_toolset


@dataclass(frozen=True)
class _Context:
    """What the reasons are about.

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

    def name(self, arm: int) -> str:
        """The label of the arm's toolset."""
        return self.arms[arm].toolset_label

    def loses_by_length_alone(self, arm: int) -> bool:
        """Whether an arm is as accurate as the best, within the margin, of what each was scored on."""
        best = self.pick.best
        shares = [self.arms[place].accuracy.value or 0.0 for place in (arm, arm if best is None else best)]
        return shares[0] - shares[1] > -self.margin

    def measured(self, arm: int) -> MeasuredToolset:
        """The arm's accuracy."""
        return MeasuredToolset(self.name(arm), self.arms[arm].right_of_asked, self.arms[arm].too_long)


def find_pick_reasons(
    pick: Pick, summary: RunSummary, about: SideInfo, cells: Mapping[tuple[str, str], Cell], margin: float
) -> tuple[PickReason, ...]:
    """Why what was chosen was, or why nothing was; then what else is to be known.

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
        *_explain_choice(context),
        *_find_promise(context),
        *_find_too_long(context),
        *_find_never_calling(context),
        *_find_unconsidered(context),
    )


def _explain_choice(context: _Context) -> Iterator[PickReason]:
    pick, best = context.pick, context.pick.best
    if best is None:
        yield _explain_nothing(context)
        return
    if pick.choice is None:
        yield _explain_no_choice(context, best)
        return
    if pick.choice != best:
        yield _explain_smaller(context, best, pick.choice)
    elif pick.sure:
        yield _explain_sure(context, best)
    else:
        yield UnsureBest(
            context.measured(best),
            is_smallest=pick.candidates[0].arm == best and len(pick.candidates) > 1,
            is_of_calling=bool(pick.never_calls),
            doubt=_find_doubt(context),
        )
    if pick.toolset != shorten_toolset(context.arms[pick.choice].toolset):
        yield ConcreteToolset(context.name(pick.choice), pick.toolset)


def _explain_nothing(context: _Context) -> PickReason:
    """Why there is no best toolset."""
    if context.pick.never_calls:
        calls = _count_calls(context)
        most = max(calls, key=lambda each: each.share)
        if most.right and context.margin > MARGIN:
            return WideMargin(most, context.margin)
        return NoneCalls(calls, context.margin)
    states = {cell.state for cell in context.cells}
    explained = next((cell for cell in context.cells if cell.reasons), None)
    if states == {CellState.UNSUPPORTED}:
        return NoBest(NothingMeasured.NO_TOOL_CALLING, explained)
    if any(cell.scored for cell in context.cells):
        return NoBest(NothingMeasured.ONLY_UNASSIGNABLE)
    if CellState.UNSCORED in states:
        unscored = next(cell for cell in context.cells if cell.state is CellState.UNSCORED)
        return NoBest(NothingMeasured.NOTHING_SCORED, unscored)
    return NoBest(NothingMeasured.NOTHING_FITS, explained)


def _explain_no_choice(context: _Context, best: int) -> PickReason:
    """Why there is a best toolset but no choice."""
    arm, measured = context.arms[best], context.measured(best)
    if context.about.drafts:
        return UnreviewedCases(measured, context.about.drafts, context.about.cases)
    if not is_answered(arm):
        return TooFewAnswers(measured, _count_missing(arm))
    right = arm.right_of_asked.value or 0.0
    if right > context.margin:
        return OnlyOneAsked(measured)
    if context.margin > MARGIN and right:
        return WideMargin(measured, context.margin)
    return HardlyRight(measured, context.margin)


def _explain_smaller(context: _Context, best: int, choice: int) -> SmallerChoice:
    contrast = next(candidate.contrast for candidate in context.pick.candidates if candidate.arm == choice)
    assert contrast is not None  # noqa: S101  it was compared with the best
    few, many = (context.arms[arm].definition_tokens_total for arm in (choice, best))
    saved = None if few is None or not many or few >= many else 1 - few / many
    return SmallerChoice(context.name(choice), context.name(best), contrast, context.margin, context.pick.level, saved)


def _explain_sure(context: _Context, best: int) -> OnlyCandidate | SureBest:
    pick, measured, is_of_calling = context.pick, context.measured(best), bool(context.pick.never_calls)
    if not pick.rivals:
        overflows = any(candidate.overflowing for candidate in pick.candidates)
        return OnlyCandidate(measured, is_only_calling=is_of_calling, is_only_in_all=overflows)
    is_smallest = pick.candidates[0].arm == best
    return SureBest(measured, context.margin, is_smallest=is_smallest, is_of_calling=is_of_calling)


def _find_doubt(context: _Context) -> Doubt:
    """What speaks against the best's being the best, by the rival that does most."""
    against = [rival for rival in context.pick.rivals if not rival.holds]
    if not against:
        return UncomparedToolsets(tuple(_find_uncompared(context)))
    worst = min(against, key=lambda candidate: (not candidate.overflowing, _low(candidate)))
    if worst.overflowing:
        return BestOverflows(context.name(worst.arm), worst.overflowing)
    return MaybeBetter(context.name(worst.arm), worst.contrast, context.margin, len(against) - 1)


def _find_uncompared(context: _Context) -> list[str]:
    """Toolsets that may fit, and that the best was not compared with."""
    held = {rival.arm for rival in context.pick.rivals}
    others = other_cells(context.pick, context.arms, context.cells)
    return [cell.toolset for cell in others if cell.arm not in held and may_suit(cell, context.pick)]


def _low(candidate: Candidate) -> float:
    low = None if candidate.contrast is None else candidate.contrast.low
    return -1.0 if low is None else low


def _find_promise(context: _Context) -> Iterator[PickReason]:
    """What would settle a doubtful choice."""
    pick = context.pick
    if pick.choice is not None and not pick.sure and pick.advice is not None and pick.advice.helps:
        yield CasesWanted(context.name(pick.choice), pick.advice)
    if pick.promising is None:
        return
    contrast = next(candidate.contrast for candidate in pick.candidates if candidate.arm == pick.promising)
    assert contrast is not None  # noqa: S101  it was compared with the best
    advice = find_advice([contrast], context.margin, pick.level)
    yield PromisingToolset(context.name(pick.promising), contrast, context.margin, pick.level, advice)


def _find_too_long(context: _Context) -> Iterator[TooLongToolsets]:
    """Smaller toolsets that are good enough, except that some cases no longer fit: they may grow, or the conversations
    get longer.
    """
    too_long = []
    for candidate in context.pick.candidates:
        if candidate.arm in (context.pick.choice, context.pick.best):
            break
        if candidate.overflowing and context.loses_by_length_alone(candidate.arm):
            too_long.append((context.name(candidate.arm), candidate.overflowing))
    if too_long:
        yield TooLongToolsets(tuple(too_long))


def _find_never_calling(context: _Context) -> Iterator[NeverCalls]:
    """Toolsets that are left out because the model called nothing with them, where another one is the best."""
    if context.pick.best is not None and context.pick.never_calls:
        yield NeverCalls(_count_calls(context), context.margin)


def _count_calls(context: _Context) -> tuple[ToolCalls, ...]:
    arms = (context.arms[arm] for arm in context.pick.never_calls)
    return tuple(ToolCalls(arm.toolset_label, *count_calls(arm), arm.abstention.numerator) for arm in arms)


def _find_unconsidered(context: _Context) -> Iterator[NotConsidered]:
    if context.pick.best is None:
        return
    best = context.arms[context.pick.best]
    arms = [
        arm
        for arm in context.arms
        if arm.model == best.model
        and arm is not best
        and is_assignable(arm, by_role=context.pick.by_role)
        and not is_answered(arm)
    ]
    if arms:
        yield NotConsidered(tuple(map(_count_missing, arms)))


def _count_missing(arm: ArmSummary) -> MissingAnswers:
    return MissingAnswers(arm.toolset_label, count_unanswered(arm), arm.planned)
