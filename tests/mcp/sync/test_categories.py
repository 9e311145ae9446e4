"""A category for each server (rule M3)."""

from __future__ import annotations

import pytest

from toolbelt.mcp.sync.sync import propose_category


@pytest.mark.parametrize(
    ("server", "tools", "category"),
    [
        pytest.param("Git", ["git_status"], "git", id="the-map-by-the-name-of-the-server"),
        pytest.param("mcp-server-time", ["get_current_time"], "scheduling", id="a-word-of-the-name"),
        pytest.param("sequential-thinking", ["x"], "analysis", id="not-only-the-first-word"),
        pytest.param("fetch", ["fetch"], "web", id="a-word-that-the-map-lacks"),
        pytest.param("local", ["read_file", "list_directories", "tree"], "filesystem", id="half-of-the-tools"),
        pytest.param("local", ["read_file", "ping", "tree"], "local", id="less-than-half-is-a-category-of-its-own"),
        pytest.param("stripe", [], "stripe", id="no-tools"),
    ],
)
def test_M3_a_category_is_proposed_for_each_server(server: str, tools: list[str], category: str) -> None:
    assert propose_category(server, tools) == category
