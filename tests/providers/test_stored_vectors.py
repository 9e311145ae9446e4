"""Rule S2: vectors are computed once, and kept by content and model."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.servers.replies import vector_of
from tests.servers.running import OpenAIServer
from toolbelt.errors import ToolbeltError
from toolbelt.providers.chat import NotStoredError
from toolbelt.providers.embeddings import EmbeddingError, EmbeddingOptions
from toolbelt.providers.stored_vectors import FILE_NAME, StoredVectors
from toolbelt.reporter import Advance, Reporter

TEXTS = ["send a mail", "read a file", "é 漢 😀"]


class Heard(Reporter):
    """What a user reads."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.steps: list[int] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Advance]:
        assert total is not None
        yield self.steps.append


@pytest.fixture
def server(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.reset()
    return openai_server


def open_vectors(
    server: OpenAIServer, folder: Path, model: str = "embedder", *, is_offline: bool = False
) -> StoredVectors:
    options = EmbeddingOptions(server.url, 10.0, is_offline=is_offline)
    return StoredVectors(f"openai/{model}", options, folder)


def as_lists(vectors: Sequence[Sequence[float]]) -> list[list[float]]:
    return [list(vector) for vector in vectors]


def test_S2_a_text_is_asked_for_once_by_model(server: OpenAIServer, tmp_path: Path) -> None:
    right = [vector_of(text) for text in TEXTS]
    assert as_lists(open_vectors(server, tmp_path).get(TEXTS)) == right
    again = open_vectors(server, tmp_path).get([TEXTS[2], TEXTS[0], TEXTS[2]])
    assert as_lists(again) == [right[2], right[0], right[2]]
    assert server.count("embedder") == 1
    open_vectors(server, tmp_path).get([TEXTS[0], "new"])
    assert server.requests("embedder")[-1]["body"]["input"] == ["new"]
    open_vectors(server, tmp_path, "another").get(TEXTS)
    assert server.count("another") == 1


def test_S2_the_same_name_at_another_place_is_another_model(server: OpenAIServer, tmp_path: Path) -> None:
    open_vectors(server, tmp_path).get(TEXTS)
    elsewhere = EmbeddingOptions("http://127.0.0.1:9/v1", is_offline=True)
    with pytest.raises(NotStoredError):
        StoredVectors("openai/embedder", elsewhere, tmp_path).get(TEXTS)


def test_X3_offline_what_is_stored_is_used_and_nothing_is_asked(server: OpenAIServer, tmp_path: Path) -> None:
    open_vectors(server, tmp_path).get(TEXTS)
    offline = open_vectors(server, tmp_path, is_offline=True)
    assert as_lists(offline.get(TEXTS[:2], "tools")) == [vector_of(text) for text in TEXTS[:2]]
    with pytest.raises(NotStoredError) as missing:
        offline.get([*TEXTS, "new", "newer"], "tools")
    assert (missing.value.texts, missing.value.exit_code) == (2, 3)
    assert server.count("embedder") == 1


def test_S2_what_many_texts_come_to_is_reported_first(server: OpenAIServer, tmp_path: Path) -> None:
    heard, options = Heard(), EmbeddingOptions(server.url, 10.0)
    vectors = StoredVectors("openai/embedder", options, tmp_path, heard)
    texts = [f"text {number}" for number in range(1_000)]
    estimate = vectors.estimate(texts)
    assert estimate is not None
    assert (estimate.texts, estimate.requests) == (1_000, 32)
    vectors.get(texts, "1,000 tools")
    vectors.get(["one"])
    vectors.get(texts, "1,000 tools")
    assert [str(estimate) in note for note in heard.notes] == [True]
    assert (heard.steps[-1], heard.steps == sorted(heard.steps)) == (1_000, True)
    assert vectors.estimate(texts) is None


def test_S2_what_was_answered_before_a_failure_is_stored(server: OpenAIServer, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(513)]  # the last one makes a part of its own
    vectors = open_vectors(server, tmp_path)
    with pytest.raises(ValueError, match="without words"):
        vectors.get([*texts[:512], " "])
    vectors.get(texts)
    assert server.requests("embedder")[-1]["body"]["input"] == [texts[512]]


@pytest.mark.parametrize("model", ["unauthorized", "missing"])
def test_S2_a_model_that_makes_none_is_an_error_of_its_own(server: OpenAIServer, tmp_path: Path, model: str) -> None:
    with pytest.raises(EmbeddingError) as failed:
        open_vectors(server, tmp_path, model).get(TEXTS)
    assert failed.value.exit_code == 3


def _spoil_row(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE checked_vectors SET vector = substr(vector, 1, 8) || zeroblob(length(vector) - 8)")


def _other_types(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE checked_vectors SET vector = 'text'")


SPOILERS: dict[str, Callable[[Path], object]] = {
    "no-database": lambda file: file.write_text("not a database, but long enough to look at\n" * 99),
    "empty": lambda file: file.write_bytes(b""),
    "cut-short": lambda file: file.write_bytes(file.read_bytes()[:5000]),
    "other-numbers": _spoil_row,
    "no-vectors": _other_types,
}


@pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS)
def test_S2_a_damaged_file_costs_time_and_never_a_wrong_vector(
    server: OpenAIServer, tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    open_vectors(server, tmp_path).get(TEXTS)
    spoil(tmp_path / FILE_NAME)
    for _ in range(3):
        assert as_lists(open_vectors(server, tmp_path).get(TEXTS)) == [vector_of(text) for text in TEXTS]
    assert server.count("embedder") <= 3


def test_S2_without_a_place_for_the_file_vectors_are_made_all_the_same(server: OpenAIServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert as_lists(open_vectors(server, tmp_path / "file").get(TEXTS)) == [vector_of(text) for text in TEXTS]


def test_S2_two_processes_share_the_file(server: OpenAIServer, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from toolbelt.providers.embeddings import EmbeddingOptions
from toolbelt.providers.stored_vectors import StoredVectors
vectors = StoredVectors("openai/embedder", EmbeddingOptions(sys.argv[1]), Path(sys.argv[2]))
for start in range(0, 200, 20):
    assert len(vectors.get([f"text {number}" for number in range(start, start + 20)])) == 20
"""
    command = [sys.executable, "-c", code, server.url, str(tmp_path)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in both] == [("", 0)] * 2
    offline = open_vectors(server, tmp_path, is_offline=True)
    assert len(offline.get([f"text {number}" for number in range(200)])) == 200


def test_a_blank_name_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError):
        StoredVectors("  ", folder=tmp_path).get(["x"])
