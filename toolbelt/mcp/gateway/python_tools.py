"""Python tools beside the tools of servers: a `ToolRegistry`, behind the same loadout, guards and audit (rule M7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp.shared.exceptions import MCPError

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.gateway.calls import Ask, RefusedError
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.surface import ServedTool
from toolbelt.mcp.upstreams.wire import Params
from toolbelt.patterns import fold
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.guards import AuditRecord, AuditSink
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall
from toolbelt.servers.spec import PythonReference


def load_registry(reference: PythonReference) -> ToolRegistry:
    """Import Python tools; whatever their module prints goes wherever descriptor 1 points.

    Args:
        reference: Approved, or named by the user for this command.

    Raises:
        ToolbeltError: the module cannot be imported, or has no tool that can be run.
    """
    from toolbelt.importers.python_tools import load_python_tools  # few gateways serve some

    registry = load_python_tools(reference).registry
    if not registry.get_all():
        raise ToolbeltError(f"{reference.reference} has definitions alone, and nothing to run; name its functions.")
    return registry


def add_python_tools(catalog: Catalog, registry: ToolRegistry) -> Catalog:
    """The catalog with the tools of a registry.

    A plugin of the catalog without server is replaced by the registry's plugin of that name, where it stands; its
    description, category and fixed wire names stay. Other plugins of the registry are added at the end.

    Raises:
        ToolbeltError: a plugin has the name of one of a server.
    """
    own = {plugin.key: plugin for plugin in registry.catalog.plugins}
    plugins = []
    for plugin in catalog.plugins:
        replacement = own.pop(plugin.key, None)
        if replacement is not None and plugin.server:
            raise ToolbeltError(
                f"Plugin {plugin.name!r} is of server {plugin.server!r} and of the Python tools; rename one of them."
            )
        plugins.append(plugin if replacement is None else _merge(plugin, replacement))
    return replace(catalog, plugins=(*plugins, *own.values()))


def _merge(plugin: Plugin, replacement: Plugin) -> Plugin:
    wire_names = {fold(tool.name): tool.wire_name for tool in plugin.tools}
    tools = tuple(
        Tool(
            tool.name,
            tool.description,
            tool.parameters,
            tool.annotations,
            extra=tool.extra,
            wire_name=tool.wire_name or wire_names.get(fold(tool.name), ""),
        )
        for tool in replacement.tools
    )
    category, description = replacement.category or plugin.category, replacement.description or plugin.description
    return Plugin(plugin.name, tools, category, description)


class PythonTools:
    """Runs the tools of a registry for clients of the gateway.

    Args:
        registry: Has the tools; it checks arguments, asks guards and keeps to time limits.
        record: Gets every decision of a guard, after the registry's own sink.
    """

    def __init__(self, registry: ToolRegistry, record: Callable[[AuditRecord], None]) -> None:
        self._registry = registry.narrowed(tool.name for tool in registry.get_all())
        self._registry.audit = _both(registry.audit, record)

    async def call(self, client: Client, tool: ServedTool, params: Params, ask: Ask) -> dict[str, Any]:
        """Run a tool.

        Args:
            client: Who calls.
            tool: Which it may call.
            params: Of `tools/call`.
            ask: Asks the client.

        Returns:
            A result of `tools/call`.

        Raises:
            RefusedError: its guard, or the person at the client, refused it; or it is not available.
        """

        async def confirm(question: str) -> bool:
            try:
                asked = {"message": question, "requestedSchema": _NOTHING_TO_FILL}
                answer = await ask("elicitation/create", asked)
            except MCPError:
                return False
            return answer.get("action") == "accept"

        can_ask = isinstance(client.capabilities.get("elicitation"), Mapping)
        tool_context = ToolContext(session_id=client.session_id, confirm=confirm if can_ask else None)
        call = ToolCall("call", tool.upstream_name, params.get("arguments") or {})
        (done,) = await self._registry.execute_parallel([call], tool_context)
        result = done.result
        if result.code is FailureCode.NOT_AVAILABLE:
            raise RefusedError("not_available", result.text)
        data: dict[str, Any] = {"content": [{"type": "text", "text": result.text}], "isError": not result.ok}
        if result.ok and isinstance(result.structured, Mapping) and "outputSchema" in tool.tool.extra:
            data["structuredContent"] = dict(result.structured)
        return data


_NOTHING_TO_FILL = {"type": "object", "properties": {}}


def _both(first: AuditSink | None, record: Callable[[AuditRecord], None]) -> AuditSink:
    async def sink(decision: AuditRecord) -> None:
        if first is not None:
            returned = first(decision)
            if returned is not None:
                await returned
        record(decision)

    return sink
