"""Bars show shares truly, and fit their width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.render.terminal import draw_bar, draw_shares

shares = st.floats(min_value=-1, max_value=3, allow_nan=False)
widths = st.integers(min_value=1, max_value=120)


@given(shares, widths, st.booleans())
def test_a_bar_never_exceeds_its_width_and_a_track_fills_it(share: float, width: int, draw: bool) -> None:
    assert draw_bar(share, width, "", draw=draw).cell_len <= width
    assert draw_bar(share, width, "", draw=draw, has_track=True).cell_len == width


@given(shares, shares, widths, st.booleans())
def test_a_larger_share_is_never_drawn_shorter(one: float, other: float, width: int, draw: bool) -> None:
    low, high = sorted((one, other))
    assert draw_bar(low, width, "", draw=draw).cell_len <= draw_bar(high, width, "", draw=draw).cell_len


@pytest.mark.parametrize(
    ("share", "draw", "drawn"),
    [
        pytest.param(0.5, True, "█████", id="half-is-half"),
        pytest.param(0.55, True, "█████▌", id="eighths-are-drawn"),
        pytest.param(1, True, "██████████", id="all-is-all"),
        pytest.param(7, True, "██████████", id="more-than-all-is-all"),
        pytest.param(0, True, "", id="nothing-is-nothing"),
        pytest.param(0.0001, True, "▏", id="a-trace-is-seen"),
        pytest.param(0.5, False, "#####", id="half-without-block-characters"),
        pytest.param(0.0001, False, "#", id="a-trace-without-block-characters"),
        pytest.param(0, False, "", id="nothing-without-block-characters"),
    ],
)
def test_bar(share: float, draw: bool, drawn: str) -> None:
    assert draw_bar(share, 10, "", draw=draw).plain == drawn


def test_an_empty_track_is_all_track() -> None:
    assert draw_bar(0, 5, "", has_track=True).plain == "░░░░░"
    assert draw_bar(0, 5, "", draw=False, has_track=True).plain == "....."


@given(st.lists(st.integers(min_value=0, max_value=10**6), min_size=1, max_size=6), widths)
def test_a_stacked_bar_uses_all_its_width_where_there_is_anything(amounts: list[int], width: int) -> None:
    parts = [(amount, "", chr(ord("a") + index)) for index, amount in enumerate(amounts)]
    drawn = draw_shares(parts, width).plain
    assert len(drawn) == (width if sum(amounts) else 0)
    for amount, _, character in parts:
        assert abs(drawn.count(character) - width * amount / (sum(amounts) or 1)) <= 1


def test_a_stacked_bar_keeps_the_order_of_its_parts() -> None:
    assert draw_shares([(1, "", "a"), (2, "", "b"), (1, "", "c")], 8).plain == "aabbbbcc"
