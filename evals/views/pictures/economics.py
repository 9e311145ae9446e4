"""The cost of a solved case by toolset: without a provider's cache, with one, and with one across conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.economics import amount, cheapest_lines, format_usd, rebilled, why_none
from toolbelt.evals.views.pictures.bars import SOLID, Key, LabelledBar, colour_of, draw_legend
from toolbelt.evals.views.pictures.canvas import GREY, SMALL, TITLE, Sheet, drawable, in_lines, text_width, widest
from toolbelt.evals.views.pictures.shown import Shown, by_model, left_out, shown_arms
from toolbelt.render.numbers import format_glance
from toolbelt.views.blocks import Picture

_ADDED: Mapping[str, Any] = {"facecolor": "#d55e00", "edgecolor": "white", "linewidth": 0, "hatch": "////"}
_USD = "Cost per solved case, as a provider's cache changes it"
_TOKENS = "Prompt tokens billed in full per solved case, as a provider's cache changes them"
_READ_NOTE = "Without the tokens read from the cache, which cost less, not nothing."
_PANELS: Mapping[Caching, str] = MappingProxyType(
    {
        Caching.NONE: "without caching",
        Caching.WITHIN: "cached within\na conversation",
        Caching.ACROSS: "cached across\nconversations",
    }
)
_ROW, _BAR, _GAP, _LINE = 0.25, 1.25, 0.3, 0.17
"""Inches: height of a row, length of the longest bar, between two panels, height of a line of text."""
_REBILLED = Key("of that, re-billed as the tools changed", _ADDED)
_LONGEST = 600
"""Characters of the sentence that is drawn."""
_CHEAPEST = "bold: the cheapest"
_FEWEST = "bold: the fewest"


@dataclass(frozen=True, slots=True)
class _Plot:
    """What is drawn.

    Attributes:
        rows: From the top.
        economics: One an arm of the run, in their order.
        ways: Of billing, one a panel.
        in_dollars: The unit; else tokens.
        best: The cheapest arms of each way, by number, of those that can be used.
    """

    rows: Sequence[LabelledBar]
    economics: Sequence[ArmEconomics]
    ways: Sequence[Caching]
    in_dollars: bool
    best: Mapping[Caching, frozenset[int]]

    def costs(self, shown: Shown) -> ArmEconomics | None:
        """What an arm costs, if that can be drawn."""
        costs = self.economics[shown.number - 1]
        return None if why_none(costs) or (self.in_dollars and costs.rates is None) else costs

    def text(self, shown: Shown, way: Caching) -> str:
        """The figure beside a bar, or in the first panel why there is none."""
        if (costs := self.costs(shown)) is not None:
            value = amount(costs, way)
            return "unknown" if value is None else format_usd(value) if self.in_dollars else format_glance(value)
        reason = why_none(self.economics[shown.number - 1]) or "no price"
        return reason if way is self.ways[0] else ""


def draw_economics(summary: RunSummary, economics: Sequence[ArmEconomics], *, pngs: bool) -> Picture | None:
    """The picture in dollars if any arm has a price, else in tokens; `None` if caching changes nothing for any arm.

    Args:
        summary: Of the run.
        economics: One an arm, in their order.
    """
    if not has_savings(economics):
        return None
    in_dollars = any(costs.rates is not None and not why_none(costs) for costs in economics)
    title = _USD if in_dollars else _TOKENS
    plot = _make_plot(summary, economics, in_dollars=in_dollars)
    cheapest = cheapest_lines(economics) if not in_dollars or _all_priced(plot) else []
    note = " ".join(filter(None, (left_out(summary), _price_note(economics) if in_dollars else _READ_NOTE)))
    sheet = _draw(plot, title, drawable(cheapest[0], _LONGEST) if len(cheapest) == 1 else "", note)
    caption = f"{' '.join([*cheapest, _caption(in_dollars=in_dollars)])} {note}".strip()
    return Picture("economics", title, caption, *sheet.save(pngs=pngs))


def _make_plot(summary: RunSummary, economics: Sequence[ArmEconomics], *, in_dollars: bool) -> _Plot:
    def worth(item: Shown) -> tuple[bool, float]:
        value = amount(economics[item.number - 1], Caching.NONE)
        return is_oracle(item.arm.toolset), float("inf") if value is None else value

    groups = by_model(shown_arms(summary))
    rows: list[LabelledBar] = []
    for model, members in groups.items():
        if len(groups) > 1:
            rows.append(LabelledBar(model))
        rows += [LabelledBar(item.label, item) for item in sorted(members, key=worth)]
    ways = [way for way in Caching if any(way in costs.bills for costs in economics)]
    plot = _Plot(rows, economics, ways, in_dollars, {})
    best = {way: frozenset(_cheapest(plot, members, way) for members in groups.values()) for way in ways}
    return _Plot(rows, economics, ways, in_dollars, best)


def _cheapest(plot: _Plot, members: Sequence[Shown], way: Caching) -> int:
    """The number of the cheapest arm of a model that can be used; 0 where there is none."""
    amounts = [
        (value, item.number)
        for item in members
        if not is_oracle(item.arm.toolset)
        and (costs := plot.costs(item)) is not None
        and (value := amount(costs, way)) is not None
    ]
    return min(amounts)[1] if len(amounts) > 1 else 0


def _all_priced(plot: _Plot) -> bool:
    return all(plot.costs(row.shown) is not None for row in plot.rows if row.shown and not _is_left_out(row.shown.arm))


def _is_left_out(arm: ArmSummary) -> bool:
    return not arm.scored or not arm.solved.numerator


def _draw(plot: _Plot, title: str, subtitle: str, note: str) -> Sheet:
    arms = [row.shown for row in plot.rows if row.shown]
    left = 0.25 + max(
        widest([row.text for row in plot.rows if row.shown]), widest([r.text for r in plot.rows], bold=True) - 0.3
    )
    figures = max(widest([plot.text(item, way) for item in arms for way in plot.ways], SMALL, bold=True), 0.4)
    panel = _BAR + 0.1 + figures
    keys = [_REBILLED] if any(map(rebilled, plot.economics)) else []
    least = max(text_width(title, TITLE, bold=True), text_width(note, SMALL)) + 0.3
    width = max(left + len(plot.ways) * panel + (len(plot.ways) - 1) * _GAP + 0.15, least)
    lines = in_lines(subtitle, width - 0.2, SMALL)
    high = _ROW * len(plot.rows) + 0.06
    bottom = 0.12 + (0.24 if note else 0) + 0.24
    sheet = Sheet(width, bottom + high + 0.45 + _LINE * len(lines) + (0.08 if lines else 0) + 0.36)
    top = sheet.height - 0.27
    sheet.text(0.1, top, title, size=TITLE, weight="bold")
    for number, line in enumerate(lines, start=1):
        sheet.text(0.1, top - 0.06 - _LINE * number, line, size=SMALL)
    for place, row in enumerate(plot.rows):
        height = bottom + high * (len(plot.rows) - 0.5 + 0.12 - place) / (len(plot.rows) + 0.24)
        if row.shown is None:
            sheet.text(0.1, height, row.text, weight="bold", va="center_baseline")
        else:
            sheet.text(left - 0.1, height, row.text, ha="right", va="center_baseline")
    most = max(
        (amount(costs, way) or 0.0 for item in arms if (costs := plot.costs(item)) for way in plot.ways), default=0
    )
    for number, way in enumerate(plot.ways):
        start = left + number * (panel + _GAP)
        axes = sheet.axes(start, bottom, panel, high)
        axes.set_ylim(len(plot.rows) - 0.5 + 0.12, -0.5 - 0.12)
        axes.set_xlim(0, (most or 1.0) * panel / _BAR)
        axes.set_yticks([])
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        sheet.text(start, bottom + high + 0.08, _PANELS[way], size=SMALL, weight="bold", linespacing=1.15)
        if number:
            sheet.text(start - _GAP / 2 - 0.05, bottom + high + 0.08, "→", color=GREY, ha="center")
        _bars(axes, plot, way, 0.06 * (most or 1.0) / _BAR)
    draw_legend(sheet, keys, bottom - 0.16)
    bold = _CHEAPEST if plot.in_dollars else _FEWEST
    if any(filter(None, plot.best[plot.ways[0]])):
        at = 0.1 + sum(0.52 + text_width(key.text, SMALL) for key in keys)
        sheet.text(at, bottom - 0.16, bold, size=SMALL, va="center_baseline", color=GREY)
    if note:
        sheet.text(0.1, 0.1, note, size=SMALL, color=GREY)
    return sheet


def _bars(axes: Any, plot: _Plot, way: Caching, gap: float) -> None:
    """The bars of a panel, each with its figure at its end."""
    for place, row in enumerate(plot.rows):
        if row.shown is None:
            continue
        costs = plot.costs(row.shown)
        value = 0.0 if costs is None else amount(costs, way) or 0.0
        if costs is not None:
            added = 0.0 if way is Caching.NONE else min(value, rebilled(costs) or 0.0)
            axes.barh(place, value - added, height=0.6, **colour_of(row.shown, SOLID))
            if added:
                axes.barh(place, added, left=value - added, height=0.6, **_ADDED)
        is_best = row.shown.number in plot.best[way]
        how = {"weight": "bold" if is_best else "normal", "color": GREY if is_oracle(row.shown.arm.toolset) else None}
        axes.text(
            value + gap,
            place,
            plot.text(row.shown, way),
            size=SMALL,
            va="center_baseline",
            **{name: setting for name, setting in how.items() if setting},
        )


def _caption(*, in_dollars: bool) -> str:
    what = "What a solved case costs" if in_dollars else "Prompt tokens billed in full for each solved case"
    return (
        f"{what}: all scored trials, divided by those solved. From left to right: without caching; what a request "
        "repeats of the one before is read from the provider's cache; the opening definitions are read, too, from the "
        "cache of earlier conversations, the best case for a list that never changes. Orange: the part that is billed "
        "again because a changed tool list broke the cached prefix."
    )


def _price_note(economics: Sequence[ArmEconomics]) -> str:
    """A short note below the picture; the report has the details."""
    notes = []
    if priced_as := next((costs.priced_as for costs in economics if costs.priced_as), ""):
        notes.append(f"As if at the price of {drawable(priced_as, 34)}.")
    if any(costs.rates is not None and not costs.has_answers for costs in economics):
        notes.append("Prompts alone where the tokens of answers are not known.")
    return " ".join(notes)
