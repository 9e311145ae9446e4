"""Agents that load toolkits themselves, in sessions over a `ToolRegistry` (rules R2, R3, D2 to D7, K8)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sessions.samples import (
    ASSISTANT,
    HELPER,
    META,
    PLAIN,
    Broken,
    a_registry,
    call,
    open_session,
    runs,
    shown,
    tool,
)
from tests.wording import mentions, naming
from toolbelt.errors import InvalidDefinitionError, StorageError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.session import Session
from toolbelt.sessions.store import MemorySessionStore, SessionStore
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.toolkit import Directive, Toolkit


def test_D2_D4_a_model_loads_a_toolkit_and_has_it_in_the_next_turn(store: SessionStore) -> None:
    session = open_session(a_registry(), store=store)
    assert shown(session) == [*META, "file", "arxiv"]
    results = call(session, ("load_tools", {"toolkit": "devops"}), ("docker", {}), ("file", {}))
    answer = json.loads(results[0].result.text)
    assert (answer["status"], answer["takes_effect"], answer["tool"]) == ("loaded", "next_request", "dynamic_tools")
    assert results[0].result.text == json.dumps(answer, sort_keys=True)
    assert results[0].result.structured == answer
    assert (results[1].result.code, results[2].result.value) == (FailureCode.NOT_AVAILABLE, "file")

    again = call(session, ("docker", {}), ("list_toolkits", {}))
    assert again[0].result.code is FailureCode.NOT_AVAILABLE, "a later request of the same turn"
    assert json.loads(again[1].result.text)["toolkits"][0]["loaded"] is True
    assert shown(session) == [*META, "file", "arxiv"]

    session.begin_turn()
    assert shown(session) == [*META, "file", "docker", "github", "arxiv"]
    assert call(session, ("docker", {}))[0].result.value == "docker"
    assert shown(open_session(a_registry(), store=store, session_id="other")) == [*META, "file", "arxiv"]
    assert shown(open_session(a_registry(), HELPER, store)) == [*META]
    call(session, ("unload_tools", {"toolkit": "devops"}))
    assert call(session, ("docker", {}))[0].result.ok, "it goes with the next turn"
    session.begin_turn()
    assert call(session, ("docker", {}))[0].result.code is FailureCode.NOT_AVAILABLE


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        pytest.param([("load_tools", {"toolkit": "devops"})], "comes with the user's next message", id="was-loaded"),
        pytest.param([], "is in toolkit 'devops', which is not loaded", id="was-not-loaded"),
        pytest.param(
            [("load_tools", {"toolkit": "devops"}), ("unload_tools", {"toolkit": "devops"})], "which is not loaded",
            id="was-unloaded-again",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_same_batch", [True, False], ids=["in-the-same-batch", "in-a-later-batch"])
def test_D5_a_call_of_a_tool_that_is_not_there_yet_is_told_when_it_comes(
    calls: list[tuple[str, dict[str, object]]], words: str, is_same_batch: bool
) -> None:
    session = open_session(a_registry())
    if is_same_batch:
        *_, refused = call(session, *calls, ("github", {}))
    else:
        call(session, *calls)
        (refused,) = call(session, ("github", {}))
    assert refused.result.code is FailureCode.NOT_AVAILABLE
    assert words in refused.result.text


@pytest.mark.parametrize("name", ["other", "nothing"])
def test_R3_a_tool_that_the_agent_can_never_have_is_answered_like_one_that_does_not_exist(name: str) -> None:
    session = open_session(a_registry())
    call(session, ("load_tools", {"toolkit": "devops"}))
    (refused,) = call(session, (name, {}))
    assert refused.result.code is FailureCode.NOT_AVAILABLE
    assert refused.result.text.startswith(f"Unknown tool: {name!r}.")


def test_R4_a_refusal_is_cut_like_every_other_error() -> None:
    session = open_session(a_registry(), around=ToolContext(result_budget_chars=40))
    _, refused = call(session, ("file", {}), ("github", {}))
    assert refused.result.text.startswith("github is in toolkit")
    assert len(refused.result.text.split("\n")[0]) == 20


def test_D3_one_batch_may_load_many_in_the_order_of_the_calls(store: SessionStore) -> None:
    session = open_session(a_registry(), store=store)
    asked = ("podman", "devops", "nothing", "podman", "research")
    results = call(session, *(("load_tools", {"toolkit": name}) for name in asked))
    statuses = [each.result.structured["status"] for each in results]
    assert statuses == ["loaded", "conflict", "unknown", "already_loaded", "already_loaded"]
    results = call(
        session, ("unload_tools", {"toolkit": "podman"}), ("load_tools", {"toolkit": "devops"}), ("list_toolkits", {})
    )
    assert [each.result.structured["status"] for each in results] == ["unloaded", "loaded", "ok"]
    assert [row["loaded"] for row in results[-1].result.structured["toolkits"]] == [True, True, False]


@pytest.mark.parametrize(
    ("agent", "session_id"), [(ASSISTANT, None), (ASSISTANT, " "), (PLAIN, "s")], ids=["no-id", "blank", "no-toolkits"]
)
def test_D2_where_they_do_not_appear_they_cannot_be_called(agent: AgentSpec, session_id: str | None) -> None:
    session = open_session(a_registry(), agent, session_id=session_id)
    assert not {*shown(session)} & {*META}
    (refused,) = call(session, ("load_tools", {"toolkit": "devops"}))
    assert refused.result.code is FailureCode.NOT_AVAILABLE


@pytest.mark.parametrize("args", [{}, {"toolkit": 3}, {"toolkit": "devops", "force": True}, "devops"], ids=repr)
def test_R3_bad_arguments_are_said_and_change_nothing(args: object) -> None:
    session = open_session(a_registry())
    (refused,) = call(session, ("load_tools", args))  # type: ignore[arg-type]
    assert refused.result.code is FailureCode.INPUT_INVALID
    session.begin_turn()
    assert shown(session) == [*META, "file", "arxiv"]


def test_what_goes_wrong_with_the_store_is_an_answer_to_the_model_or_a_warning() -> None:
    session = open_session(a_registry(), store=Broken(readable=True))
    assert (
        session.begin_turn()
        == session.warnings
        == ("The state of this session could not be stored. The disk is full.",)
    )
    (made,) = call(session, ("load_tools", {"toolkit": "devops"}))
    assert (made.result.structured["status"], made.result.structured["message"]) == ("error", "The disk is full.")
    with pytest.raises(StorageError, match="locked"):
        open_session(a_registry(), store=Broken(readable=False)).begin_turn()


def test_R8_a_turn_that_cannot_begin_leaves_the_one_before() -> None:
    store = Broken(readable=True)
    session = open_session(a_registry(), store=store)
    before = shown(session)
    store.readable = False
    with pytest.raises(StorageError):
        session.begin_turn()
    assert shown(session) == before
    assert call(session, ("file", {}))[0].result.ok


def test_D1_a_tool_is_told_the_overrides_of_its_turn() -> None:
    def docker(context: ToolContext) -> str:
        return str(context.overrides["docker"]["socket"])

    around = ToolContext(turn_count=3, overrides={"x": {"y": 1}})
    session = open_session(ToolRegistry([ExecutableTool.of(docker)]), around=around)
    call(session, ("load_tools", {"toolkit": "podman"}))
    session.begin_turn()
    assert call(session, ("docker", {}))[0].result.text == "podman"
    context = session.context()
    assert (context.turn_count, context.agent, context.session_id) == (5, "assistant", "s")
    assert context.overrides == {"docker": {"socket": "podman"}, "x": {"y": 1}}


def test_D1_a_turn_warns_of_entries_that_name_no_tool() -> None:
    session = open_session(ToolRegistry([tool("file")]))
    assert session.begin_turn() == ("'arxiv' of toolkit 'research' names no tool here.",)
    assert shown(session) == [*META, "file"]


def test_D6_entries_that_name_no_tool_conflict_as_those_that_do() -> None:
    session = open_session(ToolRegistry([tool("file")]))
    first, second = call(session, *(("load_tools", {"toolkit": name}) for name in ("devops", "podman")))
    assert (first.result.structured["status"], second.result.structured["status"]) == ("loaded", "conflict")


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        pytest.param(AgentSpec("a", (), ("none",)), "Allowed toolkit 'none' is not there", id="no-such-toolkit"),
        pytest.param(AgentSpec("a", ("load_tools",), ("devops",)), "'load_tools' of a tool is reserved", id="an-entry"),
    ],
)
def test_D1_what_cannot_be_used_over_any_tools_is_refused_when_the_session_is_made(
    agent: AgentSpec, problem: str
) -> None:
    with pytest.raises(InvalidDefinitionError, match=problem):
        open_session(a_registry(), agent)


@pytest.mark.parametrize("name", ["load_tools", "List_Toolkits"])
def test_D1_a_reserved_name_that_a_plugin_brings_is_refused_where_the_agent_can_reach_it(name: str) -> None:
    registry = a_registry()
    registry.register(tool(name, "crane"))
    with pytest.raises(InvalidDefinitionError, match=f"{name!r} of a tool is reserved"):
        open_session(registry, AgentSpec("a", ("crane",), ("research",))).begin_turn()
    with pytest.raises(InvalidDefinitionError, match=f"{name!r} of a tool is reserved"):
        open_session(registry, AgentSpec("a", (), ("k",)), kits=[Toolkit("k", member_tools=("crane",))]).begin_turn()
    session = open_session(registry)
    assert shown(session) == [*META, "file", "arxiv"], "nobody else is in its way"
    assert call(session, ("load_tools", {"toolkit": "devops"}))[0].result.structured["status"] == "loaded"


# Tools of servers and extensions

AGENTS = (AgentSpec("plain"), AgentSpec("owner", ("hub", "ext"), ("more",)), AgentSpec("loader", (), ("more",)))
KITS = (Toolkit("more", member_tools=("late", "shop")),)


def of_strangers() -> ToolRegistry:
    registry = ToolRegistry([tool("mcp__hub__issue", "hub"), tool("mcp__else__where", "else")])
    registry.register(tool("extended", "ext"), plugin_id="ext")
    registry.register(tool("anybodys", "open"), plugin_id="open")
    return registry


def of_agent(registry: ToolRegistry, name: str, store: SessionStore | None = None) -> Session:
    agent = next(agent for agent in AGENTS if agent.name == name)
    return open_session(registry, agent, store, kits=KITS, team=AGENTS)


@pytest.mark.parametrize(
    ("agent", "own"),
    [
        pytest.param("plain", set(), id="who-names-nothing-has-what-nobody-names"),
        pytest.param("owner", {"mcp__hub__issue", "extended"}, id="who-names-them-has-them"),
        pytest.param("loader", set(), id="the-tools-of-another-agent-are-not-ones-own"),
    ],
)
def test_R3_D7_what_a_turn_does_not_show_it_does_not_run(agent: str, own: set[str]) -> None:
    session = of_agent(of_strangers(), agent)
    has = {*own, "mcp__else__where", "anybodys"}
    assert {*shown(session)} - {*META} == runs(session) == has


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda into: into.register(tool("mcp__shop__buy", "shop")), id="of-a-server-that-is-new"),
        pytest.param(lambda into: into.register(tool("mcp__hub__wipe", "hub")), id="of-a-server-that-was-there"),
        pytest.param(lambda into: into.register(tool("x", "shop"), plugin_id="shop"), id="of-an-extension-that-is-new"),
        pytest.param(lambda into: into.register(tool("y", "open"), plugin_id="open"), id="of-one-that-was-there"),
        pytest.param(lambda into: into.register(tool("late"), plugin_id="late"), id="under-a-name-that-an-entry-has"),
        pytest.param(lambda into: into.register(tool("late")), id="built-in"),
        pytest.param(lambda into: into.unregister("anybodys"), id="gone"),
    ],
)
@pytest.mark.parametrize("agent", [agent.name for agent in AGENTS])
def test_D4_what_is_registered_later_is_there_with_the_next_turn_as_if_it_had_always_been(
    agent: str, register: Callable[[ToolRegistry], None]
) -> None:
    registry, store = of_strangers(), MemorySessionStore()
    session = of_agent(registry, agent, store)
    call(session, ("load_tools", {"toolkit": "more"}))
    session.begin_turn()
    before = shown(session)
    register(registry)
    assert shown(session) == before
    assert runs(session) <= {*before}
    session.begin_turn()
    assert shown(session) == shown(of_agent(registry, agent, store))
    assert runs(session) == {*shown(session)} - {*META}


def test_D4_tools_of_servers_and_extensions_come_and_go_like_any_other(store: SessionStore) -> None:
    registry = ToolRegistry([tool("mcp__hub__issue", "hub"), tool("mcp__else__where", "else")])
    registry.register(tool("extended", "ext"), plugin_id="ext")
    kits = (Toolkit("hub", member_tools=("hub",)), Toolkit("ext", member_tools=("ext",)))
    session = open_session(registry, AgentSpec("assistant", (), ("hub", "ext")), store, kits=kits)
    seen = [shown(session)]
    for toolkit in ("hub", "ext"):
        call(session, ("load_tools", {"toolkit": toolkit}))
        session.begin_turn()
        seen.append(shown(session))
    assert [names[3:] for names in seen] == [
        ["mcp__else__where"],
        ["mcp__else__where", "mcp__hub__issue"],
        ["mcp__else__where", "mcp__hub__issue", "extended"],
    ]
    assert shown(open_session(registry, AgentSpec("helper", (), ("hub",)), store, kits=kits)) == [*META, seen[0][3]]


def test_R2_what_is_always_included_every_agent_has_unless_it_is_switched_off() -> None:
    registry = ToolRegistry([tool("think", always_include=True), tool("file")])
    kits = (Toolkit("thinking", member_tools=("think",)),)
    agents = (
        AgentSpec("thinker", ("think",)),
        AgentSpec("loader", (), ("thinking",)),
        AgentSpec("plain", ("file",)),
        AgentSpec("off", ("file",), tools_config={"thinking": False}),
    )
    seen = {agent.name: shown(open_session(registry, agent, kits=kits, team=agents)) for agent in agents}
    assert seen == {"thinker": ["think"], "loader": [*META, "think"], "plain": ["file", "think"], "off": ["file"]}


def test_R2_filters_of_the_session_narrow_further() -> None:
    filters = FilterOpts(allowed_mcp_servers=["hub"], allowed_plugins=())
    session = open_session(of_strangers(), AGENTS[1], kits=KITS, team=AGENTS, filter_opts=filters)
    assert {*shown(session)} - {*META} == runs(session) == {"mcp__hub__issue"}


@pytest.mark.parametrize(
    ("given", "around", "seen"),
    [
        pytest.param((), None, (), id="none"),
        pytest.param(("turn",), None, ("turn",), id="of-the-call"),
        pytest.param((), ToolContext(attachments=("context",)), ("context",), id="of-the-context"),
        pytest.param(("turn",), ToolContext(attachments=("context",)), ("turn",), id="of-the-call-before-the-context"),
    ],
)
def test_R6_attachments_reach_the_tool_that_declares_them(
    given: tuple[str, ...], around: ToolContext | None, seen: tuple[str, ...]
) -> None:
    def look(context: ToolContext) -> list[str]:
        return [str(one) for one in context.attachments]

    registry = ToolRegistry([ExecutableTool.of(look, capabilities=["attachments"])], backends={"attachments": True})
    session = open_session(registry, AgentSpec("a", ("look",)), around=around)
    (made,) = asyncio.run(session.execute_parallel([{"name": "look"}], given))
    assert made.result.structured == [*seen]


# Switches

SWITCHED = (Toolkit("ops", member_tools=("docker", "github")), Toolkit("web", member_tools=("arxiv", "docker")))


@pytest.mark.parametrize(
    ("config", "loadable", "loaded"),
    [
        pytest.param({}, ["ops", "web"], ["docker", "github", "arxiv"], id="nothing-switched"),
        pytest.param({"docker": False}, ["ops", "web"], ["github", "arxiv"], id="one-tool"),
        pytest.param({"web": False}, ["ops"], ["github"], id="a-toolkit-and-with-it-what-it-shares"),
        pytest.param({"ops": False, "web": False}, [], [], id="all"),
    ],
)
def test_K8_what_is_switched_off_is_neither_shown_nor_loaded_nor_run(
    config: dict[str, bool], loadable: list[str], loaded: list[str]
) -> None:
    agent = AgentSpec("a", ("file", "docker"), ("ops", "web"), tools_config=config)
    session = open_session(a_registry(), agent, kits=SWITCHED)
    static = ["file"] if config else ["file", "docker"]
    assert shown(session) == [*META, *static]
    answers = call(session, *(("load_tools", {"toolkit": key}) for key in ("ops", "web")), ("list_toolkits", {}))
    statuses = {key: each.result.structured["status"] for key, each in zip(("ops", "web"), answers, strict=False)}
    assert statuses == {key: "loaded" if key in loadable else "not_allowed" for key in ("ops", "web")}
    assert [row["name"] for row in answers[-1].result.structured["toolkits"]] == loadable
    session.begin_turn()
    assert shown(session) == list(dict.fromkeys([*META, *static, *loaded]))
    assert runs(session) == {*static, *loaded}


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param({"tools_config": {"ops": True}}, ["docker", "github"], id="a-toolkit"),
        pytest.param({"tools_config": {"ops": True, "docker": False}}, ["github"], id="but-one-of-its-tools"),
        pytest.param({"tools_config": {"ops": True, "web": False}}, ["github"], id="what-another-one-takes-away"),
        pytest.param({"tools_config": {"arxiv": True}}, ["arxiv"], id="one-tool"),
        pytest.param({"tools_config": {"other": True}}, ["other"], id="one-tool-in-no-toolkit"),
        pytest.param({"tools_config": {"web": None, "ops": "yes"}}, [], id="what-is-no-boolean"),
        pytest.param(
            {"tools": ("file", "github"), "tools_config": {"ops": True}},
            ["file", "github", "docker"],
            id="static-first",
        ),
        pytest.param(
            {"allowed_toolkits": ("ops",), "tools_config": {"ops": True, "docker": True}}, [*META], id="left-to-loading"
        ),
        pytest.param(
            {"allowed_toolkits": ("ops",), "tools_config": {"web": True}}, [*META, "arxiv", "docker"], id="beside-it"
        ),
    ],
)
def test_K8_what_is_switched_on_the_agent_has(agent: dict[str, Any], expected: list[str]) -> None:
    session = open_session(a_registry(), AgentSpec("a", **agent), kits=SWITCHED)
    assert shown(session) == expected
    assert runs(session) == set(expected) - {*META}


def test_K8_a_toolkit_that_is_switched_on_brings_its_policy_and_its_directive() -> None:
    text = "For containers, use {tools}. Never change `github` by hand."
    rules = DirectiveRules((DirectiveRule(when=("ship",), tool_choice="required"),))
    kit = Toolkit("ops", member_tools=("docker", "github"), policy=text, directive=rules)
    session = open_session(a_registry(), AgentSpec("a", tools_config={"ops": True, "github": False}), kits=[kit])
    assert str(session.prompt) == "For containers, use docker."
    assert session.directive("Ship it") == Directive(("docker",), "required")


def test_K8_a_toolkit_that_is_switched_on_has_the_overrides_of_the_agent_or_conflicts() -> None:
    kit = Toolkit("ops", member_tools=("docker",), overrides={"docker": {"limit": 1}})
    agent = AgentSpec("a", ("docker",), tools_config={"ops": True})
    with pytest.raises(InvalidDefinitionError, match=naming("'ops'", "conflicts", "'docker'")):
        shown(open_session(a_registry(), agent, kits=[kit]))


def test_K8_what_is_switched_off_after_it_was_loaded_is_gone_for_good(store: SessionStore) -> None:
    agent = AgentSpec("a", (), ("ops", "web"), ("web",))
    call(open_session(a_registry(), agent, store, kits=SWITCHED), ("load_tools", {"toolkit": "ops"}))
    off = AgentSpec("a", (), ("ops", "web"), ("web",), tools_config={"ops": False})
    session = open_session(a_registry(), off, store, kits=SWITCHED)
    assert session.begin_turn() == ("Toolkit 'ops' is switched off for agent 'a', so this session goes on without it.",)
    assert shown(session) == [*META, "arxiv"]
    assert shown(open_session(a_registry(), agent, store, kits=SWITCHED)) == [*META, "arxiv", "docker"]


def test_K8_a_misspelt_switch_is_a_warning_of_the_session() -> None:
    agent = AgentSpec("a", ("file",), ("ops", "web"), tools_config={"dokcer": False, "docker": False})
    session = open_session(a_registry(), agent, kits=SWITCHED)
    (warning,) = session.begin_turn()
    assert mentions(warning, "tools_config", "'dokcer'", "docker")
    assert session.warnings == session.begin_turn() == (warning,), "as long as it is so"


def test_K2_a_switch_that_would_miss_a_tool_is_refused_when_the_turn_begins() -> None:
    kits = (Toolkit("ops", member_tools=("dokcer",)),)
    agent = AgentSpec("a", ("docker",), ("ops",), tools_config={"ops": False})
    with pytest.raises(InvalidDefinitionError, match=naming("ops", "dokcer", "docker")):
        open_session(a_registry(), agent, kits=kits).begin_turn()


# Several at once


async def _converse(session: Session, kits: str) -> None:
    """Loads one toolkit after the other, each in a turn of its own, then unloads them; looks twice in every turn."""
    expected: list[str] = []
    for meta_tool, toolkit in [*(("load_tools", kit) for kit in kits), *(("unload_tools", kit) for kit in kits)]:
        await asyncio.to_thread(session.begin_turn)
        for calls in ([{"name": meta_tool, "args": {"toolkit": toolkit}}], [{"name": toolkit.upper()}]):
            results = await session.execute_parallel(calls)
            assert shown(session) == [*META, *map(str.upper, expected)]
        assert results[0].result.ok == (toolkit in expected)
        expected = sorted({*expected} ^ {toolkit})


def test_D4_D7_conversations_at_once_have_nothing_of_one_another(tmp_path: Path) -> None:
    registry = ToolRegistry([tool(name) for name in "ABC"])
    kits = [Toolkit(key, member_tools=(key.upper(),)) for key in "abc"]
    agents = {name: AgentSpec(name, (), ("a", "b", "c")) for name in ("one", "two")}
    store = SqliteSessionStore(tmp_path / "s.db")

    async def run() -> None:
        who = [("one", "s", "abc"), ("two", "s", "cab"), ("one", "t", "bca"), ("two", "t", "ca")]
        await asyncio.gather(
            *(_converse(open_session(registry, agents[name], store, at, kits), order) for name, at, order in who)
        )

    asyncio.run(run())


def test_D5_turns_of_one_session_at_once_lose_no_load(tmp_path: Path) -> None:
    keys = [f"kit{number}" for number in range(8)]
    agent, kits = AgentSpec("a", (), tuple(keys)), [*map(Toolkit, keys)]
    store = SqliteSessionStore(tmp_path / "s.db")

    async def turn_that_loads(key: str) -> str:
        session = open_session(ToolRegistry(), agent, store, kits=kits)
        await asyncio.to_thread(session.begin_turn)
        (made,) = await session.execute_parallel([{"name": "load_tools", "args": {"toolkit": key}}])
        return str(made.result.structured["status"])

    async def run() -> list[str]:
        return await asyncio.gather(*map(turn_that_loads, keys))

    assert asyncio.run(run()) == ["loaded"] * len(keys)
    stored = store.read("a", "s")
    assert stored is not None
    assert stored.loaded == tuple(keys)


def test_R1_a_store_that_waits_for_others_does_not_stop_the_loop(tmp_path: Path) -> None:
    session = open_session(a_registry(), store=SqliteSessionStore(tmp_path / "s.db"))
    session.begin_turn()

    async def run() -> object:
        with contextlib.closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            calls = [{"name": "load_tools", "args": {"toolkit": "devops"}}]
            loading = asyncio.create_task(session.execute_parallel(calls))
            await asyncio.sleep(0.1)  # if the loop stood still, the lock would never be given up
            assert not loading.done()
            other.execute("ROLLBACK")
        return (await loading)[0].result.structured["status"]

    assert asyncio.run(run()) == "loaded"
