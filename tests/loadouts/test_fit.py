"""What part of a window definitions take; verdicts by all that is known are in `tests/models/test_fit.py`."""

from __future__ import annotations

import pytest

from toolbelt.loadouts.fit import FitVerdict, ModelFit


def fit(tokens: int, window: int | None) -> ModelFit:
    return ModelFit("m", window, tokens, "o200k_base", True)


@pytest.mark.parametrize(
    ("tokens", "window", "fraction", "verdict"),
    [
        (0, 1_000, 0.0, "fits"),
        (1, 1_000, 0.001, "fits"),
        (400, 1_000, 0.4, "fits"),
        (401, 1_000, 0.401, "fits_degraded"),
        (999, 1_000, 0.999, "fits_degraded"),
        (1_000, 1_000, 1.0, "refuses"),
        (2_500, 1_000, 2.5, "refuses"),
        (51_200, 128_000, 0.4, "fits"),
        (51_201, 128_000, 51_201 / 128_000, "fits_degraded"),
    ],
    ids=[
        "nothing-fits",
        "little-fits",
        "two-fifths-fit",
        "more-than-two-fifths-crowd",
        "almost-all-crowds",
        "all-leaves-nothing",
        "more-than-there-is",
        "two-fifths-of-a-real-window",
        "a-token-more-of-a-real-window",
    ],
)
def test_the_verdict_follows_the_share(tokens: int, window: int, fraction: float, verdict: str) -> None:
    assert fit(tokens, window).fraction == fraction
    assert fit(tokens, window).verdict is FitVerdict(verdict)


@pytest.mark.parametrize("tokens", [0, 1_000_000])
def test_L15_an_unknown_window_is_unknown_whatever_the_tokens(tokens: int) -> None:
    assert fit(tokens, None).fraction is None
    assert fit(tokens, None).verdict is FitVerdict.UNKNOWN
