"""Pictures with a bar for each arm: accuracy with coverage behind it, and tokens in two parts."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.views.bar_sheet import BEHIND, SOLID, Key, bar_sheet
from toolbelt.evals.views.canvas import ACCENT, INK
from toolbelt.evals.views.figures import format_interval, format_number, format_prompt_tokens, format_share
from toolbelt.evals.views.picture import Picture, Shown, left_out, shown_arms
from toolbelt.evals.views.scales import linear_marks, short_number

_HATCHED = {"facecolor": ACCENT, "edgecolor": "white", "linewidth": 0, "hatch": "////"}
_ACCURACY = "Accuracy by arm"
_TOKENS = "Prompt tokens by arm"


def draw_accuracy(summary: RunSummary) -> Picture | None:
    """`None` where no arm has anything scored."""
    shown = shown_arms(summary)
    if not any(one.arm.scored for one in shown):
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
        axes.barh(place, rate.value, height=0.4, **SOLID)
        if rate.low is not None:
            # White below black is seen on the dark bar and beside it.
            for colour, width in (("white", 3.2), (INK, 1.2)):
                axes.plot([rate.low, rate.high], [place, place], color=colour, linewidth=width, snap=False)
    svg, png = sheet.save()
    caption = (
        "Dark: share of the scored trials in which the right tools were called, with its 95% interval. Pale, behind: "
        "share in which a right answer could be reached at all. What lies between the two is the model's choice; what "
        f"lies beyond the pale bar is the toolset's. {note}"
    )
    return Picture("accuracy", _ACCURACY, caption.strip(), svg, png)


def draw_tokens(summary: RunSummary) -> Picture | None:
    """`None` where the tokens of no arm are known."""
    shown = shown_arms(summary)
    if not any(_prompt_parts(one.arm) for one in shown):
        return None
    note = " ".join(filter(None, (left_out(summary), _token_note(shown))))
    keys = [Key("tool definitions, own count", _HATCHED), Key("the rest of the prompt", BEHIND)]
    sheet, axes, rows = bar_sheet(_TOKENS, shown, keys, _token_text, note)
    parts = [_prompt_parts(row.shown.arm) if row.shown else None for row in rows]
    most = max(1.0, *(sum(part) for part in parts if part))
    axes.set_xlim(0, most * 1.02)
    marks = linear_marks(0, most * 1.02)
    axes.set_xticks(marks, [short_number(mark) for mark in marks])
    for place, part in enumerate(parts):
        if part is not None:
            axes.barh(place, part[0], height=0.62, **_HATCHED)
            axes.barh(place, part[1], left=part[0], height=0.62, **BEHIND)
    svg, png = sheet.save()
    caption = (
        "Mean prompt tokens of a scored trial over all its requests, split into the tool definitions and the rest: "
        f"messages, answers of tools. {note}"
    )
    return Picture("tokens", _TOKENS, caption.strip(), svg, png)


def _prompt_parts(arm: ArmSummary) -> tuple[float, float] | None:
    """Definitions and the rest, in tokens; a provider that counts definitions as fewer than we do leaves no rest."""
    if arm.prompt_tokens is None or arm.definition_tokens_total is None:
        return None
    return arm.definition_tokens_total, max(0.0, arm.prompt_tokens - arm.definition_tokens_total)


def _accuracy_text(shown: Shown) -> str:
    arm = shown.arm
    if arm.accuracy.value is None:
        return "nothing scored"
    interval = format_interval(arm.accuracy)
    return f"{format_share(arm.accuracy.value)}  [{interval}]" if interval else format_share(arm.accuracy.value)


def _token_text(shown: Shown) -> str:
    arm = shown.arm
    parts = _prompt_parts(arm)
    if parts is None:
        return "nothing scored" if not arm.scored else "unknown"
    return f"{format_prompt_tokens(arm)}, definitions {format_number(parts[0])}"


def _token_note(shown: Sequence[Shown]) -> str:
    notes = []
    if any(not one.arm.prompt_tokens_reported and one.arm.prompt_tokens is not None for one in shown):
        notes.append("~ own count, as the provider did not report the tokens of every trial.")
    if any(
        one.arm.prompt_tokens is not None and (one.arm.definition_tokens_total or 0) > one.arm.prompt_tokens
        for one in shown
    ):
        notes.append("Some providers count definitions as fewer tokens than we do.")
    return " ".join(notes)
