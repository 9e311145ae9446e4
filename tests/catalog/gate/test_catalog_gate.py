"""What of a change of tools makes them worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from tests.catalog.gate.faults import KINDS, inject
from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.gate.catalog_gate import CatalogComparison, GateRule, compare_catalogs
from toolbelt.catalog.tokens import EstimateCounter, count_named_tools
from toolbelt.stores.catalogs import open_catalog

CATALOG = Catalog(open_catalog("assistant").catalog.plugins)


def count(tools: Sequence[tuple[Tool, str]]) -> list[int]:
    return count_named_tools(tools, EstimateCounter())


def compare(new: Catalog) -> CatalogComparison:
    return compare_catalogs(CATALOG, new, count)


def edit(tool_id: str, change: Callable[[Tool], Tool]) -> Catalog:
    return Catalog(
        tuple(
            replace(plugin, tools=tuple(change(tool) if tool.id == tool_id else tool for tool in plugin.tools))
            for plugin in CATALOG.plugins
        )
    )


def describe(text: str, tool_id: str = "git/git_log") -> Catalog:
    return edit(tool_id, lambda tool: replace(tool, description=text))


OTHER = CATALOG.get_tool("git/git_status").description
FAULTS = {
    "no description": (describe(""), GateRule.DESCRIPTION_LOST),
    "a description that says nothing": (describe("Does it."), GateRule.DESCRIPTION_LOST),
    "a description of something else": (describe("Cooks a soup of carrots."), GateRule.DESCRIPTION_LOST),
    "another tool's description": (describe(OTHER), GateRule.LOOK_ALIKE),
    "another name": (edit("git/git_log", lambda tool: replace(tool, name="log", id="git/log")), GateRule.RENAMED),
}
HARMLESS = {
    "nothing": CATALOG,
    "a sentence more": edit("git/git_log", lambda tool: replace(tool, description=f"{tool.description} Read-only.")),
    "a sentence less": edit("git/git_log", lambda tool: replace(tool, description=tool.description.split(". ")[0])),
    "other words for the same": describe("Prints the history of commits, the newest first, by author, date or path."),
}


@pytest.mark.parametrize(("new", "rule"), FAULTS.values(), ids=FAULTS)
def test_what_makes_a_tool_worse_is_a_fault(new: Catalog, rule: GateRule) -> None:
    assert rule in {fault.rule for fault in compare(new).failing}


@pytest.mark.parametrize("new", HARMLESS.values(), ids=HARMLESS)
def test_what_makes_no_tool_worse_is_none(new: Catalog) -> None:
    assert compare(new).faults == ()


def test_what_is_allowed_is_shown_and_does_not_fail() -> None:
    allowed = compare(describe("Does it.")).allow({GateRule.DESCRIPTION_LOST})
    assert (len(allowed.faults), allowed.failing) == (1, ())


def test_a_limit_of_all_tokens() -> None:
    more = compare_catalogs(CATALOG, describe(f"{OTHER} " * 3, "git/git_status"), count, max_token_increase=0.0)
    assert [fault.rule for fault in more.failing if not fault.tool] == [GateRule.GREW]


@pytest.mark.parametrize("kind", KINDS)
def test_an_injected_fault_names_its_tool(kind: str) -> None:
    [fault] = inject(CATALOG, 1, seed=7, kinds=(kind,))
    found = compare(fault.catalog).failing
    assert any({each.tool, *each.others} & fault.tools for each in found)
