"""The reason of each check of a gate, in words (rules E4, E6, E7 and E9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.evidence.sides import ABOUT, FULL, RIGHT, WRONG, side
from toolbelt.evals.analysis.comparison.comparison import Contrast, FitCounts, Flip, Measure, NothingFitted
from toolbelt.evals.analysis.comparison.reason_text import describe_mismatch
from toolbelt.evals.analysis.comparison.reasons import Aspect, Mismatch, MissingFigures, TooFewCases
from toolbelt.evals.analysis.evidence.evidence import TopUpInfo
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures, read_figures
from toolbelt.evals.analysis.gate.check_reasons import (
    AmountChange,
    CheckedArms,
    CheckReason,
    DraftCases,
    FinishedTrials,
    LostCases,
    MinimumShare,
    NewOverflows,
    NotComparable,
    PlainReason,
    Role,
    SameSetup,
    SampleSize,
    ShareChange,
    UnfinishedBaseline,
    UnfinishedRun,
    UnfitBefore,
)
from toolbelt.evals.analysis.gate.gate_text import describe_check, describe_check_reason
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck
from toolbelt.evals.statistics.verdict import Verdict

RUN = replace(ABOUT, name="r1", cases=300)
OLD = replace(ABOUT, name="b.json", cases=300, is_baseline=True)
EPOCHS = Mismatch(Aspect.EPOCHS)
STILL, SOME = NothingFitted(300, 300), NothingFitted(300, 300, now=58)
LOST = Contrast(Measure.ACCURACY, 0.9, 0.8, -0.1, -0.15, -0.05, verdict=Verdict.REGRESSION, cases=291, planned=300)
OPEN = replace(
    LOST, low=-0.03, high=0.01, difference=-0.01, verdict=UNSURE, reasons=(TooFewCases(-0.03, 0.01, 0.02, 300, False),)
)
LACKING = replace(OPEN, reasons=(), cases=100, unanswered=200)
TOKENS = Contrast(Measure.PROMPT_TOKENS, 1000, 1100, 100, 50, 150, 1.1, 1.05, 1.15)
COST = Contrast(Measure.COST_USD, 0.0, 0.0)
NO_FIGURES = Contrast(Measure.COST_USD, reasons=(MissingFigures.UNKNOWN_COST,))
FLIP = Flip("c1", "single", -1.0, RIGHT, WRONG)


def figures(right: int, wrong: int, unscored: int = 0) -> ArmFigures:
    return read_figures(side([RIGHT] * right + [WRONG] * wrong + [None] * unscored), 0, Measure.ACCURACY)


@pytest.mark.parametrize(
    ("reason", "verdict", "text"),
    [
        (NotComparable(EPOCHS, OLD, RUN), UNSURE, describe_mismatch(EPOCHS, OLD, RUN)),
        (SameSetup(OLD), PASS, "b.json is of the same 300 cases, grading and settings"),
        (PlainReason.NO_DRAFTS, PASS, "no case is a draft"),
        (
            DraftCases(Role.BASELINE, 2, 300),
            UNSURE,
            (
                "2 of 300 cases of the baseline are drafts that nobody has reviewed, and prove nothing: review them, "
                "remove their `draft`, and run again"
            ),
        ),
        (
            UnfinishedBaseline(replace(OLD, status="killed")),
            UNSURE,
            "b.json, which it is compared with, is killed: not all of it is there",
        ),
        (
            UnfinishedRun(replace(RUN, status="interrupted", reason="the cap was reached."), 150, 300),
            UNSURE,
            (
                "the run is interrupted (the cap was reached): 150 of 300 trials have not been run; "
                "go on with: toolbelt eval resume r1"
            ),
        ),
        (
            UnfinishedRun(replace(RUN, status="running"), 299, 300),
            UNSURE,
            "the run is running: 1 of 300 trials have not been run; wait for it to end",
        ),
        (
            UnfinishedRun(replace(RUN, status="killed"), 300, 300),
            UNSURE,
            "the run is killed, after its last trial; go on with: toolbelt eval resume r1",
        ),
        (
            UnfinishedRun(replace(RUN, status="incomplete", top_up=TopUpInfo(3, 0.978, {"full": 2})), 305, 600),
            UNSURE,
            (
                "the run is incomplete: 295 of 600 trials have not been run; go on with: toolbelt eval gate r1 "
                "--top-up, the same baseline, and a higher cap if that is what stopped it"
            ),
        ),
        (FinishedTrials("r1", 300, errors=0, overflows=0), PASS, "all of 300 trials came to an end"),
        (
            FinishedTrials("r1", 300, errors=0, overflows=9),
            PASS,
            "all of 300 trials came to an end; 9 did not fit the model's window and are unscored",
        ),
        (
            FinishedTrials("r1", 300, errors=9, overflows=0),
            PASS,
            (
                "9 of 300 trials ended with an error and are unscored; what follows holds whatever their outcome, "
                "but for tokens and cost, which are of the others alone. Again: toolbelt eval resume r1 --retry-errors"
            ),
        ),
        (CheckedArms(2, 0), PASS, "the same 2 arms as in the baseline"),
        (CheckedArms(None, 1), PASS, "some of the arms alone; 1 other excluded by --arm"),
        (SampleSize(1, 1), PASS, "1 independent case, 1 are wanted"),
        (
            SampleSize(3, 9),
            UNSURE,
            "3 independent cases, 9 are wanted: ask more cases, or lower --min-sample-size",
        ),
        (NewOverflows(("c1",)), FAIL, "1 case no longer fits the model's window: c1"),
        (
            NewOverflows(("c1", "c2", "c3", "c4")),
            FAIL,
            "4 cases no longer fit the model's window: c1, c2, c3 and 1 more",
        ),
        (FitCounts(), UNSURE, "cannot be decided: no case fitted"),
        (FitCounts(300), UNSURE, "cannot be decided: none of the 300 cases that fitted was answered"),
        (
            FitCounts(300, 0, 300),
            UNSURE,
            "cannot be decided: of the 300 cases that fitted, 300 have trials that have not been run",
        ),
        (FitCounts(300, 300), PASS, "every case that fitted the model's window still does"),
        (
            FitCounts(600, 599, 1),
            UNSURE,
            "of the 599 cases that were answered, none has outgrown the model's window; 1 more that fitted it was not",
        ),
        (
            FitCounts(180, 8, 172),
            UNSURE,
            "of the 8 cases that were answered, none has outgrown the model's window; 172 more that fitted it were not",
        ),
        (UnfitBefore(STILL, Measure.ACCURACY), PASS, "nothing fits, as before"),
        (UnfitBefore(SOME), PASS, "improved: 58 of 300 cases fit the model's window, none did before"),
        (UnfitBefore(SOME, Measure.ACCURACY), PASS, "nothing fitted before, so nothing is lost"),
        (
            UnfitBefore(SOME, Measure.COST_USD),
            PASS,
            "nothing fitted before, so no costs are there to have grown",
        ),
        (
            ShareChange(LOST, (FLIP,), 1, 0.02),
            FAIL,
            (
                "90.0% → 80.0%, -10.0 points (-15.0 to -5.0, over 291 of 300 cases), margin 2.0; "
                "1 case now wrong (1 to git/log), 0 now right"
            ),
        ),
        (
            ShareChange(OPEN, (), 1, 0.02),
            UNSURE,
            (
                "90.0% → 80.0%, -1.0 points (-3.0 to +1.0, over 291 of 300 cases), margin 2.0; no case flipped; "
                "too few cases: -3.0 to +1.0 points are possible; "
                "without more cases: --max-lost 0 passes as long as no case is lost"
            ),
        ),
        (
            ShareChange(OPEN, (), 1, 0.02, max_lost=1),
            PASS,
            (
                "90.0% → 80.0%, -1.0 points (-3.0 to +1.0, over 291 of 300 cases), margin 2.0; no case flipped; "
                "the interval leaves it open, and --max-lost decides"
            ),
        ),
        (
            ShareChange(replace(OPEN, is_same=True, verdict=PASS), (), 1, 0.02),
            PASS,
            (
                "90.0% → 80.0%, -1.0 points (-3.0 to +1.0, over 291 of 300 cases), margin 2.0; no case flipped; "
                "requests and answers are those of the baseline, so nothing is worse, however few the cases"
            ),
        ),
        (LostCases(1, 0, 0), FAIL, "1 case lost, 0 may be"),
        (
            LostCases(0, 2, 1),
            UNSURE,
            "0 cases lost, 1 may be; 2 more were not scored in both",
        ),
        (
            ShareChange(LACKING, (), 1, 0.02),
            UNSURE,
            (
                "90.0% → 80.0%, -1.0 points (-3.0 to +1.0, over 100 of 300 cases), margin 2.0; no case flipped; "
                "200 of 300 cases lack an answer: first toolbelt eval resume --retry-errors"
            ),
        ),
        (
            ShareChange(LACKING, (), 1, 0.02, is_run=False),
            UNSURE,
            "90.0% → 80.0%, -1.0 points (-3.0 to +1.0, over 100 of 300 cases), margin 2.0; no case flipped",
        ),
        (
            ShareChange(Contrast(Measure.ACCURACY), (), 1, 0.02),
            UNSURE,
            "cannot be decided: nothing was scored in both",
        ),
        (MinimumShare(figures(90, 10), 0.8), PASS, "90.0% of 100 (82.6 to 94.5), 80.0% is the least"),
        (
            MinimumShare(figures(90, 0, 10), 0.9),
            UNSURE,
            (
                "100.0% of 90 (82.6 to 100.0), 90.0% is the least; 10 unscored may have gone either way; "
                "too few cases to tell which side of it the truth is"
            ),
        ),
        (
            AmountChange(TOKENS, 0.2),
            PASS,
            "prompt tokens 1,000 → 1,100 a case, +10.0% (+5.0% to +15.0%), +20% tolerated",
        ),
        (
            AmountChange(TOKENS, 0.1),
            UNSURE,
            "prompt tokens 1,000 → 1,100 a case, +10.0% (+5.0% to +15.0%), +10% tolerated; too few cases to tell",
        ),
        (AmountChange(COST, 0.0), PASS, "costs $0 → $0 a case"),
        (AmountChange(replace(COST, new=0.015), 0.0), FAIL, "costs $0 → $0.015 a case, where nothing was before"),
        (AmountChange(NO_FIGURES, 0.0), UNSURE, "cannot be decided: the price is not known of every trial"),
        (
            AmountChange(replace(TOKENS, ratio_low=None), 0.0),
            UNSURE,
            "prompt tokens 1,000 → 1,100 a case; cannot be decided: there is no interval",
        ),
    ],
)
def test_E9_a_check_says_why_with_its_figures(reason: CheckReason, verdict: Verdict, text: str) -> None:
    assert describe_check_reason(GateCheck("any", verdict, reason)) == text


def test_E9_a_check_names_its_arm_if_it_is_of_one() -> None:
    assert describe_check(GateCheck("reviewed", PASS, PlainReason.NO_DRAFTS)) == "reviewed: no case is a draft"
    overflow = GateCheck("overflow", FAIL, NewOverflows(("c1",)), FULL)
    assert describe_check(overflow) == f"overflow: {FULL.label}: 1 case no longer fits the model's window: c1"
