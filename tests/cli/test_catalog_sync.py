"""`toolbelt catalog sync` (rule M4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.mcp_scripts import listed_tool, write_config, write_script
from tests.wording import mentions
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.mcp.gateway.served_list import list_served
from toolbelt.mcp.gateway.surface import make_surface, model_text
from toolbelt.project.opening import open_project
from toolbelt.stores.token_cache import CachedTokenCounter

CONFIG = """\
catalog: catalog.json
servers:
  git: {from: .mcp.json, split: {by: prefix}}
  web: {from: .mcp.json}
"""


@pytest.fixture
def served(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two servers, which nobody has approved."""
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(project.parent / "state"))
    serve(project)
    (project / "toolbelt.yaml").write_text(CONFIG)
    return project


def serve(folder: Path, **behaviour: Any) -> None:
    git = write_script(folder, "git", *behaviour.pop("git", ("log_all", "tag_add")))
    web = write_script(folder, "web", *behaviour.pop("web", ("fetch",)), **behaviour)
    write_config(folder / ".mcp.json", git={**git, "env": {"TOKEN": "s3cret"}}, web=web)


def test_M4_sync_writes_the_catalog_and_a_second_sync_changes_nothing(served: Path, toolbelt: Toolbelt) -> None:
    first = toolbelt("catalog", "sync", "--yes", "--json")
    assert first.code == 0
    assert set(first.json) >= {"servers", "changes", "digest"}
    assert [
        (each["name"], each["status"], each["tools"], each["version"], each["error"]) for each in first.json["servers"]
    ] == [("git", "ok", 2, "1.0", ""), ("web", "ok", 1, "1.0", "")]
    assert [(change["kind"], change["tool"]) for change in first.json["changes"]] == [
        ("added", "git-log/log_all"),
        ("added", "git-tag/tag_add"),
        ("added", "web/fetch"),
    ]
    assert sum(each["tokens"] for each in first.json["servers"]) == first.json["tokens"]
    assert sum(change["tokens"] for change in first.json["changes"]) == first.json["tokens"]
    text = (served / "catalog.json").read_text()
    assert "s3cret" not in text
    assert str(served) not in text
    again = toolbelt("catalog", "sync", "--yes", "--json")
    assert (again.json["changes"], again.json["written"], again.json["digest"]) == ([], False, first.json["digest"])
    assert (served / "catalog.json").read_text() == text
    assert toolbelt("catalog", "stats", "--json").json["tools"] == 3


def test_M10_sync_counts_what_the_gateway_serves_which_loads_no_tokenizer(
    served: Path, toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(served.parent / "cache"))
    with (served / "toolbelt.yaml").open("a") as file:
        file.write("loadouts:\n  some: {plugins: [web], discoverable: ['*']}\n")
    toolbelt("catalog", "sync", "--yes")
    project = open_project(served)
    counter = project.counter
    assert isinstance(counter, CachedTokenCounter)
    listed = list_served(make_surface(project.resolve("some")), project.catalog, EstimateCounter())
    assert listed.names[0] == "fetch"
    assert len(listed.names) == 5  # with the meta-tools
    assert counter.find([model_text(definition) for definition in listed.definitions]) is not None


def test_M4_what_is_written_into_the_catalog_while_servers_are_asked_stays(served: Path, toolbelt: Toolbelt) -> None:
    toolbelt("catalog", "sync", "--yes")
    serve(served, web=("fetch", "post"))
    config = json.loads((served / ".mcp.json").read_text())
    code = (
        "import pathlib, runpy, sys\n"
        "file = pathlib.Path('catalog.json')\n"
        "file.write_text(file.read_text().replace('\"tag_add\",\\n', '\"Mine.\",\\n', 1))\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    web = config["mcpServers"]["web"]
    web["args"] = ["-c", code, *web["args"][2:]]
    (served / ".mcp.json").write_text(json.dumps(config))
    assert toolbelt("catalog", "sync", "--yes", "--server", "web").code == 0
    plugins = json.loads((served / "catalog.json").read_text())["plugins"]
    assert [plugin.get("description") for plugin in plugins if plugin["name"] == "git-tag"] == ["Mine."]


def test_M4_without_a_catalog_the_next_step_is_named(served: Path, toolbelt: Toolbelt) -> None:
    ran = toolbelt("loadout", "inspect", "developer")
    assert ran.code == 2
    assert mentions(ran.err, "catalog.json", "toolbelt catalog sync")


def test_M4_check_writes_nothing_and_exits_with_1_on_a_change(served: Path, toolbelt: Toolbelt) -> None:
    toolbelt("catalog", "sync", "--yes")
    before = (served / "catalog.json").read_text()
    assert toolbelt("catalog", "sync", "--check", "--yes").code == 0
    serve(served, web=(listed_tool("fetch", "Now otherwise, at length."), "post"))
    checked = toolbelt("catalog", "sync", "--check", "--yes")
    assert checked.code == 1
    assert mentions(checked.out, "web/fetch", "web/post")
    assert (served / "catalog.json").read_text() == before
    assert toolbelt("catalog", "sync", "--yes").code == 0
    assert toolbelt("catalog", "sync", "--check", "--yes").code == 0


def test_M4_a_server_that_fails_keeps_its_tools_and_the_command_exits_with_3(served: Path, toolbelt: Toolbelt) -> None:
    toolbelt("catalog", "sync", "--yes")
    serve(served, git=("log_all",), exit="no key")
    checked = toolbelt("catalog", "sync", "--check", "--yes", "--json")
    assert (checked.code, [change["tool"] for change in checked.json["changes"]]) == (3, ["git-tag/tag_add"])
    failed = toolbelt("catalog", "sync", "--yes", "--json")
    assert failed.code == 3
    web = failed.json["servers"][1]
    assert (web["status"], web["tools"], bool(web["error"])) == ("failed", 1, True)
    assert mentions(failed.err, "web", "no key")
    written = json.loads((served / "catalog.json").read_text())
    assert written["servers"]["web"]["stale"] is True
    assert [plugin["name"] for plugin in written["plugins"]] == ["git-log", "web"]


def test_V6_an_entry_or_a_tool_that_cannot_be_read_does_not_refuse_the_others(served: Path, toolbelt: Toolbelt) -> None:
    assert toolbelt("catalog", "sync", "--yes").code == 0
    serve(served, git=("log_all", "tag_add", {"name": "broken", "inputSchema": {"type": "array"}}))
    ran = toolbelt("catalog", "sync", "--yes", "--json")
    assert (ran.code, ran.json["changes"]) == (3, [])
    assert mentions(ran.err, "warning", "'git'", "'broken'")
    serve(served)
    clients = json.loads((served / ".mcp.json").read_text())["mcpServers"]
    write_config(served / ".mcp.json", **{**clients, "web": {"type": "pigeon"}})
    ran = toolbelt("catalog", "sync", "--yes", "--json")
    assert [(each["name"], each["status"], each["tools"]) for each in ran.json["servers"]] == [
        ("git", "ok", 2),
        ("web", "failed", 1),
    ]
    assert (ran.code, mentions(ran.err, "web", ".mcp.json", "'pigeon'")) == (3, True)
    assert toolbelt("catalog", "sync", "--yes", "--server", "git").code == 0
    write_config(served / ".mcp.json", git=5, web={"type": "pigeon"})
    assert toolbelt("catalog", "sync", "--yes").code == 2


def test_M4_a_cursor_that_never_advances_is_named_and_no_tool_is_listed_twice(served: Path, toolbelt: Toolbelt) -> None:
    serve(served, loop=True)
    ran = toolbelt("catalog", "sync", "--yes", "--json")
    assert (ran.code, [each["tools"] for each in ran.json["servers"]]) == (3, [2, 1])
    assert mentions(ran.err, "warning", "'web'", "nextCursor '0'", "do not end")
    assert "twice" not in ran.err


def test_M5_a_loadout_that_serves_none_of_the_servers_says_how_to_serve_all(served: Path, toolbelt: Toolbelt) -> None:
    write_config(served / ".mcp.json", zebra=write_script(served, "zebra", "zap"))
    (served / "toolbelt.yaml").write_text("catalog: catalog.json\nservers:\n  zebra: {from: .mcp.json}\n")
    toolbelt("catalog", "sync", "--yes")
    assert mentions(toolbelt("serve", "full").err, "serves nothing", "zebra", "--plugin '*'")
    assert toolbelt("loadout", "create", "everything", "--plugin", "*").code == 0
    assert toolbelt("loadout", "lint", "--strict").code == 0
    (row,) = toolbelt("loadout", "inspect", "everything", "--json").json["active"]
    assert (row["plugin"], mentions(str(row["reasons"]), "'*'", "everything")) == ("zebra", True)


def test_M2_nothing_starts_without_approval(served: Path, toolbelt: Toolbelt) -> None:
    (served / ".env").write_text("TOOLBELT_YES=1\n")
    refused = toolbelt("catalog", "sync")
    assert refused.code == 2
    assert mentions(refused.err, "git", "web", "--yes")
    assert "s3cret" not in refused.err
    assert not (served / "catalog.json").exists()


def test_M4_one_server_is_asked_alone_and_the_others_stay(served: Path, toolbelt: Toolbelt) -> None:
    toolbelt("catalog", "sync", "--yes")
    serve(served, git=("log_all",), web=("fetch", "post"))
    synced = toolbelt("catalog", "sync", "--server", "web", "--yes", "--json").json
    assert [each["name"] for each in synced["servers"]] == ["web"]
    assert [change["tool"] for change in synced["changes"]] == ["web/post"]
    unknown = toolbelt("catalog", "sync", "--server", "wep", "--yes")
    assert unknown.code == 2
    assert mentions(unknown.err, "wep", "web")


def test_M4_a_server_that_a_clients_file_gained_is_named_with_what_to_write(served: Path, toolbelt: Toolbelt) -> None:
    assert toolbelt("catalog", "sync", "--yes", "--json").json["unlisted"] == {}
    data = json.loads((served / ".mcp.json").read_text())
    data["mcpServers"] |= {"new": data["mcpServers"]["web"], "off": {**data["mcpServers"]["web"], "disabled": True}}
    (served / ".mcp.json").write_text(json.dumps(data))
    synced = toolbelt("catalog", "sync", "--yes")
    line = '"new": {from: ".mcp.json"}'
    assert line in synced.err
    assert '"off"' not in synced.err
    (served / "toolbelt.yaml").write_text(f"{CONFIG}  {line}\n")
    added = toolbelt("catalog", "sync", "--yes", "--json").json
    assert ([change["tool"] for change in added["changes"]], added["unlisted"]) == (["new/fetch"], {})


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        pytest.param("servers: {a: {command: x}}", ("catalog.json",), id="no-catalog"),
        pytest.param("catalog: tiered\nservers: {a: {command: x}}", ("tiered", "catalog.json"), id="a-shipped-catalog"),
        pytest.param("catalog: c.jsonl\nservers: {a: {command: x}}", ("c.jsonl", ".json"), id="an-ending"),
        pytest.param("catalog: c.json", ("toolbelt init",), id="no-servers"),
        pytest.param("catalog: c.json\nservers: {a: {command: x, split: {by: x}}}", ("split", "x"), id="a-split"),
        pytest.param("catalog: t.json\nservers: {a: {command: x}}", ("t.json",), id="a-foreign-catalog"),
        pytest.param(None, ("toolbelt init",), id="no-project"),
    ],
)
def test_M4_what_cannot_be_synced_is_refused_before_a_server_starts(
    project: Path, toolbelt: Toolbelt, config: str | None, wrong: tuple[str, ...]
) -> None:
    (project / "t.json").write_text('{"tools": [{"name": "a", "inputSchema": {}}]}')
    if config is not None:
        (project / "toolbelt.yaml").write_text(config)
    refused = toolbelt("catalog", "sync", "--yes")
    assert refused.code == 2
    assert mentions(refused.err, *wrong)


def test_M10_what_servers_send_is_shown_escaped(served: Path, toolbelt: Toolbelt) -> None:
    serve(served, web=(listed_tool("clear\x1b[2J", "\x1b]0;title\x07 \u202etxet"),), version="1\x1b[31m")
    synced = toolbelt("catalog", "sync", "--yes")
    listed = toolbelt("catalog", "list")
    assert synced.code == listed.code == 0
    for shown in (synced.out, synced.err, listed.out):
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "\\x1b" in synced.out


def test_M4_what_is_shown(served: Path, toolbelt: Toolbelt, expected: Callable[[str], str]) -> None:
    toolbelt("catalog", "sync", "--yes")
    many = [listed_tool(f"log_{n}") for n in range(5)]
    serve(served, git=(*many, listed_tool("tag_add", "Adds a tag.")), web=("get",), version="1.1")
    shown = toolbelt("catalog", "sync", "--yes")
    assert "\n".join(line.rstrip() for line in shown.out.splitlines()) + "\n" == expected("catalog_sync.txt")
