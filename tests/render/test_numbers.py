"""Numbers as people read them."""

from __future__ import annotations

import pytest

from toolbelt.render.numbers import (
    format_cell,
    format_cost,
    format_interval,
    format_number,
    format_percent,
    format_seconds,
    format_share,
)
from toolbelt.views.cells import (
    Amount,
    Badge,
    Bar,
    Cell,
    Count,
    Dollars,
    Percent,
    Proportion,
    Seconds,
    Span,
    Tokens,
    Tone,
)


@pytest.mark.parametrize(
    ("share", "shown"),
    [(None, "–"), (0.0, "0.0%"), (1.0, "100.0%"), (0.0001, "<0.1%"), (0.9999, ">99.9%"), (0.7834, "78.3%")],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float | None, shown: str) -> None:
    assert format_share(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0, "0"), (12345.4, "12,345"), (1.304, "1.30"), (45.67, "45.7"), (2.0, "2"), (0.04, "0.04")],
)
def test_numbers(value: float | None, shown: str) -> None:
    assert format_number(value) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(None, "–"), (0, "$0"), (0.00123, "$0.0012"), (12.5, "$12.50"), (1234.5, "$1,234.50"), (0.0000012, "$0.0000012")],
)
def test_costs(usd: float | None, shown: str) -> None:
    assert format_cost(usd) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "–"), (0.0004, "0.4 ms"), (0.35, "350 ms"), (0.9999, "1.0 s"), (1.24, "1.2 s"), (99.99, "100 s")],
)
def test_latencies(seconds: float | None, shown: str) -> None:
    assert format_seconds(seconds) == shown


def test_an_interval_is_in_percent() -> None:
    assert format_interval(0.0945, 0.9055) == "9.4–90.5"
    assert format_interval(None, None) == ""


@pytest.mark.parametrize(
    ("fraction", "text"), [(0, "0%"), (0.004, "0.4%"), (0.0994, "9.9%"), (0.1, "10%"), (0.5, "50%"), (1.33, "133%")]
)
def test_percent(fraction: float, text: str) -> None:
    assert format_percent(fraction) == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Span("a name"), "a name"),
        (Badge("fits", Tone.GOOD), "fits"),
        (Count(2000), "2,000"),
        (Count(4, 7), "4/7"),
        (Amount(1.304), "1.30"),
        (Tokens(12_345), "12,345"),
        (Tokens(400, is_estimate=True), "~400"),
        (Proportion(0.783, 0.7, 0.8, 783, 1000), "78.3%"),
        (Percent(1.33), "133%"),
        (Dollars(0.00123), "$0.0012"),
        (Seconds(0.35), "350 ms"),
        (Bar(0.5), ""),
    ],
)
def test_every_kind_of_cell_has_a_text(cell: Cell, text: str) -> None:
    assert format_cell(cell) == text


@pytest.mark.parametrize(
    "cell",
    [
        Count(None),
        Amount(None),
        Tokens(None, is_estimate=True),
        Proportion(None),
        Percent(None),
        Dollars(None),
        Seconds(None),
    ],
)
def test_what_is_missing_is_a_dash(cell: Cell) -> None:
    assert format_cell(cell) == "–"
