"""Which queries give the tool away."""

from __future__ import annotations

import pytest

from toolbelt.evals.cases.named_tools import names_tool


@pytest.mark.parametrize(
    ("query", "name", "named"),
    [
        pytest.param("Run git_push now.", "git_push", True, id="word-of-its-own"),
        pytest.param("run GIT_PUSH!", "git_push", True, id="whatever-its-case"),
        pytest.param("Use `getWeather`.", "getWeather", True, id="humps"),
        pytest.param("Undo my_git_push_2.", "git_push", False, id="part-of-another-word"),
        pytest.param("Search for cats.", "search", False, id="plain-word"),
        pytest.param("Git, push it.", "git_push", False, id="the-words-apart"),
    ],
)
def test_E3_a_name_that_nobody_writes_by_chance(query: str, name: str, named: bool) -> None:
    assert names_tool(query, name) is named
