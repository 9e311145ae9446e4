"""The meta-tools as tools of the gateway: what they find, and the calls that they pass on (rule M6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from toolbelt.catalog.definitions import Definition, mcp_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.mcp.calls import ChangedError, RefusedError, refused
from toolbelt.mcp.client import Client
from toolbelt.mcp.discovery import Discovery, DiscoveryRefusal, format_answer
from toolbelt.mcp.discovery_arguments import DiscoveryArgumentsError
from toolbelt.mcp.front import Context
from toolbelt.mcp.gateway import Gateway, LocalTool
from toolbelt.mcp.meta_tools import DiscoveryRole
from toolbelt.mcp.wire import Params

FindDiscovery = Callable[[Client], Discovery]


def make_meta_tools(gateway: Gateway, discovery: Discovery) -> tuple[LocalTool, ...]:
    """The meta-tools of a gateway; none if nothing can be found."""
    find = partial(find_for_client, gateway, discovery)
    tools = []
    for definition in list_meta_definitions(discovery):
        name = str(definition["name"])
        role = discovery.find_role(name)
        if role in (DiscoveryRole.CALL_READ, DiscoveryRole.CALL):
            tools.append(LocalTool(definition, partial(_call_through, gateway, find, role, name), is_watched=False))
        elif role is not None:
            tools.append(LocalTool(definition, partial(_answer, gateway, find, role)))
    return tuple(tools)


def list_meta_definitions(discovery: Discovery) -> list[Definition]:
    """The definitions of the meta-tools, as `tools/list` has them."""
    return [thaw(mcp_definition(tool, tool.name)) for tool in discovery.definitions]


def find_for_client(gateway: Gateway, discovery: Discovery, client: Client) -> Discovery:
    """What this client can find now: nothing that its toolkits do not have, or its server changed since the sync."""
    reachable = client.surface.discoverable_by_id
    left_out = {tool.id for tool in discovery.tools if tool.id not in reachable}
    if not gateway.options.unlocked:
        left_out |= find_changed(client)
    return discovery.without(left_out) if left_out else discovery


def find_changed(client: Client) -> set[str]:
    """Ids of the client's tools that are no longer what was synced."""
    changed = set()
    for served in (*client.surface.offered, *client.surface.discoverable):
        connection = client.connections.get(served.server)
        verification = None if connection is None else connection.verification
        if verification is not None and served.upstream_name in verification.changed:
            changed.add(served.tool.id)
    return changed


async def _answer(
    gateway: Gateway, find: FindDiscovery, role: DiscoveryRole, client: Client, _context: Context, params: Params
) -> dict[str, Any]:
    try:
        answer = find(client).answer(role, params.get("arguments") or {})
    except DiscoveryArgumentsError as error:
        raise RefusedError("invalid_arguments", str(error)) from None
    if gateway.options.announces and role is DiscoveryRole.DESCRIBE:
        described = {tool["name"] for tool in answer["tools"]}
        described -= client.surface.by_name.keys()  # an agent's loaded tools are listed while they are loaded
        await client.reveal(tool for tool in client.surface.discoverable if tool.wire_name in described)
    return {"content": [{"type": "text", "text": format_answer(answer)}], "isError": False}


async def _call_through(
    gateway: Gateway,
    find: FindDiscovery,
    role: DiscoveryRole,
    meta_tool: str,
    client: Client,
    context: Context,
    params: Params,
) -> dict[str, Any]:
    arguments = params.get("arguments") or {}
    found = find(client)
    call = found.admit(role, arguments)
    if isinstance(call, DiscoveryRefusal):
        name = str(arguments.get("name", ""))
        if call.reason.value in ("unknown", "not_read_only"):
            reason = client.surface.reasons.get(found.find_wire_name(name), call.reason.value)
            gateway.log(f"call of {name!r} by {meta_tool} refused: {reason}")

        async def refuse() -> dict[str, Any]:
            raise RefusedError(call.reason.value, call.message)

        return await gateway.calls.watch(client, name or meta_tool, "", params, refuse, via=meta_tool)
    served = client.surface.discoverable_by_id[call.tool.id]
    passed_on = {**params, "name": served.wire_name, "arguments": dict(call.arguments)}
    try:
        return await gateway.calls.run(client, context, served, passed_on, via=meta_tool)
    except ChangedError:  # found out by this call; the answer is that of the next one, and of an unknown name
        return refused(find(client).describe_unknown(str(arguments["name"])))
