"""The five built-in loadouts (rule L5), word for word from the seed."""

from __future__ import annotations

import pytest

from tests.wording import naming
from toolbelt import Plugin, Tool, ToolCategory, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry, WellKnownLoadouts
from toolbelt.errors import NotFoundError
from toolbelt.loadouts import BUILT_IN_LOADOUTS

EXPECTED: dict[str, tuple[str | None, set[str], set[str], list[str]]] = {
    # name: parent, categories, plugins, patterns
    "minimal": (None, {"filesystem", "shell"}, {"think"}, ["*"]),
    "developer": ("minimal", {"git", "github", "search", "analysis", "memory"}, set(), ["docker*", "mcp*"]),
    "research": ("minimal", {"search", "web", "memory", "multimodal"}, set(), []),
    "devops": ("minimal", {"git", "network", "scheduling"}, set(), ["docker*", "kube*", "terraform*"]),
    "full": (
        None,
        {
            "filesystem",
            "git",
            "github",
            "shell",
            "web",
            "search",
            "network",
            "memory",
            "orchestration",
            "analysis",
            "scheduling",
            "multimodal",
            "security",
        },
        set(),
        [],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_L5_each_holds_exactly_what_the_seed_says(name: str) -> None:
    parent, categories, plugins, patterns = EXPECTED[name]
    loadout = next(loadout for loadout in BUILT_IN_LOADOUTS if loadout.name == name)
    assert loadout.parent_loadout_name == parent
    assert loadout.included_categories == categories
    assert loadout.default_plugins == plugins
    assert list(loadout.discoverable_patterns) == patterns
    assert loadout.disabled_plugins == frozenset()
    assert loadout.description


def test_L5_there_are_five_in_the_seeds_order() -> None:
    assert [loadout.name for loadout in BUILT_IN_LOADOUTS] == ["minimal", "developer", "research", "devops", "full"]


def test_L5_the_names_are_constants_that_are_plain_texts() -> None:
    assert {member.name: member.value for member in WellKnownLoadouts} == {
        "MINIMAL": "minimal",
        "DEVELOPER": "developer",
        "RESEARCH": "research",
        "DEVOPS": "devops",
        "FULL": "full",
    }
    assert {"developer": 1}[WellKnownLoadouts.DEVELOPER] == 1
    assert f"{WellKnownLoadouts.DEVELOPER}" == "developer"


def test_L5_full_includes_every_well_known_category() -> None:
    full = BUILT_IN_LOADOUTS[-1]
    assert full.included_categories == {category.value for category in ToolCategory}
    assert len(full.included_categories) == 13


@pytest.mark.parametrize(
    ("name", "lineage"),
    [
        ("minimal", ("minimal",)),
        ("developer", ("minimal", "developer")),
        ("research", ("minimal", "research")),
        ("devops", ("minimal", "devops")),
        ("full", ("full",)),
    ],
)
def test_L5_three_extend_minimal(name: str, lineage: tuple[str, ...]) -> None:
    assert ToolLoadoutRegistry().trace_lineage(name).names == lineage


def extending(**parents: str | None) -> ToolLoadoutRegistry:
    """Loadouts by name with their parents; each makes the plugin `of-NAME` active."""
    return ToolLoadoutRegistry(
        ToolLoadout(name, parent, default_plugins=frozenset({f"of-{name}"})) for name, parent in parents.items()
    )


def test_L7_it_starts_with_the_five() -> None:
    assert ToolLoadoutRegistry().get_all() == BUILT_IN_LOADOUTS


def test_L7_get_all_is_in_registration_order() -> None:
    registry = ToolLoadoutRegistry([ToolLoadout("zebra")])
    registry.register(ToolLoadout("ape"))
    assert [loadout.name for loadout in registry.get_all()][5:] == ["zebra", "ape"]


@pytest.mark.parametrize("name", ["mine", "MINE", "Mine"])
def test_L7_names_ignore_case(name: str) -> None:
    mine = ToolLoadout("Mine")
    assert ToolLoadoutRegistry([mine]).get_loadout(name) is mine


def test_L7_a_well_known_name_may_be_given_as_member() -> None:
    assert ToolLoadoutRegistry().get_loadout(WellKnownLoadouts.FULL) is BUILT_IN_LOADOUTS[4]


def test_L7_register_overwrites_ignoring_case_and_keeps_the_place() -> None:
    registry = ToolLoadoutRegistry([ToolLoadout("one"), ToolLoadout("two"), ToolLoadout("three")])
    registry.register(ToolLoadout("TWO", description="new"))
    registry.register(ToolLoadout("Minimal", description="mine"))
    first = registry.get_all()[0]
    assert (first.name, first.description) == ("Minimal", "mine")
    assert [loadout.name for loadout in registry.get_all()][5:] == ["one", "TWO", "three"]
    assert len(registry.get_all()) == 8


def test_L7_overwriting_a_parent_changes_what_its_children_resolve_to() -> None:
    registry = ToolLoadoutRegistry()
    registry.register(ToolLoadoutBuilder.create("MINIMAL").add_plugin("web").build())
    assert registry.resolve_active_plugins("developer", ["file", "git", "web"]) == ("git", "web")


@pytest.mark.parametrize("name", ["", "nope", "develope", "developer "])
def test_L7_an_unknown_name_gives_none(name: str) -> None:
    assert ToolLoadoutRegistry().get_loadout(name) is None


def test_L7_require_tells_the_nearest_name() -> None:
    with pytest.raises(NotFoundError, match=naming("develper", "developer")) as caught:
        ToolLoadoutRegistry().require_loadout("develper")
    assert (caught.value.kind, caught.value.name) == ("loadout", "develper")
    assert caught.value.known == ("minimal", "developer", "research", "devops", "full")


def test_L7_require_gives_what_is_there() -> None:
    assert ToolLoadoutRegistry().require_loadout("FULL").name == "full"


def test_L7_what_was_handed_out_does_not_grow() -> None:
    registry = ToolLoadoutRegistry()
    before = registry.get_all()
    registry.register(ToolLoadout("later"))
    assert len(before) == 5


def test_L7_registries_do_not_share_loadouts() -> None:
    ToolLoadoutRegistry().register(ToolLoadout("mine"))
    assert ToolLoadoutRegistry().get_loadout("mine") is None


def test_L7_the_names_of_a_chain_are_root_first() -> None:
    registry = extending(leaf="middle", middle="root", root=None)
    lineage = registry.trace_lineage("LEAF")
    assert lineage.names == ("root", "middle", "leaf")
    assert lineage.name == "LEAF"
    assert lineage.broken is None
    assert registry.resolve_active_plugins("leaf", ["of-leaf", "of-root", "of-middle"]) == (
        "of-leaf",
        "of-root",
        "of-middle",
    )


@pytest.mark.parametrize(
    ("parents", "asked", "names", "broken"),
    [
        ({"a": "a"}, "a", ("a",), "cycle: a → a"),
        ({"a": "A"}, "a", ("a",), "cycle: a → A"),
        ({"a": "b", "b": "a"}, "a", ("b", "a"), "cycle: a → b → a"),
        ({"a": "b", "b": "a"}, "b", ("a", "b"), "cycle: b → a → b"),
        ({"a": "b", "b": "c", "c": "a"}, "b", ("a", "c", "b"), "cycle: b → c → a → b"),
        ({"x": "a", "a": "b", "b": "a"}, "x", ("b", "a", "x"), "cycle: x → a → b → a"),
        ({"a": "gone"}, "a", ("a",), "unknown parent 'gone'"),
        ({"a": "b", "b": "gone"}, "a", ("b", "a"), "unknown parent 'gone'"),
        ({}, "gone", (), "unknown loadout 'gone'"),
        ({"minimal": "developer"}, "minimal", ("developer", "minimal"), "cycle: minimal → developer → minimal"),
    ],
    ids=[
        "extends-itself",
        "extends-itself-in-other-case",
        "two-from-one-side",
        "two-from-the-other-side",
        "three",
        "leads-into-a-cycle",
        "unknown-parent",
        "unknown-grandparent",
        "unknown-loadout",
        "shadowed-built-in",
    ],
)
def test_L7_a_revisit_or_an_unknown_parent_ends_the_chain_without_an_exception(
    parents: dict[str, str], asked: str, names: tuple[str, ...], broken: str
) -> None:
    lineage = extending(**parents).trace_lineage(asked)
    assert lineage.names == names
    assert lineage.broken == broken


def test_L7_a_cycle_still_merges_every_member() -> None:
    registry = extending(a="b", b="c", c="a")
    available = ["of-a", "of-b", "of-c", "other"]
    for name in "abc":
        assert registry.resolve_active_plugins(name, available) == ("of-a", "of-b", "of-c")


def test_L7_an_unknown_parent_keeps_what_came_before_it() -> None:
    assert extending(a="b", b="gone").resolve_active_plugins("a", ["of-a", "of-b"]) == ("of-a", "of-b")


def test_L7_a_chain_of_thousands_is_no_trouble() -> None:
    depth = 5_000
    parents = {f"l{number}": f"l{number + 1}" for number in range(depth)}
    registry = extending(**parents, **{f"l{depth}": None})
    assert len(registry.trace_lineage("l0").names) == depth + 1
    assert registry.resolve_active_plugins("l0", [f"of-l{depth}", "nope"]) == (f"of-l{depth}",)


def test_L7_an_unknown_loadout_gives_empty_results() -> None:
    registry = ToolLoadoutRegistry()
    plugins: list[Plugin | str] = [Plugin("git", (Tool("status"),)), "file"]
    assert registry.resolve_active_plugins("nope", plugins) == ()
    assert registry.resolve_discoverable_plugins("nope", plugins) == ()


def test_L7_nothing_available_gives_empty_results() -> None:
    registry = ToolLoadoutRegistry()
    assert registry.resolve_active_plugins("full", []) == ()
    assert registry.resolve_discoverable_plugins("minimal", iter([])) == ()
