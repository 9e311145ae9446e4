"""A switch of an agent that would miss a tool is an error, over a catalog as at run time (rules K2, K8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evals.toolsets.samples import case, shown, toolset
from toolbelt import AgentSpec, Catalog, ExecutableTool, Plugin, Tool, Toolkit, ToolRegistry, open_project
from toolbelt.agents import AgentSession
from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.cli.root import root
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.mcp.gateway.surface import make_surface
from toolbelt.mcp.gateway.toolkit_surface import make_agent_surface
from toolbelt.sessions.toolkit_policy import ToolkitPolicy


@pytest.mark.parametrize("is_misspelt", [False, True])
def test_K2_a_switch_of_an_agent_that_misses_a_tool_is_an_error(tmp_path: Path, is_misspelt: bool) -> None:
    member = "shel" if is_misspelt else "shell"
    (tmp_path / "toolbelt.yaml").write_text(
        f"toolkits: {{sh: {{tools: [{member}]}}}}\n"
        "agents: {a: {tools: [shell, git], allowed_toolkits: [sh], tools_config: {sh: false}}}\n"
    )
    tools = ToolRegistry(
        [ExecutableTool(name, function=lambda: 1, plugin=plugin) for name, plugin in (("run", "shell"), ("log", "git"))]
    )
    session = open_project(tmp_path).session(tools, "s", agent="a")
    agent = AgentSpec("a", ("shell", "git"), ("sh",), tools_config={"sh": False})
    catalog = Catalog((Plugin("shell", (Tool("run"),)), Plugin("git", (Tool("log"),))))
    toolkits = [Toolkit("sh", member_tools=(member,))]
    if is_misspelt:
        with pytest.raises(InvalidDefinitionError, match="shel"):
            session.begin_turn()
        with pytest.raises(InvalidDefinitionError, match="shel"):
            toolkits_over(agent, toolkits, catalog)
        return
    session.begin_turn()
    names = {definition["name"] for definition in session.to_definitions()}
    assert "run" not in names
    assert "log" in names
    dynamic = toolkits_over(agent, toolkits, catalog)
    assert dynamic.load("sh", ())[0]["status"] == "not_allowed"


IDS = ("disk/scan", "disk/wipe", "mail/send", "mail/sort", "web/fetch")
CATALOG = Catalog(
    tuple(
        Plugin(plugin, tuple(Tool(key.partition("/")[2]) for key in IDS if key.startswith(plugin)))
        for plugin in ("disk", "mail", "web")
    )
)
KITS = ("care", "post", "wide")
ENTRIES = st.lists(st.sampled_from((*IDS, "disk", "mail")), unique=True, max_size=3)


@st.composite
def projects(draw: st.DrawFn) -> dict[str, Any]:
    """Toolkits with and without `default_on`, and an agent: with any switches, none, or an empty `tools_config`."""
    kits = {
        key: {"tools": draw(ENTRIES), **draw(st.sampled_from(({}, {"default_on": True}, {"default_on": False})))}
        for key in KITS
    }
    allowed = draw(st.lists(st.sampled_from(KITS), unique=True))
    agent: dict[str, Any] = {"tools": draw(ENTRIES), "allowed_toolkits": allowed}
    agent["initial_toolkits"] = draw(st.lists(st.sampled_from(allowed), unique=True)) if allowed else []
    if draw(st.booleans()):
        agent["tools_config"] = draw(st.dictionaries(st.sampled_from((*KITS, *IDS)), st.booleans(), max_size=4))
    return {"catalog": "catalog.json", "toolkits": kits, "agents": {"a": agent}}


def has_as_resolved(folder: Path) -> set[str]:
    return {row["id"] for row in printed(folder, "toolkit", "resolve", "--all")["tools"] if row["enabled"]}


def has_as_shown(folder: Path) -> set[str]:
    rows = printed(folder, "session", "show", "--session", "s", "--session-store", str(folder / "none.db"))["tools"]
    return {row["tool"] for row in rows if not row["meta"]}


def has_in_a_session(folder: Path) -> set[str]:
    config = open_project(folder).config
    tools = [ExecutableTool(each.name, plugin=each.plugin, function=lambda: 1) for each in CATALOG.tools]
    policy = ToolkitPolicy(config.agents[0], config.toolkits)
    session = AgentSession(ToolRegistry(tools), policies=[policy])
    session.begin_turn()
    names = {definition["name"] for definition in session.to_definitions()}
    return {each.id for each in CATALOG.tools if each.name in names}


def has_at_a_gateway(folder: Path) -> set[str]:
    project = open_project(folder)
    surface = make_surface(project.resolve(None), local=[plugin.name for plugin in project.catalog.plugins])
    agent, names = project.agents["a"], {each.id: each.name for each in CATALOG.tools}
    return {
        served.tool.id for served in make_agent_surface(agent, project.toolkits, CATALOG, surface, names).whole.offered
    }


def has_in_an_eval(folder: Path) -> set[str]:
    config = open_project(folder).config
    try:
        made = toolset("dynamic:a", CATALOG, agents=config.agents, toolkits=config.toolkits)
    except ToolbeltError:  # an agent that no tool would ever be shown to
        return set()
    return set(shown(made, case())) & set(IDS)


def printed(folder: Path, *arguments: str) -> Any:
    ran = CliRunner().invoke(
        root, [*arguments, "--agent", "a", "--config", str(folder / "toolbelt.yaml"), "--json"], catch_exceptions=False
    )
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


WAYS: tuple[Callable[[Path], set[str]], ...] = (has_as_shown, has_in_a_session, has_at_a_gateway, has_in_an_eval)


def write(folder: Path, project: dict[str, Any]) -> None:
    tools = [{"name": p.name, "tools": [{"name": each.name} for each in p.tools]} for p in CATALOG.plugins]
    (folder / "catalog.json").write_text(json.dumps({"name": "c", "plugins": tools}))
    (folder / "toolbelt.yaml").write_text(json.dumps(project))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(project=projects())
def test_K8_what_is_resolved_for_an_agent_is_what_it_has_everywhere(tmp_path: Path, project: dict[str, Any]) -> None:
    write(tmp_path, project)
    resolved = has_as_resolved(tmp_path)
    assert {way.__name__: way(tmp_path) for way in WAYS} == {way.__name__: resolved for way in WAYS}


AGENT_CASES: dict[str, tuple[dict[str, Any], dict[str, Any], set[str]]] = {
    "on-by-default": ({"default_on": True}, {}, {"web/fetch", "mail/send", "mail/sort"}),
    "on-by-default-beside-an-empty-config": (
        {"default_on": True},
        {"tools_config": {}},
        {"web/fetch", "mail/send", "mail/sort"},
    ),
    "on-by-default-and-switched-off": ({"default_on": True}, {"tools_config": {"post": False}}, {"web/fetch"}),
    "on-by-default-but-a-member": (
        {"default_on": True},
        {"tools_config": {"mail/send": False}},
        {"web/fetch", "mail/sort"},
    ),
    "on-by-default-and-loaded-by-itself": ({"default_on": True}, {"allowed_toolkits": ["post"]}, {"web/fetch"}),
    "off-by-default-and-among-its-own": ({}, {"tools": ["web", "mail/send"]}, {"web/fetch", "mail/send"}),
    "off-by-default-and-switched-on": ({}, {"tools_config": {"post": True}}, {"web/fetch", "mail/send", "mail/sort"}),
    "off-by-default": ({}, {}, {"web/fetch"}),
}


@pytest.mark.parametrize(("kit", "agent", "has"), AGENT_CASES.values(), ids=AGENT_CASES)
def test_K2_a_default_grants_where_no_switch_says_anything_and_takes_nothing_away(
    tmp_path: Path, kit: dict[str, Any], agent: dict[str, Any], has: set[str]
) -> None:
    write(
        tmp_path,
        {
            "catalog": "catalog.json",
            "toolkits": {"post": {"tools": ["mail"], **kit}},
            "agents": {"a": {"tools": ["web"], **agent}},
        },
    )
    assert [way(tmp_path) for way in (has_as_resolved, *WAYS)] == [has] * 5
