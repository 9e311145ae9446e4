"""Python tools beside the tools of servers (rules M7, K7)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitResult

from tests.mcp.gateway.test_serve_discovery import call, records
from tests.mcp.gateways import gateway_client, write_project
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.mcp.gateway.python_tools import add_python_tools, load_registry
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.servers.spec import PythonReference

MODULE = """
import os
from toolbelt import ExecutableTool, ToolRegistry
from toolbelt.runtime.guards import ALLOW, ask_person, refuse

print("an import that prints")
os.write(1, b"an import that writes to descriptor 1\\n")


def shout(text: str) -> str:
    \"\"\"Shout a text.\"\"\"
    print("a tool that prints")
    return text.upper()


def wipe(folder: str) -> str:
    \"\"\"Wipe a folder.\"\"\"
    return f"wiped {folder}"


def guard(arguments, context):
    folder = arguments["folder"]
    return refuse("not the root.") if folder == "/" else ask_person(f"Wipe {folder}?")


registry = ToolRegistry([
    ExecutableTool.of(shout, plugin="own", annotations={"readOnlyHint": True}),
    ExecutableTool.of(wipe, plugin="own", guard=guard),
])
"""
LOADOUTS = {
    "both": {"plugins": ["small/add", "own"]},
    "found": {"plugins": ["small/add"], "discoverable": ["own"]},
    "own": {"plugins": ["own"]},
    "without": {"plugins": ["small/add", "own"], "disabled": ["own/wipe"]},
}
TOOLS = ("--tools", "mytools:registry")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path) -> None:
    (tmp_path / "mytools.py").write_text(MODULE)
    write_project(tmp_path, loadouts=LOADOUTS)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


def test_M7_python_tools_are_served_beside_those_of_servers_and_prints_break_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with gateway_client(tmp_path, *TOOLS, loadout="both") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["add", "shout", "wipe"]
            assert await call(client, "shout", text="hi") == (False, "HI")
            assert await call(client, "add", a=1, b=2) == (False, "3")
            failed, text = await call(client, "shout", text=3)
            assert failed
            assert "text" in text
        async with gateway_client(tmp_path, *TOOLS, loadout="without") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["add", "shout"]

    run(scenario())
    calls = [(each["tool"], each["server"], each["status"]) for each in records(tmp_path) if each["record"] == "call"]
    assert calls == [("shout", "", "ok"), ("add", "small", "ok"), ("shout", "", "refused")]


def test_M7_a_catalog_of_python_tools_is_served_by_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with gateway_client(tmp_path, "--catalog", "mytools.py", loadout="own") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["shout", "wipe"]
            assert await call(client, "shout", text="hi") == (False, "HI")

    run(scenario())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("action", ["accept", "decline"])
def test_K7_a_guard_asks_the_person_at_the_client(mode: str, action: Any, tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    async def scenario() -> None:
        async with gateway_client(tmp_path, *TOOLS, loadout="both", mode=mode, elicitation_callback=answer) as client:
            failed, text = await call(client, "wipe", folder="/tmp/x")
            assert (failed, "wiped" in text) == (action != "accept", action == "accept")
            failed, text = await call(client, "wipe", folder="/")
            assert failed
            assert "not the root" in text

    run(scenario())
    assert asked == ["Wipe /tmp/x?"]
    guards = [(each["verdict"], each["allowed"]) for each in records(tmp_path) if each["record"] == "guard"]
    assert guards == [("confirm", action == "accept"), ("refuse", False)]
    ended = [each["status"] for each in records(tmp_path) if each["record"] == "call"]
    assert ended == ["ok" if action == "accept" else "refused", "refused"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M6_without_elicitation_confirmation_is_refused_also_by_call_through(mode: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with gateway_client(tmp_path, *TOOLS, loadout="found", mode=mode) as client:
            failed, text = await call(client, "call_tool", name="wipe", arguments={"folder": "x"})
            assert failed
            assert "nobody to ask" in text
            assert await call(client, "call_tool_read", name="own/shout", arguments={"text": "a"}) == (False, "A")

    run(scenario())


def test_M2_python_tools_are_not_imported_without_approval(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toolbelt", "serve", "both", *TOOLS]
    environment = {"TOOLBELT_STATE_DIR": str(tmp_path / "state"), "PATH": "/usr/bin"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "mytools:registry" in done.stderr
    assert "an import that prints" not in done.stderr


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("mytools", ToolbeltError),
        ("nomodule_at_all:registry", ToolbeltError),
        ("mytools:regstry", NotFoundError),
        ("mytools:registry", ToolbeltError),
        ("mytools:definitions", ToolbeltError),
    ],
)
def test_M7_what_has_nothing_to_run_is_refused(
    reference: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mytools", raising=False)
    (tmp_path / "mytools.py").write_text("registry = 3\ndefinitions = [{'name': 'a', 'input_schema': {}}]\n")
    with pytest.raises(error):
        load_registry(PythonReference(reference, str(tmp_path)))
    sys.modules.pop("mytools", None)


def test_M7_a_plugin_of_the_catalog_is_replaced_where_it_stands_and_keeps_its_names() -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text

    registry = ToolRegistry([ExecutableTool.of(shout, plugin="own")])
    fixed = Plugin("Own", (Tool("shout", "Old.", wire_name="own__shout"),), "mine", "What it is.")
    catalog = Catalog((Plugin("a", server="a"), fixed, Plugin("z")))
    merged = add_python_tools(catalog, registry)
    assert [plugin.name for plugin in merged.plugins] == ["a", "Own", "z"]
    own = merged.get_plugin("own")
    assert (own.category, own.description, own.tools[0].description) == ("mine", "What it is.", "Shout.")
    assert merged.wire_names["Own/shout"] == "own__shout"
    clashing = Catalog((Plugin("own", server="small"),))
    with pytest.raises(ToolbeltError, match="small"):
        add_python_tools(clashing, registry)
    json.dumps(dict(own.tools[0].parameters))
