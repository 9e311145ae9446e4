"""A catalog: unique ids, names that may repeat, and what a reference means."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt import Catalog as CatalogAtTheFrontDoor
from toolbelt.catalog import CATEGORY_DESCRIPTIONS, Catalog, Plugin, Tool
from toolbelt.errors import AmbiguousNameError, InvalidDefinitionError, NotFoundError

CATALOG = Catalog(
    (
        Plugin("web", (Tool("search"), Tool("fetch"), Tool("Status"))),
        Plugin("Files", (Tool("search"), Tool("read"), Tool("status"), Tool("odd", id="read#2"))),
        Plugin("docker", (Tool("read", id="fetch"),)),
    )
)


def test_C_the_front_door_has_it() -> None:
    assert CatalogAtTheFrontDoor is Catalog
    assert [plugin.name for plugin in CATALOG.plugins] == ["web", "Files", "docker"]
    assert [tool.id for tool in CATALOG.tools] == [
        "web/search", "web/fetch", "web/Status", "Files/search", "Files/read", "Files/status", "read#2", "fetch",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        pytest.param("web/search", "web/search", id="an-id"),
        pytest.param("read#2", "read#2", id="an-id-of-its-own"),
        pytest.param("Files/odd", "read#2", id="plugin-and-name-of-one-with-its-own-id"),
        pytest.param("odd", "read#2", id="a-bare-name-that-one-has"),
        pytest.param("fetch", "fetch", id="an-id-goes-before-a-bare-name"),
        pytest.param("Status", "web/Status", id="exact-spelling-goes-first"),
        pytest.param("status", "Files/status", id="exact-spelling-goes-first-here-too"),
        pytest.param("WEB/SEARCH", "web/search", id="an-id-in-another-case"),
        pytest.param("files/ODD", "read#2", id="plugin-and-name-in-another-case"),
        pytest.param("ODD", "read#2", id="a-bare-name-in-another-case"),
    ],
)
def test_a_reference_means(reference: str, expected: str) -> None:
    assert CATALOG.get_tool(reference).id == expected


@pytest.mark.parametrize(
    ("reference", "candidates"),
    [
        pytest.param("search", ("web/search", "Files/search"), id="a-shared-name"),
        pytest.param("SEARCH", ("web/search", "Files/search"), id="a-shared-name-in-another-case"),
        pytest.param("STATUS", ("web/Status", "Files/status"), id="names-that-differ-only-in-case"),
        pytest.param("read", ("Files/read", "fetch"), id="a-name-of-which-one-has-its-own-id"),
    ],
)
def test_an_ambiguous_name_lists_the_candidates(reference: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        CATALOG.get_tool(reference)
    assert caught.value.candidates == candidates


@pytest.mark.parametrize("reference", ["", "serch", "web/", "/search", "web/search/x"])
def test_an_unknown_tool_is_not_found(reference: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        CATALOG.get_tool(reference)
    assert (caught.value.kind, caught.value.name) == ("tool", reference)


def test_plugins_are_found_ignoring_case() -> None:
    assert CATALOG.get_plugin("FILES").name == "Files"
    assert CATALOG.find_plugin("files") is CATALOG.get_plugin("Files")
    assert CATALOG.find_plugin("nope") is None
    with pytest.raises(NotFoundError, match=naming("dokcer", "docker")):
        CATALOG.get_plugin("dokcer")


def test_shared_names_are_known_in_order() -> None:
    assert list(CATALOG.shared_names.items()) == [
        ("search", ("web/search", "Files/search")),
        ("read", ("Files/read", "fetch")),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"plugins": (Plugin("git"), Plugin("GIT"))}, "Plugin names must be unique.*git", id="plugins"),
        pytest.param(
            {"plugins": (Plugin("a", (Tool("f", id="x"),)), Plugin("b", (Tool("g", id="x"),)))},
            "more than once: x",
            id="an-id-in-two-plugins",
        ),
        pytest.param({"categories": {"Pay": "", "pay": ""}}, "Categories must be unique.*pay", id="categories"),
        pytest.param({"ladder": [5]}, "rung of a ladder", id="a-rung-that-is-none"),
        pytest.param({"ladder": [{"min_window": 5}]}, "rung of a ladder", id="a-rung-without-a-loadout"),
        pytest.param({"ladder": [{"loadout": "x", "window": 5}]}, "rung of a ladder", id="a-rung-of-unknown-keys"),
        pytest.param({"ladder": [{"loadout": "x", "min_window": "5"}]}, "number of tokens", id="a-window-of-text"),
        pytest.param({"ladder": [{"loadout": "x", "min_window": -5}]}, "number of tokens", id="a-negative-window"),
        pytest.param({"ladder": [{"loadout": "x", "min_window": True}]}, "number of tokens", id="a-window-of-truth"),
    ],
)
def test_a_catalog_that_may_not_exist(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        Catalog(**fields)


def test_T5_the_promise_of_unique_names_is_checked_on_the_raw_list() -> None:
    plugins = (Plugin("a", (Tool("edit"), Tool("f"))), Plugin("b", (Tool("edit"), Tool("f"))))
    assert not Catalog(plugins).unique_names
    with pytest.raises(InvalidDefinitionError, match=naming("mine", "unique", "edit, f")):
        Catalog(plugins, name="mine", unique_names=True)
    assert Catalog(plugins[:1], unique_names=True).unique_names


def test_T1_core_takes_any_reference_and_keeps_ids() -> None:
    assert Catalog(CATALOG.plugins, core=("odd", "FILES/READ", "web/search")).core == (
        "read#2", "Files/read", "web/search")  # fmt: skip
    assert CATALOG.core == ()


@pytest.mark.parametrize(("core", "error"), [(("nope",), NotFoundError), (("search",), AmbiguousNameError)])
def test_T1_a_core_tool_must_be_there(core: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        Catalog(CATALOG.plugins, core=core)


def test_L1_categories_are_those_declared_then_those_in_use() -> None:
    catalog = Catalog(
        (Plugin("git"), Plugin("stripe", category="payments"), Plugin("docker"), Plugin("x", category="Billing")),
        categories={"billing": "Invoices", "unused": ""},
    )
    assert list(catalog.categories.items()) == [
        ("billing", "Invoices"),
        ("unused", ""),
        ("git", CATEGORY_DESCRIPTIONS["git"]),
        ("payments", ""),
    ]


def test_L15_rungs_are_written_long() -> None:
    assert Catalog(ladder=("big", {"loadout": "small", "min_window": 5})).ladder == (  # type: ignore[arg-type]
        {"loadout": "big", "min_window": 0},
        {"loadout": "small", "min_window": 5},
    )


def test_a_catalog_is_frozen_to_the_inside() -> None:
    loadouts: dict[str, Any] = {"mine": {"plugins": ["git"]}}
    catalog = Catalog(loadouts=loadouts)
    loadouts["mine"]["plugins"].append("web")
    assert catalog.loadouts == {"mine": {"plugins": ["git"]}}
    for mapping in (catalog.loadouts, catalog.categories, catalog.wire_names, catalog.shared_names):
        with pytest.raises(TypeError, match="frozen"):
            mapping["x"] = 1  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        catalog.name = "other"  # type: ignore[misc]


def test_wire_names_lead_back() -> None:
    for tool in CATALOG.tools:
        assert CATALOG.find_tool_by_wire_name(CATALOG.wire_names[tool.id]) is tool
    assert CATALOG.find_tool_by_wire_name("search") is None, "two bear it, so it is sent as neither"


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.text("abAB/", min_size=1, max_size=3)), unique=True))
def test_every_tool_is_found_by_its_id(pairs: list[tuple[str, str]]) -> None:
    by_plugin: dict[str, list[Tool]] = {}
    for plugin, name in pairs:
        by_plugin.setdefault(plugin, []).append(Tool(name))
    catalog = Catalog(tuple(Plugin(name, tuple(tools)) for name, tools in by_plugin.items()))
    assert len(catalog.tools) == len(pairs)
    for tool in catalog.tools:
        assert catalog.get_tool(tool.id) is tool
        assert (tool.name in catalog.shared_names) == (sum(name == tool.name for _, name in pairs) > 1)


def test_a_catalog_can_be_read_in_a_shell() -> None:
    assert repr(CATALOG) == "<Catalog 'catalog': 3 plugins, 8 tools>"
