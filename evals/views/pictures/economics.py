"""The cost of a solved case by toolset: without a provider's cache, with one, and with one across conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.analysis.summary.run_summary import RunSummary, asked_most
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.economics import amount, cheapest_lines, format_usd, rebilled, why_none
from toolbelt.evals.views.pictures.bars import (
    SOLID,
    Key,
    LabelledBar,
    colour_of,
    draw_legend,
    make_rows,
    models_width,
    name_rows,
    names_width,
)
from toolbelt.evals.views.pictures.canvas import (
    GREY,
    NOTE_LINE,
    SMALL,
    TITLE,
    Sheet,
    drawable,
    in_lines,
    text_width,
    widest,
)
from toolbelt.evals.views.pictures.shown import Shown, by_model, by_reason, left_out, shown_arms
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
_APART = 3
"""Models have scales of their own where the longest bars would differ by this factor or more."""
_OWN_SCALES = "Each model's bars have a scale of their own."
_NO_PRICE, _NO_COST = "no price", "cost unknown"


@dataclass(frozen=True, slots=True)
class _Plot:
    """What is drawn.

    Attributes:
        rows: From the top.
        economics: One an arm of the run, in their order.
        ways: Of billing, one a panel.
        in_dollars: The unit; else tokens.
        best: The cheapest arms of each way, by number, of those that can be used.
        scales: What the longest bar of each model stands for.
    """

    rows: Sequence[LabelledBar]
    economics: Sequence[ArmEconomics]
    ways: Sequence[Caching]
    in_dollars: bool
    best: Mapping[Caching, frozenset[int]]
    scales: Mapping[str, float]

    @property
    def has_own_scales(self) -> bool:
        return len({*self.scales.values()}) > 1

    def amount(self, shown: Shown, way: Caching) -> float:
        """What an arm costs; 0 where that is not known."""
        return amount(self.economics[shown.number - 1], way) or 0.0

    def format(self, value: float) -> str:
        return format_usd(value) if self.in_dollars else format_glance(value)

    def text(self, shown: Shown, way: Caching) -> str:
        """The figure beside a bar."""
        value = amount(self.economics[shown.number - 1], way)
        return "unknown" if value is None else self.format(value)


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
    shown = shown_arms(summary)
    groups = by_reason(shown, lambda item: _why_left_out(economics[item.number - 1], in_dollars=in_dollars))
    plot = _make_plot(groups.pop(""), economics, in_dollars=in_dollars, has_models=len(by_model(shown)) > 1)
    cheapest = [] if groups.keys() & {_NO_PRICE, _NO_COST} else cheapest_lines(economics)
    own = _OWN_SCALES if plot.has_own_scales else ""
    notes = (own, left_out(summary, groups), _price_note(economics) if in_dollars else _READ_NOTE)
    note = " ".join(filter(None, notes))
    sheet = _draw(plot, title, drawable(cheapest[0], _LONGEST) if len(cheapest) == 1 else "", note)
    caption = f"{' '.join([*cheapest, _caption(in_dollars=in_dollars)])} {note}".strip()
    return Picture("economics", title, caption, *sheet.save(pngs=pngs))


def _why_left_out(costs: ArmEconomics, *, in_dollars: bool) -> str:
    reason = why_none(costs)
    if reason == "unknown":
        return _NO_COST
    return reason or (_NO_PRICE if in_dollars and costs.rates is None else "")


def _make_plot(
    shown: Sequence[Shown], economics: Sequence[ArmEconomics], *, in_dollars: bool, has_models: bool
) -> _Plot:
    def worth(item: Shown) -> tuple[bool, float]:
        value = amount(economics[item.number - 1], Caching.NONE)
        return is_oracle(item.arm.toolset), float("inf") if value is None else value

    groups = {model: sorted(members, key=worth) for model, members in by_model(shown).items()}
    rows = make_rows([item for members in groups.values() for item in members], has_models=has_models)
    ways = [way for way in Caching if any(way in costs.bills for costs in economics)]
    plot = _Plot(rows, economics, ways, in_dollars, {}, {})
    best = {way: frozenset(_cheapest(plot, members, way) for members in groups.values()) for way in ways}
    longest = {model: max(plot.amount(item, way) for item in arms for way in ways) for model, arms in groups.items()}
    scales = {model: most or 1.0 for model, most in longest.items()}
    if max(scales.values()) < _APART * min(scales.values()):
        scales = dict.fromkeys(scales, max(scales.values()))
    plot = replace(plot, best=best, scales=scales)
    if plot.has_own_scales:
        rows = [
            row if row.shown else replace(row, beside=f"longest bar: {plot.format(scales[row.text])}") for row in rows
        ]
    return replace(plot, rows=rows)


def _cheapest(plot: _Plot, members: Sequence[Shown], way: Caching) -> int:
    """The number of the cheapest arm of a model that can be used, of those that most cases fitted; 0 where there is
    none.
    """
    models = {item.arm.model for item in members}
    arms = [costs.arm for costs in plot.economics if costs.arm.model in models]
    fitting = asked_most([arm for arm in arms if not is_oracle(arm.toolset)])
    amounts = [
        (value, item.number)
        for item in members
        if item.arm in fitting and (value := amount(plot.economics[item.number - 1], way)) is not None
    ]
    return min(amounts)[1] if len(amounts) > 1 else 0


def _draw(plot: _Plot, title: str, subtitle: str, note: str) -> Sheet:
    arms = [row.shown for row in plot.rows if row.shown]
    left = names_width(plot.rows)
    figures = max(widest([plot.text(item, way) for item in arms for way in plot.ways], SMALL, bold=True), 0.4)
    panel = _BAR + 0.1 + figures
    keys = [_REBILLED] if any(rebilled(plot.economics[item.number - 1]) for item in arms) else []
    least = text_width(title, TITLE, bold=True) + 0.3
    width = max(left + len(plot.ways) * panel + (len(plot.ways) - 1) * _GAP + 0.15, least, models_width(plot.rows))
    lines, notes = (in_lines(text, width - 0.2, SMALL) for text in (subtitle, note))
    high = _ROW * len(plot.rows) + 0.06
    bottom = 0.36 + NOTE_LINE * len(notes)
    sheet = Sheet(width, bottom + high + 0.45 + _LINE * len(lines) + (0.08 if lines else 0) + 0.36)
    top = sheet.height - 0.27
    sheet.text(0.1, top, title, size=TITLE, weight="bold")
    for number, line in enumerate(lines, start=1):
        sheet.text(0.1, top - 0.06 - _LINE * number, line, size=SMALL)
    name_rows(sheet, plot.rows, left, bottom, high)
    for number, way in enumerate(plot.ways):
        start = left + number * (panel + _GAP)
        axes = sheet.axes(start, bottom, panel, high)
        axes.set_ylim(len(plot.rows) - 0.5 + 0.12, -0.5 - 0.12)
        axes.set_xlim(0, panel / _BAR)
        axes.set_yticks([])
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        sheet.text(start, bottom + high + 0.08, _PANELS[way], size=SMALL, weight="bold", linespacing=1.15)
        if number:
            sheet.text(start - _GAP / 2 - 0.05, bottom + high + 0.08, "→", color=GREY, ha="center")
        _bars(axes, plot, way)
    draw_legend(sheet, keys, bottom - 0.16)
    bold = _CHEAPEST if plot.in_dollars else _FEWEST
    if any(filter(None, plot.best[plot.ways[0]])):
        at = 0.1 + sum(0.52 + text_width(key.text, SMALL) for key in keys)
        sheet.text(at, bottom - 0.16, bold, size=SMALL, va="center_baseline", color=GREY)
    sheet.note(notes)
    return sheet


def _bars(axes: Any, plot: _Plot, way: Caching) -> None:
    """The bars of a panel, each with its figure at its end."""
    for place, row in enumerate(plot.rows):
        if row.shown is None:
            continue
        scale = plot.scales[row.shown.model]
        value = plot.amount(row.shown, way) / scale
        changed = rebilled(plot.economics[row.shown.number - 1]) or 0.0
        added = 0.0 if way is Caching.NONE else min(value, changed / scale)
        axes.barh(place, value - added, height=0.6, **colour_of(row.shown, SOLID))
        if added:
            axes.barh(place, added, left=value - added, height=0.6, **_ADDED)
        is_best = row.shown.number in plot.best[way]
        how = {"weight": "bold" if is_best else "normal", "color": GREY if is_oracle(row.shown.arm.toolset) else None}
        axes.text(
            value + 0.06 / _BAR,
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
