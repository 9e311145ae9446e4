"""Search as a policy of a session (rules S4, R8)."""

from __future__ import annotations

import asyncio
import json
import threading
from array import array
from collections.abc import Sequence
from typing import Any

import pytest

from tests.search.samples import CATALOG
from tests.servers.replies import vector_of
from tests.wording import mentions
from toolbelt.agents import LoadoutPolicy
from toolbelt.catalog.ranking.embedding import EmbeddingRanker
from toolbelt.catalog.ranking.rankers import RANKERS
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.loadouts import ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolResult
from toolbelt.search.policy import SearchPolicy
from toolbelt.search.presets import parse_search
from toolbelt.search.rankers import find_own_ranker
from toolbelt.sessions.session import Session
from toolbelt.tiers.policy import TierPolicy


def make_policy(written: str) -> SearchPolicy:
    settings = parse_search(written)
    ranker = find_own_ranker(settings.rank) or RANKERS[settings.rank.kind]()
    return SearchPolicy(settings, ranker, CATALOG, CATALOG.core if settings.pinned == "core" else ())


def make_session(*policies: Any) -> Session:
    registry = ToolRegistry()
    for tool in CATALOG.tools:
        registry.register(
            ExecutableTool(
                tool.name,
                tool.description,
                tool.parameters,
                plugin=tool.plugin,
                function=lambda _name=tool.name, **given: ToolResult(ok=True, value=f"{_name} {sorted(given)}"),
            )
        )
    return Session(registry, policies, session_id="s")


def shown(session: Session) -> list[str]:
    return [definition["name"] for definition in session.to_definitions()]


def call(session: Session, name: str, /, **arguments: Any) -> ToolResult:
    made = {"id": "1", "function": {"name": name, "arguments": json.dumps(arguments)}}
    (result,) = asyncio.run(session.execute_parallel([made]))
    assert result.name == name
    return result.result


def test_R8_what_is_found_is_there_with_the_next_request_and_stays() -> None:
    session = make_session(make_policy("k=1"))
    session.begin_turn()
    assert shown(session) == ["search_tools", "read"]
    refused = call(session, "send")
    assert refused.code is FailureCode.NOT_AVAILABLE
    assert "search_tools" in refused.text
    assert "send" in call(session, "search_tools", query="send a message").text
    assert shown(session) == ["search_tools", "read", "send"]
    assert call(session, "send", to="me").text == "send ['to']"
    session.begin_turn()
    assert shown(session) == ["search_tools", "read", "send"]


def test_S4_what_is_disabled_is_never_found() -> None:
    loadout = ToolLoadoutBuilder.create("small").add_plugin("files").add_plugin("git").disable("git/push").build()
    session = make_session(LoadoutPolicy("small", ToolLoadoutRegistry([loadout])), make_policy("pinned=none"))
    session.begin_turn()
    found = json.loads(call(session, "search_tools", query="push commits send message").text)
    assert {tool["name"] for tool in found["tools"]} == {"commit", "log"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "send", "arguments": {"to": "me"}}, "send ['to']"),
        ({"name": "send", "arguments": {"to": 3}}, "send"),
        ({"name": "zebra"}, "zebra"),
        ({"name": "search_tools"}, "meta-tool"),
    ],
)
def test_M6_a_call_through_runs_the_tool_with_all_that_applies_to_it(arguments: dict[str, Any], says: str) -> None:
    session = make_session(make_policy("fastmcp"))
    session.begin_turn()
    assert shown(session) == ["search_tools", "call_tool", "read"]
    result = call(session, "call_tool", **arguments)
    assert says in result.text
    assert result.ok is (arguments.get("arguments") == {"to": "me"})
    if arguments.get("arguments") == {"to": 3}:
        assert result.code is FailureCode.INPUT_INVALID
    assert call(session, "push").ok, "a tool can be called by its own name, too"


def test_S1_the_users_words_choose_the_tools_of_a_turn() -> None:
    session = make_session(make_policy("rag-mcp"))
    session.begin_turn("please send a message")
    assert shown(session) == ["send"]
    session.begin_turn("commit the changes")
    assert shown(session) == ["commit"]
    session.begin_turn()
    assert shown(session) == ["commit"]


def test_R8_two_policies_with_a_meta_tool_of_the_same_name_are_an_error() -> None:
    with pytest.raises(InvalidDefinitionError, match="search_tools"):
        make_session(make_policy(""), make_policy("pydantic-ai"))
    assert shown(make_session(make_policy("openai"), TierPolicy(CATALOG)))[:3]


class Vectors:
    """Makes vectors, or fails to; keeps the threads in which it was asked."""

    model = "m"

    def __init__(self, error: ToolbeltError | None = None) -> None:
        self.error = error
        self.threads: list[threading.Thread] = []

    def get(self, texts: Sequence[str], what: str = "") -> list[array[float]]:
        self.threads.append(threading.current_thread())
        if self.error is not None:
            raise self.error
        return [array("f", vector_of(text)) for text in texts]


def test_S2_a_session_asks_a_model_for_vectors_in_a_thread_and_only_when_it_searches() -> None:
    vectors = Vectors()
    session = make_session(SearchPolicy(parse_search("k=1:rank=embedding:m"), EmbeddingRanker(vectors), CATALOG))
    session.begin_turn()
    assert shown(session) == ["search_tools"]
    assert vectors.threads == []
    assert "send" in call(session, "search_tools", query="send a message").text
    assert shown(session) == ["search_tools", "send"]
    assert threading.main_thread() not in vectors.threads


def test_S2_a_model_that_fails_is_a_result_with_a_code_and_the_next_search_asks_again() -> None:
    vectors = Vectors(ToolbeltError("no key"))
    policy = SearchPolicy(parse_search("k=1:rank=embedding:m"), EmbeddingRanker(vectors), CATALOG)
    session = make_session(policy)
    failed = call(session, "search_tools", query="send")
    assert (failed.code, mentions(failed.text, "no key")) == (FailureCode.EXECUTION_FAILED, True)
    vectors.error = None
    assert call(session, "search_tools", query="send a message").ok
    assert policy.found == ("mail/send",)
