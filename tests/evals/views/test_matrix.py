"""Models × toolsets on the terminal and as Markdown (rules E4 and E10)."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Sequence

import pytest
from rich.console import Console, Group

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of
from tests.wording import mentions
from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick
from toolbelt.evals.analysis.matrix.pick_reasons import NoBest, NothingMeasured
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.analysis.summary.run_summary import Rate
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.views.matrix import matrix_markdown, matrix_view, recommended_view
from toolbelt.evals.views.matrix_text import heat_colour, heat_step
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.render.terminal import render_terminal
from toolbelt.views.blocks import Block

GOOD = "+" * 90 + "-" * 10
RUN = WrittenRun(
    [
        Asked("full", GOOD, 46_000, model="gpt-4o"),
        Asked("loadout:minimal", "+" * 88 + "-" * 12, 4_600, model="gpt-4o"),
        Asked("tiered", "+" * 60 + "o" * 20 + "-" * 20, 200, 9_000, model="gpt-4o"),
        Asked("full", "x" * 100, 46_000, model="ollama/qwen3:8b"),
        Asked("loadout:minimal", GOOD, 4_600, model="ollama/qwen3:8b"),
    ],
    left_out=(LeftOutArm("deaf", "full", FitVerdict.UNSUPPORTED, "It does not call tools."),),
)


def drawn(blocks: Iterable[Block], width: int) -> str:
    screen = Console(file=io.StringIO(), width=width, highlight=False)
    return "".join(f"{line.plain}\n" for line in render_terminal(blocks, screen))


def shown(matrix: Matrix, width: int, *, whole: bool = True) -> str:
    heading, entries = recommended_view(matrix)
    return drawn((*matrix_view(matrix, whole=whole), heading), width) + entries


def test_E10_the_whole_of_it() -> None:
    found = matrix_of(RUN, 0.1)
    text = shown(found, 100)
    lines = text.splitlines()
    assert lines[1] == f"Run {found.run}, dataset assistant, catalog assistant: 100 cases, 3 models × 3 toolsets."
    [head, *rows] = [re.split(r"\s{2,}", line) for line in lines[4:8]]
    assert head == ["model", "full", "minimal", "tiered"]
    assert rows[0] == ["gpt-4o", "best 90.0%", "chosen 88.0%", "60.0%, 20% too long"]
    assert rows[1] == ["ollama/qwen3:8b", "cannot fit", "chosen 90.0%", "not run"]
    assert rows[2] == ["deaf", "no tool calls", "not run", "not run"]
    text = " ".join(text.splitlines()[:-6]) + "\n" + "\n".join(text.splitlines()[-6:]) + "\n"
    assert (
        "chosen: for toolbelt.yaml, the smallest that is surely not worse than the best by more than 10 points" in text
    )
    assert "deaf: It does not call tools." in text
    assert text.endswith(
        "For toolbelt.yaml, for 2 of 3 models (its reasons: --details):\n"
        "models:\n"
        "  - name: gpt-4o\n"
        "    toolset: loadout:minimal\n"
        "  - name: ollama/qwen3:8b\n"
        "    toolset: loadout:minimal\n"
    )


@pytest.mark.parametrize("width", [200, 80, 60, 40])
@pytest.mark.parametrize(("models", "toolsets"), [(1, 1), (1, 30), (30, 1), (3, 12), (30, 30)])
def test_E10_no_figure_is_cut_however_narrow_the_screen(width: int, models: int, toolsets: int) -> None:
    matrix = large(models, toolsets)
    text = shown(matrix, width)
    assert all(len(line) <= width for line in text.split("For toolbelt.yaml")[0].splitlines())
    figures = re.findall(r"\d+\.\d%", text)
    for row in matrix.rows:
        for cell in row.cells:
            assert cell is not None
            assert f"{cell.right_of_asked.value:.1%}" in figures
    assert len(figures) >= models * toolsets


def test_E10_toolsets_are_rows_where_that_takes_fewer_tables() -> None:
    assert "\ntoolset" in shown(large(2, 30), 80)
    assert "\nmodel" in shown(large(30, 2), 80)
    assert "\nmodel" in shown(large(2, 2), 80)


def test_C_foreign_names_are_made_visible_and_paste_as_they_are() -> None:
    arms = [Asked("full", GOOD, 9000, model="\x1b[31mred\u202e"), Asked("tiered", GOOD, 90, model="\x1b[31mred\u202e")]
    text = shown(matrix_of(arms, 0.1), 80)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert '  - name: "\\e[31mred\\u202E"' in text


def test_E10_accuracy_is_shaded_where_there_are_colours_and_plain_elsewhere() -> None:
    found = matrix_of(RUN, 0.1)
    file = io.StringIO()
    screen = Console(file=file, width=100, force_terminal=True, color_system="truecolor", no_color=False)
    screen.print(Group(*render_terminal(matrix_view(found), screen)))
    red, green, blue = (int(heat_colour(heat_step(0.9))[at : at + 2], 16) for at in (1, 3, 5))
    assert f"48;2;{red};{green};{blue}" in file.getvalue()


def test_E7_nothing_to_paste_is_said() -> None:
    text = shown(matrix_of([Asked("full", "++", 9000)]), 80)
    assert "There is nothing to be written into toolbelt.yaml." in text
    assert "models:" not in text


def test_E7_what_is_not_sure_has_a_word_of_its_own() -> None:
    text = shown(matrix_of([Asked("full", "++", 9000), Asked("tiered", "++", 90)]), 80)
    assert "unsure 100.0%" in text
    assert mentions(" ".join(text.split()), "unsure: for toolbelt.yaml", "though another may be better")
    assert "*" not in text


def test_E4_what_cannot_fit_is_told_once_for_each_model() -> None:
    room = ModelLimits(context_window=8192, output_reserve=1024)
    arms = [
        Asked(f"loadout:x{number}", "x" * 9, tokens, reason=describe_fit(room.fit("m", tokens, 9))[0])
        for number, tokens in enumerate((46_493, 9_500, 37_596))
    ]
    left_out = (LeftOutArm("m", "loadout:auto", FitVerdict.REFUSES, "No loadout fits."),)
    run = WrittenRun([*arms, Asked("tiered", "+" * 9, 90)], rooms={"m": room}, left_out=left_out)
    text = " ".join(shown(matrix_of(run), 80).split())
    assert "m with loadout:auto: nothing fits: No loadout fits. " in text
    shared = text.partition("m with loadout:x0, loadout:x1, loadout:x2: ")[2].partition(" m: ")[0]
    assert mentions(shared, "9 of 9 trials", "9,500 to 46,493 tokens", "1,024", "8,192", "definitions")


def test_E10_short_it_is_below_35_lines_for_5_models_and_10_toolsets() -> None:
    toolsets = ("full", "loadout:auto", *(f"loadout:team-{number}" for number in range(7)), "tiered")
    arms = []
    for number in range(5):
        for place, toolset in enumerate(toolsets):
            trials = "x" * 40 if place < number else "+" * (30 - place) + "-" * (10 + place)
            arms.append(Asked(toolset, trials, 9000 - 100 * place, model=f"provider/a-model-with-a-name-{number}"))
    matrix = matrix_of(arms)
    short = drawn(matrix_view(matrix), 120)
    assert len(short.splitlines()) <= 30, "what is to be pasted comes on top"
    assert len(re.findall(r"\d+\.\d%(?=\s)", short.partition("% right")[0])) == 50 - 10
    assert short.rstrip().endswith(f"more: toolbelt eval recommend {matrix.run}")
    assert all(f"\n  {row.model}: {row.pick.toolset}, " in short for row in matrix.rows)
    assert not any(reason in short for row in matrix.rows for reason in describe_pick(row.pick)), (
        "all of them are elsewhere"
    )
    assert len(shown(matrix, 120).splitlines()) > len(short.splitlines())


@pytest.mark.parametrize(
    ("arms", "margin", "named"),
    [
        pytest.param(
            [Asked("full", GOOD, 9000), Asked("tiered", "+" * 88 + "-" * 12, 90)],
            0.2,
            ("m: tiered", "88.0%", "90.0%", "full", "sure"),
            id="smaller",
        ),
        pytest.param(
            [Asked("full", GOOD, 9000), Asked("tiered", GOOD, 90)], 0.2, ("m: tiered", "90.0%", "sure"), id="best"
        ),
        pytest.param(
            [Asked("full", GOOD, 9000), Asked("tiered", GOOD, 90)],
            0.01,
            ("m: tiered", "90.0%", "not sure", "390 cases"),
            id="not-sure",
        ),
        pytest.param([Asked("full", "0uu")], 0.1, ("m: nothing", "no right tool"), id="nothing"),
    ],
)
def test_E7_short_a_model_is_a_line_or_two(arms: Sequence[Asked], margin: float, named: object) -> None:
    lines = shown(matrix_of(arms, margin), 120, whole=False).splitlines()
    assert any(mentions(line, named) for line in lines)


def test_small_is_said_once_where_it_is_spoken_of() -> None:
    found = matrix_of(RUN, 0.1)
    meaning = "small: the fewest tokens of definitions over all requests of a trial"
    texts = (" ".join(shown(found, 120, whole=whole).split()) for whole in (True, False))
    assert [text.count(meaning) for text in texts] == [1, 1]
    assert "small:" not in shown(matrix_of([Asked("full", GOOD)]), 120)


def large(models: int, toolsets: int) -> Matrix:
    labels = tuple(itertools.islice(_labels(), toolsets))
    rows = tuple(_row(f"provider/model-{number}", number, labels) for number in range(models))
    return Matrix("r", "d", "c", 1000, 0.02, labels, rows)


def _labels() -> itertools.chain[str]:
    return itertools.chain(
        ["full", "tiered", "loadout:a-name-of-a-loadout-that-is-long"], (f"loadout:x{n}" for n in itertools.count())
    )


def _row(model: str, number: int, labels: Sequence[str]) -> ModelRow:
    cells = tuple(
        Cell(
            label,
            CellState.PARTLY if place % 5 == 4 else CellState.SCORED,
            number * len(labels) + place,
            accuracy=Rate((number * 31 + place * 17) % 1000, 1000),
            planned=1100,
            scored=1000,
            right_of_asked=Rate((number * 31 + place * 17) % 1000, 1100),
            overflowed=100 if place % 5 == 4 else 0,
        )
        for place, label in enumerate(labels)
    )
    first = number * len(labels)
    return ModelRow(
        model,
        cells,
        Pick(model, first, first, toolset=labels[0], sure=True, reasons=(NoBest(NothingMeasured.NOTHING_SCORED),)),
    )


def test_E10_the_whole_of_it_as_markdown() -> None:
    found = matrix_of(RUN, 0.1)
    first, second, third = (" ".join(describe_pick(row.pick)) for row in found.rows)
    assert (
        matrix_markdown(found)
        == f"""\
## Which toolset for which model

Run {found.run}, dataset assistant, catalog assistant: 100 cases, 3 models × 3 toolsets.

| model | full | loadout:minimal | tiered |
|---|---:|---:|---:|
| gpt-4o | best 90.0% | chosen 88.0% | 60.0%, 20% too long |
| ollama/qwen3:8b | cannot fit | chosen 90.0% | not run |
| deaf | no tool calls | not run | not run |

Figures are shares of trials that are right by names; those too long for the model are not right; \
chosen: for toolbelt.yaml, the smallest that \
is surely not worse than the best by more than 10 points; small: the fewest tokens of definitions over all requests \
of a trial; best: the most accurate as measured, of those that a model can be given, where another is chosen; \
too long: of its trials, that did not fit the model.

- gpt-4o: {first}
- ollama/qwen3:8b: {second}
- deaf: {third}

- gpt-4o with tiered: 20 of 100 trials too long for the model: The window was too small.
- ollama/qwen3:8b with full: cannot fit: 100 of 100 trials too long for the model and not asked: No room.
- deaf with full: no tool calls: It does not call tools.

For `toolbelt.yaml`:

```yaml
{recommendation(found)}```
"""
    )


def test_E10_whichever_are_fewer_stand_above() -> None:
    text = matrix_markdown(matrix_of([Asked("full", GOOD, 9000), Asked("tiered", GOOD, 90)], 0.1))
    assert "| toolset | m |\n|---|---:|\n| full | 90.0% |\n| tiered | chosen 90.0% |" in text


def test_C_foreign_names_break_nothing() -> None:
    model = "a|b `c` <b>d</b> @all\n```\n# evil"
    run = WrittenRun([Asked("full", GOOD, 9000, model=model), Asked("tiered", GOOD, 90, model=model)], reason="x")
    text = matrix_markdown(matrix_of(run, 0.1))
    assert text.startswith("## Which toolset")
    table, _, yaml = text.partition("For `toolbelt.yaml`:")
    assert "<b>" not in table
    assert "@all" not in table.replace("@<!-- -->all", "")
    assert "\n# evil" not in text
    fence = yaml.split("\n")[2]
    assert fence == "````yaml"
    assert yaml.count("````") == 2
    [head, rule, *rows] = [line for line in table.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == rule.count("|") for line in [head, *rows])
