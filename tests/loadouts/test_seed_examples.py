"""Every test and example of seed 1 that is about loadouts, in Python, in the seed's order."""

from __future__ import annotations

import pytest

from toolbelt import (
    PLUGIN_CATEGORY_MAP,
    Plugin,
    Tool,
    ToolCategory,
    ToolLoadout,
    ToolLoadoutBuilder,
    ToolLoadoutRegistry,
    WellKnownLoadouts,
)

SEED_PLUGINS = {
    # "Plugin name reference", row by row
    "file": "Filesystem",
    "batchEdit": "Filesystem",
    "diff": "Filesystem",
    "notebook": "Filesystem",
    "migration": "Filesystem",
    "git": "Git",
    "github": "GitHub",
    "shell": "Shell",
    "environment": "Shell",
    "clipboard": "Shell",
    "runtime": "Shell",
    "web": "Web",
    "browser": "Web",
    "search": "Search",
    "websearch": "Search",
    "tailscale": "Network",
    "memory": "Memory",
    "tasks": "Orchestration",
    "sessions": "Orchestration",
    "mcp": "Orchestration",
    "mcpEcosystem": "Orchestration",
    "capabilities": "Orchestration",
    "channels": "Orchestration",
    "think": "Analysis",
    "parityDocs": "Analysis",
    "skillParity": "Analysis",
    "benchmark": "Analysis",
    "usage": "Analysis",
    "scheduler": "Scheduling",
    "multimodal": "Multimodal",
    "policy": "Security",
    "encoding": "Security",
}
SEED_CATEGORIES = [
    "Filesystem",
    "Git",
    "GitHub",
    "Shell",
    "Web",
    "Search",
    "Network",
    "Memory",
    "Orchestration",
    "Analysis",
    "Scheduling",
    "Multimodal",
    "Security",
]


def kernel_plugins(*names: str) -> list[Plugin]:
    """As `KernelPluginFactory.CreateFromObject(new FakeTool(), name)` makes them."""
    return [Plugin(name, (Tool("fake_tool"),)) for name in names]


# Core concepts


def test_L1_tools_are_grouped_in_13_logical_categories() -> None:
    assert [category.name for category in ToolCategory] == [name.upper() for name in SEED_CATEGORIES]
    assert [category.value for category in ToolCategory] == [name.lower() for name in SEED_CATEGORIES]


@pytest.mark.parametrize("spelled", SEED_CATEGORIES)
def test_L1_a_category_is_found_in_the_seeds_spelling(spelled: str) -> None:
    assert ToolCategory(spelled) is ToolCategory[spelled.upper()]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("docker", ("docker",)),
        ("docker*", ("docker", "dockerCompose")),
        ("*", ("docker", "dockerCompose", "kubernetes")),
    ],
    ids=["exact-match", "prefix-wildcard", "catch-all"],
)
def test_L4_discoverable_patterns(pattern: str, found: tuple[str, ...]) -> None:
    loadout = ToolLoadoutBuilder.create("a").add_plugin("git").disable("web").add_discoverable(pattern).build()
    plugins = kernel_plugins("docker", "git", "dockerCompose", "kubernetes", "web")
    assert ToolLoadoutRegistry([loadout]).resolve_discoverable_plugins("a", plugins) == found


# Fluent builder API


def test_L6_security_reviewer() -> None:
    my_loadout = (
        ToolLoadoutBuilder.create("security-reviewer")
        .extends(WellKnownLoadouts.DEVELOPER)  # inherit developer defaults
        .include_category(ToolCategory.SECURITY)  # add security tools
        .add_plugin("think")  # explicit named plugin
        .add_discoverable("docker*")  # docker tools available on request
        .disable("websearch")  # never expose web search
        .build()
    )
    assert my_loadout == ToolLoadout(
        name="security-reviewer",
        parent_loadout_name="developer",
        default_plugins=frozenset({"think"}),
        included_categories=frozenset({ToolCategory.SECURITY}),
        discoverable_patterns=("docker*",),
        disabled_plugins=frozenset({"websearch"}),
    )

    registry = ToolLoadoutRegistry([my_loadout])
    plugins = kernel_plugins(*SEED_PLUGINS, "docker")
    active = registry.resolve_active_plugins("security-reviewer", plugins)
    assert {"policy", "encoding", "git", "search", "shell", "think"} <= set(active)
    assert not {"websearch", "web", "docker"} & set(active)
    discoverable = registry.resolve_discoverable_plugins("security-reviewer", plugins)
    assert "docker" in discoverable
    assert "websearch" not in discoverable


# Registry


def test_L7_registering_a_custom_loadout() -> None:
    registry = ToolLoadoutRegistry()  # starts with 5 built-ins
    assert len(registry.get_all()) == 5
    custom = (
        ToolLoadoutBuilder.create("data-analyst")
        .include_category(ToolCategory.FILESYSTEM)
        .include_category(ToolCategory.SEARCH)
        .include_category(ToolCategory.ANALYSIS)
        .add_discoverable("*")
        .build()
    )
    registry.register(custom)

    assert registry.get_loadout("data-analyst") is custom
    plugins = kernel_plugins("file", "search", "think", "git", "shell")
    assert registry.resolve_active_plugins("data-analyst", plugins) == ("file", "search", "think")
    assert registry.resolve_discoverable_plugins("data-analyst", plugins) == ("git", "shell")


def test_L7_registering_the_same_name_overwrites_the_previous_definition() -> None:
    registry = ToolLoadoutRegistry([ToolLoadoutBuilder.create("mine").add_plugin("git").build()])
    registry.register(ToolLoadoutBuilder.create("mine").add_plugin("web").build())
    assert registry.resolve_active_plugins("mine", kernel_plugins("git", "web")) == ("web",)
    assert len(registry.get_all()) == 6


def test_L7_resolving_active_plugins() -> None:
    active = ToolLoadoutRegistry().resolve_active_plugins("developer", kernel_plugins(*SEED_PLUGINS))
    assert {"file", "shell", "think", "git", "github", "search"} <= set(active)


def test_L7_resolving_discoverable_plugins() -> None:
    discoverable = ToolLoadoutRegistry().resolve_discoverable_plugins(
        "developer", kernel_plugins(*SEED_PLUGINS, "docker")
    )
    assert {"mcp", "docker"} <= set(discoverable)


# Inheritance and resolution


def test_L7_settings_are_merged_root_first() -> None:
    lineage = ToolLoadoutRegistry().trace_lineage("developer")
    assert lineage.names == ("minimal", "developer")
    assert lineage.loadouts[0].parent_loadout_name is None


def test_L7_cycle_detection() -> None:
    registry = ToolLoadoutRegistry(
        [
            ToolLoadoutBuilder.create("A").extends("B").add_plugin("git").build(),
            ToolLoadoutBuilder.create("B").extends("A").add_plugin("web").build(),
        ]
    )
    assert registry.resolve_active_plugins("A", kernel_plugins("git", "web", "file")) == ("git", "web")


def test_L7_unknown_parent() -> None:
    registry = ToolLoadoutRegistry([ToolLoadoutBuilder.create("A").extends("nobody").add_plugin("git").build()])
    assert registry.resolve_active_plugins("A", kernel_plugins("git", "web")) == ("git",)


def test_L7_disable_overriding_inheritance() -> None:
    # Parent includes Shell
    parent = ToolLoadoutBuilder.create("base").include_category(ToolCategory.SHELL).build()
    # Child extends parent, but disables shell
    child = ToolLoadoutBuilder.create("restricted").extends("base").disable("shell").build()

    registry = ToolLoadoutRegistry([parent, child])
    plugins = kernel_plugins("shell", "environment")
    assert registry.resolve_active_plugins("base", plugins) == ("shell", "environment")
    assert registry.resolve_active_plugins("restricted", plugins) == ("environment",)


# Plugin name reference


def test_L2_the_map_holds_the_seeds_32_rows() -> None:
    assert {name: category.value for name, category in PLUGIN_CATEGORY_MAP.items()} == {
        name: category.lower() for name, category in SEED_PLUGINS.items()
    }
    assert len(PLUGIN_CATEGORY_MAP) == 32


@pytest.mark.parametrize("name", SEED_PLUGINS)
def test_L2_a_plugin_is_found_in_any_case(name: str) -> None:
    expected = ToolCategory(SEED_PLUGINS[name])
    assert PLUGIN_CATEGORY_MAP[name.upper()] is PLUGIN_CATEGORY_MAP[name.lower()] is expected


def test_L2_adding_a_new_plugin_needs_no_row_of_the_map() -> None:
    plugins = [Plugin("myPlugin", (Tool("fake_tool"),), ToolCategory.FILESYSTEM)]
    assert ToolLoadoutRegistry().resolve_active_plugins("minimal", plugins) == ("myPlugin",)


# Implementing a loadout-aware tool host


def test_L7_a_host_that_loads_only_what_the_loadout_permits() -> None:
    full_kernel = kernel_plugins("web", "file", "git", "shell")
    allowed_names = ToolLoadoutRegistry().resolve_active_plugins("minimal", full_kernel)
    scoped = [plugin for plugin in full_kernel if plugin.name in allowed_names]
    assert [plugin.name for plugin in scoped] == ["file", "shell"]


# Testing loadouts


def test_L5_developer_loadout_includes_git_plugin() -> None:
    registry = ToolLoadoutRegistry()
    plugins = kernel_plugins("git", "shell", "docker")

    active = registry.resolve_active_plugins(WellKnownLoadouts.DEVELOPER, plugins)

    assert "git" in active
    assert "shell" in active
    assert "docker" not in active  # discoverable, not active
    assert registry.resolve_discoverable_plugins(WellKnownLoadouts.DEVELOPER, plugins) == ("docker",)


def test_L7_custom_loadout_disable_overrides_category() -> None:
    registry = ToolLoadoutRegistry()
    restricted = ToolLoadoutBuilder.create("restricted").include_category(ToolCategory.SHELL).disable("shell").build()
    registry.register(restricted)
    plugins = kernel_plugins("shell")

    active = registry.resolve_active_plugins("restricted", plugins)

    assert "shell" not in active
