"""The same requests to a server directly and through the gateway: what comes back is the same JSON (rule M5)."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.relayed import LONG, record, settle
from tests.mcp.small import synced_catalog, synced_plugin
from tests.servers.everything_definitions import TOOLS
from tests.servers.mcp_running import Everything, everything_stdio, run_everything, write_client_config
from tests.servers.raw_mcp import Json, RawClient, open_http, open_stdio
from toolbelt.mcp.surface import Surface, make_surface, serving_digest
from toolbelt.project.opening import open_project
from toolbelt.stores.catalogs import write_catalog

NAME = "everything"


@dataclass(frozen=True)
class Route:
    """How a request travels.

    Attributes:
        era: That the client speaks.
        upstream: Transport between gateway and server.
        speaks: Eras that the server speaks: `both`, `2025` or `2026`.
    """

    era: str
    upstream: str
    speaks: str = "both"

    @property
    def direct_era(self) -> str:
        """The era in which the server is asked directly."""
        return self.era if self.speaks == "both" else self.speaks

    def __str__(self) -> str:
        return f"{self.era}-client-over-{self.upstream}-to-{self.speaks}"


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


def connect_through_gateway(folder: Path, era: str, *options: str) -> AbstractAsyncContextManager[RawClient]:
    command = [sys.executable, "-m", "toolbelt", "serve", "all", "--yes", "--config", str(folder / "toolbelt.yaml")]
    return open_stdio([*command, *options], era, {"TOOLBELT_STATE_DIR": str(folder / "state")})


async def record_both(route: Route, server: Everything, folder: Path) -> tuple[dict[str, Any], dict[str, Any], Surface]:
    surface = write_project(folder, server, synced_definitions(route.speaks))
    names = {tool.upstream_name: tool.wire_name for tool in surface.offered}
    left_out = [LONG] if route.upstream == "sse" else []

    async def ask_directly() -> dict[str, Any]:
        # SSE differs in how messages travel only, and the raw client does not speak it.
        async with connect(everything_stdio() if route.upstream == "sse" else server, route.direct_era) as client:
            return await record(client, left_out=left_out)

    async def ask_through_gateway() -> dict[str, Any]:
        async with connect_through_gateway(folder, route.era) as client:
            return await record(client, names, left_out)

    return *await asyncio.gather(ask_directly(), ask_through_gateway()), surface


ROUTES = (
    Route("2025", "stdio"),
    Route("2026", "stdio"),
    Route("2025", "http"),
    Route("2026", "http"),
    Route("2025", "sse"),
)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_M5_what_comes_through_the_gateway_is_what_comes_directly(route: Route, tmp_path: Path) -> None:
    with run_everything(route.upstream, "--era", route.speaks) as server:
        direct, relayed, surface = asyncio.run(asyncio.wait_for(record_both(route, server, tmp_path), 100))
    listed = direct.pop("tools/list"), relayed.pop("tools/list")
    differing = {
        name: (settle(direct.get(name)), settle(relayed.get(name)))
        for name in direct | relayed
        if settle(direct.get(name)) != settle(relayed.get(name))
    }
    assert differing == {}
    check_definitions(*listed, surface)


def check_definitions(direct: list[Json], served: list[Json], surface: Surface) -> None:
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


def test_M5_a_cancelled_call_is_cancelled_at_its_server(tmp_path: Path) -> None:
    journal = tmp_path / "journal"

    async def scenario(server: Everything, era: str) -> None:
        async with connect_through_gateway(tmp_path, era) as client:
            call = asyncio.create_task(client.ask("tools/call", {"name": "wait", "arguments": {}}))
            await wait_for_event(server, "waiting")
            call.cancel()
            await wait_for_event(server, "cancelled")
            answer = await client.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            assert answer["result"]["structuredContent"] == {"sum": 3}

    with run_everything("stdio", journal=journal) as server:
        write_project(tmp_path, server, synced_definitions("both"))
        for era in ("2025", "2026"):
            journal.unlink(missing_ok=True)
            asyncio.run(asyncio.wait_for(scenario(server, era), 60))


async def wait_for_event(server: Everything, kind: str) -> None:
    async with asyncio.timeout(20):
        while not server.events(kind):
            await asyncio.sleep(0.02)
