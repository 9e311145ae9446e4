"""The words that tools are found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog.ranking.text import find_names, find_stems, split_as_written, split_name, split_words


def search_words(text: str) -> list[str]:
    return find_stems(split_words(text))


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("GitHub", ["github", "git", "hub"], id="a-compound-whole-and-in-parts"),
        pytest.param("getHTTPStatus", ["gethttpstatus", "get", "http", "status"], id="capitals"),
        pytest.param("read_file-2", ["read", "file", "2"], id="separators"),
        pytest.param("HTTP Read It", ["http", "read"], id="no-compound"),
        pytest.param("the Ünïcode", ["unicode"], id="accents"),
        pytest.param("use GET before it", ["use", "get", "before"], id="weak-words-stay"),
    ],
)
def test_a_text_is_split_into_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text(alphabet="abcd ABÉé中文字ー ,.ＡB", max_size=30))
def test_words_are_given_as_they_are_written(text: str) -> None:
    split = [word for _, words in split_as_written(text) for word in words]
    assert set(split) == set(split_words(text))


def test_a_word_is_given_as_it_is_written() -> None:
    assert list(split_as_written("Create the Cafés")) == [("Create", ["create"]), ("Cafés", ["cafes"])]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("run get_user, getUser or get-user.", ["getuser"] * 3, id="three-spellings"),
        pytest.param("github.get_user", ["githubgetuser", "getuser"], id="in-a-namespace"),
        pytest.param("users/list", ["userslist"], id="path"),
        pytest.param("Call the user, e.g. today", ["eg"], id="words-are-no-names"),
        pytest.param("Prüf_größe", ["prufgrosse"], id="accents"),
        pytest.param("_ __ -", [], id="separators-alone"),
    ],
)
def test_names_in_a_text_are_what_is_written_as_one_of_several_words(text: str, names: list[str]) -> None:
    assert find_names(text) == names
