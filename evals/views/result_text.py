"""The result of a run in plain English: one sentence, and a title; every report begins or ends with them."""

from __future__ import annotations

from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_margin, format_points
from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.models.model import is_word_matching
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.render.numbers import ESTIMATED, format_cost, format_glance, format_percent, format_share
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
        right = f"{format_share(reference.accuracy.value)} right"
        return f"{_name(result, reference)}: {right} over {plural(result.cases, 'case')} of {result.dataset}"
    if result.is_reference:
        if undecided := result.count(TradeOff.UNDECIDED):
            rivals = plural(undecided, "other toolset")
            return f"{_name(result, reference)} for now: {rivals} undecided"
        return f"{_name(result, reference)}: no smaller toolset is as accurate"
    name, other = _name(result, recommended), _other(result)
    gain = _gain(result, other)
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
        low, high = reference.accuracy.low, reference.accuracy.high
        interval = "" if low is None or high is None else f" (95% interval {100 * low:.1f} to {100 * high:.1f})"
        text = f"{_name(result, reference)} is right in {format_share(reference.accuracy.value)} of cases{interval}"
        return f"{text}{_amounts(reference)}."
    if result.is_reference:
        return _stays(result, reference)
    contrast = result.contrast
    name, other = _name(result, recommended), _other(result)
    figures = ""
    if contrast is not None and contrast.low is not None and contrast.high is not None:
        shares = f"{format_share(contrast.new)} against {format_share(contrast.old)} right"
        figures = f" ({shares}; difference {format_bounds(contrast.low, contrast.high, result.margin)} points)"
    text = f"Take {name}: it is {_gain(result, other)}{figures}"
    tokens = _saved_tokens(result, recommended, reference)
    return f"{text}{f', and takes {tokens}' if tokens else ''}{_dollars(result)}."


def _stays(result: RunResult, reference: ArmSummary) -> str:
    less = result.count(TradeOff.LESS_ACCURATE, TradeOff.UNREACHABLE, TradeOff.TOO_LONG)
    undecided = result.count(TradeOff.UNDECIDED)
    near = result.count(TradeOff.NOT_WORSE, TradeOff.MORE_ACCURATE)
    which = "which" if undecided == 1 else "one of which"
    wanted = f", {which} about {format_glance(result.cases_wanted)} cases would decide" if result.cases_wanted else ""
    others = [
        f"{count:,} {words}"
        for count, words in (
            (less, "less accurate or unable to reach the answer"),
            (undecided, f"undecided{wanted}"),
            (near, "as accurate, but not surely with fewer tokens"),
        )
        if count
    ]
    name, margin = _name(result, reference), format_margin(result.margin)
    text = (
        f"Stay with {name} ({format_share(reference.accuracy.value)} right{_amounts(reference)}): "
        f"no smaller toolset is surely within {margin} points of it"
    )
    return f"{text} ({'; '.join(others)})." if others else f"{text}."


def _evidence(result: RunResult) -> str:
    epochs = times_epochs(result.epochs, result.arm_epochs)
    others = (
        f", the most accurate of {plural(result.models, 'model')}" if result.models > 1 and result.recommended else ""
    )
    model = f"; {describe_model(result.model)}{others}" if result.model else ""
    unfinished = "" if result.is_complete else "; the run is not finished"
    return f"{plural(result.cases, 'case')}{epochs} of {result.dataset}{model}{unfinished}."


def _name(result: RunResult, arm: ArmSummary) -> str:
    return arm.label if result.models > 1 else arm.toolset_label


def _other(result: RunResult) -> str:
    """The name of the reference, without the model where it is that of the recommended arm."""
    reference, recommended = result.reference, result.recommended
    assert reference is not None  # noqa: S101  there is a recommended arm
    same = recommended is not None and recommended.model == reference.model
    return reference.toolset_label if same else reference.label


def _gain(result: RunResult, other: str) -> str:
    contrast = result.contrast
    if result.trade_off is TradeOff.MORE_ACCURATE and contrast is not None and contrast.difference is not None:
        return f"{format_points(contrast.difference).lstrip('+')} points more accurate than {other}"
    return f"not worse than {other} by more than {format_margin(result.margin)} points"


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
