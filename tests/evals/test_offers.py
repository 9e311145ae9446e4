"""Wire names are distinguished among the tools that a case can be offered, and no others (rule E3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.evals.toolsets.toolset import GO_AHEAD, ToolsetContext
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.providers.tokenizers import make_counter

NAMES = ("get", "get.it", "get_it", "put", "a" * 70, "a" * 70 + "b")
COUNTER = make_counter("estimate")


def make_catalog(names: tuple[tuple[str, str], ...]) -> Catalog:
    plugins: dict[str, list[Tool]] = {}
    for plugin, name in names:
        plugins.setdefault(plugin, []).append(Tool(name, description=f"{name} of {plugin}"))
    return Catalog(tuple(Plugin(plugin, tuple(tools), category="web") for plugin, tools in plugins.items()))


TWINS = make_catalog((("mail", "send"), ("chat", "send"), ("mail", "read"), ("chat", "list.all")))
TOOLSETS = ("full", "oracle", "oracle+1", "tiered", "dynamic", "search", "search:anthropic-bm25")


def context(catalog: Catalog) -> ToolsetContext:
    made: dict[tuple[str, ...], ToolRenderer] = {}
    return ToolsetContext(
        catalog,
        ToolLoadoutRegistry(),
        lambda extras: made.setdefault(tuple(extras), ToolRenderer(catalog, COUNTER, extras=extras)),
    )


@given(
    names=st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(NAMES)), unique=True, min_size=1), data=st.data()
)
def test_names_are_legal_unique_and_convertible_within_a_universe_and_plain_where_alone(
    names: list[tuple[str, str]], data: st.DataObject
) -> None:
    catalog = make_catalog(tuple(names))
    ids = [tool.id for tool in catalog.tools]
    universe = tuple(data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=1)))
    renderer = ToolRenderer(catalog, COUNTER).within(universe)
    offered = [renderer.offered(tool_id) for tool_id in universe]
    shown = [each.name for each in offered]
    assert len(set(shown)) == len(shown)
    assert all(map(is_legal_wire_name, shown))
    assert [renderer.find_id(name) for name in shown] == list(universe)
    own = [each.tool.name for each in offered]
    for each in offered:
        if own.count(each.tool.name) == 1 and is_legal_wire_name(each.tool.name):
            assert each.name == each.tool.name
        assert each.definition["function"]["name"] == each.name
        assert renderer.find_id(ToolRenderer(catalog, COUNTER).offered(each.tool.id).name) == each.tool.id


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_E1_every_toolset_shows_the_plain_name_where_a_case_is_offered_one_of_two(toolset: str) -> None:
    made = make_toolset(parse_toolset(toolset), context(TWINS))
    for tool in ("mail/send", "chat/send"):
        case = Case("c", ({"role": "user", "content": "send"},), (), offered=(tool, "chat/list.all"))
        talk = Conversation(case.messages)
        loads = Reply(calls=(ToolUse.from_text("1", "load_tools", '{"category": "web", "toolkits": ["web"]}'),))
        answers = tuple(answer or "" for answer in made.answer(case, talk, loads.calls))
        for later in (talk, talk.extended(loads, answers, GO_AHEAD)):
            shown = {each.tool.id: each.name for each in made.offer(case, later).tools}
            assert shown.get(tool, "send") == "send"
            assert shown.get("chat/list.all", "list_all") == "list_all"
    both = Case("c", ({"role": "user", "content": "send"},), (), offered=("mail/send", "chat/send"))
    names = [each.name for each in made.offer(both, Conversation(both.messages)).tools]
    assert "send" not in names


def test_one_definition_counts_the_same_and_is_one_object_however_the_universe_is_given() -> None:
    renderer = ToolRenderer(TWINS, COUNTER)
    one, other = (
        renderer.within(universe).offered("mail/send") for universe in (("mail/send",), ("mail/read", "mail/send"))
    )
    assert one is other
    assert one.tokens < renderer.offered("mail/send").tokens
    alone = ToolRenderer(make_catalog((("mail", "send"),)), COUNTER)
    assert one.tokens == alone.offered("mail/send").tokens
    assert renderer.within(("mail/read",)) is renderer
    assert renderer.within(None) is renderer
