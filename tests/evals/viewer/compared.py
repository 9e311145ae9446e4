"""A comparison of the first two arms of the small run, and what a gate says of it."""

from __future__ import annotations

from tests.evals.analysis.summary.rows import RUN
from tests.evals.viewer.runs import ARMS
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
from toolbelt.evals.analysis.comparison.reasons import CasesNote, CasesProblem
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SideInfo
from toolbelt.evals.analysis.gate.check_reasons import FinishedTrials, SampleSize, ShareChange
from toolbelt.evals.analysis.gate.verdict import GateCheck
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict

ABOUT = SideInfo(RUN, "assistant", "sha256:1", "c", 20)
FULL, LOADOUT = (ArmName(*names) for names in ARMS[:2])
WRONG = Attempt(Outcome.WRONG_TOOL, covered=True, called=("files/write",), missing=("files/read_1",))
RIGHT = Attempt(Outcome.CORRECT, covered=True)
ACCURACY = Contrast(
    Measure.ACCURACY,
    0.9,
    0.8,
    -0.1,
    -0.15,
    -0.05,
    p_value=0.001,
    adjusted_p=0.002,
    verdict=Verdict.REGRESSION,
    cases=20,
)
TOKENS = Contrast(Measure.PROMPT_TOKENS, 100, 40, -60, -70, -50, 0.4, 0.3, 0.5, cases=20)
PAIR = ArmComparison(
    FULL,
    LOADOUT,
    (ACCURACY, TOKENS),
    flips=(Flip("case-01", "single", -1.0, RIGHT, WRONG),),
    confusions=(Confusion("files/read_1", "files/write", 0, 4), Confusion("", "files/write", 2, 2)),
    contribution=Contribution(-0.04, -0.06, 1.0, 0.9, 0.9, 0.89, newly_uncovered=2),
    parts=(KindContrast("single", 14, 0, 1, 0.912, 0.8), KindContrast("multi", 6, 0, 0, 1.0, 1.0)),
    unpaired=(Unpaired(True, "error", 2),),
)
WITHIN = Comparison(ABOUT, ABOUT, notes=(CasesNote(CasesProblem.UNSCORED, 2, 1, 1),), pairs=(PAIR,))
CHECKS = (
    GateCheck("complete", Verdict.NO_REGRESSION, FinishedTrials(RUN, 60, errors=0, overflows=0)),
    GateCheck("sample-size", Verdict.INSUFFICIENT_DATA, SampleSize(20, 50), arm=ArmName("", "full")),
    GateCheck("accuracy", Verdict.REGRESSION, ShareChange(ACCURACY, PAIR.flips, 1, 0.02), arm=ArmName("", "loadout")),
)
