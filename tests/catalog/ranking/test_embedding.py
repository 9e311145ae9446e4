"""Rule S2: ranking by vectors."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.replies import vector_of
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.embedding import MAX_TEXT_CHARS, EmbeddingRanker, write_text
from toolbelt.catalog.ranking.ranker import prepare_texts
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.errors import ToolbeltError

TO = {"type": "object", "properties": {"receiver": {"type": "string", "description": "Who gets it."}}}
TOOLS = (
    Tool("send_mail", "Sends a message", TO),
    Tool("read_file", "Reads a file"),
    Tool("read_mail", "Reads a message"),
    Tool("copy_mail", "Reads a message", id="other"),
)


class Vectors:
    """Makes vectors here, and says what it was asked."""

    model = "m"

    def __init__(self, size: int = 256) -> None:
        self.asked: list[tuple[tuple[str, ...], str]] = []
        self.size = size

    def get(self, texts: Sequence[str], what: str = "") -> list[array[float]]:
        self.asked.append((tuple(texts), what))
        return [array("f", vector_of(text, self.size)) for text in texts]


@pytest.mark.parametrize(
    ("text", "k", "found"),
    [
        pytest.param("read a message", 2, ["read_mail", "other"], id="equals-in-their-order"),
        pytest.param("receiver", 1, ["send_mail"], id="names-of-arguments-count"),
        pytest.param("who gets", 1, ["send_mail"], id="descriptions-of-arguments-count"),
        pytest.param("a file", 9, ["read_file", "read_mail", "other", "send_mail"], id="no-more-than-there-are"),
        pytest.param("  \n", 5, [], id="a-text-without-words-finds-nothing"),
        pytest.param("mail", 0, [], id="none-wanted"),
    ],
)
def test_S2_the_nearest_tools_come_first(text: str, k: int, found: list[str]) -> None:
    hits = EmbeddingRanker(Vectors()).index(TOOLS).search(text, k)
    ids = [hit.tool.id for hit in hits]
    assert sorted(ids) == sorted(found) if k == 9 else ids == found
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_S2_the_score_is_the_cosine() -> None:
    text, tool = "read one message", TOOLS[2]
    (hit,) = EmbeddingRanker(Vectors()).index([tool]).search(text, 1)
    a, b = np.array(vector_of(text)), np.array(vector_of(write_text(tool)))
    assert hit.score == pytest.approx(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), abs=1e-5)
    assert EmbeddingRanker(Vectors()).index([tool]).search(write_text(tool), 1)[0].score == pytest.approx(1)


@given(members=st.sets(st.sampled_from([*(tool.id for tool in TOOLS), "unknown"])), text=st.text(max_size=20))
def test_S2_a_part_is_searched_as_if_it_were_all_and_no_vector_is_made_again(members: set[str], text: str) -> None:
    vectors = Vectors()
    index = EmbeddingRanker(vectors).index(TOOLS)
    part = index.within(members)
    vectors.asked.clear()
    found = part.search(text, 3)
    assert [what for _, what in vectors.asked if what] == []
    alone = EmbeddingRanker(vectors).index([tool for tool in TOOLS if tool.id in members])
    assert found == alone.search(text, 3)
    assert part.within([tool.id for tool in TOOLS]).search(text, 3) == found


def test_S2_a_text_is_asked_for_once_and_tools_all_together() -> None:
    vectors = Vectors()
    ranker = EmbeddingRanker(vectors)
    index = ranker.index(TOOLS)
    for _ in range(3):
        index.search("mail", 1)
    assert vectors.asked == [(tuple(map(write_text, TOOLS)), "4 tools"), (("mail",), "")]


def test_S2_texts_can_be_made_ready_together() -> None:
    vectors = Vectors()
    ranker = EmbeddingRanker(vectors)
    prepare_texts(ranker, ["b ", "a", " ", "b"])
    prepare_texts(WordsRanker(), ["a"])
    assert vectors.asked == [(("b", "a"), "texts to search for")]


def test_S2_only_the_beginning_of_a_long_text_counts() -> None:
    vectors = Vectors()
    long = Tool("long", "word " * 10_000)
    index = EmbeddingRanker(vectors).index([long])
    index.search("x" * 10_000, 1)
    assert [len(text) for texts, _ in vectors.asked for text in texts] == [MAX_TEXT_CHARS - 1, MAX_TEXT_CHARS]


def test_S2_an_index_of_nothing_finds_nothing_and_asks_nobody() -> None:
    vectors = Vectors()
    assert EmbeddingRanker(vectors).index([]).search("mail", 5) == ()
    assert vectors.asked == []


def test_S2_vectors_of_another_length_are_those_of_another_model() -> None:
    vectors = Vectors()
    index = EmbeddingRanker(vectors).index(TOOLS)
    vectors.size = 64
    with pytest.raises(ToolbeltError, match=r"vectors\.sqlite3"):
        index.search("mail", 1)
