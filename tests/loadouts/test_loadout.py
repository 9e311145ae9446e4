"""The value (rule L3): what a loadout takes in, and that nothing can change it afterwards."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from toolbelt import Catalog, Plugin, Tool, ToolCategory, ToolLoadout
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
    with pytest.raises(InvalidDefinitionError, match="name must be text that is not blank"):
        ToolLoadout(name)


@pytest.mark.parametrize("name", [None, 5, b"a", ["a"]])
def test_L3_a_name_that_is_no_text_is_an_error_of_ours(name: object) -> None:
    with pytest.raises(ToolbeltError):
        ToolLoadout(name)  # type: ignore[arg-type]


def test_L3_the_errors_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="blank"):
        ToolLoadout("")


@pytest.mark.parametrize(
    "part", ["default_plugins", "included_categories", "discoverable_patterns", "disabled_plugins"]
)
def test_L3_one_text_is_not_a_collection_of_its_letters(part: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=f"{part} of loadout 'a' must be a collection"):
        ToolLoadout("a", **{part: "git"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "part", ["default_plugins", "included_categories", "discoverable_patterns", "disabled_plugins"]
)
def test_L3_entries_that_are_no_text_are_refused_by_name(part: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=f"{part} of loadout 'a' must be texts, not 7"):
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
