"""How well a classifier separates the queries of a dataset from others: 0.5 not at all, 1 always.

It is a logistic regression over character n-grams, whose area under the ROC curve (AUC) is measured on queries that it
was not fitted to. Sets on different subjects are separated by their subjects, two sets of real queries too, so that a
value says most beside that of another pair. To take out the subject as far as possible, it is measured twice:

- `words`: paths, addresses, code and names with signs or digits are one sign, `¤`, and each number is `0`;
- `style`: beside that, each word but the commonest English ones is `x`, or `X` where a sentence begins with a capital.
  What is left are sentences, punctuation and the small words.

Queries that occur twice are used once. The larger side is cut by a seeded draw to the size of the smaller one.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toolbelt.catalog.ranking.text import STOP_WORDS
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.case_file import open_lines
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.imports.sources import SourceFile
from toolbelt.evals.cases.location import find_dataset
from toolbelt.evals.statistics.intervals import area_interval
from toolbelt.evals.statistics.logistic import Features, Flags, Floats, fit_logistic, held_out_area, weigh_counts
from toolbelt.findings import Finding

FOLDS = 5
STEPS = 2 * FOLDS + 1
MOST_QUERIES = 1000
"""Queries of each side that are used."""
FEWEST_QUERIES = 20
LONGEST_GRAM = 4
PENALTY = 0.1
"""Of the sum of squared weights, halved."""
MOST_MARKS = 8
_LONGEST_QUERY = 500
"""Characters of a query that are used; what is longer is mostly pasted."""
_LEAST_DIFFERENCE = 0.03
"""Between the shares of either side with an n-gram, for it to be listed."""
NAME, START, END = "¤", "‹", "›"
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_NAME = re.compile(
    r"https?://\S+"
    r"|(?<!\w)[~.$@#]?[\w-]*(?:[/\\_@#=:.~$][\w-]+)+[/()]*"  # signs within: paths, files, ids, hosts, assignments
    r"|(?<![\w-])[\w-]*(?:\d[^\W\d_]|[^\W\d_]-?\d|[a-z][A-Z])[\w-]*"  # digits within, or humps
)
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_INNER_CAPITAL = re.compile(rf"(?<!{START})(?<![.!?] )\bX\b")
"""Of a name, mostly, which belongs to the subject."""


class Query(NamedTuple):
    """A query and the cluster of its case."""

    text: str
    cluster: str


@dataclass(frozen=True)
class Area:
    """An area under the ROC curve with its 95% interval (`statistics.intervals.area_interval`, over clusters)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Mark:
    """An n-gram that speaks for a side; `‹` and `›` are the ends of a query.

    Attributes:
        text: Up to `LONGEST_GRAM` characters.
        share: Of the queries of that side with it.
        other_share: Of those of the other side.
    """

    text: str
    share: float
    other_share: float


@dataclass(frozen=True)
class Separation:
    """How well the queries of a dataset are separated from those of a reference.

    Attributes:
        reference: As the user wrote it.
        queries: Used of either side.
        of: Different ones in the dataset.
        reference_of: Different ones in the reference.
        words: The area with words, only names and numbers masked.
        style: The area with all but the commonest words masked, too.
        marks: By `style`, the n-grams that speak most for the dataset.
        reference_marks: Those that speak most for the reference.
    """

    reference: str
    queries: int
    of: int
    reference_of: int
    words: Area
    style: Area
    marks: tuple[Mark, ...]
    reference_marks: tuple[Mark, ...]


def queries_of(dataset: Dataset) -> list[Query]:
    """The query of every case."""
    cases = map(dataset.case, range(len(dataset)))
    return [Query(case.query, case.cluster) for case in cases]


def read_queries(reference: str) -> list[Query]:
    """The queries of a shipped dataset, a folder, a file of cases, or a JSON file with a list of objects with `query`.

    Raises:
        NotFoundError: there is no such dataset or file.
        InvalidFileError: it cannot be read.
        ToolbeltError: it has no queries.
    """
    findings: list[Finding] = []
    source = find_dataset(reference).source
    with open_lines(source) as handle:
        records = [record.data for record in SourceFile(source, Path(source), handle).records(findings.extend)]
    if findings:
        raise InvalidFileError(findings)
    if len(records) == 1 and isinstance(records[0], Mapping) and "query" not in records[0]:
        records += next((each for each in records[0].values() if isinstance(each, list)), ())
    queries = [query for number, record in enumerate(records) if (query := _query(record, number)).text]
    if not queries:
        raise ToolbeltError(f"There is no `query` in {reference}: name a dataset, a file of cases, or a JSON list.")
    return queries


def _query(record: Any, number: int) -> Query:
    if not isinstance(record, Mapping):
        return Query("", "")
    messages = record.get("messages")
    case = Case("", tuple(each for each in messages if isinstance(each, Mapping)), None) if messages else None
    text = record.get("query") or (case.query if case else "")
    return Query(text if isinstance(text, str) else "", str(record.get("cluster") or record.get("id") or number))


def measure_separation(
    queries: Sequence[Query], reference: str, others: Sequence[Query], seed: int, progress: Callable[[], None]
) -> Separation:
    """How well the queries are separated from others; the same for the same seed.

    Args:
        queries: Of the dataset.
        reference: The name of the others.
        others: Their queries.
        seed: Of the draw and of the folds.
        progress: Called `STEPS` times.

    Raises:
        ToolbeltError: a side has fewer than `FEWEST_QUERIES` different queries.
    """
    sides = [_distinct(side) for side in (queries, others)]
    for side, name in zip(sides, ("the dataset", reference), strict=True):
        if len(side) < FEWEST_QUERIES:
            message = f"At least {FEWEST_QUERIES} different queries are needed of each side; of {name} there are"
            raise ToolbeltError(f"{message} {len(side):,}.")
    rng = random.Random(seed)  # noqa: S311  a draw that can be repeated
    size = min(*map(len, sides), MOST_QUERIES)
    drawn = [query for side in sides for query in rng.sample(sorted(side.items()), size)]
    is_own = np.repeat([True, False], size)
    clusters = _clusters(drawn, size)
    folds = np.array(_folds(clusters, size, rng))
    counts = (len(set(clusters[:size])), len(set(clusters[size:])))
    areas = []
    for mask in (mask_names, mask_subject):
        features = weigh_counts([_grams(mask(text)) for text, _ in drawn])
        value = held_out_area(features.rows, is_own, folds, PENALTY, progress)
        areas.append(Area(value, *area_interval(value, *counts)))
    weights = fit_logistic(features.rows, is_own, PENALTY)
    progress()
    words, style = areas
    marks = tuple(_marks(features, weights, is_own))
    reference_marks = tuple(_marks(features, -weights, ~is_own))
    return Separation(reference, size, len(sides[0]), len(sides[1]), words, style, marks, reference_marks)


def mask_names(text: str) -> str:
    """A query with `¤` for code, paths, addresses and names with signs or digits, and `0` for each number."""
    text = _NUMBER.sub("0", _NAME.sub(NAME, _CODE.sub(NAME, text[:_LONGEST_QUERY])))
    return f"{START}{' '.join(text.split())}{END}"


def mask_subject(text: str) -> str:
    """As `mask_names`, with `x` for all but the commonest English words, or `X` for a capital after a full stop."""
    return _INNER_CAPITAL.sub("x", _WORD.sub(_mask_word, mask_names(text)))


def _mask_word(match: re.Match[str]) -> str:
    word = match.group()
    if word.lower() in STOP_WORDS:
        return word
    return "X" if word[0].isupper() else "x"


def _distinct(queries: Iterable[Query]) -> dict[str, str]:
    """The cluster of each text; the same text in other capitals or with other blanks comes once."""
    texts: dict[str, Query] = {}
    for query in queries:
        if key := " ".join(query.text.casefold().split()):
            texts.setdefault(key, query)
    return {query.text: query.cluster for query in texts.values()}


def _clusters(drawn: Sequence[tuple[str, str]], size: int) -> list[str]:
    """A cluster for each query; a text of both sides has one for both, so that both are held out together."""
    by_text: dict[str, str] = {}
    for number, (text, cluster) in enumerate(drawn):
        by_text.setdefault(text.casefold(), f"{number >= size} {cluster}")
    return [by_text[text.casefold()] for text, _ in drawn]


def _folds(clusters: Sequence[str], size: int, rng: random.Random) -> list[int]:
    """Folds of nearly equal size on either side, which keep clusters together."""
    members: dict[str, Counter[bool]] = {}
    for number, cluster in enumerate(clusters):
        members.setdefault(cluster, Counter())[number < size] += 1
    order = sorted(members)
    rng.shuffle(order)
    order.sort(key=lambda cluster: -members[cluster].total())
    filled = [Counter[bool]() for _ in range(FOLDS)]
    fold_of = {}
    for cluster in order:
        fold = min(range(FOLDS), key=lambda each: sum(filled[each][side] for side in members[cluster]))
        fold_of[cluster] = fold
        filled[fold].update(members[cluster])
    return [fold_of[cluster] for cluster in clusters]


def _grams(text: str) -> Counter[str]:
    return Counter(text[i : i + n] for n in range(1, LONGEST_GRAM + 1) for i in range(len(text) - n + 1))


def _marks(features: Features, weights: Floats, is_side: Flags) -> Iterator[Mark]:
    """The n-grams with the greatest weights, none of which is a part of another."""
    occurs = features.rows > 0
    here, there = (np.asarray(occurs[side].sum(axis=0)).ravel() / side.sum() for side in (is_side, ~is_side))
    chosen: list[str] = []
    for column in np.argsort(-weights[:-1], kind="stable"):
        text = features.names[column]
        if here[column] - there[column] >= _LEAST_DIFFERENCE and not any(
            text in mark or mark in text for mark in chosen
        ):
            chosen.append(text)
            yield Mark(text, float(here[column]), float(there[column]))
        if len(chosen) == MOST_MARKS:
            return
