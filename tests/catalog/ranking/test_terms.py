"""Rule S2: what tools are found by."""

from __future__ import annotations

import pytest

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.ranking.terms import (
    ARGUMENT_DESCRIPTION_WEIGHT,
    ARGUMENT_NAME_WEIGHT,
    DESCRIPTION_WEIGHT,
    NAME_WEIGHT,
    find_matches,
    read_query,
    read_tool,
)
from toolbelt.catalog.ranking.text import join_name


def test_S2_each_field_counts_by_its_weight() -> None:
    tool = Tool("getForecast", "Predicts the weather.", {"properties": {"cityName": {"description": "Where to look"}}})
    counts, length = read_tool(tool)
    weights = {word: counts[word] for word in ("forecast", "weather", "city", "look")}
    assert weights == {
        "forecast": NAME_WEIGHT,
        "weather": DESCRIPTION_WEIGHT,
        "city": ARGUMENT_NAME_WEIGHT,
        "look": ARGUMENT_DESCRIPTION_WEIGHT,
    }
    # The compounds count too: getForecast, get, forecast; predicts, weather; cityName, city, name; where, look.
    assert (
        length == 3 * NAME_WEIGHT + 2 * DESCRIPTION_WEIGHT + 3 * ARGUMENT_NAME_WEIGHT + 2 * ARGUMENT_DESCRIPTION_WEIGHT
    )


def test_S2_a_plugin_counts_as_a_part_of_the_name_where_that_is_wanted() -> None:
    tool = Tool("list", plugin="calendar")
    assert "calendar" not in read_tool(tool).counts
    assert read_tool(tool, True).counts["calendar"] == NAME_WEIGHT


@pytest.mark.parametrize(
    ("query", "is_named"),
    [
        pytest.param("call get_commit and explain what it returns to me", True, id="as-it-is-written"),
        pytest.param("what would getCommit return for this long question", True, id="set-apart-otherwise"),
        pytest.param("get commit", True, id="with-blanks-where-nothing-else-is-asked"),
        pytest.param("please explain what the tool mcp__git__get_commit returns", True, id="with-its-server-before-it"),
        pytest.param("could you get the commit that broke my build yesterday", False, id="words-are-no-name"),
        pytest.param("call get_commits and explain what it returns to me", False, id="another-name"),
    ],
)
def test_S2_a_query_that_has_the_whole_name_of_a_tool_finds_this_tool(query: str, is_named: bool) -> None:
    named = f"={join_name('get_commit')}"
    assert (named in read_query(query)) is is_named
    assert named in read_tool(Tool("getCommit", plugin="git"), True).counts


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": [1]}, {"properties": {"a": {"description": 1}}}]
)
def test_a_broken_schema_is_no_obstacle(schema: dict[str, object]) -> None:
    assert "weather" in read_tool(Tool("weather", "", schema)).counts


def test_S2_a_word_of_a_query_is_its_form_its_stem_and_its_parts() -> None:
    assert read_query("Files, files") == {
        "files": 0.5,
        "~fil": 1.0,
        "#<fil": 0.15,
        "#file": 0.15,
        "#iles": 0.15,
        "#les>": 0.15,
        "=filesfiles": 4.0,
    }
    assert read_query("get") == {"get": 0.25, "~get": 0.5, "=get": 4.0}
    assert read_query("the") == {}


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        pytest.param("READING a file", {Field.NAME: ("READING", "file"), Field.DESCRIPTION: ("file",)}, id="stems"),
        pytest.param("readFile", {Field.NAME: ("readFile",)}, id="a-compound-whose-parts-are-all-there"),
        pytest.param("GitHub GitLab", {Field.DESCRIPTION: ("GitHub",)}, id="a-compound-as-a-whole"),
        pytest.param("get the path", {Field.ARGUMENTS: ("path",)}, id="weak-words-count-for-nothing-beside-others"),
        pytest.param("Get it, please", {Field.DESCRIPTION: ("Get",)}, id="weak-words-alone"),
        pytest.param("a filet", {Field.NAME: ("file…",), Field.DESCRIPTION: ("file…",)}, id="parts-of-words-alone"),
        pytest.param("subpath", {Field.ARGUMENTS: ("…path",)}, id="the-end-of-a-word"),
        pytest.param("xyz", {}, id="nothing"),
        pytest.param("the path", {Field.ARGUMENTS: ("path",)}, id="arguments"),
    ],
)
def test_S2_the_words_that_match_are_named_by_field(query: str, matched: dict[Field, tuple[str, ...]]) -> None:
    tool = Tool("read_file", "Get the content of a file on GitHub.", {"properties": {"path": {}}})
    assert find_matches(tool, query) == matched
