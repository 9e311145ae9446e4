"""What agents have loaded, as plain values (rules D5, D6)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.samples import META
from tests.wording import mentions
from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter, count_tool_tokens
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.inspection import SessionInspection, conflict_text, stored_sessions_data
from toolbelt.sessions.store import MemorySessionStore
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.toolkits.toolkit import Toolkit

CATALOG = Catalog((Plugin("git", (Tool("status"), Tool("push"))), Plugin("docker", (Tool("run"),))), name="two")
TOKENS = count_tool_tokens(CATALOG, EstimateCounter())
TOOLKITS = (
    Toolkit("start", member_tools=("docker/run",)),
    Toolkit("more", member_tools=("git/status", "own")),
    Toolkit("same", member_tools=("git/push", "git/status")),
    Toolkit("clash", member_tools=("git/push",), overrides={"git/push": {"a": 1}}),
)
AGENT = AgentSpec(
    "a",
    tools=("git/push",),
    allowed_toolkits=("start", "more", "same", "clash"),
    initial_toolkits=("start",),
)
DYNAMIC = toolkits_over(AGENT, TOOLKITS, CATALOG)


def inspect(*loaded: str) -> SessionInspection:
    store = MemorySessionStore()
    store.write("a", "s", loaded, None)
    return SessionInspection(StoredToolkits(DYNAMIC, store, "s"), EstimateCounter())


@given(st.lists(st.sampled_from(["start", "more", "same", "clash", "gone"]), unique=True))
def test_D5_everything_allowed_is_either_loaded_or_not_and_tools_add_up(loaded: list[str]) -> None:
    made = inspect(*loaded)
    data = made.to_dict()
    assert json.loads(json.dumps(data)) == data
    there, others = ([row["toolkit"] for row in data[part]] for part in ("loaded", "not_loaded"))
    assert sorted(there + others) == sorted(AGENT.allowed_toolkits)
    assert "start" in there
    assert {row["toolkit"] for row in data["dropped"]} == {"clash", "gone"}.intersection(loaded)
    brought = [tool for row in data["loaded"] for tool in row["tools"]]
    assert [row["tool"] for row in data["tools"]] == [*META, "git/push", *brought]
    assert [row["meta"] for row in data["tools"]] == [True] * 3 + [False] * (1 + len(brought))
    assert data["tokens"]["tools"] == sum(row["tokens"] for row in data["tools"])
    assert data["tokens"]["uncounted"] == len(data["unmatched"]) == (1 if "more" in there else 0)


def test_D6_what_would_be_added_leaves_out_what_is_there_already() -> None:
    rows = {row["toolkit"]: row for row in inspect().to_dict()["not_loaded"]}
    assert rows["same"]["tools"] == ["git/status"]
    assert rows["same"]["tokens"] == TOKENS.of(["git/status"])
    assert (rows["clash"]["status"], rows["clash"]["tools"]) == ("conflict", [])
    assert mentions(rows["clash"]["conflict"], "git/push", '{} there, {"a": 1} here')
    rows = {row["toolkit"]: row for row in inspect("more").to_dict()["not_loaded"]}
    assert (rows["same"]["status"], rows["same"]["tools"], rows["same"]["tokens"]) == ("loadable", [], 0)


def test_D6_a_conflict_names_both_sides() -> None:
    answer, _ = DYNAMIC.load("clash", ("start",))
    assert answer["status"] == "conflict"
    assert "the agent's own tools" in conflict_text(answer)
    assert "toolkit 'x'" in conflict_text({**answer, "conflicts_with": "x"})


@pytest.mark.parametrize(
    ("agent", "session", "rows"),
    [
        (None, None, [("a", "1"), ("a", "2"), ("b", "1")]),
        ("a", None, [("a", "1"), ("a", "2")]),
        (None, "1", [("a", "1"), ("b", "1")]),
        ("b", "2", []),
    ],
)
def test_D7_what_is_kept_is_listed_by_agent_and_session(
    agent: str | None, session: str | None, rows: list[tuple[str, str]]
) -> None:
    store = MemorySessionStore()
    for name, where in (("b", "1"), ("a", "2"), ("a", "1")):
        store.write(name, where, ["start"], None)
    found = stored_sessions_data(store, {"a": AGENT}, agent, session)
    assert [(row["agent"], row["session"]) for row in found] == rows
    assert all((row["problem"] is None) is (row["agent"] == "a") for row in found)
    assert all(row["stored"] == ["start"] for row in found)
