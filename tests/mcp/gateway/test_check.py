from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.gateways import gateway_client, write_project
from tests.mcp.small import small_server
from toolbelt.catalog import Plugin, Tool
from toolbelt.mcp.configs.client_limits import CLIENT_LIMITS, find_refusals
from toolbelt.mcp.gateway.surface import serving_digest


def toolbelt(folder: Path, *arguments: str) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt", *arguments, "--json"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_M5_inspect_counts_the_list_that_is_served_and_gives_its_digest(tmp_path: Path) -> None:
    write_project(tmp_path, loadouts={"some": {"plugins": ["small/add"], "discoverable": ["small"]}})
    code, data = toolbelt(tmp_path, "loadout", "inspect", "some", "--serve", "--tokenizer", "estimate")

    async def listed() -> list[dict[str, Any]]:
        async with gateway_client(tmp_path, loadout="some") as client:
            tools = (await client.list_tools()).tools
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]

    definitions = asyncio.run(asyncio.wait_for(listed(), 60))
    served = [tool["name"] for tool in data["served"]["tools"]]
    assert code == 0
    assert [each["name"] for each in definitions] == served[: len(definitions)]
    if len(definitions) == len(served):
        assert data["digest"] == serving_digest(definitions)
    assert data["served"]["tokens"] == sum(tool["tokens"] for tool in data["served"]["tools"])


def test_M5_inspect_of_what_is_served_loads_no_sdk(tmp_path: Path) -> None:
    write_project(tmp_path)
    command = [sys.executable, "-X", "importtime", "-m", "toolbelt", "loadout", "inspect", "all", "--serve"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert (done.returncode, loaded & {"mcp", "anyio", "pydantic"}) == (0, set())
    assert "Digest" in done.stdout


def test_M5_check_reports_what_changed_since_the_sync(tmp_path: Path) -> None:
    write_project(tmp_path)
    assert toolbelt(tmp_path, "mcp", "check", "all", "--yes")[0] == 0
    write_project(tmp_path, [small_server(env={"DESCRIPTION": "Another one."})])
    code, data = toolbelt(tmp_path, "mcp", "check", "all", "--yes")
    assert (code, data["withheld"]) == (
        1,
        [{"tool": "add", "reason": "description changed since the last sync"}],
    )


def test_M5_check_of_a_server_that_fails_is_incomplete(tmp_path: Path) -> None:
    write_project(tmp_path, [small_server("--hang")])
    code, data = toolbelt(tmp_path, "mcp", "check", "all", "--yes", "--timeout", "1")
    assert (code, data["servers"][0]["status"]) == (3, "failed")


@pytest.mark.parametrize("client", [*CLIENT_LIMITS])
def test_M5_names_of_45_characters_are_taken_by_every_client_and_longer_ones_are_listed(client: str) -> None:
    assert find_refusals(client, [Tool("x" * 45)]) == ()
    too_long = "x" * 64
    (finding,) = find_refusals(client, [Tool("y"), Tool(too_long)])
    assert (finding.kind, finding.tool) == ("name_too_long", too_long)


def test_M5_counts_that_a_client_refuses_are_listed() -> None:
    tools = [Tool(f"tool_{number}") for number in range(81)]
    assert [(each.kind, each.value, each.limit) for each in find_refusals("cursor", tools)] == [
        ("too_many_tools", 81, 80)
    ]


ROWS = {"type": "array", "items": {"type": "array"}}
LISTS = {"type": "object", "properties": {"rows": ROWS, "all": {"type": "array"}}}
EITHER = {"type": "object", "properties": {"a b": {"type": "string"}}, "oneOf": [{"required": ["a b"]}]}


@pytest.mark.parametrize(
    ("client", "found"),
    [
        ("vscode", [("array-items", "lists", 2)]),
        ("claude-code", [("parameter-name", "either", 1), ("root-keyword", "either", 1)]),
        ("cursor", []),
    ],
)
def test_M5_schemas_that_a_client_refuses_are_listed(client: str, found: list[tuple[str, str, int]]) -> None:
    tools = [Tool("lists", parameters=LISTS), Tool("either", parameters=EITHER), Tool("fine")]
    assert [(each.kind, each.tool, each.value) for each in find_refusals(client, tools)] == found


def test_M5_check_names_what_a_client_refuses_of_a_schema(tmp_path: Path) -> None:
    tools = (Tool("lists", "Lists.", parameters=LISTS), Tool("fine", "Does it.", parameters={"type": "object"}))
    write_project(tmp_path, plugins=[Plugin("small", tools, server="small")])
    code, data = toolbelt(tmp_path, "mcp", "check", "--client", "vscode", "--yes")
    assert code == 1
    assert [(each["kind"], each["tool"]) for each in data["refused"]] == [("array-items", "lists")]
    assert "arrays without items" in data["refused"][0]["reason"]
