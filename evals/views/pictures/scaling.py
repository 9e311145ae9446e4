"""The scaling curve: how accuracy falls as more tools are offered beside the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.toolsets.spec import FULL, ToolsetKind, find_toolset
from toolbelt.evals.views.pictures.canvas import (
    SMALL,
    TITLE,
    Sheet,
    Style,
    accuracy_axis,
    logarithmic_marks,
    short_number,
    style,
    widest,
)
from toolbelt.evals.views.pictures.shown import Shown, shown_arms
from toolbelt.views.blocks import Picture

_WIDE, _HIGH, _LINE = 5.4, 3.5, 0.19
_MARK = 6.0
_FULL_KEY = "full: the whole catalog (hollow)"
_INTERVAL_KEY = "95% interval"
_NAME = "Accuracy as more tools are offered"


@dataclass(frozen=True, slots=True)
class Curve:
    """The oracle arms of one model that differ in the number of distractors alone.

    Attributes:
        model: To show.
        kind: How distractors are chosen: `random` or `near`.
        variant: What is changed about the toolsets.
        arms: By the number of tools offered.
        full: The arm with the whole catalog, if it was run.
    """

    model: str
    kind: str
    variant: str
    arms: tuple[Shown, ...]
    full: Shown | None


def find_curves(shown: Sequence[Shown]) -> list[Curve]:
    """Curves with at least two oracle arms, in the order of the arms."""
    plain: dict[tuple[str, str], Shown] = {}
    full: dict[tuple[str, str], Shown] = {}
    by_kind: dict[tuple[str, str, str], list[Shown]] = {}
    for item in shown:
        if item.arm.right_of_asked.value is None or not item.arm.tools_offered:
            continue
        key = (item.model, item.arm.variant)
        spec = find_toolset(item.arm.toolset)
        if spec == FULL:
            full[key] = item
        elif spec is not None and spec.kind is ToolsetKind.ORACLE:
            if spec.distractors:
                by_kind.setdefault((*key, "near" if spec.near else "random"), []).append(item)
            else:
                plain[key] = item
    curves = []
    for (model, variant, kind), arms in by_kind.items():
        start = [plain[model, variant]] if (model, variant) in plain else []
        ordered = sorted([*start, *arms], key=lambda item: item.arm.tools_offered or 0)
        if len(ordered) > 1:
            curves.append(Curve(model, kind, variant, tuple(ordered), full.get((model, variant))))
    return curves


def draw_scaling(summary: RunSummary, *, pngs: bool) -> Picture | None:
    """The picture of the curves; `None` where fewer than two oracle arms of a model have a scored trial."""
    curves = find_curves(shown_arms(summary))
    if not curves:
        return None
    texts = curve_texts(curves)
    has_full = any(curve.full for curve in curves)
    keys = [*texts, *([_FULL_KEY] if has_full else []), _INTERVAL_KEY]
    left, bottom, above = 0.74, 0.55, 0.45
    high = max(_HIGH, _LINE * len(keys))
    sheet = Sheet(left + _WIDE + 0.7 + widest(keys, SMALL), bottom + high + above)
    axes = sheet.axes(left, bottom, _WIDE, high)
    _scales(axes, curves)
    styles = [style(number) for number in range(len(curves))]
    for curve, how in zip(curves, styles, strict=True):
        _draw_curve(axes, curve, how)
    sheet.text(left, bottom + high + 0.2, _NAME, size=TITLE, weight="bold")
    start = left + _WIDE + 0.15
    for place, key in enumerate(keys):
        middle = bottom + high - _LINE * (place + 0.5)
        sheet.text(start + 0.44, middle, key, size=SMALL, va="center_baseline")
        if place < len(curves):
            sheet.sample(start, middle, 0.36, styles[place], _MARK)
        elif place == len(keys) - 1:
            sheet.interval_sample(start + 0.18, middle)
        else:
            sheet.mark(start + 0.18, middle, Style("#333333", "o", "-"), _MARK, filled=False)
    caption = (
        "Accuracy, with its 95% interval, over the mean number of tools at the first request: the right ones alone, "
        "then with more and more others beside them."
    )
    if has_full:
        caption += " The hollow mark is the whole catalog."
    return Picture("scaling", _NAME, caption, *sheet.save(pngs=pngs))


def curve_texts(curves: Sequence[Curve]) -> list[str]:
    """The names of the curves; with the model only if there are several models."""
    texts = []
    several = len({curve.model for curve in curves}) > 1
    for curve in curves:
        parts = (curve.model if several else "", f"{curve.kind} distractors", curve.variant)
        texts.append(" · ".join(filter(None, parts)))
    return texts


def _scales(axes: Any, curves: Sequence[Curve]) -> None:
    shown = [item for curve in curves for item in chain(curve.arms, [curve.full] if curve.full else [])]
    tools = [item.arm.tools_offered or 1.0 for item in shown]
    low, high = min(tools) / 1.25, max(tools) * 1.25
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    marks = logarithmic_marks(low, high)
    axes.set_xticks(marks, [short_number(mark) for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel("tools offered at the first request (mean)")
    # From zero, so that the fall is not exaggerated.
    rates = [item.arm.right_of_asked for item in shown]
    accuracy_axis(axes, [0.0], [rate.high or 1.0 for rate in rates])


def _draw_curve(axes: Any, curve: Curve, how: Style) -> None:
    points = [(item.arm.tools_offered, item.arm.right_of_asked) for item in curve.arms]
    if curve.full is not None:
        points.append((curve.full.arm.tools_offered, curve.full.arm.right_of_asked))
    for tools, rate in points:
        axes.plot([tools, tools], [rate.low, rate.high], color=how.colour, linewidth=0.9, alpha=0.5)
    axes.plot(
        [x for x, _ in points], [y.value for _, y in points], color=how.colour, linestyle=how.dashes, linewidth=1.3
    )
    for place, (tools, rate) in enumerate(points):
        is_full = curve.full is not None and place == len(points) - 1
        axes.plot(
            [tools],
            [rate.value],
            marker=how.marker,
            markersize=_MARK,
            markeredgecolor=how.colour,
            markerfacecolor="white" if is_full else how.colour,
            markeredgewidth=1.2,
        )
