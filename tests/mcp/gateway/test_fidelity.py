"""The same requests to a server directly and through the gateway: what comes back is the same JSON (rule M5)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest

from tests.mcp.gateways import gateway_client
from tests.mcp.relayed import LONG, record, settle
from tests.mcp.small import synced_catalog, synced_plugin
from tests.servers.everything_definitions import TOOLS
from tests.servers.everything_tools import LEVELS
from tests.servers.mcp_running import Everything, everything_stdio, run_everything, write_client_config
from tests.servers.raw_mcp import Json, RawClient, open_http, open_stdio
from tests.wording import mentions
from toolbelt.catalog.mcp_tools import mend_tools
from toolbelt.mcp.gateway.surface import Surface, make_surface, serving_digest
from toolbelt.project.opening import open_project
from toolbelt.stores.catalogs import write_catalog

NAME = "everything"
TOKEN = "a-token-of-the-tests-that-is-long-enough"


@dataclass(frozen=True)
class Route:
    """How a request travels.

    Attributes:
        era: That the client speaks.
        upstream: Transport between gateway and server.
        speaks: Eras that the server speaks: `both`, `2025` or `2026`.
        front: Transport between client and gateway.
    """

    era: str
    upstream: str
    speaks: str = "both"
    front: str = "stdio"

    @property
    def direct_era(self) -> str:
        """The era in which the server is asked directly."""
        return self.era if self.speaks == "both" else self.speaks

    def __str__(self) -> str:
        return f"{self.era}-client-over-{self.front}-and-{self.upstream}-to-{self.speaks}"


def connect(server: Everything, era: str) -> AbstractAsyncContextManager[RawClient]:
    entry = server.entry
    if "url" in entry:
        return open_http(entry["url"], era)
    return open_stdio([entry["command"], *entry["args"]], era, entry["env"])


def synced_definitions(speaks: str) -> list[Json]:
    """As a sync lists them, which asks for the newest version of the protocol; 2026 has no `execution`."""
    hidden = () if speaks == "2025" else ("execution",)
    return [{key: value for key, value in tool.items() if key not in hidden} for tool in TOOLS]


def write_project(folder: Path, server: Everything, definitions: list[Json]) -> Surface:
    """A project with that server, synced; what its gateway serves."""
    write_client_config(folder / "mcp.json", everything=server)
    write_catalog(synced_catalog(synced_plugin(NAME, definitions)), str(folder / "catalog.yaml"))
    document = {
        "catalog": "catalog.yaml",
        "servers": {NAME: {"from": "mcp.json"}},
        "loadouts": {"all": {"plugins": [NAME]}},
    }
    (folder / "toolbelt.yaml").write_text(json.dumps(document), encoding="utf-8")
    return make_surface(open_project(folder).resolve("all"))


@asynccontextmanager
async def connect_through_gateway(folder: Path, era: str, front: str = "stdio") -> AsyncIterator[RawClient]:
    command = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes"]
    command += ["--config", str(folder / "toolbelt.yaml")]
    environment = {"TOOLBELT_STATE_DIR": str(folder / "state"), "TOOLBELT_HTTP_TOKEN": TOKEN}
    if front == "stdio":
        async with open_stdio(command, era, environment) as client:
            yield client
        return
    process = await asyncio.create_subprocess_exec(
        *command, "--http", "127.0.0.1:0", env=os.environ | environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        text = ""
        async with asyncio.timeout(60):
            while (url := re.search(r"http://127\.0\.0\.1:\d+/mcp", text)) is None:
                line = await process.stderr.readline()
                assert line, text
                text += line.decode()
        async with open_http(url[0], era, TOKEN) as client:
            yield client
    finally:
        process.terminate()
        await asyncio.wait_for(process.communicate(), 20)


async def record_both(route: Route, server: Everything, folder: Path) -> tuple[dict[str, Any], dict[str, Any], Surface]:
    surface = write_project(folder, server, synced_definitions(route.speaks))
    names = {tool.upstream_name: tool.wire_name for tool in surface.offered}
    left_out = [LONG] if route.upstream == "sse" else []

    async def ask_directly() -> dict[str, Any]:
        # SSE differs in how messages travel only, and the raw client does not speak it.
        async with connect(everything_stdio() if route.upstream == "sse" else server, route.direct_era) as client:
            return await record(client, left_out=left_out)

    async def ask_through_gateway() -> dict[str, Any]:
        async with connect_through_gateway(folder, route.era, route.front) as client:
            outcomes = await record(client, names, left_out)
            await cancel_a_call(client, server)
            return outcomes

    return *await asyncio.gather(ask_directly(), ask_through_gateway()), surface


ROUTES = (
    Route("2025", "stdio"),
    Route("2026", "stdio"),
    Route("2026", "stdio", speaks="2025"),
    Route("2025", "stdio", speaks="2026"),
    Route("2025", "sse", front="http"),
    Route("2026", "http", front="http"),
    Route("2026", "http", speaks="2025", front="http"),
)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_M5_what_comes_through_the_gateway_is_what_comes_directly(route: Route, tmp_path: Path) -> None:
    with run_everything(route.upstream, "--era", route.speaks, journal=tmp_path / "journal") as server:
        direct, relayed, surface = asyncio.run(asyncio.wait_for(record_both(route, server, tmp_path), 100))
    listed = direct.pop("tools/list"), relayed.pop("tools/list")
    if route.speaks == "2025" and route.era == "2026":
        direct = {name: as_wanted(name, outcome) for name, outcome in direct.items()}
    differing = {
        name: (settle(direct[name]), settle(relayed[name]))
        for name in direct.keys() & relayed.keys()  # some requests one era alone has
        if settle(direct[name]) != settle(relayed[name])
    }
    assert differing == {}
    check_definitions(*listed, surface)


def as_wanted(name: str, outcome: Any) -> Any:
    """With the log messages alone that a client of 2026 asked for: a server of 2025 sends them all."""
    if not name.startswith("call log"):
        return outcome
    wanted = LEVELS[LEVELS.index("warning") :] if name == "call log at a level" else ()
    kept = [each for each in outcome["notifications"] if each["params"]["level"] in wanted]
    return {**outcome, "notifications": kept}


def check_definitions(direct: list[Json], served: list[Json], surface: Surface) -> None:
    # Booleans as schemas of properties, for which a strict client would refuse the list.
    direct, _ = mend_tools(direct)
    """Every definition is served as its server sent it, key by key in that order, and is the counted one."""
    offered = [tool.definition for tool in surface.offered]
    assert serving_digest(served) == serving_digest(offered)
    assert [texts(each) for each in served] == [texts(each) for each in offered]
    names = [tool.wire_name for tool in surface.offered]
    named = [{**each, "name": name} for each, name in zip(direct, names, strict=True)]
    assert [texts(each) for each in served] == [texts(each) for each in named]


def texts(definition: Json) -> dict[str, str]:
    """Each field as JSON text; without `execution`, which only versions before 2026 have."""
    return {key: json.dumps(value) for key, value in definition.items() if key != "execution"}


async def cancel_a_call(client: RawClient, server: Everything) -> None:
    """A call that the client cancels is cancelled at its server, and the next one is answered."""
    call = asyncio.create_task(client.ask("tools/call", {"name": "wait", "arguments": {}}))
    await wait_for_event(server, "waiting")
    call.cancel()
    await wait_for_event(server, "cancelled")
    answer = await client.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    assert answer["result"]["structuredContent"] == {"sum": 3}


async def wait_for_event(server: Everything, kind: str) -> None:
    async with asyncio.timeout(20):
        while not server.events(kind):
            await asyncio.sleep(0.02)


def test_it_is_said_once_that_prompts_and_resources_are_not_compared_with_what_was_synced(tmp_path: Path) -> None:
    async def list_twice(log: TextIO) -> None:
        async with gateway_client(tmp_path, loadout="all", log=log) as client:
            for _ in range(2):
                assert (await client.list_prompts()).prompts
                assert (await client.list_resources()).resources

    write_project(tmp_path, everything_stdio(), synced_definitions("both"))
    with (tmp_path / "log").open("w+") as log:
        asyncio.run(asyncio.wait_for(list_twice(log), 60))
        log.seek(0)
        assert sum(mentions(line, "prompts and resources", "only tools are compared") for line in log) == 1
