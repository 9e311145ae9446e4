"""What a loadout makes of a whole catalog (rules L7–L9)."""

from __future__ import annotations

import pytest

from toolbelt import Catalog, Plugin, Resolution, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.loadouts import Status
from toolbelt.stores.shipped import find_shipped_catalog


def plugin(name: str, *tools: str, category: str | None = None) -> Plugin:
    return Plugin(name, tuple(Tool(tool) for tool in tools), category)


CATALOG = Catalog(
    (
        plugin("web", "fetch", "post"),
        plugin("Git", "status", "push", "pull"),
        plugin("docker", "ps", "run"),
        plugin("shell", "run"),
        plugin("vault", "read", category="Secrets"),
        plugin("empty"),
    )
)
MIXED = (
    ToolLoadoutBuilder.create("mixed")
    .include_category("git")
    .add_plugin("WEB/fetch")
    .add_discoverable("docker/p*")
    .disable("git/PU*")
    .disable("shell")
    .build()
)


def resolve(*loadouts: ToolLoadout, catalog: Catalog = CATALOG) -> Resolution:
    """The last of them over the catalog."""
    return ToolLoadoutRegistry(loadouts).resolve(loadouts[-1].name, catalog)


def ids(resolution: Resolution, status: Status) -> list[str]:
    return [tool.id for tool in resolution.tools_with(status)]


def test_L8_every_plugin_is_in_exactly_one_list_in_catalog_order_and_spelling() -> None:
    resolution = resolve(MIXED)
    assert resolution.active_plugins == ("web", "Git")
    assert resolution.discoverable_plugins == ("docker",)
    assert resolution.disabled_plugins == ("shell",)
    assert resolution.hidden_plugins == ("vault", "empty")


def test_L9_every_tool_is_decided_by_itself() -> None:
    resolution = resolve(MIXED)
    assert ids(resolution, Status.ACTIVE) == ["web/fetch", "Git/status"]
    assert ids(resolution, Status.DISCOVERABLE) == ["docker/ps"]
    assert ids(resolution, Status.DISABLED) == ["Git/push", "Git/pull", "shell/run"]
    assert ids(resolution, Status.HIDDEN) == ["web/post", "docker/run", "vault/read"]


def test_L8_active_tools_are_the_tools_themselves() -> None:
    assert resolve(MIXED).active_tools == (CATALOG.get_tool("web/fetch"), CATALOG.get_tool("Git/status"))


def test_L8_tools_of_one_plugin() -> None:
    resolution = resolve(MIXED)
    git = CATALOG.get_plugin("git")
    assert [tool.name for tool in resolution.tools_of(git, Status.ACTIVE)] == ["status"]
    assert [tool.name for tool in resolution.tools_of(git, Status.DISABLED)] == ["push", "pull"]
    assert resolution.tools_of(git, Status.HIDDEN) == ()


def test_L9_a_plugin_all_of_whose_tools_are_disabled_is_disabled() -> None:
    resolution = resolve(ToolLoadoutBuilder.create("a").add_plugin("git").disable("git/*").build())
    assert resolution.disabled_plugins == ("Git",)
    assert resolution.active_tools == ()


def test_L9_a_plugin_of_which_something_is_merely_hidden_is_hidden() -> None:
    resolution = resolve(ToolLoadoutBuilder.create("a").disable("git/push").build())
    assert "Git" in resolution.hidden_plugins
    assert ids(resolution, Status.DISABLED) == ["Git/push"]


def test_L9_an_id_of_its_own_does_not_change_how_a_tool_is_addressed() -> None:
    catalog = Catalog((Plugin("search", (Tool("find", id="search.v2.find"),)),))
    by_path = resolve(ToolLoadoutBuilder.create("a").add_plugin("search/find").build(), catalog=catalog)
    by_id = resolve(ToolLoadoutBuilder.create("a").add_plugin("search.v2.find").build(), catalog=catalog)
    assert ids(by_path, Status.ACTIVE) == ["search.v2.find"]
    assert ids(by_id, Status.ACTIVE) == []


def test_L7_an_unknown_loadout_hides_everything() -> None:
    resolution = ToolLoadoutRegistry().resolve("nope", CATALOG)
    assert resolution.chain == ()
    assert resolution.lineage == ()
    assert resolution.broken == "unknown loadout 'nope'"
    assert resolution.active_plugins == resolution.discoverable_plugins == resolution.disabled_plugins == ()
    assert resolution.hidden_plugins == tuple(plugin.name for plugin in CATALOG.plugins)
    assert ids(resolution, Status.HIDDEN) == [tool.id for tool in CATALOG.tools]


def test_L7_the_lineage_is_root_first_and_says_where_it_broke() -> None:
    child = ToolLoadout("child", "middle")
    resolution = resolve(ToolLoadout("middle", "gone"), child)
    assert resolution.lineage == ("middle", "child")
    assert resolution.broken == "unknown parent 'gone'"
    assert resolve(ToolLoadout("fine", "minimal")).broken is None


def test_L7_a_resolution_stays_when_the_registry_moves_on() -> None:
    registry = ToolLoadoutRegistry([MIXED])
    resolution = registry.resolve("mixed", CATALOG)
    registry.register(ToolLoadout("mixed"))
    assert resolution.active_plugins == ("web", "Git")


def test_L7_an_empty_catalog_resolves_to_nothing() -> None:
    resolution = resolve(MIXED, catalog=Catalog())
    assert resolution.active_plugins == resolution.hidden_plugins == ()
    assert resolution.active_tools == ()


def test_L5_the_shipped_catalog_under_the_built_in_loadouts() -> None:
    path = find_shipped_catalog("assistant")
    assert path is not None
    catalog = Catalog.read(path)
    registry = ToolLoadoutRegistry()
    minimal = {"file", "batchEdit", "diff", "notebook", "migration", "shell", "environment", "clipboard", "runtime"}
    minimal |= {"think"}
    analysis = {"parityDocs", "skillParity", "benchmark", "usage"}
    unreachable_by_category = {"docker", "kubernetes", "terraform"}
    everything = {plugin.name for plugin in catalog.plugins}
    expected = {
        "minimal": minimal,
        "developer": minimal | analysis | {"git", "github", "search", "websearch", "memory"},
        "research": minimal | {"search", "websearch", "web", "browser", "memory", "multimodal"},
        "devops": minimal | {"git", "tailscale", "scheduler"},
        "full": everything - unreachable_by_category,
    }
    for name, active in expected.items():
        resolution = registry.resolve(name, catalog)
        assert set(resolution.active_plugins) == active, name
        rest = everything - active
        # All but `full` inherit the star of `minimal`.
        assert set(resolution.discoverable_plugins) == (set() if name == "full" else rest), name
        assert set(resolution.hidden_plugins) == (rest if name == "full" else set()), name
        assert resolution.disabled_plugins == ()


@pytest.mark.parametrize(
    ("asked", "kind", "name"),
    [
        ("web", "plugin", "web"),
        ("GIT", "plugin", "Git"),
        ("web/fetch", "tool", "web/fetch"),
        ("git/PUSH", "tool", "Git/push"),
        ("status", "tool", "Git/status"),
    ],
    ids=["plugin", "plugin-in-other-case", "tool-by-id", "tool-in-other-case", "tool-by-bare-name"],
)
def test_L8_why_takes_plugins_and_tools(asked: str, kind: str, name: str) -> None:
    decision = resolve(MIXED).why(asked)
    assert (decision.kind, decision.name) == (kind, name)


def test_L8_why_of_what_is_nowhere_tells_the_nearest_name() -> None:
    with pytest.raises(NotFoundError, match=r"^No plugin or tool named 'dokcer'\. Did you mean 'docker'") as caught:
        resolve(MIXED).why("dokcer")
    assert {"docker", "web/fetch"} <= set(caught.value.known)


def test_L8_why_of_a_shared_name_lists_the_candidates() -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        resolve(MIXED).why("run")
    assert caught.value.candidates == ("docker/run", "shell/run")
