"""How the weights of `toolbelt.catalog.ranking.terms` were chosen; run it to see the figures again.

    python -m tests.benchmarks.tune_words DATA        # DATA has metatool/, bfcl/ and seal_tools/

It changes one weight at a time and prints recall@1 and recall@5, in percent, over the whole catalog of each set: 2,000
cases each, drawn by a seed. No set that is reported is read.

A trial that is not kept here found no setting that is better throughout. Of 27 (one weight, a power of the inverse
frequency, lengths by field, numbers and repeats in queries, synonyms, a bonus for the share of a name in the query),
the best of two sets was tried on the third, by the paired bootstrap. At recall@1 that gained nothing beyond chance,
and lost 1.6 points on BFCL and 1.1 on the long descriptions of MetaTool. At recall@5 it chose the bonus for names:
0.8 points more on Seal-Tools and 2.2 on the cases of MetaTool with two tools, 1.1 less on BFCL's cases of real users.

This program gave, on 2026-11-24:

                                                                metatool          bfcl    seal_tools
    as it is                                                  40.3  61.3    65.4  83.5    45.9  90.1
    NAME_WEIGHT 1                                             39.9  60.8    65.5  83.9    45.9  89.8
    NAME_WEIGHT 3                                             40.1  61.5    65.1  83.1    45.9  89.9
    ARGUMENT_NAME_WEIGHT 0, ARGUMENT_DESCRIPTION_WEIGHT 0     40.3  61.3    54.5  72.7    42.6  84.8
    ARGUMENT_NAME_WEIGHT 1, ARGUMENT_DESCRIPTION_WEIGHT 1     40.3  61.3    64.4  84.2    46.0  89.1
    FORM_WEIGHT 0                                             40.0  62.0    64.9  83.2    45.9  89.4
    FORM_WEIGHT 1                                             39.9  60.7    65.2  83.1    45.9  90.3
    WEAK_WEIGHT 0                                             40.5  61.2    65.1  83.6    46.0  89.8
    WEAK_WEIGHT 1                                             39.4  61.2    65.2  83.5    45.9  90.0
    PART_WEIGHT 0                                             39.6  59.4    63.1  83.0    45.9  89.8
    PART_WEIGHT 0.3                                           39.9  61.8    65.5  84.1    45.9  89.4
    PART_CHARS 3                                              40.3  61.8    64.9  83.3    45.9  89.7
    PART_CHARS 5                                              39.7  60.8    65.0  83.3    45.8  90.1
    WHOLE_NAME_WEIGHT 0                                       40.3  61.3    65.3  83.4    45.9  90.1
    WHOLE_NAME_WEIGHT 8                                       40.3  61.3    65.1  83.5    45.9  90.1
    B 0.5                                                     40.2  62.0    66.5  83.6    45.9  89.3
    B 1                                                       39.9  60.4    63.9  82.9    46.0  90.1
    K1 1                                                      39.5  61.7    65.7  84.2    46.0  89.3
    K1 2.5                                                    41.1  61.0    63.7  82.6    46.0  90.5
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.catalog.ranking import bm25, terms
from toolbelt.catalog.ranking.words import WordsIndex

SETS = ("metatool", "bfcl", "seal_tools")
CASES = 2_000
CHANGES: tuple[dict[str, float], ...] = (
    {},
    {"NAME_WEIGHT": 1.0},
    {"NAME_WEIGHT": 3.0},
    {"ARGUMENT_NAME_WEIGHT": 0.0, "ARGUMENT_DESCRIPTION_WEIGHT": 0.0},
    {"ARGUMENT_NAME_WEIGHT": 1.0, "ARGUMENT_DESCRIPTION_WEIGHT": 1.0},
    {"FORM_WEIGHT": 0.0},
    {"FORM_WEIGHT": 1.0},
    {"WEAK_WEIGHT": 0.0},
    {"WEAK_WEIGHT": 1.0},
    {"PART_WEIGHT": 0.0},
    {"PART_WEIGHT": 0.3},
    {"PART_CHARS": 3},
    {"PART_CHARS": 5},
    {"WHOLE_NAME_WEIGHT": 0.0},
    {"WHOLE_NAME_WEIGHT": 8.0},
    {"B": 0.5},
    {"B": 1.0},
    {"K1": 1.0},
    {"K1": 2.5},
)


def read_cases(folder: Path) -> tuple[Catalog, list[tuple[str, frozenset[str]]]]:
    """The catalog, and the query and right names of each case that needs tools."""
    lines = map(json.loads, (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines())
    cases = [(line["query"], frozenset(line["expected"])) for line in lines if line["expected"]]
    return Catalog.read(folder / "catalog.jsonl"), random.Random(0).sample(cases, min(CASES, len(cases)))


@contextmanager
def changed(weights: dict[str, float]) -> Iterator[None]:
    """With other weights."""
    homes = [(bm25 if name in ("K1", "B") else terms, name, value) for name, value in weights.items()]
    before = [getattr(module, name) for module, name, _ in homes]
    caches = (terms.read_tool, terms.read_query, terms._tokens, terms._weigh_word)
    for module, name, value in homes:
        setattr(module, name, value)
    for cache in caches:
        cache.cache_clear()
    yield
    for (module, name, _), value in zip(homes, before, strict=True):
        setattr(module, name, value)
    for cache in caches:
        cache.cache_clear()


def measure(catalog: Catalog, cases: list[tuple[str, frozenset[str]]]) -> tuple[float, float]:
    """Recall@1 and recall@5, in percent."""
    index = WordsIndex(catalog.tools)
    totals = [0.0, 0.0]
    for query, right in cases:
        names = [catalog.tools[position].name for position in index.rank(query, 5)]
        for number, k in enumerate((1, 5)):
            totals[number] += len(right.intersection(names[:k])) / len(right)
    return 100 * totals[0] / len(cases), 100 * totals[1] / len(cases)


def main(data: Path) -> None:
    """Print a line for each change."""
    sets = [read_cases(data / name) for name in SETS]
    print(f"{'':54}{''.join(f'{name:>14}' for name in SETS)}")
    for weights in CHANGES:
        label = ", ".join(f"{name} {value:g}" for name, value in weights.items()) or "as it is"
        with changed(weights):
            shares = [measure(catalog, cases) for catalog, cases in sets]
        print(f"{label:54}{''.join(f'{first:8.1f} {fifth:5.1f}' for first, fifth in shares)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
