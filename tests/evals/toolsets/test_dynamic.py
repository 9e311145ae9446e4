"""`dynamic`, by rules D2 to D6 and E1."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.toolsets.samples import (
    CATALOGS,
    HELPER,
    SMALL,
    TIERED,
    TOOLKITS,
    case,
    context,
    play,
    shown,
    start,
    toolset,
    use,
    with_renderer,
)
from tests.wording import naming
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.running.prompt_tokens import Meter, PromptCounter
from toolbelt.evals.toolsets.dynamic import Dynamic
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.evals.toolsets.toolset import GO_AHEAD
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.tiers import Tiers
from toolbelt.toolkits.toolkit import Toolkit

META = ["list_toolkits", "load_tools", "unload_tools"]
CORE = [*META, "chat/send"]
GIT = ["repo/commit", "repo/push", "repo/log"]
FILES = ["disk/open", "disk/log"]
OTHER = ["chat/read", "weather.io/get forecast"]
ANY = case()
SPOKEN = Reply("I have it with your next message.")
AGENT = replace(HELPER, initial_toolkits=())


def load(toolkit: str, call_id: str = "1") -> Any:
    return use("load_tools", call_id=call_id, toolkit=toolkit)


def unload(toolkit: str, call_id: str = "1") -> Any:
    return use("unload_tools", call_id=call_id, toolkit=toolkit)


def status(answer: str | None) -> str:
    data = json.loads(answer or "")
    assert data["tool"] == "dynamic_tools"
    assert isinstance(data["status"], str)
    return str(data["status"])


def test_E1_each_category_is_a_toolkit_and_the_core_is_always_there() -> None:
    opened = toolset("dynamic")
    [answer] = opened.answer(ANY, start(ANY), [use("list_toolkits")])
    listed = json.loads(answer or "")["toolkits"]
    assert shown(opened, ANY) == CORE
    assert [(one["name"], one["tools"], one["loaded"], one["sticky"]) for one in listed] == [
        ("git", ["commit", "push", "repo__log"], False, False),
        ("files", ["open", "disk__log"], False, False),
        ("other", ["read", "get_forecast"], False, False),
    ]
    assert [one["description"] for one in listed] == [one["description"] for one in Tiers(SMALL).browse()["categories"]]


def test_E1_a_catalogs_own_way_of_loading_makes_way() -> None:
    opened = toolset("dynamic", TIERED)
    offer = opened.offer(ANY, start(ANY))
    assert [offered.tool.id for offered in offer.tools] == [
        *META,
        *(tool_id for tool_id in TIERED.core if tool_id not in ("core/browse_tools", "core/load_tools")),
    ]
    assert [*offer.definitions[1]["function"]["parameters"]["properties"]] == ["toolkit"]
    assert not {"core/browse_tools", "core/load_tools"} & opened.reach(ANY)


def test_E1_a_tool_that_is_called_like_a_meta_tool_is_shown_under_another_name() -> None:
    catalog = Catalog((Plugin("crane", (Tool("load_tools", "Put tools onto a lorry."),), "git"),), core=())
    opened = toolset("dynamic", catalog)
    after = play(opened, ANY, [load("git")], [])
    *meta, crane = opened.offer(ANY, after).tools
    assert [offered.name for offered in meta] == META
    assert crane.tool.id == "crane/load_tools"
    assert opened.answer(ANY, after, [use(crane.name)]) == (None,)


CRANE = Catalog(
    (Plugin("crane", (Tool("lift", id="load_tools"), Tool("drop", id="List_Toolkits"), Tool("turn")), "cranes"),),
    core=("List_Toolkits",),
)


@pytest.mark.parametrize("universe", [None, ("List_Toolkits", "load_tools")], ids=["whole", "a-universe"])
@pytest.mark.parametrize("agent", [None, AgentSpec("helper", ("crane/drop",), ("cranes",))], ids=["all", "an-agent"])
def test_E1_a_tool_whose_id_is_called_like_a_meta_tool_is_one_like_any_other(
    universe: tuple[str, ...] | None, agent: AgentSpec | None
) -> None:
    settings: dict[str, Any] = (
        {} if agent is None else {"agents": (agent,), "toolkits": (Toolkit("cranes", member_tools=("crane",)),)}
    )
    made, of = toolset("dynamic" if agent is None else "dynamic:helper", CRANE, **settings), case(offered=universe)
    after = play(made, of, [load("cranes")], [])
    offered = made.offer(of, after).tools
    assert [one.name for one in offered[:3]] == META
    assert {one.tool.id for one in offered[3:]} == {*(universe or ("load_tools", "List_Toolkits", "crane/turn"))}
    assert offered[3].tool.id == "List_Toolkits", "what is always there comes first"
    assert made.reach(of) == {one.tool.id for one in offered[3:]}
    listed = json.loads(after.exchanges[0].answers[0])["tools"]
    assert "lift" in listed
    assert set(listed) <= {one.name for one in offered[3:]}
    assert made.answer(of, after, [use(one.name) for one in offered[3:]]) == (None,) * len(offered[3:])


def test_E1_a_category_that_is_called_like_a_meta_tool_is_refused_with_what_to_do() -> None:
    catalog = Catalog((Plugin("crane", (Tool("lift"),), "Load_Tools"),), name="port")
    with pytest.raises(ToolbeltError, match=naming("Load_Tools", "category", "port")):
        toolset("dynamic", catalog)


@pytest.mark.parametrize("universe", [None, ("repo/push", "disk/open")], ids=["whole", "a-universe"])
def test_K8_what_is_switched_on_the_agent_has(universe: tuple[str, ...] | None) -> None:
    agent = AgentSpec("plain", tools_config={"vcs": True, "repo/log": False, "disk/open": True})
    opened = toolset("dynamic:plain", agents=(agent,), toolkits=(Toolkit("vcs", member_tools=("repo",)),))
    of = case(offered=universe)
    expected = ["disk/open", "repo/commit", "repo/push"]
    assert shown(opened, of) == [tool for tool in expected if universe is None or tool in universe]
    assert opened.reach(of) == {*shown(opened, of)}


def test_D1_an_entry_that_may_mean_several_tools_is_told_and_brings_none() -> None:
    opened = toolset("dynamic:plain", agents=(AgentSpec("plain", ("repo/push", "log")),))
    assert shown(opened, ANY) == ["repo/push"]
    assert isinstance(opened, Dynamic)
    assert len(opened.unmatched) == 2
    assert all(sentence.find("log") > 0 for sentence in opened.unmatched)
    assert "repo/log" in opened.unmatched[1]


def test_D4_a_load_takes_effect_with_the_users_next_message_and_not_within_the_turn() -> None:
    opened = toolset("dynamic")
    within = play(opened, ANY, [use("list_toolkits")], [load("git")], [use("list_toolkits")], [use("send")])
    assert shown(opened, ANY, within) == CORE
    assert opened.offer(ANY, within) is opened.offer(ANY, start(ANY))
    assert opened.follow_up(ANY, within, SPOKEN) == GO_AHEAD
    after = within.extended(SPOKEN, (), GO_AHEAD)
    assert shown(opened, ANY, after) == [*CORE, *GIT]
    assert opened.follow_up(ANY, after, SPOKEN) is None


def test_D4_answers_know_at_once_what_was_asked_for_in_the_same_batch() -> None:
    opened = toolset("dynamic")
    calls = [load("git"), load(" GIT ", "2"), use("commit", call_id="3"), unload("git", "4"), unload("git", "5")]
    answers = opened.answer(ANY, start(ANY), calls)
    assert [status(one) for one in answers[:2]] == ["loaded", "already_loaded"]
    assert answers[2] is None, "a tool called beside its loading is not there"
    assert [status(one) for one in answers[3:]] == ["unloaded", "not_loaded"]


def test_D4_a_load_undone_in_the_same_turn_is_nothing_to_wait_for() -> None:
    opened = toolset("dynamic")
    undone = play(opened, ANY, [load("git")], [unload("git")])
    assert opened.follow_up(ANY, undone, SPOKEN) is None
    redone = play(opened, ANY, [load("git")], [], [unload("git"), load("git", "2")])
    assert opened.follow_up(ANY, redone, SPOKEN) is None
    assert shown(opened, ANY, redone) == [*CORE, *GIT]


def test_D4_an_unload_takes_effect_with_the_next_message_too() -> None:
    opened = toolset("dynamic")
    loaded = play(opened, ANY, [load("git"), load("files", "2")], [])
    asked = play(opened, ANY, [unload("git")], conversation=loaded)
    assert shown(opened, ANY, asked) == [*CORE, *GIT, *FILES]
    assert shown(opened, ANY, play(opened, ANY, [], conversation=asked)) == [*CORE, *FILES]


def test_D6_toolkits_stand_in_allowed_order_whatever_was_loaded_first() -> None:
    opened = toolset("dynamic")
    one = play(opened, ANY, [load("other")], [], [load("git")], [])
    other = play(opened, ANY, [load("git"), load("other", "2")], [])
    assert shown(opened, ANY, one) == [*CORE, *GIT, *OTHER]
    assert opened.offer(ANY, one) is opened.offer(ANY, other)


def test_D5_an_agent_starts_with_its_initial_toolkits_which_stay() -> None:
    opened = toolset("dynamic:helper")
    assert shown(opened, ANY) == [*CORE, *FILES]
    calls = [load("papers"), unload("papers", "2"), load("sky", "3"), load("nothing", "4"), load("versions", "5")]
    answers = opened.answer(ANY, start(ANY), calls)
    assert [status(one) for one in answers] == ["already_loaded", "sticky", "not_allowed", "unknown", "loaded"]
    assert shown(opened, ANY, play(opened, ANY, calls, [])) == [*CORE, *GIT, *FILES], "in allowed order"
    assert opened.reach(ANY) == {"chat/send", *GIT, *FILES}


def test_D3_tools_with_other_overrides_conflict_and_definitions_stay_as_they_are() -> None:
    agent = AgentSpec("helper", ("chat",), ("one", "two"), overrides={"chat": {"description": "other"}})
    toolkits = (
        Toolkit("one", member_tools=("repo/log",), overrides={"repo/log": {"limit": 1}}),
        Toolkit("two", member_tools=("repo",)),
    )
    opened = toolset("dynamic:helper", agents=(agent,), toolkits=toolkits)
    after = play(opened, ANY, [load("one"), load("two", "2")], [])
    refused = json.loads(after.exchanges[0].answers[1])
    assert (refused["status"], refused["conflicting_tool"], refused["conflicts_with"]) == (
        "conflict",
        "repo__log",
        "one",
    )
    assert shown(opened, ANY, after) == [*META, "chat/send", "chat/read", "repo/log"]
    descriptions = [one["function"]["description"] for one in opened.offer(ANY, after).definitions[3:]]
    assert descriptions == ["Send a message to a channel", "Read a channel", "Show them"]


def test_D2_an_agent_that_may_load_nothing_has_no_meta_tools() -> None:
    opened = toolset("dynamic:plain", agents=(AgentSpec("plain", ("repo", "chat/send")),))
    assert shown(opened, ANY) == [*GIT, "chat/send"]
    assert opened.answer(ANY, start(ANY), [load("git")]) == (None,)
    assert opened.follow_up(ANY, play(opened, ANY, [load("git")]), SPOKEN) is None


@pytest.mark.parametrize("text", ["{", "[]", "", '{"toolkit": 1}', '{"category": "git"}'])
def test_D3_a_load_gone_wrong_changes_nothing_and_helps(text: str) -> None:
    opened = toolset("dynamic")
    after = play(opened, ANY, [use("load_tools", text)])
    answer = json.loads(after.exchanges[0].answers[0])
    assert (answer["status"], answer["allowed_toolkits"]) == ("error", ["git", "files", "other"])
    assert opened.follow_up(ANY, after, SPOKEN) is None


@pytest.mark.parametrize("name", ["dynamic", "dynamic:helper"])
def test_E3_a_case_with_a_universe_has_only_that(name: str) -> None:
    made, of = toolset(name), case(offered=("disk/log", "repo/push", "chat/read"))
    [answer] = made.answer(of, start(of), [use("list_toolkits")])
    named = [(one["name"], one["tools"]) for one in json.loads(answer or "")["toolkits"]]
    assert ["push"] in [tools for _, tools in named]
    everything = play(made, of, [load(key, str(at)) for at, (key, _) in enumerate(named)], [])
    assert (
        set(shown(made, of, everything)) - {*META}
        == made.reach(of)
        == {"disk/log", "repo/push"} | ({"chat/read"} if name == "dynamic" else set())
    )
    empty = case(offered=("weather.io/get forecast",))
    assert ("other" in named_of(made, empty)) == (name == "dynamic")
    assert "versions" not in named_of(made, empty)
    assert shown(made, empty) == META, "the agent has its meta-tools, however little there is to load"


def named_of(made: Any, of: Any) -> list[str]:
    [answer] = made.answer(of, start(of), [use("list_toolkits")])
    return [one["name"] for one in json.loads(answer)["toolkits"]]


def test_E1_answers_name_the_tools_as_they_are_shown() -> None:
    opened = toolset("dynamic", variant="anonymous")
    [answer] = opened.answer(ANY, start(ANY), [load("git")])
    after = opened.offer(ANY, play(opened, ANY, [load("git")], []))
    assert json.loads(answer or "")["tools"] == [offered.name for offered in after.tools[4:]]
    assert "commit" not in after.by_name
    assert [offered.name for offered in after.tools[:3]] == META


def test_E6_what_a_change_invalidates_is_all_behind_the_first_changed_definition() -> None:
    opened = toolset("dynamic")
    meter = Meter(PromptCounter(EstimateCounter()))
    conversation, prompts, offers = start(ANY), [], []
    for calls in ([load("files")], [], [load("git")], [], None):
        offers.append(opened.offer(ANY, conversation))
        prompts.append(meter.count(offers[-1], conversation))
        if calls is not None:
            conversation = play(opened, ANY, calls, conversation=conversation)
    core = sum(offered.tokens for offered in offers[0].tools)
    # Files come behind the core; Git before the files, so that these are paid for again.
    assert [len(offer.tools) for offer in offers] == [4, 4, 6, 6, 9]
    assert meter.invalidated_tokens == (prompts[1] - core) + (prompts[3] - core)
    assert meter.definition_tokens == [offer.tokens for offer in offers]


REPLIES = st.lists(
    st.lists(
        st.sampled_from(
            [make(name) for make in (load, unload) for name in ("versions", "papers", "PAPERS", "sky", "nope")]
            + [use("list_toolkits"), use("load_tools", "{"), use("commit")]
        ),
        max_size=3,
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(REPLIES)
def test_D4_what_is_offered_is_what_was_loaded_at_the_last_turn_and_a_turn_is_never_changed(replies: list[Any]) -> None:
    opened = toolset("dynamic:helper", agents=(AGENT,))
    toolkits = DynamicToolkits(AGENT, TOOLKITS, expand_over(SMALL))
    conversation, loaded, after = start(ANY), toolkits.initial, toolkits.initial
    for calls in [*replies, []]:
        assert shown(opened, ANY, conversation)[3:] == [tool.key for tool in toolkits.merge(loaded)]
        for call in calls:
            if call.name != "commit":
                key = (call.arguments or {}).get("toolkit", "")
                if call.name == "load_tools":
                    after = toolkits.load(key, after)[1]
                elif call.name == "unload_tools":
                    after = toolkits.unload(key, after)[1]
        if not calls:
            assert (opened.follow_up(ANY, conversation, SPOKEN) is None) == (loaded == after)
            loaded = after
        conversation = play(opened, ANY, calls, conversation=conversation)
    assert shown(opened, ANY, Conversation(ANY.messages, conversation.exchanges))[3:] == [
        tool.key for tool in toolkits.merge(loaded)
    ]


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("dynamic", ("dynamic",)),
        ("Dynamic", ("dynamic",)),
        ("dynamic:HELPER", ("dynamic:helper",)),
        ("dynamic: helper", ("dynamic:helper",)),
        ("dynamic:*", ("dynamic:helper", "dynamic:h+2")),
        ("dynamic:h*,dynamic", ("dynamic:helper", "dynamic:h+2", "dynamic")),
        ("dynamic:h+2", ("dynamic:h+2",)),
    ],
)
def test_E1_agents_are_named_as_loadouts_are(written: str, spelled: tuple[str, ...]) -> None:
    agents = (HELPER, AgentSpec("h+2", (), ("sky",)), AgentSpec("idle", ("nothing here",)))
    specs = expand_toolsets([written], SMALL, ToolLoadoutRegistry(), agents, TOOLKITS)
    assert tuple(map(str, specs)) == spelled


@pytest.mark.parametrize(
    ("written", "kind", "named"),
    [
        ("dynamic:hepler", NotFoundError, ("hepler", "helper")),
        ("dynamic:z*", NotFoundError, "No agent named"),
        ("dynamic:i*", ToolbeltError, ("dynamic:i*", "small", "idle")),
        ("dynamic:", ToolbeltError, "write 'dynamic' or 'dynamic:AGENT'"),
        ("dynamic+1", ToolbeltError, "malformed"),
        ("helper", NotFoundError, "dynamic:helper"),
    ],
)
def test_E1_what_is_no_agent_is_told(written: str, kind: type[ToolbeltError], named: object) -> None:
    agents = (HELPER, AgentSpec("idle", ("nothing here",)))
    with pytest.raises(kind, match=naming(named)):
        expand_toolsets([written], SMALL, ToolLoadoutRegistry(), agents, TOOLKITS)


def test_E1_without_agents_it_says_where_they_are_written() -> None:
    with pytest.raises(NotFoundError, match=r"under 'agents' in toolbelt\.yaml"):
        expand_toolsets(["dynamic:helper"], SMALL, ToolLoadoutRegistry())


def test_E1_an_agent_that_has_nothing_of_the_catalog_is_refused() -> None:
    with pytest.raises(ToolbeltError, match=naming("idle", "small")):
        toolset("dynamic:idle", agents=(AgentSpec("idle", ("nothing here",), ("bare",)),), toolkits=(Toolkit("bare"),))


def test_E1_an_agent_whose_toolkits_conflict_from_the_start_is_refused() -> None:
    toolkit = Toolkit("other", member_tools=("chat/send",), overrides={"chat/send": {"a": 1}})
    agent = AgentSpec("clash", ("chat",), ("other",), ("other",))
    with pytest.raises(ToolbeltError, match="agent 'clash'"):
        toolset("dynamic:clash", agents=(agent,), toolkits=(toolkit,))


def test_E1_entries_that_name_nothing_are_told() -> None:
    made, _ = with_renderer("dynamic:helper", context())
    assert isinstance(made, Dynamic)
    text = " ".join(made.unmatched)
    assert all(repr(entry) in text for entry in ("core", "web", "git", "filesystem", "files"))
    assert "weather" not in text, "of a toolkit that it may not load"


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_E5_every_tool_can_be_reached(catalog: Catalog) -> None:
    opened = toolset("dynamic", catalog)
    keys = [tier.name for tier in Tiers(catalog).tiers]
    everything = play(opened, ANY, [load(key, str(at)) for at, key in enumerate(keys)], [])
    own = {tool.id for tool in catalog.tools if tool.id in ("core/browse_tools", "core/load_tools")}
    assert set(shown(opened, ANY, everything)) - {*META} == opened.reach(ANY) == {one.id for one in catalog.tools} - own
