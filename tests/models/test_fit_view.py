"""The picture of toolsets against models."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from toolbelt import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.models.facts import ModelFacts
from toolbelt.models.fit import CandidateToolset, FitCalculator, ModelToFit, compare
from toolbelt.models.fit_view import FitMatrix, fit_matrix_view, largest_fitting
from toolbelt.models.provider_rules import find_tool_rules
from toolbelt.render.terminal import render_terminal

BARE = {"type": "object", "properties": {"tags": {"type": "array"}}}
CATALOG = Catalog(
    (
        Plugin("git", tuple(Tool(f"git_{number}", "Does.", {"type": "object"}) for number in range(120))),
        Plugin("web", (Tool("fetch", "Fetches.", BARE), *(Tool(f"web_{number}", "Does.") for number in range(29)))),
    ),
    name="tools",
)
MODELS = (
    ModelFacts("gpt-4o", "gpt-4o", "openai", "chat", 128_000, output_reserve=4_096, tool_calling=True),
    ModelFacts("small/model", None, "nobody", "chat", 4_000, output_reserve=1_000, tool_calling=True),
    ModelFacts("tiny", None, None, None, 1_000, output_reserve=250),
    ModelFacts("mute", None, None, "chat", 128_000, tool_calling=False),
    ModelFacts("who/knows"),
)
TOOLSETS = (
    CandidateToolset("the whole catalog", CATALOG.tools),
    CandidateToolset("git", CATALOG.tools[:60], "git"),
    CandidateToolset("web", CATALOG.tools[120:], "web"),
)


def _matrix(models: tuple[ModelFacts, ...] = MODELS, toolsets: tuple[CandidateToolset, ...] = TOOLSETS) -> FitMatrix:
    tokens = ToolTokens({tool.id: 30 for tool in CATALOG.tools}, "o200k_base", exact=True)
    comparer = FitCalculator(CATALOG.wire_names, lambda _: tokens, CATALOG.tools)
    asked = [ModelToFit(facts, ("o200k_base", "openai"), exact=True) for facts in models]
    found = comparer.inspected.find_violations(find_tool_rules(models[0]))
    violations = [("OpenAI's chat API", found)] if found else []
    return FitMatrix("tools", toolsets, compare(toolsets, asked, comparer), violations)


def _draw(matrix: FitMatrix, width: int = 80, *, show_all: bool = False) -> str:
    screen = Console(file=io.StringIO(), width=width)
    return "".join(f"{line.plain}\n" for line in render_terminal(fit_matrix_view(matrix, show_all=show_all), screen))


def test_the_whole_picture() -> None:
    assert (
        _draw(_matrix())
        == """\
Toolset of catalog tools  tools  tokens
the whole catalog           150   4,500
git                          60   1,800
web                          30     900

                      the whole
Model         window    catalog    git    web
gpt-4o       128,000     !x>128  *1.4%  !0.7%
small/model    4,000      x112%   ~45%   *22%
tiny ?         1,000      x450%  x180%   x90%
mute         128,000          -      -      -
who/knows    unknown          ?      ?      ?

12% share of the window; ~ over 40%; x no room; x>128 too many tools; - calls no
tools; ? unknown; model? may call no tools; ! tools to repair; * largest that
fits

What does not fit
gpt-4o with the whole catalog       refuses
  A request may hold 128 tools; these are 150, 22 too many.
small/model with the whole catalog  refuses
  Definitions of 4,500 tokens and 1,000 kept for the answer leave no room in a
  window of 4,000; the largest part: the definitions, of which 'git' takes
  3,600.
small/model with git                fits degraded
  Definitions take 45% of the window, over 40%; the largest part: the
  definitions, of which 'git' takes 1,800.
tiny with the whole catalog         refuses
  Definitions of 4,500 tokens and 250 kept for the answer leave no room in a
  window of 1,000; the largest part: the definitions, of which 'git' takes
  3,600.
tiny with git                       refuses
  Definitions of 1,800 tokens and 250 kept for the answer leave no room in a
  window of 1,000; the largest part: the definitions, of which 'git' takes
  1,800.
tiny with web                       refuses
  Definitions of 900 tokens and 250 kept for the answer leave no room in a
  window of 1,000; the largest part: the definitions, of which 'web' takes 900.
mute with the whole catalog         unsupported
  It does not call tools.
mute with git                       unsupported
  It does not call tools.
mute with web                       unsupported
  It does not call tools.

Rules of OpenAI's chat API  broken by 1 tool as they are
array-items: refused
    web/fetch: arrays without items: properties.tags; say what they hold
    https://github.com/sigoden/aichat/pull/1049 (2026-11-21)
"""
    )


def _many() -> FitMatrix:
    models = tuple(
        ModelFacts(f"provider-{number % 7}/a-model-with-a-long-name-{number}", None, "x", "chat", 900 * number + 1)
        for number in range(50)
    )
    toolsets = tuple(CandidateToolset(f"loadout-{number}", CATALOG.tools[: 20 * number + 5]) for number in range(7))
    return _matrix(models, toolsets)


@pytest.mark.parametrize("width", [20, 40, 80, 118, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for matrix in (_matrix(), _many()):
        assert max(len(line) for line in _draw(matrix, width, show_all=True).split("\n")) <= width


@pytest.mark.parametrize("width", [118, 160])
def test_the_window_gives_way_and_no_name(width: int) -> None:
    lines = _draw(_many(), width).split("\n")
    assert sum("name-49 " in line for line in lines) == 1
    assert any("window" in line for line in lines if line.startswith("Model ")) is (width == 160)


def test_what_does_not_fit_is_cut_short_unless_all_is_asked_for() -> None:
    assert "more pairs (--all)" in _draw(_many())
    assert "(--all)" not in _draw(_many(), show_all=True)


def test_the_largest_that_fits_is_the_one_with_most_tools() -> None:
    matrix = _matrix()
    assert [largest_fitting(TOOLSETS, fits) for fits in matrix.by_model] == [1, 2, None, None, None]


def test_hostile_names_are_spelled_out() -> None:
    toolsets = (CandidateToolset("lo\x1bad", CATALOG.tools[:1]),)
    drawn = _draw(_matrix((ModelFacts("mo\u202edel", None, None, None, 10),), toolsets))
    assert not {"\x1b", "\u202e"} & set(drawn)


def test_the_legend_tells_of_the_marks_that_are_there_alone() -> None:
    few = ModelFacts("few", None, None, "chat", 128_000, output_reserve=9, max_tools=50, tool_calling=True)
    drawn = _draw(_matrix((few,)))
    assert "\n12% share of the window; x>50 too many tools; * largest that fits\n" in drawn
    assert not any(mark in drawn for mark in ("~ over", "x no room", "- calls", "? unknown", "! tools"))
    assert "\n? unknown\n" in _draw(_matrix((ModelFacts("who/knows"),)))


@pytest.mark.parametrize(
    ("most", "window", "cell"),
    [
        pytest.param(29, 128_000, "x>29", id="tens"),
        pytest.param(None, 1, "x999x", id="a-window-a-thousand-times-too-small"),
        pytest.param(None, 4_500, "x100%", id="a-window-that-is-just-too-small"),
    ],
)
def test_figures_keep_apart_from_the_window_before_them(most: int | None, window: int, cell: str) -> None:
    facts = ModelFacts("m", None, None, "chat", window, output_reserve=1, max_tools=most, tool_calling=True)
    line = next(line for line in _draw(_matrix((facts,), TOOLSETS[:1])).split("\n") if line.startswith("m  "))
    assert line.split()[1:] == [f"{window:,}", cell]


def test_a_limit_of_thousands_keeps_its_column() -> None:
    whole = CandidateToolset("many", tuple(Tool(f"t{number}", "Does.") for number in range(2_100)))
    tokens = ToolTokens({tool.id: 1 for tool in whole.tools}, "o200k_base", exact=True)
    comparer = FitCalculator({tool.id: tool.name for tool in whole.tools}, lambda _: tokens, whole.tools)
    facts = ModelFacts("m", None, None, "chat", 128_000, max_tools=2_048, tool_calling=True)
    fits = compare([whole], [ModelToFit(facts, ("o200k_base", "openai"), exact=True)], comparer)
    drawn = _draw(FitMatrix("tools", [whole], fits, []), 100)
    assert "128,000  x>2k" in drawn
    assert "A request may hold 2,048 tools; these are 2,100, 52 too many." in drawn


def test_a_model_that_may_call_no_tools_is_marked() -> None:
    unsure = ModelFacts("unsure", None, None, "chat", 128_000, output_reserve=9)
    drawn = _draw(_matrix((unsure, ModelFacts("sure", None, None, "chat", 128_000, tool_calling=True))))
    assert "\nunsure ?" in drawn
    assert "\nsure  " in drawn
    assert "model? may call no tools" in drawn
    assert "may call" not in _draw(_matrix((ModelFacts("who/knows"),)))  # where all is unknown, that says enough
