"""What the names of tools reveal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog.tool_names import MAX_DESCRIPTION, describe_tools, find_subject, singular, split_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("keyvault_secret_get", ("keyvault", "secret", "get"), id="underscores"),
        pytest.param("get-tiny-image", ("get", "tiny", "image"), id="dashes"),
        pytest.param("issues.list/all", ("issues", "list", "all"), id="dots-and-slashes"),
        pytest.param("listPullRequests", ("list", "pull", "requests"), id="camel-case"),
        pytest.param("getHTTPStatus", ("get", "http", "status"), id="an-acronym-is-a-word"),
        pytest.param("S3Get", ("s3", "get"), id="a-digit-belongs-to-its-word"),
        pytest.param("日本_Список", ("日本", "список"), id="any-script"),
        pytest.param("__", (), id="no-word"),
    ],
)
def test_M4_names_are_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert split_words(name) == words


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("create_or_update_file", "file"),
        ("issue_read", "issue"),
        ("list_pull_requests", "pull"),
        ("search", None),
    ],
)
def test_M4_the_subject_is_the_first_word_that_is_no_verb(name: str, subject: str | None) -> None:
    words = split_words(name)
    place = find_subject(words)
    assert (None if place is None else words[place]) == subject


@pytest.mark.parametrize(
    ("word", "one"), [("issues", "issue"), ("repositories", "repository"), ("status", "status"), ("access", "access")]
)
def test_M4_a_plural_and_its_singular_are_one_subject(word: str, one: str) -> None:
    assert singular(word) == one


def test_T2_few_tools_are_described_by_their_names() -> None:
    assert describe_tools(["git_status", "git_push", "git_status"]) == "git_status, git_push"


def test_T2_many_tools_are_described_by_what_they_are_about_the_most_frequent_first() -> None:
    names = [f"{subject}_{number}" for subject, count in (("sql", 10), ("storage", 30)) for number in range(count)]
    assert describe_tools(names) == "storage (30), sql (10)"


def test_T2_tools_about_different_things_are_described_by_the_first_names() -> None:
    described = describe_tools([f"{'abcdefghij'[n % 10]}{n:030}" for n in range(20)])
    assert described.startswith("a000")
    assert described.endswith(" and 14 more")


@given(st.lists(st.text(min_size=1, max_size=80), max_size=60))
def test_T2_a_description_is_short_and_never_cuts_a_name(names: list[str]) -> None:
    longest = max(map(len, names), default=0)
    assert len(describe_tools(names)) <= max(MAX_DESCRIPTION, longest) + len(" and 60 more") + len(" (60)")
