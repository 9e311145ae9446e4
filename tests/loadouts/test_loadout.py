"""The value (rule L3): what a loadout takes in, and that nothing can change it afterwards."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from tests.wording import naming
from toolbelt import (
    Catalog,
    Plugin,
    Tool,
    ToolCategory,
    ToolLoadout,
    ToolLoadoutBuilder,
    ToolLoadoutRegistry,
    WellKnownLoadouts,
)
from toolbelt.errors import InvalidDefinitionError, ToolbeltError
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog


def test_L3_everything_but_the_name_has_a_default() -> None:
    loadout = ToolLoadout("lean")
    assert (loadout.name, loadout.parent_loadout_name, loadout.description) == ("lean", None, "")
    assert loadout.default_plugins == loadout.included_categories == loadout.disabled_plugins == frozenset()
    assert loadout.discoverable_patterns == ()


def test_L3_fields_stand_in_the_order_of_the_spec() -> None:
    assert [field.name for field in fields(ToolLoadout)] == [
        "name",
        "parent_loadout_name",
        "default_plugins",
        "included_categories",
        "discoverable_patterns",
        "disabled_plugins",
        "description",
        "resources",  # rule M6
    ]


def test_L3_what_the_caller_still_holds_cannot_change_it() -> None:
    plugins = {"file"}
    categories: set[str] = {"git"}
    patterns = ["docker*"]
    disabled = {"web"}
    loadout = ToolLoadout("a", None, plugins, categories, patterns, disabled)  # type: ignore[arg-type]
    before = copy.deepcopy(loadout)

    plugins.add("shell")
    plugins.discard("file")
    categories.add("shell")
    patterns.append("*")
    patterns[0] = "kube*"
    disabled.clear()

    assert loadout == before
    assert loadout.default_plugins == {"file"}
    assert loadout.included_categories == {"git"}
    assert loadout.discoverable_patterns == ("docker*",)
    assert loadout.disabled_plugins == {"web"}


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("default_plugins", frozenset),
        ("included_categories", frozenset),
        ("discoverable_patterns", tuple),
        ("disabled_plugins", frozenset),
    ],
)
@pytest.mark.parametrize(
    "make",
    [list, tuple, set, frozenset, iter, dict.fromkeys],
    ids=["list", "tuple", "set", "frozenset", "iterator", "mapping"],
)
def test_L3_any_collection_is_taken_in_as_one_that_cannot_change(
    part: str, kind: type, make: Callable[[list[str]], Iterable[str]]
) -> None:
    loadout = ToolLoadout("a", **{part: make(["x"])})  # type: ignore[arg-type]
    value = getattr(loadout, part)
    assert (type(value), list(value)) == (kind, ["x"])


@pytest.mark.parametrize("field", [field.name for field in fields(ToolLoadout)])
def test_L3_no_field_can_be_set_or_deleted(field: str) -> None:
    loadout = ToolLoadout("a")
    with pytest.raises(FrozenInstanceError):
        setattr(loadout, field, "x")
    with pytest.raises(FrozenInstanceError):
        delattr(loadout, field)


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000"], ids=["empty", "blank", "tab-newline", "wide-blank"])
def test_L3_a_blank_name_is_an_error(name: str) -> None:
    with pytest.raises(InvalidDefinitionError, match="name must be text"):
        ToolLoadout(name)


@pytest.mark.parametrize("name", [None, 5, b"a", ["a"]])
def test_L3_a_name_that_is_no_text_is_an_error_of_ours(name: object) -> None:
    with pytest.raises(ToolbeltError):
        ToolLoadout(name)  # type: ignore[arg-type]


def test_L3_the_errors_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="blank"):
        ToolLoadout("")


HIDDEN = {"zero-width-space": "git\u200b", "bell": "git\x07", "turned-around": "\u202egit", "tag": "git\U000e0041"}
STEPS: dict[str, Callable[[str], object]] = {
    "create": ToolLoadoutBuilder.create,
    "extends": ToolLoadoutBuilder.create("a").extends,
    "include_category": ToolLoadoutBuilder.create("a").include_category,
    "add_plugin": ToolLoadoutBuilder.create("a").add_plugin,
    "add_discoverable": ToolLoadoutBuilder.create("a").add_discoverable,
    "disable": ToolLoadoutBuilder.create("a").disable,
    "plugin": Plugin,
    "category-of-a-plugin": lambda name: Plugin("a", category=name),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("name", ["", " \t", *HIDDEN.values()], ids=["empty", "blank", *HIDDEN])
def test_L3_a_name_that_is_blank_or_invisible_is_an_error_everywhere(step: Callable[[str], object], name: str) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        step(name)
    if name.strip():
        assert name.encode("unicode_escape").decode() in str(caught.value)
        assert str(caught.value).isprintable()


def test_L3_names_are_compared_composed_and_without_case() -> None:
    composed, decomposed = "caf\u00e9", "CAFE\u0301"
    loadouts = ToolLoadoutRegistry(
        [
            ToolLoadout("off", included_categories=frozenset({"git"}), disabled_plugins=frozenset({composed})),
            ToolLoadout("on", default_plugins=frozenset({composed}), parent_loadout_name="Off".casefold()),
            ToolLoadout("by-pattern", discoverable_patterns=(f"{composed[:4]}*",)),
            ToolLoadout("by-tool", default_plugins=frozenset({f"x/{composed}"})),
        ]
    )
    plugins = [Plugin(decomposed, (Tool("t"),), "git"), Plugin("x", (Tool(decomposed), Tool("y")))]
    assert loadouts.resolve_active_plugins("off", plugins) == ()
    assert loadouts.resolve_active_plugins("on", [decomposed]) == ()
    assert loadouts.resolve_discoverable_plugins("by-pattern", plugins) == (decomposed,)
    resolved = loadouts.resolve("by-tool", Catalog(tuple(plugins)))
    assert [tool.name for tool in resolved.active_tools] == [decomposed]


@pytest.mark.parametrize(
    "part", ["default_plugins", "included_categories", "discoverable_patterns", "disabled_plugins"]
)
def test_L3_one_text_is_not_a_collection_of_its_letters(part: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(part, "a", "list", "git")):
        ToolLoadout("a", **{part: "git"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "part", ["default_plugins", "included_categories", "discoverable_patterns", "disabled_plugins"]
)
def test_L3_entries_that_are_no_text_are_refused_by_name(part: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming(part, "a", "text", 7)):
        ToolLoadout("a", **{part: ["git", 7]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (ToolCategory.GIT, "git"),
        ("git", "git"),
        ("GIT", "git"),
        (" Git ", "git"),
        ("GitHub", "github"),
        ("Finance", "Finance"),
        (" Finance ", "Finance"),
    ],
    ids=["member", "plain", "upper", "padded", "seed-spelling", "a-catalogs-own", "a-catalogs-own-padded"],
)
def test_L1_well_known_categories_are_kept_in_their_own_spelling(given: str, kept: str) -> None:
    assert ToolLoadout("a", included_categories=frozenset({given})).included_categories == {kept}


def test_L1_a_category_is_found_by_member_and_by_text() -> None:
    categories = ToolLoadout("a", included_categories=frozenset({"SHELL"})).included_categories
    assert ToolCategory.SHELL in categories
    assert "shell" in categories


def test_L3_patterns_keep_their_order_and_lose_their_repeats() -> None:
    patterns = ToolLoadout("a", discoverable_patterns=("b*", "a*", "b*", "*")).discoverable_patterns
    assert patterns == ("b*", "a*", "*")


def test_L3_loadouts_are_values_equal_hashable_copied_and_pickled() -> None:
    one = ToolLoadout("a", "b", frozenset({"x", "y"}), frozenset({"git"}), ("p*",), frozenset({"z"}), "what for")
    two = ToolLoadout(
        "a", "b", frozenset({"y", "x"}), frozenset({ToolCategory.GIT}), ("p*", "p*"), frozenset("z"), "what for"
    )
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


def test_L3_a_change_makes_another_loadout_under_the_same_checks() -> None:
    one = ToolLoadout("a", discoverable_patterns=("x",))
    two = replace(one, discoverable_patterns=["x", "x", "y"])  # type: ignore[arg-type]
    assert (one.discoverable_patterns, two.discoverable_patterns) == (("x",), ("x", "y"))
    with pytest.raises(InvalidDefinitionError):
        replace(one, name=" ")


def test_L15_what_stands_for_the_whole_catalog_names_every_plugin() -> None:
    catalog = Catalog((Plugin("git", (Tool("status"),)), Plugin("odd", (Tool("one"),))))
    assert whole_catalog(catalog) == ToolLoadout(WHOLE_CATALOG, default_plugins=frozenset({"git", "odd"}))
    assert whole_catalog(Catalog()).default_plugins == frozenset()


BUILD_STEPS: dict[str, Callable[[ToolLoadoutBuilder], ToolLoadoutBuilder]] = {
    "extends": lambda builder: builder.extends("base"),
    "include_category": lambda builder: builder.include_category(ToolCategory.WEB),
    "add_plugin": lambda builder: builder.add_plugin("browser"),
    "add_discoverable": lambda builder: builder.add_discoverable("kube*"),
    "disable": lambda builder: builder.disable("websearch"),
    "describe": lambda builder: builder.describe("what for"),
}

each_step = pytest.mark.parametrize("step", BUILD_STEPS.values(), ids=BUILD_STEPS)


def full_builder() -> ToolLoadoutBuilder:
    return (
        ToolLoadoutBuilder.create("a")
        .extends("p")
        .include_category("git")
        .add_plugin("n")
        .add_discoverable("d*")
        .disable("x")
        .describe("before")
    )


def test_L6_the_whole_chain_of_the_spec_builds_the_value() -> None:
    built = (
        ToolLoadoutBuilder.create("name").extends("p").include_category("security").add_plugin("n")
    ).add_discoverable("d*").disable("x").build()  # fmt: skip
    assert built == ToolLoadout(
        "name",
        parent_loadout_name="p",
        default_plugins=frozenset({"n"}),
        included_categories=frozenset({"security"}),
        discoverable_patterns=("d*",),
        disabled_plugins=frozenset({"x"}),
    )


def test_L6_create_alone_builds_an_empty_loadout() -> None:
    assert ToolLoadoutBuilder.create("a").build() == ToolLoadout("a")


@each_step
def test_L6_each_method_returns_the_builder(step: Callable[[ToolLoadoutBuilder], ToolLoadoutBuilder]) -> None:
    builder = ToolLoadoutBuilder.create("a")
    assert step(builder) is builder


@each_step
def test_L6_each_method_has_an_effect(step: Callable[[ToolLoadoutBuilder], ToolLoadoutBuilder]) -> None:
    assert step(full_builder()).build() != full_builder().build()


@each_step
def test_L6_going_on_after_build_never_changes_what_was_built(
    step: Callable[[ToolLoadoutBuilder], ToolLoadoutBuilder],
) -> None:
    builder = full_builder()
    built = builder.build()
    step(builder)
    assert built == full_builder().build()
    assert builder.build() != built


def test_L6_building_twice_gives_the_same() -> None:
    builder = full_builder()
    assert builder.build() == builder.build()


def test_L6_the_last_extends_wins() -> None:
    assert ToolLoadoutBuilder.create("a").extends("p").extends("q").build().parent_loadout_name == "q"


def test_L6_what_is_added_adds_up_and_repeats_count_once() -> None:
    builder = ToolLoadoutBuilder.create("a")
    for name in ("one", "two", "one"):
        builder.add_plugin(name).disable(f"no-{name}").add_discoverable(f"{name}*").include_category(f"c-{name}")
    built = builder.build()
    assert built.default_plugins == {"one", "two"}
    assert built.disabled_plugins == {"no-one", "no-two"}
    assert built.discoverable_patterns == ("one*", "two*")
    assert built.included_categories == {"c-one", "c-two"}


@pytest.mark.parametrize("category", [ToolCategory.GITHUB, "github", "GitHub"], ids=["member", "text", "seed-spelling"])
def test_L6_a_category_may_be_member_or_text(category: str) -> None:
    built = ToolLoadoutBuilder.create("a").include_category(category).build()
    assert built.included_categories == {"github"}


def test_L6_well_known_names_may_be_given_as_members() -> None:
    built = ToolLoadoutBuilder.create(WellKnownLoadouts.MINIMAL).extends(WellKnownLoadouts.DEVELOPER).build()
    assert type(built.name) is str
    assert type(built.parent_loadout_name) is str
    assert (built.name, built.parent_loadout_name) == ("minimal", "developer")


@pytest.mark.parametrize("name", ["", "  "])
def test_L3_a_blank_name_is_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidDefinitionError):
        ToolLoadoutBuilder.create(name)


def test_L6_two_builders_do_not_share_anything() -> None:
    one, two = ToolLoadoutBuilder.create("a"), ToolLoadoutBuilder.create("a")
    one.add_plugin("git").disable("web")
    assert two.build() == ToolLoadout("a")


@pytest.mark.parametrize("step", ["include_category", "add_plugin", "add_discoverable", "disable"])
@pytest.mark.parametrize("names", [["git", "shell"], {"git": True}, {"git"}, 7, None])
def test_L6_each_step_of_a_builder_takes_one_name(step: str, names: object) -> None:
    with pytest.raises(InvalidDefinitionError):
        getattr(ToolLoadoutBuilder.create("mine"), step)(names)
