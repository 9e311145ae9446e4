"""What `dynamic` measures is what an agent's sessions do (rules D3 to D6, E1)."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.evals.toolsets.samples import (
    ASSISTANT,
    HELPER,
    SMALL,
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
from toolbelt.evals.conversation import Reply
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import answer_text
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.expand import expander

OPEN = AgentSpec("open", ("chat",), ("sky", "versions", "papers"))
NAMES = ("versions", "papers", "sky", "VERSIONS ", "nothing")


@pytest.mark.parametrize("agent", [HELPER, OPEN], ids=["with-initial-toolkits", "without"])
@pytest.mark.parametrize("seed", range(5))
def test_E1_the_same_calls_get_the_same_answers_and_the_same_tools_in_the_next_turn(
    agent: AgentSpec, seed: int, tmp_path: Path
) -> None:
    made, renderer = with_renderer(f"dynamic:{agent.name}", context(agents=(agent,)))
    names = {tool.id: renderer.offered(tool.id).name for tool in SMALL.tools}
    shipped = DynamicToolkits(agent, TOOLKITS, expander(SMALL), names)
    sessions = DynamicSessions([shipped], SqliteSessionStore(tmp_path / "sessions.db"))
    draw, of = random.Random(seed), case()
    conversation, changed = start(of), False
    for _ in range(12):
        turn = sessions.begin_turn(agent.name, "s")
        for _ in range(draw.randint(1, 4)):
            assert shown(made, of, conversation)[3:] == [tool.key for tool in turn.tools]
            calls, answers = [], []
            for number in range(draw.randint(1, 3)):
                kit, do = draw.choice(NAMES), draw.choice(["load", "unload", "list"])
                calls.append(_call(do, kit, str(number)))
                answers.append(answer_text(_shipped(sessions, do, agent.name, kit)))
            assert list(made.answer(of, conversation, calls)) == answers
            conversation = play(made, of, calls, conversation=conversation)
        following = sessions.begin_turn(agent.name, "s").tools
        told = made.follow_up(of, conversation, Reply("Well."))
        assert (told is None) == (following == turn.tools)
        changed |= told is not None
        conversation = conversation.extended(Reply("Well."), (), told or "And now?")
    assert changed


def test_E1_what_a_model_is_shown_is_what_an_agent_shows_it(tmp_path: Path) -> None:
    registry = ToolRegistry(
        ExecutableTool(tool.name, tool.description, tool.parameters, plugin=tool.plugin, extra=tool.extra, function=str)
        for tool in ASSISTANT.tools
    )
    shipped = DynamicToolkits(HELPER, TOOLKITS, expand_over(registry))
    sessions = DynamicSessions([shipped], SqliteSessionStore(tmp_path / "sessions.db"))
    registry.register_all(sessions.meta_tools())
    made, of = toolset("dynamic:helper", ASSISTANT), case()
    conversation = start(of)
    for change in ("load_tools", "unload_tools"):
        turn = sessions.begin_turn("helper", "s")
        shown_here = made.offer(of, conversation).definitions
        assert json.dumps(shown_here) == json.dumps(turn.to_definitions(registry, form="openai"))
        calls = [use(change, toolkit="versions")]
        asyncio.run(turn.execute_parallel(registry, [{"name": change, "args": {"toolkit": "versions"}}]))
        conversation = play(made, of, calls, conversation=conversation).extended(Reply("Well."), (), "Go ahead.")
    assert json.dumps(made.offer(of, conversation).definitions) != json.dumps(shown_here)


def _call(do: str, kit: str, number: str) -> Any:
    if do == "list":
        return use("list_toolkits", call_id=number)
    return use(f"{do}_tools", call_id=number, toolkit=kit)


def _shipped(sessions: DynamicSessions, do: str, agent: str, kit: str) -> dict[str, Any]:
    if do == "list":
        return sessions.list_toolkits(agent, "s")
    return (sessions.load if do == "load" else sessions.unload)(agent, "s", kit)
