"""Sentences that can be quoted, and are right (rule E7)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.comparison.samples import (
    ACCURACY,
    BASELINE,
    FULL,
    LOADOUT,
    PROMPT,
    REGRESSION,
    UNSURE,
    make_comparison,
    make_pair,
    with_accuracy,
)
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import sentence
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_change, format_margin, format_points
from toolbelt.evals.analysis.comparison.reasons import MissingFigures, UncertainLoss
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.statistics.verdict import Verdict

SAVED = "takes 56.0% fewer prompt tokens."
INTERVAL = "95% interval"


def _say(pair: ArmComparison, **changes: Any) -> str:
    return sentence(make_comparison(pair, **changes), pair)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param(
            {},
            f"loadout is not worse than full by more than 2.0 points ({INTERVAL} -0.4 to +3.7), and {SAVED}",
            id="no-regression-says-what-is-ruled-out",
        ),
        pytest.param(
            REGRESSION,
            f"loadout is worse than full by 6.0 points ({INTERVAL} -8.5 to -3.5), and {SAVED}",
            id="regression",
        ),
        pytest.param(
            UNSURE,
            "Whether loadout is worse than full by more than 2.0 points cannot be decided: the difference lies between "
            f"-4.1 and +3.7 points ({INTERVAL}); about 5,800 cases would decide. loadout {SAVED}",
            id="too-few-cases-says-how-many-would-do",
        ),
        pytest.param(
            {"verdict": Verdict.INSUFFICIENT_DATA, "reasons": (MissingFigures.SINGLE_CLUSTER,)},
            "Whether loadout is worse than full by more than 2.0 points cannot be decided: A single cluster of "
            f"cases has no interval. loadout {SAVED}",
            id="unscored-is-no-matter-of-more-cases",
        ),
        pytest.param(
            {
                "difference": -0.055,
                "low": -0.096,
                "high": -0.014,
                "adjusted_p": 0.3,
                "verdict": Verdict.INSUFFICIENT_DATA,
                "reasons": (UncertainLoss(0.3, 0.3, 1),),
            },
            "Whether loadout is worse than full by more than 2.0 points cannot be decided. A loss is likely but not "
            f"certain: the p value is 0.3; the difference lies between -9.6 and -1.4 points ({INTERVAL}); about 910 "
            f"cases would decide. loadout {SAVED}",
            id="why-an-interval-below-0-is-no-loss",
        ),
        pytest.param(
            {"low": 0.004, "adjusted_p": 0.01},
            f"loadout is better than full by 1.7 points ({INTERVAL} +0.4 to +3.7), and {SAVED}",
            id="a-sure-gain-is-told",
        ),
        pytest.param(
            {"low": 0.004, "adjusted_p": 0.06},
            f"loadout is not worse than full by more than 2.0 points ({INTERVAL} +0.4 to +3.7), and {SAVED}",
            id="a-gain-that-holm-doubts-is-none",
        ),
        pytest.param(
            {"difference": -0.01, "low": -0.015, "high": -0.004, "adjusted_p": 0.01},
            f"loadout is worse than full by 1.0 points ({INTERVAL} -1.5 to -0.4), but not by more than 2.0 points, and "
            f"{SAVED}",
            id="a-sure-loss-within-the-margin-is-told",
        ),
        pytest.param(
            {"difference": -0.01, "low": -0.015, "high": -0.004, "adjusted_p": 0.06},
            f"loadout is not worse than full by more than 2.0 points ({INTERVAL} -1.5 to -0.4), and {SAVED}",
            id="a-loss-within-the-margin-that-holm-doubts-is-none",
        ),
        pytest.param(
            {"difference": -0.0001, "low": -0.0002, "high": -0.00004, "adjusted_p": 0.01},
            f"loadout is worse than full by 0.01 points ({INTERVAL} -0.02 to -0.004), but not by more than 2.0 points, "
            f"and {SAVED}",
            id="a-tiny-loss-is-not-zero",
        ),
        pytest.param(
            {"low": -0.01999},
            f"loadout is not worse than full by more than 2.0 points ({INTERVAL} -1.999 to +3.7), and {SAVED}",
            id="a-bound-is-not-rounded-to-the-margin",
        ),
    ],
)
def test_E7_a_sentence_of_each_verdict(changes: dict[str, Any], said: str) -> None:
    assert _say(with_accuracy(make_pair(), **changes)) == said


def test_E7_nothing_scored_is_said_so() -> None:
    nothing = Contrast(Measure.ACCURACY, verdict=Verdict.INSUFFICIENT_DATA, reasons=(MissingFigures.NO_SHARED_CASES,))
    pair = make_pair(contrasts=(nothing,))
    assert _say(pair) == "Whether loadout is worse than full cannot be decided: no case was scored in both arms."


def test_E4_a_new_overflow_comes_first_whatever_the_accuracy() -> None:
    pair = with_accuracy(make_pair(newly_overflowing=("a", "b")), verdict=Verdict.REGRESSION)
    assert _say(pair) == (
        "loadout is too long for its model: 2 cases that fit its window with full do not. Of the rest, "
        f"accuracy differs by +1.7 points (95% interval -0.4 to +3.7). loadout {SAVED}"
    )


@pytest.mark.parametrize(
    ("old", "new", "side", "begins"),
    [
        pytest.param(FULL, LOADOUT, {}, "loadout is not worse than full by", id="within-a-run"),
        pytest.param(
            FULL,
            FULL,
            {"old": BASELINE},
            "full is not worse than in reports/baseline.json by",
            id="the-same-arm-of-two-sides",
        ),
        pytest.param(
            FULL,
            LOADOUT,
            {"old": BASELINE},
            "loadout of 20260101-120000-ab12 is not worse than full of reports/baseline.json by",
            id="other-arms-of-two-sides",
        ),
        pytest.param(
            FULL,
            ArmName("gpt-4o", "full", "shuffled"),
            {},
            "gpt-4o · full · shuffled is not worse than local/bm25 · full by",
            id="models-where-they-differ",
        ),
    ],
)
def test_names_tell_the_arms_apart(old: ArmName, new: ArmName, side: dict[str, Any], begins: str) -> None:
    assert _say(make_pair(old, new), **side).startswith(begins)


def test_without_a_margin_nothing_may_be_lost() -> None:
    said = _say(with_accuracy(make_pair(), low=0.001), margin=0.0)
    assert said.startswith(f"loadout is not worse than full ({INTERVAL} +0.1 to +3.7), and")


@pytest.mark.parametrize(
    ("ratio", "low", "high", "said"),
    [
        (0.44, 0.43, 0.45, "takes 56.0% fewer prompt tokens"),
        (1.2, 1.1, 1.3, "takes 20.0% more prompt tokens"),
        (3.25, 3.0, 3.5, "takes 3.2 times the prompt tokens"),
        (1.0, 1.0, 1.0, "takes as many prompt tokens"),
        (1.01, 0.97, 1.05, "takes about as many prompt tokens (+1.0%, -3.0% to +5.0%)"),
        (1.1, 0.7, 1.8, "takes 10.0% more prompt tokens, which may be chance (-30.0% to +80.0%)"),
        (1.0, 0.6, 1.6, "takes as many prompt tokens, which may be chance (-40.0% to +60.0%)"),
        (0.9997, 0.9992, 0.9999, "takes about as many prompt tokens (0.0%, -0.1% to 0.0%)"),
    ],
    ids=["fewer", "more", "many-times", "alike", "about", "not-sure", "equal-by-chance", "a-trifle"],
)
def test_tokens_are_told_as_they_are(ratio: float, low: float, high: float, said: str) -> None:
    tokens = replace(PROMPT, ratio=ratio, ratio_low=low, ratio_high=high)
    assert _say(make_pair(contrasts=(ACCURACY, tokens))).endswith(f", and {said}.")


def test_tokens_that_are_not_known_are_not_told() -> None:
    assert "token" not in _say(make_pair(contrasts=(ACCURACY, Contrast(Measure.PROMPT_TOKENS))))


def test_solved_is_named() -> None:
    solved = replace(ACCURACY, measure=Measure.SOLVED)
    assert _say(make_pair(contrasts=(solved,))).startswith("loadout is not worse than full in solved by more than")


SHARES = st.floats(-1, 1).map(lambda share: round(share, 5))


@given(SHARES, SHARES, st.sampled_from([0.0, 0.0025, 0.01, 0.02, 0.1]))
def test_E7_rounding_never_changes_what_a_bound_says(low: float, high: float, margin: float) -> None:
    numbers = [float(number) for number in re.findall(r"[-+]?[\d.]+", format_bounds(low, high, margin))]
    for shown, bound in zip(numbers, (low, high), strict=True):
        assert (shown > -100 * margin) == (bound > -margin)
        assert (shown < 0, shown > 0) == (bound < 0, bound > 0)
        assert shown == pytest.approx(100 * bound, abs=0.051)


@pytest.mark.parametrize(
    ("share", "shown"), [(0.017, "+1.7"), (-0.004, "-0.4"), (0.0, "0.0"), (-0.0001, "0.0"), (1.0, "+100.0")]
)
def test_points(share: float, shown: str) -> None:
    assert format_points(share) == shown


@pytest.mark.parametrize(
    ("margin", "shown"), [(0.02, "2.0"), (0.0025, "0.25"), (0.1, "10.0"), (0.0, "0.0"), (1e-9, "0.0")]
)
def test_margins(margin: float, shown: str) -> None:
    assert format_margin(margin) == shown


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.44, "-56.0%"), (1.0, "0.0%"), (2.4, "+140.0%"), (25.0, "+2,400%"), (0.0, "-100.0%"), (-0.2, "-100.0%")],
)
def test_changes(ratio: float, shown: str) -> None:
    assert format_change(ratio) == shown
