"""The picture of a loadout says what the loadout is."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts import Resolution, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.inspection_view import MAX_NAMES, inspection_view
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog
from toolbelt.render.html import render_html
from toolbelt.render.markdown import render_markdown
from toolbelt.render.terminal import render_terminal
from toolbelt.views.blocks import Block


def _catalog() -> Catalog:
    def plugin(name: str, *tools: str, category: str | None = None) -> Plugin:
        return Plugin(name=name, tools=tuple(Tool(name=tool) for tool in tools), category=category)

    return Catalog(
        name="small",
        plugins=(
            plugin("git", "status", "push", category="git"),
            plugin("payments", "pay", category="Money"),
            plugin("loose", "one", "two"),
            plugin("docker", "run"),
            plugin("secret", "read", category="git"),
            plugin("far", "away"),
        ),
    )


def _inspect(loadout: ToolLoadout, *models: ModelFit) -> Inspection:
    catalog = _catalog()
    tokens = ToolTokens({tool.id: 100 for tool in catalog.tools}, "o200k_base", exact=True)
    return Inspection(ToolLoadoutRegistry([loadout]).resolve(loadout.name, catalog), tokens, models)


def _draw(
    loadout: ToolLoadout, *models: ModelFit, width: int = 120, encoding: str = "utf-8", tools: bool = True
) -> str:
    inspection = _inspect(loadout, *models)
    screen = Console(
        file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=width, highlight=False, markup=False, emoji=False
    )
    lines = render_terminal(inspection_view(inspection, show_tools=tools, show_all=False), screen)
    return "\n".join(line.plain.rstrip() for line in lines)


MIXED = ToolLoadout(
    "mixed",
    default_plugins=frozenset({"loose/one"}),
    included_categories=frozenset({"git", "money"}),
    discoverable_patterns=("docker*",),
    disabled_plugins=frozenset({"secret"}),
    description="A bit of all.",
)
FITS = (
    ModelFit("small/model", 1000, 400, "o200k_base", exact=False, error=0.25),
    ModelFit("gpt-4o", 128_000, 400, "o200k_base", exact=True, error=0.05),
    ModelFit("tiny", 300, 400, "cl100k_base", exact=True),
    ModelFit("who/knows", None, 400, "o200k_base", exact=False, error=0.5),
)


def test_L8_the_whole_picture_of_a_small_loadout() -> None:
    assert (
        _draw(MIXED, *FITS)
        == """\
mixed  over catalog small
A bit of all.

  ████████████████████████████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒╳╳╳╳╳╳╳╳╳╳╳╳░░░░░░░░░░░░░░░░░░░░░░░░
  █ active 4 tools, 400 tokens   ▒ discoverable 1 tool, 100 tokens   ╳ disabled 1 tool, 100 tokens   ░ hidden 2 tools,
  200 tokens
400 tokens of 800: 50% saved  by o200k_base

Active       tools  tokens
git              2     200
  git            2     200  ██████████████  category, by mixed
    status, push
Money            1     100
  payments       1     100  ███████         category, by mixed
    pay
no category      1     100
  loose        1/2     100  ███████         'loose/one' named by mixed
    one

Discoverable  1 plugin, 1 tool
    docker (1)
Disabled  1 plugin, 1 tool
    secret (1)
Hidden  1 plugin, 2 tools
    far (1), loose/two

Model         window  tokens  of the window         verdict
small/model    1,000    ~400  █████▌░░░░░░░░   40%  fits     ±25%
gpt-4o       128,000     400  ▏░░░░░░░░░░░░░  0.3%  fits     ±5%
tiny             300     400  ██████████████  133%  refuses
  Definitions of 400 tokens leave no room in a window of 300; the largest part: the definitions.
who/knows    unknown    ~400                        unknown  ±50%\
"""
    )


def test_without_block_characters_every_status_has_a_mark_of_its_own() -> None:
    drawn = _draw(MIXED, encoding="ascii")
    assert "#" * 48 + "+" * 12 + "x" * 12 + "." * 24 in drawn
    assert drawn.isascii()


def test_a_loadout_that_matches_nothing_says_so() -> None:
    drawn = _draw(ToolLoadout("none"), *FITS)
    assert "Active  nothing: this loadout matches nothing of the catalog" in drawn
    assert "\n0 tokens of 800  by o200k_base\n" in drawn
    assert "saved" not in drawn
    assert "Model" not in drawn  # nothing fits everywhere


def test_L8_the_tools_of_a_plugin_are_counted_by_their_own_status() -> None:
    far = ToolLoadout("far", discoverable_patterns=("loose/o*",), disabled_plugins=frozenset({"git/push", "docker"}))
    drawn = _draw(far)
    assert "Discoverable  1 plugin, 1 tool\n    loose (1)\n" in drawn
    assert "Disabled  1 plugin, 2 tools\n    docker (1), git/push\n" in drawn
    assert "git (1), payments (1), secret (1), far (1), loose/two" in drawn


def test_the_whole_catalog_needs_no_reasons() -> None:
    catalog = _catalog()
    tokens = ToolTokens({tool.id: 100 for tool in catalog.tools}, "o200k_base", exact=True)
    inspection = Inspection(Resolution(WHOLE_CATALOG, (whole_catalog(catalog),), catalog), tokens)
    shown = render_markdown(inspection_view(inspection, show_tools=False, show_all=False))
    assert shown.startswith("# the whole catalog\n\nover catalog small\n")
    assert "named by" not in shown


@pytest.mark.parametrize(
    ("tokenizer", "exact", "said"),
    [
        ("cl100k_base", True, "by cl100k_base"),
        ("far", False, "by far (an estimate)"),
        ("estimate", False, "by estimate"),
    ],
)
def test_an_estimate_is_called_one_once(tokenizer: str, exact: bool, said: str) -> None:
    catalog = _catalog()
    tokens = ToolTokens({tool.id: 1 for tool in catalog.tools}, tokenizer, exact=exact)
    inspection = Inspection(ToolLoadoutRegistry([MIXED]).resolve("mixed", catalog), tokens)
    shown = render_markdown(inspection_view(inspection, show_tools=False, show_all=False))
    assert f"saved {said}\n" in shown


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in _draw(MIXED, *FITS, width=width).split("\n")) <= width


def test_hostile_names_are_spelled_out() -> None:
    """Names of plugins, categories and loadouts with such characters are refused (rule L3)."""
    catalog = Catalog(
        name="e\x1bvil",
        plugins=(Plugin(name="git", tools=(Tool(name="st\x9bat\u202eus"),), category="git"),),
    )
    tokens = ToolTokens({tool.id: 1 for tool in catalog.tools}, "estimate", exact=False)
    loadout = ToolLoadout("mine", included_categories=frozenset({"git"}), description="\x1b[2J")
    inspection = Inspection(
        ToolLoadoutRegistry([loadout]).resolve(loadout.name, catalog),
        tokens,
        (ModelFit("m\x1bodel", None, 1, "estimate", exact=False),),
    )
    view = inspection_view(inspection, show_tools=True, show_all=True)
    drawn = "\n".join(line.plain for line in render_terminal(view, Console(file=io.StringIO(), width=100)))
    for shown in (drawn, render_markdown(view), render_html(view)):
        assert not {"\x1b", "\x9b", "\u202e"} & set(shown)
    for spelled in (r"e\x1bvil", r"st\x9bat\u202eus", r"m\x1bodel", "by estimate"):
        assert spelled in drawn


@pytest.mark.parametrize("render", [render_markdown, render_html])
def test_L8_markdown_and_html_have_what_the_terminal_has(render: Callable[[tuple[Block, ...]], str]) -> None:
    shown = render(inspection_view(_inspect(MIXED, *FITS), show_tools=True, show_all=False))
    words = {word for word in re.findall(r"[\w./%~]+", _draw(MIXED, *FITS)) if re.search(r"[a-z0-9]", word)}
    assert {word for word in words if word not in shown} == set()


@pytest.mark.parametrize(("show_all", "named"), [(False, MAX_NAMES), (True, MAX_NAMES + 5)])
def test_a_long_list_is_cut_unless_all_is_asked_for(show_all: bool, named: int) -> None:
    count = MAX_NAMES + 5
    catalog = Catalog(plugins=tuple(Plugin(name=f"p{i:03}", tools=(Tool(name="t"),)) for i in range(count)))
    tokens = ToolTokens({tool.id: 1 for tool in catalog.tools}, "estimate", exact=False)
    inspection = Inspection(ToolLoadoutRegistry([ToolLoadout("none")]).resolve("none", catalog), tokens)
    shown = render_markdown(inspection_view(inspection, show_tools=True, show_all=show_all))
    assert len(re.findall(r"\bp\d{3} \(1\)", shown)) == named
    assert ("and 5 more (--all)" in shown) is not show_all
