"""Suites (rules E1 and L15): which toolsets they are over a catalog, none of them twice."""

from __future__ import annotations

import pytest

from tests.evals.toolsets.samples import ASSISTANT, BUILDER, SMALL, TIERED
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import NotFoundError
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.evals.toolsets.spec import BY_WINDOW, FULL, parse_toolset
from toolbelt.evals.toolsets.suites import COMPATIBILITY, SUITES, make_suite
from toolbelt.loadouts import ToolLoadoutRegistry

REGISTRY = ToolLoadoutRegistry()


def test_E1_compatibility_is_all_there_is_to_give_to_a_model() -> None:
    built_in = ["minimal", "developer", "research", "devops", "full"]
    mine = BUILDER.create("mine, and yours").add_plugin("docker").build()
    made = make_suite(COMPATIBILITY, ASSISTANT, ToolLoadoutRegistry([mine]))
    assert tuple(map(str, made.toolsets)) == (
        "full",
        "loadout:auto",
        *(f"loadout:{name}" for name in built_in),
        "loadout:mine, and yours",
        "tiered",
    )
    assert made.repeats == ()


@pytest.mark.parametrize("catalog", [ASSISTANT, TIERED, SMALL], ids=lambda catalog: catalog.name)
def test_E1_its_loadouts_are_those_that_match_something_and_no_two_show_the_same(catalog: Catalog) -> None:
    made = make_suite(COMPATIBILITY, catalog, REGISTRY)
    loadouts = [spec.loadout for spec in made.toolsets[2:-1]]
    shown = [frozenset(tool.id for tool in REGISTRY.resolve(name, catalog).active_tools) for name in loadouts]
    assert len({*shown, frozenset(tool.id for tool in catalog.tools)}) == len(shown) + 1
    if shown:
        everything = expand_toolsets(["loadout:*"], catalog, REGISTRY)
        assert len(everything) == len(loadouts) + len(made.repeats)
        assert set(everything) >= set(made.toolsets[2:-1])


def test_E1_what_shows_the_same_tools_is_not_paid_for_twice() -> None:
    catalog = Catalog((Plugin("file", (Tool("read"), Tool("write"))), Plugin("git", (Tool("log"),))))
    made = make_suite("Compatibility", catalog, REGISTRY)
    assert tuple(map(str, made.toolsets)) == ("full", "loadout:auto", "loadout:minimal", "tiered")
    assert [(str(repeat.toolset), str(repeat.same_as)) for repeat in made.repeats] == [
        ("loadout:developer", "full"),
        ("loadout:research", "loadout:minimal"),
        ("loadout:devops", "full"),
        ("loadout:full", "full"),
    ]


def test_E1_a_catalog_that_no_loadout_matches_still_has_a_suite() -> None:
    catalog = Catalog((Plugin("shop", (Tool("pay"),)),))
    assert make_suite(COMPATIBILITY, catalog, REGISTRY).toolsets == (FULL, BY_WINDOW, parse_toolset("tiered"))


@pytest.mark.parametrize("name", ["compatability", "", "compatibility*"])
def test_E1_no_such_suite(name: str) -> None:
    with pytest.raises(NotFoundError, match="compatibility") as caught:
        make_suite(name, SMALL, REGISTRY)
    assert (caught.value.kind, caught.value.known) == ("suite", tuple(SUITES))
