"""pass@k and pass^k of an arm, compared with drawing every set of k epochs."""

from __future__ import annotations

import statistics
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.evals.analysis.summary.queries import draws_of
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.analysis.summary.summarize import summarize, summary_data
from toolbelt.evals.scoring.outcome import Outcome

ARMS = [("m", "full", ""), ("m", "tiered", "")]
HOW: dict[str, dict[str, Any]] = {
    "right": {},
    "wrong arguments": {"outcome": "wrong_arguments"},
    "wrong": {"outcome": "wrong_tool"},
    "uncovered": {"covered": 0},
    "error": {"outcome": "error"},
    "overflow": {"outcome": "context_overflow"},
}
"""What may become of a trial, as a row differs from one that is right."""
RIGHT, UNSCORED = {"right", "wrong arguments"}, {"error", "overflow"}


def summaries(ended: list[list[list[str | None]]], epochs: int) -> tuple[ArmSummary, ...]:
    """Of trials by arm, case and epoch; `None` for one that was not run yet."""
    rows: list[dict[str, Any]] = [
        {"trial": (case * 2 + arm) * epochs + epoch, "arm": arm, "case_id": f"c{case}", "cluster": "all"}
        | {"epoch": epoch}
        | HOW[how]
        for arm, cases in enumerate(ended)
        for case, hows in enumerate(cases)
        for epoch, how in enumerate(hows)
        if how is not None
    ]
    return summarize(database(ARMS, rows, plan={"epochs": epochs, "cases": len(ended[0])}), RUN).arms


@pytest.mark.parametrize(
    ("epochs", "draws"), [(1, ()), (2, (1, 2)), (3, (1, 2, 3)), (4, (1, 2, 4)), (5, (1, 2, 4, 5)), (8, (1, 2, 4, 8))]
)
def test_E7_the_draws_that_are_told(epochs: int, draws: tuple[int, ...]) -> None:
    assert draws_of(epochs) == draws


HOWS = st.none() | st.sampled_from([*HOW])


@given(st.integers(2, 5), st.data())
@settings(max_examples=40, deadline=None)
def test_E7_they_are_the_shares_of_draws_of_k_epochs(epochs: int, data: st.DataObject) -> None:
    cases = st.lists(st.lists(HOWS, min_size=epochs, max_size=epochs), min_size=3, max_size=3)
    ended = [data.draw(cases), data.draw(cases)]
    for arm, by_case in zip(summaries(ended, epochs), ended, strict=True):
        scored = [[how in RIGHT for how in hows if how is not None and how not in UNSCORED] for hows in by_case]
        assert [each.k for each in arm.passing] == list(draws_of(epochs))
        for measure in arm.passing:
            k = measure.k
            drawn = [list(combinations(trials, k)) for trials in scored if len(trials) >= k]
            at = [statistics.mean(any(draw) for draw in draws) for draws in drawn]
            each = [statistics.mean(all(draw) for draw in draws) for draws in drawn]
            assert measure.cases == len(drawn)
            if drawn:
                assert measure.at_least_once == pytest.approx(statistics.mean(at))
                assert measure.each_time == pytest.approx(statistics.mean(each))
            else:
                assert (measure.at_least_once, measure.each_time) == (None, None)


def test_E7_in_the_json_with_the_cases_left_out() -> None:
    ended: list[list[list[str | None]]] = [
        [["right", "wrong"], ["right", "right"], ["right", "error"], [None, None]],
        [["error", "error"], ["overflow", None], [None, None], [None, None]],
    ]
    rows = [
        {"arm": arm, "case_id": f"c{case}", "cluster": f"c{case}", "epoch": epoch} | HOW[how]
        for arm, cases in enumerate(ended)
        for case, hows in enumerate(cases)
        for epoch, how in enumerate(hows)
        if how is not None
    ]
    first, second = summary_data(summarize(database(ARMS, rows, plan={"epochs": 2}), RUN))["arms"]
    share = pytest.approx(2.5 / 3)
    assert first["pass"] == [
        {
            "k": 1,
            "at_least_once": share,
            "each_time": share,
            "cases": 3,
            "left_out": 1,
        },
        {"k": 2, "at_least_once": 1.0, "each_time": 0.5, "cases": 2, "left_out": 2},
    ]
    nothing = {"at_least_once": None, "each_time": None, "cases": 0, "left_out": 4}
    assert second["pass"] == [{"k": 1} | nothing, {"k": 2} | nothing]
    assert not [name for name in first if name.startswith("pass_")]


def test_E7_where_each_case_is_asked_once_there_is_none() -> None:
    summary = summarize(database(ARMS, [{}]), RUN)
    assert [arm["pass"] for arm in summary_data(summary)["arms"]] == [[], []]
    assert summary.arms[0].passing == ()


TOO_LONG: dict[str, Any] = {"outcome": "context_overflow", "reason": "It is too long.", "definition_tokens": 400}
AWAY: dict[str, Any] = {"outcome": "context_overflow", "reason": "No room.", "definition_tokens": 700, "requests": 0}
FAILED: dict[str, Any] = {"outcome": "error", "reason": "Nobody answered.", "definition_tokens": 100}


def test_E4_what_was_offered_counts_whether_it_was_scored_or_not() -> None:
    trials: list[dict[str, Any]] = [{"arm": 0}, {"arm": 0, **TOO_LONG}, {"arm": 0, **AWAY}, {"arm": 1, **AWAY}]
    some, none, nothing = summarize(database([("m", "full", ""), ("m", "b", ""), ("m", "c", "")], trials), RUN).arms
    assert (some.definition_tokens, some.offered_tokens) == (100, 400), "the first is of scored trials alone"
    assert (none.definition_tokens, none.offered_tokens) == (None, 700)
    assert nothing.offered_tokens is None


def test_E4_what_was_turned_away_is_told_from_what_the_provider_refused() -> None:
    trials = [TOO_LONG, AWAY, AWAY, FAILED | {"requests": 0}, {}]
    [arm] = summarize(database([("m", "full", "")], trials), RUN).arms
    assert (arm.outcomes[Outcome.CONTEXT_OVERFLOW], arm.turned_away) == (3, 2), "what failed was not turned away"


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        pytest.param([], "", id="there-is-none"),
        pytest.param(["a", "b", "b"], "b", id="the-commonest"),
        pytest.param(["b", "a", "a", "b"], "b", id="of-equals-the-first"),
    ],
)
def test_E4_the_commonest_reason(reasons: list[str], told: str) -> None:
    trials = [TOO_LONG | {"reason": reason} for reason in reasons]
    trials += [FAILED | {"reason": f"{reason}!"} for reason in reasons]
    arm, other = summarize(database([("m", "full", ""), ("m", "b", "")], [{}, *trials]), RUN).arms
    assert (arm.overflow_reason, arm.error_reason) == (told, told and f"{told}!")
    assert (other.overflow_reason, other.error_reason) == ("", "")


@pytest.mark.parametrize(
    ("offers", "first"),
    [
        pytest.param([], None, id="nothing-was-asked"),
        pytest.param(["x", "x"], "x", id="always-the-same"),
        pytest.param(["x", "y"], None, id="not-always-the-same"),
    ],
)
def test_L15_the_first_offer_where_there_is_just_one(offers: list[str], first: str | None) -> None:
    requests = [{"trial": number, "offer": offer} for number, offer in enumerate(offers)]
    requests += [{"trial": 0, "request": 1, "offer": "later"}] if offers else []
    [arm] = summarize(database([("m", "full", "")], [{}, {}], requests), RUN).arms
    assert arm.first_offer == first
