"""A table keeps its columns and gives up its last."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from toolbelt.console.tables import fitted_table, line_table

HEADERS = ("name", "tokens", "description")
ROWS = [
    ("short", "1", "Says little."),
    ("a-rather-long-name", "12,345", "Says a great deal more than there is room for."),
]


def _lines(width: int) -> list[str]:
    file = io.StringIO()
    screen = Console(file=file, width=width)
    screen.print(fitted_table(screen, HEADERS, ROWS, right=[1]))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_with_room_for_all_nothing_is_cut() -> None:
    assert _lines(100) == [
        "name                tokens  description",
        "short                    1  Says little.",
        "a-rather-long-name  12,345  Says a great deal more than there is room for.",
    ]


@pytest.mark.parametrize("width", [40, 50, 73])
def test_only_the_last_column_is_cut(width: int) -> None:
    head, short, long = _lines(width)
    assert (head, short) == ("name                tokens  description", "short                    1  Says little.")
    assert long.startswith("a-rather-long-name  12,345  Says a ")
    assert long.endswith("…")
    assert len(long) <= width


@pytest.mark.parametrize("width", [28, 39])
def test_a_last_column_that_would_say_nothing_is_left_out(width: int) -> None:
    assert _lines(width) == ["name                tokens", "short                    1", "a-rather-long-name  12,345"]


@pytest.mark.parametrize("width", [10, 20, 40, 80])
def test_a_row_is_a_line_within_the_screen(width: int) -> None:
    lines = _lines(width)
    assert len(lines) == 3
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [28, 39, 40, 50, 73, 100])
@pytest.mark.parametrize("terminal", [True, False])
def test_lines_made_by_hand_are_the_same(width: int, terminal: bool) -> None:
    printed = []
    for make in (fitted_table, line_table):
        file = io.StringIO()
        screen = Console(file=file, width=width, force_terminal=terminal, color_system=None)
        screen.print(make(screen, HEADERS, [*ROWS, ("漢字", "7", "漢字" * 40)], right=[1]))
        printed.append([line.rstrip() for line in file.getvalue().splitlines()])
    assert printed[0] == printed[1]
    assert len(printed[0]) == 4
