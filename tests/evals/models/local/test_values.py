"""The values that stand in a text."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.evals.models.local.values import find_row, find_values, read_number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('say "a b" or `c`', [("quoted", "a b"), ("quoted", "c")]),
        ("don't and won't", []),
        ("see (https://a.org/b), or www.c.de.", [("url", "https://a.org/b"), ("url", "www.c.de")]),
        ("to a.b@c.org now", [("email", "a.b@c.org")]),
        ("on 2024-02-29 at 14:30", [("date", "2024-02-29"), ("time", "14:30")]),
        ("by May 5 at 11PM", [("date", "May 5"), ("time", "11PM")]),
        ("edit ./a/b.py and c.txt", [("path", "./a/b.py"), ("file", "c.txt")]),
        ("fix #12 and ABC-7", [("code", "12"), ("code", "ABC-7")]),
        ("from -3 to 1,200.5", [("number", "-3"), ("number", "1,200.5")]),
        ("two of them", [("spelled", "2")]),
        ("is New York nice", [("proper", "New York")]),
        ("Close it. Open it.", []),
        ("Oslo", [("proper", "Oslo")]),
    ],
)
def test_values_are_told_by_their_kind(text: str, values: list[tuple[str, str]]) -> None:
    assert [(value.kind, value.text) for value in find_values(text)] == values


@pytest.mark.parametrize(
    ("text", "whole", "number"),
    [
        ("3", True, 3),
        ("3.0", True, 3),
        ("3.5", True, None),
        ("3.5", False, 3.5),
        ("1,000", True, 1000),
        ("x", False, None),
        ("1e999", False, None),
        ("9" * 400, True, None),
    ],
)
def test_numbers_are_read_as_what_they_are(text: str, whole: bool, number: float | None) -> None:
    read = read_number(text, whole)
    assert (read, type(read)) == (number, type(number))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("2, 3 and 5", ["2", "3", "5"]),
        ("10%, 20% & 30%", ["10", "20", "30"]),
        ("Rome and Oslo", ["Rome", "Oslo"]),
        ("5 of 6", ["5"]),
        ("Rome and 5", ["Rome"]),
    ],
)
def test_a_row_is_what_is_listed_together(text: str, row: list[str]) -> None:
    values = find_values(f"for {text}.")
    assert [value.text for value in find_row(f"for {text}.", values, values[0])] == row


@settings(deadline=None)
@given(st.text(alphabet="aB1 .,'\"/@#:-%{}\n北", max_size=80))
def test_no_value_stands_within_another(text: str) -> None:
    values = find_values(text)
    assert all(0 <= value.start < value.end <= len(text) for value in values)
    assert all(first.end <= second.start for first, second in itertools.pairwise(values))
