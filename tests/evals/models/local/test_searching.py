"""What `local/bm25` searches for, and what it reads in the answers (rules E2, S1)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.evals.toolsets.samples import case, start, toolset
from toolbelt.catalog.ranking.regex import MAX_PATTERN_CHARS
from toolbelt.catalog.ranking.text import split_words
from toolbelt.evals.models.local.history import History
from toolbelt.evals.models.local.searching import (
    MOST_SEARCHES,
    KnownSearch,
    call_through,
    find_search,
    find_searches,
    with_found,
)
from toolbelt.evals.offers import Offer
from toolbelt.search.presets import PRESETS

QUERY = "Push the changes, please"
WORDS = KnownSearch("search_tools", "query", is_list=False, is_pattern=False)
CALLING = replace(WORDS, call="call_tool", call_name="name", call_arguments="arguments")


def offer_of(name: str) -> Offer:
    of = case()
    return toolset(name).offer(of, start(of))


def search(name: str) -> KnownSearch:
    found = find_search(offer_of(name))
    assert found is not None
    return found


def search_for(text: str, known: KnownSearch, *tried: Any) -> list[Any]:
    history = History(query=text, calls=tuple((known.name, {known.argument: value}) for value in tried))
    calls = find_searches(history, [split_words(text)], known)
    assert {name for name, _ in calls} <= {known.name}
    return [arguments[known.argument] for _, arguments in calls]


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "rag-mcp"])
def test_S1_the_search_of_every_preset_is_known(preset: str) -> None:
    known, shape = search(f"search:{preset}"), PRESETS[preset].shape
    assert (known.name, known.argument) == (shape.search.name, shape.argument)
    assert known.is_pattern is (preset == "anthropic-regex")
    assert known.is_list is (shape.search.parameters["properties"][known.argument]["type"] == "array")
    assert (known.call != "") is (preset in ("fastmcp", "toolhive"))


@pytest.mark.parametrize("name", ["full", "tiered", "search:rag-mcp"])
def test_S1_without_a_search_there_is_none(name: str) -> None:
    assert find_search(offer_of(name)) is None


@pytest.mark.parametrize(
    ("name", "searched"),
    [
        pytest.param("search", "Push changes", id="words-as-they-are-written-without-weak-ones"),
        pytest.param("search:pydantic-ai", ["Push changes"], id="a-list-where-that-is-wanted"),
        pytest.param("search:anthropic-regex", "Push|changes", id="a-pattern"),
        pytest.param("search:openai", ["repo"], id="the-group-that-fits-best"),
    ],
)
def test_E2_each_wish_is_searched_for_in_the_form_that_is_wanted(name: str, searched: Any) -> None:
    known = search(name)
    assert search_for(QUERY, known) == [searched]
    assert search_for(QUERY, known, searched) == [], "not again"


def test_E2_a_pattern_stays_within_its_limit_and_is_escaped() -> None:
    (pattern,) = search_for(" ".join(f"word{number}" for number in range(100)), search("search:anthropic-regex"))
    assert MAX_PATTERN_CHARS - 20 < len(pattern) < MAX_PATTERN_CHARS
    assert "|" in pattern


def test_E2_no_more_than_so_many_searches_are_made_for_one_message() -> None:
    texts = ["open", "send", "push", "commit", "forecast"]
    history = History(query=" ".join(texts), calls=(("search_tools", {"query": "log"}),))
    calls = find_searches(history, [split_words(text) for text in texts], WORDS)
    assert [arguments["query"] for _, arguments in calls] == texts[: MOST_SEARCHES - 1]


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        pytest.param(json.dumps([{"name": "push", "inputSchema": {"type": "object"}}]), ["push"], id="a-list"),
        pytest.param(json.dumps({"tools": [{"name": "push", "inputSchema": {}}]}), ["push"], id="under-tools"),
        pytest.param(json.dumps({"tools": [{"name": "push"}]}), [], id="a-name-alone-cannot-be-called"),
        pytest.param(json.dumps({"tools": [{"name": 3, "inputSchema": {}}, None, "x"]}), [], id="no-tools"),
        pytest.param(json.dumps([{"name": "send", "inputSchema": {}}]), [], id="it-is-offered-already"),
        pytest.param("Nothing matches.", [], id="no-json"),
        pytest.param("[" * 100_000, [], id="deeper-than-is-read"),
    ],
)
def test_E2_what_an_answer_describes_can_be_called(answer: str, names: list[str]) -> None:
    offer = offer_of("search:fastmcp")
    history = History(calls=(("search_tools", {"query": "x"}),), answers=(answer,))
    assert [each.name for each in with_found(offer, history, CALLING).tools[len(offer.tools) :]] == names


def test_E2_a_tool_that_is_not_offered_is_called_through() -> None:
    offer = offer_of("search:fastmcp")
    assert call_through(("send", {"to": 1}), offer, CALLING) == ("send", {"to": 1})
    through = {"name": "push", "arguments": {"to": 1}}
    assert call_through(("push", {"to": 1}), offer, CALLING) == ("call_tool", through)
