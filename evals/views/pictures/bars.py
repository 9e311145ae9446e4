"""The common layout of pictures with a bar for each arm: names, bars, figures, a legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.pictures.canvas import (
    ACCENT,
    GREY,
    INK,
    NOTE_LINE,
    ORACLE,
    PALE,
    SMALL,
    TITLE,
    Sheet,
    in_lines,
    linear_marks,
    short_number,
    text_width,
    widest,
)
from toolbelt.evals.views.pictures.shown import Shown, by_model, by_reason, left_out, shown_arms
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
        beside: What stands beside a model's name.
    """

    text: str
    shown: Shown | None = None
    beside: str = ""


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


def make_rows(shown: Sequence[Shown], *, has_models: bool) -> list[LabelledBar]:
    """The arms in their order; those of each model together, below its name, where there are several."""
    rows: list[LabelledBar] = []
    for model, members in by_model(shown).items():
        if has_models:
            rows.append(LabelledBar(model))
        rows += [LabelledBar(item.label, item) for item in members]
    return rows


def names_width(rows: Sequence[LabelledBar]) -> float:
    """Inches from the left edge to the bars; the name of a model, which has no bar, may go on beyond."""
    return 0.25 + widest([row.text for row in rows if row.shown])


def models_width(rows: Sequence[LabelledBar]) -> float:
    """Inches that the longest line of a model takes."""
    return max((0.3 + _model_width(row) + text_width(row.beside, SMALL) for row in rows if not row.shown), default=0.0)


def name_rows(sheet: Sheet, rows: Sequence[LabelledBar], left: float, bottom: float, high: float) -> list[float]:
    """Write the names beside the bars, which begin at `left`.

    Returns:
        The middle of each row. All in inches.
    """
    middles = [bottom + high * (len(rows) - 0.5 + 0.12 - place) / (len(rows) + 0.24) for place in range(len(rows))]
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    for row, middle in zip(rows, middles, strict=True):
        if row.shown is None:
            sheet.text(0.1, middle, row.text, weight="bold", va="center_baseline", bbox=ground)
            beside = {"size": SMALL, "color": GREY, "va": "center_baseline", "bbox": ground}
            sheet.text(0.1 + _model_width(row), middle, row.beside, **beside)
        else:
            sheet.text(left - 0.1, middle, row.text, ha="right", va="center_baseline")
    return middles


def _model_width(row: LabelledBar) -> float:
    return text_width(row.text, bold=True) + 0.12


def bar_sheet(
    title: str, rows: Sequence[LabelledBar], keys: Sequence[Key], describe_shown: Callable[[Shown], str], note: str
) -> tuple[Sheet, Any]:
    """An empty picture with names on the left, figures on the right and a legend on top; rows go downwards.

    Args:
        title: In a few words.
        rows: From the top.
        keys: The legend.
        describe_shown: The figures of an arm.
        note: Sentences at the foot; empty for none.

    Returns:
        The sheet, and its axes, on which row `n` is at height `n`.
    """
    figures = [describe_shown(row.shown) if row.shown else "" for row in rows]
    left, right = names_width(rows), 0.25 + widest(figures, SMALL)
    legend = sum(_KEY + text_width(key.text, SMALL) for key in keys)
    width = max(left + _WIDE + right, legend, models_width(rows))
    notes = in_lines(note, width - 0.2, SMALL)
    bottom, above = 0.42 + NOTE_LINE * len(notes), 0.72
    high = _ROW * len(rows) + 0.06
    sheet = Sheet(width, bottom + high + above)
    axes = sheet.axes(left, bottom, width - left - right, high)
    axes.set_ylim(len(rows) - 0.5 + 0.12, -0.5 - 0.12)
    axes.set_yticks([])
    axes.grid(axis="x", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for middle, figure in zip(name_rows(sheet, rows, left, bottom, high), figures, strict=True):
        sheet.text(width - right + 0.1, middle, figure, size=SMALL, va="center_baseline")
    sheet.text(0.1, bottom + high + 0.47, title, size=TITLE, weight="bold")
    draw_legend(sheet, keys, bottom + high + 0.22)
    sheet.note(notes)
    return sheet, axes


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
_UNSCORED = "nothing scored"


def draw_accuracy(summary: RunSummary, *, pngs: bool) -> Picture | None:
    """The picture of accuracy; `None` if no arm has a scored trial."""
    drawn, note, has_models = _drawn(summary, lambda item: "" if item.arm.scored else _UNSCORED)
    if not drawn:
        return None
    rows = make_rows(best_first(drawn, lambda arm: arm.right_of_asked.value or 0.0), has_models=has_models)
    keys = [
        Key("accuracy", SOLID),
        Key("95% interval", {"color": INK}, is_line=True),
        Key("coverage: what the toolset lets be right", BEHIND),
    ]
    sheet, axes = bar_sheet(_ACCURACY, rows, keys, _accuracy_text, note)
    axes.set_xlim(0, 1.004)  # the edge of a full bar is seen
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0%", "20%", "40%", "60%", "80%", "100%"])
    for place, row in enumerate(rows):
        rate = row.shown.arm.right_of_asked if row.shown and row.shown.arm.scored else None
        if row.shown is None or rate is None or rate.value is None:
            continue
        axes.barh(place, row.shown.arm.coverage.numerator / rate.denominator, height=0.74, **BEHIND)
        axes.barh(place, rate.value, height=0.4, **colour_of(row.shown, SOLID))
        if rate.low is not None and rate.high is not None:
            # White below black is seen on the dark bar and beside it.
            for colour, width in (("white", 3.2), (INK, 1.2)):
                axes.plot([rate.low, rate.high], [place, place], color=colour, linewidth=width, snap=False)
    caption = (
        "Dark: share of the trials asked in which the right tools were called, with its 95% interval; what was too "
        "long for the model is not right. Pale, behind: share in which a right answer could be reached at all. What "
        "lies between the two is the model's choice; what lies "
        f"beyond the pale bar is the toolset's. {note}"
    )
    return Picture("accuracy", _ACCURACY, caption.strip(), *sheet.save(pngs=pngs))


def draw_tokens(summary: RunSummary, *, pngs: bool) -> Picture | None:
    """The picture of prompt tokens; `None` if no arm's tokens are known."""
    drawn, note, has_models = _drawn(summary, _why_no_tokens)
    if not drawn:
        return None
    rows = make_rows(best_first(drawn, lambda arm: -sum(_prompt_parts(arm) or ())), has_models=has_models)
    note = " ".join(filter(None, (note, _token_note(drawn))))
    keys = [Key("tool definitions, estimated", _HATCHED), Key("the rest of the prompt", BEHIND)]
    sheet, axes = bar_sheet(_TOKENS, rows, keys, _token_text, note)
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


def _drawn(summary: RunSummary, why: Callable[[Shown], str]) -> tuple[list[Shown], str, bool]:
    """The arms that have a bar, a note on those that have none, and whether there are several models."""
    shown = shown_arms(summary)
    groups = by_reason(shown, why)
    return groups.pop(""), left_out(summary, groups), len(by_model(shown)) > 1


def _why_no_tokens(shown: Shown) -> str:
    if _prompt_parts(shown.arm) is not None:
        return ""
    return "tokens unknown" if shown.arm.scored else _UNSCORED


def _accuracy_text(shown: Shown) -> str:
    rate = shown.arm.right_of_asked
    interval = format_interval(rate.low, rate.high)
    text = f"{format_share(rate.value)}  [{interval}]" if interval else format_share(rate.value)
    return f"{text}, {shown.arm.too_long:,} too long" if shown.arm.too_long else text


def _token_text(shown: Shown) -> str:
    arm = shown.arm
    parts = _prompt_parts(arm) or (0.0, 0.0)
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
