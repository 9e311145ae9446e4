"""The top of the page: the verdict and the notes to read first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Confusion, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import pair_names, sentence
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_points
from toolbelt.evals.analysis.comparison.reason_text import describe_notes, describe_reason, describe_reasons
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.arms import arm_names
from toolbelt.evals.views.figures import status_lines, uncovered_line
from toolbelt.render.numbers import NOTHING, format_cost, format_interval, format_number, format_seconds, format_share
from toolbelt.text import plural

MOST_FLIPS = 200
"""Flipped cases of a pair that are listed; the rest are counted."""
MOST_CONFUSIONS = 20
MOST_OVERFLOWING = 20
_WORDS = {
    Verdict.REGRESSION: "Regression",
    Verdict.NO_REGRESSION: "No regression",
    Verdict.INSUFFICIENT_DATA: "Not enough data",
}
_CHECK_WORDS = {
    Verdict.REGRESSION: "Failed",
    Verdict.NO_REGRESSION: "Passed",
    Verdict.INSUFFICIENT_DATA: "Undecided",
}
_RANK = (Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA, Verdict.NO_REGRESSION)
_BADGES = (*(verdict.value for verdict in _RANK[:2]), "none", _RANK[2].value)
_MARKS = {Verdict.REGRESSION: "✕", Verdict.NO_REGRESSION: "✓", Verdict.INSUFFICIENT_DATA: "?"}


def verdict_values(summary: RunSummary, comparison: Comparison | None, gate: GateResult | None) -> dict[str, Any]:
    """The values of the top of the page.

    Returns:
        `badge` (`mark`, `word`, `verdict`; `None` where there is no one verdict), `lead`: sentences, `checks` of a
        gate, the worst first, `pairs`: verdict and sentence each of a comparison, but not what a check of the gate
        says already, `notes`: what must be known first.
    """
    comparison = comparison or (gate.comparison if gate else None)
    pairs = [] if comparison is None or not comparison.is_comparable else _sentences(comparison, gate)
    if gate is not None:
        pairs = [pair for pair in pairs if pair["verdict"] == Verdict.NO_REGRESSION.value]
    values: dict[str, Any] = {"badge": None, "lead": [], "checks": [], "pairs": pairs}
    if gate is not None:
        values["badge"] = badge(gate.verdict)
        values["lead"] = [_gate_lead(gate)]
        values["checks"] = [
            {**_check_badge(check.verdict), "check": check, "message": describe_check_reason(check)}
            for check in _worst_first(gate)
        ]
    elif comparison is not None and not comparison.is_comparable:
        values["lead"] = [f"{_sides(comparison)} cannot be compared.", *describe_reasons(comparison)]
    elif comparison is not None and comparison.pairs:
        values["lead"] = [_comparison_lead(comparison)]
    else:
        values["lead"] = _run_lead(summary, is_compared=comparison is not None)
    values["notes"] = list(
        dict.fromkeys([*(describe_notes(comparison) if comparison else ()), *_drafts(summary), *status_lines(summary)])
    ) + [line for line in (uncovered_line(summary),) if line]
    return values


def badge(verdict: Verdict | None) -> dict[str, Any]:
    """A verdict as a sign and in words, readable without colour."""
    if verdict is None:
        return {"mark": "·", "word": "No verdict", "verdict": "none"}
    return {"mark": _MARKS[verdict], "word": _WORDS[verdict], "verdict": verdict.value}


def _check_badge(verdict: Verdict) -> dict[str, Any]:
    return {"mark": _MARKS[verdict], "word": _CHECK_WORDS[verdict], "verdict": verdict.value}


def _worst_first(gate: GateResult) -> list[GateCheck]:
    return sorted(gate.checks, key=lambda check: _RANK.index(check.verdict))


def pair_values(comparison: Comparison | None, summary: RunSummary) -> list[dict[str, Any]]:
    """The pairs of a comparison in full: contrasts, what coverage and selection did, flips, confusions, kinds.

    `place` is the position of the new arm in the run, `None` where it is of another; `is_worst` is true of one pair.
    """
    if comparison is None or not comparison.is_comparable or not comparison.pairs:
        return []
    pairs = [_pair(comparison, pair, _place(comparison, pair.new, summary)) for pair in comparison.pairs]
    worst = min(pairs, key=lambda pair: _BADGES.index(pair["badge"]["verdict"]))
    return [{**pair, "is_worst": pair is worst} for pair in pairs]


def _place(comparison: Comparison, arm: ArmName, summary: RunSummary) -> int | None:
    keys = [(row.model, row.toolset, row.variant) for row in summary.arms]
    return keys.index(arm.key) if comparison.new.name == summary.run and arm.key in keys else None


def _pair(comparison: Comparison, pair: ArmComparison, place: int | None) -> dict[str, Any]:
    old, new = pair_names(comparison, pair)
    judged = _judged(pair)
    return {
        "old": old,
        "new": new,
        "place": place,
        "badge": badge(pair.verdict_by(judged)),
        "sentence": sentence(comparison, pair, judged),
        "contrasts": [_contrast(contrast, comparison.margin) for contrast in pair.contrasts],
        "overflowing": pair.newly_overflowing[:MOST_OVERFLOWING],
        "more_overflowing": max(0, len(pair.newly_overflowing) - MOST_OVERFLOWING),
        "contribution": _contribution(pair),
        "worse": sum(flip.change < 0 for flip in pair.flips),
        "better": sum(flip.change > 0 for flip in pair.flips),
        "flips": [
            {
                "case": flip.case,
                "kind": flip.kind,
                "change": "worse" if flip.change < 0 else "better",
                "old": _attempt(flip.old),
                "new": _attempt(flip.new),
            }
            for flip in pair.flips[:MOST_FLIPS]
        ],
        "more_flips": max(0, len(pair.flips) - MOST_FLIPS),
        "confusions": [_confusion(each) for each in pair.confusions[:MOST_CONFUSIONS] if each.old != each.new],
        "parts": [
            {
                "kind": part.kind,
                "cases": part.cases,
                "worse": part.worse,
                "better": part.better,
                "old": format_share(part.old),
                "new": format_share(part.new),
            }
            for part in pair.parts
        ],
        "unpaired": [f"{group.cases:,} {group.label}" for group in pair.unpaired],
    }


def _contrast(contrast: Contrast, margin: float) -> dict[str, Any]:
    show = _share if contrast.measure.is_share else _SHOW[contrast.measure]
    low, high = contrast.low, contrast.high
    if contrast.difference is None:
        difference, interval = NOTHING, "; ".join(map(describe_reason, contrast.reasons))
    elif contrast.measure.is_share:
        difference = f"{format_points(contrast.difference)} points"
        interval = "" if low is None or high is None else format_bounds(low, high, margin)
    elif contrast.ratio is not None:
        low, high = contrast.ratio_low, contrast.ratio_high
        difference = format_change(contrast.ratio)
        interval = "" if low is None or high is None else f"{format_change(low)} to {format_change(high)}"
    else:
        difference, interval = show(contrast.difference), ""
    return {
        "measure": contrast.measure.value.removesuffix("_usd").removesuffix("_seconds").replace("_", " "),
        "old": show(contrast.old),
        "new": show(contrast.new),
        "difference": difference,
        "interval": interval,
        "p": NOTHING if contrast.adjusted_p is None else _p_value(contrast.adjusted_p),
        "verdict": badge(contrast.verdict) if contrast.measure.is_share else None,
        "reasons": () if contrast.difference is None else tuple(map(describe_reason, contrast.reasons)),
    }


def _share(share: float | None) -> str:
    return format_share(share)


_SHOW = {
    Measure.DEFINITION_TOKENS: format_number,
    Measure.PROMPT_TOKENS: format_number,
    Measure.REQUESTS: format_number,
    Measure.COST_USD: format_cost,
    Measure.LATENCY_SECONDS: format_seconds,
}


def _p_value(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _contribution(pair: ArmComparison) -> str:
    contribution = pair.contribution
    if contribution is None:
        return ""
    reached = [
        f"{plural(count, 'case')} {what}"
        for count, what in (
            (contribution.newly_uncovered, "can no longer be answered rightly"),
            (contribution.newly_covered, "can be answered rightly now"),
        )
        if count
    ]
    also = f" {' and '.join(reached)}." if reached else ""
    return (
        f"Coverage, {format_share(contribution.old_coverage)} before and "
        f"{format_share(contribution.new_coverage)} now, contributed {format_points(contribution.coverage)} points; "
        f"selection where a right answer could be reached, {format_share(contribution.old_selection)} before and "
        f"{format_share(contribution.new_selection)} now, {format_points(contribution.selection)}.{also}"
    )


def _attempt(attempt: Attempt) -> dict[str, Any]:
    called = None if attempt.called is None else ", ".join(attempt.called) or "nothing"
    if called is None and attempt.outcome.is_right_by_names:  # a baseline does not keep them
        called = "the right tools"
    missing, surplus = missing_and_surplus(attempt)
    missing_text = ", ".join(missing)
    if attempt.outcome is Outcome.WRONG_TOOL and attempt.missing and not (missing or surplus):
        missing_text = "another order"
    return {"outcome": attempt.outcome.value, "called": called, "wanted": missing_text}


def _confusion(confusion: Confusion) -> dict[str, Any]:
    return {
        "wanted": confusion.wanted or "nothing",
        "called": confusion.called or "nothing",
        "old": confusion.old,
        "new": confusion.new,
    }


def _sentences(comparison: Comparison, gate: GateResult | None) -> list[dict[str, Any]]:
    sentences = []
    for pair in comparison.pairs:
        measure = _judged(pair) if gate is None else gate.limits.measure
        sentences.append({**badge(pair.verdict_by(measure)), "text": sentence(comparison, pair, measure)})
    return sentences


def _judged(pair: ArmComparison) -> Measure:
    """The share that has a verdict; accuracy if both have one, or neither."""
    judged = [each.measure for each in pair.contrasts if each.measure.is_share and each.verdict is not None]
    return Measure.ACCURACY if Measure.ACCURACY in judged or not judged else judged[0]


def _gate_lead(gate: GateResult) -> str:
    against = f" against {gate.comparison.old.name}" if gate.comparison else ""
    conclusion = {
        Verdict.REGRESSION: "at least one check found a regression.",
        Verdict.NO_REGRESSION: "every check passed.",
        Verdict.INSUFFICIENT_DATA: "no check failed, but not all of them could be decided. This is not a pass.",
    }[gate.verdict]
    return f"The gate looked at run {gate.run.name}{against}: {conclusion}"


def _comparison_lead(comparison: Comparison) -> str:
    return f"{_sides(comparison)}, case by case, over the cases both were scored on."


def _sides(comparison: Comparison) -> str:
    if comparison.is_within:
        return f"The arms of {comparison.old.name}"
    return f"{comparison.new.name} against {comparison.old.name}"


def _run_lead(summary: RunSummary, *, is_compared: bool) -> list[str]:
    """The run's size and its best figures. A single run gives no verdict; two arms must be compared for one."""
    names = arm_names(summary)
    sentences = [f"{plural(len(summary.arms), 'arm')} over {plural(summary.cases, 'case')} of {summary.dataset}."]
    rated = [(arm.accuracy.value, place) for place, arm in enumerate(summary.arms) if arm.accuracy.value is not None]
    if rated:
        best, place = max(rated, key=lambda pair: (pair[0], -pair[1]))
        interval = format_interval(summary.arms[place].accuracy.low, summary.arms[place].accuracy.high)
        what = "Highest accuracy" if len(rated) > 1 else "Accuracy"
        sure = f" (95% interval {interval})" if interval else ""
        sentences.append(f"{what}: {names[place]}, {format_share(best)}{sure}.")
    if len(summary.arms) > 1:
        why = "No two arms could be compared" if is_compared else "No comparison was asked for"
        sentences.append(f"{why}, so nothing here says that one arm is better than another.")
    return sentences


def _drafts(summary: RunSummary) -> Sequence[str]:
    drafts = summary.settings.get("drafts") or 0
    if not drafts:
        return ()
    are = "is a draft" if drafts == 1 else "are drafts"
    return (f"{plural(drafts, 'case')} {are} that nobody has reviewed, so nothing may be proved by this run.",)
