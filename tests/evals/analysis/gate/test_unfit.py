"""What a gate says of an arm that fitted no case when its baseline was saved (rules E4 and E9)."""

from __future__ import annotations

from collections.abc import Sequence

import jsonschema
import pytest

from tests.evals.analysis.evidence.sides import FAILED, FULL, RIGHT, TIERED, TOO_LONG, WrittenSide, side
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Measure, NothingFitted
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.analysis.gate.check_reasons import UnfitBefore
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.gate_json import gate_data
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason, summary_line
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck, GateResult, Limits
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.pairs import pair_values

MANY = 300
FITS, UNFIT = [RIGHT] * MANY, [TOO_LONG] * MANY
LIMITS = Limits(max_token_increase=0.1, max_cost_increase=0.1, min_sample_size=200)
MEASURES = {
    "overflow": None,
    "accuracy": Measure.ACCURACY,
    "tokens": Measure.PROMPT_TOKENS,
    "cost": Measure.COST_USD,
}
SUMMARY = RunSummary("20260301-120000-beef", "2026-03-01T12:00:00Z", "finished", "office", "sha256:0123", cases=MANY)


def base(*arms: Sequence[Attempt | None]) -> WrittenSide:
    return side(*arms, is_baseline=True, name="baseline.json")


def of(result: GateResult, arm: ArmName) -> dict[str, GateCheck]:
    return {check.name: check for check in result.checks if check.arm == arm}


def test_E4_what_did_not_fit_and_does_not_is_no_change_and_does_not_hold_up_the_gate() -> None:
    result = check_run(side(UNFIT, FITS), LIMITS, base(UNFIT, FITS))
    assert result.verdict is PASS
    checks = of(result, FULL)
    assert (checks["sample-size"].observed, checks["sample-size"].limit) == (300, 200)
    assert {name: check.reason for name, check in checks.items() if name != "sample-size"} == {
        name: UnfitBefore(NothingFitted(MANY, MANY), measure) for name, measure in MEASURES.items()
    }
    fitting = of(result, TIERED)["overflow"]
    assert (fitting.verdict, fitting.observed, fitting.cases, fitting.planned) == (PASS, 0, MANY, MANY)
    jsonschema.validate(gate_data(result), read_schema("gate"))


def test_E4_what_fits_now_is_an_improvement() -> None:
    result = check_run(side(FITS, FITS), LIMITS, base(UNFIT, FITS))
    checks = of(result, FULL)
    assert (result.verdict, {check.verdict for check in checks.values()}) == (PASS, {PASS})
    assert {name: checks[name].reason for name in MEASURES} == {
        name: UnfitBefore(NothingFitted(MANY, MANY, now=MANY), measure) for name, measure in MEASURES.items()
    }
    assert mentions(summary_line(result), 14, "local/bm25 with full")


def test_E4_what_fits_in_part_now_is_one_too() -> None:
    some = check_run(side([RIGHT] * 7 + [TOO_LONG] * (MANY - 7)), Limits(), base(UNFIT))
    assert of(some, FULL)["overflow"].reason == UnfitBefore(NothingFitted(MANY, MANY, now=7))
    assert some.verdict is PASS


def test_E4_what_fitted_and_does_not_is_a_regression() -> None:
    result = check_run(side(UNFIT, FITS), LIMITS, base(FITS, FITS))
    assert result.verdict is FAIL
    assert of(result, FULL)["overflow"].verdict is FAIL


@pytest.mark.parametrize(
    ("new", "old"),
    [
        pytest.param([FAILED] * MANY, UNFIT, id="all-failed-now"),
        pytest.param([*UNFIT[1:], FAILED], UNFIT, id="one-failed-now-and-might-have-fitted"),
        pytest.param([*UNFIT[1:], None], UNFIT, id="one-was-not-run"),
        pytest.param(UNFIT, [*UNFIT[1:], FAILED], id="one-failed-before-and-might-have-fitted"),
        pytest.param(UNFIT, [FAILED] * MANY, id="all-failed-before"),
    ],
)
def test_E4_what_nobody_knows_is_no_pass(new: list[Attempt | None], old: list[Attempt | None]) -> None:
    check = of(check_run(side(new, cases=MANY), Limits(), base(old)), FULL)["overflow"]
    assert (check.verdict, check.observed, check.cases, check.planned) == (UNSURE, None, 0, 0)


def test_E9_an_absolute_limit_is_not_reached_by_what_was_not_asked() -> None:
    checks = of(check_run(side(UNFIT, FITS), Limits(min_accuracy=0.0), base(UNFIT, FITS)), FULL)
    assert checks["min-accuracy"].verdict is UNSURE
    assert "--arm" in describe_check_reason(checks["min-accuracy"])
    failed = of(check_run(side([FAILED, TOO_LONG]), Limits(min_accuracy=0.0), None), FULL)
    assert failed["min-accuracy"].observed is None
    assert "--arm" not in describe_check_reason(failed["min-accuracy"])
    reached = check_run(side(UNFIT, FITS), Limits(min_accuracy=0.5), base(UNFIT, FITS), only={TIERED.key})
    assert reached.verdict is PASS, "what is told works"


def test_E7_too_few_cases_are_too_few_whether_they_fit_or_not() -> None:
    checks = of(check_run(side(UNFIT), Limits(min_sample_size=301), base(UNFIT)), FULL)
    assert (checks["sample-size"].verdict, checks["sample-size"].observed) == (UNSURE, MANY)


def test_E4_the_comparison_of_the_two_says_what_the_gate_says() -> None:
    comparison = check_run(side(UNFIT, FITS), Limits(), base(UNFIT, UNFIT)).comparison
    assert comparison is not None
    assert [pair.verdict for pair in comparison.pairs] == [Verdict.NO_REGRESSION, Verdict.NO_REGRESSION]
    still, now = pair_values(comparison, SUMMARY)
    assert (still["badge"]["word"], now["badge"]["word"]) == ("No regression", "No regression")
    assert mentions(still["sentence"], "full")
    assert mentions(now["sentence"], "tiered", "300 of 300")
