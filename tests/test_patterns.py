"""The pattern language (rule L4)."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.patterns import covers, has_inner_star, is_prefix_pattern, matches

# Few letters, so that patterns and names meet; among them some that fold to several letters or none of their own.
TEXTS = st.text("abAB*ßſİ_/", max_size=6)
PLAIN = st.text("abcABC", max_size=8)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        pytest.param("git", "git", True, id="equal-matches"),
        pytest.param("git", "GIT", True, id="equality-ignores-the-case-of-the-name"),
        pytest.param("GIT", "git", True, id="equality-ignores-the-case-of-the-pattern"),
        pytest.param("git", "github", False, id="without-a-star-a-beginning-is-not-enough"),
        pytest.param("git*", "github", True, id="a-trailing-star-is-a-prefix"),
        pytest.param("git*", "git", True, id="a-prefix-matches-itself"),
        pytest.param("GiT*", "gItHub", True, id="a-prefix-ignores-case"),
        pytest.param("git*", "legit", False, id="a-prefix-is-at-the-start"),
        pytest.param("*", "anything", True, id="a-star-alone-matches-all"),
        pytest.param("*", "", True, id="a-star-alone-matches-even-nothing"),
        pytest.param("", "git", False, id="an-empty-pattern-is-no-prefix"),
        pytest.param("", "", True, id="an-empty-pattern-equals-an-empty-name"),
        pytest.param("?it", "git", False, id="a-question-mark-is-literal"),
        pytest.param("[g]it", "git", False, id="brackets-are-literal"),
        pytest.param("straße", "STRASSE", True, id="case-is-folded-not-lowered"),
        pytest.param("stras*", "STRAßE", True, id="a-prefix-is-folded-too"),
        pytest.param(" git", "git", False, id="blanks-count"),
    ],
)
def test_L4_matching(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        pytest.param("g*t", "git", False, id="it-stands-for-nothing-else"),
        pytest.param("g*t", "G*T", True, id="it-stands-for-itself"),
        pytest.param("*it", "git", False, id="at-the-start-too"),
        pytest.param("g*t*", "g*thub", True, id="before-a-trailing-star-too"),
        pytest.param("g*t*", "github", False, id="and-narrows-the-prefix"),
        pytest.param("**", "git", False, id="of-two-stars-the-first-is-literal"),
        pytest.param("**", "*git", True, id="of-two-stars-the-second-is-not"),
    ],
)
def test_L4_star_in_the_middle_is_literal(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


@pytest.mark.parametrize(
    ("pattern", "is_prefix", "is_odd"),
    [("git", False, False), ("git*", True, False), ("*", True, False), ("g*t", False, True), ("**", True, True)],
)
def test_L4_what_kind_of_pattern_it_is(pattern: str, is_prefix: bool, is_odd: bool) -> None:
    assert (is_prefix_pattern(pattern), has_inner_star(pattern)) == (is_prefix, is_odd)


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        pytest.param("*", "git*", True, id="all-covers-a-prefix"),
        pytest.param("*", "git", True, id="all-covers-a-name"),
        pytest.param("*", "*", True, id="all-covers-itself"),
        pytest.param("git*", "github*", True, id="a-shorter-prefix-covers-a-longer"),
        pytest.param("github*", "git*", False, id="a-longer-prefix-does-not-cover-a-shorter"),
        pytest.param("GIT*", "git", True, id="case-does-not-matter"),
        pytest.param("git", "git*", False, id="a-name-does-not-cover-its-prefix"),
        pytest.param("git", "GIT", True, id="a-name-covers-itself"),
        pytest.param("git*", "*", False, id="a-prefix-does-not-cover-all"),
    ],
)
def test_L4_covering(wider: str, narrower: str, expected: bool) -> None:
    assert covers(wider, narrower) is expected


@given(PLAIN, st.booleans(), PLAIN)
def test_L4_agrees_with_the_shell_where_both_have_a_word(stem: str, with_star: bool, name: str) -> None:
    pattern = stem + "*" * with_star
    assert matches(pattern, name) == fnmatch.fnmatchcase(name.lower(), pattern.lower())


@given(TEXTS, TEXTS, TEXTS)
def test_L4_what_is_covered_is_matched(wider: str, narrower: str, ending: str) -> None:
    """Sound: no name that `narrower` matches escapes a pattern that covers it."""
    names = [narrower, narrower.removesuffix("*"), narrower.removesuffix("*") + ending, ending]
    if covers(wider, narrower):
        assert [name for name in names if matches(narrower, name) and not matches(wider, name)] == []


@given(TEXTS, TEXTS)
def test_L4_what_is_not_covered_has_a_witness(wider: str, narrower: str) -> None:
    """Complete: where it says no, some name matches the narrower alone."""
    if not covers(wider, narrower):
        stem = narrower.removesuffix("*")
        names = [stem, *([stem + "\x00", stem + "\x01"] if narrower.endswith("*") else [])]
        assert any(matches(narrower, name) and not matches(wider, name) for name in names)


@given(TEXTS, TEXTS)
def test_L4_case_never_matters(pattern: str, name: str) -> None:
    assert matches(pattern, name) == matches(pattern.casefold(), name) == matches(pattern, name.casefold())
