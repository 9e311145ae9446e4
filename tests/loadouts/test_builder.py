"""The builder (rule L6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolbelt import ToolCategory, ToolLoadout, ToolLoadoutBuilder, WellKnownLoadouts
from toolbelt.errors import InvalidDefinitionError

STEPS: dict[str, Callable[[ToolLoadoutBuilder], ToolLoadoutBuilder]] = {
    "extends": lambda builder: builder.extends("base"),
    "include_category": lambda builder: builder.include_category(ToolCategory.WEB),
    "add_plugin": lambda builder: builder.add_plugin("browser"),
    "add_discoverable": lambda builder: builder.add_discoverable("kube*"),
    "disable": lambda builder: builder.disable("websearch"),
    "describe": lambda builder: builder.describe("what for"),
}

each_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)


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
