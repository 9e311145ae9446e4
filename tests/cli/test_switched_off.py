"""Rules V7 and V6, through the commands: what a client's file switches off, and what one broken entry costs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
import yaml
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.conftest import Ran, Toolbelt
from tests.servers.mcp_scripts import write_config, write_script
from tests.wording import mentions


@pytest.fixture(autouse=True)
def home(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project.parent / "home"
    folder.mkdir()
    places = {"HOME": folder, "TOOLBELT_STATE_DIR": folder / "state", "XDG_CONFIG_HOME": folder / "c"}
    for name, value in places.items():
        monkeypatch.setenv(name, str(value))
    return folder


@pytest.fixture
def clients(project: Path) -> Path:
    """Of Claude Code: a server with a filter, one that is rejected, one of which a tool is denied, one that is off."""
    notes, mail, disk, bank = (
        write_script(project.parent, name, *tools)
        for name, tools in {
            "notes": ("list_notes", "wipe_notes"),
            "mail": ("send_mail",),
            "disk": ("read_disk", "format_disk"),
            "bank": ("pay",),
        }.items()
    )
    write_config(
        project / ".mcp.json",
        notes={**notes, "disabledTools": ["wipe_notes"]},
        mail=mail,
        disk=disk,
        bank={**bank, "enabled": False},
    )
    (project / ".claude").mkdir()
    settings = {"disabledMcpjsonServers": ["mail"], "permissions": {"deny": ["mcp__disk__format_disk"]}}
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))
    return project


OFF_TOOLS = {
    "notes/wipe_notes": ("disabledTools", ".mcp.json"),
    "disk/format_disk": ("permissions.deny", ".claude/settings.json"),
}
OFF_SERVERS = {"mail": ("disabledMcpjsonServers", ".claude/settings.json"), "bank": ("enabled", ".mcp.json")}


def _off(ran: Ran) -> dict[str, tuple[str, str]]:
    return {each["name"]: (each["key"], each["file"]) for each in ran.json["off"]}


def _served(folder: Path, *options: str) -> set[str]:
    """What a client of the gateway is listed."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolbelt", "serve", "mine", "--yes", "--discover", "none", *options],
        cwd=folder,
        env={name: os.environ[name] for name in os.environ if name.startswith(("TOOLBELT_", "PATH", "HOME"))},
    )

    async def listed() -> set[str]:
        with Path(os.devnull).open("w") as log:
            async with Client(stdio_client(command, errlog=log), cache=None, read_timeout_seconds=30) as client:
                return {tool.name for tool in (await client.list_tools()).tools}

    return asyncio.run(asyncio.wait_for(listed(), 60))


def _write_loadout(folder: Path) -> None:
    plugins = ["notes", "notes/wipe_notes", "disk/*", "bank", "mail"]
    (folder / "mine.loadout.yaml").write_text(json.dumps({"name": "mine", "plugins": plugins}))


def test_V7_init_neither_asks_nor_writes_what_is_switched_off(clients: Path, toolbelt: Toolbelt) -> None:
    ran = toolbelt("init", "--yes", "--json")
    assert (ran.code, [each["name"] for each in ran.json["servers"]]) == (0, ["notes", "disk"])
    assert _off(ran) == {**OFF_TOOLS, **OFF_SERVERS}
    assert all(mentions(ran.err, name.rpartition("/")[2], *why) for name, why in {**OFF_TOOLS, **OFF_SERVERS}.items())
    written = "".join((clients / name).read_text() for name in ("toolbelt.yaml", "starter.loadout.yaml"))
    assert not any(word in written for word in ("mail", "bank", "wipe", "format"))
    catalog = json.loads((clients / "catalog.json").read_text())
    names = [tool["name"] for plugin in catalog["plugins"] for tool in plugin["tools"]]
    assert sorted(names) == ["list_notes", "read_disk"]
    assert toolbelt("catalog", "sync", "--check", "--yes").code == 0


def test_V7_a_loadout_that_names_it_serves_the_rest_and_explains(clients: Path, toolbelt: Toolbelt) -> None:
    toolbelt("init", "--yes")
    _write_loadout(clients)
    config = yaml.safe_load((clients / "toolbelt.yaml").read_text())
    config["servers"] |= {name: {"from": ".mcp.json"} for name in ("bank", "mail")}
    (clients / "toolbelt.yaml").write_text(json.dumps(config))
    synced = toolbelt("catalog", "sync", "--yes", "--json")
    assert (synced.code, _off(synced)) == (0, {**OFF_TOOLS, **OFF_SERVERS})
    assert _served(clients) == {"list_notes", "read_disk"}
    inspected = toolbelt("loadout", "inspect", "mine", "--serve", "--json")
    assert (inspected.code, _off(inspected)) == (0, {**OFF_TOOLS, **OFF_SERVERS})
    assert {tool["name"] for tool in inspected.json["served"]["tools"]} == {"list_notes", "read_disk"}
    assert mentions(toolbelt("loadout", "inspect", "mine").out, "notes/wipe_notes", "disabledTools", ".mcp.json")
    why = toolbelt("loadout", "why", "mine", "notes/wipe_notes", "--json")
    assert (why.code, why.json["status"]) == (0, "disabled")
    assert mentions(why.json["reasons"][0]["text"], "disabledTools", ".mcp.json")
    checked = toolbelt("mcp", "check", "mine", "--yes", "--json")
    assert (checked.code, _off(checked)) == (0, {**OFF_TOOLS, **OFF_SERVERS})
    assert toolbelt("catalog", "import", ".mcp.json", "--yes", "-o", "other.json").code == 0
    assert not any(f'"name": "{name}"' in (clients / "other.json").read_text() for name in ("wipe_notes", "pay"))


def test_V7_what_is_switched_off_after_the_sync_is_not_served(clients: Path, toolbelt: Toolbelt) -> None:
    toolbelt("init", "--yes")
    _write_loadout(clients)
    (clients / "mine.loadout.yaml").write_text(json.dumps({"name": "mine", "plugins": ["notes", "disk"]}))
    assert _served(clients) == {"list_notes", "read_disk"}
    data = json.loads((clients / ".mcp.json").read_text())
    data["mcpServers"]["disk"]["disabled"] = True
    (clients / ".mcp.json").write_text(json.dumps(data))
    assert _served(clients) == _served(clients, "--unlocked") == {"list_notes"}
    checked = toolbelt("mcp", "check", "mine", "--yes", "--json")
    assert (checked.code, _off(checked)["disk"]) == (0, ("disabled", ".mcp.json"))
    assert [each["name"] for each in checked.json["servers"]] == ["notes"]
    refused = toolbelt("catalog", "sync", "--server", "disk", "--yes")
    assert refused.code == 2
    assert mentions(refused.err, "disk", "disabled", ".mcp.json", "toolbelt.yaml")
    config = yaml.safe_load((clients / "toolbelt.yaml").read_text())
    config["servers"]["disk"]["disabled"] = False
    (clients / "toolbelt.yaml").write_text(json.dumps(config))
    assert _served(clients) == {"list_notes", "read_disk"}, "the user's own file has the last word on a server"


def test_V7_init_asks_one_that_is_named_and_writes_that_it_is_on(clients: Path, toolbelt: Toolbelt) -> None:
    assert toolbelt("init", "--yes", "--server", "bank").code == 0
    assert "disabled: false" in (clients / "toolbelt.yaml").read_text()
    (clients / "mine.loadout.yaml").write_text(json.dumps({"name": "mine", "plugins": ["bank"]}))
    assert _served(clients) == {"pay"}


def test_V6_a_broken_entry_costs_only_its_own_server(clients: Path, toolbelt: Toolbelt) -> None:
    toolbelt("init", "--yes")
    (clients / "mine.loadout.yaml").write_text(json.dumps({"name": "mine", "plugins": ["notes", "disk"]}))
    data = json.loads((clients / ".mcp.json").read_text())
    data["mcpServers"]["disk"] = {"command": 7}
    (clients / ".mcp.json").write_text(json.dumps(data))
    assert _served(clients) == {"list_notes"}
    checked = toolbelt("mcp", "check", "mine", "--yes", "--json")
    assert checked.code == 3
    assert [(each["name"], each["status"]) for each in checked.json["servers"]] == [("notes", "ok"), ("disk", "failed")]
    assert mentions(checked.err, "disk", "command")


def test_V7_a_filter_that_does_nothing_is_named(project: Path, toolbelt: Toolbelt) -> None:
    entry = write_script(project.parent, "notes", "list_notes", "wipe_notes")
    write_config(project / ".mcp.json", notes={**entry, "disabledTools": ["wipe_note"], "allowedTools": ["list_notes"]})
    ran = toolbelt("init", "--yes")
    assert ran.code == 0
    assert mentions(ran.err, "disabledTools", "wipe_note", "allowedTools")


def test_V7_mcp_config_does_not_touch_what_is_switched_off(clients: Path, toolbelt: Toolbelt) -> None:
    toolbelt("init", "--yes")
    config = yaml.safe_load((clients / "toolbelt.yaml").read_text())
    config["servers"]["bank"] = {"from": ".mcp.json"}
    (clients / "toolbelt.yaml").write_text(json.dumps(config))
    (clients / "mine.loadout.yaml").write_text(json.dumps({"name": "mine", "plugins": ["notes", "disk"]}))
    ran = toolbelt("mcp", "config", "mine", "--client", "claude-code", "--write", "--json")
    assert (ran.code, ran.json["replaced"]) == (0, ["notes", "disk"])
    assert {"mail", "bank", "toolbelt"} == {*json.loads((clients / ".mcp.json").read_text())["mcpServers"]}
    assert _served(clients) == {"list_notes", "read_disk"}, "filters count where their entries went, too"


@pytest.mark.parametrize("name", ["config.toml", "config.yaml", "settings.json"])
def test_V7_import_takes_the_files_of_codex_goose_and_zed_without_what_is_off(
    project: Path, toolbelt: Toolbelt, name: str
) -> None:
    on, off = (write_script(project.parent, each, "look", "touch") for each in ("on", "off"))
    off = {**off, "enabled": False}
    if name == "config.toml":
        on |= {"disabled_tools": ["touch"]}
        tables = (
            f"[mcp_servers.{key}]\n" + "".join(f"{each} = {json.dumps(value)}\n" for each, value in entry.items())
            for key, entry in (("on", on), ("off", off))
        )
        text = "\n".join(tables)
    elif name == "config.yaml":
        servers = {"on": {"type": "stdio", **on, "available_tools": ["look"]}, "off": {"type": "stdio", **off}}
        text = yaml.safe_dump({"extensions": servers})
    else:
        profiles = {"write": {"context_servers": {"on": {"tools": {"touch": False}}}}}
        servers = {"context_servers": {"on": on, "off": off}, "agent": {"profiles": profiles}}
        text = f"// settings\n{json.dumps(servers)}"
    (project / name).write_text(text)
    ran = toolbelt("catalog", "import", name, "--yes", "-o", "out.json")
    assert ran.code == 0, ran.err
    catalog = json.loads((project / "out.json").read_text())
    assert [(plugin["name"], [tool["name"] for tool in plugin["tools"]]) for plugin in catalog["plugins"]] == [
        ("on", ["look"])
    ]
    assert mentions(ran.err, "off", "enabled", "touch")
