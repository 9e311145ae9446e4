"""Pictures as they are seen in a browser: nothing is cut off, texts do not overlap and are large enough to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.evals.viewer.browser import find_chromium, opened_browser
from tests.evals.views.bills import arm, billed, run
from tests.evals.views.matrices import big_matrix, small_matrix
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.views.blocks import Picture

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)

_LEAST_PIXELS = 11
_BOXES = """
() => {
  const boxOf = (one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const all = document.querySelector("svg");
  return [boxOf(all), [...all.querySelectorAll('g[id^="text_"]')].filter((one) => one.getBBox().width).map(boxOf)];
}
"""
_LONG = ("paid/some-organisation/extremely-long-model-name-70b-instruct-int4", "paid/another-organisation/small-7b")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened_browser() as browser:
        yield browser.new_page()


def _arms(models: tuple[str, ...], toolsets: int, *, unscored: int = 0) -> list[ArmSummary]:
    """The second model costs a thirtieth of the first."""
    made = []
    for at, model in enumerate(models):
        for number in range(toolsets):
            name = (
                f"loadout:customer-success-and-renewals-team-{number:02}-of-the-region" if number % 3 else f"t{number}"
            )
            tokens = (3000.0 + 900 * number) / 30**at
            rate = Rate(3 + number % 7, 10, 0.1 + number % 7 / 10, 0.6)
            known: dict[str, Any] = {"accuracy": rate, "coverage": Rate(9, 10, 0, 1), "tools_offered": 10.0}
            known |= {"own_prompt_tokens": tokens, "prompt_tokens": tokens, "definition_tokens_total": tokens / 2}
            known |= {"repeated_tokens": tokens / 2, "invalidated_tokens": tokens / 9, "definition_tokens": tokens / 4}
            made.append(arm(name, model, **known))
        made += [ArmSummary(model, f"loadout:that-does-not-fit-{number}", planned=10) for number in range(unscored)]
    return made


_RUNS = {
    "one-arm": _arms(_LONG[1:], 1),
    "three-arms": _arms(_LONG[1:], 3, unscored=1),
    "two-models": _arms(_LONG, 2),
    "twenty-arms-of-two-models-with-long-names": _arms(_LONG, 10, unscored=5),
    "sixty-arms": _arms(_LONG, 30),
}


def _pictures() -> Iterator[Any]:
    matrices = {"two-models": big_matrix(2, 20), "three-toolsets": big_matrix(25, 3), "small": small_matrix()}
    for name, arms in _RUNS.items():
        yield pytest.param(arms, None, id=name)
    for name, matrix in matrices.items():
        yield pytest.param([], matrix, id=f"matrix-of-{name}")


@pytest.mark.parametrize(("arms", "matrix"), list(_pictures()))
def test_E10_every_text_of_a_picture_can_be_read(page: Page, arms: list[ArmSummary], matrix: Matrix | None) -> None:
    pictures = draw_pictures(run(*arms), economics=billed(*arms), matrix=matrix, pngs=False)
    assert pictures
    for picture in pictures:
        assert _least_pixels(picture) >= _LEAST_PIXELS, picture.name
        page.set_content(f"<body style='margin: 0'>{picture.svg.decode().partition('?>')[2]}</body>")
        whole, texts = page.evaluate(_BOXES)
        assert len(texts) > 3
        beyond = [text for text in texts if not _holds(whole, text)]
        assert beyond == [], f"{picture.name}: cut off"
        overlapping = [(one, other) for n, one in enumerate(texts) for other in texts[:n] if _overlap(one, other)]
        assert overlapping == [], f"{picture.name}: texts over each other"


def _least_pixels(picture: Picture) -> float:
    """The size of its smallest text: glyphs are drawn at 100 points, and scaled."""
    scales = [
        float(scale) for scale in re.findall(rb"translate\([^)]*\)(?: rotate\([^)]*\))? scale\((0\.\d+)", picture.svg)
    ]
    assert scales
    return min(scales) * 100 * 4 / 3


def _holds(whole: list[float], box: list[float]) -> bool:
    return box[0] >= whole[0] and box[1] >= whole[1] and box[2] <= whole[2] and box[3] <= whole[3]


def _overlap(one: list[float], other: list[float]) -> bool:
    """By more than a pixel each way."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 1 and high > 1


def test_E10_arms_with_nothing_to_draw_are_named_once_and_take_no_row() -> None:
    arms = [*_arms(_LONG[1:], 3), *(ArmSummary(_LONG[1], f"too-long-{number}", planned=10) for number in range(7))]
    few, many = (
        {one.name: one for one in draw_pictures(run(*some), economics=billed(*some), pngs=False)}
        for some in (arms[:3], arms)
    )
    for name in ("accuracy", "tokens", "economics"):
        heights = [float(re.findall(rb'height="([\d.]+)pt"', each[name].svg)[0]) for each in (few, many)]
        assert heights[1] - heights[0] < 40, f"{name}: a line or two of text"
        assert all(many[name].caption.count(f"too-long-{number}") == 1 for number in range(7))


def test_E6_models_that_cost_thirty_times_as_much_have_scales_of_their_own() -> None:
    (near,), (far,) = (
        [one for one in draw_pictures(run(*arms), economics=billed(*arms), pngs=False) if one.name == "economics"]
        for arms in (_arms(("paid", "paid-2"), 2)[:2] + _arms(("paid-2",), 2), _arms(("paid", "paid-2"), 2))
    )
    assert "a scale of their own" in far.caption
    assert "a scale of their own" not in near.caption
    longest = [round(length, 3) for length in _lengths(far)].count(1.25 * 72)
    assert longest == 2, "a bar of each model"


def _lengths(picture: Picture) -> list[float]:
    """Of bars."""
    corners = re.findall(
        rb'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [\d.]+ \nL [\d.]+ [\d.]+ \nL [\d.]+ [\d.]+ \nz', picture.svg
    )
    return [abs(float(b) - float(a)) for a, b in corners]
