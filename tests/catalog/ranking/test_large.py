"""Rule S2: indexes of large catalogs, which give what those of small ones give, and can be stored."""

from __future__ import annotations

import hashlib
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.bm25 import Bm25
from toolbelt.catalog.ranking.large import VERSION, build_index, hash_content, make_index, read_index
from toolbelt.catalog.ranking.terms import read_query, read_tool
from toolbelt.catalog.ranking.words import LARGE, WordsIndex, WordsRanker

WORDS = st.sampled_from(["file", "files", "getFile", "read", "reading", "banana", "mail", "größe", "天气预报", "get"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
TOOLS = st.lists(
    st.builds(
        lambda name, text, argument: Tool(
            name, text, {"properties": {argument: {"description": text[:9]}}}, plugin="box"
        ),
        st.lists(WORDS, min_size=1, max_size=3).map("_".join),
        TEXTS,
        WORDS,
    ),
    max_size=9,
)
SAMPLE = [
    Tool("read_file", "Reads a file from disk.", {"properties": {"filePath": {"description": "Where it is"}}}),
    Tool("send_mail", "Sends an e-mail; reading is something else."),
    Tool("wetter", "天气预报 für jede Größe"),
]


def small(tools: list[Tool], with_plugin: bool = False) -> Bm25:
    documents = [read_tool(tool, with_plugin) for tool in tools]
    return Bm25([each.counts for each in documents], [each.length for each in documents])


@given(TOOLS, st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 10), st.booleans(), st.data())
def test_S2_a_large_index_gives_the_scores_and_the_order_of_a_small_one(
    tools: list[Tool], queries: list[str], k: int, with_plugin: bool, data: st.DataObject
) -> None:
    index, reference = build_index(tools, with_plugin), small(tools, with_plugin)
    positions = data.draw(st.lists(st.sampled_from(range(len(tools))), unique=True).map(sorted)) if tools else []
    for query in map(read_query, (*queries, queries[0])):
        assert index.scores(query).tolist() == reference.scores(query)
        assert index.find_best(query, k) == reference.find_best(query, k)
        assert index.within(positions).find_best(query, k) == reference.within(positions).find_best(query, k)


@given(TOOLS.filter(bool), TEXTS)
def test_S2_what_is_stored_is_read_again(tools: list[Tool], text: str) -> None:
    index = build_index(tools)
    stored = read_index(index.to_bytes(), len(tools))
    assert stored is not None
    assert stored.find_best(read_query(text), 9) == index.find_best(read_query(text), 9)


@given(st.data())
def test_S2_what_is_damaged_is_not_read(data: st.DataObject) -> None:
    index = build_index(SAMPLE)
    content = bytearray(index.to_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    read = read_index(bytes(content), len(SAMPLE))
    # A byte that means nothing, such as one of a date, may change.
    assert read is None or read.to_bytes() == index.to_bytes()


def _with(**changes: object) -> bytes:
    with np.load(io.BytesIO(build_index(SAMPLE).to_bytes())) as arrays:
        content = {**arrays, **changes}
    buffer = io.BytesIO()
    np.savez(buffer, **{name: value for name, value in content.items() if value is not None})
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{}", id="text"),
        pytest.param(pickle.dumps([1]), id="pickle"),
        pytest.param(_with(lengths=np.array([object()])), id="pickle-within"),
        pytest.param(_with(lengths=None), id="an-array-is-missing"),
        pytest.param(_with(lengths=np.ones(2)), id="another-number-of-tools"),
        pytest.param(_with(lengths=np.full(3, -1.0)), id="negative-lengths"),
        pytest.param(_with(lengths=np.full(3, np.nan)), id="lengths-that-are-no-numbers"),
        pytest.param(_with(tokens=np.array([255], np.uint8)), id="no-text"),
        pytest.param(_with(tokens=np.frombuffer(b"a\nb", np.uint8)), id="too-few-tokens"),
        pytest.param(_with(word_documents_indices=np.full(1000, 9, np.int32)), id="indices-out-of-range"),
        pytest.param(_with(token_words_indptr=np.array([0, 10**9])), id="pointers-out-of-range"),
    ],
)
def test_S2_foreign_bytes_are_no_index(data: bytes) -> None:
    assert read_index(data, len(SAMPLE)) is None


def test_S2_an_index_is_found_by_what_is_in_it() -> None:
    keys = {
        hash_content(SAMPLE),
        hash_content(SAMPLE, with_plugin=True),
        hash_content(SAMPLE[::-1]),
        hash_content(SAMPLE[:2]),
        hash_content([*SAMPLE[:2], Tool("wetter", "天气预报")]),
        hash_content([*SAMPLE[:2], Tool("wetter 天气预报 für jede Größe")]),
        hash_content([]),
        hash_content([Tool("f", "\ud800")]),  # which no JSON can hold
        hash_content([Tool("f", "\ud801")]),
    }
    assert len(keys) == 9
    assert hash_content([Tool(tool.name, tool.description, tool.parameters, id="x") for tool in SAMPLE]) in keys


def test_S2_the_version_changes_with_what_is_stored() -> None:
    stored = build_index(SAMPLE).to_bytes()
    with np.load(io.BytesIO(stored)) as arrays:
        digest = hashlib.sha256(b"".join(arrays[name].astype(float).tobytes() for name in sorted(arrays))).hexdigest()
    # If this fails: words, tokens or weights of a tool have changed. Raise VERSION, and put the new digest here.
    assert (VERSION, digest[:16]) == (1, "d416f30c68f773a2")


class Memory(dict[str, bytes]):
    """A store in memory."""

    def read(self, key: str) -> bytes | None:
        return self.get(key)

    def write(self, key: str, data: bytes) -> None:
        self[key] = data


def test_S2_an_index_is_built_once_for_the_same_tools() -> None:
    store = Memory()
    first = make_index(SAMPLE, store=store)
    (key,) = store
    changed = build_index(SAMPLE[:1] * 3)
    store[key] = changed.to_bytes()
    query = read_query("mail")
    assert first.find_best(query, 3) != make_index(SAMPLE, store=store).find_best(query, 3) == []
    store[key] = b"damaged"
    assert make_index(SAMPLE, store=store).find_best(query, 3) == first.find_best(query, 3)
    assert read_index(store[key], 3) is not None


def test_S2_large_catalogs_are_ranked_as_small_ones() -> None:
    tools = [Tool("read", f"Reads file {number % 7} of {number % 11}", id=str(number)) for number in range(LARGE)]
    store = Memory()
    index, few = WordsRanker(store).index(tools), [str(number) for number in range(50)]
    assert len(store) == 1
    assert [hit.tool.id for hit in index.search("file 3 of 9", 3)] == ["31", "108", "185"]
    assert [hit.matched for hit in index.search("file 3 of 9", 1)] == [
        hit.matched for hit in WordsIndex(tools[31:32]).search("file 3 of 9", 1)
    ]
    assert index.within(few).search("file 3 of 9", 9) == WordsIndex(tools[:50]).search("file 3 of 9", 9)
    assert index.within([tool.id for tool in tools]).rank("file 3", 9) == index.rank("file 3", 9)
    assert index.find_similar(tools[5], 1) == [5]
    assert index.search("zzz", 5) == () == index.search("file", 0)
