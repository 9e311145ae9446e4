"""Comparisons made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import (
    ArmComparison,
    Comparison,
    Confusion,
    Contrast,
    Contribution,
    Flip,
    KindContrast,
    Measure,
    Unpaired,
)
from toolbelt.evals.analysis.comparison.reasons import MissingFigures, TooFewCases
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SideInfo
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict

RUN = SideInfo("20260101-120000-ab12", "assistant", "sha256:1", "sha256:2", 600, catalog="assistant")
BASELINE = SideInfo("reports/baseline.json", "assistant", "sha256:1", "sha256:2", 600, is_baseline=True)
FULL = ArmName("local/bm25", "full")
LOADOUT = ArmName("local/bm25", "loadout")
TIERED = ArmName("local/bm25", "tiered")

ACCURACY = Contrast(
    Measure.ACCURACY,
    old=0.273,
    new=0.29,
    difference=0.017,
    low=-0.004,
    high=0.037,
    p_value=0.12,
    adjusted_p=0.24,
    verdict=Verdict.NO_REGRESSION,
    cases=600,
    clusters=590,
    method="sign-flip test, cluster bootstrap bounded for unseen changes (Gaffke)",
)
SOLVED = replace(ACCURACY, measure=Measure.SOLVED, old=0.07, new=0.068, difference=-0.002, low=-0.0085, high=0.0049)
DEFINITIONS = Contrast(
    Measure.DEFINITION_TOKENS,
    old=62_410,
    new=26_803.5,
    difference=-35_606.5,
    low=-35_900,
    high=-35_300,
    ratio=0.42947,
    ratio_low=0.426,
    ratio_high=0.434,
    cases=600,
    clusters=590,
    method="cluster bootstrap",
)
PROMPT = replace(
    DEFINITIONS,
    measure=Measure.PROMPT_TOKENS,
    old=63_539,
    new=27_932,
    difference=-35_607,
    ratio=0.4396,
    ratio_low=0.436,
    ratio_high=0.444,
)
REQUESTS = replace(
    DEFINITIONS, measure=Measure.REQUESTS, old=1.0, new=1.0, difference=0.0, low=0.0, high=0.0, ratio=1.0,
    ratio_low=1.0, ratio_high=1.0,
)  # fmt: skip
COST = Contrast(Measure.COST_USD, cases=600, clusters=590, reasons=(MissingFigures.UNKNOWN_COST,))
LATENCY = replace(
    DEFINITIONS, measure=Measure.LATENCY_SECONDS, old=0.0121, new=0.0048, difference=-0.0073, low=-0.008, high=-0.006,
    ratio=0.397, ratio_low=0.33, ratio_high=0.5,
)  # fmt: skip

WORSE = Flip(
    "single-git-blame-1",
    "single",
    -1.0,
    Attempt(Outcome.CORRECT, True, ("git/blame",)),
    Attempt(Outcome.WRONG_TOOL, True, ("git/log",), ("git/blame",), ("git/log",)),
)
UNCOVERED = Flip(
    "multi-\x1b[31mred-7",
    "multi",
    -0.5,
    Attempt(Outcome.WRONG_ARGUMENTS, True, None),
    Attempt(Outcome.MISSING_CALL, False, (), ("mail/send",)),
)
BETTER = Flip(
    "single-pay-3",
    "single",
    1.0,
    Attempt(Outcome.UNNEEDED_CALL, True, ("bank/pay", "bank/pay")),
    Attempt(Outcome.CORRECT, True, ()),
)


def make_pair(old: ArmName = FULL, new: ArmName = LOADOUT, **changes: Any) -> ArmComparison:
    """Two arms of which the new one is no worse and takes less than half the tokens."""
    pair = ArmComparison(
        old,
        new,
        contrasts=(ACCURACY, SOLVED, DEFINITIONS, PROMPT, REQUESTS, COST, LATENCY),
        flips=(WORSE, UNCOVERED, BETTER, replace(BETTER, case="single-pay-4")),
        confusions=(
            Confusion("git/blame", "git/log", 1, 6),
            Confusion("", "web/search|wide", 0, 2),
            Confusion("mail/send", "", 3, 4),
            Confusion("bank/pay", "bank/refund", 5, 1),
        ),
        contribution=Contribution(-0.011, 0.028, 0.983, 0.943, 0.278, 0.308, 24, 0),
        parts=(
            KindContrast("multi", 150, 1, 5, 0.2, 0.1733),
            KindContrast("single", 430, 11, 4, 0.29, 0.3063),
            KindContrast("irrelevant", 20, 0, 0, 1.0, 1.0),
        ),
        unpaired=(Unpaired(False, "error", 3), Unpaired(True, "not run", 1)),
    )
    return replace(pair, **changes)


def make_comparison(*pairs: ArmComparison, **changes: Any) -> Comparison:
    """The arms of one run; one pair where none is given."""
    return replace(Comparison(RUN, RUN, pairs=pairs or (make_pair(),)), **changes)


def with_accuracy(pair: ArmComparison, **changes: Any) -> ArmComparison:
    """A pair whose accuracy came out otherwise."""
    contrasts = (replace(pair.contrast(Measure.ACCURACY), **changes), *pair.contrasts[1:])
    return replace(pair, contrasts=contrasts)


REGRESSION = {
    "new": 0.213, "difference": -0.06, "low": -0.085, "high": -0.0351, "p_value": 0.0001, "adjusted_p": 0.0002,
    "verdict": Verdict.REGRESSION,
}  # fmt: skip
UNSURE = {
    "new": 0.271, "difference": -0.002, "low": -0.041, "high": 0.037, "p_value": 0.9, "adjusted_p": 1.0,
    "verdict": Verdict.INSUFFICIENT_DATA, "reasons": (TooFewCases(-0.041, 0.037, 0.02, 600, is_unfinished=False),),
}  # fmt: skip


def many_pairs(count: int) -> tuple[ArmComparison, ...]:
    """So many arms against one, of every verdict."""
    sorts: tuple[dict[str, Any], ...] = ({}, REGRESSION, UNSURE)
    return tuple(
        with_accuracy(
            make_pair(new=ArmName(f"provider/model-{number // 6}", f"loadout:role-{number}")), **sorts[number % 3]
        )
        for number in range(count)
    )
