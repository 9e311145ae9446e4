"""A gateway of its parts: the tools of servers, the meta-tools, the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.mcp.gateway.agents import AgentTurns
from toolbelt.mcp.gateway.call_audit import CallAudit
from toolbelt.mcp.gateway.calls import ChangedError, RefusedError, refused
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.discovery import Discovery, DiscoveryRefusal, format_answer
from toolbelt.mcp.gateway.discovery_arguments import DiscoveryArgumentsError
from toolbelt.mcp.gateway.front import Context
from toolbelt.mcp.gateway.gateway import Gateway, GatewayOptions, LocalTool
from toolbelt.mcp.gateway.meta_tools import DiscoveryRole
from toolbelt.mcp.gateway.python_tools import PythonTools
from toolbelt.mcp.gateway.searching import ServedSearch
from toolbelt.mcp.gateway.surface import Surface, list_meta_tools
from toolbelt.mcp.logs.audit import AuditLog
from toolbelt.mcp.upstreams.transports import Startable
from toolbelt.mcp.upstreams.wire import Params
from toolbelt.runtime.guards import AuditRecord
from toolbelt.runtime.registry import ToolRegistry

FindDiscovery = Callable[[Client], Discovery]


def assemble_gateway(
    surface: Surface,
    servers: Mapping[str, Startable],
    options: GatewayOptions,
    *,
    log: Callable[[str], None],
    counter: TokenCounter,
    discovery: Discovery | None,
    audit: AuditLog | None,
    python_tools: ToolRegistry | None,
    agent: AgentTurns | None,
    search: ServedSearch | None,
) -> Gateway:
    """A gateway that serves a loadout or an agent.

    Args:
        surface: The tools of servers.
        servers: Those of the surface by name, with resolved values.
        options: How it behaves.
        log: Receives one line at a time.
        counter: Counts the tokens of what is offered, for the audit log.
        discovery: The meta-tools; `None` for none.
        audit: Started; `None` for none.
        python_tools: Has the tools of the surface that no server has; `None` if it has none.
        agent: Whose tools the surface has; `None` where a loadout decides.
        search: In place of `discovery`; `None` for none.
    """
    policy = None
    of_agent = () if agent is None else agent.meta_tools
    if audit is not None:
        meta_tools = [tool.definition for tool in of_agent]
        meta_tools += [] if discovery is None else list_meta_tools(discovery.definitions)
        meta_tools += [] if search is None else search.definitions
        offered = [(served.definition, served.server) for served in surface.offered]
        offered += [(definition, "") for definition in meta_tools]
        name = "" if agent is None else agent.name
        policy = CallAudit(audit, offered=offered, counter=counter, loadout=surface.loadout, agent=name)
    gateway = Gateway(surface, servers, options, log=log, local_tools=of_agent, policy=policy)
    gateway.turns = agent
    if python_tools is not None:

        def record(decision: AuditRecord) -> None:
            if audit is not None:
                verdict, session = decision.verdict.value, decision.session_id or ""
                audit.write_guard(session, decision.tool, verdict, allowed=decision.allowed, reason=decision.reason)

        gateway.calls.run_local = PythonTools(python_tools, record).call
    if discovery is not None:
        gateway.local_tools.update((str(tool.definition["name"]), tool) for tool in make_meta_tools(gateway, discovery))
    if search is not None:
        gateway.local_tools.update((str(tool.definition["name"]), tool) for tool in search.make_tools(gateway))
    return gateway


def make_meta_tools(gateway: Gateway, discovery: Discovery) -> tuple[LocalTool, ...]:
    """The meta-tools of a gateway; none if nothing can be found."""
    find = partial(find_for_client, gateway, discovery)
    tools = []
    for definition in list_meta_tools(discovery.definitions):
        name = str(definition["name"])
        role = discovery.find_role(name)
        if role in (DiscoveryRole.CALL_READ, DiscoveryRole.CALL):
            tools.append(LocalTool(definition, partial(_call_through, gateway, find, role, name), is_watched=False))
        elif role is not None:
            tools.append(LocalTool(definition, partial(_answer, gateway, find, role)))
    return tuple(tools)


def find_for_client(gateway: Gateway, discovery: Discovery, client: Client) -> Discovery:
    """What this client can find now: nothing that its toolkits do not have, or its server changed since the sync."""
    reachable = client.surface.discoverable_by_id
    left_out = {tool.id for tool in discovery.tools if tool.id not in reachable}
    if not gateway.options.unlocked:
        left_out |= client.find_changed()
    return discovery.without(left_out) if left_out else discovery


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
    discovery = find(client)
    call = discovery.admit(role, arguments)
    if isinstance(call, DiscoveryRefusal):
        name = str(arguments.get("name", ""))
        if call.reason.value in ("unknown", "not_read_only"):
            reason = client.surface.reasons.get(discovery.find_wire_name(name), call.reason.value)
            gateway.log(f"call of {name!r} by {meta_tool} refused: {reason}")
        refusal = RefusedError(call.reason.value, call.message)
        return await gateway.calls.refuse(client, name or meta_tool, params, refusal, via=meta_tool)
    served = client.surface.discoverable_by_id[call.tool.id]
    passed_on = {**params, "name": served.wire_name, "arguments": dict(call.arguments)}
    try:
        return await gateway.calls.run(client, context, served, passed_on, via=meta_tool)
    except ChangedError:  # found out by this call; the answer is that of the next one, and of an unknown name
        return refused(find(client).describe_unknown(str(arguments["name"])))
