"""An agent of toolbelt.yaml at a gateway that runs: its toolkits, from turn to turn (rules M5, M6, D2 to D5, K8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, TextContent

from tests.mcp.gateways import gateway_client, write_project
from tests.mcp.small import small_server, synced_plugin
from toolbelt.mcp.gateway.surface import serving_digest
from toolbelt.mcp.logs.audit import find_files
from toolbelt.stores.sessions import DEFAULT_FILE, SqliteSessionStore

TOOLKITS = {
    "sums": {"description": "Numbers.", "tools": ["small/add"]},
    "ends": {"description": "The end.", "tools": ["small/exit"]},
    "secret": {"description": "Not for everyone.", "tools": ["other"]},
}
AGENTS = {
    "helper": {"tools": ["small/wait"], "allowed_toolkits": ["sums", "ends"]},
    "starter": {"tools": [], "allowed_toolkits": ["sums"], "initial_toolkits": ["sums"]},
    "plain": {"tools": ["small/wait"]},
}
META_TOOLS = ["list_toolkits", "load_tools", "unload_tools"]
CALLS = ["describe_tools", "call_tool_read", "call_tool"]
NUMBERS = {"a": 1, "b": 2}


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


def write_agents(folder: Path, **agents: Any) -> None:
    """The small server twice, the second as `other`, with toolkits and agents."""
    other = synced_plugin("other")
    servers = [small_server(), small_server(name="other")]
    write_project(folder, servers, [synced_plugin(), other], toolkits=TOOLKITS, agents={**AGENTS, **agents})


def client_of(folder: Path, agent: str, *options: str, **settings: Any) -> AbstractAsyncContextManager[Client]:
    return gateway_client(folder, *options, loadout=f"--agent={agent}", **settings)


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def call(client: Client, tool: str, /, **arguments: Any) -> tuple[bool, str]:
    """Whether it failed, and the text of the answer."""
    result = await client.call_tool(tool, arguments)
    block = result.content[0] if result.content else TextContent(text="", type="text")
    assert isinstance(block, TextContent)
    return bool(result.is_error), block.text


async def change(client: Client, meta_tool: str, toolkit: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((await call(client, meta_tool, toolkit=toolkit))[1])
    return answer


async def refusal(client: Client, tool: str) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        await client.call_tool(tool, NUMBERS)
    return caught.value.error.code, caught.value.error.message


def unknown(tool: str) -> tuple[int, str]:
    return INVALID_PARAMS, f"Unknown tool: {tool}"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_D4_a_toolkit_that_was_loaded_is_there_with_the_next_call(mode: str, tmp_path: Path) -> None:
    write_agents(tmp_path)

    async def scenario() -> None:
        async with client_of(tmp_path, "helper", mode=mode) as client:
            tools = await names(client)
            assert tools == ["small__wait", *META_TOOLS, *CALLS]
            assert await refusal(client, "small__add") == unknown("small__add")
            toolkits = json.loads((await call(client, "list_toolkits"))[1])["toolkits"]
            assert [(each["name"], each["tools"]) for each in toolkits] == [
                ("sums", ["small__add"]),
                ("ends", ["small__exit"]),
            ]
            answer = await change(client, "load_tools", "sums")
            assert (answer["status"], answer["tools"], answer["tool"]) == ("loaded", ["small__add"], "dynamic_tools")
            assert await call(client, "small__add", **NUMBERS) == (False, "3")  # the client's list is old
            assert await names(client) == ["small__wait", "small__add", *META_TOOLS, *CALLS]
            assert (await change(client, "unload_tools", "sums"))["status"] == "unloaded"
            assert await refusal(client, "small__add") == unknown("small__add")
            assert await names(client) == tools

    run(scenario())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_D4_it_is_not_there_in_the_batch_that_loads_it(mode: str, tmp_path: Path) -> None:
    write_agents(tmp_path)

    async def scenario() -> None:
        with (tmp_path / "log").open("w") as log:
            async with client_of(tmp_path, "helper", mode=mode, log=log) as client:
                await call(client, "small__wait", seconds=0)  # from here on, the server runs
                waiting = asyncio.create_task(client.call_tool("small__wait", {"seconds": 2}))
                await asyncio.sleep(0.3)
                assert (await change(client, "load_tools", "sums"))["status"] == "loaded"
                assert await refusal(client, "small__add") == unknown("small__add")
                assert (await call(client, "call_tool_read", name="small__add", arguments=NUMBERS))[0]
                assert "small__add" not in await names(client)
                assert not waiting.done()
                await waiting
                assert await call(client, "small__add", **NUMBERS) == (False, "3")
        assert "'small__add' refused: in toolkit 'sums', which is not loaded" in (tmp_path / "log").read_text()

    run(scenario())


def test_M6_what_is_loaded_is_reached_by_clients_that_never_list_again(tmp_path: Path) -> None:
    write_agents(tmp_path)

    async def scenario() -> None:
        async with client_of(tmp_path, "helper") as client:
            described = json.loads((await call(client, "describe_tools", names=["small__add"]))[1])
            assert [each["name"] for each in described["unknown"]] == ["small__add"]
            await change(client, "load_tools", "sums")
            described = json.loads((await call(client, "describe_tools", names=["small__add", "small__exit"]))[1])
            assert [(each["name"], each["call_with"]) for each in described["tools"]] == [
                ("small__add", "call_tool_read")
            ]
            assert [each["name"] for each in described["unknown"]] == ["small__exit"]
            assert await call(client, "call_tool_read", name="small__add", arguments=NUMBERS) == (False, "3")
            for name in ("small__exit", "other/add", "other__add"):
                assert (await call(client, "call_tool", name=name))[0]
                assert (await call(client, "call_tool_read", name=name))[0]

    run(scenario())


def test_K8_what_is_not_allowed_or_switched_off_is_not_loaded(tmp_path: Path) -> None:
    switched_off = {"tools": [], "allowed_toolkits": ["sums", "ends"], "tools_config": {"sums": False}}
    write_agents(tmp_path, limited=switched_off)

    async def scenario() -> None:
        async with client_of(tmp_path, "limited", "--discover", "none") as client:
            assert await names(client) == META_TOOLS
            assert (await change(client, "load_tools", "secret"))["status"] == "not_allowed"
            assert (await change(client, "load_tools", "sum"))["status"] == "unknown"
            assert (await change(client, "load_tools", "sums"))["status"] == "not_allowed"  # switched off
            for tool in ("other__add", "small__add", "small__wait"):
                assert await refusal(client, tool) == unknown(tool)

    run(scenario())


def test_D5_sessions_are_apart_and_one_goes_on_after_a_restart(tmp_path: Path) -> None:
    write_agents(tmp_path)

    async def scenario() -> None:
        async with (
            client_of(tmp_path, "helper", "--session", "one") as one,
            client_of(tmp_path, "helper") as two,
        ):
            assert (await change(one, "load_tools", "sums"))["status"] == "loaded"
            assert "small__add" in await names(one)
            assert await refusal(two, "small__add") == unknown("small__add")
            assert "small__add" not in await names(two)
        async with client_of(tmp_path, "helper", "--session", "one") as client:
            assert "small__add" in await names(client)
            assert await call(client, "small__add", **NUMBERS) == (False, "3")

    run(scenario())


def test_D5_a_revoked_toolkit_disappears_and_does_not_come_back(tmp_path: Path) -> None:
    write_agents(tmp_path, helper={"tools": ["small/wait"], "allowed_toolkits": ["ends"]})
    store = SqliteSessionStore(str(tmp_path / DEFAULT_FILE))
    store.write("helper", "one", ("sums", "ends"), None)

    async def scenario() -> None:
        with (tmp_path / "log").open("w") as log:
            async with client_of(tmp_path, "helper", "--session", "one", log=log) as client:
                assert await names(client) == ["small__wait", "small__exit", *META_TOOLS, *CALLS]
                assert await refusal(client, "small__add") == unknown("small__add")

    run(scenario())
    state = store.read("helper", "one")
    assert state is not None
    assert state.loaded == ("ends",)
    assert (tmp_path / "log").read_text().count("'sums' is no longer allowed") == 1


def test_D2_agents_without_toolkits_have_no_meta_tools_and_initial_ones_are_listed(tmp_path: Path) -> None:
    write_agents(tmp_path)

    async def scenario() -> None:
        async with client_of(tmp_path, "plain") as client:
            assert await names(client) == ["small__wait"]
        async with client_of(tmp_path, "starter") as client:
            assert await names(client) == ["small__add", *META_TOOLS]
            assert (await change(client, "unload_tools", "sums"))["status"] == "sticky"
            assert await call(client, "small__add", **NUMBERS) == (False, "3")

    run(scenario())


def test_M10_the_log_has_the_agent_and_the_calls_of_its_meta_tools(tmp_path: Path) -> None:
    write_agents(tmp_path)
    listed: list[dict[str, Any]] = []

    async def scenario() -> None:
        async with client_of(tmp_path, "helper") as client:
            tools = (await client.list_tools()).tools
            listed.extend(tool.model_dump(by_alias=True, exclude_none=True) for tool in tools)
            await change(client, "load_tools", "sums")
            await call(client, "small__add", **NUMBERS)

    run(scenario())
    files = find_files(tmp_path / "state" / "audit")
    session, *calls = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert (session["agent"], session["digest"]) == ("helper", serving_digest(listed))
    assert [(each["tool"], each["server"], each["status"]) for each in calls] == [
        ("load_tools", "", "ok"),
        ("small__add", "small", "ok"),
    ]
