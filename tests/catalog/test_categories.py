"""The 13 categories and the 32 plugins of seed 1 (rules L1, L2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from toolbelt.catalog.categories import CATEGORY_DESCRIPTIONS, PLUGIN_CATEGORY_MAP, ToolCategory

THIRTEEN = [
    "filesystem", "git", "github", "shell", "web", "search", "network",
    "memory", "orchestration", "analysis", "scheduling", "multimodal", "security",
]  # fmt: skip
ROWS = {
    "filesystem": ["file", "batchEdit", "diff", "notebook", "migration"],
    "git": ["git"],
    "github": ["github"],
    "shell": ["shell", "environment", "clipboard", "runtime"],
    "web": ["web", "browser"],
    "search": ["search", "websearch"],
    "network": ["tailscale"],
    "memory": ["memory"],
    "orchestration": ["tasks", "sessions", "mcp", "mcpEcosystem", "capabilities", "channels"],
    "analysis": ["think", "parityDocs", "skillParity", "benchmark", "usage"],
    "scheduling": ["scheduler"],
    "multimodal": ["multimodal"],
    "security": ["policy", "encoding"],
}
PAIRS = [(plugin, category) for category, plugins in ROWS.items() for plugin in plugins]


def test_L1_the_thirteen_in_the_order_of_the_seed() -> None:
    assert issubclass(ToolCategory, StrEnum)
    assert [category.value for category in ToolCategory] == THIRTEEN
    assert [str(category) for category in ToolCategory] == THIRTEEN
    assert list(CATEGORY_DESCRIPTIONS) == THIRTEEN
    assert all(CATEGORY_DESCRIPTIONS.values())


@pytest.mark.parametrize("name", THIRTEEN)
def test_L1_comparison_ignores_case(name: str) -> None:
    assert ToolCategory(name) is ToolCategory(name.upper()) is ToolCategory(name.title()) is ToolCategory(f" {name} ")


@pytest.mark.parametrize("name", ["", "files", "git hub", None, 3, ["git"]])
def test_L1_what_is_none_of_them_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="not a valid ToolCategory"):
        ToolCategory(name)


def test_L2_the_32_rows() -> None:
    assert len(PAIRS) == 32
    assert [(plugin, category.value) for plugin, category in PLUGIN_CATEGORY_MAP.items()] == PAIRS
    assert len(PLUGIN_CATEGORY_MAP) == 32


@pytest.mark.parametrize(("plugin", "category"), PAIRS)
def test_L2_look_up_ignores_case(plugin: str, category: str) -> None:
    for spelled in (plugin, plugin.lower(), plugin.upper()):
        assert PLUGIN_CATEGORY_MAP[spelled] is ToolCategory(category)
        assert PLUGIN_CATEGORY_MAP.get(spelled) is ToolCategory(category)
        assert spelled in PLUGIN_CATEGORY_MAP


@pytest.mark.parametrize("name", ["docker", "kubernetes", "terraform", "", "git*", None, 3])
def test_L2_what_is_not_in_the_map(name: Any) -> None:
    assert name not in PLUGIN_CATEGORY_MAP
    assert PLUGIN_CATEGORY_MAP.get(name) is None
    with pytest.raises(KeyError):
        PLUGIN_CATEGORY_MAP[name]


def test_L2_nobody_changes_the_map() -> None:
    with pytest.raises(TypeError):
        PLUGIN_CATEGORY_MAP["docker"] = ToolCategory.SHELL  # type: ignore[index]
    with pytest.raises(TypeError):
        CATEGORY_DESCRIPTIONS["docker"] = ""  # type: ignore[index]
    assert "git" in repr(PLUGIN_CATEGORY_MAP)
