"""The heat map: what has no accuracy has no colour (rule E4), and what is chosen is seen (rule E7)."""

from __future__ import annotations

import io
import itertools
import math
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.views.matrices import TOOLSETS, big_matrix, scored, small_matrix
from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.views.matrix_text import (
    NO_WINDOW,
    NOT_RUN,
    STATE_WORDS,
    STEPS,
    HeatCell,
    OverflowKind,
    heat_cell,
    heat_colour,
    heat_step,
    ink_on,
)
from toolbelt.evals.views.pictures.canvas import DARK, SMALL, in_lines, own_settings, text_width
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.evals.views.pictures.heat_map import MOST_MODELS, MOST_TOOLSETS, draw_heat_map
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.views.blocks import Picture

RUN = RunSummary("r", "2026-03-01", "finished", "d", "sha256:0")
COLOURS = [heat_colour(step) for step in range(STEPS + 1)]


def drawn(matrix: Matrix, *, pngs: bool = False) -> Picture:
    with own_settings():
        picture = draw_heat_map(matrix, pngs=pngs)
    assert picture is not None
    return picture


def fills(picture: Picture) -> list[str]:
    """Colours that areas of the SVG are filled with."""
    styles = [one.get("style", "") for one in ET.parse(io.BytesIO(picture.svg)).getroot().iter()]
    return [style.split("fill: ")[1].split(";")[0] for style in styles if "fill: #" in style]


def size(picture: Picture) -> tuple[int, int]:
    """In pixels."""
    wide, high = struct.unpack(">II", picture.png[16:24])
    return wide, high


def test_E10_the_same_matrix_makes_the_same_bytes() -> None:
    picture = drawn(small_matrix(), pngs=True)
    assert picture == drawn(small_matrix(), pngs=True)
    assert picture.svg == drawn(small_matrix()).svg


@pytest.mark.parametrize(
    ("row", "column", "cell"),
    [
        pytest.param(0, 0, HeatCell("85.0%", 17, is_best=True), id="the-best-is-marked"),
        pytest.param(0, 2, HeatCell("83.3%", 17, is_chosen=True), id="the-chosen-is-marked"),
        pytest.param(0, 4, HeatCell("0.0%", 0), id="a-score-of-0-is-one"),
        pytest.param(1, 0, HeatCell("cannot fit"), id="what-cannot-fit-is-no-score"),
        pytest.param(
            1,
            2,
            HeatCell("50.0%", 10, "33% too long", OverflowKind.TOO_LONG, is_chosen=True, is_best=True),
            id="partly-too-long",
        ),
        pytest.param(1, 3, HeatCell("not scored"), id="all-failed-is-no-score"),
        pytest.param(1, 4, HeatCell("not run"), id="a-pair-that-was-not-run"),
        pytest.param(2, 0, HeatCell("no tool calls"), id="a-model-without-tool-calling"),
        pytest.param(2, 1, HeatCell("nothing fits"), id="auto-without-a-choice"),
    ],
)  # fmt: skip
def test_E4_what_a_cell_says(row: int, column: int, cell: HeatCell) -> None:
    line = small_matrix().rows[row]
    assert heat_cell(line, line.cells[column]) == cell


def test_L15_an_unknown_window_is_not_said_to_be_too_small() -> None:
    row = ModelRow("m", (), Pick("m"))
    unknown, small = (
        Cell("loadout:auto", CellState.NO_CHOICE, verdict=verdict)
        for verdict in (FitVerdict.UNKNOWN, FitVerdict.REFUSES)
    )
    assert (heat_cell(row, unknown).text, heat_cell(row, small).text) == ("window unknown", "nothing fits")


def test_E7_what_is_not_sure_is_framed_otherwise_than_what_is() -> None:
    row = small_matrix().rows[0]
    pick = Pick(row.model, best=0, choice=2)
    assert heat_cell(replace(row, pick=pick), row.cells[2]) == HeatCell("83.3%", 17, is_unsure=True)
    unsure = drawn(replace(small_matrix(), rows=(replace(row, pick=pick),)))
    assert "Dashed: for toolbelt.yaml, not sure" in unsure.caption
    assert "Framed" not in unsure.caption
    assert "stroke-dasharray" in unsure.svg.decode()
    sure = drawn(replace(small_matrix(), rows=(row,)))
    assert "Dashed" not in sure.caption
    assert "stroke-dasharray" not in sure.svg.decode()


@pytest.mark.parametrize("state", [one for one in CellState if one not in (CellState.SCORED, CellState.PARTLY)])
def test_E4_a_state_without_an_accuracy_never_has_a_colour(state: CellState) -> None:
    row = ModelRow("m", (), Pick("m", best=0, choice=0))
    assert heat_cell(row, Cell("full", state, 0)).step is None
    assert heat_cell(row, scored("full", 0, 0, state=state)).step is None, "whatever stands in its accuracy"


@pytest.mark.parametrize(
    ("overflowed", "planned", "words"),
    [(1, 1000, "<1% too long"), (999, 1000, ">99% too long"), (30, 60, "50% too long")],
)
def test_a_share_is_never_rounded_to_none_or_all(overflowed: int, planned: int, words: str) -> None:
    cell = scored("full", 0, 1, 1, state=CellState.PARTLY, overflowed=overflowed, planned=planned)
    assert heat_cell(ModelRow("m", (cell,), Pick("m")), cell).overflow == words


def test_E4_too_many_tools_are_not_told_as_length() -> None:
    cell = scored("full", 0, 1, 1, state=CellState.PARTLY, overflowed=30, planned=60, too_many_tools=True)
    row = ModelRow("m", (cell, scored("tiered", 1, 9)), Pick("m"))
    assert heat_cell(row, cell).overflow == "50% too many"
    caption = drawn(replace(small_matrix(), toolsets=("full", "tiered"), rows=(row,))).caption
    assert "Too many: trials that hold more tools than a request may" in caption
    assert "Too long" not in caption


def test_E7_what_small_means_is_in_the_caption() -> None:
    meaning = "Small: the fewest tokens of definitions over all requests of a trial."
    assert drawn(small_matrix()).caption.count(meaning) == 1
    rows = tuple(replace(row, pick=replace(row.pick, choice=None)) for row in small_matrix().rows)
    assert meaning not in drawn(replace(small_matrix(), rows=rows)).caption


def test_E4_only_scored_cells_are_coloured() -> None:
    scale = drawn(small_matrix())
    legend = [heat_colour(step) for step in range(STEPS + 1)]
    cells = fills(scale)
    for colour in legend:
        cells.remove(colour)
    steps = [heat_step(share) for share in (51 / 60, 50 / 60, 50 / 60, 20 / 60, 0, 42 / 60, 30 / 60)]
    assert sorted(one for one in cells if one in COLOURS) == sorted(map(heat_colour, steps))
    assert "count as not right" in scale.caption
    assert "not a score of 0" in scale.caption


@pytest.mark.parametrize(("models", "toolsets"), [(1, 1), (0, 5), (3, 0)])
def test_where_there_is_nothing_to_choose_from_nothing_is_drawn(models: int, toolsets: int) -> None:
    matrix = big_matrix(models, 3) if not toolsets else big_matrix(models, toolsets)
    assert draw_heat_map(matrix if toolsets else replace(matrix, toolsets=())) is None
    pictures = draw_pictures(RUN, matrix=matrix if toolsets == 1 else None, pngs=False)
    assert "compatibility" not in [one.name for one in pictures]


def test_it_is_the_first_of_a_runs_pictures() -> None:
    assert [one.name for one in draw_pictures(RUN, matrix=small_matrix(), pngs=False)] == ["compatibility"]


def test_of_one_model_there_is_none_as_bars_say_it_better() -> None:
    runs = [draw_pictures(RUN, matrix=big_matrix(models, 3), pngs=False) for models in (1, 2)]
    names = [[one.name for one in pictures] for pictures in runs]
    assert names == [[], ["compatibility"]]


def test_a_matrix_that_is_too_large_says_what_is_left_out() -> None:
    matrix = big_matrix(MOST_MODELS + 3, 2)
    assert drawn(matrix).caption.endswith(f"The first {MOST_MODELS} of {MOST_MODELS + 3} models.")
    wide = drawn(big_matrix(1, MOST_TOOLSETS + 1))
    assert wide.caption.endswith(f"The first {MOST_TOOLSETS} of {MOST_TOOLSETS + 1} toolsets.")


@pytest.mark.parametrize(("models", "toolsets"), [(1, 2), (2, 1), (25, 3), (3, 16)])
def test_each_cell_has_its_room_at_any_size(models: int, toolsets: int) -> None:
    wide, high = size(drawn(big_matrix(models, toolsets), pngs=True))
    assert wide >= 0.9 * 160 * min(models, toolsets), "the fewer are the columns"
    assert high >= 0.4 * 160 * max(models, toolsets)


@pytest.mark.parametrize("words", [*STATE_WORDS.values(), NOT_RUN, NO_WINDOW])
def test_every_word_of_a_cell_has_room_in_the_narrowest(words: str) -> None:
    lines = in_lines(words, 0.82, SMALL)
    assert len(lines) <= 2
    assert max(text_width(line, SMALL) for line in lines) < 0.82


NAMES = st.one_of(st.text(max_size=50), st.sampled_from(["full", "某模型", "a" * 80, "$x_1$", "evil\u202e\x1b[31m"]))
CELLS = st.one_of(
    st.none(),
    st.builds(lambda state: Cell("t", state, 0), st.sampled_from(CellState)),
    st.builds(lambda right, state: scored("t", 0, right, state=state), st.integers(0, 60), st.sampled_from(CellState)),
)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    toolsets = tuple(draw(st.lists(NAMES, min_size=1, max_size=3)))
    models = draw(st.lists(NAMES, min_size=1, max_size=3))
    lines = [tuple(draw(CELLS) for _ in toolsets) for _ in models]
    window = draw(st.none() | st.integers(1, 10**7))
    rows = [
        ModelRow(model, line, Pick(model, best=0, choice=0), window) for model, line in zip(models, lines, strict=True)
    ]
    return Matrix("r", "d", "c", 60, 0.02, toolsets, tuple(rows))


@given(matrices())
@settings(max_examples=12, deadline=None)
def test_any_matrix_is_drawn_without_a_warning(matrix: Matrix) -> None:
    with own_settings():
        picture = draw_heat_map(matrix, pngs=False)
    if picture is not None:
        ET.fromstring(picture.svg)


def test_long_names_that_look_the_same_when_cut_are_told_apart() -> None:
    one, two = (f"loadout:{'x' * 30}{middle}{'y' * 30}" for middle in "ab")
    cells = (scored(one, 0, 5), scored(two, 1, 5))
    matrix = Matrix("r", "d", "c", 60, 0.02, (one, two), (ModelRow("m", cells, Pick("m")),))
    cut = replace(matrix, toolsets=(one, one))
    assert drawn(matrix).svg == drawn(cut).svg, "both are numbered alike"
    assert drawn(matrix).svg != drawn(replace(matrix, toolsets=(one, "b"))).svg


# The scale, against formulas of others: CIE 1976 and WCAG 2, and dichromats as Machado et al. (2009) have them.


def _linear(colour: str) -> np.ndarray:
    encoded = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ np.clip(linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _contrast(one: str, other: str) -> float:
    light, dark = sorted(
        (float(np.dot(_linear(colour), [0.2126, 0.7152, 0.0722])) for colour in (one, other)), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
    "none-of-colour": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}


@pytest.mark.parametrize("sight", SIGHT)
def test_each_step_looks_darker_than_the_one_before(sight: str) -> None:
    """A step of 2 is what one just sees."""
    lightness = [_lab(SIGHT[sight] @ _linear(colour))[0] for colour in COLOURS]
    assert max(np.diff(lightness)) < -2


def test_steps_are_evenly_apart() -> None:
    steps = [math.dist(_lab(_linear(one)), _lab(_linear(two))) for one, two in itertools.pairwise(COLOURS)]
    assert max(steps) < 2 * min(steps)


@pytest.mark.parametrize("colour", COLOURS)
def test_a_number_stands_out_from_its_ground(colour: str) -> None:
    assert _contrast(ink_on(colour), colour) >= 4.5


def test_only_none_and_all_have_the_ends_of_the_scale() -> None:
    assert [heat_step(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == [0, 1, STEPS // 2, STEPS - 1, STEPS]


def test_toolsets_of_the_sample_are_those_of_its_rows() -> None:
    assert all(
        cell is None or cell.toolset == name
        for row in small_matrix().rows
        for name, cell in zip(TOOLSETS, row.cells, strict=True)
    )


def test_on_a_dark_page_the_scale_runs_the_other_way_and_what_is_not_drawn_stays_so() -> None:
    assert [DARK[colour] for colour in COLOURS] == COLOURS[::-1]
    assert "#000000" not in DARK  # the colour of what is transparent
