"""The picture of a loadout says what the loadout is."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.console.inspection_view import MAX_NAMES, inspection_view, percent
from toolbelt.loadouts import Resolution, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog


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


def _draw(
    loadout: ToolLoadout, *models: ModelFit, width: int = 120, encoding: str = "utf-8", tools: bool = True
) -> str:
    catalog = _catalog()
    tokens = ToolTokens({tool.id: 100 for tool in catalog.tools}, "o200k_base", exact=True)
    resolution = ToolLoadoutRegistry([loadout]).resolve(loadout.name, catalog)
    inspection = Inspection(resolution, tokens, models)
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    screen = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    screen.print(inspection_view(inspection, screen, show_tools=tools, show_all=False))
    stream.flush()
    return "\n".join(line.rstrip() for line in raw.getvalue().decode(encoding).split("\n"))


MIXED = ToolLoadout(
    "mixed",
    default_plugins=frozenset({"loose/one"}),
    included_categories=frozenset({"git", "money"}),
    discoverable_patterns=("docker*",),
    disabled_plugins=frozenset({"secret"}),
    description="A bit of all.",
)
FITS = (
    ModelFit("small/model", 1000, 400, "o200k_base", exact=False),
    ModelFit("gpt-4o", 128_000, 400, "o200k_base", exact=True),
    ModelFit("tiny", 300, 400, "cl100k_base", exact=True),
    ModelFit("who/knows", None, 400, "o200k_base", exact=False),
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
  400 tokens of 800: 50% saved   by o200k_base

Active            tools   tokens
git                   2      200
  git                 2      200  ██████████████  category, by mixed
    status, push
Money                 1      100
  payments            1      100  ███████         category, by mixed
    pay
no category           1      100
  loose          1 of 2      100  ███████         'loose/one' named by mixed
    one

Discoverable  1 plugin, 1 tool
    docker (1)
Disabled      1 plugin, 1 tool
    secret (1)
Hidden        1 plugin, 2 tools
    far (1), loose/two

Model            window    tokens  of the window                   verdict
small/model       1,000      ~400  █████████▌░░░░░░░░░░░░░░   40%  fits          ~o200k_base
gpt-4o          128,000       400  ▏░░░░░░░░░░░░░░░░░░░░░░░  0.3%  fits          o200k_base
tiny                300       400  ████████████████████████  133%  refuses       cl100k_base
  Definitions of 400 tokens leave no room in a window of 300; the largest part: the definitions.
who/knows       unknown      ~400                                  unknown       ~o200k_base
"""
    )


def test_without_block_characters_every_status_has_a_mark_of_its_own() -> None:
    drawn = _draw(MIXED, encoding="ascii")
    assert "#" * 48 + "+" * 12 + "x" * 12 + "." * 24 in drawn
    assert drawn.isascii()


def test_a_loadout_that_matches_nothing_says_so() -> None:
    drawn = _draw(ToolLoadout("none"), *FITS)
    assert "Active  nothing: this loadout matches nothing of the catalog" in drawn
    assert "\n  0 tokens of 800   by o200k_base\n" in drawn
    assert "saved" not in drawn
    assert "Model" not in drawn  # nothing fits everywhere


def test_L8_the_tools_of_a_plugin_are_counted_by_their_own_status() -> None:
    far = ToolLoadout("far", discoverable_patterns=("loose/o*",), disabled_plugins=frozenset({"git/push", "docker"}))
    drawn = _draw(far)
    assert "Discoverable  1 plugin, 1 tool\n    loose (1)\n" in drawn
    assert "Disabled      1 plugin, 2 tools\n    docker (1), git/push\n" in drawn
    assert "git (1), payments (1), secret (1), far (1), loose/two" in drawn


def test_the_whole_catalog_needs_no_reasons() -> None:
    catalog = _catalog()
    tokens = ToolTokens({tool.id: 100 for tool in catalog.tools}, "o200k_base", exact=True)
    inspection = Inspection(Resolution(WHOLE_CATALOG, (whole_catalog(catalog),), catalog), tokens)
    file = io.StringIO()
    screen = Console(file=file, width=120)
    screen.print(inspection_view(inspection, screen, show_tools=False, show_all=False))
    assert file.getvalue().startswith("the whole catalog  over catalog small\n")
    assert "named by" not in file.getvalue()


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
    file = io.StringIO()
    screen = Console(file=file, width=120)
    inspection = Inspection(ToolLoadoutRegistry([MIXED]).resolve("mixed", catalog), tokens)
    screen.print(inspection_view(inspection, screen, show_tools=False, show_all=False))
    assert re.search(rf"saved   {re.escape(said)} *\n", file.getvalue())


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in _draw(MIXED, *FITS, width=width).split("\n")) <= width


def test_hostile_names_are_spelled_out() -> None:
    catalog = Catalog(
        name="e\x1bvil",
        plugins=(Plugin(name="gi\u202et", tools=(Tool(name="st\x9batus"),), category="g\x07it"),),
    )
    tokens = ToolTokens({tool.id: 1 for tool in catalog.tools}, "estimate", exact=False)
    loadout = ToolLoadout("na\x1bme", included_categories=frozenset({"g\x07it"}), description="\x1b[2J")
    inspection = Inspection(
        ToolLoadoutRegistry([loadout]).resolve(loadout.name, catalog),
        tokens,
        (ModelFit("m\x1bodel", None, 1, "estimate", exact=False),),
    )
    file = io.StringIO()
    screen = Console(file=file, width=100)
    screen.print(inspection_view(inspection, screen, show_tools=True, show_all=True))
    drawn = file.getvalue()
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(drawn)
    for spelled in (r"e\x1bvil", r"gi\u202et", r"st\x9batus", r"g\x07it", r"na\x1bme", r"m\x1bodel", "by estimate"):
        assert spelled in drawn


@pytest.mark.parametrize(("show_all", "named"), [(False, MAX_NAMES), (True, MAX_NAMES + 5)])
def test_a_long_list_is_cut_unless_all_is_asked_for(show_all: bool, named: int) -> None:
    count = MAX_NAMES + 5
    catalog = Catalog(plugins=tuple(Plugin(name=f"p{i:03}", tools=(Tool(name="t"),)) for i in range(count)))
    tokens = ToolTokens({tool.id: 1 for tool in catalog.tools}, "estimate", exact=False)
    inspection = Inspection(ToolLoadoutRegistry([ToolLoadout("none")]).resolve("none", catalog), tokens)
    file = io.StringIO()
    screen = Console(file=file, width=2000)
    screen.print(inspection_view(inspection, screen, show_tools=True, show_all=show_all))
    assert len(re.findall(r"\bp\d{3} \(1\)", file.getvalue())) == named
    assert ("and 5 more (--all)" in file.getvalue()) is not show_all


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0%"), (0.004, "0.4%"), (0.0994, "9.9%"), (0.1, "10%"), (0.5, "50%"), (1.33, "133%")]
)
def test_percent(fraction: float, text: str) -> None:
    assert percent(fraction) == text
