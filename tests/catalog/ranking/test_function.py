"""Rule S2: tools ranked by a user's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.function import FunctionRanker
from toolbelt.errors import ToolbeltError

TOOLS = (Tool("a", "one"), Tool("b", "one two"), Tool("c", "two two"))


def count_words(tools: Sequence[Tool]) -> Callable[[str, int], list[tuple[str, float]]]:
    return lambda text, k: [
        (tool.id, tool.description.split().count(text)) for tool in tools if text in tool.description
    ]


def test_S2_a_function_ranks_by_its_scores() -> None:
    index = FunctionRanker("python:m:f", count_words).index(TOOLS)
    assert [(hit.tool.id, hit.score) for hit in index.search("two", 5)] == [("c", 2.0), ("b", 1.0)]
    assert [hit.tool.id for hit in index.search("one", 1)] == ["a"]
    assert index.search("one", 0) == ()
    assert [hit.tool.id for hit in index.within({"b"}).search("two", 5)] == ["b"]


def failing(tools: Sequence[Tool]) -> Any:
    raise OSError("no model")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(failing, ["python:m:f", "OSError", "no model"], id="raises-when-made"),
        pytest.param(lambda tools: None, ["python:m:f", "NoneType"], id="gives-no-function"),
        pytest.param(lambda tools: lambda text, k: 1 / 0, ["python:m:f", "ZeroDivisionError"], id="raises"),
        pytest.param(lambda tools: lambda text, k: exit(0), ["python:m:f", "SystemExit"], id="exits"),
        pytest.param(lambda tools: lambda text, k: globals()["q"], ["KeyError"], id="a-key-error-of-its-own"),
        pytest.param(lambda tools: lambda text, k: [("zzz", 1)], ["'zzz'"], id="unknown-id"),
        pytest.param(lambda tools: lambda text, k: [("a", 1), ("a", 2)], ["'a'", "twice"], id="an-id-twice"),
        pytest.param(lambda tools: lambda text, k: ["a"], ["'a'"], id="no-score"),
        pytest.param(lambda tools: lambda text, k: [("a", "x")], ["x"], id="text-for-a-score"),
        pytest.param(lambda tools: lambda text, k: [("a", float("nan"))], ["nan"], id="no-number"),
        pytest.param(lambda tools: lambda text, k: None, ["NoneType"], id="nothing"),
    ],
)
def test_S2_a_function_that_misbehaves_is_an_error_with_its_name(make: Any, words: list[str]) -> None:
    with pytest.raises(ToolbeltError) as failed:
        FunctionRanker("python:m:f", make).index(TOOLS).search("one", 5)
    assert mentions(str(failed.value), *words)
