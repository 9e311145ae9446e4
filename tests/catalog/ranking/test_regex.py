"""Rule S2: tools ranked by a pattern."""

from __future__ import annotations

import pytest

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import Field, QueryError, QueryProblem
from toolbelt.catalog.ranking.regex import MAX_PATTERN_CHARS, RegexIndex, RegexRanker, make_pattern

ARGUMENT = Tool("forecast", "Tells the weather.", {"properties": {"slack_channel": {"description": "Which room"}}})
TEXT = Tool("notify", "Posts to Slack or slack-like rooms.")
NAME = Tool("slack_send", "Sends a message.")
INDEX = RegexRanker().index([ARGUMENT, TEXT, NAME])


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        pytest.param("slack", [NAME, TEXT, ARGUMENT], id="names-come-first-then-descriptions"),
        pytest.param("SLACK_", [NAME, ARGUMENT], id="in-any-case"),
        pytest.param("(?i)SLACK_", [NAME, ARGUMENT], id="which-may-be-said"),
        pytest.param("(?-i:Slack)", [TEXT], id="unless-it-says-otherwise"),
        pytest.param("^slack", [NAME, ARGUMENT], id="each-text-stands-alone"),
        pytest.param("room$", [ARGUMENT], id="descriptions-of-arguments"),
        pytest.param("forecast|message", [ARGUMENT, NAME], id="equals-keep-their-order-after-names"),
        pytest.param("(?=zzz)", [], id="nothing"),
        pytest.param("", [], id="no-pattern-finds-nothing"),
    ],
)
def test_S2_a_pattern_is_searched_in_every_field(pattern: str, found: list[Tool]) -> None:
    assert [hit.tool for hit in INDEX.search(pattern, 5)] == found
    assert [hit.tool for hit in INDEX.search(pattern, 1)] == found[:1]
    assert INDEX.search(pattern, 0) == ()


def test_S2_a_hit_has_what_the_pattern_matched() -> None:
    hits = INDEX.search("s.ack", 1)
    assert hits[0].matched == {Field.NAME: ("slack",)}


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        pytest.param("(", QueryProblem.INVALID_PATTERN, id="mistake"),
        pytest.param("a" * (MAX_PATTERN_CHARS + 1), QueryProblem.PATTERN_TOO_LONG, id="too-long"),
        pytest.param("(" * MAX_PATTERN_CHARS, QueryProblem.INVALID_PATTERN, id="deep"),
    ],
)
def test_S2_a_pattern_that_cannot_be_used_is_refused(pattern: str, problem: QueryProblem) -> None:
    with pytest.raises(QueryError) as refused:
        INDEX.search(pattern, 5)
    assert refused.value.problem is problem


def test_S2_a_pattern_has_200_characters_of_its_own() -> None:
    assert [hit.tool for hit in INDEX.search("SLACK" + "|z" * 97 + "z", 5)] == [NAME, TEXT, ARGUMENT]


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"^(\w|\w\w|x)*$", id="a-repeated-group"),
        pytest.param("(x|xx)" * 30 + "y", id="many-groups-without-repeats"),
        pytest.param(r"\w*" * 20 + "y", id="many-repeats-without-a-group"),
    ],
)
def test_S2_a_pattern_that_takes_exponential_time_is_stopped(pattern: str) -> None:
    index = RegexIndex([Tool("t", "x" * 600 + "!y")], max_seconds=0.05)
    for searched in (index, index.within({"t"})):
        with pytest.raises(QueryError) as refused:
            searched.search(pattern, 5)
        assert refused.value.problem is QueryProblem.TIMEOUT


def test_S2_a_pattern_that_takes_quadratic_time_is_stopped() -> None:
    index = RegexIndex([Tool("t", "x" * 100_000)], max_seconds=0.05)
    with pytest.raises(QueryError) as refused:
        index.search(r"x*\d", 5)
    assert refused.value.problem is QueryProblem.TIMEOUT


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        pytest.param("Post it to Slack, to slack_ops", "Post|Slack|slack|ops", id="any-word"),
        pytest.param("what is c++?", "c", id="signs-are-no-words"),
        pytest.param("what is it", "", id="stop-words-alone"),
        pytest.param(f"{'x' * 196} {'y' * 190} end", f"{'x' * 196}|end", id="as-many-as-there-is-room-for"),
    ],
)
def test_S3_the_pattern_of_a_message_is_any_of_its_words(text: str, pattern: str) -> None:
    assert make_pattern(text) == pattern


def test_S2_a_part_is_searched_alone() -> None:
    assert [hit.tool for hit in INDEX.within({NAME.id, "unknown"}).search("slack", 5)] == [NAME]
