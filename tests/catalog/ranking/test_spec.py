"""Rule S1: how rankers are written."""

from __future__ import annotations

import pytest

from toolbelt.catalog.ranking.spec import RankKind, RankSpec, parse_rank
from toolbelt.errors import NotFoundError, ToolbeltError


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        pytest.param("words", RankSpec(RankKind.WORDS), id="words"),
        pytest.param(" Regex ", RankSpec(RankKind.REGEX), id="case-and-blanks-do-not-matter"),
        pytest.param("embedding:ollama/a:b", RankSpec(RankKind.EMBEDDING, "ollama/a:b"), id="models-have-colons"),
        pytest.param("python:my.ranking:rank", RankSpec(RankKind.PYTHON, "my.ranking:rank"), id="function"),
    ],
)
def test_a_name_is_read_and_written_back(text: str, spec: RankSpec) -> None:
    assert parse_rank(text) == spec
    assert parse_rank(str(spec)) == spec


@pytest.mark.parametrize(
    "text", ["words:x", "words:", "embedding", "embedding: ", "python:m", "python:m:", "python:a-b:f"]
)
def test_a_malformed_name_is_refused(text: str) -> None:
    with pytest.raises(ToolbeltError):
        parse_rank(text)


def test_an_unknown_ranker_has_the_nearest_name() -> None:
    with pytest.raises(NotFoundError, match="'words'"):
        parse_rank("word")
