"""The picture of what a solved case costs: nothing invented, nothing left out in silence."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.views.bills import arm, billed, full, run
from tests.wording import mentions
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate
from toolbelt.evals.views.pictures.canvas import DARK, own_settings
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.evals.views.pictures.economics import draw_economics
from toolbelt.evals.views.pictures.shown import MOST_ARMS
from toolbelt.views.blocks import Picture

USD = "Cost per solved case, as a provider's cache changes it"
TOKENS = "Prompt tokens billed in full per solved case, as a provider's cache changes them"
NOTHING_SOLVED: dict[str, Any] = {"solved": 0}


def _draw(*arms: ArmSummary, priced_as: str | None = None, pngs: bool = False) -> Picture | None:
    with own_settings():
        return draw_economics(run(*arms), billed(*arms, priced_as=priced_as), pngs=pngs)


def _arms(count: int) -> list[ArmSummary]:
    return [arm(f"loadout:{number}", f"paid-{number // 10}", 1 + number % 9) for number in range(count)]


@pytest.mark.parametrize("count", [1, 12])
def test_E10_the_same_bytes_each_time(count: int) -> None:
    picture = _draw(*_arms(count), pngs=True)
    assert picture is not None
    assert picture == _draw(*_arms(count), pngs=True)
    assert ET.parse(io.BytesIO(picture.svg)).getroot().tag.endswith("svg")
    assert picture.png.startswith(b"\x89PNG\r\n\x1a\n")
    assert "The first" not in picture.caption


def test_of_too_many_arms_the_first_are_drawn_and_the_rest_told() -> None:
    picture = _draw(*_arms(61))
    assert picture is not None
    assert f"The first {MOST_ARMS} of 61 arms." in picture.caption


def test_E10_it_stands_among_the_pictures_where_bills_are_given() -> None:
    scored = arm(accuracy=Rate(5, 10))
    drawn = draw_pictures(run(scored), economics=billed(scored), pngs=False)
    assert [picture.name for picture in drawn] == ["tradeoff", "accuracy", "economics"]


@pytest.mark.parametrize(
    ("arms", "title"),
    [
        pytest.param([arm(), full()], USD, id="dollars"),
        pytest.param(
            [arm(model="free")],
            TOKENS,
            id="tokens-where-no-price-is-known",
        ),
        pytest.param([arm(), arm(model="free")], USD, id="some-of-both"),
        pytest.param(
            [arm(**NOTHING_SOLVED), arm(model="free")],
            TOKENS,
            id="a-price-of-nothing-solved-makes-no-dollars",
        ),
        pytest.param([arm(**NOTHING_SOLVED)], None, id="nothing-solved-draws-nothing"),
        pytest.param([ArmSummary("paid", "full", planned=5)], None, id="nor-does-nothing-scored"),
        pytest.param([arm(own_prompt_tokens=None)], None, id="nor-do-unknown-tokens"),
        pytest.param(
            [arm(repeated_tokens=0.0, invalidated_tokens=0.0, first_offers=10)], None, id="nor-does-what-never-repeats"
        ),
        pytest.param([], None, id="no-arms"),
    ],
)
def test_E6_dollars_where_there_are_any(arms: list[ArmSummary], title: str | None) -> None:
    picture = _draw(*arms)
    assert (picture and picture.title) == title


def test_E6_as_if_is_said_on_the_picture() -> None:
    picture = _draw(arm(model="free", completion_tokens=None), priced_as="paid")
    assert picture is not None
    assert "As if at the price of paid. Prompts alone where the tokens of answers are not known." in picture.caption


def test_without_bills_there_is_no_picture_of_them() -> None:
    assert "economics" not in [picture.name for picture in draw_pictures(run(arm()), pngs=False)]


def test_E6_what_is_rebilled_shows() -> None:
    changed, same = _draw(arm()), _draw(arm(repeated_tokens=800.0, invalidated_tokens=0.0))  # the same bill otherwise
    assert changed is not None
    assert same is not None
    orange = b"#d55e00"
    assert (orange in changed.svg, orange in same.svg) == (True, False)


_NUMBERS = st.floats(0, 1e7)
_ARMS = st.builds(
    lambda toolset, model, scored, tokens, **more: arm(
        toolset,
        model,
        scored=scored,
        finished=scored,
        solved=0,
        **more,
        definition_tokens=tokens,
        own_prompt_tokens=3 * tokens,
        prompt_tokens=3 * tokens,
        repeated_tokens=tokens,
        invalidated_tokens=tokens / 3,
    ),
    st.text(max_size=50) | st.sampled_from(["full", "loadout:财务", "$\\frac{1}$"]),
    st.sampled_from(["paid", "free", "paid-某模型", "a" * 60]),
    st.integers(0, 5),
    _NUMBERS,
    completion_tokens=st.none() | _NUMBERS,
    first_offers=st.none() | st.integers(1, 9),
)


@given(st.lists(_ARMS, max_size=4), st.integers(0, 5))
@settings(max_examples=5, deadline=None)
def test_any_run_is_drawn_without_a_warning(arms: list[ArmSummary], solved: int) -> None:
    known = [replace(one, solved=Rate(min(solved, one.scored), one.scored)) for one in arms]
    _draw(*known)  # warnings are errors in this suite


def test_E6_the_reversal_is_in_words() -> None:
    picture = _draw(full(model="free"), arm(model="free"))
    assert picture is not None
    assert mentions(picture.caption, "with caching across conversations full does")
    sure = _draw(full(), arm())
    assert sure is not None
    assert mentions(sure.caption, "with caching and without: dynamic")


def test_every_colour_that_a_page_could_swallow_has_one_for_a_dark_page() -> None:
    picture = _draw(full(), arm(), arm("oracle"), pngs=True)
    assert picture is not None
    kept = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", picture.svg.decode()))
    assert kept <= set(DARK)
    rules = re.search(r"prefers-color-scheme: dark\) \{(.*?)\}</style>", picture.svg.decode())
    assert rules is not None
    assert all(DARK[colour] in rules[1] for colour in kept)
    assert picture.dark_png != picture.png
