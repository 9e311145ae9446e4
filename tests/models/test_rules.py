"""Names, legal and made so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.models.rules import ANY_CHARACTER, NamePattern, RootKeywords

PATTERNS = [
    NamePattern(),
    NamePattern(longest=64),
    NamePattern("A-Za-z_", "A-Za-z0-9_"),
    NamePattern("A-Za-z_", "A-Za-z0-9_.:-", 64),
    NamePattern("A-Za-z0-9_.-", "A-Za-z0-9_.-", 64),
    NamePattern(ANY_CHARACTER, ANY_CHARACTER, 64),
]


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        pytest.param("git_push", True, id="plain"),
        pytest.param("git-push", False, id="a-dash-may-be-illegal"),
        pytest.param("2fa", False, id="and-a-digit-in-front"),
        pytest.param("", False, id="nothing-is-no-name"),
        pytest.param("push\n", False, id="a-line-break-at-the-end-is-seen"),
        pytest.param("naïve", False, id="letters-are-ascii"),
        pytest.param("x" * 500, True, id="no-limit-where-none-is-known"),
    ],
)
def test_a_name_is_legal_as_a_whole(name: str, allowed: bool) -> None:
    assert NamePattern("A-Za-z_", "A-Za-z0-9_").allows(name) is allowed


def test_a_limit_counts_characters() -> None:
    assert NamePattern(longest=64).allows("x" * 64)
    assert not NamePattern(longest=64).allows("x" * 65)


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
@given(name=st.text(max_size=80))
def test_a_cleaned_name_is_legal_but_for_its_length(pattern: NamePattern, name: str) -> None:
    cleaned = pattern.clean(name)
    assert NamePattern(pattern.first, pattern.rest).allows(cleaned)
    assert pattern.clean(cleaned) == cleaned


def test_a_cleaned_name_is_still_read() -> None:
    assert NamePattern().clean("files.read all!") == "files_read_all"
    assert NamePattern("A-Za-z_", "A-Za-z0-9_").clean("2fa-reset") == "t_2fa_reset"


def test_allowed_bars_all_else_and_barred_only_itself() -> None:
    assert RootKeywords(allowed=frozenset({"type"})).bars("title")
    assert not RootKeywords(allowed=frozenset({"type"})).bars("type")
    assert RootKeywords(barred=frozenset({"oneOf"})).bars("oneOf")
    assert not RootKeywords(barred=frozenset({"oneOf"})).bars("title")


def test_a_pattern_says_itself() -> None:
    assert str(NamePattern(longest=64)) == "[A-Za-z0-9_-][A-Za-z0-9_-]*, 64 characters at most"
    assert str(NamePattern()) == "[A-Za-z0-9_-][A-Za-z0-9_-]*"
    assert str(NamePattern(ANY_CHARACTER, ANY_CHARACTER, 64)) == "64 characters at most"
