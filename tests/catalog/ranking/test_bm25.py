"""BM25, held against bm25s."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from toolbelt.catalog import Catalog
from toolbelt.catalog.ranking.bm25 import K1, B, Bm25
from toolbelt.catalog.ranking.text import search_words, tool_text

TEXTS = st.lists(st.text(alphabet="abcd eé中文字ー ,.", max_size=30), max_size=8)


@settings(deadline=None)
@given(TEXTS, st.text(alphabet="abcd e中文字", max_size=20))
def test_scores_are_those_of_bm25s(texts: list[str], query: str) -> None:
    import bm25s

    documents = [search_words(text) for text in texts]
    known = {word for document in documents for word in document}
    asked = [word for word in search_words(query) if word in known]
    if not known or not asked:
        assert not any(Bm25(texts).scores(query))
        return
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index(documents, show_progress=False)
    assert Bm25(texts).scores(query) == pytest.approx(reference.get_scores(asked).tolist(), rel=1e-4, abs=1e-6)


@given(TEXTS, st.text(alphabet="abcd e中文字", max_size=20), st.integers(0, 10))
def test_the_rank_is_by_score_then_by_position(texts: list[str], query: str, k: int) -> None:
    index = Bm25(texts)
    scores = index.scores(query)
    ranked = index.rank(query, k)
    assert ranked == sorted((i for i in range(len(texts)) if scores[i] > 0), key=lambda i: (-scores[i], i))[:k]
    assert all(score >= 0 for score in scores)
    assert len(scores) == len(index) == len(texts)


def test_counted_words_do_as_well_as_texts() -> None:
    texts = ["read a file", "write files to disk", "the weather"]
    counted = Bm25([Counter(search_words(text)) for text in texts])
    assert counted.scores("files on disk") == Bm25(texts).scores("files on disk")


@pytest.mark.parametrize("query", ["", "the of and", "!!!", "zzz"])
def test_nothing_in_common_ranks_nothing(query: str) -> None:
    assert Bm25(["read files", "send mail"]).rank(query, 5) == []


@needs_shared_data
def test_the_ranking_of_a_real_catalog_is_that_of_bm25s() -> None:
    import bm25s

    catalog = Catalog.read(SHARED_DATA / "livemcpbench" / "catalog.jsonl")
    texts = [tool_text(tool) for tool in catalog.tools]
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index([search_words(text) for text in texts], show_progress=False)
    index = Bm25(texts)
    for query in ("search for recent papers", "搜索新闻", "extract the text of a PDF file", "stock price of a company"):
        asked = [word for word in search_words(query) if index.scores_of([word]) != [0.0] * len(index)]
        assert index.scores(query) == pytest.approx(reference.get_scores(asked).tolist(), rel=1e-4, abs=1e-6)
        assert index.rank(query, 5)
