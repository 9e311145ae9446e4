"""What a run comes to (rules E4, E5 and E6), compared with counting by hand."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.summary.rates import has_single_clusters
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate
from toolbelt.evals.analysis.summary.summarize import summarize, summary_data, time_reading
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.intervals import wilson_interval

ARM = ("local/bm25", "full", "")


def _one_arm(*trials: Mapping[str, Any], **settings: Any) -> ArmSummary:
    cases = [{"case_id": f"c{n}", "cluster": f"c{n}"} | dict(trial) for n, trial in enumerate(trials)]
    [arm] = summarize(database([ARM], cases, **settings), RUN).arms
    return arm


def _counts(rate: Rate) -> tuple[int, int]:
    return rate.numerator, rate.denominator


@pytest.mark.parametrize("outcome", ["error", "context_overflow"])
def test_E4_unscored_trials_are_in_no_rate_and_no_mean_but_are_counted(outcome: str) -> None:
    failed = {"outcome": outcome, "definition_tokens": 9999, "requests": 7, "covered": 0, "arguments_checked": 3}
    arm = _one_arm({}, {"outcome": "wrong_tool"}, failed)
    assert (arm.planned, arm.finished, arm.scored) == (4, 3, 2)
    assert _counts(arm.accuracy) == (1, 2)
    assert _counts(arm.coverage) == (2, 2)
    assert _counts(arm.argument_correctness) == (0, 0)
    assert (arm.definition_tokens, arm.requests) == (100, 1)
    assert arm.outcomes == {outcome: 1, "wrong_tool": 1, "correct": 1}
    assert list(arm.outcomes) == [o.value for o in Outcome if o.value in arm.outcomes]


def test_E4_an_arm_with_nothing_scored_has_no_values_rather_than_noughts() -> None:
    arm = _one_arm({"outcome": "error", "cost_usd": None}, {"outcome": "context_overflow", "cost_usd": None})
    rates = [
        value
        for name in ArmSummary.__slots__
        if isinstance(value := getattr(arm, name), Rate) and name != "right_of_asked"
    ]
    assert len(rates) == 12
    assert _counts(arm.right_of_asked) == (0, 1), "what did not fit was asked"
    assert all(rate == Rate() and rate.value is None for rate in rates)
    means = (arm.definition_tokens, arm.prompt_tokens, arm.requests, arm.cost_usd, arm.cost_usd_total, arm.f1)
    assert means == (None,) * 6
    assert (arm.latency_seconds, arm.latency_p95_seconds, arm.scored, arm.finished) == (None, None, 0, 2)


@pytest.mark.parametrize(
    ("trial", "measure", "counts"),
    [
        pytest.param({"outcome": "wrong_arguments"}, "accuracy", (1, 1), id="wrong-arguments-are-right-by-names"),
        pytest.param({"outcome": "invalid_arguments"}, "accuracy", (1, 1), id="invalid-arguments-are-right-by-names"),
        pytest.param({"outcome": "extra_call"}, "accuracy", (0, 1), id="an-extra-call-is-not-right"),
        pytest.param({"outcome": "wrong_arguments"}, "solved", (0, 1), id="wrong-arguments-do-not-solve"),
        pytest.param({"covered": 0}, "accuracy", (0, 1), id="an-uncovered-case-is-never-right"),
        pytest.param({"covered": 0}, "selection_given_coverage", (0, 0), id="selection-is-over-covered-cases-alone"),
        pytest.param({"outcome": "refused"}, "coverage", (1, 1), id="a-refusal-is-scored"),
        pytest.param({"surfaced": 0}, "surfaced", (0, 1), id="covered-is-not-yet-surfaced"),
        pytest.param({}, "abstention", (0, 0), id="abstention-is-over-cases-that-want-no-call"),
        pytest.param({"expects_nothing": 1}, "abstention", (1, 1), id="right-where-nothing-was-wanted"),
        pytest.param(
            {"expects_nothing": 1, "selections": 1, "hits": 1, "made": 1},
            "abstention",
            (1, 1),
            id="an-accepted-call-is-right-too-where-nothing-was-needed",
        ),
        pytest.param(
            {"expects_nothing": 1, "selections": 0, "outcome": "refused"},
            "abstention",
            (0, 1),
            id="refusing-is-no-right-answer-though-nothing-is-called",
        ),
        pytest.param(
            {"expects_nothing": 1, "outcome": "unneeded_call"}, "abstention", (0, 1), id="an-unneeded-call-is-wrong"
        ),
        pytest.param({"outcome": "hallucinated_tool"}, "hallucination", (1, 1), id="an-invented-tool"),
        pytest.param({"outcome": "unoffered_tool"}, "hallucination", (0, 1), id="a-known-tool-is-not-invented"),
        pytest.param(
            {"covered": 0, "selections": 0, "outcome": "missing_call"}, "abstained_uncovered", (1, 1), id="abstained"
        ),
        pytest.param(
            {"covered": 0, "selections": 0, "outcome": "refused"}, "abstained_uncovered", (0, 0), id="refusing-is-out"
        ),
        pytest.param(
            {"covered": 0, "selections": 0, "outcome": "gave_up"}, "abstained_uncovered", (0, 0), id="giving-up-is-out"
        ),
        pytest.param(
            {"covered": 0, "selections": 0, "outcome": "truncated"},
            "abstained_uncovered",
            (0, 0),
            id="being-cut-is-out",
        ),
        pytest.param(
            {"outcome": "truncated", "expects_nothing": 1}, "abstention", (0, 1), id="a-cut-abstention-is-wrong"
        ),
        pytest.param({"outcome": "truncated"}, "accuracy", (0, 1), id="a-cut-answer-is-wrong"),
        pytest.param({"outcome": "truncated"}, "truncated", (1, 1), id="a-cut-answer"),
        pytest.param({"outcome": "missing_call"}, "truncated", (0, 1), id="a-whole-answer"),
        pytest.param(
            {"covered": 0, "selections": 1, "outcome": "wrong_tool"},
            "abstained_uncovered",
            (0, 1),
            id="did-not-abstain",
        ),
        pytest.param(
            {"covered": 1, "selections": 0, "outcome": "missing_call"}, "abstained_uncovered", (0, 0), id="not-if-there"
        ),
        pytest.param(
            {"arguments_checked": 3, "arguments_right": 2}, "argument_correctness", (2, 3), id="arguments-are-per-call"
        ),
        pytest.param({"hits": 1, "made": 3, "wanted": 2}, "precision", (1, 3), id="precision-is-of-calls-made"),
        pytest.param({"hits": 1, "made": 3, "wanted": 2}, "recall", (1, 2), id="recall-is-of-calls-wanted"),
        pytest.param({"hits": None, "made": None, "wanted": None}, "recall", (0, 0), id="any-call-will-do-has-none"),
    ],
)
def test_E5_each_measure_counts_what_it_says(trial: dict[str, Any], measure: str, counts: tuple[int, int]) -> None:
    assert _counts(getattr(_one_arm(trial), measure)) == counts


def test_E5_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    arm = _one_arm({"hits": 1, "made": 3, "wanted": 2}, {"hits": 2, "made": 2, "wanted": 2})
    assert (arm.precision.value, arm.recall.value) == (3 / 5, 3 / 4)
    assert arm.f1 == pytest.approx(statistics.harmonic_mean([3 / 5, 3 / 4]))


@pytest.mark.parametrize(
    ("change", "is_wilson"),
    [
        pytest.param({}, True, id="one-trial-a-cluster"),
        pytest.param({"cluster": "other"}, True, id="a-cluster-by-another-name"),
        pytest.param({"cluster": "c0"}, False, id="two-cases-of-one-cluster"),
        pytest.param({"case_id": "c0", "cluster": "c0", "epoch": 1}, False, id="a-second-epoch"),
        pytest.param({"cluster": "c0", "arm": 1}, True, id="of-another-arm"),
    ],
)
def test_E7_wilson_only_where_each_cluster_was_tried_once(change: dict[str, Any], is_wilson: bool) -> None:
    own = [{"case_id": f"c{n}", "cluster": f"c{n}", "outcome": "correct" if n % 3 else "wrong_tool"} for n in range(30)]
    last = {"case_id": "last", "cluster": "last", "outcome": "wrong_tool"} | change
    arm = summarize(database([ARM, ("m", "tiered", "")], [*own, last]), RUN).arms[0]
    rate = arm.accuracy
    assert ((rate.low, rate.high) == wilson_interval(*_counts(rate))) == is_wilson


@pytest.mark.parametrize(
    ("change", "is_single"),
    [
        pytest.param({}, True, id="each-case-its-own-cluster"),
        pytest.param({"cluster": "other"}, True, id="a-cluster-by-another-name"),
        pytest.param({"cluster": "c0"}, False, id="two-cases-of-one-cluster"),
        pytest.param({"cluster": "c0", "arm": 1}, True, id="of-another-arm"),
        pytest.param({"cluster": "c0", "run": "20260302-120000-beef"}, True, id="of-another-run"),
    ],
)
def test_E7_clusters_are_counted_only_where_an_arm_has_two_trials_of_one(
    change: dict[str, Any], is_single: bool
) -> None:
    cases = [{"case_id": "c0", "cluster": "c0"}, {"case_id": "c1", "cluster": "c1"} | change]
    assert has_single_clusters(database([ARM, ("m", "tiered", "")], cases), RUN) is is_single


def test_E7_several_calls_of_one_trial_are_not_independent() -> None:
    trials = [{"hits": n % 2 * 5, "made": 5, "wanted": 5} for n in range(20)]
    arm = _one_arm(*trials)
    low, high = wilson_interval(50, 100)
    assert (arm.accuracy.low, arm.accuracy.high) == wilson_interval(20, 20)
    assert arm.precision.low is not None
    assert arm.precision.high is not None
    assert arm.precision.high - arm.precision.low > 1.5 * (high - low)


TRIALS = st.lists(
    st.fixed_dictionaries(
        {
            "arm": st.integers(0, 2),
            "outcome": st.sampled_from([outcome.value for outcome in Outcome]),
            "covered": st.integers(0, 1),
            "surfaced": st.integers(0, 1),
            "expects_nothing": st.integers(0, 1),
            "selections": st.integers(0, 3),
            "epoch": st.integers(0, 1),
            "cluster": st.sampled_from(["a", "b", "c", "d"]),
            "prompt_tokens": st.none() | st.integers(0, 10_000),
            "cost_usd": st.none() | st.floats(0, 10),
        }
    ),
    max_size=30,
)


@given(TRIALS)
@settings(max_examples=60, deadline=None)
def test_E5_accuracy_is_coverage_times_selection_given_coverage(trials: list[dict[str, Any]]) -> None:
    summary = summarize(database([ARM, ("m", "tiered", ""), ("m", "oracle", "")], trials), RUN)
    assert summary.scored == sum(trial["outcome"] not in ("error", "context_overflow") for trial in trials)
    for arm in summary.arms:
        assert arm.accuracy.numerator == arm.selection_given_coverage.numerator
        assert arm.coverage.numerator == arm.selection_given_coverage.denominator
        assert arm.accuracy.denominator == arm.coverage.denominator == arm.scored
        if arm.coverage.numerator:
            product = Fraction(*_counts(arm.coverage)) * Fraction(*_counts(arm.selection_given_coverage))
            assert Fraction(*_counts(arm.accuracy)) == product
        assert arm.solved.numerator <= arm.accuracy.numerator
        assert arm.scored <= arm.finished == sum(arm.outcomes.values())
        for rate in (arm.accuracy, arm.coverage, arm.selection_given_coverage, arm.abstention, arm.hallucination):
            if rate.value is not None:
                assert rate.low is not None
                assert rate.high is not None
                assert 0 <= rate.low <= rate.value + 1e-12
                assert rate.value - 1e-12 <= rate.high <= 1


def test_E6_reported_tokens_are_kept_apart_from_own_counts() -> None:
    own = _one_arm({"own_prompt_tokens": 10}, {"own_prompt_tokens": 20})
    assert (own.prompt_tokens, own.prompt_tokens_reported, own.completion_tokens) == (15, False, None)
    assert own.prompt_tokens_trials == 0
    reported = _one_arm(
        {"prompt_tokens": 12, "completion_tokens": 3},
        {"prompt_tokens": 14, "completion_tokens": 5},
        {"outcome": "error"},
    )
    assert (reported.prompt_tokens, reported.prompt_tokens_reported, reported.completion_tokens) == (13, True, 4)
    assert reported.prompt_tokens_trials == 2


REPORTED = ("prompt_tokens", "completion_tokens", "cached_read_tokens", "cached_write_tokens")


@pytest.mark.parametrize("figure", REPORTED)
def test_E6_usage_that_some_trials_lack_is_no_mean_of_the_others(figure: str) -> None:
    """Six of 38 say 83; the others' prompts, which have twice as many tokens of definitions alone, say nothing."""
    whole: dict[str, int | None] = dict.fromkeys(REPORTED, 500)
    partly = [whole | {figure: 83 if n < 6 else None, "own_prompt_tokens": 200 + n} for n in range(38)]
    arm = _one_arm(*partly)
    expected: dict[str, float | None] = {**whole, figure: None}
    if figure == "prompt_tokens":
        expected[figure] = 200 + 37 / 2
    assert {name: getattr(arm, name) for name in REPORTED} == expected
    told = (False, 6) if figure == "prompt_tokens" else (True, 38)
    assert (arm.prompt_tokens_reported, arm.prompt_tokens_trials) == told


@pytest.mark.parametrize(
    ("tokens", "mean"),
    [
        pytest.param((0, 30), 15, id="a-mean-over-scored-trials"),
        pytest.param((0, 0), 0, id="nothing-changed"),
        pytest.param((None, None), None, id="unknown"),
        pytest.param((30, None), None, id="unknown-of-one"),
    ],
)
@pytest.mark.parametrize("figure", ["invalidated_tokens", "repeated_tokens"])
def test_E6_what_a_cache_could_serve_and_what_was_lost_is_kept(
    figure: str, tokens: tuple[int | None, int | None], mean: float | None
) -> None:
    failed = {"outcome": "error", figure: 999}
    arm = _one_arm(*({figure: count} for count in tokens), failed)
    assert getattr(arm, figure) == mean


@pytest.mark.parametrize(
    ("ranks", "mean"),
    [
        pytest.param((1, 4), 2.5, id="a-mean-over-scored-trials"),
        pytest.param((3, None), 3, id="of-those-that-were-found"),
        pytest.param((None, None), None, id="nothing-was-found-or-searched-for"),
    ],
)
def test_S3_the_mean_rank_is_over_what_was_found(ranks: tuple[int | None, int | None], mean: float | None) -> None:
    arm = _one_arm(*({"rank": rank} for rank in ranks), {"outcome": "error", "rank": 99})
    assert arm.mean_rank == mean


def test_E6_cost_is_none_where_a_price_is_unknown_and_counts_unscored_trials_in_the_total() -> None:
    known = _one_arm({"cost_usd": 0.25}, {"cost_usd": 0.75}, {"outcome": "error", "cost_usd": 2.0, "retries": 3})
    assert (known.cost_usd, known.cost_usd_total, known.retries) == (0.5, 3.0, 3)
    unknown = _one_arm({"cost_usd": 0.25}, {"cost_usd": None})
    assert (unknown.cost_usd, unknown.cost_usd_total) == (None, None)
    unanswered = _one_arm({"cost_usd": 0.25}, {"outcome": "error", "cost_usd": None})
    assert (unanswered.cost_usd, unanswered.cost_usd_total) == (0.25, 0.25)


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0, 100)), min_size=1, max_size=50))
@settings(max_examples=40, deadline=None)
def test_E6_latency_is_over_answered_requests(asked: list[tuple[int, float]]) -> None:
    requests: list[dict[str, Any]] = [
        {"trial": arm, "request": n, "latency_seconds": took} for n, (arm, took) in enumerate(asked)
    ]
    failed = [r | {"attempt": 1, "failure": "timeout", "latency_seconds": 1000.0} for r in requests]
    under_way: list[dict[str, Any]] = [{"trial": 77, "request": 0, "latency_seconds": 5000.0}]
    trials = [{"arm": 0, "trial": 0}, {"arm": 1, "trial": 1}]
    summary = summarize(database([ARM, ("m", "f", "")], trials, requests + failed + under_way), RUN)
    for number, arm in enumerate(summary.arms):
        took = sorted(latency for of, latency in asked if of == number)
        if not took:
            assert arm.latency_seconds is None
            continue
        assert arm.latency_seconds == pytest.approx(statistics.median(took))
        assert arm.latency_p95_seconds == took[math.ceil(0.95 * len(took)) - 1]


def test_tools_offered_is_the_mean_at_first_requests() -> None:
    requests: list[dict[str, Any]] = [
        {"trial": 0, "request": 0, "tools": 10},
        {"trial": 0, "request": 1, "tools": 90},
        {"trial": 1, "request": 0, "attempt": 0, "tools": 20, "failure": "timeout"},
        {"trial": 1, "request": 0, "attempt": 1, "tools": 20},
    ]
    [arm] = summarize(database([ARM], [{}, {"case_id": "c1"}], requests), RUN).arms
    assert arm.tools_offered == 15


def test_E6_first_offers_are_the_different_lists_at_first_requests_of_finished_trials() -> None:
    requests: list[dict[str, Any]] = [
        {"trial": 0, "offer": "x"},
        {"trial": 0, "request": 1, "offer": "later"},
        {"trial": 1, "offer": "y", "failure": "timeout"},
        {"trial": 1, "attempt": 1, "offer": "y"},
        {"trial": 2, "offer": "x"},
        {"trial": 3, "offer": "z", "failure": "context_overflow"},
        {"trial": 4, "offer": "z", "failure": "context_overflow"},
        {"trial": 99, "offer": "of a trial under way"},
    ]
    trials = [
        {"case_id": f"c{n}", "arm": n // 3, "outcome": "context_overflow" if n > 2 else "correct"} for n in range(5)
    ]
    arms = summarize(database([ARM, ("m", "tiered", ""), ("m", "oracle", "")], trials, requests), RUN).arms
    assert [arm.first_offers for arm in arms] == [2, 1, None]
    assert [arm.latency_seconds for arm in arms] == [0.5, None, None]
    assert [arm.tools_offered for arm in arms] == [10, None, None]


def test_a_run_tells_what_it_was_made_with() -> None:
    code = {"toolbelt": "1.2.3", "commit": "0f" * 20, "changed": "no"}
    connection = database([ARM], [{}], plan={"surroundings": "s1", "chosen": "c1", "code": code})
    summary = summarize(connection, RUN)
    assert (summary.surroundings, summary.chosen, summary.code) == ("s1", "c1", code)
    assert summary.arms[0].tokenizer == "o200k_base"
    data = summary_data(summary)
    assert (data["surroundings"], data["chosen"], data["code"]) == ("s1", "c1", code)
    assert data["arms"][0]["tokenizer"] == "o200k_base"
    assert summarize(database([ARM], []), RUN).code == {}, "an older plan says nothing of it"


def test_arms_come_in_the_order_asked_for_also_where_nothing_was_run() -> None:
    arms = [("z", "full", ""), ("a", "tiered", "shuffled"), ("m", "oracle", "")]
    summary = summarize(database(arms, [{"arm": 2}], status="interrupted", reason="Ctrl-C"), RUN)
    assert [(arm.model, arm.toolset, arm.variant, arm.finished) for arm in summary.arms] == [
        ("z", "full", "", 0),
        ("a", "tiered", "shuffled", 0),
        ("m", "oracle", "", 1),
    ]
    assert (summary.status, summary.reason, summary.planned, summary.scored) == ("interrupted", "Ctrl-C", 12, 1)


@pytest.mark.parametrize(("given", "told"), [(None, "running"), ("killed", "killed")])
def test_the_status_can_be_told_by_who_knows_better(given: str | None, told: str) -> None:
    summary = summarize(database([ARM], [{}], status="running"), RUN, given)
    assert summary.status == summary_data(summary)["status"] == told


@given(st.sampled_from(["m", "a/b"]), st.sampled_from(["full", "tiered"]), st.sampled_from(["", "shuffled"]))
def test_an_arm_is_named_by_model_toolset_and_variant(model: str, toolset: str, variant: str) -> None:
    arm = ArmSummary(model, toolset, variant)
    assert arm.label.split(" · ") == [part for part in (model, toolset, variant) if part]
    assert arm.label == f"{model} · {arm.toolset_label}"


def test_an_unknown_run_is_told_with_those_there_are() -> None:
    with pytest.raises(NotFoundError, match=rf"No run named 'nope'. Known: {RUN}"):
        summarize(database([ARM], []), "nope")


def test_summarize_leaves_the_connection_as_it_was() -> None:
    connection = database([ARM], [{}])
    summarize(connection, RUN)
    assert not connection.in_transaction
    connection.execute("BEGIN")
    connection.execute("DELETE FROM trials")
    assert summarize(connection, RUN).scored == 0
    assert connection.in_transaction


def test_C_the_json_has_the_promised_keys() -> None:
    summary = summarize(database([ARM], [{}, {"case_id": "c1", "outcome": "error"}]), RUN)
    data = summary_data(replace(summary, excluded={"not in the catalog: x/y": 2}))
    assert data["run"] == RUN
    assert data["dataset"] == {"name": "assistant", "digest": "sha256:0123456789abcdef"}
    assert (data["excluded"], data["planned"], data["scored"], data["errors"]) == (
        {"not in the catalog: x/y": 2},
        4,
        1,
        1,
    )
    [arm] = data["arms"]
    promised = "model toolset variant accuracy solved coverage selection_given_coverage definition_tokens prompt_tokens"
    assert set(arm) >= {
        *promised.split(),
        "requests",
        "cost_usd",
        "outcomes",
        "abstained_uncovered",
        "invalidated_tokens",
    }
    assert set(arm["accuracy"]) == {"value", "numerator", "denominator", "low", "high"}
    assert arm["abstention"] == {"value": None, "numerator": 0, "denominator": 0, "low": None, "high": None}
    assert arm["outcomes"] == {"error": 1, "correct": 1}


def test_a_long_query_reports_progress_until_the_run_is_read() -> None:
    reports: list[int] = []

    @contextmanager
    def progress(label: str, total: None) -> Iterator[Callable[[int], object]]:
        assert (label, total) == ("reading the run, seconds", None)
        yield reports.append

    connection = database([ARM], [{}])
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500000) SELECT count(*) FROM n"
    with time_reading(connection, progress):
        assert connection.execute(numbers).fetchone() == (500_000,)
    assert reports == sorted(reports)
    assert reports[0] == 0
    shown = len(reports)
    connection.execute(numbers).fetchone()
    assert len(reports) == shown > 1
