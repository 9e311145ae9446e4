"""The result of a run in plain English: one sentence, and a title; every report begins or ends with them."""

from __future__ import annotations

from dataclasses import replace

from toolbelt.evals.analysis.comparison.number_format import (
    describe_asked,
    format_bounds,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.matrix.candidates import is_by_role
from toolbelt.evals.analysis.matrix.pick_reasons import CasesWanted, PromisingToolset
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.models.model import is_word_matching
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.render.numbers import (
    ESTIMATED,
    format_cost,
    format_glance,
    format_percent,
    format_share,
)
from toolbelt.text import plural

NOT_AN_LLM = "word-matching baseline, not an LLM"
"""Stands beside the model wherever a result names it."""


def describe_model(model: str) -> str:
    """A model's name; that of the word-matching baseline says what it is."""
    return f"{model} ({NOT_AN_LLM})" if is_word_matching(model) else model


def describe_trade_off(trade_off: TradeOff, margin: float) -> str:
    """The finding on an arm against another of the same run, in a few words."""
    return {
        TradeOff.MORE_ACCURATE: "more accurate",
        TradeOff.NOT_WORSE: f"not worse by more than {format_margin(margin)} points",
        TradeOff.LESS_ACCURATE: "less accurate",
        TradeOff.UNREACHABLE: "cannot reach the answer (coverage)",
        TradeOff.TOO_LONG: "too long for the model",
        TradeOff.UNDECIDED: "undecided",
        TradeOff.ORIENTATION: "for orientation only",
    }[trade_off]


def result_title(result: RunResult) -> str:
    """The result as a title; names are as they come, not made safe to show."""
    reference, recommended = result.reference, result.recommended
    if reference is None:
        return f"{result.dataset}: nothing scored yet"
    if recommended is None:
        trials = plural(reference.right_of_asked.denominator, _noun(result, reference))
        too_long = f", {reference.too_long:,} of them too long" if reference.too_long else ""
        right = f"{format_share(reference.right_of_asked.value)} right over {trials}"
        return f"{_name(result, reference)}: {right} of {result.dataset}{too_long}"
    name, other = _name(result, recommended), _other(result)
    if not result.is_sure:
        return f"{name} for now: the best as measured, not sure"
    if result.is_reference:
        return f"{name}: no smaller toolset is surely as accurate"
    gain = _gain(result, other) or f"the best, {format_share(recommended.right_of_asked.value)} right"
    saved = _saving(result)
    return f"{name}: {saved}, {gain}" if saved else f"{name}: {gain}"


def result_sentence(result: RunResult) -> str:
    """The result in one or two sentences: which toolset, how accurate, how many tokens and dollars, how many cases,
    which model; names are as they come.
    """
    return f"{_finding(result)} {_evidence(result)}"


def _finding(result: RunResult) -> str:
    reference, recommended = result.reference, result.recommended
    if reference is None:
        return "Nothing was scored yet, so there is no result."
    if recommended is None:
        rate = reference.right_of_asked
        low, high = rate.low, rate.high
        interval = "" if low is None or high is None else f" (95% interval {100 * low:.1f} to {100 * high:.1f})"
        text = f"{_name(result, reference)} is right in {format_share(rate.value)} of {_asked(result, reference)}"
        beside = ""
        if (less := result.outdone) is not None:
            beside = f"; {_name(result, less)}, which fewer cases fit, in {format_share(less.right_of_asked.value)}"
        return f"{text}{interval}{_amounts(reference)}{beside}."
    verb, now = "Stay with" if result.is_reference else "Take", "" if result.is_sure else " for now"
    why, *open_ = _reasons(result)
    text = f"{verb} {_name(result, recommended)}{now}: it is {why.removeprefix(f'{recommended.toolset_label} is ')}"
    return " ".join(filter(None, (text, _against(result, recommended, reference), *open_, _named(result))))


def _reasons(result: RunResult) -> tuple[str, ...]:
    """Why the arm is chosen, and what would settle what is open: the sentences of `toolbelt eval recommend`."""
    if result.pick is None:
        return ("chosen.",)
    first, *others = result.pick.reasons
    shown = (first, *(reason for reason in others if isinstance(reason, CasesWanted | PromisingToolset)))
    return describe_pick(replace(result.pick, reasons=shown))


def _against(result: RunResult, recommended: ArmSummary, reference: ArmSummary) -> str:
    """How it stands against the reference; the figures of accuracy only where the reason does not have them."""
    if result.is_reference:
        return ""
    tokens = _saved_tokens(result, recommended, reference)
    contrast, is_best = result.contrast, result.pick is not None and result.pick.choice == result.pick.best
    other = _other(result)
    if not is_best or contrast is None or contrast.low is None or contrast.high is None:
        return f"Against {other}, it takes {tokens}{_dollars(result)}." if tokens else ""
    shares = f"{format_share(contrast.new)} against {format_share(contrast.old)} right"
    if contrast.too_long or contrast.cases < result.cases:
        of = "" if contrast.cases == result.cases else f"{contrast.cases:,} of "
        shares += f" of {of}{plural(result.cases, 'case')} asked"
        shares += f", {contrast.too_long:,} of them too long for one or both" if contrast.too_long else ""
    figures = f"{shares}; difference {format_bounds(contrast.low, contrast.high, result.margin)} points"
    gain = _gain(result, other)
    text = f"It is {gain} ({figures})" if gain else f"Against {other}: {figures}"
    return f"{text}{f', and takes {tokens}' if tokens else ''}{_dollars(result)}."


def _named(result: RunResult) -> str:
    if result.recommended is None or not is_by_role(result.recommended):
        return ""
    named = f", which gets {result.named}" if result.named else ""
    return (
        f"As it depends on the role of each case, toolbelt.yaml cannot name it for a model{named}: serve each role its "
        "own (toolbelt serve NAME)."
    )


def _evidence(result: RunResult) -> str:
    epochs = times_epochs(result.epochs, result.arm_epochs)
    model = f"; {describe_model(result.model)}{_lead(result)}" if result.model else ""
    unfinished = "" if result.is_complete else "; the run is not finished"
    return f"{plural(result.cases, 'case')}{epochs} of {result.dataset}{model}{unfinished}."


def _lead(result: RunResult) -> str:
    """How the model stands against the others; empty where it is the only one."""
    lead = result.lead
    if lead is None:
        return ""
    shown, best = result.recommended or result.reference, lead.arm
    beside = [] if best is shown else [f"{format_share(best.right_of_asked.value)} right with {best.toolset_label}"]
    beside += [f"tied with {plural(lead.tied, 'other')}"] if lead.tied else []
    beside += [f"{lead.undecided:,} undecided"] if lead.undecided else []
    if (other := lead.failing) is not None:
        asked = other.right_of_asked
        right = f"{format_share(asked.value)} right of {plural(asked.denominator, 'trial')}"
        beside.append(f"{other.label}: {right}, {other.planned - asked.denominator:,} more without an answer")
    most = "the most accurate" if lead.tied or lead.undecided else "surely the most accurate"
    text = f", {most} of {plural(lead.models, 'model')}{' as measured' if lead.tied or lead.undecided else ''}"
    return f"{text} ({'; '.join(beside)})" if beside else text


def _asked(result: RunResult, arm: ArmSummary) -> str:
    return describe_asked(arm.right_of_asked.denominator, arm.too_long, _noun(result, arm))


def _noun(result: RunResult, arm: ArmSummary) -> str:
    """What the share is of: cases, if each was asked once and has an answer; else trials."""
    return "case" if arm.right_of_asked.denominator == arm.planned == result.cases else "trial"


def _name(result: RunResult, arm: ArmSummary) -> str:
    return arm.label if result.models > 1 else arm.toolset_label


def _other(result: RunResult) -> str:
    """The name of the reference, without the model where it is that of the recommended arm."""
    reference, recommended = result.reference, result.recommended
    assert reference is not None  # noqa: S101  there is a recommended arm
    same = recommended is not None and recommended.model == reference.model
    return reference.toolset_label if same else reference.label


def _gain(result: RunResult, other: str) -> str:
    """What it gains in accuracy for sure; empty where that is nothing."""
    contrast = result.contrast
    if result.trade_off is TradeOff.MORE_ACCURATE and contrast is not None and contrast.difference is not None:
        return f"{format_points(contrast.difference).lstrip('+')} points more accurate than {other}"
    is_kept = result.trade_off is TradeOff.NOT_WORSE
    return f"not worse than {other} by more than {format_margin(result.margin)} points" if is_kept else ""


def _saving(result: RunResult) -> str:
    saved = result.tokens_saved
    if saved is None:
        return ""
    if saved >= 0:
        return f"{format_percent(saved)} fewer prompt tokens"
    return f"{format_percent(-saved)} more prompt tokens"


def _saved_tokens(result: RunResult, recommended: ArmSummary, reference: ArmSummary) -> str:
    saving = _saving(result)
    if not saving:
        return ""
    return f"{saving} ({_tokens(recommended)} instead of {_tokens(reference)} a trial)"


def _tokens(arm: ArmSummary) -> str:
    mark = "" if arm.prompt_tokens_reported or arm.prompt_tokens is None else ESTIMATED
    return mark + format_glance(arm.prompt_tokens)


def _dollars(result: RunResult) -> str:
    recommended, reference = result.recommended, result.reference
    if recommended is None or reference is None or not (recommended.cost_usd or reference.cost_usd):
        return ""
    if recommended.cost_usd is None or reference.cost_usd is None:
        return ""
    return f", {format_cost(recommended.cost_usd)} instead of {format_cost(reference.cost_usd)}"


def _amounts(arm: ArmSummary) -> str:
    tokens = "" if arm.prompt_tokens is None else f", {_tokens(arm)} prompt tokens a trial"
    return tokens + (f", {format_cost(arm.cost_usd)} a trial" if arm.cost_usd else "")
