"""Which names a merged chain makes active or discoverable (rules L2, L4, L7, L9)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from toolbelt import Plugin, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry

Available = list[Plugin | str]


def resolve(
    loadout: ToolLoadout | ToolLoadoutBuilder, available: Iterable[Plugin | str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Active and discoverable names under one loadout."""
    built = loadout.build() if isinstance(loadout, ToolLoadoutBuilder) else loadout
    registry = ToolLoadoutRegistry([built])
    given = list(available)
    return (
        registry.resolve_active_plugins(built.name, given),
        registry.resolve_discoverable_plugins(built.name, given),
    )


def create() -> ToolLoadoutBuilder:
    return ToolLoadoutBuilder.create("mine")


def plugin(name: str, *tools: str, category: str | None = None) -> Plugin:
    return Plugin(name, tuple(Tool(tool) for tool in tools), category)


@pytest.mark.parametrize(
    ("pattern", "name", "matched"),
    [
        ("docker", "docker", True),
        ("docker", "DOCKER", True),
        ("Docker", "docker", True),
        ("docker", "dockerd", False),
        ("docker", "my-docker", False),
        ("docker*", "docker", True),
        ("docker*", "dockerCompose", True),
        ("DOCKER*", "dockerCompose", True),
        ("docker*", "dock", False),
        ("docker*", "xdocker", False),
        ("*", "anything at all", True),
        ("d*r", "docker", False),
        ("d*r", "d*r", True),
        ("d*r*", "d*rt", True),
        ("d*r*", "docker", False),
        ("*docker", "docker", False),
        ("*docker", "*docker", True),
        ("**", "x", False),
        ("**", "*x", True),
        ("d?cker", "docker", False),
        ("[d]ocker", "docker", False),
        ("docker.", "docker!", False),
        ("straße*", "STRASSENBAHN", True),
    ],
)
def test_L4_a_trailing_star_is_a_prefix_and_anything_else_is_equality(pattern: str, name: str, matched: bool) -> None:
    assert resolve(create().add_discoverable(pattern), [name])[1] == ((name,) if matched else ())
    assert resolve(create().add_discoverable(pattern), [Plugin(name)])[1] == ((name,) if matched else ())


def test_L4_names_and_blocks_of_plugins_are_no_prefixes() -> None:
    assert resolve(create().add_plugin("git*"), ["git", "github", "git*"])[0] == ("git*",)
    assert resolve(create().add_plugin("git").disable("g*"), ["git"])[0] == ("git",)


@pytest.mark.parametrize("spelled", ["git", "GIT", "Git"])
@pytest.mark.parametrize("entry", ["git", "GIT"])
def test_L7_names_ignore_case_and_the_answer_is_spelled_as_registered(entry: str, spelled: str) -> None:
    available: list[Available] = [[spelled], [plugin(spelled)], [plugin(spelled, "status")]]
    for given in available:
        assert resolve(create().add_plugin(entry), given)[0] == (spelled,)
        assert resolve(create().add_plugin(spelled).disable(entry), given)[0] == ()
        assert resolve(create().add_discoverable(entry), given)[1] == (spelled,)


@pytest.mark.parametrize("name", ["batchEdit", "BATCHEDIT", "batchedit"])
def test_L2_the_map_of_categories_ignores_case(name: str) -> None:
    assert resolve(create().include_category("filesystem"), [name])[0] == (name,)
    assert resolve(create().include_category("filesystem"), [Plugin(name)])[0] == (name,)


def test_L2_a_plugins_own_category_wins_over_the_map() -> None:
    moved = plugin("git", "status", category="network")
    assert resolve(create().include_category("git"), [moved])[0] == ()
    assert resolve(create().include_category("network"), [moved])[0] == ("git",)


@pytest.mark.parametrize("written", ["Finance", "finance", "FINANCE"])
def test_L1_a_catalogs_own_category_ignores_case(written: str) -> None:
    assert resolve(create().include_category(written), [plugin("ledger", category="finance")])[0] == ("ledger",)


def test_L7_a_plugin_without_category_is_reached_by_name_alone() -> None:
    everything = ToolLoadoutBuilder.create("mine").extends("full")
    assert resolve(everything, ["docker", "git"])[0] == ("git",)
    assert resolve(everything.add_plugin("docker"), ["docker", "git"])[0] == ("docker", "git")


def test_L7_discoverable_leaves_out_what_is_active_and_what_is_disabled() -> None:
    loadout = create().add_plugin("a").disable("b").add_discoverable("*")
    assert resolve(loadout, ["a", "b", "c", "d"]) == (("a",), ("c", "d"))


@pytest.mark.parametrize("child_says", ["names", "category", "pattern"])
@pytest.mark.parametrize("level", ["root", "middle", "leaf"])
def test_L7_disable_wins_at_any_level(level: str, child_says: str) -> None:
    registry = ToolLoadoutRegistry()
    for name, parent in (("root", None), ("middle", "root"), ("leaf", "middle")):
        builder = ToolLoadoutBuilder.create(name)
        if parent is not None:
            builder.extends(parent)
        if child_says == "names":
            builder.add_plugin("shell")
        elif child_says == "category":
            builder.include_category("shell")
        builder.add_discoverable("*")
        if name == level:
            builder.disable("Shell")
        registry.register(builder.build())
    for available in (["shell"], [plugin("shell", "run")]):
        assert registry.resolve_active_plugins("leaf", available) == ()
        assert registry.resolve_discoverable_plugins("leaf", available) == ()


def test_L7_a_parent_asked_for_itself_does_not_feel_what_its_child_disables() -> None:
    registry = ToolLoadoutRegistry([create().extends("minimal").disable("shell").build()])
    assert registry.resolve_active_plugins("minimal", ["shell"]) == ("shell",)
    assert registry.resolve_active_plugins("mine", ["shell"]) == ()


@pytest.mark.parametrize(
    "available",
    [
        ["web", "git", "file"],
        (name for name in ("web", "git", "file")),
        {"web": 1, "git": 2, "file": 3},
        [Plugin("web"), Plugin("git"), Plugin("file")],
        iter([Plugin("web"), "git", plugin("file", "read")]),
    ],
    ids=["list", "generator", "mapping", "plugins", "mixed-iterator"],
)
def test_L7_any_iterable_of_names_and_plugins_keeps_its_order(available: Iterable[Plugin | str]) -> None:
    registry = ToolLoadoutRegistry()
    assert registry.resolve_active_plugins("full", available) == ("web", "git", "file")


def test_L7_discoverables_too_come_from_any_iterable_in_its_order() -> None:
    available: Iterable[Plugin | str] = (one for one in ("zoo", Plugin("ape"), "file", plugin("bee", "sting")))
    assert ToolLoadoutRegistry().resolve_discoverable_plugins("minimal", available) == ("zoo", "ape", "bee")


def test_L7_duplicates_count_once_at_their_first_place() -> None:
    available: Available = ["git", "file", Plugin("git"), "git", "file"]
    assert ToolLoadoutRegistry().resolve_active_plugins("full", available) == ("git", "file")
    assert ToolLoadoutRegistry().resolve_discoverable_plugins("minimal", ["b", "a", "b"]) == ("b", "a")


@pytest.mark.parametrize("available", [["git"], [plugin("git", "status")]], ids=["name", "plugin"])
def test_L7_the_result_is_a_tuple_of_plain_texts(available: Available) -> None:
    active = ToolLoadoutRegistry().resolve_active_plugins("full", available)
    assert type(active) is tuple
    assert [type(name) for name in active] == [str]


# L9: one tool at a time.


@pytest.mark.parametrize(
    ("loadout", "active", "discoverable"),
    [
        (create().add_plugin("git/status"), True, False),
        (create().add_plugin("GIT/STATUS"), True, False),
        (create().add_plugin("git/st*"), True, False),
        (create().add_plugin("git/*"), True, False),
        (create().add_plugin("git/nothing"), False, False),
        (create().add_plugin("git/"), False, False),
        (create().add_discoverable("git/status"), False, True),
        (create().add_discoverable("git/st*"), False, True),
        (create().add_discoverable("git/nothing"), False, False),
        (create().add_plugin("git/status").add_discoverable("git/log"), True, False),
        (create().add_plugin("git").disable("git/status"), True, False),
        (create().add_plugin("git").disable("git/*"), False, False),
        (create().add_plugin("git").disable("git/status").disable("git/log"), False, False),
        (create().add_plugin("git/status").disable("git/status"), False, False),
        (create().add_plugin("git/status").disable("git/status").add_discoverable("*"), False, True),
        (create().add_plugin("git/status").disable("git"), False, False),
        (create().add_plugin("git/status").disable("git/s*").disable("git/l*"), False, False),
        (create().include_category("git").disable("git/status"), True, False),
        (create().add_discoverable("*").disable("git/*"), False, False),
    ],
    ids=[
        "one-tool-named",
        "case-does-not-matter",
        "prefix-named",
        "all-tools-named",
        "no-such-tool",
        "no-tool-at-all",
        "one-tool-discoverable",
        "prefix-discoverable",
        "no-such-tool-discoverable",
        "active-goes-before-discoverable",
        "one-tool-disabled-leaves-the-other",
        "all-tools-disabled",
        "every-tool-disabled-one-by-one",
        "the-named-tool-disabled",
        "the-named-tool-disabled-leaves-the-discoverable-one",
        "plugin-disabled-beats-its-tool-named",
        "every-tool-disabled-by-prefixes",
        "category-less-one-tool",
        "all-tools-disabled-beat-the-pattern",
    ],
)
def test_L9_a_plugin_is_what_the_best_of_its_tools_is(
    loadout: ToolLoadoutBuilder, active: bool, discoverable: bool
) -> None:
    git = plugin("git", "status", "log")
    assert resolve(loadout, [git]) == (("git",) if active else (), ("git",) if discoverable else ())


@pytest.mark.parametrize("available", [["git"], [Plugin("git")]], ids=["name", "plugin-without-tools"])
@pytest.mark.parametrize(
    ("loadout", "active", "discoverable"),
    [
        (create().add_plugin("git/status"), True, False),
        (create().add_discoverable("git/status"), False, True),
        (create().add_plugin("git").disable("git/status"), True, False),
        (create().add_plugin("git").disable("git/*"), False, False),
        (create().include_category("git").disable("GIT/*"), False, False),
        (create().add_discoverable("*").disable("git/*"), False, False),
        (create().add_plugin("git/status").disable("git/status"), False, False),
        (create().add_plugin("git/status").disable("git/st*"), False, False),
        (create().add_plugin("git/st*").disable("git/status"), True, False),
        (create().add_plugin("git/status").add_plugin("git/log").disable("git/status"), True, False),
        (create().add_discoverable("git/log").disable("git/l*"), False, False),
    ],
    ids=[
        "one-tool-named",
        "one-tool-discoverable",
        "one-tool-disabled",
        "all-tools-disabled",
        "all-tools-disabled-beat-the-category",
        "all-tools-disabled-beat-the-pattern",
        "the-one-named-is-disabled",
        "the-one-named-is-disabled-by-prefix",
        "one-of-the-named-is-disabled",
        "one-named-is-left",
        "the-one-discoverable-is-disabled",
    ],
)
def test_L9_where_no_tools_are_known_what_addresses_them_decides(
    available: Available, loadout: ToolLoadoutBuilder, active: bool, discoverable: bool
) -> None:
    assert resolve(loadout, available) == (("git",) if active else (), ("git",) if discoverable else ())


@pytest.mark.parametrize(
    ("entry", "active"),
    [
        ("a", ("a",)),
        ("a/b", ("a", "a/b")),
        ("a/b/c", ("a", "a/b")),
        ("a/*", ("a",)),
        ("a/b/*", ("a", "a/b")),
        ("A/B/C", ("a", "a/b")),
        ("a/c", ()),
    ],
)
def test_L9_plugin_names_may_hold_slashes(entry: str, active: tuple[str, ...]) -> None:
    plugins = [plugin("a", "b", "b/c"), plugin("a/b", "c")]
    assert resolve(create().add_plugin(entry), plugins)[0] == active


def test_L9_no_child_can_undo_a_disabled_tool() -> None:
    registry = ToolLoadoutRegistry(
        [
            ToolLoadoutBuilder.create("base").disable("git/push").build(),
            ToolLoadoutBuilder.create("child").extends("base").add_plugin("git/push").add_discoverable("git/*").build(),
        ]
    )
    assert registry.resolve_active_plugins("child", [plugin("git", "push")]) == ()
    assert registry.resolve_discoverable_plugins("child", [plugin("git", "push")]) == ()
