"""A comparison as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, Flip
from toolbelt.evals.analysis.comparison.comparison_text import sentence
from toolbelt.evals.analysis.comparison.reason_text import (
    describe_differences,
    describe_notes,
    describe_reason,
    describe_reasons,
)
from toolbelt.evals.analysis.comparison.sample_size import wanted_cases
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SideInfo
from toolbelt.evals.analysis.result import find_trade_off
from toolbelt.views.json_values import to_json

SCHEMA = "toolbelt.comparison/1"


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """What `toolbelt eval compare --json` prints.

    Shares and their differences are fractions, amounts means over the cases that both arms were scored on; shares of
    arms of one run are of all asked, where what was too long is not right (`too_long` of the `cases`). Differences are
    new − old; `null` where something is not known. `contrasts` has one entry a pair and measure, `pairs` one a pair in
    the same order, with what is of all measures: its `verdict` is a regression where cases no longer fit the model's
    window, and none where no case did before, whatever that of the share, which is of the cases that could be scored:
    `cases` of those `planned`; of arms of one run, of which none has regressed, its `finding` is what may be said of
    the trade-off. `unfit` and `alone` are arms of one run that nothing is compared with.
    `flipped` has the cases of which the first share asked for changed, and stands in the contrast of that share, the
    first of each pair; it is `null` in the others. `better`, `worse` and `parts` are of that share, too; `confusions`
    and `contribution` are of accuracy always.
    """
    return {
        "schema": SCHEMA,
        "comparable": comparison.is_comparable,
        "reasons": describe_reasons(comparison),
        "notes": describe_notes(comparison),
        "differences": describe_differences(comparison),
        "margin": comparison.margin,
        "level": comparison.level,
        "old": _about(comparison.old),
        "new": _about(comparison.new),
        "missing": [_arm(arm, comparison.old) for arm in comparison.missing],
        "added": [_arm(arm, comparison.new) for arm in comparison.added],
        "unfit": [_arm(arm, comparison.new) for arm in comparison.unfit],
        "alone": [_arm(arm, comparison.new) for arm in comparison.alone],
        "contrasts": list(_contrasts(comparison)),
        "pairs": [_pair(comparison, pair) for pair in comparison.pairs],
    }


def _about(about: SideInfo) -> dict[str, Any]:
    return {
        **{field.name: getattr(about, field.name) for field in fields(about) if field.name != "tools"},
        "filter": dict(about.filter),
        "settings": dict(about.settings),
        "code": dict(about.code),
        "responses": to_json(about.responses),
        "is_imported": about.is_imported,
        "sequential": to_json(about.sequential),
        "top_up": to_json(about.top_up),
    }


def _arm(arm: ArmName, of: SideInfo) -> dict[str, Any]:
    return {"run": of.name, "model": arm.model, "toolset": arm.toolset, "variant": arm.variant, "label": arm.label}


def _contrasts(comparison: Comparison) -> Iterator[dict[str, Any]]:
    attempts: dict[int, dict[str, Any]] = {}

    def describe(attempt: Attempt) -> dict[str, Any]:
        if id(attempt) not in attempts:  # many cases have it in common
            attempts[id(attempt)] = _attempt(attempt)
        return attempts[id(attempt)]

    for pair in comparison.pairs:
        arms = {"a": _arm(pair.old, comparison.old), "b": _arm(pair.new, comparison.new)}
        for number, contrast in enumerate(pair.contrasts):
            flipped = None if number else [_flip(flip, describe) for flip in pair.flips]
            yield {**arms, **_figures(contrast, comparison), "flipped": flipped}


def _figures(contrast: Contrast, comparison: Comparison) -> dict[str, Any]:
    return {
        "measure": contrast.measure.value,
        "old": contrast.old,
        "new": contrast.new,
        "difference": contrast.difference,
        "low": contrast.low,
        "high": contrast.high,
        "ratio": contrast.ratio,
        "ratio_low": contrast.ratio_low,
        "ratio_high": contrast.ratio_high,
        "p_value": contrast.p_value,
        "adjusted_p": contrast.adjusted_p,
        "verdict": None if contrast.verdict is None else contrast.verdict.value,
        "cases": contrast.cases,
        "too_long": contrast.too_long,
        "planned": contrast.planned,
        "clusters": contrast.clusters,
        "wanted_cases": wanted_cases(contrast, comparison.margin, comparison.level),
        "method": contrast.method,
        "same_requests": contrast.is_same,
        "reasons": [describe_reason(reason) for reason in contrast.reasons],
    }


def _flip(flip: Flip, describe: Callable[[Attempt], dict[str, Any]]) -> dict[str, Any]:
    return {
        "case": flip.case,
        "kind": flip.kind,
        "change": flip.change,
        "old": describe(flip.old),
        "new": describe(flip.new),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "outcome": attempt.outcome.value,
        "covered": attempt.covered,
        "called": None if attempt.called is None else list(attempt.called),
        "missing": list(attempt.missing),
        "surplus": list(attempt.surplus),
    }


def _pair(comparison: Comparison, pair: ArmComparison) -> dict[str, Any]:
    return {
        "a": _arm(pair.old, comparison.old),
        "b": _arm(pair.new, comparison.new),
        "verdict": None if pair.verdict is None else pair.verdict.value,
        "finding": find_trade_off(pair).value if comparison.is_within and pair.verdict is not None else None,
        "sentence": sentence(comparison, pair),
        "better": pair.flip_counts.better,
        "worse": pair.flip_counts.worse,
        "contribution": None if pair.contribution is None else asdict(pair.contribution),
        "confusions": [asdict(confusion) for confusion in pair.confusions],
        "parts": [asdict(part) for part in pair.parts],
        "unpaired": {group.label: group.cases for group in pair.unpaired},
        "newly_overflowing": list(pair.newly_overflowing),
    }
