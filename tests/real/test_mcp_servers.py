"""The gateway before real servers, of three SDKs and both eras, and behind real clients.

Run by `make servers`, which installs them (500 MB); skipped where they are missing. Nothing here needs an account, or
reaches another machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.relayed import settle
from tests.real.mcp_servers import EVERYTHING, INSPECTOR, PYTHON, find_servers, run_everything
from tests.servers.raw_mcp import ANSWERS, Json, RawClient, open_http, open_stdio
from toolbelt.mcp.gateway.surface import make_surface, serving_digest
from toolbelt.project.opening import open_project

if not EVERYTHING.exists():
    pytest.skip("`make servers` installs the servers", allow_module_level=True)

ARGUMENTS: dict[str, Json] = {
    "echo": {"message": "Grüße"},
    "get-sum": {"a": 1, "b": 2},
    "get-annotated-message": {"messageType": "error", "includeImage": True},
    "get-resource-links": {"count": 3},
    "get-resource-reference": {"resourceType": "Text", "resourceId": 2},
    "get-structured-content": {"location": "New York"},
    "trigger-long-running-operation": {"duration": 0.4, "steps": 2},
    "trigger-sampling-request": {"prompt": "Hello", "maxTokens": 10},
    "gzip-file-as-resource": {"data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"},
    "simulate-research-query": {"topic": "x"},
}
"""Of the everything server's tools; `{}` for the others."""
CLOCK = re.compile(r"\d+:\d\d:\d\d [AP]M")
CHANGING = ("toggle-simulated-logging", "toggle-subscriber-updates", "get-env", "simulate-research-query")
"""Tools whose answers differ from call to call, or that are called as tasks only."""


def toolbelt(folder: Path, *arguments: str) -> Any:
    """What a command prints as JSON."""
    environment = os.environ | {"TOOLBELT_STATE_DIR": str(folder / "state")}
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def write_project(folder: Path, entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A project with these servers, synced; what the sync printed."""
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    servers: dict[str, Any] = {name: {"from": "mcp.json"} for name in entries}
    if "azure" in servers:
        servers["azure"]["split"] = {"by": "prefix"}
    document = {"catalog": "catalog.yaml", "servers": servers}
    (folder / "toolbelt.yaml").write_text(json.dumps(document), encoding="utf-8")
    printed: dict[str, Any] = toolbelt(folder, "catalog", "sync", "--yes", "--json")
    catalog = open_project(folder).catalog
    document["loadouts"] = {"all": {"plugins": [plugin.name for plugin in catalog.plugins]}}
    (folder / "toolbelt.yaml").write_text(json.dumps(document), encoding="utf-8")
    return printed


def gateway(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes"]
    return [*command, "--config", str(folder / "toolbelt.yaml"), *options]


def state(folder: Path) -> dict[str, str]:
    return {"TOOLBELT_STATE_DIR": str(folder / "state")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every server that is installed, synced."""
    folder = tmp_path_factory.mktemp("project")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    write_project(folder, find_servers(folder))
    return folder


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_M5_every_definition_that_is_served_is_the_counted_one(project: Path, era: str) -> None:
    async def scenario() -> list[Json]:
        async with open_stdio(gateway(project, "--start-timeout", "60"), era, state(project)) as client:
            return await client.list_all("tools/list", "tools")

    served = asyncio.run(asyncio.wait_for(scenario(), 120))
    offered = [tool.definition for tool in make_surface(open_project(project).resolve("all")).offered]
    assert serving_digest(served) == serving_digest(offered)
    assert [json.dumps(each) for each in served] == [json.dumps(each) for each in offered]
    assert len(served) >= 270
    assert max(len(tool["name"]) for tool in served) <= 45


def test_M4_a_second_sync_of_real_servers_changes_nothing(project: Path) -> None:
    printed = toolbelt(project, "catalog", "sync", "--check", "--yes", "--json")
    assert printed["changes"] == []
    assert {server["status"] for server in printed["servers"]} == {"ok"}


def test_M4_a_large_server_is_split_into_its_services(project: Path) -> None:
    plugins = [plugin for plugin in open_project(project).catalog.plugins if plugin.server == "azure"]
    assert len(plugins) > 30
    assert max(len(plugin.tools) for plugin in plugins) <= 30


async def call_all(client: RawClient, names: list[str]) -> dict[str, Json]:
    """What becomes of a call of each tool, with what came before the answer."""
    outcomes = {}
    for name in names:
        client.notifications.clear()
        client.questions.clear()
        params = {"name": name, "arguments": ARGUMENTS.get(name, {}), "_meta": {"progressToken": name}}
        answer = await asyncio.wait_for(client.ask("tools/call", params), 60)
        outcome: Json = {key: answer[key] for key in ("result", "error") if key in answer}
        outcomes[name] = outcome | {
            "progress": [each for each in client.notifications if each["method"] == "notifications/progress"],
            "questions": [*client.questions],
        }
    settled: dict[str, Json] = json.loads(CLOCK.sub("TIME", json.dumps(settle(outcomes))))
    return settled


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
@pytest.mark.parametrize("era", ["2025", "2026"])
def test_M5_every_tool_of_the_everything_server_gives_what_it_gives_directly(
    transport: str, era: str, tmp_path: Path
) -> None:
    with run_everything(transport) as entry:
        write_project(tmp_path, {"everything": entry})

        def connect() -> AbstractAsyncContextManager[RawClient]:
            if transport == "http":
                return open_http(entry["url"], "2025", answers=ANSWERS)
            return open_stdio([str(EVERYTHING), "stdio"], "2025", answers=ANSWERS)

        async def scenario() -> tuple[dict[str, Json], dict[str, Json]]:
            async with connect() as direct, open_stdio(gateway(tmp_path), era, state(tmp_path)) as relayed:
                listed = await direct.list_all("tools/list", "tools")
                names = [tool["name"] for tool in listed if tool["name"] not in CHANGING]
                served = {tool["name"] for tool in await relayed.list_all("tools/list", "tools")}
                names = [name for name in names if name in served]
                assert len(names) >= 9
                return await call_all(direct, names), await call_all(relayed, names)

        directly, through_gateway = asyncio.run(asyncio.wait_for(scenario(), 300))
    assert through_gateway == directly


over_both = pytest.mark.parametrize("transport", ["stdio", "http"])


@contextmanager
def served(project: Path, transport: str) -> Iterator[dict[str, Any]]:
    """What a client's configuration says of the gateway over every server."""
    if transport == "stdio":
        command = gateway(project, "--start-timeout", "60")
        yield {"command": command[0], "args": command[1:], "env": {**state(project), "PATH": os.environ["PATH"]}}
        return
    command = gateway(project, "--start-timeout", "60", "--http", "127.0.0.1:0")
    log = project / "http.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, env=os.environ | state(project), stderr=errors) as process,
    ):
        try:
            while not (lines := log.read_text().splitlines())[1:]:  # where it is, and where the token is
                assert process.poll() is None
                time.sleep(0.1)
            token = (project / "state" / "http-token").read_text().strip()
            yield {"type": "http", "url": lines[0].split()[-1], "headers": {"Authorization": f"Bearer {token}"}}
        finally:
            process.terminate()
            process.wait(60)


@over_both
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_M5_the_client_of_the_SDK_lists_and_calls(project: Path, mode: Any, transport: str) -> None:
    async def scenario(entry: dict[str, Any]) -> None:
        way: Any
        async with AsyncExitStack() as stack:
            if "command" in entry:
                way = stdio_client(StdioServerParameters(**entry))
            else:
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=entry["headers"], timeout=60))
                way = streamable_http_client(entry["url"], http_client=http)
            opened = Client(way, mode=mode, cache=None, read_timeout_seconds=60)
            client = await stack.enter_async_context(opened)
            assert len((await client.list_tools()).tools) >= 270
            result = await client.call_tool("get-sum", {"a": 2, "b": 3})
            assert "5" in json.dumps(result.model_dump(mode="json")["content"])

    with served(project, transport) as entry:
        asyncio.run(asyncio.wait_for(scenario(entry), 120))


FASTMCP = """
import asyncio, json, sys
from fastmcp import Client
async def main():
    async with Client(json.loads(sys.argv[1])) as client:
        tools = await client.list_tools()
        result = await client.call_tool("get-sum", {"a": 2, "b": 3})
        print(json.dumps([len(tools), result.content[0].text]))
asyncio.run(main())
"""


@over_both
def test_M5_the_client_of_fastmcp_lists_and_calls(project: Path, transport: str) -> None:
    with served(project, transport) as entry:
        config = json.dumps({"mcpServers": {"toolbelt": entry}})
        command = [str(PYTHON / "python"), "-W", "ignore", "-c", FASTMCP, config]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-2000:]
    count, answer = json.loads(done.stdout)
    assert count >= 270
    assert "5" in answer


@over_both
def test_M5_the_inspector_lists_and_calls(project: Path, transport: str) -> None:
    config = project / "inspector.json"

    def inspect(*arguments: str) -> Any:
        command = [str(INSPECTOR), "--cli", "--config", str(config), "--server", "toolbelt", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    with served(project, transport) as entry:
        config.write_text(json.dumps({"mcpServers": {"toolbelt": entry}}), encoding="utf-8")
        assert len(inspect("--method", "tools/list")["tools"]) >= 270
        call = inspect("--method", "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "--tool-arg", "b=3")
    assert "5" in call["content"][0]["text"]
