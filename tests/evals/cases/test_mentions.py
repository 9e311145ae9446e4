"""Which queries give the tool away."""

from __future__ import annotations

import pytest

from toolbelt.evals.cases.mentions import mentions_tool


@pytest.mark.parametrize(
    ("query", "name", "named"),
    [
        pytest.param("Run git_push now.", "git_push", True, id="word-of-its-own"),
        pytest.param("run GIT_PUSH!", "git_push", True, id="whatever-its-case"),
        pytest.param("Use `getWeather`.", "getWeather", True, id="humps"),
        pytest.param("git push my branch", "git_push", True, id="the-words-set-apart"),
        pytest.param("Get weather in Oslo.", "getWeather", True, id="humps-set-apart"),
        pytest.param("Undo my_git_push_2.", "git_push", False, id="part-of-another-word"),
        pytest.param("Push it with git.", "git_push", False, id="the-words-in-another-order"),
        pytest.param("Search for cats.", "search", False, id="plain-word"),
        pytest.param("Use search for cats.", "search", True, id="plain-word-used-as-a-tool"),
        pytest.param("нужен поиск по файлам", "поиск", False, id="plain-word-in-another-alphabet"),
        pytest.param("Mach die Tür zu.", "Tür", False, id="plain-word-with-an-accent"),
        pytest.param("call `поиск` please", "поиск", True, id="quoted-in-another-alphabet"),
        pytest.param("anything", "___", False, id="a-name-without-a-letter"),
    ],
)
def test_E3_a_name_that_nobody_writes_by_chance(query: str, name: str, named: bool) -> None:
    assert mentions_tool(query, name) is named
