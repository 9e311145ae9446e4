"""Numbers as people read them; what was not measured is `–`, which is neither 0 nor nothing."""

from __future__ import annotations

import math

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
    Shaded,
    Span,
    Tokens,
)

NOTHING = "–"
ESTIMATED = "~"
"""Marks tokens that were counted here, or by another vocabulary than the one that decides."""


def format_share(share: float | None) -> str:
    """`78.3%`; never rounded to 0% or 100% where it is neither."""
    if share is None:
        return NOTHING
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def format_interval(low: float | None, high: float | None) -> str:
    """`75.1–81.2`, in percent; empty where there is none."""
    if low is None or high is None:
        return ""
    return f"{100 * low:.1f}–{100 * high:.1f}"


def format_percent(fraction: float | None) -> str:
    """`40%`, `133%`; small ones with a digit more: `0.3%`."""
    if fraction is None:
        return NOTHING
    return f"{fraction:.1%}" if 0 < fraction < 0.1 else f"{fraction:.0%}"


def format_number(value: float | None) -> str:
    """A mean: `12,345`, `7.25`, `0.04`, `0`; three digits at least where it is no whole number."""
    if value is None:
        return NOTHING
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def format_glance(value: float | None) -> str:
    """A number to be read at a glance: `63.5k`, `1.2M`, `640`, `7.25`; three digits, exact ones are for tables."""
    if value is None:
        return NOTHING
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(value) >= size * 0.9995:
            scaled = value / size
            return f"{scaled:,.0f}{letter}" if abs(scaled) >= 99.95 else f"{scaled:.1f}".removesuffix(".0") + letter
    return format_number(round(value) if abs(value) >= 100 else value)


def format_cost(usd: float | None) -> str:
    """`$0.0012`, `$12.50`: cents, and two digits that say something."""
    if usd is None:
        return NOTHING
    if usd == 0:
        return "$0"
    places = max(2, 1 - math.floor(math.log10(abs(usd))))
    return f"${usd:,.{places}f}"


def format_seconds(seconds: float | None) -> str:
    """`0.4 ms`, `350 ms`, `1.2 s`, `75 s`."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        thousandths = seconds * 1000
        return f"{thousandths:.1f} ms" if thousandths < 9.95 else f"{thousandths:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def format_count(count: Count) -> str:
    """`2,000`, `4/7`."""
    if count.value is None:
        return NOTHING
    return f"{count.value:,}" if count.of is None else f"{count.value:,}/{count.of:,}"


def format_cell(cell: Cell) -> str:
    """The text of a cell, foreign text as it came; empty for a bar, whose figures stand beside it."""
    match cell:
        case Span(text=text) | Badge(word=text) | Shaded(text=text):
            return text
        case Count():
            return format_count(cell)
        case Amount(value=value):
            return format_number(value)
        case Tokens(value=value, is_estimate=is_estimate):
            return (ESTIMATED if is_estimate and value is not None else "") + format_number(value)
        case Proportion(value=value):
            return format_share(value)
        case Percent(value=value):
            return format_percent(value)
        case Dollars(value=value):
            return format_cost(value)
        case Seconds(value=value):
            return format_seconds(value)
        case Bar():
            return ""
