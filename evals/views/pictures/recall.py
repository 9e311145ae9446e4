"""Recall against k, a line for each ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolbelt.evals.retrieval.retrieval import RankerMeasures, Retrieval, SearchedDataset
from toolbelt.evals.views.pictures.canvas import (
    SMALL,
    TITLE,
    Sheet,
    Style,
    accuracy_axis,
    distinct,
    in_lines,
    own_settings,
    style,
    widest,
)
from toolbelt.evals.views.retrieval import describe_dataset
from toolbelt.views.blocks import Picture

_WIDE, _HIGH, _LINE, _TITLE_LINE = 4.6, 3.2, 0.19, 0.2
_MARK = 5.0
_INTERVAL_KEY = "95% interval"
_CAPTION = "Recall, with its 95% interval, over the number of tools that are looked at."
_MOST_LETTERS = 40


def draw_recall(retrieval: Retrieval, *, pngs: bool = True) -> Picture:
    """The curves of all rankers, a plot for each dataset, one below the other.

    Importing this takes about a second, as it brings matplotlib along.

    Args:
        retrieval: What was found.
        pngs: Whether they are wanted beside the SVG.
    """
    names = list(dict.fromkeys(ranker.rank for ranker in retrieval.rankers))
    keys = distinct(names, _MOST_LETTERS)
    with own_settings():
        left, bottom, right = 0.74, 0.55, 0.7 + widest([*keys, _INTERVAL_KEY], SMALL)
        titles = [in_lines(describe_dataset(dataset), _WIDE + right, TITLE) for dataset in retrieval.datasets]
        heights = [bottom + _HIGH + 0.3 + _TITLE_LINE * len(lines) for lines in titles]
        sheet = Sheet(left + _WIDE + right, sum(heights))
        top = sum(heights)
        for dataset, lines, height in zip(retrieval.datasets, titles, heights, strict=True):
            top -= height
            axes = sheet.axes(left, top + bottom, _WIDE, _HIGH)
            _draw(axes, retrieval, dataset, names)
            for number, line in enumerate(reversed(lines)):
                place = top + bottom + _HIGH + 0.18 + _TITLE_LINE * number
                sheet.text(left, place, line, size=TITLE, weight="bold")
            start, upper = left + _WIDE + 0.15, top + bottom + _HIGH
            for number, key in enumerate([*keys, _INTERVAL_KEY]):
                middle = upper - _LINE * (number + 0.5)
                sheet.text(start + 0.44, middle, key, size=SMALL, va="center_baseline")
                if number < len(keys):
                    sheet.sample(start, middle, 0.36, style(number), _MARK)
                else:
                    sheet.interval_sample(start + 0.18, middle)
        return Picture("recall", "Recall against k", _CAPTION, *sheet.save(pngs=pngs))


def _draw(axes: Any, retrieval: Retrieval, dataset: SearchedDataset, names: Sequence[str]) -> None:
    rankers = [ranker for ranker in retrieval.rankers if ranker.dataset == dataset.name]
    highs = [point.recall.high or 0.0 for ranker in rankers for point in ranker.curve]
    accuracy_axis(axes, [0.0], highs)
    axes.set_ylabel("recall")
    ks = [point.k for point in rankers[0].curve]
    axes.set_xlim(0.4, max(ks) + 0.6)
    axes.set_xticks([k for k in ks if k == 1 or k % 5 == 0])
    axes.set_xlabel("k, tools looked at")
    for ranker in rankers:
        _draw_curve(axes, ranker, style(names.index(ranker.rank)))


def _draw_curve(axes: Any, ranker: RankerMeasures, how: Style) -> None:
    points = [(point.k, point.recall) for point in ranker.curve if point.recall.value is not None]
    for k, mean in points:
        axes.plot([k, k], [mean.low, mean.high], color=how.colour, linewidth=0.9, alpha=0.5)
    axes.plot(
        [k for k, _ in points],
        [mean.value for _, mean in points],
        color=how.colour,
        linestyle=how.dashes,
        linewidth=1.3,
        marker=how.marker,
        markersize=_MARK,
        markeredgecolor=how.colour,
        markerfacecolor=how.colour,
    )
