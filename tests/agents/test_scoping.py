from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.samples import LOADOUT_NAMES, loadout_registries, names, registries, registry, tool
from toolbelt import Plugin, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.agents import AgentSession, scoped_registry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.guards import AuditRecord, refuse
from toolbelt.runtime.reducers.reducer import ReducerRegistry
from toolbelt.runtime.registry import ToolRegistry

LOADOUTS = ToolLoadoutRegistry(
    [
        ToolLoadoutBuilder.create("reader").extends("minimal").disable("shell").disable("file/write*").build(),
        ToolLoadoutBuilder.create("pusher").add_plugin("git/git_push").add_plugin("now").build(),
        ToolLoadoutBuilder.create("containers").include_category("Containers").build(),
        ToolLoadout("nothing"),
    ]
)
SCOPES = [
    pytest.param("minimal", ["read_file", "write_file", "think", "run"], id="a-built-in-loadout"),
    pytest.param("MINIMAL", ["read_file", "write_file", "think", "run"], id="its-name-ignoring-case"),
    pytest.param("reader", ["read_file", "think"], id="disabled-tools-of-active-plugins-go"),
    pytest.param("pusher", ["git_push", "now"], id="one-tool-of-a-plugin-and-one-of-none"),
    pytest.param("containers", ["docker_ps", "docker_run", "pull"], id="a-category-that-plugins-declare"),
    pytest.param("nothing", [], id="a-loadout-that-says-nothing"),
    pytest.param("gone", [], id="an-unknown-loadout-activates-nothing"),
]


@pytest.mark.parametrize(("loadout", "expected"), SCOPES)
def test_L12_a_scoped_registry_holds_only_what_is_active(loadout: str, expected: list[str]) -> None:
    whole = registry(tool("now", "The time"))
    scoped = scoped_registry(whole, loadout, LOADOUTS)
    assert names(scoped) == expected
    assert [one.name for one in scoped.get_all()] == expected
    assert all(scoped.get(name) is whole.get(name) for name in expected)


def test_L12_without_a_loadout_everything_is_active_in_a_registry_of_its_own() -> None:
    whole = registry(tool("now"))
    scoped = scoped_registry(whole, None, LOADOUTS)
    assert scoped.to_definitions() == whole.to_definitions()
    scoped.unregister("now")
    assert whole.get("now") is not None


def test_L12_the_registry_that_was_scoped_stays_as_it_is() -> None:
    whole = registry()
    before = (whole.get_all(), whole.catalog, whole.to_definitions(form="openai"))
    scoped = scoped_registry(whole, "minimal", LOADOUTS)
    scoped.register(tool("late"))
    scoped.unregister("think")
    assert (whole.get_all(), whole.catalog, whole.to_definitions(form="openai")) == before


def test_L12_by_default_the_loadouts_are_the_built_in_ones() -> None:
    assert names(scoped_registry(registry(), "minimal")) == names(scoped_registry(registry(), "minimal", LOADOUTS))


def test_L12_what_is_not_active_cannot_be_called() -> None:
    scoped = scoped_registry(registry(), "minimal", LOADOUTS)
    calls = [{"id": "1", "name": "run", "args": {}}, {"id": "2", "name": "git_push", "args": {}}]
    ran, refused = [made.result for made in asyncio.run(scoped.execute_parallel(calls))]
    assert (ran.ok, ran.value) == (True, "run")
    assert (refused.ok, refused.code) == (False, "not_available")


def test_L12_backends_reducers_audit_time_limit_and_extensions_come_along() -> None:
    audited: list[AuditRecord] = []
    reducers = ReducerRegistry()
    whole = ToolRegistry(
        backends={"network": "the net"}, reducers=reducers, audit=audited.append, default_timeout_seconds=7.5
    )
    seen: list[object] = []

    def fetch(ctx: ToolContext) -> str:
        seen.append(ctx.backends["network"])
        return "page"

    whole.register(tool("built_in", plugin="web"))
    whole.register(ExecutableTool.of(fetch, plugin="web", capabilities=["network"]), plugin_id="extension")
    whole.register(tool("guarded", plugin="web", guard=lambda args, ctx: refuse("not now")))
    scoped = scoped_registry(whole, "research")
    assert (scoped.backends, scoped.reducers, scoped.audit) == (whole.backends, reducers, whole.audit)
    assert scoped.default_timeout_seconds == 7.5
    assert [scoped.get_plugin_id(name) for name in ("built_in", "fetch", "guarded")] == [None, "extension", None]
    assert names(scoped) == ["built_in", "fetch", "guarded"]
    without = scoped.to_definitions(filter_opts=FilterOpts(allowed_plugins=frozenset()))
    assert [shown["name"] for shown in without] == ["built_in", "guarded"]
    calls = [{"id": "1", "name": "fetch", "args": {}}, {"id": "2", "name": "guarded", "args": {}}]
    fetched, refused = [made.result for made in asyncio.run(scoped.execute_parallel(calls))]
    assert (fetched.ok, seen, refused.ok) == (True, ["the net"], False)
    assert [record.tool for record in audited] == ["guarded"]


def test_L12_categories_and_descriptions_come_along_so_that_it_can_be_scoped_again() -> None:
    once = scoped_registry(registry(), "containers", LOADOUTS)
    assert once.catalog.get_plugin("docker").category == "containers"
    assert once.catalog.get_plugin("docker").description == "Containers of this machine"
    assert names(scoped_registry(once, "containers", LOADOUTS)) == ["docker_ps", "docker_run", "pull"]
    # A plugin's own category wins over the map's, also the second time (rule L2).
    odd = ToolRegistry()
    odd.register_all(Plugin("git", (tool("push"),), "shell"))
    assert names(scoped_registry(scoped_registry(odd, "minimal"), "minimal")) == ["push"]


def test_L14_the_capability_tools_of_a_session_stay_whatever_the_loadout() -> None:
    session = AgentSession(registry(), LOADOUTS)
    for loadout in ("nothing", "gone", "minimal"):
        kept = scoped_registry(session.tools, loadout, LOADOUTS).get_all()
        assert [one.name for one in kept[:3]] == ["capability_list", "discover_tools", "activate_tool"]


def test_R2_always_include_is_about_allow_lists_and_not_about_loadouts() -> None:
    whole = registry(tool("always", always_include=True))
    assert "always" not in names(scoped_registry(whole, "minimal"))


@settings(max_examples=80, deadline=None)
@given(registries(), loadout_registries, st.sampled_from([*LOADOUT_NAMES, "gone"]))
def test_L12_what_is_scoped_is_what_the_resolution_makes_active_in_order(
    whole: ToolRegistry, loadouts: ToolLoadoutRegistry, name: str
) -> None:
    active = {one.name for one in loadouts.resolve(name, whole.catalog).active_tools}
    scoped = scoped_registry(whole, name, loadouts)
    assert scoped.get_all() == tuple(one for one in whole.get_all() if one.name in active)
    assert [scoped.get_plugin_id(one.name) for one in scoped.get_all()] == [
        whole.get_plugin_id(one.name) for one in scoped.get_all()
    ]


@settings(max_examples=80, deadline=None)
@given(registries(), loadout_registries, st.lists(st.sampled_from(LOADOUT_NAMES), min_size=2, max_size=4))
def test_L12_what_is_scoped_again_and_again_is_what_is_active_under_each(
    whole: ToolRegistry, loadouts: ToolLoadoutRegistry, chain: list[str]
) -> None:
    scoped = whole
    for name in chain:
        scoped = scoped_registry(scoped, name, loadouts)
    under_each = [{one.name for one in loadouts.resolve(name, whole.catalog).active_tools} for name in chain]
    assert {one.name for one in scoped.get_all()} == set.intersection(*under_each)
