"""The result of a run: which arm is recommended, against which, and the finding on each of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.comparison.sides import side
from toolbelt.evals.analysis.comparison.compare import compare_runs
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, Side
from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
from toolbelt.evals.analysis.result import RunResult, TradeOff, find_result, find_trade_off
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.scoring.outcome import Outcome

CASES = 400
MODEL = "gpt-4o"


def summarized(**arms: tuple[int, float]) -> RunSummary:
    """Arms by toolset, each with how many of the cases are right and its prompt tokens."""
    return RunSummary(
        "20260301-120000-beef", "2026-03-01T12:00:00Z", "finished", "mine", "d1", cases=CASES,
        arms=tuple(
            ArmSummary(
                MODEL, toolset.replace("_", "+"), planned=CASES, finished=CASES, scored=CASES,
                accuracy=Rate(right, CASES), prompt_tokens=tokens,
            )
            for toolset, (right, tokens) in arms.items()
        ),
    )  # fmt: skip


def asked(summary: RunSummary, *written: str) -> Side:
    names = [ArmName(arm.model, arm.toolset) for arm in summary.arms]
    arms = [
        [[replace(_ATTEMPTS[letter], prompt_tokens=int(arm.prompt_tokens or 0))] for letter in letters]
        for arm, letters in zip(summary.arms, written, strict=True)
    ]
    return side(*arms, names=names)


def compared(summary: RunSummary, *written: str) -> Comparison:
    return compare_runs(asked(summary, *written))


_ATTEMPTS = {
    "+": Attempt(Outcome.CORRECT, covered=True),
    "-": Attempt(Outcome.WRONG_TOOL, covered=True, missing=("git/log",), surplus=("git/show",)),
    "o": Attempt(Outcome.CONTEXT_OVERFLOW, covered=True),
    "u": Attempt(Outcome.MISSING_CALL, covered=False, missing=("git/log",)),
}


def result(*written: str, tokens: tuple[float, ...] = (60_000, 20_000, 5_000)) -> RunResult:
    toolsets = ("full", "loadout", "tiered")
    summary = summarized(
        **{
            toolset: (letters.count("+"), size)
            for toolset, letters, size in zip(toolsets, written, tokens, strict=False)
        }
    )
    return find_result(summary, compared(summary, *written), build_matrix(summary, asked(summary, *written)))


SAME = "+" * 300 + "-" * 100
BETTER = "+" * 360 + "-" * 40
WORSE = "+" * 200 + "-" * 200


@pytest.mark.parametrize(
    ("arms", "recommended", "trade_off"),
    [
        pytest.param((SAME, SAME, WORSE), "loadout", TradeOff.NOT_WORSE, id="as-accurate-and-smaller-is-taken"),
        pytest.param((SAME, SAME, SAME), "tiered", TradeOff.NOT_WORSE, id="the-smallest-of-equals-is-taken"),
        pytest.param((SAME, BETTER, SAME), "loadout", TradeOff.MORE_ACCURATE, id="more-accurate-beats-smaller"),
        pytest.param((SAME, WORSE, WORSE), "full", None, id="nothing-surely-as-good-stays-with-the-reference"),
    ],
)
def test_E7_the_recommended_arm(arms: tuple[str, ...], recommended: str, trade_off: TradeOff | None) -> None:
    found = result(*arms)
    assert found.recommended is not None
    assert (found.recommended.toolset, found.trade_off) == (recommended, trade_off)
    assert found.is_reference is (recommended == "full")


def test_E7_a_larger_toolset_is_not_taken_for_being_no_worse() -> None:
    assert result(SAME, SAME, tokens=(60_000, 90_000)).is_reference


def test_E7_what_is_saved_is_over_the_cases_of_both() -> None:
    found = result(SAME, SAME, WORSE)
    assert found.tokens_saved == pytest.approx(2 / 3)
    assert found.cost_saved_usd is None
    assert found.others == ((2, TradeOff.LESS_ACCURATE),)


def test_E7_an_undecided_smaller_arm_tells_how_many_cases_would_do() -> None:
    found = result(SAME, "-" * 20 + "+" * 300 + "-" * 80)
    assert found.recommended is not None
    assert found.recommended.toolset == "loadout", "of equals, the smallest"
    assert (found.trade_off, found.is_sure) == (TradeOff.UNDECIDED, False)
    assert found.cases_wanted is not None
    assert found.cases_wanted > CASES


def test_E7_without_a_comparison_nothing_is_recommended() -> None:
    summary = summarized(full=(300, 60_000.0), loadout=(300, 20_000.0))
    found = find_result(summary)
    assert found.recommended is None
    assert found.reference is summary.arms[0]


def test_E7_where_next_to_nothing_is_right_nothing_is_recommended() -> None:
    few = "+" * 4 + "-" * 396
    assert result(few, few).recommended is None


def test_E7_nothing_scored_has_no_reference() -> None:
    summary = replace(summarized(full=(0, 0.0)), arms=(ArmSummary(MODEL, "full", planned=CASES),), status="running")
    found = find_result(summary)
    assert (found.reference, found.is_complete) == (None, False)


@pytest.mark.parametrize(
    ("toolset", "letters", "expected"),
    [
        pytest.param("oracle+9", BETTER, TradeOff.ORIENTATION, id="an-oracle-is-for-orientation"),
        pytest.param("loadout", "u" * 100 + "+" * 200 + "-" * 100, TradeOff.UNREACHABLE, id="lost-by-coverage"),
        pytest.param("loadout", WORSE, TradeOff.LESS_ACCURATE, id="lost-by-selection"),
        pytest.param("loadout", BETTER, TradeOff.MORE_ACCURATE, id="surely-better"),
    ],
)
def test_E7_arms_of_one_run_are_a_trade_off(toolset: str, letters: str, expected: TradeOff) -> None:
    assert find_trade_off(_pair(toolset, letters)) is expected


@pytest.mark.parametrize(
    ("full", "loadout", "expected"),
    [
        pytest.param("o" * 4 + "+" * 396, "+" * 399 + "o", TradeOff.NOT_WORSE, id="fits-more"),
        pytest.param("o" + "+" * 399, "+" * 386 + "o" * 14, TradeOff.TOO_LONG, id="fits-fewer"),
    ],
)
def test_E4_of_one_run_an_arm_is_too_long_where_it_fits_fewer_cases(
    full: str, loadout: str, expected: TradeOff
) -> None:
    summary = summarized(full=(full.count("+"), 60_000.0), loadout=(loadout.count("+"), 20_000.0))
    assert find_trade_off(compared(summary, full, loadout).pairs[0]) is expected


def _pair(toolset: str, letters: str) -> ArmComparison:
    arms = {"full": (300, 60_000.0), toolset.replace("+", "_"): (300, 20_000.0)}
    return compared(summarized(**arms), SAME, letters).pairs[0]


def test_the_word_matching_baseline_is_known_as_such() -> None:
    summary = summarized(full=(300, 60_000.0))
    assert not find_result(summary).is_word_matching
    own = replace(summary, arms=(replace(summary.arms[0], model="local/bm25"),))
    assert find_result(own).is_word_matching
