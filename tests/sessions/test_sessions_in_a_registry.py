"""Agents that load toolkits themselves, over a `ToolRegistry` (rules D2 to D4)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sessions.samples import ASSISTANT, HELPER, KITS, META, PLAIN, Broken, call, sessions_over, shown
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import SessionStore
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit


def a_registry(sessions_of: Callable[[ToolRegistry], DynamicSessions]) -> tuple[ToolRegistry, DynamicSessions]:
    registry = ToolRegistry(
        [ExecutableTool(name, function=lambda: "done") for name in ("file", "docker", "github", "arxiv", "other")]
    )
    made = sessions_of(registry)
    registry.register_all(made.meta_tools())
    return registry, made


@pytest.fixture
def served(store: SessionStore) -> tuple[ToolRegistry, DynamicSessions]:
    return a_registry(
        lambda registry: DynamicSessions(
            [DynamicToolkits(agent, KITS, expand_over(registry)) for agent in (ASSISTANT, HELPER, PLAIN)], store
        )
    )


def test_D2_D4_a_model_loads_a_toolkit_and_has_it_in_the_next_turn(
    served: tuple[ToolRegistry, DynamicSessions],
) -> None:
    registry, sessions = served
    turn = sessions.begin_turn("assistant", "s")
    assert shown(registry, turn) == [*META, "file", "arxiv"]
    results = call(registry, turn, ("load_tools", {"toolkit": "devops"}), ("docker", {}), ("file", {}))
    answer = json.loads(results[0].result.text)
    assert (answer["status"], answer["takes_effect"], answer["tool"]) == ("loaded", "next_request", "dynamic_tools")
    assert results[0].result.text == json.dumps(answer, sort_keys=True)
    assert results[0].result.structured == answer
    assert (results[1].result.code, results[2].result.value) == ("not_available", "done")

    again = call(registry, turn, ("docker", {}), ("list_toolkits", {}))
    assert again[0].result.code == "not_available", "a later request of the same turn"
    assert json.loads(again[1].result.text)["toolkits"][0]["loaded"] is True
    assert shown(registry, turn) == [*META, "file", "arxiv"]

    following = sessions.begin_turn("assistant", "s")
    assert shown(registry, following) == [*META, "file", "docker", "github", "arxiv"]
    assert call(registry, following, ("docker", {}))[0].result.value == "done"
    assert shown(registry, sessions.begin_turn("assistant", "other")) == [*META, "file", "arxiv"]
    assert shown(registry, sessions.begin_turn("helper", "s")) == [*META]


def test_D3_one_batch_may_load_many_and_none_is_lost(served: tuple[ToolRegistry, DynamicSessions]) -> None:
    registry, sessions = served
    turn = sessions.begin_turn("assistant", "s")
    loads = [("load_tools", {"toolkit": name}) for name in ("devops", "podman")] * 5
    statuses = [json.loads(made.result.text)["status"] for made in call(registry, turn, *loads)]
    assert sorted(statuses) == ["already_loaded"] * 4 + ["conflict"] * 5 + ["loaded"]
    assert len(sessions.begin_turn("assistant", "s").loaded) == 2


def test_D2_where_they_do_not_appear_they_cannot_be_called(served: tuple[ToolRegistry, DynamicSessions]) -> None:
    registry, sessions = served
    for turn in (sessions.begin_turn("assistant", None), sessions.begin_turn("plain", "s")):
        assert not {*shown(registry, turn)} & {*META}
        assert call(registry, turn, ("load_tools", {"toolkit": "devops"}))[0].result.code == "not_available"


@pytest.mark.parametrize(
    ("context", "words"),
    [
        pytest.param(ToolContext(session_id="s"), "names no agent", id="no-agent"),
        pytest.param(ToolContext(session_id="s", agent="helpr"), "Did you mean 'helper'", id="an-unknown-agent"),
        pytest.param(ToolContext(agent="assistant"), "there is no session", id="no-session"),
        pytest.param(ToolContext(agent="assistant", session_id="\ud800\0"), None, id="an-odd-session"),
    ],
)
def test_what_goes_wrong_is_an_answer_to_the_model(
    served: tuple[ToolRegistry, DynamicSessions], context: ToolContext, words: str | None
) -> None:
    registry, sessions = served
    turn = sessions.begin_turn("assistant", "s")
    (made,) = call(registry, turn, ("load_tools", {"toolkit": "devops"}), ctx=context)
    answer = json.loads(made.result.text)
    assert answer["status"] == ("loaded" if words is None else "error")
    assert (words or "") in answer["message"]
    assert made.result.ok


def test_a_store_that_does_not_work_is_an_answer_to_the_model() -> None:
    registry, sessions = a_registry(lambda _: sessions_over(Broken(readable=True)))
    turn = sessions.begin_turn("assistant", "s")
    (made,) = call(registry, turn, ("load_tools", {"toolkit": "devops"}))
    answer = json.loads(made.result.text)
    assert (answer["status"], answer["message"]) == ("error", "The disk is full.")


def test_D1_a_tool_is_told_the_overrides_of_its_turn(store: SessionStore) -> None:
    def docker(context: ToolContext) -> str:
        return str(context.overrides["docker"]["socket"])

    registry = ToolRegistry([ExecutableTool.of(docker)])
    sessions = sessions_over(store)
    sessions.load("assistant", "s", "podman")
    turn = sessions.begin_turn("assistant", "s")
    assert call(registry, turn, ("docker", {}))[0].result.text == "podman"
    context = turn.context(ToolContext(turn_count=3, overrides={"x": {}}))
    assert (context.turn_count, context.agent, context.session_id) == (3, "assistant", "s")
    assert context.overrides == {"docker": {"socket": "podman"}}


def test_D4_tools_of_servers_and_extensions_come_and_go_like_any_other(store: SessionStore) -> None:
    registry = ToolRegistry(
        [
            ExecutableTool("mcp__hub__issue", plugin="hub", function=str),
            ExecutableTool("mcp__else__where", plugin="else", function=str),
        ]
    )
    registry.register(ExecutableTool("extended", plugin="ext", function=str), plugin_id="ext")
    kits = (Toolkit("hub", member_tools=("hub",)), Toolkit("ext", member_tools=("ext",)))
    agents = (AgentSpec("assistant", (), ("hub", "ext")), AgentSpec("helper", (), ("hub",)))
    sessions = DynamicSessions([DynamicToolkits(agent, kits, expand_over(registry)) for agent in agents], store)
    assert shown(registry, sessions.begin_turn("assistant", "s")) == ["mcp__else__where"]
    sessions.load("assistant", "s", "hub")
    assert shown(registry, sessions.begin_turn("assistant", "s")) == ["mcp__else__where", "mcp__hub__issue"]
    sessions.load("assistant", "s", "ext")
    turn = sessions.begin_turn("assistant", "s")
    assert shown(registry, turn) == ["mcp__else__where", "mcp__hub__issue", "extended"]
    assert shown(registry, sessions.begin_turn("helper", "s")) == ["mcp__else__where"]


def test_R2_what_is_always_included_no_configuration_takes_away(store: SessionStore) -> None:
    registry = ToolRegistry(
        [ExecutableTool("think", function=str, always_include=True), ExecutableTool("file", function=str)]
    )
    kits = (Toolkit("thinking", member_tools=("think",)),)
    agents = (AgentSpec("thinker", ("think",)), AgentSpec("loader", (), ("thinking",)), AgentSpec("plain", ("file",)))
    sessions = DynamicSessions([DynamicToolkits(agent, kits, expand_over(registry)) for agent in agents], store)
    registry.register_all(sessions.meta_tools())
    seen = {agent.name: shown(registry, sessions.begin_turn(agent.name, "s")) for agent in agents}
    assert seen == {"thinker": ["think"], "loader": [*META, "think"], "plain": ["file", "think"]}


def test_D7_the_server_of_one_agent_is_not_the_others(store: SessionStore) -> None:
    registry = ToolRegistry([ExecutableTool("mcp__hub__issue", plugin="hub", function=str)])
    agents = (AgentSpec("owner", ("hub",)), AgentSpec("other"))
    sessions = DynamicSessions([DynamicToolkits(agent, (), expand_over(registry)) for agent in agents], store)
    assert shown(registry, sessions.begin_turn("owner", "s")) == ["mcp__hub__issue"]
    assert shown(registry, sessions.begin_turn("other", "s")) == []


def test_D2_meta_tools_that_an_extension_brings_appear_nowhere_else_either(store: SessionStore) -> None:
    registry, sessions = ToolRegistry(), sessions_over(store)
    registry.register_all(sessions.meta_tools(), plugin_id="toolkits")
    assert shown(registry, sessions.begin_turn("assistant", "s")) == [*META]
    assert shown(registry, sessions.begin_turn("plain", "s")) == []


async def _converse(registry: ToolRegistry, sessions: DynamicSessions, agent: str, session: str, kits: str) -> None:
    """Loads one toolkit after the other, each in a turn of its own, then unloads them; looks twice in every turn."""
    expected: list[str] = []
    for meta_tool, toolkit in [*(("load_tools", kit) for kit in kits), *(("unload_tools", kit) for kit in kits)]:
        turn = await asyncio.to_thread(sessions.begin_turn, agent, session)
        for calls in ([{"name": meta_tool, "args": {"toolkit": toolkit}}], [{"name": toolkit.upper()}]):
            results = await registry.execute_parallel(calls, turn.context(), turn.allowed_tools, turn.filter_opts)
            assert shown(registry, turn) == [*META, *map(str.upper, expected)]
        assert results[0].result.ok == (toolkit in expected)
        expected = sorted({*expected} ^ {toolkit})


def test_D4_D7_conversations_at_once_have_nothing_of_one_another(tmp_path: Path) -> None:
    registry = ToolRegistry([ExecutableTool(name, function=lambda: "done") for name in "ABC"])
    kits = [Toolkit(key, member_tools=(key.upper(),)) for key in "abc"]
    agents = [DynamicToolkits(AgentSpec(name, (), ("a", "b", "c")), kits) for name in ("one", "two")]
    sessions = DynamicSessions(agents, SqliteSessionStore(tmp_path / "s.db"))
    registry.register_all(sessions.meta_tools())

    async def run() -> None:
        who = [("one", "s", "abc"), ("two", "s", "cab"), ("one", "t", "bca"), ("two", "t", "ca")]
        await asyncio.gather(*(_converse(registry, sessions, *one) for one in who))

    asyncio.run(run())


def test_D5_turns_of_one_session_at_once_lose_no_load(tmp_path: Path) -> None:
    keys = [f"kit{number}" for number in range(8)]
    agent = DynamicToolkits(AgentSpec("a", (), tuple(keys)), map(Toolkit, keys))
    sessions = DynamicSessions([agent], SqliteSessionStore(tmp_path / "s.db"))
    registry = ToolRegistry(sessions.meta_tools())

    async def turn_that_loads(key: str) -> str:
        turn = await asyncio.to_thread(sessions.begin_turn, "a", "s")
        calls = [{"name": "load_tools", "args": {"toolkit": key}}]
        (made,) = await registry.execute_parallel(calls, turn.context(), turn.allowed_tools, turn.filter_opts)
        return str(made.result.structured["status"])

    async def run() -> list[str]:
        return await asyncio.gather(*map(turn_that_loads, keys))

    assert asyncio.run(run()) == ["loaded"] * len(keys)
    assert sessions.begin_turn("a", "s").loaded == tuple(keys)


def test_R1_a_store_that_waits_for_others_does_not_stop_the_loop(tmp_path: Path) -> None:
    sessions = sessions_over(SqliteSessionStore(tmp_path / "s.db"))
    registry = ToolRegistry(sessions.meta_tools())
    turn = sessions.begin_turn("assistant", "s")

    async def run() -> object:
        with contextlib.closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            calls = [{"name": "load_tools", "args": {"toolkit": "devops"}}]
            loading = asyncio.create_task(
                registry.execute_parallel(calls, turn.context(), turn.allowed_tools, turn.filter_opts)
            )
            await asyncio.sleep(0.1)  # if the loop stood still, the lock would never be given up
            assert not loading.done()
            other.execute("ROLLBACK")
        return (await loading)[0].result.structured["status"]

    assert asyncio.run(run()) == "loaded"
