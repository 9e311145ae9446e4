"""What of a registry is on: toolkits as written, catalogs of switches, and the many names of a tool (rules K2, K6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.wording import mentions, naming
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.toolkits.assembly import SubApp, assemble
from toolbelt.toolkits.expand import expand_toolkits
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.switching import find_switched_off
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec


def tool(name: str, **settings: Any) -> ExecutableTool:
    return ExecutableTool(name, function=lambda: name, **settings)


def assembled(**settings: Any) -> list[str]:
    registry = assemble(
        [tool("git_log", plugin="git"), tool("plain"), tool("drawn", plugin="art", id="my/id")],
        {"gh": [tool("issue"), tool("pr")]},
        [tool("note")],
        [SubApp("notes", ("note",))],
        **settings,
    )
    return [one.name for one in registry.get_all()]


ALL = ["git_log", "plain", "drawn", "mcp__gh__issue", "mcp__gh__pr", "note"]


@pytest.mark.parametrize(
    ("member", "off"),
    [
        pytest.param("git", ["git_log"], id="a-plugin"),
        pytest.param("git/git_log", ["git_log"], id="a-path"),
        pytest.param("git_log", ["git_log"], id="a-bare-name"),
        pytest.param("plain", ["plain"], id="a-tool-of-no-plugin"),
        pytest.param("my/id", ["drawn"], id="an-id-of-its-own"),
        pytest.param("art/drawn", ["drawn"], id="its-path"),
        pytest.param("gh", ["mcp__gh__issue", "mcp__gh__pr"], id="a-server"),
        pytest.param("gh/issue", ["mcp__gh__issue"], id="as-the-server-calls-it"),
        pytest.param("gh/mcp__gh__issue", ["mcp__gh__issue"], id="id-of-what-is-registered"),
        pytest.param("mcp__gh__issue", ["mcp__gh__issue"], id="the-registered-name"),
        pytest.param("issue", ["mcp__gh__issue"], id="the-servers-bare-name"),
        pytest.param("gh/i*", ["mcp__gh__issue"], id="a-pattern-over-the-servers-names"),
        pytest.param("gh/mcp__gh__p*", ["mcp__gh__pr"], id="a-pattern-over-registered-names"),
        pytest.param("gh/m*", ["mcp__gh__issue", "mcp__gh__pr"], id="a-pattern-over-nothing-else"),
        pytest.param("notes", ["note"], id="a-sub-app"),
        pytest.param("notes/note", ["note"], id="a-tool-of-a-sub-app"),
        pytest.param("ghost", [], id="nothing"),
    ],
)
def test_K2_a_toolkit_that_is_off_takes_every_tool_it_names(member: str, off: list[str]) -> None:
    kits = [Toolkit("kit", member_tools=(member,), default_on=True)]
    assert assembled(toolkits=kits) == ALL
    assert assembled(toolkits=kits, tools_config={"kit": False}) == [name for name in ALL if name not in off]


@pytest.mark.parametrize(
    ("config", "off"),
    [
        pytest.param({"mcp__gh__issue": False}, ["mcp__gh__issue"], id="the-registered-name"),
        pytest.param({"gh/issue": False, "issue": True}, ["mcp__gh__issue"], id="a-contradiction"),
        pytest.param({"issue": True, "mcp__gh__issue": False}, ["mcp__gh__issue"], id="over-both-names"),
        pytest.param({"mcp__gh__issue": False, "gh/mcp__gh__issue": True}, ["mcp__gh__issue"], id="whichever-is-first"),
        pytest.param({"gh/mcp__gh__issue": True, "mcp__gh__issue": False}, ["mcp__gh__issue"], id="or-last"),
        pytest.param({"note": False, "plain": False}, ["plain", "note"], id="bare-names"),
        pytest.param({"my/id": False}, ["drawn"], id="an-id"),
        pytest.param({"gh": False}, [], id="a-plugin-is-no-key"),
    ],
)
def test_K2_a_config_may_call_a_tool_by_any_of_its_names(config: Mapping[str, Any], off: list[str]) -> None:
    assert assembled(toolkits=[], tools_config=config) == [name for name in ALL if name not in off]


def test_K2_toolkits_are_off_by_default_as_they_say() -> None:
    kits = [Toolkit("hub", member_tools=("gh", "git"))]
    assert assembled(toolkits=kits) == ["plain", "drawn", "note"]
    assert assembled(toolkits=kits, tools_config={"hub": True, "gh/pr": False}) == [
        n for n in ALL if n != "mcp__gh__pr"
    ]


def test_K2_what_is_registered_already_stays_and_may_be_meant() -> None:
    registry = ToolRegistry([tool("old", plugin="git")])
    assemble([tool("new", plugin="git")], toolkits=[Toolkit("k", member_tools=("git",))], registry=registry)
    assert [one.name for one in registry.get_all()] == ["old"]
    assemble(mcp={"gh": [tool("old")]}, toolkits=[Toolkit("k", member_tools=("old",))], registry=registry)
    assert [one.name for one in registry.get_all()] == ["old", "mcp__gh__old"]


@pytest.mark.parametrize("key", ["mcp__gh__issue", "gh/mcp__gh__issue", "gh/issue", "issue"])
def test_K2_a_catalog_knows_a_tool_of_a_server_by_any_of_its_names(key: str) -> None:
    catalog = ToolkitCatalog((ToolSpec(key, default_on=True),), (Toolkit("hub", member_tools=(key,)),))
    on = ["mcp__gh__issue", "mcp__gh__pr", "note"]
    assert assembled(catalog=catalog) == on
    assert assembled(catalog=catalog, tools_config={"hub": False}) == on[1:]
    for name in ("mcp__gh__issue", "gh/issue", "issue"):
        assert assembled(catalog=catalog, tools_config={name: False, key: False}) == on[1:]
        assert assembled(catalog=catalog, tools_config={name: False}) == on[1:]


def test_K2_a_tool_known_under_several_names_is_on_if_all_are() -> None:
    catalog = ToolkitCatalog((ToolSpec("git_log", default_on=True), ToolSpec("git/git_log")))
    assert "git_log" not in assembled(catalog=catalog)
    assert "git_log" in assembled(catalog=catalog, tools_config={"git/git_log": True})


def test_K2_a_config_switches_off_what_the_catalog_does_not_know() -> None:
    catalog = ToolkitCatalog((ToolSpec("plain", default_on=True),))
    config = {"gh/issue": False, "note": False, "git_log": True}
    assert assembled(catalog=catalog, tools_config=config) == ["plain", "mcp__gh__pr"]


def test_K2_toolkits_expanded_over_the_registry_are_a_catalog_for_it() -> None:
    source = ToolRegistry([tool("git_log", plugin="git"), tool("plain"), tool("mcp__gh__issue", plugin="gh")]).catalog
    catalog = expand_toolkits([Toolkit("hub", default_on=True, member_tools=("gh", "git"))], source).catalog
    assert assembled(catalog=catalog) == ["git_log", "plain", "mcp__gh__issue", "mcp__gh__pr", "note"]
    assert assembled(catalog=catalog, tools_config={"hub": False}) == ["plain", "mcp__gh__pr", "note"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param(
            {"catalog": ToolkitCatalog((ToolSpec("web.search"),))},
            ("6 tools", "git_log", "web.search"),
            id="a-catalog-of-others",
        ),
        pytest.param({"catalog": ToolkitCatalog()}, "it has no tools", id="an-empty-catalog"),
        pytest.param({"catalog": ToolkitCatalog(), "toolkits": []}, "give one of them", id="both"),
        pytest.param({"toolkits": [], "tools_config": []}, "A config maps keys", id="a-config-that-is-no-mapping"),
        pytest.param({"toolkits": Toolkit("a")}, "`toolkits` takes a list", id="a-lone-toolkit"),
        pytest.param({"toolkits": ["a"]}, ("`toolkits`", "list of Toolkit"), id="a-name"),
        pytest.param({"toolkits": [Toolkit("a"), Toolkit("a")]}, ("2 toolkits", "'a'"), id="one-key-twice"),
    ],
)
def test_K2_what_can_switch_nothing_is_refused(settings: dict[str, Any], named: object) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(named)):
        assembled(**settings)


KITS = (
    Toolkit("shell", member_tools=("shell",)),
    Toolkit("git", member_tools=("git",)),
    Toolkit("writes", member_tools=("git/git_push", "shell/run")),
    Toolkit("empty", member_tools=("ghost",)),
)
OVER = Catalog(
    (
        Plugin("shell", (Tool("run"), Tool("kill"))),
        Plugin("git", (Tool("git_log"), Tool("git_push"))),
        Plugin("web", (Tool("fetch"),)),
    )
)


@pytest.mark.parametrize(
    ("config", "toolkits", "tools"),
    [
        pytest.param({}, "", "", id="no-switch-takes-nothing"),
        pytest.param({"git": True}, "", "", id="a-default-takes-nothing"),
        pytest.param({"shell": False}, "shell", "shell/run shell/kill", id="a-toolkit"),
        pytest.param({"shell": None}, "", "", id="null-is-absent"),
        pytest.param({"writes": False}, "writes", "git/git_push shell/run", id="members-of-others-too"),
        pytest.param(
            {"writes": False, "git/git_log": False}, "writes git", "git/git_push shell/run git/git_log", id="all"
        ),
        pytest.param({"git": True, "git_push": False}, "", "git/git_push", id="a-member-opts-out"),
        pytest.param({"git": False, "git_push": True}, "git", "git/git_push git/git_log", id="no-member-undoes-it"),
        pytest.param(
            {"git": True, "git_push": False, "git_log": False},
            "",
            "git/git_push git/git_log",
            id="on-with-nothing-left",
        ),
        pytest.param({"fetch": False}, "", "web/fetch", id="a-tool-in-no-toolkit"),
        pytest.param({"empty": False}, "empty", "", id="a-toolkit-that-matches-nothing"),
    ],
)
def test_K8_what_the_switches_of_an_agent_take_away(config: dict[str, Any], toolkits: str, tools: str) -> None:
    off = find_switched_off(KITS, OVER, config)
    assert off.toolkits == set(toolkits.split())
    assert off.tools == set(tools.split())


@pytest.mark.parametrize(
    ("config", "toolkits", "tools"),
    [
        pytest.param({}, "", "", id="a-default-grants-nothing"),
        pytest.param({"shell": True, "git": None}, "shell", "", id="a-toolkit"),
        pytest.param({"fetch": True, "git_log": True}, "", "git/git_log web/fetch", id="tools-by-their-own-switch"),
        pytest.param({"git": True, "git_log": True}, "git", "", id="what-the-toolkit-turns-on-already"),
        pytest.param({"git": False, "git_log": True}, "", "", id="no-member-undoes-an-off"),
    ],
)
def test_K8_what_the_switches_of_an_agent_grant(config: dict[str, Any], toolkits: str, tools: str) -> None:
    switched = find_switched_off(KITS, OVER, config)
    assert (switched.on_toolkits, set(switched.on_tools)) == (tuple(toolkits.split()), set(tools.split()))


@pytest.mark.parametrize("key", ["gh", "issue", "gh/issue", "mcp__gh__issue", "gh/mcp__gh__issue"])
def test_K8_over_a_registry_the_switches_take_tools_by_the_names_they_are_registered_under(key: str) -> None:
    registry = assemble([tool("git_log", plugin="git")], {"gh": [tool("issue")]})
    off = find_switched_off([Toolkit("hub", member_tools=(key,))], registry, {"hub": False})
    assert off.toolkits == {"hub"}
    assert off.tools == {"mcp__gh__issue"}


def test_K8_a_switch_applies_to_the_tools_of_a_plugin_that_appears_later() -> None:
    registry = assemble([tool("git_log", plugin="git")])
    kits = [Toolkit("hub", member_tools=("gh",))]
    assert find_switched_off(kits, registry, {"hub": False}).tools == set()
    assemble((), {"gh": [tool("issue")]}, registry=registry)
    assert find_switched_off(kits, registry, {"hub": False}).tools == {"mcp__gh__issue"}


def test_K8_switches_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="maps keys of tools and toolkits"):
        find_switched_off(KITS, OVER, ["shell"])  # type: ignore[arg-type]


def assemble_shell(member: str, **settings: Any) -> list[str]:
    kits = [Toolkit("sh", member_tools=(member,))]
    tools = [
        tool("run", plugin="shell"),
        tool("search", plugin="web"),
        tool("search2", plugin="maps", id="maps/search"),
    ]
    return [one.name for one in assemble(tools, toolkits=kits, **settings).get_all()]


@pytest.mark.parametrize(
    ("member", "config"),
    [
        pytest.param("shel", {"sh": False}, id="misspelt-and-off"),
        pytest.param("shel", {}, id="misspelt-and-off-by-default"),
        pytest.param("shlel/run", {"sh": False}, id="a-misspelt-plugin-of-a-tool"),
        pytest.param("shell/rn", {"sh": False}, id="a-tool-that-its-plugin-lacks"),
        pytest.param("shell/walk", {"sh": True}, id="lacking-though-on"),
        pytest.param("shell/walk*", {"sh": True}, id="a-pattern-that-matches-nothing-of-its-plugin"),
    ],
)
def test_K2_a_member_that_would_silently_stay_on_is_an_error(member: str, config: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        assemble_shell(member, tools_config=config)
    assert mentions(str(caught.value), ("'sh'", repr(member), "shell"))
    with pytest.raises(InvalidDefinitionError):
        find_switched_off([Toolkit("sh", member_tools=(member,))], OVER, config or {"x": True}).refuse_errors()


@pytest.mark.parametrize(
    ("member", "config"),
    [
        pytest.param("shel", {"sh": True}, id="misspelt-and-on"),
        pytest.param("github", {"sh": False}, id="a-plugin-that-is-not-there"),
        pytest.param("she", {"sh": False}, id="another-name-by-two-letters"),
        pytest.param("shell", {"sh": True, "shl": False}, id="a-key-of-nothing"),
        pytest.param("shell", {"sh": "on", "shell/run": True}, id="a-key-that-is-no-boolean"),
    ],
)
def test_K2_what_is_doubtful_is_logged(member: str, config: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    assert "run" in assemble_shell(member, tools_config=config)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_K2_the_error_names_all_members_at_once() -> None:
    kits = [Toolkit("a", member_tools=("shel", "git/git_psuh")), Toolkit("b", member_tools=("wbe",))]
    with pytest.raises(InvalidDefinitionError) as caught:
        find_switched_off(kits, OVER, {"a": False, "b": False}).refuse_errors()
    assert len(str(caught.value).splitlines()) == 3


def test_K2_a_plugin_that_comes_later_is_switched_when_its_tools_are_added() -> None:
    kits = [Toolkit("hub", member_tools=("gh",))]
    registry = assemble([tool("git_log", plugin="git")], toolkits=kits, tools_config={"hub": False})
    assemble((), {"gh": [tool("issue")]}, toolkits=kits, tools_config={"hub": False}, registry=registry)
    assert [one.name for one in registry.get_all()] == ["git_log"]
