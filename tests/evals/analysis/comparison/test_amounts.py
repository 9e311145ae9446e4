"""Tokens, requests, cost and time of two arms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evals.analysis.comparison.sides import ARM, OUTCOMES, side
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.comparison.reasons import DifferentTokenizers, MissingFigures
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt

AMOUNTS = [measure for measure in Measure if not measure.is_share]


def tried(outcome: str = "+", **figures: Any) -> Attempt:
    attempt = OUTCOMES[outcome]
    assert attempt is not None
    known = {"prompt_tokens": 10, "own_prompt_tokens": 12, "cost_usd": 0.5, "latency_seconds": 1.5, **figures}
    return replace(attempt, **known)


def contrasts(
    old: list[list[Attempt]],
    new: list[list[Attempt]],
    names: tuple[ArmName, ArmName] = (ARM, ARM),
    clusters: list[str] | None = None,
) -> dict[Measure, Contrast]:
    before = side(old, names=[names[0]], clusters=clusters)
    after = side(new, names=[names[1]], clusters=clusters)
    (pair,) = compare_arms(before, after, pair_arms(before.arms, after.arms)).pairs
    return {contrast.measure: contrast for contrast in pair.contrasts}


def test_E6_means_are_over_scored_epochs_of_paired_cases() -> None:
    old = [[tried(requests=1), tried(requests=3)], [tried(requests=4), tried(requests=4)], [tried("e"), tried("e")]]
    new = [[tried(requests=5), tried("e", requests=99)], [tried(requests=2), tried(requests=3)], [tried(), tried()]]
    found = contrasts(old, new)[Measure.REQUESTS]
    assert (found.old, found.new, found.difference, found.ratio) == (3, 3.75, 0.75, 1.25)
    assert (found.cases, found.clusters, found.verdict, found.adjusted_p, found.reasons) == (2, 2, None, None, ())
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0.75 <= found.high
    assert found.method == "sign-flip test, cluster bootstrap"


def test_E6_amounts_that_are_all_alike_are_data() -> None:
    found = contrasts([[tried(definition_tokens=900)]] * 8, [[tried(definition_tokens=300)]] * 8)
    tokens, cost = found[Measure.DEFINITION_TOKENS], found[Measure.COST_USD]
    assert (tokens.difference, tokens.low, tokens.high, tokens.ratio) == (-600, -600, -600, 1 / 3)
    assert tokens.p_value == 2 / 2**8
    assert (cost.difference, cost.low, cost.high, cost.ratio, cost.p_value) == (0, 0, 0, 1, 1)


def test_E6_what_was_nothing_has_no_ratio() -> None:
    found = contrasts([[tried(cost_usd=0)]] * 3, [[tried()]] * 3)[Measure.COST_USD]
    assert (found.old, found.new, found.difference, found.ratio, found.ratio_low) == (0, 0.5, 0.5, None, None)


def test_E7_a_single_cluster_has_no_interval() -> None:
    found = contrasts([[tried(requests=1)]] * 3, [[tried(requests=2)]] * 3, clusters=["k"] * 3)
    assert found[Measure.REQUESTS] == Contrast(
        Measure.REQUESTS,
        old=1,
        new=2,
        difference=1,
        ratio=2,
        cases=3,
        clusters=1,
        planned=3,
        reasons=(MissingFigures.SINGLE_CLUSTER,),
    )


@pytest.mark.parametrize(
    ("measure", "old", "new", "reason"),
    [
        pytest.param(Measure.COST_USD, tried(), tried(cost_usd=None), MissingFigures.UNKNOWN_COST, id="no-price"),
        pytest.param(
            Measure.LATENCY_SECONDS,
            tried(latency_seconds=None),
            tried(),
            MissingFigures.UNKNOWN_LATENCY,
            id="no-latency",
        ),
        pytest.param(
            Measure.PROMPT_TOKENS,
            tried(prompt_tokens=None),
            tried(own_prompt_tokens=None),
            MissingFigures.UNKNOWN_TOKENS,
            id="no-tokens",
        ),
    ],
)
def test_E6_what_is_not_known_of_every_trial_has_no_figures(
    measure: Measure, old: Attempt, new: Attempt, reason: MissingFigures
) -> None:
    found = contrasts([[old], [tried()]], [[tried()], [new]])
    assert found[measure] == Contrast(measure, cases=2, clusters=2, planned=2, reasons=(reason,))
    assert found[Measure.REQUESTS].difference == 0


def test_E6_prompt_tokens_are_as_reported_if_all_are_and_else_our_own_count_of_both() -> None:
    reported = contrasts([[tried()]] * 2, [[tried(prompt_tokens=20)]] * 2)[Measure.PROMPT_TOKENS]
    assert (reported.old, reported.new, reported.reasons) == (10, 20, ())
    own = contrasts([[tried()]] * 2, [[tried(prompt_tokens=None)], [tried()]])[Measure.PROMPT_TOKENS]
    assert (own.old, own.new) == (12, 12)
    assert own.reasons == (MissingFigures.ESTIMATED_TOKENS,)


def test_E6_tokens_of_different_tokenizers_are_not_compared() -> None:
    arms = [[tried()]] * 2
    other = ArmName("claude", "full", tokenizer="claude")
    found = contrasts(arms, arms, (ARM, other))
    reason = DifferentTokenizers("o200k", "claude")
    for measure in (Measure.DEFINITION_TOKENS, Measure.PROMPT_TOKENS):
        assert found[measure] == Contrast(measure, cases=2, clusters=2, planned=2, reasons=(reason,))
    assert found[Measure.COST_USD].difference == 0
    same_model = contrasts(arms, arms, (ARM, replace(ARM, tokenizer="claude")))
    assert same_model[Measure.DEFINITION_TOKENS].reasons == (reason,)
    assert same_model[Measure.PROMPT_TOKENS].difference == 0  # as one provider counts them
    unreported = [[tried(prompt_tokens=None)]] * 2
    own = contrasts(unreported, arms, (ARM, replace(ARM, tokenizer="claude")))[Measure.PROMPT_TOKENS]
    assert (own.difference, own.reasons) == (None, (reason,)), "our estimates are of different tokenizers, too"


def test_without_cases_there_is_nothing_to_compare() -> None:
    found = contrasts([[tried("e")]], [[tried()]])
    assert {found[measure].reasons for measure in AMOUNTS} == {(MissingFigures.NO_SHARED_CASES,)}
