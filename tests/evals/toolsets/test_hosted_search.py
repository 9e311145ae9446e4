"""`hosted-search`: the core tools, and all others deferred for the vendor's own search (rule S1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.test_offers import context, make_catalog
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.offers import Offer
from toolbelt.evals.toolsets.hosted_search import HostedSearch
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.providers.hosted_search import SEARCH_TOOLS, SearchMethod, list_searches

CATALOG = Catalog(
    (
        Plugin("git", (Tool("commit", "Record changes."), Tool("push", "Send commits away."))),
        Plugin("Web & more", (Tool("fetch", "Read a page."),), description="Pages of the web."),
    ),
    core=("git/push",),
)
ASKED = ({"role": "user", "content": "record what has changed"},)
CASE = Case("c", ASKED, ())
TALK = Conversation(ASKED)


def opened(method: SearchMethod, catalog: Catalog = CATALOG) -> HostedSearch:
    toolset = make_toolset(
        parse_toolset("hosted-search"), replace(context(catalog), choose_search=lambda wanted: method)
    )
    assert isinstance(toolset, HostedSearch)
    return toolset


def found_by_anthropic(*names: str) -> Reply:
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    return Reply(turn={"api": "messages", "items": [{"type": "tool_search_tool_result", "content": content}]})


def names_of(offer: Offer) -> list[str]:
    return [each.name for each in offer.tools]


@pytest.mark.parametrize("method", SearchMethod)
def test_S1_the_core_is_shown_and_all_others_are_sent_deferred(method: SearchMethod) -> None:
    offer = opened(method).offer(CASE, TALK)
    assert names_of(offer) == ["push"]
    searching, *others = offer.sent.definitions
    assert searching == SEARCH_TOOLS[method]
    assert [(each["function"]["name"], each.get("defer_loading")) for each in others] == [
        ("push", None),
        ("commit", True),
        ("fetch", True),
    ]
    namespaces = [each.get("namespace") for each in others]
    if method is SearchMethod.NAMESPACES:
        assert namespaces == [
            None,
            {"name": "git", "description": "commit"},
            {"name": "Web_more", "description": "Pages of the web."},
        ]
    else:
        assert namespaces == [None] * 3


def test_E6_what_the_model_is_shown_counts_and_what_is_deferred_does_not() -> None:
    alone = opened(SearchMethod.BM25).offer(CASE, TALK)
    assert alone.tokens == alone.tools[0].tokens
    listed = {method: opened(method).offer(CASE, TALK).listed_tokens for method in SearchMethod}
    assert listed[SearchMethod.BM25] == listed[SearchMethod.REGEX] == 0
    assert listed[SearchMethod.NAMESPACES] > 0
    assert listed[SearchMethod.FUNCTIONS] > 0


def test_S1_what_the_vendor_found_is_shown_from_then_on_and_sent_as_before() -> None:
    toolset = opened(SearchMethod.BM25)
    first = toolset.offer(CASE, TALK)
    later = toolset.offer(CASE, TALK.extended(found_by_anthropic("fetch", "push", "unheard"), ()))
    assert names_of(later) == ["push", "fetch"]
    assert later.sent is first.sent
    assert later.tokens == first.tokens + later.tools[1].tokens
    assert names_of(toolset.offer(CASE, TALK)) == ["push"], "nothing is kept"


def test_S3_searches_are_found_with_the_ids_in_the_vendors_order() -> None:
    toolset, talk = opened(SearchMethod.BM25), TALK.extended(found_by_anthropic("fetch", "unheard", "commit"), ())
    found = toolset.found(CASE, talk)
    assert found.searches == (("Web & more/fetch", "git/commit"),)
    assert found.revealed == {"Web & more/fetch", "git/commit"}
    assert toolset.reach(CASE) == {tool.id for tool in CATALOG.tools}


def test_S1_a_case_that_offers_some_tools_defers_these_alone_under_plain_names() -> None:
    twins = make_catalog((("mail", "send"), ("chat", "send"), ("mail", "read")))
    toolset = opened(SearchMethod.NAMESPACES, twins)
    case = replace(CASE, offered=("chat/send", "mail/read"))
    sent = toolset.offer(case, TALK).sent
    assert names_of(sent)[1:] == ["read", "send"]
    reply = Reply(
        turn={
            "api": "responses",
            "items": [
                {
                    "type": "tool_search_output",
                    "tools": [{"type": "namespace", "name": "chat", "tools": [{"type": "function", "name": "send"}]}],
                }
            ],
        }
    )
    assert toolset.found(case, TALK.extended(reply, ())).searches == (("chat/send",),)
    assert toolset.reach(case) == {"chat/send", "mail/read"}


def test_S1_where_all_is_core_nothing_is_searched() -> None:
    offer = opened(SearchMethod.BM25).offer(replace(CASE, offered=("git/push",)), TALK)
    assert (names_of(offer), offer.sent) == (["push"], offer)


@pytest.mark.parametrize(
    ("method", "names"),
    [
        pytest.param(SearchMethod.BM25, ["push", "commit"], id="tools-by-words"),
        pytest.param(SearchMethod.NAMESPACES, ["push", "commit"], id="the-group-of-the-first"),
    ],
)
def test_an_estimate_finds_by_the_users_words(method: SearchMethod, names: list[str]) -> None:
    toolset = opened(method)
    assert names_of(toolset.played().offer(CASE, TALK)) == names
    assert names_of(toolset.offer(CASE, TALK)) == ["push"]


def test_S1_without_a_model_there_is_no_vendor() -> None:
    with pytest.raises(ToolbeltError, match="needs a model"):
        make_toolset(parse_toolset("hosted-search:regex"), context(CATALOG))


@pytest.mark.parametrize(
    ("turn", "searches"),
    [
        (None, ()),
        ({"api": "chat", "message": {}, "calls": []}, ()),
        ({"api": "messages", "items": [{"type": "text", "text": "Hi"}]}, ()),
        pytest.param(
            {
                "api": "messages",
                "items": [
                    {
                        "type": "tool_search_tool_result",
                        "content": {"type": "tool_search_tool_result_error", "error_code": "unavailable"},
                    }
                ],
            },
            ((),),
            id="a-search-that-failed",
        ),
        pytest.param(
            {
                "api": "responses",
                "items": [
                    {"type": "tool_search_call"},
                    {"type": "tool_search_output", "tools": [{"type": "function", "name": "a"}]},
                    {"type": "tool_search_output", "tools": []},
                ],
            },
            (("a",), ()),
            id="two-searches",
        ),
    ],
)
def test_searches_are_read_off_a_turn(turn: dict[str, object] | None, searches: tuple[tuple[str, ...], ...]) -> None:
    assert list_searches(turn) == searches
