"""The common layout of pictures with a bar for each arm: names, bars, figures, a legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.pictures.canvas import (
    ACCENT,
    GREY,
    INK,
    ORACLE,
    PALE,
    SMALL,
    TITLE,
    Sheet,
    linear_marks,
    short_number,
    text_width,
    widest,
)
from toolbelt.evals.views.pictures.shown import Shown, by_model, left_out, shown_arms
from toolbelt.render.numbers import ESTIMATED, format_glance, format_interval, format_share
from toolbelt.views.blocks import Picture

_ROW = 0.25
"""Height of an arm's row, in inches."""
_WIDE = 3.9
_KEY = 0.52
"""Width of a legend entry besides its text, in inches."""
_LIGHT = "#c3ccd2"
SOLID: Mapping[str, Any] = {"facecolor": ACCENT, "edgecolor": ACCENT, "linewidth": 0.6}
BEHIND: Mapping[str, Any] = {"facecolor": _LIGHT, "edgecolor": GREY, "linewidth": 0.6}


@dataclass(frozen=True, slots=True)
class LabelledBar:
    """A line of the picture.

    Attributes:
        text: The arm's label, or the name of the model of those below.
        shown: The arm.
    """

    text: str
    shown: Shown | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: what a bar, a line or a mark means.

    Attributes:
        text: In words.
        how: As it is drawn.
        is_line: Whether it is a line.
        is_upright: Whether it is a mark across the bars.
    """

    text: str
    how: Mapping[str, Any]
    is_line: bool = False
    is_upright: bool = False


def bar_sheet(
    title: str, shown: Sequence[Shown], keys: Sequence[Key], describe_shown: Callable[[Shown], str], note: str
) -> tuple[Sheet, Any, list[LabelledBar]]:
    """An empty picture with names on the left, figures on the right and a legend on top; rows go downwards.

    Args:
        title: In a few words.
        shown: The arms, those of each model together where there are several.
        keys: The legend.
        describe_shown: The figures of an arm.
        note: A sentence at the foot; empty for none.

    Returns:
        The sheet, its axes, on which row `n` is at height `n`, and the rows.
    """
    groups = by_model(shown)
    rows: list[LabelledBar] = []
    for model, members in groups.items():
        if len(groups) > 1:
            rows.append(LabelledBar(model))
        rows += [LabelledBar(item.label, item) for item in members]
    figures = [describe_shown(row.shown) if row.shown else "" for row in rows]
    left = 0.25 + max(widest([row.text for row in rows if row.shown]), widest([*groups], bold=True) - 0.3)
    right = 0.25 + widest(figures, SMALL)
    bottom, above = 0.42 + (0.2 if note else 0), 0.72
    high = _ROW * len(rows) + 0.06
    legend = sum(_KEY + text_width(key.text, SMALL) for key in keys)
    width = max(left + _WIDE + right, 0.3 + text_width(note, SMALL), legend)
    sheet = Sheet(width, bottom + high + above)
    axes = sheet.axes(left, bottom, width - left - right, high)
    axes.set_ylim(len(rows) - 0.5 + 0.12, -0.5 - 0.12)
    axes.set_yticks([])
    axes.grid(axis="x", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for place, (row, figure) in enumerate(zip(rows, figures, strict=True)):
        height = bottom + high * (len(rows) - 0.5 + 0.12 - place) / (len(rows) + 0.24)
        if row.shown is None:
            sheet.text(0.1, height, row.text, weight="bold", va="center_baseline")
        else:
            sheet.text(left - 0.1, height, row.text, ha="right", va="center_baseline")
        sheet.text(width - right + 0.1, height, figure, size=SMALL, va="center_baseline")
    sheet.text(0.1, bottom + high + 0.47, title, size=TITLE, weight="bold")
    draw_legend(sheet, keys, bottom + high + 0.22)
    if note:
        sheet.text(0.1, 0.07, note, size=SMALL, color=GREY)
    return sheet, axes, rows


def best_first(shown: Sequence[Shown], worth: Callable[[ArmSummary], float]) -> list[Shown]:
    """The arms by what they are worth; oracle arms, which nobody can use, behind the others."""
    return sorted(shown, key=lambda item: (is_oracle(item.arm.toolset), -worth(item.arm)))


def colour_of(shown: Shown, how: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a bar of the arm is drawn: those of oracle arms are grey."""
    return {**how, "facecolor": ORACLE, "linewidth": 0} if is_oracle(shown.arm.toolset) else how


def draw_legend(sheet: Sheet, keys: Sequence[Key], middle: float) -> None:
    """Entries side by side, their middle in inches from the bottom."""
    at = 0.1
    for key in keys:
        if key.is_line:
            ends = [(x * sheet.pixels_per_inch, middle * sheet.pixels_per_inch) for x in (at, at + 0.24)]
            sheet.line(*ends, linewidth=1.1, **key.how)
        elif key.is_upright:
            across = (at + 0.18) * sheet.pixels_per_inch
            ends = [(across, (middle + up) * sheet.pixels_per_inch) for up in (-0.08, 0.08)]
            sheet.line(*ends, linewidth=1.6, **key.how)
        else:
            sheet.bar(at, middle - 0.05, 0.24, 0.1, **key.how)
        sheet.text(at + 0.3, middle, key.text, size=SMALL, va="center_baseline")
        at += _KEY + text_width(key.text, SMALL)


_HATCHED = {"facecolor": ACCENT, "edgecolor": "white", "linewidth": 0, "hatch": "////"}
_ACCURACY = "Accuracy by arm"
_TOKENS = "Prompt tokens by arm"


def draw_accuracy(summary: RunSummary, *, pngs: bool) -> Picture | None:
    """The picture of accuracy; `None` if no arm has a scored trial."""
    shown = best_first(shown_arms(summary), lambda arm: -1.0 if arm.accuracy.value is None else arm.accuracy.value)
    if not any(item.arm.scored for item in shown):
        return None
    note = left_out(summary)
    keys = [
        Key("accuracy", SOLID),
        Key("95% interval", {"color": INK}, is_line=True),
        Key("coverage: what the toolset lets be right", BEHIND),
    ]
    sheet, axes, rows = bar_sheet(_ACCURACY, shown, keys, _accuracy_text, note)
    axes.set_xlim(0, 1.004)  # the edge of a full bar is seen
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0%", "20%", "40%", "60%", "80%", "100%"])
    for place, row in enumerate(rows):
        rate = row.shown.arm.accuracy if row.shown else None
        if row.shown is None or rate is None or rate.value is None:
            continue
        axes.barh(place, row.shown.arm.coverage.value or 0, height=0.74, **BEHIND)
        axes.barh(place, rate.value, height=0.4, **colour_of(row.shown, SOLID))
        if rate.low is not None:
            # White below black is seen on the dark bar and beside it.
            for colour, width in (("white", 3.2), (INK, 1.2)):
                axes.plot([rate.low, rate.high], [place, place], color=colour, linewidth=width, snap=False)
    caption = (
        "Dark: share of the scored trials in which the right tools were called, with its 95% interval. Pale, behind: "
        "share in which a right answer could be reached at all. What lies between the two is the model's choice; what "
        f"lies beyond the pale bar is the toolset's. {note}"
    )
    return Picture("accuracy", _ACCURACY, caption.strip(), *sheet.save(pngs=pngs))


def draw_tokens(summary: RunSummary, *, pngs: bool) -> Picture | None:
    """The picture of prompt tokens; `None` if no arm's tokens are known."""
    shown = best_first(shown_arms(summary), lambda arm: -sum(_prompt_parts(arm) or (math.inf,)))
    if not any(_prompt_parts(item.arm) for item in shown):
        return None
    note = " ".join(filter(None, (left_out(summary), _token_note(shown))))
    keys = [Key("tool definitions, estimated", _HATCHED), Key("the rest of the prompt", BEHIND)]
    sheet, axes, rows = bar_sheet(_TOKENS, shown, keys, _token_text, note)
    parts = [_prompt_parts(row.shown.arm) if row.shown else None for row in rows]
    most = max(1.0, *(sum(part) for part in parts if part))
    axes.set_xlim(0, most * 1.02)
    marks = linear_marks(0, most * 1.02)
    axes.set_xticks(marks, [short_number(mark) for mark in marks])
    for place, (row, part) in enumerate(zip(rows, parts, strict=True)):
        if row.shown is not None and part is not None:
            axes.barh(place, part[0], height=0.62, **colour_of(row.shown, _HATCHED))
            axes.barh(place, part[1], left=part[0], height=0.62, **BEHIND)
    caption = (
        "Mean prompt tokens of a scored trial over all its requests, split into the tool definitions and the rest: "
        f"messages, answers of tools. {note}"
    )
    return Picture("tokens", _TOKENS, caption.strip(), *sheet.save(pngs=pngs))


def _prompt_parts(arm: ArmSummary) -> tuple[float, float] | None:
    """Tokens of the definitions and of the rest. The rest is 0 where the provider counts fewer tokens than our count of
    the definitions.
    """
    if arm.prompt_tokens is None or arm.definition_tokens_total is None:
        return None
    return arm.definition_tokens_total, max(0.0, arm.prompt_tokens - arm.definition_tokens_total)


def _accuracy_text(shown: Shown) -> str:
    arm = shown.arm
    if arm.accuracy.value is None:
        return "nothing scored"
    interval = format_interval(arm.accuracy.low, arm.accuracy.high)
    return f"{format_share(arm.accuracy.value)}  [{interval}]" if interval else format_share(arm.accuracy.value)


def _token_text(shown: Shown) -> str:
    arm = shown.arm
    parts = _prompt_parts(arm)
    if parts is None:
        return "nothing scored" if not arm.scored else "unknown"
    mark = "" if arm.prompt_tokens_reported else ESTIMATED
    return f"{mark}{format_glance(arm.prompt_tokens)}, definitions {format_glance(parts[0])}"


def _token_note(shown: Sequence[Shown]) -> str:
    notes = []
    if any(not item.arm.prompt_tokens_reported and item.arm.prompt_tokens is not None for item in shown):
        notes.append("~ estimated, as the provider did not report the tokens of every trial.")
    if any(
        item.arm.prompt_tokens is not None and (item.arm.definition_tokens_total or 0) > item.arm.prompt_tokens
        for item in shown
    ):
        notes.append("Some providers count definitions as fewer tokens than we do.")
    return " ".join(notes)
