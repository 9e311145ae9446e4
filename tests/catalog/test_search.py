"""Ranking by words, held against bm25s."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.search import K1, B, ToolIndex, search_words, split_name, tool_text

TEXTS = st.lists(st.text(alphabet="abcd eé中文字ー ,.", max_size=30), max_size=8)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("git_status", "git status", id="underscores"),
        pytest.param("get-file", "get file", id="hyphens"),
        pytest.param("getUserName", "get User Name", id="humps"),
        pytest.param("getHTTPStatus", "get HTTP Status", id="capitals-then-a-word"),
        pytest.param("plain", "plain", id="plain"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_name_is_split_into_words(name: str, words: str) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    "forms",
    [
        "create creates created creating creation",
        "search searches searched searching",
        "file files",
        "query queries querying",
        "copy copies copied copying",
        "run runs running",
        "plan planned planning",
        "calculate calculation calculations calculator",
        "delete deleted deletion",
        "convert converting conversion",
        "address addresses",
        "Café CAFE café",
        "Straße STRASSE",
    ],
)
def test_forms_of_a_word_are_one_word(forms: str) -> None:
    assert len(set(search_words(forms))) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("news", "new"), ("string", "stre"), ("thing", "th"), ("status", "statu"), ("version", "vert")]
)
def test_different_words_stay_different(one: str, other: str) -> None:
    assert search_words(one) != search_words(other)


def test_stop_words_say_nothing() -> None:
    assert search_words("Could you please help me with the") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("北京天气", ["北京", "京天", "天气"], id="chinese-in-pairs"),
        pytest.param("中", ["中"], id="a-single-one"),
        pytest.param("カタカナ", ["カタ", "タカ", "カナ"], id="japanese"),
        pytest.param("ガ", ["ガ"], id="its-marks-stay"),
        pytest.param("한국어", ["한국", "국어"], id="korean"),
        pytest.param("打开JSON文件", ["打开", "json", "文件"], id="mixed"),
        pytest.param("Ｆｕｌｌ", ["full"], id="full-width-is-plain"),
    ],
)
def test_text_without_blanks_is_cut_into_pairs(text: str, words: list[str]) -> None:
    assert search_words(text) == words


def test_a_tool_is_found_by_name_description_and_parameters() -> None:
    parameters = {"properties": {"cityName": {"description": "Where to look"}, "odd": 3}}
    words = search_words(tool_text(Tool("getForecast", "Tells the weather.", parameters)))
    assert {"forecast", "weather", "city", "look", "odd"} <= set(words)
    assert words.count("forecast") == 2


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": [1]}, {"properties": {"a": {"description": 1}}}]
)
def test_a_broken_schema_is_no_obstacle(schema: dict[str, object]) -> None:
    assert "weather" in search_words(tool_text(Tool("weather", "", schema)))


@settings(deadline=None)
@given(TEXTS, st.text(alphabet="abcd e中文字", max_size=20))
def test_scores_are_those_of_bm25s(texts: list[str], query: str) -> None:
    import bm25s

    documents = [search_words(text) for text in texts]
    known = {word for document in documents for word in document}
    asked = [word for word in search_words(query) if word in known]
    if not known or not asked:
        assert not any(ToolIndex(texts).scores(query))
        return
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index(documents, show_progress=False)
    assert ToolIndex(texts).scores(query) == pytest.approx(reference.get_scores(asked).tolist(), rel=1e-4, abs=1e-6)


@given(TEXTS, st.text(alphabet="abcd e中文字", max_size=20), st.integers(0, 10))
def test_the_rank_is_by_score_then_by_position(texts: list[str], query: str, k: int) -> None:
    index = ToolIndex(texts)
    scores = index.scores(query)
    ranked = index.rank(query, k)
    assert ranked == sorted((i for i in range(len(texts)) if scores[i] > 0), key=lambda i: (-scores[i], i))[:k]
    assert all(score >= 0 for score in scores)
    assert len(scores) == len(index) == len(texts)


def test_counted_words_do_as_well_as_texts() -> None:
    texts = ["read a file", "write files to disk", "the weather"]
    counted = ToolIndex([Counter(search_words(text)) for text in texts])
    assert counted.scores("files on disk") == ToolIndex(texts).scores("files on disk")


@pytest.mark.parametrize("query", ["", "the of and", "!!!", "zzz"])
def test_nothing_in_common_ranks_nothing(query: str) -> None:
    assert ToolIndex(["read files", "send mail"]).rank(query, 5) == []


@needs_shared_data
def test_the_ranking_of_a_real_catalog_is_that_of_bm25s() -> None:
    import bm25s

    catalog = Catalog.read(SHARED_DATA / "livemcpbench" / "catalog.jsonl")
    texts = [tool_text(tool) for tool in catalog.tools]
    reference = bm25s.BM25(method="lucene", k1=K1, b=B)
    reference.index([search_words(text) for text in texts], show_progress=False)
    index = ToolIndex(texts)
    for query in ("search for recent papers", "搜索新闻", "extract the text of a PDF file", "stock price of a company"):
        asked = [word for word in search_words(query) if index.scores_of([word]) != [0.0] * len(index)]
        assert index.scores(query) == pytest.approx(reference.get_scores(asked).tolist(), rel=1e-4, abs=1e-6)
        assert index.rank(query, 5)


def test_the_catalog_does_not_pay_for_the_search() -> None:
    said = "import sys, toolbelt.catalog; print('toolbelt.catalog.search' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    said = "import sys, toolbelt.catalog.search; print({'numpy', 'bm25s'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
