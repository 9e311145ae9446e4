"""What every renderer promises, held by one set of views: nothing foreign acts, nothing is lost, gaps are no zeros."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from html.parser import HTMLParser

import pytest
from rich.console import Console

from tests.render.samples import FIGURES, HOSTILE, NAMES, PICTURE, SUMS, hostile_blocks
from toolbelt.render.html import picture_size, render_html
from toolbelt.render.markdown import render_markdown
from toolbelt.render.terminal import render_terminal
from toolbelt.text import UNSAFE, visible
from toolbelt.views.blocks import Block, Code, Details, Heading, Note
from toolbelt.views.cells import Count, Span
from toolbelt.views.table import Column, Row, Table

Render = Callable[[Iterable[Block]], str]


def terminal(blocks: Iterable[Block], width: int = 160, encoding: str = "utf-8") -> str:
    screen = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=width, highlight=False)
    return "\n".join(line.plain for line in render_terminal(blocks, screen))


RENDERERS: dict[str, Render] = {"terminal": terminal, "markdown": render_markdown, "html": render_html}


@pytest.fixture(params=RENDERERS)
def render(request: pytest.FixtureRequest) -> Render:
    return RENDERERS[request.param]


class Reader(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(str(page))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_no_character_moves_hides_or_turns_around(render: Render) -> None:
    shown = render(hostile_blocks())
    assert not UNSAFE.search(shown.replace("\n", ""))
    assert r"\x1b[31mred" in shown.replace("\\\\", "\\").replace(r"\[", "[")
    assert r"\u202e" in shown.replace("\\\\", "\\")


def test_every_figure_is_there(render: Render) -> None:
    shown = render([FIGURES])
    for figure in ("78.3%", "75.1–81.2", "470", "600", "1.30", "45,678", "$0.0012", "350 ms", "40%", "fits"):
        assert figure in shown
    assert "A sentence about the row." in shown


def test_what_is_missing_is_a_dash_and_no_zero(render: Render) -> None:
    table = Table("arm", FIGURES.columns[1:7], (Row("loadout", FIGURES.rows[1].cells[1:7]),))
    shown = Reader(render([table])).text if render is render_html else render([table])
    assert shown.count("–") == 6
    assert not re.search(r"\b0\b|nan|None", shown)


def test_sums_stand_with_their_groups(render: Render) -> None:
    shown = Reader(render([SUMS])).text if render is render_html else render([SUMS])
    places = [shown.index(label) for label in ("code", "git", "file", "money", "pay")]
    assert places == sorted(places)
    assert "1/2" in shown
    assert "~200" in shown


def test_rows_are_in_order_and_named_whole_where_models_are_mixed(render: Render) -> None:
    rows = tuple(Row(label, (Count(1),), group) for label, group in (("full", "a"), ("full", "b"), ("tiered", "a")))
    shown = render([Table("arm", (Column("n"),), rows, "model")])
    if render is terminal:
        assert [line.split("  ")[0] for line in shown.splitlines()[1:]] == ["a · full", "b · full", "a · tiered"]
    else:
        assert shown.index("tiered") > shown.rindex("full")


# Terminal


@pytest.mark.parametrize("width", [20, 40, 80, 120, 300])
def test_no_line_is_wider_than_the_screen_and_no_figure_is_cut(width: int) -> None:
    blocks = [block for block in hostile_blocks() if not isinstance(block, Code)]
    shown = terminal([FIGURES, SUMS, *blocks], width)
    wide = [line for line in shown.splitlines() if len(line.replace("财务", "##%%")) > width]
    assert not wide
    words = set(re.findall(r"\S+", terminal([FIGURES, SUMS], 500)))
    figures = {word for word in words if word[0] != "(" and re.search(r"\d[%–/,.]\d|\d%", word)}
    assert len(figures) > 5
    assert figures <= set(re.findall(r"\S+", terminal([FIGURES, SUMS], width)))


def test_figures_are_set_to_the_right_and_words_to_the_left() -> None:
    rows = (Row("one", (Count(7), Span("x"))), Row("another", (Count(1_000), Span("words"))))
    lines = terminal([Table("name", (Column("n"), Column("what", is_text=True)), rows)]).splitlines()
    assert lines == ["name         n  what", "one          7  x", "another  1,000  words"]


def test_without_block_characters_a_terminal_gets_plain_ones() -> None:
    table = Table("model", FIGURES.columns[7:8], (Row("m", FIGURES.rows[0].cells[7:8]),))
    assert terminal([table], encoding="ascii").splitlines()[1] == "m      #####........."
    assert "█" in terminal([table])


def test_secondary_columns_are_for_readers_with_room() -> None:
    table = Table("arm", (Column("a"), Column("b", is_secondary=True)), (Row("x", (Count(1), Count(2))),))
    assert "2" not in terminal([table])
    assert "2" in render_markdown([table])
    assert "2" in render_html([table])


# Markdown


def test_hostile_names_keep_a_table_in_shape() -> None:
    lines = render_markdown([NAMES]).splitlines()
    assert len(lines) == 2 + len(HOSTILE)
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines} == {4}
    assert all("<" not in line.replace("<!-- -->", "") for line in lines[2:])


def test_a_markdown_table_says_how_its_columns_are_set() -> None:
    assert render_markdown([SUMS]).splitlines()[:3] == [
        "| Active | tools | tokens |",
        "|---|---:|---:|",
        "| code | 2 | 300 |",
    ]


def test_headings_begin_at_the_level_asked_for() -> None:
    assert render_markdown([Heading("a"), Heading("b", level=2)], level=2) == "## a\n\n### b"
    assert render_html([Heading("b", level=2)], level=2).startswith("<h3")


def test_details_are_folded() -> None:
    details = Details("Hidden", (Note("inside"),), "2 plugins")
    assert render_markdown([details]) == "<details><summary>Hidden: 2 plugins</summary>\n\ninside\n\n</details>"
    assert terminal([details]) == "Hidden  2 plugins\n    inside"
    assert Reader(render_html([details])).tags[:2] == ["details", "summary"]


# HTML


def test_no_name_becomes_an_element() -> None:
    page = Reader(render_html(hostile_blocks()))
    assert "script" not in page.tags
    for name in HOSTILE:
        assert visible(name) in page.text


def test_a_cell_says_what_it_is_sorted_by() -> None:
    page = render_html([FIGURES])
    assert '<table class="sortable" id="figures">' in page
    orders = re.findall(r'<td[^>]* data-order="([^"]*)"', page)
    assert orders[1:7] == ["0.783", "470", "1.304", "45678", "0.00123", "0.35"]
    assert set(orders[12:18]) == {""}


def test_bars_of_amounts_are_shares_of_the_greatest_and_rates_have_whiskers() -> None:
    page = render_html([FIGURES])
    assert '<rect class="fill" width="78.3" height="8"/><rect class="whisker" x="75.11" y="3" width="6.08"' in page
    assert '<rect class="fill" width="100.0" height="8"/></svg>' in page


def test_a_picture_is_in_the_page_itself() -> None:
    page = render_html([PICTURE])
    assert re.search(
        r'<img src="data:image/svg\+xml;base64,[\w+/=]+" alt="A &lt;picture&gt;. How to read it." width="96"', page
    )


@pytest.mark.parametrize(
    ("svg", "size"),
    [
        (b'<svg width="426.6pt" height="158.4pt" viewBox="0 0 1 1">', (569, 211)),
        (b'<svg viewBox="0 0 1 1">', None),
        (b"", None),
    ],
)
def test_a_picture_has_the_size_it_says(svg: bytes, size: tuple[int, int] | None) -> None:
    assert picture_size(svg) == size
