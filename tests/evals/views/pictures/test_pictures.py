"""Pictures of any run: drawn without a warning, the same each time, with nothing invented."""

from __future__ import annotations

import io
import math
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.views.sample import sample_run
from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.views.pictures.bars import best_first
from toolbelt.evals.views.pictures.canvas import ORACLE, distinct, drawable, text_width
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.evals.views.pictures.scaling import curve_texts, find_curves
from toolbelt.evals.views.pictures.shown import MOST_ARMS, left_out, shown_arms
from toolbelt.evals.views.pictures.tradeoff import Point, find_front, front_text, pareto_front
from toolbelt.views.blocks import Picture

PNG = b"\x89PNG\r\n\x1a\n"


def _arm(toolset: str = "full", model: str = "m", right: int = 6, tokens: float = 1000.0, **changes: Any) -> ArmSummary:
    accuracy = Rate(right, 10, max(0.0, right / 10 - 0.2), min(1.0, right / 10 + 0.2))
    arm = ArmSummary(model, toolset, planned=10, finished=10, scored=10, accuracy=accuracy, coverage=Rate(9, 10, 0, 1))
    tokens_known = {"definition_tokens": tokens, "definition_tokens_total": tokens, "prompt_tokens": tokens + 50}
    return replace(arm, **{"tools_offered": 10.0} | tokens_known | changes)


def _run(*arms: ArmSummary) -> RunSummary:
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=arms)


def _names(summary: RunSummary) -> list[str]:
    return [picture.name for picture in draw_pictures(summary, pngs=False)]


def _check(pictures: tuple[Picture, ...]) -> None:
    for picture in pictures:
        root = ET.parse(io.BytesIO(picture.svg)).getroot()
        assert root.tag.endswith("svg")
        assert not list(root.iter("{http://www.w3.org/2000/svg}text"))  # shapes, so that no font is needed
        assert b"<dc:date>" not in picture.svg


def test_E10_pictures_of_a_run_are_well_formed_and_the_same_each_time() -> None:
    summary = summarize(sample_run(), RUN)
    pictures = draw_pictures(summary)
    assert [picture.name for picture in pictures] == ["tradeoff", "accuracy", "tokens", "scaling"]
    _check(pictures)
    assert all(picture.png.startswith(PNG) and picture.dark_png.startswith(PNG) for picture in pictures)
    assert [picture._replace(png=b"", dark_png=b"") for picture in pictures] == [*draw_pictures(summary, pngs=False)]
    assert draw_pictures(summary) == pictures


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        pytest.param([_arm()], ["tradeoff", "accuracy", "tokens"], id="one-arm-has-no-scaling-curve"),
        pytest.param([_arm("oracle"), _arm()], ["tradeoff", "accuracy", "tokens"], id="nor-has-one-oracle-arm"),
        pytest.param(
            [_arm("oracle"), _arm("oracle+3", model="other")], ["tradeoff", "accuracy", "tokens"], id="nor-two-models"
        ),
        pytest.param(
            [_arm("oracle"), _arm("oracle+3")], ["tradeoff", "accuracy", "tokens", "scaling"], id="two-make-a-curve"
        ),
        pytest.param([ArmSummary("m", "full", planned=5)], [], id="nothing-scored-draws-nothing"),
        pytest.param(
            [_arm(), ArmSummary("m", "tiered", planned=5)], ["tradeoff", "accuracy", "tokens"], id="one-of-two-scored"
        ),
        pytest.param(
            [_arm(definition_tokens_total=None, prompt_tokens=None)], ["tradeoff", "accuracy"], id="tokens-unknown"
        ),
        pytest.param([_arm(right=0, tokens=0.0)], ["tradeoff", "accuracy", "tokens"], id="noughts"),
        pytest.param([], [], id="no-arms"),
    ],
)
def test_only_what_there_is_is_drawn(arms: list[ArmSummary], names: list[str]) -> None:
    assert _names(_run(*arms)) == names


NAMES = st.one_of(
    st.text(max_size=50),
    st.sampled_from(["full", "oracle", "oracle+3", "oracle+9:near", "loadout:财务", "$\\frac{1}$"]),
)
ARMS = st.builds(
    lambda toolset, model, right, tokens, tools: _arm(toolset, model, right, tokens, tools_offered=tools),
    NAMES,
    st.sampled_from(["m", "local/bm25", "某模型", "a" * 60]),
    st.integers(0, 10),
    st.floats(0, 1e6),
    st.none() | st.floats(0.5, 1000),
)


@given(st.lists(ARMS | st.builds(ArmSummary, st.just("m"), NAMES), max_size=4))
@settings(max_examples=6, deadline=None)
def test_any_run_is_drawn_without_a_warning(arms: list[ArmSummary]) -> None:
    _check(draw_pictures(_run(*arms), pngs=False))  # warnings are errors in this suite


def test_more_arms_than_a_picture_can_show_are_said_to_be_left_out() -> None:
    many = _run(*(_arm(f"loadout:{n}") for n in range(80)))
    assert len(shown_arms(many)) == MOST_ARMS
    assert left_out(many) == f"The first {MOST_ARMS} of 80 arms."
    assert left_out(_run(_arm())) == ""


def test_an_arm_with_nothing_scored_is_named_and_not_drawn_at_nought() -> None:
    tradeoff = draw_pictures(_run(_arm(), ArmSummary("m", "tiered", planned=5)), pngs=False)[0]
    assert "Nothing scored: tiered." in tradeoff.caption


def test_the_settings_of_matplotlib_are_left_as_they_were() -> None:
    code = """
import matplotlib
matplotlib.rcParams["font.size"] = 31
from tests.evals.views.sample import sample_run
from tests.evals.analysis.summary.rows import RUN
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.evals.analysis.summary.summarize import summarize
import sys
draw_pictures(summarize(sample_run(), RUN), pngs=False)
print(matplotlib.rcParams["font.size"], "matplotlib.pyplot" in sys.modules)
"""
    root = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr) == (["31.0", "False"], "")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    def is_beaten(place: int) -> bool:
        cost, worth = points[place]
        return any(c <= cost and w >= worth and (c, w) != (cost, worth) for c, w in points)

    front = pareto_front(points)
    assert sorted(front) == [place for place in range(len(points)) if not is_beaten(place)]
    assert [points[place] for place in front] == sorted(points[place] for place in front)


@pytest.mark.parametrize(
    ("toolsets", "front", "text"),
    [
        pytest.param(
            ["oracle", "oracle+3", "full", "tiered"],
            [3, 2],
            "Pareto front (filled), without oracle",
            id="an-oracle-is-nobodys-choice",
        ),
        pytest.param(["oracle+3:near", "oracle"], [1, 0], "Pareto front (filled)", id="unless-there-is-nothing-else"),
        pytest.param(["full", "tiered"], [1, 0], "Pareto front (filled)", id="where-no-oracle-is-none-is-left-out"),
    ],
)
def test_the_front_is_of_toolsets_that_can_be_chosen(toolsets: list[str], front: list[int], text: str) -> None:
    shown = shown_arms(_run(*map(_arm, toolsets)))
    points = [Point(one, 1000.0 - place, 0.9 - place / 10, 0.0, 1.0) for place, one in enumerate(shown)]
    assert find_front(points) == front
    assert front_text(points) == text


@pytest.mark.parametrize(
    ("arms", "texts"),
    [
        pytest.param([("m", "oracle", ""), ("m", "oracle+3", "")], ["random distractors"], id="one-model-is-not-named"),
        pytest.param(
            [("m", "oracle", ""), ("m", "oracle+3", ""), ("m", "oracle+3:near", "")],
            ["random distractors", "near distractors"],
            id="random-is-named-as-near-is",
        ),
        pytest.param(
            [
                (model, toolset, variant)
                for model, variant in (("m", ""), ("n", "x"))
                for toolset in ("oracle", "oracle+9")
            ],
            ["m · random distractors", "n · random distractors · x"],
            id="several-models-and-a-variant",
        ),
    ],
)
def test_each_curve_is_told_by_its_distractors(arms: list[tuple[str, str, str]], texts: list[str]) -> None:
    shown = shown_arms(_run(*(_arm(toolset, model, variant=variant) for model, toolset, variant in arms)))
    assert curve_texts(find_curves(shown)) == texts


def test_E6_tokens_that_were_reported_in_part_are_drawn_as_our_own() -> None:
    trials: list[dict[str, Any]] = [
        {"trial": n, "definition_tokens": 174, "definition_tokens_total": 196, "own_prompt_tokens": 230}
        | {"prompt_tokens": 83 if n < 6 else None}
        for n in range(38)
    ]
    summary = summarize(database([("m", "full", "")], trials), RUN)
    assert [arm.prompt_tokens for arm in summary.arms] == [230]
    captions = {picture.name: picture.caption for picture in draw_pictures(summary, pngs=False)}
    assert "~ estimated, as the provider did not report the tokens of every trial." in captions["tokens"]
    assert "fewer tokens than we do" not in captions["tokens"]


def test_curves_are_of_one_model_one_kind_and_one_variant() -> None:
    arms = [
        _arm("oracle", tools_offered=1.0),
        _arm("oracle+30:near", tools_offered=31.0),
        _arm("oracle+3:near", tools_offered=4.0),
        _arm("oracle+3:random", tools_offered=4.0),
        _arm("oracle+9", variant="shuffled", tools_offered=10.0),
        _arm("full", tools_offered=200.0),
        _arm("oracle", model="other", tools_offered=1.0),
        _arm("oracle+3", model="other", scored=0, accuracy=Rate()),
    ]
    found = [
        (curve.model, curve.kind, curve.variant, [one.arm.toolset for one in curve.arms], curve.full is not None)
        for curve in find_curves(shown_arms(_run(*arms)))
    ]
    assert curve_texts(find_curves(shown_arms(_run(*arms)))) == [
        "near distractors",
        "random distractors",
    ]
    assert found == [
        ("m", "near", "", ["oracle", "oracle+3:near", "oracle+30:near"], True),
        ("m", "random", "", ["oracle", "oracle+3:random"], True),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("loadout:财务", "loadout:□□", id="no-glyph-is-a-box"),
        pytest.param("$x_1$", "$x_1$", id="a-dollar-is-a-dollar"),
        pytest.param("a\nb\x1b", "a b\\x1b", id="one-line-without-escapes"),
        pytest.param("abcdefghijklmnop", "abcd…lmnop", id="long-names-are-cut-in-the-middle"),
        pytest.param("é ü ß Ж λ", "é ü ß Ж λ", id="latin-greek-and-cyrillic-stay"),
    ],
)
def test_names_as_pictures_show_them(text: str, shown: str) -> None:
    assert drawable(text, 10) == shown


def test_names_that_look_the_same_get_their_number() -> None:
    assert distinct(["财务", "数据", "git"], 10) == ["#1 □□", "#2 □□", "git"]
    shown = shown_arms(_run(_arm("loadout:财务"), _arm("loadout:数据"), _arm("loadout:财务", model="b")))
    assert [one.label for one in shown] == ["#1 loadout:□□", "#2 loadout:□□", "loadout:□□"]


def test_widths_are_those_of_the_font() -> None:
    assert text_width("") == 0
    assert math.isclose(text_width("ab" * 10), 10 * text_width("ab"), rel_tol=0.05)
    assert text_width("full", bold=True) > text_width("full")


def _result(trade_off: TradeOff | None, recommended: ArmSummary, **changes: Any) -> RunResult:
    found = RunResult("r", "d", 10, 1, "m", 1, is_word_matching=False, reference=_arm(), recommended=recommended)
    return replace(found, trade_off=trade_off, **{"tokens_saved": 0.564, "cost_saved_usd": 0.0123} | changes)


_ARROW = "The arrow leads from full to the arm to take, tiered: "


@pytest.mark.parametrize(
    ("trade_off", "changes", "words"),
    [
        pytest.param(
            TradeOff.NOT_WORSE,
            {},
            "56% fewer prompt tokens, $0.012 less a trial, not worse by more than 2.0 points",
            id="all-that-is-saved",
        ),
        pytest.param(
            TradeOff.MORE_ACCURATE,
            {"tokens_saved": -0.2, "cost_saved_usd": None},
            "20% more prompt tokens, more accurate",
            id="what-costs-more-is-said-to",
        ),
        pytest.param(None, {}, None, id="none-without-a-trade-off"),
    ],
)
def test_an_arrow_leads_to_the_arm_to_take_with_what_it_saves(
    trade_off: TradeOff | None, changes: dict[str, Any], words: str | None
) -> None:
    tiered = _arm("tiered", right=7, tokens=400.0)
    arms, plain = _run(_arm(), tiered), draw_pictures(_run(_arm(), tiered), pngs=False)[0]
    picture = draw_pictures(arms, result=_result(trade_off, tiered, **changes), pngs=False)[0]
    assert (picture.svg != plain.svg) == (words is not None)
    if words is None:
        assert _ARROW not in picture.caption
    else:
        assert f"{_ARROW}{words}." in picture.caption


def test_no_arrow_leads_to_an_arm_that_is_not_drawn() -> None:
    unknown = _result(TradeOff.NOT_WORSE, _arm("tiered"))
    assert _ARROW not in draw_pictures(_run(_arm()), result=unknown, pngs=False)[0].caption


def test_oracle_arms_are_grey() -> None:
    grey = ORACLE.encode()
    assert [
        grey in draw_pictures(_run(_arm(), _arm(other)), pngs=False)[0].svg for other in ("tiered", "oracle+9")
    ] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("prompts", "title"),
    [
        pytest.param(500.0, "Accuracy against prompt tokens", id="known"),
        pytest.param(None, "Accuracy against definition tokens", id="unknown-of-one-arm"),
    ],
)
def test_whole_prompts_are_compared_where_they_are_known(prompts: float | None, title: str) -> None:
    assert draw_pictures(_run(_arm(), _arm("tiered", prompt_tokens=prompts)), pngs=False)[0].title == title


def test_bars_stand_best_first_with_oracle_arms_behind() -> None:
    shown = shown_arms(_run(_arm("oracle", right=10), _arm("full", right=4), _arm("tiered", right=8)))
    ordered = best_first(shown, lambda arm: arm.accuracy.value or 0.0)
    assert [item.label for item in ordered] == ["tiered", "full", "oracle"]
