"""Misuse of the public front door is one clear error of ours, never letters or an AttributeError."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolbelt
from toolbelt import Catalog, Plugin, Tool, ToolbeltError, Toolkit, ToolLoadout, ToolRegistry, ToolSpec, open_project

ANY: Any = toolbelt  # a type checker would refuse what stands here
LOADOUTS: Any = toolbelt.ToolLoadoutRegistry()
REGISTRY: Any = ToolRegistry()
MISUSE: dict[str, Callable[[], object]] = {
    "a-name-for-a-list-of-plugins": lambda: LOADOUTS.resolve_active_plugins("developer", "git"),
    "a-name-for-discoverable-plugins": lambda: LOADOUTS.resolve_discoverable_plugins("developer", "git"),
    "a-registry-for-plugins": lambda: LOADOUTS.resolve_active_plugins("developer", ToolRegistry()),
    "a-catalog-for-plugins": lambda: LOADOUTS.resolve_active_plugins("developer", Catalog()),
    "a-plugin-for-plugins": lambda: LOADOUTS.resolve_active_plugins("developer", Plugin("git")),
    "tools-for-plugins": lambda: LOADOUTS.resolve_active_plugins("developer", [Tool("x")]),
    "tools-for-discoverable-plugins": lambda: LOADOUTS.resolve_discoverable_plugins("developer", [Tool("x")]),
    "a-list-for-a-catalog": lambda: LOADOUTS.resolve("developer", [Plugin("git")]),
    "a-registry-for-a-catalog": lambda: LOADOUTS.resolve("developer", ToolRegistry()),
    "a-loadout-for-its-name": lambda: LOADOUTS.resolve(ToolLoadout("x"), Catalog()),
    "none-for-a-name": lambda: LOADOUTS.get_loadout(None),
    "a-dict-for-a-loadout": lambda: LOADOUTS.register({"name": "x"}),
    "a-name-for-a-loadout": lambda: LOADOUTS.register("developer"),
    "a-loadout-for-loadouts": lambda: ANY.ToolLoadoutRegistry(ToolLoadout("x")),
    "a-name-for-loadouts": lambda: ANY.ToolLoadoutRegistry("developer"),
    "a-plugin-for-plugins-of-a-catalog": lambda: ANY.Catalog(Plugin("x")),
    "names-for-plugins-of-a-catalog": lambda: ANY.Catalog(["git"]),
    "dicts-for-plugins-of-a-catalog": lambda: ANY.Catalog([{"name": "git"}]),
    "a-text-for-core": lambda: ANY.Catalog((Plugin("p", (Tool("x"), Tool("y"))),), core="xy"),
    "a-list-for-categories": lambda: ANY.Catalog((), categories=["a"]),
    "a-tool-for-tools": lambda: ANY.Plugin("x", Tool("a")),
    "a-name-for-tools": lambda: ANY.Plugin("x", "git"),
    "dicts-for-tools": lambda: ANY.Plugin("x", [{"name": "a"}]),
    "a-text-in-a-loadout": lambda: ANY.ToolLoadout("x", default_plugins="git"),
    "a-number-in-a-loadout": lambda: ANY.ToolLoadout("x", default_plugins=7),
    "a-spec-for-specs": lambda: ANY.ToolkitCatalog(ToolSpec("a")),
    "names-for-specs": lambda: ANY.ToolkitCatalog(["a"]),
    "a-toolkit-for-toolkits": lambda: ANY.expand_toolkits(Toolkit("x"), Catalog()),
    "a-registry-for-the-catalog-of-toolkits": lambda: ANY.expand_toolkits([Toolkit("x")], ToolRegistry()),
    "a-number-for-members": lambda: ANY.Toolkit("x", member_tools=7),
    "a-dict-for-an-agents-tools": lambda: ANY.AgentSpec("x", tools={"git": {}}),
    "text-for-backends": lambda: ANY.ToolContext(backends="x"),
    "a-number-for-overrides": lambda: ANY.ToolContext(overrides=7),
    "a-number-for-attachments": lambda: ANY.ToolContext(attachments=7),
    "a-number-for-a-deny-list": lambda: ANY.FilterOpts(7),
    "text-for-policies": lambda: ANY.Session(policies="x"),
    "numbers-for-policies": lambda: ANY.Session(policies=[7]),
    "a-number-for-policies": lambda: ANY.Session(policies=7),
    "a-number-for-the-allow-list": lambda: ANY.Session(allowed_tools=7),
    "an-empty-dict-for-a-context": lambda: asyncio.run(REGISTRY.execute_parallel([], {})),
    "a-dict-for-a-context": lambda: asyncio.run(REGISTRY.execute_parallel([], {"session_id": "s"})),
    "a-catalog-to-be-scoped": lambda: ANY.scoped_registry(Catalog(), None),
    "a-name-for-loadouts-to-scope-by": lambda: ANY.scoped_registry(ToolRegistry(), "developer", "mine"),
    "a-number-for-the-path-of-a-catalog": lambda: ANY.Catalog.read(7),
    "a-number-for-the-path-of-a-project": lambda: ANY.open_project(7),
    "a-list-for-switches": lambda: ANY.AgentSpec("x", tools_config=["git"]),
}


@pytest.mark.parametrize("misuse", MISUSE.values(), ids=MISUSE)
def test_misuse_is_an_error_of_ours(misuse: Callable[[], object]) -> None:
    with pytest.raises(ToolbeltError) as caught:
        misuse()
    assert str(caught.value)
    assert " at 0x" not in str(caught.value)


@pytest.mark.parametrize("kind", [str, Path])
def test_where_a_path_is_wanted_text_and_path_will_do(tmp_path: Path, kind: Callable[[Path], Any]) -> None:
    (tmp_path / "c.yaml").write_text("plugins: [{name: git}]\n")
    (tmp_path / "other.yaml").write_text("loadouts: {mine: {plugins: [git]}}\n")
    project = open_project(kind(tmp_path), catalog=kind(tmp_path / "c.yaml"), config=kind(tmp_path / "other.yaml"))
    assert [plugin.name for plugin in project.catalog.plugins] == ["git"]
    assert project.loadouts[-1].name == "mine"
