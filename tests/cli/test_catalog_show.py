"""`toolbelt catalog list`, `show` and `stats`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("list", "catalog_list.txt"),
        ("show git/status", "catalog_show_tool.txt"),
        ("show DOCKER", "catalog_show_plugin.txt"),
        ("stats", "catalog_stats.txt"),
    ],
)
def test_the_text(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str], command: str, file: str) -> None:
    ran = toolbelt("catalog", *command.split())
    assert (ran.code, ran.out, ran.err) == (0, expected(file), "")


def test_C_stats_as_json(toolbelt: Toolbelt, small: Path) -> None:
    data = toolbelt("catalog", "stats", "--json").json
    assert {"plugins", "tools", "tokens", "by_category", "by_plugin"} <= set(data)
    assert (data["plugins"], data["tools"]) == (4, 6)
    assert data["tokens"] == sum(row["tokens"] for row in data["by_plugin"].values())
    assert data["tokens"] == sum(row["tokens"] for row in data["by_category"].values())
    assert data["shared_names"] == {"status": ["git/status", "docker/status"]}
    assert next(iter(data["by_category"])) == "money"  # declared before the well-known ones


def test_list_as_json(toolbelt: Toolbelt, small: Path) -> None:
    data = toolbelt("catalog", "list", "--json").json
    assert [row["id"] for row in data["tools"]] == [
        "git/status",
        "git/push",
        "file/read",
        "docker/run.container",
        "docker/status",
        "payments/pay",
    ]
    assert data["tools"][3]["wire_name"] == "run_container"
    assert data["tools"][5]["category"] == "money"
    some = toolbelt("catalog", "list", "--json", "--plugin", "file", "--plugin", "GIT").json
    assert [row["plugin"] for row in some["tools"]] == ["file", "git", "git"]


def test_show_as_json(toolbelt: Toolbelt, small: Path) -> None:
    tool = toolbelt("catalog", "show", "pay", "--json").json
    assert (tool["id"], tool["plugin"], tool["parameters"]) == (
        "payments/pay",
        "payments",
        {"type": "object", "properties": {}},
    )
    plugin = toolbelt("catalog", "show", "git", "--json").json
    assert [entry["name"] for entry in plugin["tools"]] == ["status", "push"]
    assert plugin["tokens"] == sum(
        row["tokens"] for row in toolbelt("catalog", "list", "--plugin", "git", "--json").json["tools"]
    )


@pytest.mark.parametrize(
    ("wire_name", "tool"), [("docker__status", "docker/status"), ("run_container", "docker/run.container")]
)
def test_T5_a_wire_name_finds_its_tool(toolbelt: Toolbelt, small: Path, wire_name: str, tool: str) -> None:
    shown = toolbelt("catalog", "show", wire_name, "--json").json
    assert (shown["id"], shown["wire_name"]) == (tool, wire_name)
    assert toolbelt("catalog", "show", wire_name).out == toolbelt("catalog", "show", tool).out


def test_at_80_columns_the_description_alone_is_cut(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = toolbelt("catalog", "list", "-c", "assistant").out.splitlines()[1:]
    rows = toolbelt("catalog", "list", "-c", "assistant", "--json").json["tools"]
    shown = {tuple(line.split()[:2]) for line in lines}
    assert {(row["name"], f"{row['tokens']:,}") for row in rows} <= shown
    assert {row["plugin"] for row in rows} <= {name for name, _ in shown}
    assert max(map(len, lines)) == 80


def test_stats_has_twenty_rows_of_a_table_unless_all_are_asked_for(toolbelt: Toolbelt) -> None:
    plugins = toolbelt("catalog", "stats", "-c", "assistant", "--json").json["by_plugin"]
    some = toolbelt("catalog", "stats", "-c", "assistant")
    every = toolbelt("catalog", "stats", "-c", "assistant", "--all")
    assert (some.code, every.code) == (0, 0)
    assert some.out.endswith(f"… and {len(plugins) - 20} more (--all)\n")
    assert "more" not in every.out
    assert set(plugins) <= {line.split()[0] for line in every.out.splitlines() if line}


def test_T6_the_shipped_catalogs_are_listed(toolbelt: Toolbelt) -> None:
    rows = toolbelt("catalog", "list", "--shipped", "--json").json["catalogs"]
    assert [row["name"] for row in rows] == ["assistant", "tiered"]
    assert [line.split()[0] for line in toolbelt("catalog", "list", "--shipped").out.splitlines()] == [
        "assistant",
        "tiered",
    ]


def test_a_catalog_of_another_format_is_read_with_a_note(toolbelt: Toolbelt, project: Path) -> None:
    (project / "mcp.json").write_text('{"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}')
    ran = toolbelt("catalog", "stats", "-c", "mcp.json", "--json")
    assert (ran.code, ran.json["tools"]) == (0, 1)
    assert mentions(ran.err, "note", "mcp.json", "MCP", "tools/list")


def test_counts_depend_on_the_content_alone(toolbelt: Toolbelt, small: Path) -> None:
    before = toolbelt("catalog", "show", "pay", "--json").json["tokens"]
    text = (small / "small.yaml").read_text()
    (small / "small.yaml").write_text(text.replace("Sends money.", "Sends a whole lot more money than before."))
    after = toolbelt("catalog", "show", "pay", "--json").json["tokens"]
    assert after > before
    (small / "small.yaml").write_text(text)
    assert toolbelt("catalog", "show", "pay", "--json").json["tokens"] == before
