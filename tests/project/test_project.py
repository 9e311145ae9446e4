"""`open_project`: a folder's catalog, loadouts, toolkits, agents and models in one step (section C)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.wording import naming
from toolbelt import ExecutableTool, ToolCall, ToolRegistry, open_project
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.reporter import Advance, Reporter

CATALOG = """
name: shop
plugins:
  - {name: till, category: memory, tools: [{name: refund, description: Pay back.}, {name: count, description: Count.}]}
  - {name: door, tools: [{name: open, description: Open it.}]}
"""
CONFIG = """
catalog: shop.yaml
models: [{name: mine, context_window: 6000}]
loadouts:
  cashier: {plugins: [till]}
toolkits:
  money: {description: Paying back., tools: [till]}
agents:
  clerk: {role: Serves., tools: [door], allowed_toolkits: [money]}
"""


class Recorder(Reporter):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.labels: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Advance]:
        self.labels.append(label)
        return super().progress(label, total)


def test_S1_a_search_toolset_that_pins_no_loadout_is_refused_with_its_line_and_the_nearest(shop: Path) -> None:
    (shop / "toolbelt.yaml").write_text(f"{CONFIG}toolsets:\n  a: {{pinned: cashier}}\n  b: {{pinned: chasier}}\n")
    with pytest.raises(InvalidFileError) as refused:
        open_project(shop)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.line, "cashier" in finding.message) == ("unknown-loadout", 12, True)


def test_S4_a_sessions_listing_names_only_what_its_loadout_has(shop: Path) -> None:
    session = open_project(shop).session(registered(shop), loadout="cashier", search="listing=names")
    (listing,) = (each for each in session.to_definitions() if each["name"] == "search_tools")
    assert ("refund" in str(listing), "open" in str(listing)) == (True, False)


@pytest.mark.parametrize(
    ("search", "names", "listed"),
    [
        pytest.param("", ["open"], [], id="none-shows-all"),
        pytest.param("search: lean,", ["search_tools", "call_tool"], [], id="a-search-toolset-of-the-file"),
        pytest.param("search: 'k=3:listing=names',", ["search_tools"], ["open"], id="as-an-eval-has-it"),
    ],
)
def test_S4_an_agent_finds_its_tools_as_the_file_says(
    shop: Path, search: str, names: list[str], listed: list[str]
) -> None:
    config = CONFIG.replace("clerk: {", f"clerk: {{{search} ").replace("allowed_toolkits: [money]", "rooms: [hall]")
    (shop / "toolbelt.yaml").write_text(f"{config}toolsets: {{lean: {{preset: fastmcp}}}}\n")
    session = open_project(shop).session(registered(shop), agent="clerk")
    definitions = session.to_definitions()
    assert [each["name"] for each in definitions] == names
    if listed:
        assert [name for name in ("open", "refund", "count") if name in definitions[0]["description"]] == listed
    replaced = open_project(shop).session(registered(shop), agent="clerk", search="anthropic-bm25")
    assert [each["name"] for each in replaced.to_definitions()] == ["tool_search_tool_bm25"]


@pytest.mark.parametrize(
    ("toolset", "own", "names"),
    [
        pytest.param("search:fastmcp", "", ["search_tools", "call_tool"], id="that-of-its-model"),
        pytest.param("search", "", ["search_tools"], id="plain"),
        pytest.param("search:fastmcp", "search: 'k=3',", ["search_tools"], id="its-own-comes-first"),
        pytest.param("full", "", ["open"], id="another-toolset-is-no-search"),
    ],
)
def test_S4_an_agent_finds_its_tools_as_is_recommended_for_its_model(
    shop: Path, toolset: str, own: str, names: list[str]
) -> None:
    config = CONFIG.replace("clerk: {", f"clerk: {{model: mine, {own} ").replace(
        "allowed_toolkits: [money]", "rooms: []"
    )
    (shop / "toolbelt.yaml").write_text(config.replace("6000}", f"6000, toolset: '{toolset}'}}"))
    session = open_project(shop).session(registered(shop), agent="clerk")
    assert [each["name"] for each in session.to_definitions()] == names


def test_S4_an_agents_search_that_pins_no_loadout_is_refused_with_its_line(shop: Path) -> None:
    (shop / "toolbelt.yaml").write_text(CONFIG.replace("clerk: {", "clerk: {search: pinned=chasier, "))
    with pytest.raises(InvalidFileError) as refused:
        open_project(shop)
    (finding,) = refused.value.findings
    assert (finding.rule, finding.line, "'cashier'" in finding.message) == ("unknown-loadout", 9, True)


def registered(shop: Path) -> ToolRegistry:
    tools = ToolRegistry()
    for plugin in open_project(shop).catalog.plugins:
        for tool in plugin.tools:
            tools.register(ExecutableTool(tool.name, tool.description, plugin=plugin.name, function=lambda: "done"))
    return tools


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop.yaml").write_text(CATALOG)
    (folder / "toolbelt.yaml").write_text(CONFIG)
    (folder / "night.loadout.yaml").write_text("plugins: [door]\n")
    return folder


def make_tools() -> ToolRegistry:
    names = (("till", "refund"), ("door", "open"))
    return ToolRegistry([ExecutableTool.of(lambda: None, name=name, plugin=plugin) for plugin, name in names])


def test_C_everything_of_a_folder_is_there_in_one_step(shop: Path) -> None:
    project = open_project(shop)
    assert [tool.id for tool in project.catalog.tools] == ["till/refund", "till/count", "door/open"]
    assert {"minimal", "full", "cashier", "night"} <= {loadout.name for loadout in project.loadouts}
    assert [toolkit.key for toolkit in project.toolkits] == ["money"]
    assert project.agents["clerk"].allowed_toolkits == ("money",)
    assert project.facts("mine").context_window == 6000
    assert [tool.name for tool in project.resolve("cashier").active_tools] == ["refund", "count"]
    assert project.inspect("cashier", ["mine"]).models[0].context_window == 6000


@pytest.mark.parametrize(
    "as_given",
    [
        pytest.param(lambda shop: shop, id="absolute-folder"),
        pytest.param(lambda shop: "shop", id="relative-folder"),
        pytest.param(lambda shop: "shop/toolbelt.yaml", id="file-in-it"),
        pytest.param(lambda shop: shop / "toolbelt.yaml", id="absolute-file"),
    ],
)
def test_C_paths_of_the_file_are_relative_to_it_wherever_the_caller_is(
    as_given: object, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.parent)
    assert callable(as_given)
    assert open_project(as_given(shop)).catalog.name == "shop"


def test_C_a_folder_without_files_has_the_shipped_catalog_and_loadouts(tmp_path: Path) -> None:
    project = open_project(tmp_path)
    assert (project.catalog.name, project.agents, project.toolkits) == ("assistant", {}, ())
    assert project.resolve("minimal").active_tools


def test_C_arguments_go_before_the_file(shop: Path) -> None:
    project = open_project(shop, catalog="tiered", tokenizer="cl100k_base")
    assert (project.catalog.name, project.tokenizer) == ("tiered", "cl100k_base")


def test_C_the_library_shows_nothing_by_itself(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop.yaml").write_text('[{"name": "refund", "description": "Pay back.", "input_schema": {}}]')
    recorder = Recorder()
    project = open_project(shop, reporter=recorder)
    project.tokens()
    assert "read" in recorder.notes[0]
    assert recorder.labels == ["counting tokens of tools"]
    open_project(shop).tokens()
    assert capsys.readouterr() == ("", "")


def test_L10_mistakes_of_all_files_are_raised_at_once(shop: Path) -> None:
    (shop / "night.loadout.yaml").write_text("plugin: [door]\n")
    (shop / "toolbelt.yaml").write_text(CONFIG.replace("plugins: [till]", "plugins: [tull]"))
    with pytest.raises(InvalidFileError) as caught:
        open_project(shop)
    assert {finding.rule for finding in caught.value.findings} >= {"unknown-key", "unknown-plugin"}


def test_a_folder_that_is_not_there_is_answered_with_the_nearest(shop: Path) -> None:
    with pytest.raises(NotFoundError, match="shop"):
        open_project(shop.parent / "shp")


def test_L12_a_registry_is_cut_to_a_loadout(shop: Path) -> None:
    tools = ToolRegistry(
        [
            ExecutableTool.of(lambda: None, name=name, plugin=plugin)
            for plugin, name in (("till", "refund"), ("door", "open"))
        ]
    )
    project = open_project(shop)
    assert [tool.name for tool in project.scope(tools, "cashier").get_all()] == ["refund"]
    with pytest.raises(NotFoundError):
        project.scope(tools, "cashir")


async def _load(shop: Path) -> list[str]:
    tools = ToolRegistry(
        [
            ExecutableTool.of(lambda: None, name=name, plugin=plugin)
            for plugin, name in (("till", "refund"), ("door", "open"))
        ]
    )
    session = open_project(shop).session(tools, "s1", agent="clerk")
    before = [one["name"] for one in session.to_definitions(form="anthropic")]
    await session.execute_parallel([ToolCall("1", "load_tools", {"toolkit": "money"})])
    again = open_project(shop).session(tools, "s1", agent="clerk")
    return before + [one["name"] for one in again.to_definitions(form="anthropic")]


def test_D4_agents_of_the_file_load_their_toolkits(shop: Path) -> None:
    import asyncio

    names = asyncio.run(_load(shop))
    assert names.count("open") == 2
    assert names.count("refund") == 1
    assert (shop / ".toolbelt" / "sessions.db").exists()


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        pytest.param({}, ["refund", "open"], id="all-tools"),
        pytest.param(
            {"loadout": "Cashier"}, ["capability_list", "discover_tools", "activate_tool", "refund"], id="loadout"
        ),
        pytest.param({"tiers": True}, ["browse_tools", "load_tools"], id="tiers"),
        pytest.param({"agent": "clerk", "session_id": None}, ["open"], id="an-agent-without-a-session"),
    ],
)
def test_R8_a_session_is_put_together_in_one_step(shop: Path, settings: dict[str, Any], names: list[str]) -> None:
    tools = ToolRegistry(
        [
            ExecutableTool.of(lambda: None, name=name, plugin=plugin)
            for plugin, name in (("till", "refund"), ("door", "open"))
        ]
    )
    session = open_project(shop).session(tools, **settings)
    assert [one["name"] for one in session.to_definitions()] == names
    assert not (shop / ".toolbelt").exists()


def test_R8_a_session_of_an_agent_or_loadout_that_there_is_not_names_the_nearest(shop: Path) -> None:
    with pytest.raises(NotFoundError, match=naming("clerk")):
        open_project(shop).session(ToolRegistry(), "s1", agent="clark")
    with pytest.raises(NotFoundError, match=naming("cashier")):
        open_project(shop).session(ToolRegistry(), "s1", loadout="cashir")


def test_a_project_shows_what_it_is(shop: Path) -> None:
    assert repr(open_project(shop)) == (
        f"<Project {str(shop)!r}: 7 loadouts, 1 toolkits, 1 agents, catalog 'shop' of 3 tools>"
    )
