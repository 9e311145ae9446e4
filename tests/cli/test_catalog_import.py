"""`toolbelt catalog import`: from what people have to a catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.conftest import SHARED_DATA, needs_shared_data
from tests.servers.mcp_scripts import write_config, write_script
from tests.wording import mentions

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FUNCTION = {"name": "pay", "description": "Sends money.", "parameters": SCHEMA}
SOURCES: dict[str, tuple[str, Any]] = {
    "openai-chat": ("OpenAI tool list", [{"type": "function", "function": FUNCTION}]),
    "openai-responses": ("OpenAI tool list", {"tools": [{"type": "function", **FUNCTION}]}),
    "openai-functions": ("OpenAI tool list", [FUNCTION]),
    "anthropic": ("Anthropic tool list", [{"name": "pay", "description": "Sends money.", "input_schema": SCHEMA}]),
    "mcp": (
        "MCP tools/list result",
        {"tools": [{"name": "pay", "description": "Sends money.", "inputSchema": SCHEMA}]},
    ),
    "mcp-in-json-rpc": (
        "MCP tools/list result",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"tools": [{"name": "pay", "description": "Sends money.", "inputSchema": SCHEMA}]},
        },
    ),
}
TOOL = {"name": "pay", "description": "Sends money.", "parameters": SCHEMA}


@pytest.mark.parametrize(("label", "data"), SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("stdin", [False, True], ids=["from-a-file", "from-standard-input"])
def test_a_tool_list(toolbelt: Toolbelt, project: Path, label: str, data: Any, stdin: bool) -> None:
    raw = json.dumps(data).encode()
    (project / "payments.json").write_bytes(raw)
    ran = toolbelt("catalog", "import", *(["-", "--name", "payments"] if stdin else ["payments.json"]), stdin=raw)
    assert ran.code == 0
    assert ran.json == {"name": "payments", "plugins": [{"name": "payments", "tools": [TOOL]}]}
    assert mentions(ran.err, "note", label, "1 tool", "1 plugin")


def test_json_lines(toolbelt: Toolbelt, project: Path) -> None:
    rows = [{"name": "a", "server": "one"}, {"name": "b", "server": "two"}, {"name": "a", "server": "two"}]
    text = "\n".join(map(json.dumps, rows))
    (project / "x.jsonl").write_text(text)
    for ran in (toolbelt("catalog", "import", "x.jsonl"), toolbelt("catalog", "import", "-", stdin=text.encode())):
        plugins = ran.json["plugins"]
        assert [(plugin["name"], len(plugin["tools"])) for plugin in plugins] == [("one", 1), ("two", 2)]
        assert mentions(ran.err, "1 name", "tools: a")
    grouped = toolbelt("catalog", "import", "x.jsonl", "--plugin-field", "name", "--category-field", "server")
    assert grouped.code == 3  # two tools named `a` in one plugin `a`: never merged in silence
    assert mentions(grouped.err, "x.jsonl:3: warning", "a/a")
    assert toolbelt("catalog", "import", "x.jsonl", "--plugin-field", "srver").code == 2


@pytest.mark.parametrize("ending", ["json", "yaml", "yml"])
def test_our_own_form_goes_through_unchanged(toolbelt: Toolbelt, small: Path, ending: str) -> None:
    ran = toolbelt("catalog", "import", "small.yaml", "-o", f"out.{ending}", "--json")
    assert (ran.code, ran.json["output"], ran.json["tools"]) == (0, f"out.{ending}", 6)
    assert ran.json["wire_names"]["docker/run.container"] == "run_container"
    first = toolbelt("catalog", "list", "--json").json
    assert toolbelt("catalog", "list", "--json", "-c", f"out.{ending}").json == first
    again = toolbelt("catalog", "import", f"out.{ending}").json
    assert again == toolbelt("catalog", "import", "small.yaml").json


def test_an_output_is_not_replaced_unasked(toolbelt: Toolbelt, small: Path) -> None:
    (small / "out.yaml").write_text("mine")
    ran = toolbelt("catalog", "import", "small.yaml", "-o", "out.yaml")
    assert ran.code == 2
    assert "use --force" in ran.err
    assert (small / "out.yaml").read_text() == "mine"
    assert toolbelt("catalog", "import", "small.yaml", "-o", "out.yaml", "--force").code == 0


@pytest.mark.parametrize(
    ("content", "named"),
    [
        pytest.param(b"", ("none of what", "read"), id="empty"),
        pytest.param(b"[]", "There is no tool", id="an-empty-list"),
        pytest.param(b"hello", ("none of what", "read"), id="a-word"),
        pytest.param(b"{", "Not JSON", id="half-of-a-json"),
        pytest.param(b"\xff\xfe[\x00]\x00", "UTF-16", id="utf16"),
        pytest.param(b'[{"type": "function", "function": {}}]', ":1: error", id="a-function-without-a-name"),
        pytest.param(
            b'{"plugins": [{"name": "p", "tools": [{"name": "a", "name": "b"}]}]}',
            "stands here twice",
            id="a-key-twice",
        ),
        pytest.param(b'{"tools": [' + b"[" * 3000, (), id="nested-without-end"),
        pytest.param(b'{"nme": "a"}\n{"name": ""}\n', "2 findings", id="two-bad-lines-and-no-other"),
        pytest.param(b'{"plugins": [{"name": "p", "tools": [{"name": "a"}, {}]}]}', ":1: error", id="of-our-own-form"),
    ],
)
@pytest.mark.parametrize("stdin", [False, True], ids=["from-a-file", "from-standard-input"])
def test_bad_input_is_2_with_its_findings(
    toolbelt: Toolbelt, project: Path, content: bytes, named: object, stdin: bool
) -> None:
    (project / "bad").write_bytes(content)
    ran = toolbelt("catalog", "import", "-" if stdin else "bad", "-o", "out.json", stdin=content)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)
    assert "error: " in ran.err
    assert not (project / "out.json").exists()


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        pytest.param(
            "list.json", '[{"name": "a", "parameters": {}},\n7,\n{"name": "b", "parameters": {}}]', 2, id="list"
        ),
        pytest.param(
            "list.jsonl", '{"name": "a"}\n{"name": "b"}\n{"name": "c", "parameters": "x"}', 3, id="json-lines"
        ),
        pytest.param(
            "api.yaml",
            "openapi: 3.1.0\npaths:\n  /a: {get: {operationId: a}, put: {operationId: b}}\n  /b:\n    get: {tags: 5}",
            5,
            id="openapi",
        ),
    ],
)
def test_V6_an_entry_that_cannot_be_read_does_not_refuse_the_others(
    toolbelt: Toolbelt, project: Path, file: str, text: str, line: int
) -> None:
    (project / file).write_text(text)
    ran = toolbelt("catalog", "import", file, "-o", "out.yaml", "--json")
    assert (ran.code, ran.json["tools"], len(ran.json["left_out"])) == (3, 2, 1)
    assert mentions(ran.err, f"{file}:{line}: warning", "1 mistake", "left out")
    assert toolbelt("catalog", "stats", "-c", "out.yaml", "--json").json["tools"] == 2


def test_V6_an_entry_of_a_clients_file_does_not_refuse_the_others(toolbelt: Toolbelt, project: Path) -> None:
    write_config(project / "mcp.json", good=write_script(project, "good", "ping"), bad={"args": []}, worse=7)
    ran = toolbelt("catalog", "import", "mcp.json", "-o", "out.json", "--yes", "--json")
    assert (ran.code, ran.json["tools"], len(ran.json["left_out"])) == (3, 1, 2)
    assert mentions(ran.err, "mcp.json:1: warning", "bad", "worse")
    assert toolbelt("catalog", "stats", "-c", "out.json", "--json").json["by_plugin"].keys() == {"good"}
    write_config(project / "mcp.json", bad={"args": []})
    assert toolbelt("catalog", "import", "mcp.json", "-o", "none.json", "--yes").code == 2
    assert not (project / "none.json").exists()


@pytest.mark.parametrize("output", ["out.txt", "out", "out.json.gz"])
def test_the_ending_says_how_to_write(toolbelt: Toolbelt, small: Path, output: str) -> None:
    ran = toolbelt("catalog", "import", "small.yaml", "-o", output)
    assert ran.code == 2
    assert ".json, .yaml or .yml" in ran.err
    assert not (small / output).exists()


def test_a_category_is_for_plugins_without_one(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("catalog", "import", "small.yaml", "--category", "shell", "-o", "out.yaml")
    assert ran.code == 0
    rows = toolbelt("catalog", "stats", "-c", "out.yaml", "--json").json["by_category"]
    assert {name: row["tools"] for name, row in rows.items()} == {"money": 1, "git": 2, "filesystem": 1, "shell": 2}
    (small / "list.json").write_text(json.dumps([FUNCTION]))
    assert toolbelt("catalog", "import", "list.json", "--category", "git", "-o", "list.yaml").code == 0
    active = toolbelt("loadout", "inspect", "developer", "-c", "list.yaml", "--json").json["active"]
    assert [row["plugin"] for row in active] == ["list"]
    blank = toolbelt("catalog", "import", "list.json", "--category", " ")
    assert (blank.code, blank.out) == (2, "")


def test_json_without_an_output_is_the_catalog(toolbelt: Toolbelt, small: Path) -> None:
    assert toolbelt("catalog", "import", "small.yaml", "--json").json["name"] == "small"


@needs_shared_data
@pytest.mark.parametrize(("name", "tools"), [("github_mcp", 117), ("livemcpbench", 527), ("seal_tools", 4076)])
def test_a_public_catalog_goes_in_whole(toolbelt: Toolbelt, project: Path, name: str, tools: int) -> None:
    source = SHARED_DATA / name / "catalog.jsonl"
    ran = toolbelt("catalog", "import", source, "-o", "out.json", "--json")
    assert (ran.code, ran.json["tools"]) == (0, tools)
    written = json.loads((project / "out.json").read_text())
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    assert sorted(tool["name"] for plugin in written["plugins"] for tool in plugin["tools"]) == sorted(
        row["name"] for row in rows
    )


def test_M4_the_servers_of_a_clients_file_are_asked(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(project / "state"))
    write_config(
        project / "mcp.json",
        git=write_script(project, "git", "log", "pay"),
        off=write_script(project, "off", exit="no"),
    )
    (project / "payments.json").write_text(json.dumps([{"name": "pay", "input_schema": SCHEMA}]))
    refused = toolbelt("catalog", "import", "mcp.json")
    assert (refused.code, mentions(refused.err, "git", "off", "--yes")) == (2, True)
    ran = toolbelt("catalog", "import", "mcp.json", "payments.json", "--yes", "--name", "all")
    assert ran.code == 3, "one of the servers ended"
    assert ran.json["name"] == "all"
    assert [(p["name"], p.get("server"), len(p["tools"])) for p in ran.json["plugins"]] == [
        ("payments", None, 1),
        ("git", "git", 2),
    ]
    written = toolbelt("catalog", "import", "mcp.json", "--yes", "-o", "c.json", "--json")
    assert (written.code, written.json["tools"]) == (3, 2)
    alone = toolbelt("catalog", "import", "mcp.json", "--format", "openai")
    assert alone.code == 2


def test_M4_several_sources_are_one_catalog_and_same_names_conflict(toolbelt: Toolbelt, project: Path) -> None:
    for name in ("one", "two"):
        (project / f"{name}.json").write_text(json.dumps([FUNCTION]))
        (project / name).mkdir()
        (project / name / "git.json").write_text(json.dumps([FUNCTION]))
    ran = toolbelt("catalog", "import", "one.json", "two.json")
    assert ran.code == 0
    assert [plugin["name"] for plugin in ran.json["plugins"]] == ["one", "two"]
    same = toolbelt("catalog", "import", "one/git.json", "two/git.json")
    assert (same.code, mentions(same.err, "git", "one/git.json", "two/git.json")) == (2, True)
    again = toolbelt("catalog", "import", "-", "-", stdin=b"[]")
    assert again.code == 2
