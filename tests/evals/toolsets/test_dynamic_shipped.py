"""What `dynamic` measures is what an agent's sessions do, and what the command line shows (rules D3 to D6, E1, R8)."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.evals.toolsets.samples import (
    ASSISTANT,
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
from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.errors import ToolbeltError
from toolbelt.evals.conversation import Reply
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.inspection import SessionInspection
from toolbelt.sessions.session import Session
from toolbelt.sessions.store import MemorySessionStore, SessionStore
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.sessions.toolkit_policy import ToolkitPolicy
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.tiers import own_meta_tools
from toolbelt.toolkits.toolkit import Toolkit

OPEN = AgentSpec("open", ("chat",), ("sky", "versions", "papers"))
NAMES = ("versions", "papers", "sky", "VERSIONS ", "nothing")


def registry_of(catalog: Catalog) -> ToolRegistry:
    """The catalog's tools as a program registers them, which never has the meta-tools of a catalog."""
    own = own_meta_tools(catalog)
    registry = ToolRegistry()
    for plugin in catalog.plugins:
        tools = [
            ExecutableTool(each.name, each.description, each.parameters, extra=each.extra, function=str)
            for each in plugin.tools
            if each.id not in own
        ]
        registry.register_all(Plugin(plugin.name, tuple(tools), plugin.category, plugin.description))
    return registry


def session_of(
    agent: AgentSpec, catalog: Catalog, store: SessionStore, toolkits: Sequence[Toolkit] = TOOLKITS
) -> Session:
    policy = ToolkitPolicy(agent, toolkits, store, "s")
    return Session(registry_of(catalog), [policy], session_id="s", agent=agent.name)


@pytest.mark.parametrize("agent", [HELPER, OPEN], ids=["with-initial-toolkits", "without"])
@pytest.mark.parametrize("seed", range(5))
def test_E1_the_same_calls_get_the_same_answers_and_the_same_tools_in_the_next_turn(
    agent: AgentSpec, seed: int, tmp_path: Path
) -> None:
    made, renderer = with_renderer(f"dynamic:{agent.name}", context(agents=(agent,)))
    names = {tool.id: renderer.offered(tool.id).name for tool in SMALL.tools}
    session = session_of(agent, DISTINCT, SqliteSessionStore(tmp_path / "sessions.db"))
    draw, of = random.Random(seed), case()
    conversation, changed = start(of), False
    for _ in range(12):
        session.begin_turn()
        for _ in range(draw.randint(1, 4)):
            offered = shown(made, of, conversation)
            assert [names.get(tool_id, tool_id) for tool_id in offered] == wire_names(session)
            calls = []
            for number in range(draw.randint(1, 3)):
                kit, do = draw.choice(NAMES), draw.choice(["load", "unload", "list"])
                calls.append(_call(do, kit, str(number)))
            asked = [{"id": each.id, "name": each.name, "args": each.text} for each in calls]
            results = asyncio.run(session.execute_parallel(asked))
            assert list(made.answer(of, conversation, calls)) == [each.result.text for each in results]
            conversation = play(made, of, calls, conversation=conversation)
        before = wire_names(session)
        told = made.follow_up(of, conversation, Reply("Well."))
        session.begin_turn()
        assert (told is None) == (wire_names(session) == before)
        changed |= told is not None
        conversation = conversation.extended(Reply("Well."), (), told or "And now?")
    assert changed


DISTINCT = Catalog(
    tuple(
        Plugin(
            plugin.name,
            tuple(Tool(SMALL.wire_names[tool.id], tool.description, tool.parameters) for tool in plugin.tools),
            plugin.category,
        )
        for plugin in SMALL.plugins
    )
)
"""The same tools under the names that models see: no registry has two of one name."""


def wire_names(session: Session) -> list[str]:
    return [definition["name"] for definition in session.to_definitions()]


def _call(do: str, kit: str, number: str) -> Any:
    if do == "list":
        return use("list_toolkits", call_id=number)
    return use(f"{do}_tools", call_id=number, toolkit=kit)


def test_E1_what_a_model_is_shown_is_what_an_agent_shows_it(tmp_path: Path) -> None:
    session = session_of(HELPER, ASSISTANT, SqliteSessionStore(tmp_path / "sessions.db"))
    made, of = toolset("dynamic:helper", ASSISTANT), case()
    conversation = start(of)
    seen = []
    for change in ("load_tools", "unload_tools"):
        session.begin_turn()
        seen.append(json.dumps(made.offer(of, conversation).definitions))
        assert seen[-1] == json.dumps(session.to_definitions(form="openai"))
        asyncio.run(session.execute_parallel([{"name": change, "args": {"toolkit": "versions"}}]))
        calls = [use(change, toolkit="versions")]
        conversation = play(made, of, calls, conversation=conversation).extended(Reply("Well."), (), "Go ahead.")
    assert len({*seen, json.dumps(made.offer(of, conversation).definitions)}) == 2


# Command line, sessions and evals have one idea of an agent

ODD = Catalog(
    (
        Plugin("crane", (Tool("load_tools", "Put tools onto a lorry."), Tool("lift", "Lift it."))),
        Plugin("odd names", (Tool("load tools", "With a blank."), Tool("Größe", "Of it."), Tool("a.b"), Tool("a_b"))),
        Plugin("git", (Tool("git_log", "Show commits."), Tool("git_push", "Send them.")), "git"),
    ),
    name="odd",
)
KITS = (
    *TOOLKITS,
    Toolkit("ops", member_tools=("docker", "kubernetes", "nothing like it")),
    Toolkit("lifting", member_tools=("crane/lift",)),
    Toolkit("cranes", member_tools=("crane",)),
    Toolkit("odd", member_tools=("odd names", "git/git_push")),
    Toolkit("pushing", member_tools=("git/git_push",), overrides={"git/git_push": {"remote": "fork"}}),
)
AGENTS = {
    "shipped-catalog": (AgentSpec("a", ("file", "web"), ("versions", "ops"), ("versions",)), ASSISTANT, ("ops",)),
    "tools-alone": (AgentSpec("a", ("file", "websearch")), ASSISTANT, ()),
    "meta-tools-of-the-catalog": (AgentSpec("a", ("core",), ("versions", "papers")), TIERED, ("papers",)),
    "what-is-not-there": (AgentSpec("a", ("fiel", "git"), ("ops", "versions")), ASSISTANT, ("ops",)),
    "names-that-are-refused": (AgentSpec("a", ("git/git_log",), ("odd", "lifting")), ODD, ("odd", "lifting")),
    "a-conflict": (AgentSpec("a", ("git/git_log",), ("pushing", "odd")), ODD, ("odd", "pushing")),
    "switched-off": (
        AgentSpec("a", ("git",), ("odd", "versions"), tools_config={"git_push": False, "versions": False}),
        ODD,
        ("odd", "versions"),
    ),
    "all-switched-off": (AgentSpec("a", ("git",), ("odd",), tools_config={"odd": False}), ODD, ("odd",)),
}


def played(made: Toolset, loads: Sequence[str]) -> Any:
    """The offer of the turn after these loads."""
    calls = [use("load_tools", call_id=str(number), toolkit=key) for number, key in enumerate(loads)]
    conversation = play(made, case(), *([calls] if calls else []))
    return made.offer(case(), conversation.extended(Reply("Well."), (), "Go ahead."))


@pytest.mark.parametrize(("agent", "catalog", "loads"), AGENTS.values(), ids=AGENTS)
def test_D5_command_line_session_and_eval_agree_about_tools_and_tokens(
    agent: AgentSpec, catalog: Catalog, loads: Sequence[str]
) -> None:
    store, counter = MemorySessionStore(), EstimateCounter()
    session = session_of(agent, catalog, store, KITS)
    asyncio.run(session.execute_parallel([{"name": "load_tools", "args": {"toolkit": key}} for key in loads]))
    data = SessionInspection(StoredToolkits(toolkits_over(agent, KITS, catalog), store, "s"), counter).to_dict()
    warnings = session.begin_turn()
    offer = played(toolset("dynamic:a", catalog, agents=(agent,), toolkits=KITS), loads)
    names = [row["name"] for row in data["tools"]]
    assert names == wire_names(session) == [offered.name for offered in offer.tools]
    assert data["tokens"]["tools"] == session.count_tokens(counter) == offer.tokens
    assert [row["tokens"] for row in data["tools"]] == [offered.tokens for offered in offer.tools]
    assert len(data["unmatched"]) == len([text for text in warnings if "names no tool" in text])
    meta = [row["tool"] for row in data["tools"] if row["meta"]]
    assert meta == (["list_toolkits", "load_tools", "unload_tools"] if agent.allowed_toolkits else [])


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(AgentSpec("a", ("crane",), ("odd",)), id="static"),
        pytest.param(AgentSpec("a", ("git",), ("cranes",)), id="in-a-toolkit"),
        pytest.param(AgentSpec("a", ("load_tools",), ("odd",)), id="named"),
    ],
)
def test_D1_command_line_session_and_eval_refuse_the_same_reserved_names(agent: AgentSpec) -> None:
    with pytest.raises(ToolbeltError, match="'load_tools' of a tool is reserved"):
        toolkits_over(agent, KITS, ODD)
    with pytest.raises(ToolbeltError, match="'load_tools' of a tool is reserved"):
        session_of(agent, ODD, MemorySessionStore(), KITS).begin_turn()
    with pytest.raises(ToolbeltError, match="'load_tools' of a tool is reserved"):
        toolset("dynamic:a", ODD, agents=(agent,), toolkits=KITS)
