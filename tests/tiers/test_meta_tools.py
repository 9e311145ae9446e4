"""The two meta-tools, the catalog's own or ours (rules T1, T2)."""

from __future__ import annotations

import pytest

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.stores.catalogs import open_catalog
from toolbelt.tiers import MetaTools, TierMetaRole, own_meta_tools
from toolbelt.tiers.meta_tools import META_TOOLS

TAKES_CATEGORY = {"type": "object", "properties": {"category": {"type": "string"}}}


def catalog(*tools: Tool, core: tuple[str, ...]) -> Catalog:
    return Catalog((Plugin("core", tools),), core=core)


def test_T1_a_catalog_without_meta_tools_is_given_both() -> None:
    meta = MetaTools.of(Catalog((Plugin("git", (Tool("status"),)),)))
    assert list(meta.extras) == ["browse_tools", "load_tools"]
    assert [meta.find_role(tool.id) for tool in (meta.browse, meta.load)] == [TierMetaRole.BROWSE, TierMetaRole.LOAD]
    assert meta.find_role("git/status") is None


def test_T1_those_a_catalog_brings_along_are_used_as_they_are() -> None:
    tiered = open_catalog("tiered").catalog
    meta = MetaTools.of(tiered)
    assert not meta.extras
    assert meta.browse is tiered.get_tool("browse_tools")
    assert meta.load is tiered.get_tool("load_tools")


@pytest.mark.parametrize(
    ("tools", "core", "own"),
    [
        pytest.param((Tool("browse_tools"),), ("browse_tools",), {"core/browse_tools"}, id="one-of-the-two"),
        pytest.param((Tool("browse_tools"), Tool("load_tools", "", TAKES_CATEGORY)), (), set(), id="not-in-the-core"),
        pytest.param((Tool("load_tools"),), ("load_tools",), set(), id="loads-something-that-is-no-category"),
        pytest.param(
            (Tool("load_tools", "", {"properties": ["category"]}),), ("load_tools",), set(), id="schema-is-broken"
        ),
        pytest.param((Tool("Load_Tools", "", TAKES_CATEGORY),), ("Load_Tools",), set(), id="another-spelling"),
    ],
)
def test_T1_what_counts_as_a_catalogs_own(tools: tuple[Tool, ...], core: tuple[str, ...], own: set[str]) -> None:
    made = catalog(*tools, core=core)
    assert own_meta_tools(made).keys() == own
    assert len(MetaTools.of(made).extras) == 2 - len(own)


def test_of_two_core_tools_of_one_name_the_first_is_the_meta_tool() -> None:
    made = Catalog(
        (Plugin("a", (Tool("browse_tools"),)), Plugin("b", (Tool("browse_tools"),))),
        core=("b/browse_tools", "a/browse_tools"),
    )
    assert own_meta_tools(made) == {"b/browse_tools": TierMetaRole.BROWSE}


def test_an_id_that_is_taken_is_left_to_who_has_it() -> None:
    made = Catalog((Plugin("p", (Tool("x", id="load_tools"), Tool("y", id="toolbelt:load_tools"))),))
    assert MetaTools.of(made).load.id not in {"load_tools", "toolbelt:load_tools"}


@pytest.mark.parametrize("role", TierMetaRole)
def test_ours_have_legal_names_and_say_how_to_go_on(role: TierMetaRole) -> None:
    tool = META_TOOLS[role]
    other = TierMetaRole.LOAD if role is TierMetaRole.BROWSE else TierMetaRole.BROWSE
    assert tool.name == role.value
    assert is_legal_wire_name(tool.name)
    assert other.value in tool.description or other.value in str(tool.parameters)


def test_T2_load_takes_one_category_as_plain_text() -> None:
    assert META_TOOLS[TierMetaRole.BROWSE].parameters["properties"] == {}
    assert list(META_TOOLS[TierMetaRole.LOAD].parameters["properties"]) == ["category"]
    assert "enum" not in META_TOOLS[TierMetaRole.LOAD].parameters["properties"]["category"]
