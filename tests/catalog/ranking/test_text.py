"""The words that tools are found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.ranking.text import find_words, search_words, split_fields, split_name, tool_text


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


@given(st.text(alphabet="abcd ABÉé中文字ー ,.ＡB", max_size=30))
def test_the_words_of_a_text_are_found_as_they_are_written(text: str) -> None:
    assert set(find_words(text).values()) == set(search_words(text))


def test_words_are_given_as_they_are_written() -> None:
    assert find_words("Create the Cafés") == {"Create": "creat", "Cafés": "caf"}


def test_a_tool_has_three_fields() -> None:
    tool = Tool("getForecast", "Tells the weather.", {"properties": {"cityName": {"description": "Where to look"}}})
    assert split_fields(tool) == {
        Field.NAME: "get Forecast",
        Field.DESCRIPTION: "Tells the weather.",
        Field.ARGUMENTS: "city Name\nWhere to look",
    }
