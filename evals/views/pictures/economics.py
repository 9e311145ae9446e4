"""The cost of a solved case by toolset, with and without a provider's cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.views.economics import WAYS, amount, format_amount, rebilled, why_none
from toolbelt.evals.views.pictures.bars import BEHIND, SOLID, Key, bar_sheet
from toolbelt.evals.views.pictures.canvas import INK, drawable, linear_marks, short_number
from toolbelt.evals.views.pictures.shown import Shown, left_out, shown_arms
from toolbelt.views.blocks import Picture

_ADDED = {"facecolor": "#d55e00", "edgecolor": "white", "linewidth": 0, "hatch": "////"}
_USD = "Cost per solved case, without and with caching"
_TOKENS = "Prompt tokens billed in full per solved case, without and with caching"
_READ_NOTE = "Without the tokens read from the cache, which cost less, not nothing."
_WITHOUT = Key(WAYS[Caching.NONE], BEHIND)
_WITHIN = Key(WAYS[Caching.WITHIN], SOLID)
_REBILLED = Key("of that, re-billed as the tools changed", _ADDED)
_ACROSS = Key(WAYS[Caching.ACROSS], {"color": INK}, is_upright=True)


def draw_economics(summary: RunSummary, economics: Sequence[ArmEconomics]) -> Picture | None:
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

    def drawn(item: Shown) -> ArmEconomics | None:
        costs = economics[item.number - 1]
        return None if why_none(costs) or (in_dollars and costs.rates is None) else costs

    def describe_shown(item: Shown) -> str:
        costs = economics[item.number - 1]
        if why_none(costs):
            return why_none(costs)
        values = [amount(costs, caching) for caching in Caching]
        text = " → ".join(format_amount(costs, value) for value in values if value is not None)
        return f"no price; tokens {text}" if in_dollars and costs.rates is None else text

    note = " ".join(filter(None, (left_out(summary), _price_note(economics) if in_dollars else _READ_NOTE)))
    keys = [_WITHOUT, _WITHIN]
    keys += [_REBILLED] if any(map(rebilled, economics)) else []
    keys += [_ACROSS] if any(Caching.ACROSS in costs.bills for costs in economics) else []
    sheet, axes, rows = bar_sheet(title, shown, keys, describe_shown, note)
    bars = [drawn(row.shown) if row.shown else None for row in rows]
    most = max((amount(costs, caching) or 0.0 for costs in bars if costs for caching in Caching), default=0.0) or 1.0
    axes.set_xlim(0, most * 1.03)
    marks = linear_marks(0, most * 1.03)
    axes.set_xticks(marks, _ticks(marks) if in_dollars else [short_number(mark) for mark in marks])
    for place, costs in enumerate(bars):
        if costs is None:
            continue
        whole, cached, added = amount(costs, Caching.NONE), amount(costs, Caching.WITHIN), rebilled(costs) or 0.0
        axes.barh(place, whole, height=0.74, **BEHIND)
        axes.barh(place, (cached or 0.0) - added, height=0.4, **SOLID)
        if added:
            axes.barh(place, added, left=(cached or 0.0) - added, height=0.4, **_ADDED)
        best = amount(costs, Caching.ACROSS)
        if best is not None:
            # White below black is seen on the dark bar and beside it.
            for colour, width in (("white", 3.6), (INK, 1.6)):
                axes.plot(
                    [best, best], [place - 0.4, place + 0.4], color=colour, linewidth=width, clip_on=False, zorder=4
                )
    svg, png = sheet.save()
    return Picture("economics", title, f"{_caption(in_dollars=in_dollars)} {note}".strip(), svg, png)


def _caption(*, in_dollars: bool) -> str:
    what = "What a solved case costs" if in_dollars else "Prompt tokens billed in full for each solved case"
    return (
        f"{what}: all scored trials, divided by those solved. Pale, behind: without caching. Dark: what a request "
        "repeats of the one before is read from the provider's cache. Orange: the part of it that is billed again "
        "because a changed tool list broke the cached prefix. Upright line: the opening definitions are read, too, "
        "from the cache of earlier conversations, the best case for a list that never changes. The figures stand in "
        "this order."
    )


def _price_note(economics: Sequence[ArmEconomics]) -> str:
    """A short note below the picture; the report has the details."""
    notes = []
    if priced_as := next((costs.priced_as for costs in economics if costs.priced_as), ""):
        notes.append(f"As if at the price of {drawable(priced_as, 34)}.")
    if any(costs.rates is not None and not costs.has_answers for costs in economics):
        notes.append("Prompts alone where the tokens of answers are not known.")
    return " ".join(notes)


def _ticks(marks: Sequence[float]) -> list[str]:
    """Dollars, all with as many digits as are needed to tell them apart."""
    step = min((high - low for low, high in pairwise(marks)), default=1.0)
    places = max(2, 1 - math.floor(math.log10(step)))
    texts = [f"{mark:,.{places}f}" for mark in marks]
    while places > 2 and all(text.endswith("0") for text in texts):
        places -= 1
        texts = [f"{mark:,.{places}f}" for mark in marks]
    return ["$0" if not mark else f"${text}" for mark, text in zip(marks, texts, strict=True)]
