"""What rankers find, in words and as a picture (rule S3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolbelt.evals.retrieval.retrieval import (
    GroupMeasures,
    Mean,
    PointAtK,
    RankerContrast,
    RankerMeasures,
    Retrieval,
    SearchedDataset,
)
from toolbelt.evals.retrieval.searches import Exclusion, Measure
from toolbelt.evals.views.pictures.recall import draw_recall
from toolbelt.evals.views.retrieval import _READING, describe_dataset, retrieval_view
from toolbelt.render.markdown import escaped, render_markdown

DATASET = SearchedDataset("mine", "d" * 64, "small", 30, False, 0, None, 12, 10, 2, {Exclusion.NO_TOOL: 2})


def mean(value: float, cases: int = 10) -> Mean:
    """A mean, a tenth either side."""
    return Mean(value, cases, value - 0.1, value + 0.1)


def ranker(rank: str, value: float, unscored: dict[str, int] | None = None) -> RankerMeasures:
    """All measures alike."""
    measures = {measure.value: mean(value) for measure in Measure}
    groups = (GroupMeasures("", **measures), GroupMeasures("german", **(measures | {"recall_at_5": mean(0.5, 1)})))
    curve = tuple(PointAtK(k, mean(value + k / 100)) for k in range(1, 21))
    return RankerMeasures("mine", rank, 10, 10, unscored or {}, **measures, curve=curve, groups=groups)


def contrast(measure: Measure, adjusted_p: float) -> RankerContrast:
    """A loss of twenty points."""
    return RankerContrast("mine", "words", "regex", measure, -0.2, -0.3, -0.1, 0.01, adjusted_p, 10, 9, 4, "by hand")


FOUND = Retrieval(
    (DATASET,),
    (ranker("words", 0.7), ranker("regex", 0.5, {"timeout": 1})),
    tuple(contrast(measure, 0.2 if measure is Measure.MRR else 0.01) for measure in Measure),
    "language",
)


def test_S3_the_whole_as_markdown() -> None:
    text = render_markdown(retrieval_view(FOUND))
    words = " | ".join(["70.0% (60.0–80.0)"] * 5)
    regex = " | ".join(["50.0% (40.0–60.0)"] * 5)
    loss, sure = "-20.0 (-30.0 to -10.0)", "-20.0\\* (-30.0 to -10.0)"
    assert text.splitlines() == [
        "## mine: 10 cases over the whole catalog (30 tools)",
        "",
        "| ranker | recall@1 | recall@5 | recall@10 | MRR | nDCG@10 |",
        "|---|---:|---:|---:|---:|---:|",
        f"| words | {words} |",
        f"| regex | {regex} |",
        "",
        "Not searched: 2 need no tool.",
        "",
        "2 drafts among them that nobody has reviewed.",
        "",
        "regex: 10 of 10 cases scored; not 1 (the search took too long).",
        "",
        "| difference | recall@1 | recall@5 | recall@10 | MRR | nDCG@10 |",
        "|---|---:|---:|---:|---:|---:|",
        f"| regex − words | {sure} | {sure} | {sure} | {loss} | {sure} |",
        "",
        escaped(_READING),
        "",
        "| recall@5 by language | cases | words | regex |",
        "|---|---:|---:|---:|",
        "| not tagged | 10 | 70.0% (60.0–80.0) | 50.0% (40.0–60.0) |",
        "| german | 1 | 50.0% (40.0–60.0) | 50.0% (40.0–60.0) |",
        "",
        "No chat model was asked: this measures the search, not what a model makes of it.",
    ]


@pytest.mark.parametrize(
    ("dataset", "title"),
    [
        pytest.param(
            replace(DATASET, offered=10, offered_median=4.5),
            "mine: 10 cases over the tools that each offers (median 4.5)",
            id="all-offer",
        ),
        pytest.param(
            replace(DATASET, offered=4, offered_median=4.0),
            "mine: 10 cases over the tools that each offers (median 4), 6 of them over the whole catalog (30 tools)",
            id="some-offer",
        ),
    ],
)
def test_S3_a_title_states_what_is_searched(dataset: SearchedDataset, title: str) -> None:
    assert describe_dataset(dataset) == title


def test_S3_the_picture_has_a_plot_for_each_dataset_and_is_the_same_each_time() -> None:
    both = replace(
        FOUND,
        datasets=(DATASET, replace(DATASET, name="other $x_1$")),
        rankers=(*FOUND.rankers, replace(ranker("words", 0.2), dataset="other $x_1$")),
    )
    one, two = (draw_recall(found, pngs=False) for found in (FOUND, both))
    assert len(two.svg) > len(one.svg)
    assert draw_recall(both, pngs=False) == two
    assert draw_recall(FOUND).png.startswith(b"\x89PNG")


def test_S3_a_ranker_without_scores_is_drawn_as_nothing() -> None:
    nothing = {measure.value: Mean() for measure in Measure}
    curve = tuple(PointAtK(k, Mean()) for k in range(1, 21))
    silent = RankerMeasures("mine", "embedding:m", 10, 0, {"ranker_failed": 10}, **nothing, curve=curve, groups=())
    found = replace(FOUND, rankers=(silent,), contrasts=())
    assert draw_recall(found, pngs=False).svg
    assert "| embedding:m | – | – | – | – | – |" in render_markdown(retrieval_view(found))
