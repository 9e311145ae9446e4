"""The capability tools as a model calls them, through the registry in force (rule L14)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema
import pytest

from tests.agents.samples import CAPABILITIES, PLUGINS, answer, ask, discovered, names, registry, tool
from toolbelt import ToolLoadout, ToolLoadoutRegistry
from toolbelt.agents import AgentSession
from toolbelt.agents.loadout_policy import CAPABILITY_TOOLS, CapabilityRole
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode

LOADOUTS = ToolLoadoutRegistry(
    [ToolLoadout("nothing"), ToolLoadout("safe", "minimal", disabled_plugins=frozenset({"shell"}))]
)


def session(loadout: str | None = "minimal", whole: ToolRegistry | None = None) -> AgentSession:
    made = AgentSession(registry() if whole is None else whole, LOADOUTS, session_id="s1", agent="coder")
    made.scope(loadout)
    return made


@pytest.mark.parametrize("loadout", [None, "minimal", "full", "nothing"])
def test_L14_the_capability_tools_are_there_whatever_the_loadout(loadout: str | None) -> None:
    made = session(loadout)
    shown = made.tools.to_definitions()
    assert [definition["name"] for definition in shown[:3]] == list(CAPABILITIES)
    assert [definition["name"] for definition in made.tools.to_definitions(allowed_tools=[])] == list(CAPABILITIES)
    assert [one.name for one in made.tools.get_for_toolset("loadout")] == list(CAPABILITIES)
    assert answer(made, "capability_list")["loadout"] == loadout


@pytest.mark.parametrize("role", CapabilityRole)
def test_L14_a_capability_tool_is_described_and_has_a_strict_schema(role: CapabilityRole) -> None:
    made = CAPABILITY_TOOLS[role]
    jsonschema.Draft202012Validator.check_schema(made.parameters)
    assert made.parameters["additionalProperties"] is False
    assert all(part["description"] for part in made.parameters["properties"].values())
    assert len(made.description) > 80


def test_L14_what_is_excluded_is_excluded() -> None:
    without = FilterOpts(exclude_tools=frozenset({"activate_tool"}))
    assert "activate_tool" not in {one["name"] for one in session().tools.to_definitions(filter_opts=without)}


def test_L14_capability_tools_are_no_plugins_of_the_list() -> None:
    plugins = answer(session(None), "capability_list")["plugins"]
    assert [entry["plugin"] for entry in plugins] == [plugin.name for plugin in PLUGINS]


def test_L14_from_finding_to_calling() -> None:
    made = session()
    assert ask(made, ("docker_ps", {})) == [FailureCode.NOT_AVAILABLE]
    assert discovered(made, keyword="containers") == {"docker": ["docker_ps", "docker_run"]}
    assert answer(made, "activate_tool", plugin="docker")["takes_effect"] == "next_request"
    assert [definition["name"] for definition in made.tools.to_definitions()][-2:] == ["docker_ps", "docker_run"]
    assert ask(made, ("docker_ps", {}), ("docker_run", {})) == ["docker_ps", "docker_run"]
    listed = {entry["plugin"]: entry for entry in answer(made, "capability_list")["plugins"]}
    assert listed["docker"]["tools"] == ["docker_ps", "docker_run"]
    assert "docker" not in discovered(made)


@pytest.mark.parametrize("first", [True, False], ids=["activated-before", "activated-after"])
def test_L14_an_activation_takes_effect_at_the_next_request_not_in_the_same_batch(first: bool) -> None:
    made = session()
    call: tuple[str, dict[str, Any]] = ("docker_ps", {})
    activation: tuple[str, dict[str, Any]] = ("activate_tool", {"plugin": "docker"})
    answers = ask(made, *((activation, call) if first else (call, activation)))
    assert answers[1 if first else 0] is FailureCode.NOT_AVAILABLE
    assert answers[0 if first else 1]["status"] == "activated"
    assert ask(made, call) == ["docker_ps"]


def test_L14_activations_of_one_batch_follow_one_another() -> None:
    made = session()
    before = names(made.tools)
    answers = ask(made, *[("activate_tool", {"plugin": name}) for name in ("web", "docker", "WEB", "policy", "gone")])
    assert [one["status"] for one in answers] == [
        "activated", "activated", "already_active", "activated", "not_discoverable",
    ]  # fmt: skip
    assert names(made.tools) == [*before, "fetch", "docker_ps", "docker_run", "audit"]


def test_L14_nothing_disabled_is_found_listed_or_activated() -> None:
    made = session("safe")
    found = discovered(made)
    assert "shell" not in found
    assert found
    for name in ("shell", "shell/run", "run"):
        assert answer(made, "activate_tool", plugin=name)["status"] == "not_discoverable"
    assert "run" not in names(made.tools)
    assert ask(made, ("run", {})) == [FailureCode.NOT_AVAILABLE]
    assert '"shell"' not in json.dumps(ask(made, ("capability_list", {}), ("discover_tools", {"category": "none"})))


def test_L14_answers_are_json_with_the_value_beside_it_and_the_same_from_call_to_call() -> None:
    made = session()
    calls = [{"id": str(number), "name": name, "args": {}} for number, name in enumerate(CAPABILITIES[:2])]
    first, again = (
        [one.result for one in asyncio.run(made.tools.execute_parallel(calls, made.context()))] for _ in range(2)
    )
    assert [one.value for one in first] == [one.value for one in again]
    assert [json.loads(one.value) for one in first] == [one.structured for one in first]
    assert all(one.structured["status"] == "ok" for one in first)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        pytest.param("activate_tool", {}, id="no-plugin"),
        pytest.param("activate_tool", {"plugin": 3}, id="a-plugin-that-is-no-text"),
        pytest.param("activate_tool", {"plugin": "docker", "force": True}, id="an-argument-there-is-not"),
        pytest.param("activate_tool", "docker", id="no-json"),
        pytest.param("discover_tools", {"page": 0}, id="page-0"),
        pytest.param("discover_tools", {"page": "2"}, id="a-page-in-words"),
        pytest.param("discover_tools", {"category": ["git"]}, id="a-list-of-categories"),
        pytest.param("capability_list", {"all": True}, id="a-list-takes-nothing"),
    ],
)
def test_L14_bad_arguments_are_said_and_change_nothing(name: str, args: Any) -> None:
    made = session()
    before = names(made.tools)
    assert ask(made, (name, args)) == [FailureCode.INPUT_INVALID]
    assert names(made.tools) == before


def test_L14_a_page_that_is_a_whole_number_of_any_kind_will_do() -> None:
    made = session(None, ToolRegistry([tool("only")]))
    assert answer(made, "discover_tools", page=2.0)["page"] == 2


def test_L14_null_is_as_good_as_left_out() -> None:
    nothing = {"category": None, "keyword": None, "page": None}
    assert answer(session(), "discover_tools", **nothing) == answer(session(), "discover_tools")


NAMES = ["a.b", "a_b", "a b", "A.b", "a.b.", "plain"]


@pytest.mark.parametrize("first", range(len(NAMES)), ids=NAMES)
@pytest.mark.parametrize("step", [1, -1], ids=["in-order", "in-reverse"])
def test_L14_what_a_tool_is_shown_as_does_not_change_when_another_is_activated(first: int, step: int) -> None:
    whole = ToolRegistry([tool(name, plugin=f"p{number}") for number, name in enumerate(NAMES)])
    loadouts = ToolLoadoutRegistry([ToolLoadout("one", None, frozenset({f"p{first}"}), discoverable_patterns=("*",))])
    made = AgentSession(whole, loadouts)
    made.scope("one")
    foretold = discovered(made)
    shown = made.tools.to_definitions()
    for plugin in [*foretold][::step]:
        assert answer(made, "activate_tool", plugin=plugin)["tools"] == foretold[plugin]
        now = made.tools.to_definitions()
        assert now[: len(shown)] == shown
        assert [one["name"] for one in now[len(shown) :]] == foretold[plugin]
        assert ask(made, (foretold[plugin][0], {})) == [NAMES[int(plugin[1:])]]
        shown = now
    assert len(shown) == len(CAPABILITIES) + len(NAMES)


def test_a_wire_name_is_the_same_under_every_loadout() -> None:
    whole = ToolRegistry([tool("a.b"), tool("a_b")])
    out = ToolLoadoutRegistry([ToolLoadout("out", None, frozenset({"a.b"}), disabled_plugins=frozenset({"a_b"}))])
    made = AgentSession(whole, out)
    assert names(made.scope("out")) == [whole.wire_names["a.b"]] != ["a_b"]


def test_L14_tools_are_named_as_the_model_is_shown_them() -> None:
    made = session(None, ToolRegistry([tool("fs.read", plugin="file")]))
    assert answer(made, "capability_list")["plugins"][0]["tools"] == ["fs_read"]
    made = session("minimal", ToolRegistry([tool("k8s.get pods", plugin="kube"), tool("k8s.apply", plugin="kube")]))
    assert discovered(made) == {"kube": ["k8s_get_pods", "k8s_apply"]}
    assert answer(made, "activate_tool", plugin="kube/k8s_apply")["tools"] == ["k8s_apply"]
    assert answer(made, "activate_tool", plugin="k8s.get pods")["tools"] == ["k8s_get_pods"]
    assert names(made.tools) == ["k8s_apply", "k8s_get_pods"]
    assert ask(made, ("k8s_apply", {})) == ["k8s.apply"]
