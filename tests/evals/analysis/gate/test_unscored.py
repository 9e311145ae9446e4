"""What a gate says, and does not say, of trials that were never answered (rules E4 and E7)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.evals.analysis.evidence.sides import (
    FAILED,
    FULL,
    RIGHT,
    TIERED,
    TOO_LONG,
    WRONG,
    WrittenSide,
    side,
)
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import FitCounts
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.gate_json import gate_data
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck, Limits
from toolbelt.evals.statistics.verdict import Verdict

MANY = 300


def base(attempts: Sequence[Attempt | None]) -> WrittenSide:
    return side(attempts, names=(FULL, TIERED), is_baseline=True, name="baseline.json")


def found(name: str, new: Sequence[Attempt | None], old: Sequence[Attempt | None] | None = None) -> GateCheck:
    planned = len(new)
    result = check_run(side(new, cases=planned), Limits(), base(old or [RIGHT] * planned))
    return next(check for check in result.checks if check.name == name)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        pytest.param([RIGHT] * MANY, PASS, id="all-answered"),
        pytest.param([RIGHT] * 8 + [None] * 172, UNSURE, id="killed-after-8-of-180"),
        pytest.param([RIGHT] * 599 + [None], UNSURE, id="one-that-never-ran-may-not-fit"),
        pytest.param([RIGHT] * 270 + [FAILED] * 30, UNSURE, id="so-many-errors-that-the-share-is-open"),
        pytest.param([RIGHT] * 723 + [FAILED], PASS, id="one-error-does-not-leave-all-undecided"),
        pytest.param([FAILED] * MANY, UNSURE, id="nothing-answered"),
    ],
)
def test_E4_what_is_known_of_the_window_rests_on_answers(new: list[Attempt | None], verdict: Verdict) -> None:
    check = found("overflow", new)
    assert (check.verdict, check.reason) == (verdict, FitCounts(len(new), new.count(RIGHT), new.count(None)))
    answered = sum(attempt is RIGHT for attempt in new)
    assert (check.cases, check.planned) == (answered, len(new))
    assert check.observed == (0 if answered else None)


def test_E4_where_no_case_fitted_before_nothing_is_known() -> None:
    check = found("overflow", [RIGHT] * 3, [FAILED] * 3)
    assert (check.verdict, check.reason) == (UNSURE, FitCounts())


def test_E4_one_error_of_724_leaves_the_whole_gate_a_pass() -> None:
    assert check_run(side([RIGHT] * 723 + [FAILED]), Limits(), base([RIGHT] * 724)).verdict is PASS


def test_E7_a_share_beside_an_overflow_is_what_the_comparison_says_of_it() -> None:
    new = [RIGHT] * 291 + [TOO_LONG] * 9
    result = check_run(side(new), Limits(), base([RIGHT] * MANY))
    assert result.comparison is not None
    (pair,) = result.comparison.pairs
    check = next(check for check in result.checks if check.name == "accuracy")
    assert check.verdict is pair.contrasts[0].verdict is UNSURE, "nine lost of three hundred are more than the margin"
    assert mentions(
        describe_check_reason(check), "9 of 300 cases", "counted as lost", "over 291 of 300 cases", "margin 2.0"
    )
    assert found("overflow", new).verdict is FAIL


def test_E7_a_loss_among_the_cases_that_fit_is_a_regression_beside_the_overflow() -> None:
    assert found("accuracy", [RIGHT] * 200 + [WRONG] * 91 + [TOO_LONG] * 9).verdict is FAIL


def test_E7_a_killed_run_is_to_be_finished_and_not_to_be_asked_more_cases() -> None:
    killed = [RIGHT] * 8 + [None] * 172
    assert mentions(describe_check_reason(found("complete", killed)), "172 of 180 trials", "toolbelt eval resume")
    message = describe_check_reason(found("accuracy", killed))
    assert "toolbelt eval" not in message, "what is to be done is said once"
    assert "over 8 of 180 cases" in message
    assert "would decide" not in message


def test_E10_figures_of_some_of_the_cases_alone_are_marked_in_the_data() -> None:
    limits = Limits(min_accuracy=0.5, max_token_increase=0.1, max_cost_increase=0.1)
    data = gate_data(check_run(side([RIGHT] * 290 + [FAILED] * 10), limits, base([RIGHT] * MANY)))
    marked = {check["name"]: (check["cases"], check["planned"]) for check in data["checks"]}
    assert {name for name, counts in marked.items() if counts == (290, 300)} == {
        *("overflow", "accuracy", "min-accuracy", "tokens", "cost")
    }
    assert marked["complete"] == (None, None)
