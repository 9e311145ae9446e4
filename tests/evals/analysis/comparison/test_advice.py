"""How many cases would do, against the planner, which knows nothing of intervals found (rule E7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.samples import ACCURACY
from toolbelt.evals.analysis.comparison.advice import advice, common_advice, is_too_few, wanted_cases
from toolbelt.evals.analysis.comparison.comparison import Contrast
from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.planning import cases_for_difference, cases_for_margin
from toolbelt.evals.statistics.verdict import Verdict, judge


def _found(better: int, worse: int, cases: int, margin: float = 0.02) -> Contrast:
    """What comparing comes to, of single cases that are asked once."""
    alike = [((1, 1),)] * (cases - better - worse)
    found = paired_difference([*[((1, 0),)] * better, *[((0, 1),)] * worse, *alike])
    verdict = judge(found.low, found.high, found.p_value, margin)
    return replace(
        ACCURACY, difference=found.difference, low=found.low, high=found.high, p_value=found.p_value,
        adjusted_p=found.p_value, verdict=verdict, cases=cases, clusters=cases,
    )  # fmt: skip


def _no_less(found: int | None, planned: int | None) -> bool:
    """As many as planned, or some more: the interval is a little wider than the cases that differ alone say."""
    return found is not None and planned is not None and planned <= found <= 1.2 * planned


@pytest.mark.parametrize(("better", "worse", "cases"), [(20, 20, 400), (33, 30, 300), (60, 60, 600)])
def test_E7_as_many_as_the_planner_says_for_the_cases_that_differ(better: int, worse: int, cases: int) -> None:
    assert _no_less(wanted_cases(_found(better, worse, cases)), cases_for_margin(0.02, (better + worse) / cases))


def test_E7_a_loss_found_is_taken_for_true() -> None:
    assert _no_less(wanted_cases(_found(20, 24, 600)), cases_for_margin(0.02, 44 / 600, effect=-4 / 600))


def test_E7_of_a_loss_beyond_the_margin_it_is_told_what_would_show_it() -> None:
    assert _no_less(wanted_cases(_found(6, 14, 200)), cases_for_difference(0.04, 0.1))


def test_E7_a_loss_has_to_be_seen_among_as_many_contrasts_as_there_were() -> None:
    alone = _found(10, 30, 400)
    assert alone.verdict is Verdict.REGRESSION
    assert alone.p_value is not None
    among = replace(alone, adjusted_p=58 * alone.p_value, verdict=Verdict.INSUFFICIENT_DATA)
    assert _no_less(wanted_cases(among), cases_for_difference(0.05, 0.1, level=1 - 0.05 / 58))


def test_E7_clusters_count_for_less_than_their_cases() -> None:
    single = _found(20, 20, 400)
    spread = 1.5 * (single.high - single.low) / 2  # type: ignore[operator]  # both are known
    clustered = replace(single, low=-spread, high=spread)
    assert wanted_cases(clustered) == pytest.approx(1.5**2 * wanted_cases(single), rel=0.05)  # type: ignore[operator]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="the-verdict-stands"),
        pytest.param({"verdict": Verdict.REGRESSION, "low": -0.3, "high": -0.2}, id="a-regression"),
        pytest.param({"verdict": Verdict.INSUFFICIENT_DATA}, id="unscored-trials-are-what-is-wanting"),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": None, "low": None, "high": None, "cases": 0},
            id="nothing-scored",
        ),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": -0.02, "low": -0.05, "high": 0.01},
            id="the-loss-is-just-the-margin",
        ),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "difference": -0.0199, "low": -0.05, "high": 0.01},
            id="more-than-a-million",
        ),
    ],
)
def test_E7_no_number_where_none_helps(changes: dict[str, Any]) -> None:
    contrast = replace(ACCURACY, **changes)
    assert wanted_cases(contrast) is None
    assert advice(contrast) == ""


def test_no_margin_and_no_difference_takes_no_number_of_cases() -> None:
    contrast = replace(
        ACCURACY, verdict=Verdict.INSUFFICIENT_DATA, difference=0.0, low=-0.02, high=0.02, adjusted_p=1.0
    )
    assert is_too_few(contrast, 0.0)
    assert wanted_cases(contrast, 0.0) is None


def test_the_number_is_told_to_two_digits_and_never_too_small() -> None:
    contrast = _found(20, 20, 400)
    assert wanted_cases(contrast) == 2137
    assert advice(contrast) == "about 2,200 cases would do"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param([(20, 20, 400), (0, 0, 2000)], "about 2,200 cases would do", id="what-stands-wants-none"),
        pytest.param(
            [(20, 20, 400), (2, 2, 100)], "about 2,200 cases would do for both", id="as-many-as-the-worst-takes"
        ),
        pytest.param([(20, 20, 400)] * 3, "about 2,200 cases would do for all 3", id="all"),
        pytest.param([(20, 20, 400), (6, 8, 100)], "about 2,200 cases would do for 1 of 2", id="some-are-past-help"),
        pytest.param([(0, 0, 2000)], "", id="none-is-wanted"),
    ],
)
def test_one_number_for_several(found: list[tuple[int, int, int]], said: str) -> None:
    assert common_advice([_found(*one) for one in found]) == said


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 400), st.sampled_from([0.005, 0.02, 0.05]))
@settings(max_examples=40, deadline=None)
def test_E7_more_cases_than_there_were(better: int, worse: int, alike: int, margin: float) -> None:
    contrast = _found(better, worse, better + worse + alike, margin)
    found = wanted_cases(contrast, margin)
    assert found is None or found > contrast.cases
    assert (found is None) or contrast.verdict is Verdict.INSUFFICIENT_DATA
