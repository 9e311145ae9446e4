"""Why a toolset is recommended for a model, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from toolbelt.evals.analysis.comparison.comparison import LEVEL, Contrast
from toolbelt.evals.analysis.comparison.comparison_text import format_advice
from toolbelt.evals.analysis.comparison.number_format import (
    describe_asked,
    format_bounds,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.matrix.matrix import Pick
from toolbelt.evals.analysis.matrix.note_text import describe_cell
from toolbelt.evals.analysis.matrix.pick_reasons import (
    BestOverflows,
    CasesWanted,
    ChoiceReason,
    ConcreteToolset,
    Doubt,
    FurtherReason,
    HardlyRight,
    MaybeBetter,
    MeasuredToolset,
    MissingAnswers,
    NeverCalls,
    NoBest,
    NoChoiceReason,
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
from toolbelt.evals.analysis.summary.run_summary import Rate
from toolbelt.text import plural

_FEW = 2
"""Toolsets that get a sentence or a clause each."""
_MOST_NAMES = 4
"""Toolsets that are named; more of them are counted."""


def describe_pick(pick: Pick) -> tuple[str, ...]:
    """Why a toolset is recommended or none is, then what else to know, a sentence each; names are not made safe."""
    return tuple(sentence for reason in pick.reasons for sentence in _describe(reason))


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


def _describe(reason: PickReason) -> Iterator[str]:
    if isinstance(reason, FurtherReason):
        yield from _describe_further(reason)
    elif isinstance(reason, ChoiceReason):
        yield f"{_describe_choice(reason)}."
    else:
        yield _describe_no_choice(reason)


def _points(margin: float) -> str:
    return f"{format_margin(margin)} points"


def _share(best: MeasuredToolset) -> str:
    share = format_accuracy(best.right_of_asked)
    return f"{share} of {_asked(best)}" if best.too_long else share


def _asked(best: MeasuredToolset) -> str:
    return describe_asked(best.right_of_asked.denominator, best.too_long)


def _as_measured(best: MeasuredToolset) -> str:
    return f"{best.toolset} is the best as measured ({format_accuracy(best.right_of_asked)} of {_asked(best)})"


# Why there is no choice


def _describe_no_choice(reason: NoChoiceReason) -> str:
    match reason:
        case NoBest():
            return _no_best(reason)
        case NoneCalls():
            return f"No toolset does: {'; '.join(_no_calls(reason.arms, reason.margin))}."
        case WideMargin():
            return f"A margin of {_points(reason.margin)} decides nothing: {_too_wide(reason.best)}."
        case UnreviewedCases():
            of = f"{reason.drafts:,} of {plural(reason.cases, 'case')}"
            unproven = "are drafts, which prove nothing until somebody has reviewed them"
            return f"{_as_measured(reason.best)}, but {of} {unproven}."
        case TooFewAnswers():
            return f"Too little is answered yet: {_as_measured(reason.best)}, and {_lacking(reason.answers)}."
        case HardlyRight():
            no_more = f"which is no more than the {_points(reason.margin)} that may be lost"
            return f"No toolset does: {_as_measured(reason.best)}, {no_more}."
        case OnlyOneAsked():
            best = reason.best
            return f"Only {best.toolset} was asked ({_share(best)}), so that there is nothing to choose from."
        case _:
            assert_never(reason)


def _no_best(reason: NoBest) -> str:
    why = "" if reason.cell is None else describe_cell(reason.cell)
    clause = f": {why[0].lower()}{why[1:]}" if why else "."
    match reason.why:
        case NothingMeasured.NO_TOOL_CALLING:
            return why or "It does not call tools."
        case NothingMeasured.ONLY_UNASSIGNABLE:
            return "Only toolsets that no model can be given were scored: they depend on the case, or are experiments."
        case NothingMeasured.NOTHING_SCORED:
            return f"Nothing was scored{clause}"
        case NothingMeasured.NOTHING_FITS:
            return f"No toolset of this run fits it{clause}"
        case _:
            assert_never(reason.why)


def _too_wide(best: ToolCalls | MeasuredToolset) -> str:
    if isinstance(best, MeasuredToolset):
        return f"{_as_measured(best)}, which is no more"
    return (
        f"the right tools were called in {best.right:,} of {best.trials:,} trials that need a call with "
        f"{best.toolset}, the most of all, and that is no more, so that a toolset with which it never calls any would "
        "do"
    )


# Why the choice is what it is


def _describe_choice(reason: ChoiceReason) -> str:
    match reason:
        case SmallerChoice():
            return _smaller(reason)
        case OnlyCandidate():
            in_all = " in every case that any does" if reason.is_only_in_all else ""
            does = "that it calls right tools with" if reason.is_only_calling else f"that fits it{in_all}"
            return f"{reason.best.toolset} is the only toolset of this run {does} ({_share(reason.best)})"
        case SureBest():
            return _sure(reason)
        case UnsureBest():
            smallest = " and the smallest" if reason.is_smallest else ""
            smallest += " of those it calls tools with" if smallest and reason.is_of_calling else ""
            return f"{_as_measured(reason.best)}{smallest}; not sure: {_describe_doubt(reason.doubt, reason.best)}"
        case _:
            assert_never(reason)


def _smaller(reason: SmallerChoice) -> str:
    contrast = reason.contrast
    assert contrast.old is not None and contrast.new is not None  # noqa: S101, PT018  it holds, so it has figures
    over = f"{contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else "all cases"
    figures = f"{format_accuracy_percent(contrast.new)} against {format_accuracy_percent(contrast.old)} over {over}"
    difference = format_accuracy_difference(contrast, reason.margin, reason.level)
    saved = "" if reason.saved is None else f", with {format_whole_percent(reason.saved)} fewer definition tokens"
    return (
        f"{reason.toolset} is the smallest that is surely within {_points(reason.margin)} of the best, "
        f"{reason.best}: {figures} ({difference}){saved}"
    )


def _sure(reason: SureBest) -> str:
    others, these = ("any other that it calls tools with", " of these") if reason.is_of_calling else ("any other", "")
    best = f"{reason.best.toolset} is the best ({_share(reason.best)})"
    smaller = f"none{these} is smaller" if reason.is_smallest else "no smaller one is sure to be that near to it"
    return f"{best}, and surely not worse than {others} by more than {_points(reason.margin)}; {smaller}"


def _describe_doubt(doubt: Doubt, best: MeasuredToolset) -> str:
    match doubt:
        case UncomparedToolsets():
            return f"too little is known of {_name_others(doubt.toolsets)}"
        case BestOverflows():
            does = "does" if doubt.cases == 1 else "do"
            return f"with it {plural(doubt.cases, 'case')} that {_fit(doubt.cases)} with {doubt.rival} {does} not"
        case MaybeBetter():
            more = f", and so may {plural(doubt.others, 'other')}" if doubt.others else ""
            difference = "" if doubt.contrast is None else format_accuracy_difference(doubt.contrast, doubt.margin)
            interval = f" ({best.toolset} less {doubt.rival}: {difference})" if difference else ""
            return f"{doubt.rival} may be better by more than {_points(doubt.margin)}{interval}{more}"
        case _:
            assert_never(doubt)


def _name_others(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{plural(len(names), 'other')}"


# What else to know


def _describe_further(reason: FurtherReason) -> Iterator[str]:
    match reason:
        case ConcreteToolset():
            yield f"{reason.toolset} was {reason.concrete} here."
        case CasesWanted():
            yield f"To be sure of {reason.toolset}: {format_advice(reason.advice)}."
        case PromisingToolset():
            difference = format_accuracy_difference(reason.contrast, reason.margin, reason.level)
            advice = f": {format_advice(reason.advice)}" if reason.advice.helps else ""
            unsure = f"but is not sure to be (against the best {difference})"
            yield f"{reason.toolset} is smaller and looks good enough, {unsure}{advice}."
        case TooLongToolsets():
            yield from _too_long(reason)
        case NeverCalls():
            yield from (f"{text[0].upper()}{text[1:]}." for text in _no_calls(reason.arms, reason.margin))
        case NotConsidered():
            yield from _not_considered(reason)
        case _:
            assert_never(reason)


def _too_long(reason: TooLongToolsets) -> Iterator[str]:
    if len(reason.toolsets) > _FEW:
        yield f"{len(reason.toolsets):,} smaller ones do not fit it in cases that fit with the best."
        return
    for toolset, cases in reason.toolsets:
        yield f"{toolset} does not fit it in {plural(cases, 'case')} that {_fit(cases)} with the best."


def _fit(count: int) -> str:
    return "fits" if count == 1 else "fit"


def _not_considered(reason: NotConsidered) -> Iterator[str]:
    if len(reason.arms) > _FEW:
        names = ", ".join(arm.toolset for arm in reason.arms)
        yield f"{names} were not considered: too many trials lack an answer."
        return
    yield from (f"{arm.toolset} was not considered: {_lacking(arm)}." for arm in reason.arms)


def _lacking(answers: MissingAnswers) -> str:
    lack = "lacks" if answers.missing == 1 else "lack"
    return f"{answers.missing:,} of {plural(answers.planned, 'trial')} {lack} an answer"


def _no_calls(arms: Sequence[ToolCalls], margin: float) -> Iterator[str]:
    """That the model called no right tool, or few: a clause for each toolset, as long as they are few."""
    silent = [arm for arm in arms if not arm.right]
    abstaining = [arm for arm in silent if arm.abstained]
    if len(abstaining) > _FEW:
        yield f"it called no right tool with {_name_toolsets(silent)}: its right answers are cases that need none"
    else:
        yield from (f"it called no right tool with {arm.toolset}: {_instead(arm)}" for arm in abstaining)
        if others := [arm for arm in silent if arm not in abstaining]:
            yield f"it called no right tool with {_name_toolsets(others)}"
    if few := [arm for arm in arms if arm.right]:
        most = max(few, key=lambda arm: arm.share)
        yield (
            f"with {_name_toolsets(few)} it called the right tools in {'no more than ' if len(few) > 1 else ''}"
            f"{most.right:,} of {most.trials:,} trials that need a call, which the margin of {_points(margin)} counts "
            "as zero"
        )


def _name_toolsets(arms: Sequence[ToolCalls]) -> str:
    return ", ".join(arm.toolset for arm in arms) if len(arms) <= _MOST_NAMES else plural(len(arms), "toolset")


def _instead(arm: ToolCalls) -> str:
    if arm.abstained == 1:
        return "its one right answer is a case that needs none"
    return f"its {arm.abstained:,} right answers are cases that need none"
