"""`serve --discover list-changed` as a process, in both versions of the protocol (rules M5, M6)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND

from tests.mcp.gateways import gateway_command, write_project
from tests.servers.raw_mcp import RawClient, open_stdio

LOADOUTS = {"found": {"plugins": ["small/wait"], "discoverable": ["small/add"], "disabled": ["small/exit"]}}
META_TOOLS = ["search_tools", "describe_tools", "call_tool_read", "call_tool"]
LISTEN = {"notifications": {"toolsListChanged": True, "promptsListChanged": True}}
ERAS = pytest.mark.parametrize("era", ["2025", "2026"])


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


@contextlib.asynccontextmanager
async def raw_gateway(folder: Path, era: str, *options: str) -> AsyncIterator[RawClient]:
    started = gateway_command(folder, "found", "--config", str(folder / "toolbelt.yaml"), *options)
    async with open_stdio([started.command, *started.args], era, started.env) as client:
        yield client


async def call(client: RawClient, tool: str, **arguments: Any) -> dict[str, Any]:
    return await client.request("tools/call", {"name": tool, "arguments": arguments})


async def list_names(client: RawClient) -> list[str]:
    return [tool["name"] for tool in await client.list_all("tools/list", "tools")]


def changes(client: RawClient) -> int:
    return [each["method"] for each in client.notifications].count("notifications/tools/list_changed")


async def wait_for_notification(client: RawClient, method: str) -> Any:
    """Its params."""
    while True:
        for each in client.notifications:
            if each["method"] == method:
                return each["params"]
        await asyncio.sleep(0.01)


@ERAS
def test_M5_a_described_tool_is_appended_announced_once_and_called_directly(era: str, tmp_path: Path) -> None:
    write_project(tmp_path, loadouts=LOADOUTS)

    async def scenario() -> None:
        async with raw_gateway(tmp_path, era, "--discover", "list-changed") as client:
            capabilities = client.opening["capabilities"]
            assert capabilities["tools"] == {"listChanged": True}
            assert not capabilities["resources"].get("listChanged")
            assert not capabilities["prompts"].get("listChanged")
            if era == "2026":
                listening = asyncio.create_task(client.request("subscriptions/listen", LISTEN))
                acknowledged = await wait_for_notification(client, "notifications/subscriptions/acknowledged")
                assert acknowledged["notifications"] == {"toolsListChanged": True}
            assert await list_names(client) == ["wait", *META_TOOLS]
            assert (await call(client, "add", a=1, b=2))["error"]["code"] == INVALID_PARAMS
            answer = await call(client, "describe_tools", names=["small/ADD", "wait", "exit"])
            described = json.loads(answer["result"]["content"][0]["text"])
            assert [tool["name"] for tool in described["tools"]] == ["add", "wait"]
            await wait_for_notification(client, "notifications/tools/list_changed")
            assert await list_names(client) == ["wait", *META_TOOLS, "add"]
            assert (await call(client, "add", a=1, b=2))["result"]["content"] == [{"type": "text", "text": "3"}]
            assert (await call(client, "exit"))["error"]["message"] == "Unknown tool: exit"
            await call(client, "describe_tools", names=["add"])
            await list_names(client)
            assert changes(client) == 1
            left = time.monotonic()
        assert time.monotonic() - left < 8  # the gateway does not wait for a client that listened
        if era == "2026":
            with contextlib.suppress(asyncio.CancelledError):
                await listening

    run(scenario())


@ERAS
def test_M5_without_list_changed_nothing_is_announced(era: str, tmp_path: Path) -> None:
    write_project(tmp_path, loadouts=LOADOUTS)

    async def scenario() -> None:
        async with raw_gateway(tmp_path, era) as client:
            assert not client.opening["capabilities"]["tools"].get("listChanged")
            listening = await client.request("subscriptions/listen", LISTEN)
            assert listening["error"]["code"] == METHOD_NOT_FOUND
            await call(client, "describe_tools", names=["add"])
            assert await list_names(client) == ["wait", *META_TOOLS]
            assert (await call(client, "add", a=1, b=2))["error"]["code"] == INVALID_PARAMS
            assert changes(client) == 0

    run(scenario())
