"""Each pair of a comparison in full, folded in the page."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Confusion, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import pair_names, sentence
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_points
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.findings import badge_values, find_badge, verdict_badge
from toolbelt.render.numbers import NOTHING, format_cost, format_number, format_seconds, format_share
from toolbelt.text import plural

MOST_FLIPS = 200
"""Flipped cases of a pair that are listed; the rest are counted."""
MOST_CONFUSIONS = 20
MOST_OVERFLOWING = 20
_RANK = (Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA, Verdict.NO_REGRESSION)


def pair_values(comparison: Comparison | None, summary: RunSummary) -> list[dict[str, Any]]:
    """The pairs of a comparison in full: contrasts, what coverage and selection did, flips, confusions, kinds.

    `place` is the position of the new arm in the run, `None` where it is of another; `is_open`: whether the pair is
    unfolded, as the worst of two runs is.
    """
    if comparison is None or not comparison.is_comparable or not comparison.pairs:
        return []
    pairs = [_pair(comparison, pair, _place(comparison, pair.new, summary)) for pair in comparison.pairs]
    if comparison.is_within:
        return [{**pair, "is_open": False} for pair in pairs]
    worst = min(range(len(pairs)), key=lambda number: _rank(comparison.pairs[number]))
    return [{**pair, "is_open": number == worst} for number, pair in enumerate(pairs)]


def _rank(pair: ArmComparison) -> int:
    verdict = pair.verdict_by(_judged(pair))
    return len(_RANK) if verdict is None else _RANK.index(verdict)


def _place(comparison: Comparison, arm: ArmName, summary: RunSummary) -> int | None:
    keys = [(row.model, row.toolset, row.variant) for row in summary.arms]
    return keys.index(arm.key) if comparison.new.name == summary.run and arm.key in keys else None


def _pair(comparison: Comparison, pair: ArmComparison, place: int | None) -> dict[str, Any]:
    old, new = pair_names(comparison, pair)
    judged = _judged(pair)
    return {
        "old": old,
        "new": new,
        "against": pair.old.toolset_label if comparison.is_within and pair.old.model == pair.new.model else old,
        "place": place,
        "badge": badge_values(find_badge(comparison, pair)),
        "sentence": sentence(comparison, pair, judged),
        "contrasts": [_contrast(contrast, comparison) for contrast in pair.contrasts],
        "overflowing": pair.newly_overflowing[:MOST_OVERFLOWING],
        "more_overflowing": max(0, len(pair.newly_overflowing) - MOST_OVERFLOWING),
        "contribution": _contribution(pair),
        "worse": pair.flip_counts.worse,
        "better": pair.flip_counts.better,
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
        "more_flips": max(0, pair.flip_counts.total - MOST_FLIPS),
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


def _contrast(contrast: Contrast, comparison: Comparison) -> dict[str, Any]:
    show = _share if contrast.measure.is_share else _SHOW[contrast.measure]
    low, high = contrast.low, contrast.high
    if contrast.difference is None:
        difference, interval = NOTHING, "; ".join(map(describe_reason, contrast.reasons))
    elif contrast.measure.is_share:
        difference = f"{format_points(contrast.difference)} points"
        interval = "" if low is None or high is None else format_bounds(low, high, comparison.margin)
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
        "badge": badge_values(verdict_badge(contrast.verdict, comparison)) if contrast.measure.is_share else None,
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


def _judged(pair: ArmComparison) -> Measure:
    """The share that has a verdict; accuracy if both have one, or neither."""
    judged = [each.measure for each in pair.contrasts if each.measure.is_share and each.verdict is not None]
    return Measure.ACCURACY if Measure.ACCURACY in judged or not judged else judged[0]
