"""A gateway of its parts: the tools of servers, the meta-tools, the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.mcp.agents import AgentTurns
from toolbelt.mcp.audit import AuditLog
from toolbelt.mcp.call_audit import CallAudit
from toolbelt.mcp.discovery import Discovery
from toolbelt.mcp.gateway import Gateway, GatewayOptions
from toolbelt.mcp.meta_calls import list_meta_definitions, make_meta_tools
from toolbelt.mcp.python_tools import PythonTools
from toolbelt.mcp.surface import Surface
from toolbelt.mcp.transports import Startable
from toolbelt.runtime.guards import AuditRecord
from toolbelt.runtime.registry import ToolRegistry


def assemble_gateway(
    surface: Surface,
    servers: Mapping[str, Startable],
    options: GatewayOptions,
    *,
    log: Callable[[str], None],
    counter: TokenCounter,
    discovery: Discovery | None = None,
    audit: AuditLog | None = None,
    python_tools: ToolRegistry | None = None,
    agent: AgentTurns | None = None,
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
    """
    policy = None
    of_agent = () if agent is None else agent.meta_tools
    if audit is not None:
        meta_tools = [tool.definition for tool in of_agent]
        meta_tools += [] if discovery is None else list_meta_definitions(discovery)
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
    return gateway
