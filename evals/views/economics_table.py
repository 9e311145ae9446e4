"""The bills of arms on the terminal, and as rows for Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.views.economics_figures import (
    WAYS,
    amount,
    economics_lines,
    format_amount,
    format_usd,
    price_lines,
    rebilled_text,
    why_none,
)
from toolbelt.evals.views.figures import NOTHING, format_number
from toolbelt.text import visible

TITLE = "What a provider's cache makes of it"
_GAP = 2
_LEAST_LABEL = 10
_HEADERS = {
    WAYS[Caching.NONE]: "without\ncaching",
    WAYS[Caching.WITHIN]: "cached within\nconversations",
    WAYS[Caching.ACROSS]: "also across\nconversations",
    "really read": "really\nread",
    "really paid": "really\npaid",
}


def economics_columns(economics: Sequence[ArmEconomics]) -> Mapping[str, Callable[[ArmEconomics], str]]:
    """What a table of bills shows of each arm, by header, in order.

    What the provider reported to have read from its cache, and what was paid, stand there where any arm has it.
    """
    columns: dict[str, Callable[[ArmEconomics], str]] = {
        "solved": lambda one: f"{one.arm.solved.numerator:,}/{one.arm.scored:,}",
        **{WAYS[caching]: _amount_of(caching) for caching in Caching},
        "re-billed": rebilled_text,
    }
    if any(one.arm.cached_read_tokens is not None for one in economics):
        columns["really read"] = lambda one: format_number(_of_solved(one, one.arm.cached_read_tokens))
        columns["really paid"] = lambda one: format_usd(_of_solved(one, one.arm.cost_usd))
    return MappingProxyType(columns)


def economics_view(economics: Sequence[ArmEconomics], screen: Console) -> RenderableType:
    """Arms × ways of billing, per solved case; what it says below. Nothing where caching says nothing.

    Args:
        economics: One an arm, in their order.
        screen: Whose width is kept: where the table has no room, an arm gets a line for each figure.
    """
    if not has_savings(economics):
        return Group()
    parts: list[RenderableType] = [
        Text(f"{TITLE}: {unit_text(economics)}", "bold"),
        _table(economics, screen.width),
        Text(),
    ]
    parts += [Text(visible(line)) for line in (*price_lines(economics), *economics_lines(economics))]
    return Group(*parts)


def unit_text(economics: Sequence[ArmEconomics]) -> str:
    """What the figures are."""
    priced = {one.rates is not None for one in economics if not why_none(one)}
    if priced == {True}:
        return "USD per solved case"
    if priced == {False}:
        return "prompt tokens billed in full per solved case"
    return "USD per solved case; prompt tokens billed in full where there is no price"


def _amount_of(caching: Caching) -> Callable[[ArmEconomics], str]:
    return lambda one: format_amount(one, amount(one, caching))


def _of_solved(one: ArmEconomics, mean: float | None) -> float | None:
    trials = one.trials_per_solved
    return None if mean is None or trials is None else mean * trials


def _table(economics: Sequence[ArmEconomics], width: int) -> RenderableType:
    columns = economics_columns(economics)
    cells = [[show(one) for show in columns.values()] for one in economics]
    labels = [Text(visible(label)) for label in _labels(economics)]
    headers = [_HEADERS.get(name, name) for name in columns]
    widths = [
        max([*map(len, header.split("\n")), *(len(row[place]) for row in cells)])
        for place, header in enumerate(headers)
    ]
    longest = max((label.cell_len for label in labels), default=0)
    room = width - sum(wide + _GAP for wide in widths)
    if room < min(_LEAST_LABEL, longest):
        return _list(labels, columns, cells)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("arm", width=max(len("arm"), min(longest, room)), overflow="fold", vertical="bottom")
    for header, wide in zip(headers, widths, strict=True):
        table.add_column(header, justify="right", no_wrap=True, width=wide, vertical="bottom")
    for label, row in zip(labels, cells, strict=True):
        table.add_row(label, *row)
    return table


def _list(labels: Sequence[Text], columns: Mapping[str, object], cells: Sequence[Sequence[str]]) -> RenderableType:
    lines = []
    for label, row in zip(labels, cells, strict=True):
        lines.append(label)
        lines += [Text(f"  {name} {value}") for name, value in zip(columns, row, strict=True) if value != NOTHING]
    return Group(*lines)


def _labels(economics: Sequence[ArmEconomics]) -> list[str]:
    several = len({one.arm.model for one in economics}) > 1
    return [one.arm.label if several or len(economics) == 1 else one.arm.toolset_label for one in economics]
