"""What a gate says of sides that are written down (rules E4, E7 and E9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.evidence.sides import (
    ABOUT,
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
from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.comparison.reasons import MissingFigures
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence
from toolbelt.evals.analysis.gate.check_reasons import (
    AmountChange,
    CheckedArms,
    FinishedTrials,
    NewOverflows,
    PlainReason,
    ShareChange,
    UnfinishedRun,
)
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.gate_json import EXIT_CODES, gate_data
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason, summary_line
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck, GateResult, Limits, LostTool
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.intervals import wilson_interval
from toolbelt.evals.statistics.verdict import Verdict

MANY = 300


def base(*arms: Sequence[Attempt], names: Sequence[ArmName] = (FULL, TIERED)) -> WrittenSide:
    return side(*arms, names=names, is_baseline=True, name="baseline.json")


def find_check(result: GateResult, name: str) -> GateCheck:
    return next(check for check in result.checks if check.name == name)


def names(result: GateResult) -> list[str]:
    return list(dict.fromkeys(check.name for check in result.checks))


def test_E9_each_verdict_has_its_exit_code() -> None:
    assert {verdict.value: code for verdict, code in EXIT_CODES.items()} == {
        "no_regression": 0,
        "regression": 1,
        "insufficient_data": 3,
    }


def test_E7_what_must_be_said_first_is_first() -> None:
    limits = Limits(min_accuracy=0.1, max_token_increase=0.1, max_cost_increase=0.1, min_sample_size=10)
    result = check_run(side([RIGHT] * MANY), limits, base([RIGHT] * MANY))
    assert names(result) == [
        *("comparable", "reviewed", "complete", "arms", "sample-size", "overflow", "accuracy", "min-accuracy"),
        *("tokens", "cost"),
    ]
    assert result.verdict is PASS
    assert mentions(summary_line(result), PASS, ABOUT.name, "baseline.json", 10)


@pytest.mark.parametrize(
    ("attempts", "verdict"),
    [
        pytest.param([RIGHT] * MANY, PASS, id="nothing-flipped"),
        pytest.param([RIGHT] * (MANY - 30) + [WRONG] * 30, FAIL, id="thirty-lost"),
        pytest.param([RIGHT] * (MANY - 4) + [WRONG] * 4, UNSURE, id="four-lost"),
    ],
)
def test_E7_accuracy(attempts: list[Attempt], verdict: Verdict) -> None:
    check = find_check(check_run(side(attempts), Limits(), base([RIGHT] * MANY)), "accuracy")
    assert check.verdict is verdict
    assert check.observed == pytest.approx((attempts.count(RIGHT) - MANY) / MANY)
    assert check.limit == -0.02
    assert isinstance(check.reason, ShareChange)
    assert [flip.new.called for flip in check.reason.flips] == [WRONG.called] * attempts.count(WRONG)
    assert (check.reason.margin, check.reason.epochs, check.reason.is_known) == (0.02, 1, True)


def test_E7_twenty_equal_cases_are_no_pass_and_it_is_told_how_many_would_do() -> None:
    check = find_check(check_run(side([RIGHT] * 20), Limits(), base([RIGHT] * 20)), "accuracy")
    assert check.verdict is UNSURE
    assert "cases would decide" in describe_check_reason(check)


def test_E4_an_arm_that_newly_overflows_has_regressed_whatever_is_left() -> None:
    result = check_run(side([RIGHT] * (MANY - 1) + [TOO_LONG]), Limits(), base([RIGHT] * MANY))
    check = find_check(result, "overflow")
    assert (check.verdict, check.observed) == (FAIL, 1)
    assert check.reason == NewOverflows((f"c{MANY - 1}",))
    assert find_check(result, "accuracy").verdict is not FAIL, "it is told once, as what it is"
    assert result.verdict is FAIL
    before = base([RIGHT] * (MANY - 1) + [TOO_LONG])
    assert find_check(check_run(side([RIGHT] * (MANY - 1) + [TOO_LONG]), Limits(), before), "overflow").verdict is PASS


def test_E4_no_verdict_rests_on_what_was_not_scored() -> None:
    result = check_run(side([RIGHT] * (MANY - 9) + [FAILED] * 9), Limits(), base([RIGHT] * MANY))
    assert find_check(result, "accuracy").verdict is UNSURE, "nine lost of three hundred would be more than the margin"
    complete = find_check(result, "complete")
    assert (complete.verdict, complete.observed, complete.limit) == (PASS, MANY - 9, MANY)
    assert complete.reason == FinishedTrials(ABOUT.name, MANY, errors=9, overflows=0)
    everything = check_run(side([FAILED] * MANY), Limits(min_accuracy=0.0), base([RIGHT] * MANY))
    assert everything.verdict is UNSURE
    assert find_check(everything, "complete").verdict is UNSURE
    assert find_check(everything, "min-accuracy").verdict is UNSURE


def test_an_unfinished_run_is_told_with_what_to_do() -> None:
    half = side([RIGHT] * 150 + [None] * 150, status="interrupted", reason="the cap was reached.")
    check = find_check(check_run(half, Limits(), base([RIGHT] * MANY)), "complete")
    assert check.verdict is UNSURE
    assert check.reason == UnfinishedRun(half.about, 150, 300)
    assert (check.observed, check.limit) == (150, 300)
    killed = side([RIGHT] * MANY, status="killed")
    late = find_check(check_run(killed, Limits(), base([RIGHT] * MANY)), "complete")
    assert late.verdict is UNSURE, "nobody has said that it is finished"
    assert late.reason == UnfinishedRun(killed.about, MANY, MANY)


@pytest.mark.parametrize(
    ("attempts", "least", "verdict"),
    [
        pytest.param([RIGHT] * 90 + [WRONG] * 10, 0.8, PASS, id="above"),
        pytest.param([RIGHT] * 90 + [WRONG] * 10, 0.97, FAIL, id="below"),
        pytest.param([RIGHT] * 90 + [WRONG] * 10, 0.9, UNSURE, id="astride"),
        pytest.param([RIGHT] * 90 + [FAILED] * 10, 0.9, UNSURE, id="unscored-count-against-it"),
        pytest.param([RIGHT] * 20 + [FAILED] * 80, 0.97, UNSURE, id="unscored-count-for-it-too"),
        pytest.param([FAILED] * 100, 0.0, UNSURE, id="nothing-scored"),
    ],
)
def test_the_least_accuracy_goes_by_the_interval(attempts: list[Attempt], least: float, verdict: Verdict) -> None:
    result = check_run(side(attempts), Limits(min_accuracy=least))
    check = find_check(result, "min-accuracy")
    assert check.verdict is verdict
    assert names(result) == ["reviewed", "complete", "min-accuracy"]
    if FAILED not in attempts:
        assert (check.low, check.high) == pytest.approx(wilson_interval(90, 100))


def test_E7_the_least_accuracy_knows_clusters() -> None:
    alike = side([RIGHT] * 90 + [WRONG] * 10)
    (cases,) = alike.cases
    clustered = {
        name: CaseEvidence(name, f"k{number // 10}", "single", case.attempts)
        for number, (name, case) in enumerate(cases.items())
    }
    apart = find_check(check_run(alike, Limits(min_accuracy=0.5, min_sample_size=50)), "min-accuracy")
    limits = Limits(min_accuracy=0.5, min_sample_size=50)
    result = check_run(replace(alike, cases=(clustered,)), limits)
    together = find_check(result, "min-accuracy")
    assert apart.low is not None
    assert together.low is not None
    assert together.low < apart.low - 0.1, "ten tasks say less than a hundred"
    assert (find_check(result, "sample-size").verdict, find_check(result, "sample-size").observed) == (UNSURE, 10)


def more(attempt: Attempt, tokens: int | None = 150, cost: float | None = 0.0) -> Attempt:
    return replace(attempt, own_prompt_tokens=tokens, cost_usd=cost)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(more(RIGHT, 100), more(RIGHT, 100), PASS, id="as-many"),
        pytest.param(more(RIGHT, 100), more(RIGHT, 110), PASS, id="just-what-is-tolerated"),
        pytest.param(more(RIGHT, 100), more(RIGHT, 111), FAIL, id="a-little-more"),
        pytest.param(more(RIGHT, 100), more(RIGHT, 50), PASS, id="fewer"),
        pytest.param(more(RIGHT, 0), more(RIGHT, 0), PASS, id="none-in-either"),
        pytest.param(more(RIGHT, 0), more(RIGHT, 5), FAIL, id="from-nothing-to-something"),
        pytest.param(more(RIGHT, 100), more(RIGHT, None), UNSURE, id="unknown"),
    ],
)
def test_E6_tokens(old: Attempt, new: Attempt, verdict: Verdict) -> None:
    limits = Limits(max_token_increase=0.1)
    assert find_check(check_run(side([new] * 50), limits, base([old] * 50)), "tokens").verdict is verdict


def test_E6_tokens_that_vary_are_judged_by_the_interval() -> None:
    old = [more(RIGHT, 100)] * 40
    new = [more(RIGHT, 60 + 105 * (number % 2)) for number in range(40)]
    check = find_check(check_run(side(new), Limits(max_token_increase=0.1), base(old)), "tokens")
    assert check.verdict is UNSURE
    assert check.low is not None
    assert check.high is not None
    assert check.low < 1.1 < check.high


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(0.01, 0.01, PASS, id="as-dear"),
        pytest.param(0.01, 0.02, FAIL, id="dearer"),
        pytest.param(0.01, None, UNSURE, id="price-unknown"),
        pytest.param(None, None, UNSURE, id="both-unknown"),
        pytest.param(0.0, 0.0, PASS, id="nothing-at-all"),
    ],
)
def test_E6_cost(old: float | None, new: float | None, verdict: Verdict) -> None:
    result = check_run(
        side([more(RIGHT, cost=new)] * 50), Limits(max_cost_increase=0.0), base([more(RIGHT, cost=old)] * 50)
    )
    check = find_check(result, "cost")
    assert check.verdict is verdict
    assert isinstance(check.reason, AmountChange)
    assert (check.reason.contrast.measure, check.reason.tolerated) == (Measure.COST_USD, 0.0)
    assert (check.observed is None) is (verdict is UNSURE)


def test_arms_are_held_against_their_own_kind_alone() -> None:
    result = check_run(
        side([RIGHT] * MANY, [WRONG] * MANY, names=(FULL, replace(FULL, model="other"))),
        Limits(),
        base([RIGHT] * MANY, [RIGHT] * MANY),
    )
    arms = {check.arm: check.verdict for check in result.checks if check.name == "arms"}
    assert arms == {TIERED: UNSURE, replace(FULL, model="other"): PASS}
    assert [check.arm for check in result.checks if check.name == "accuracy"] == [FULL]
    lone = check_run(side([RIGHT] * MANY, names=(replace(FULL, model="other"),)), Limits(), base([RIGHT] * MANY))
    assert "accuracy" not in names(lone), "another model is no successor, though each side has one arm"
    assert lone.verdict is UNSURE


def test_solved_is_judged_where_it_is_asked_for() -> None:
    half = replace(RIGHT, outcome=Outcome.WRONG_ARGUMENTS)
    limits = Limits(measure=Measure.SOLVED, min_accuracy=0.5)
    result = check_run(side([half] * MANY), limits, base([RIGHT] * MANY))
    assert (find_check(result, "solved").verdict, find_check(result, "min-solved").verdict) == (FAIL, FAIL)
    assert find_check(check_run(side([half] * MANY), Limits(), base([RIGHT] * MANY)), "accuracy").verdict is PASS


def test_a_run_that_is_going_on_is_waited_for_not_resumed() -> None:
    running = side([RIGHT, None], status="running")
    check = find_check(check_run(running, Limits()), "complete")
    assert check.verdict is UNSURE
    assert (check.observed, check.limit) == (1, 2)
    assert check.reason == UnfinishedRun(running.about, 1, 2)


@pytest.mark.parametrize(
    ("run", "baseline"),
    [
        pytest.param(side([]), None, id="no-case"),
        pytest.param(side([]), base([]), id="no-case-in-either"),
        pytest.param(replace(side([RIGHT]), arms=()), None, id="no-arm"),
        pytest.param(replace(side([RIGHT]), arms=()), replace(base([RIGHT]), arms=()), id="no-arm-in-either"),
    ],
)
def test_E7_where_there_is_no_trial_there_is_no_pass(run: WrittenSide, baseline: WrittenSide | None) -> None:
    result = check_run(run, Limits(min_accuracy=0.0), baseline)
    assert (result.verdict, find_check(result, "complete").verdict) == (UNSURE, UNSURE)


def test_E7_arms_that_the_baseline_lacks_do_not_pass_alone() -> None:
    only = {FULL.key}
    tiered = base([RIGHT] * MANY, names=(TIERED,))
    alone = check_run(side([RIGHT] * MANY, [RIGHT] * MANY), Limits(), tiered, only=only)
    assert [check.arm for check in alone.checks if check.verdict is UNSURE] == [FULL]
    assert alone.verdict is UNSURE
    both = check_run(side([RIGHT] * MANY, [RIGHT] * MANY), Limits(), tiered)
    assert both.verdict is PASS, "beside one that is compared with its own kind it is told, and no fault"
    limits = Limits(min_accuracy=0.1)
    some = check_run(side([RIGHT] * MANY, [RIGHT] * MANY), limits, only=only)
    assert find_check(some, "arms").reason == CheckedArms(same=None, left_out=1)
    assert some.verdict is PASS


def test_a_tool_that_has_lost_all_its_cases_is_told_within_the_margin() -> None:
    image = replace(RIGHT, called=("media/look",))
    blind = replace(WRONG, missing=("media/look",), called=("web/open",), surplus=("web/open",))
    old = base([RIGHT] * (MANY - 3) + [image] * 3)
    gone = check_run(side([RIGHT] * (MANY - 3) + [blind] * 3), Limits(margin=0.1), old)
    assert gone.verdict is PASS, "three of three hundred are within the margin"
    assert gone.lost == (LostTool(FULL, "media/look", 3),)
    assert mentions(summary_line(gone), FULL.label, 3, 0)
    assert gate_data(gone)["lost"] == [{"arm": FULL.label, "tool": "media/look", "cases": 3}]
    one_left = check_run(side([RIGHT] * (MANY - 3) + [blind, blind, image]), Limits(margin=0.1), old)
    assert one_left.lost == ()
    one_flipped = check_run(side([RIGHT] * (MANY - 1) + [blind]), Limits(margin=0.1), base([RIGHT] * MANY))
    assert one_flipped.lost == (), "a single one is a flip like others"
    unknown = check_run(base([RIGHT] * (MANY - 3) + [blind] * 3), Limits(margin=0.1), old)
    assert unknown.lost == (), "a baseline does not keep what was called where it was right"


@pytest.mark.parametrize(
    ("outcome", "lost"),
    [
        pytest.param(Outcome.WRONG_TOOL, (), id="called-in-another-order-it-is-still-found"),
        pytest.param(Outcome.UNOFFERED_TOOL, (LostTool(FULL, "media/look", 3),), id="no-longer-offered-it-is-lost"),
    ],
)
def test_a_tool_that_is_called_in_vain(outcome: Outcome, lost: tuple[LostTool, ...]) -> None:
    both = replace(WRONG, outcome=outcome, missing=("media/look",), surplus=("media/look",), called=("media/look",))
    result = check_run(side([RIGHT] * (MANY - 3) + [both] * 3), Limits(margin=0.1), base([RIGHT] * MANY))
    assert result.lost == lost


def test_arguments_that_a_baseline_did_not_keep_are_no_calls_of_nothing() -> None:
    """A baseline that is looked at as the run: what it called where the tools were right was not kept."""
    wrong = Attempt(Outcome.WRONG_ARGUMENTS, True, None, definition_tokens=100, own_prompt_tokens=150, cost_usd=0.0)
    result = check_run(base([wrong] * 40), Limits(measure=Measure.SOLVED), base([RIGHT] * 40))
    message = describe_check_reason(find_check(result, "solved"))
    assert mentions(message, 40, "wrong arguments", 0)
    assert "nothing" not in message


def test_nothing_looked_at_proves_nothing() -> None:
    assert GateResult(ABOUT, (), Limits()).verdict is UNSURE
    assert gate_data(GateResult(ABOUT, (), Limits()))["exit_code"] == 3


ORDER = (PASS, UNSURE, FAIL)


@given(st.lists(st.sampled_from(ORDER), min_size=1, max_size=6))
def test_the_worst_check_decides(verdicts: list[Verdict]) -> None:
    checks = tuple(
        GateCheck(f"check-{number}", verdict, PlainReason.NO_DRAFTS) for number, verdict in enumerate(verdicts)
    )
    assert GateResult(ABOUT, checks, Limits()).verdict is max(verdicts, key=ORDER.index)


def test_E6_a_single_cluster_has_no_interval_and_no_verdict() -> None:
    def one_cluster(written: WrittenSide) -> WrittenSide:
        (cases,) = written.cases
        return replace(written, cases=({name: replace(one, cluster="k") for name, one in cases.items()},))

    old, new = one_cluster(base([more(RIGHT, 100)] * 5)), one_cluster(side([more(RIGHT, 100)] * 5))
    check = find_check(check_run(new, Limits(max_token_increase=0.1), old), "tokens")
    assert check.verdict is UNSURE
    assert isinstance(check.reason, AmountChange)
    assert MissingFigures.SINGLE_CLUSTER in check.reason.contrast.reasons


def test_a_result_can_be_read_in_a_shell() -> None:
    alone = check_run(side([RIGHT] * 20), Limits(min_accuracy=0.1))
    assert repr(alone) == f"<GateResult of {alone.run.name}: no_regression, 3 of 3 checks passed>"
    lost = check_run(side([WRONG] * 20), Limits(), base([RIGHT] * 20))
    assert repr(lost) == (
        f"<GateResult of {lost.run.name} against baseline.json: regression, 5 of 6 checks passed: "
        f"accuracy of {FULL.label} regression>"
    )
    many = repr(replace(lost, checks=tuple(check for check in lost.checks if check.verdict is FAIL) * 8))
    assert many.endswith(f"accuracy of {FULL.label} regression, … 2 more>")
