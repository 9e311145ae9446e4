"""The five built-in loadouts (rule L5), word for word from the seed."""

from __future__ import annotations

import pytest

from toolbelt import ToolCategory, ToolLoadoutRegistry, WellKnownLoadouts
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
