"""BM25, held against bm25s."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from toolbelt.catalog import Catalog
from toolbelt.catalog.ranking.bm25 import K1, B, Bm25
from toolbelt.catalog.ranking.text import split_words

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=9).map(Counter), max_size=8)
QUERIES = st.dictionaries(st.sampled_from("abcdz"), st.sampled_from([0.5, 1.0, 2.0]), max_size=4)


@settings(deadline=None)
@given(DOCUMENTS, st.lists(st.sampled_from("abcdz"), unique=True, max_size=4))
def test_scores_are_those_of_bm25s(documents: list[Counter[str]], query: list[str]) -> None:
    import bm25s

    known = {word for document in documents for word in document}
    asked = [word for word in query if word in known]
    scores = Bm25(documents).scores(dict.fromkeys(query, 1.0))
    if not asked:
        assert not any(scores)
        return
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index([list(document.elements()) for document in documents], show_progress=False)
    assert scores == pytest.approx(reference.get_scores(asked).tolist(), rel=1e-4, abs=1e-6)


@given(DOCUMENTS, QUERIES, st.integers(0, 10))
def test_the_rank_is_by_score_then_by_position(documents: list[Counter[str]], query: dict[str, float], k: int) -> None:
    index = Bm25(documents)
    scores = index.scores(query)
    ranked = [position for position, _ in index.find_best(query, k)]
    assert ranked == sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))[:k]
    assert all(score >= 0 for score in scores)
    assert len(scores) == len(index) == len(documents)


@given(DOCUMENTS, QUERIES)
def test_an_index_that_is_asked_often_gives_the_same_scores(
    documents: list[Counter[str]], query: dict[str, float]
) -> None:
    index = Bm25(documents)
    counts = [index.count(token) for token in query]
    assert len({tuple(index.scores(query)) for _ in range(20)}) == 1
    assert [index.count(token) for token in query] == counts


@given(DOCUMENTS, QUERIES, st.data())
def test_a_part_gives_the_scores_of_an_index_of_its_own(
    documents: list[Counter[str]], query: dict[str, float], data: st.DataObject
) -> None:
    index = Bm25(documents)
    positions = (
        data.draw(st.lists(st.sampled_from(range(len(documents))), unique=True).map(sorted)) if documents else []
    )
    half = range(len(positions) // 2)
    alone = Bm25([documents[position] for position in positions])
    for _ in range(20):
        part = index.within(positions)
        assert part.scores(query) == alone.scores(query)
        assert part.within(half).scores(query) == alone.within(half).scores(query)


def test_a_token_weighs_what_the_query_says() -> None:
    index = Bm25([{"a": 1.0}, {"b": 2.0}])
    assert index.scores({"a": 3.0, "b": 1.0})[0] == pytest.approx(3 * index.scores({"a": 1.0})[0])


@needs_shared_data
def test_the_ranking_of_a_real_catalog_is_that_of_bm25s() -> None:
    import bm25s

    catalog = Catalog.read(SHARED_DATA / "livemcpbench" / "catalog.jsonl")
    documents = [split_words(f"{tool.name} {tool.description}") for tool in catalog.tools]
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index(documents, show_progress=False)
    index = Bm25([Counter(document) for document in documents])
    for query in ("search for recent papers", "搜索新闻", "extract the text of a PDF file", "stock price of a company"):
        words = {word: 1.0 for word in split_words(query) if index.count(word)}
        assert index.scores(words) == pytest.approx(reference.get_scores(list(words)).tolist(), rel=1e-4, abs=1e-6)
        assert index.find_best(words, 5)
