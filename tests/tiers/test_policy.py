"""Tiers in a session (rules T1 to T4, R8)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt.agents import LoadoutPolicy
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.session import Session
from toolbelt.sessions.toolkit_policy import ToolkitPolicy
from toolbelt.stores.catalogs import open_catalog
from toolbelt.tiers import Tiers
from toolbelt.tiers.policy import TierPolicy
from toolbelt.toolkits.toolkit import Toolkit

META = ["browse_tools", "load_tools"]
CATALOG = Catalog(
    (
        Plugin("chat", (Tool("send"), Tool("read"))),
        Plugin("repo", (Tool("commit"), Tool("push")), "Git"),
        Plugin("hub", (Tool("open issue"),), "Git"),
        Plugin("disk", (Tool("list files"), Tool("shred")), "files"),
    ),
    categories={"files": "Files on a disk", "Git": "Version control"},
    core=("chat/send", "chat/read"),
)


def tool(name: str, plugin: str, **settings: Any) -> ExecutableTool:
    return ExecutableTool(name, plugin=plugin, function=lambda: name, **settings)


def registry(*more: ExecutableTool) -> ToolRegistry:
    tools = [tool(each.name, plugin.name) for plugin in CATALOG.plugins for each in plugin.tools]
    return ToolRegistry([*tools, *more])


def session(*more: ExecutableTool, enforce: bool = False) -> Session:
    return Session(registry(*more), [TierPolicy(CATALOG, enforce=enforce)])


def shown(of: Session) -> list[str]:
    return [definition["name"] for definition in of.to_definitions()]


def ask(of: Session, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Of each call of one batch the answer, or the code of the failure."""
    asked = [{"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)]
    results = [each.result for each in asyncio.run(of.execute_parallel(asked))]
    return [each.code or each.structured or each.value for each in results]


def load(category: str) -> tuple[str, dict[str, Any]]:
    return "load_tools", {"category": category}


def test_T1_T2_the_core_is_shown_and_the_rest_is_browsed_by_the_categories_of_the_catalog() -> None:
    of = session(tool("mystery", "unknown"))
    assert shown(of) == [*META, "send", "read"]
    (browsed,) = ask(of, ("browse_tools", {}))
    assert browsed == {
        "categories": [
            {"name": "files", "description": "Files on a disk", "tool_count": 2},
            {"name": "Git", "description": "Version control", "tool_count": 3},
            {"name": "other", "description": "mystery", "tool_count": 1},
        ]
    }


def test_T3_loading_expands_the_next_request_and_ends_with_the_turn() -> None:
    of = session()
    loaded, _, again = ask(of, load("git"), ("push", {}), load("GIT"))
    assert loaded == {
        "loaded": "Git",
        "tools_added": ["commit", "push", "open_issue"],
        "message": "3 Git tools are now available.",
    }
    assert again["tools_added"] == []
    assert shown(of) == [*META, "send", "read", "commit", "push", "open_issue"]
    ask(of, load("files"))
    assert shown(of)[-3:] == ["open_issue", "list_files", "shred"]
    assert ask(of, load("nothing")) == [{"error": "Unknown category: nothing. Available: files, Git"}]
    of.begin_turn()
    assert shown(of) == [*META, "send", "read"]


@pytest.mark.parametrize("name", ["open_issue", "open issue", "hub/open issue"], ids=["wire", "plain", "id"])
def test_T4_any_known_tool_runs_by_any_name_that_a_model_may_write(name: str) -> None:
    of = session()
    assert ask(of, (name, {})) == ["open issue"]
    assert shown(of) == [*META, "send", "read"]
    ask(of, load("Git"))
    assert ask(of, (name, {})) == ["open issue"]


@pytest.mark.parametrize("name", ["open_issue", "open issue", "hub/open issue"], ids=["wire", "plain", "id"])
def test_T4_enforced_a_tool_must_have_been_loaded_in_an_earlier_request(name: str) -> None:
    of = session(enforce=True)
    results = asyncio.run(of.execute_parallel([{"name": name}, {"name": "load_tools", "args": {"category": "Git"}}]))
    assert results[0].result.code is FailureCode.NOT_AVAILABLE
    assert results[0].result.text == "open_issue is available from your next message on; call it again then."
    assert ask(of, (name, {}), ("send", {})) == ["open issue", "send"]
    of.begin_turn()
    assert ask(of, (name, {}), ("send", {})) == [FailureCode.NOT_AVAILABLE, "send"]
    (missing,) = asyncio.run(of.execute_parallel([{"name": name}]))
    assert missing.result.text == 'open_issue is not loaded. Call load_tools with {"category": "Git"} first.'


@pytest.mark.parametrize("enforce", [False, True])
def test_T4_a_tool_that_does_not_exist_is_unknown(enforce: bool) -> None:
    of = session(enforce=enforce)
    (refused,) = asyncio.run(of.execute_parallel([{"name": "nothing"}]))
    assert refused.result.code is FailureCode.NOT_AVAILABLE
    assert refused.result.text.startswith("Unknown tool")


def test_T1_a_core_tool_that_is_not_registered_is_left_out() -> None:
    of = session()
    of.registry.unregister("read")
    assert shown(of) == [*META, "send"]


def test_T1_without_a_catalog_there_is_no_core() -> None:
    of = Session(registry(), [TierPolicy()])
    assert shown(of) == META
    assert [row["name"] for row in ask(of, ("browse_tools", {}))[0]["categories"]] == ["other"]


@pytest.mark.parametrize("args", [{}, {"category": None}, {"category": 3}, {"name": "git"}, "git"], ids=repr)
def test_T2_bad_arguments_are_said_and_change_nothing(args: Any) -> None:
    of = session()
    assert ask(of, ("load_tools", args)) == [FailureCode.INPUT_INVALID]
    assert shown(of) == [*META, "send", "read"]


def test_R8_a_tool_with_the_name_of_a_meta_tool_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="browse_tools"):
        session(tool("browse_tools", "shop")).begin_turn()


def test_T1_a_catalogs_own_meta_tools_among_its_core_give_the_definitions_and_make_way() -> None:
    tiered = open_catalog("tiered").catalog
    tools = [
        ExecutableTool(each.name, each.description, each.parameters, plugin=each.plugin, function=lambda **_: "done")
        for each in tiered.tools
    ]
    of = Session(ToolRegistry(tools), [TierPolicy(tiered)])
    own = {each.name: each for each in tiered.tools}
    assert shown(of)[:2] == META
    assert sorted(shown(of)) == sorted(tiered.get_tool(tool_id).name for tool_id in tiered.core)
    assert [each["description"] for each in of.to_definitions()[:2]] == [own[name].description for name in META]
    (answer,) = ask(of, ("load_tools", {"category": "git"}))
    assert (answer["loaded"], len(shown(of))) == ("git", len(tiered.core) + len(answer["tools_added"]))


def test_R8_tiers_and_toolkits_both_have_a_load_tools() -> None:
    loads = ToolkitPolicy(AgentSpec("a", (), ("k",)), [Toolkit("k")], session_id="s")
    with pytest.raises(InvalidDefinitionError, match=naming("load_tools", "dynamic_tools", "tiers")):
        Session(registry(), [TierPolicy(CATALOG), loads])
    with pytest.raises(InvalidDefinitionError, match=naming("browse_tools", "tiers")):
        Session(registry(), [TierPolicy(), TierPolicy()])
    agent = AgentSpec("a", ("chat",))
    of = Session(registry(), [TierPolicy(CATALOG), ToolkitPolicy(agent, [], session_id="s")], session_id="s")
    assert shown(of) == [*META, "send", "read"], "an agent without toolkits has no meta-tools"


LOADOUT = ToolLoadoutRegistry([ToolLoadout("dev", None, frozenset({"chat", "repo"}), discoverable_patterns=("disk",))])


@pytest.mark.parametrize("enforce", [False, True])
def test_R8_what_is_activated_is_shown_and_what_the_loadout_does_not_have_is_in_no_category(enforce: bool) -> None:
    of = Session(registry(), [TierPolicy(CATALOG, enforce=enforce), LoadoutPolicy("dev", LOADOUT)])
    capabilities = ["capability_list", "discover_tools", "activate_tool"]
    assert shown(of) == [*capabilities, *META, "send", "read"]
    assert [row["tool_count"] for row in ask(of, ("browse_tools", {}))[0]["categories"]] == [2]
    assert ask(of, ("push", {}), ("shred", {}), ("open issue", {})) == [
        FailureCode.NOT_AVAILABLE if enforce else "push",
        FailureCode.NOT_AVAILABLE,
        FailureCode.NOT_AVAILABLE,
    ]
    assert ask(of, ("activate_tool", {"plugin": "disk/shred"}))[0]["status"] == "activated"
    ask(of, load("git"))
    assert shown(of)[5:] == ["send", "read", "shred", "commit", "push"], "the list only grows at its end"
    assert ask(of, ("shred", {}), ("push", {})) == ["shred", "push"]
    of.begin_turn()
    assert shown(of)[5:] == ["send", "read", "shred"]


STEPS = st.sampled_from(["files", "git", "GIT", "nothing", "turn"])


@given(st.lists(STEPS, max_size=8))
def test_T3_any_interleaving_of_loads_and_turns_is_what_the_tiers_say(steps: list[str]) -> None:
    of, tiers = session(), Tiers(CATALOG)
    loaded: tuple[str, ...] = ()
    for step in steps:
        before = shown(of)
        if step == "turn":
            of.begin_turn()
            loaded = ()
        else:
            (answered,) = ask(of, load(step))
            expected, loaded = tiers.load(step, loaded)
            assert json.loads(json.dumps(answered)) == expected
            assert shown(of)[: len(before)] == before
        assert shown(of) == [tiers.names[tool_id] for tool_id in tiers.tool_ids(loaded)]
