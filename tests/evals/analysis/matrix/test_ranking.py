"""Models × toolsets in one ranking, with ties and what more cases would cost (rules E6 and E7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.comparison.sides import Written, side
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.matrix.ranking import Ranking, Standing, rank_arms, ranking_data
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.views.ranking import conclusions, ranking_table

CASES = 400
ARMS = {
    ("big", "full"): ("+" * 320 + "-" * 80, 0.10, 2.0),
    ("big", "loadout"): ("-" * 20 + "+" * 318 + "-" * 62, 0.04, 1.5),
    ("small", "full"): ("+" * 319 + "-" * 81, 0.02, 0.5),
    ("small", "loadout"): ("+" * 200 + "-" * 200, 0.01, 0.4),
    ("small", "oracle"): ("+" * 400, 0.01, 0.4),
}


def run() -> tuple[RunSummary, Written]:
    arms = tuple(
        ArmSummary(
            model, toolset, planned=CASES, finished=CASES, scored=CASES, accuracy=Rate(letters.count("+"), CASES),
            prompt_tokens=1000.0, cost_usd=cost, latency_seconds=latency,
        )
        for (model, toolset), (letters, cost, latency) in ARMS.items()
    )  # fmt: skip
    written = side(*(letters for letters, _, _ in ARMS.values()), names=[ArmName(*key) for key in ARMS])
    summary = RunSummary("r", "2026", "finished", "mine", "d1", cases=CASES, arms=arms)
    return summary, written


def ranked() -> Ranking:
    ranking = rank_arms(*run())
    assert ranking is not None
    return ranking


def test_E7_the_most_accurate_is_first_and_ties_are_marked() -> None:
    standings = [(each.arm.model, each.arm.toolset, each.standing) for each in ranked().arms]
    assert standings == [
        ("big", "full", Standing.BEST),
        ("small", "full", Standing.AS_GOOD),
        ("big", "loadout", Standing.UNDECIDED),
        ("small", "loadout", Standing.WORSE),
    ]


def test_E6_a_word_matching_model_is_no_fastest_one() -> None:
    summary, written = run()
    local = tuple(replace(arm, model="local/bm25") if arm.model == "small" else arm for arm in summary.arms)
    ranking = rank_arms(replace(summary, arms=local), written)
    assert ranking is not None
    assert ranking.fastest is not None
    assert ranking.fastest.arm.model == "big"


def test_E6_the_cheapest_and_the_fastest_are_looked_for_among_the_tied() -> None:
    ranking = ranked()
    assert ranking.cheapest is not None
    assert ranking.fastest is not None
    assert (ranking.cheapest.arm.model, ranking.fastest.arm.model) == ("small", "small")
    assert ranking.cheapest.arm.toolset == "full", "loadout is cheaper, and surely worse"
    assert [each.cost_rank for each in ranking.arms] == [4, 2, 3, 1]


def test_E7_what_more_cases_would_cost_is_of_the_arms_that_are_open() -> None:
    ranking = ranked()
    assert ranking.cases_wanted is not None
    assert ranking.cases_wanted > CASES
    assert ranking.more_cost_usd == pytest.approx((ranking.cases_wanted - CASES) * (0.10 + 0.04))


def test_E6_an_unknown_price_leaves_the_cost_open() -> None:
    summary, written = run()
    arms = tuple(replace(arm, cost_usd=None) if arm.model == "big" else arm for arm in summary.arms)
    ranking = rank_arms(replace(summary, arms=arms), written)
    assert ranking is not None
    assert ranking.more_cost_usd is None
    assert [each.cost_rank for each in ranking.arms] == [None, 2, None, 1]


def test_E7_a_single_arm_has_no_ranking() -> None:
    summary, written = run()
    assert rank_arms(replace(summary, arms=summary.arms[:1]), written) is None


def test_the_conclusions_name_ties_and_what_would_decide() -> None:
    said = list(conclusions(ranked()))
    assert said[0] == "Most accurate as measured: big with full, right in 80.0% of 400 cases."
    assert said[2] == "These cases cannot tell it from big · loadout."
    assert any(line.startswith("About") and "$" in line for line in said)
    assert next(iter(ranking_table(ranked()).rows)).label == "big · full"
    assert ranking_data(ranked())["arms"][1]["standing"] == "as_good"
