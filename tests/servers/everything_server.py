"""The handlers of `mcp_everything`: which answer it gives to each method."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.servers import everything_definitions as definitions
from tests.servers.everything_state import State
from tests.servers.everything_tools import Call, call_tool

Context = ServerRequestContext[Any]
WRITTEN = ("tools/", "resources/list", "resources/templates", "resources/read", "prompts/", "completion/")
"""Methods whose answers are sent as the handlers write them."""


@dataclass(frozen=True)
class Handlers:
    """One server.

    Attributes:
        state: Of the process.
        page: How many tools, resources or prompts a page lists.
        era: `both`, `2025`, `2026` or `none`: what clients may speak.
    """

    state: State
    page: int = 10
    era: str = "both"

    def _cut(self, key: str, items: Sequence[Any], params: types.PaginatedRequestParams | None) -> dict[str, Any]:
        start = int(params.cursor.removeprefix("page ü ")) if params and params.cursor else 0
        end = start + self.page
        following = {"nextCursor": f"page ü {end}"} if end < len(items) else {}
        return {key: list(items[start:end]), **following}

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        tools = list(self.state.tools.values())
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:  # which has no `execution` any more
            tools = [{key: tool[key] for key in tool if key != "execution"} for tool in tools]
        return self._cut("tools", tools, params)

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        return await call_tool(Call(ctx, params, params.arguments or {}, self.state))

    async def list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        return self._cut("resources", definitions.RESOURCES, params)

    async def list_templates(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        return self._cut("resourceTemplates", definitions.TEMPLATES, params)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        if params.uri.startswith("everything://items/"):
            item = json.dumps({"id": params.uri.rpartition("/")[2]})
            return {"contents": [{"uri": params.uri, "mimeType": "application/json", "text": item}]}
        if params.uri not in definitions.CONTENTS:
            raise MCPError(-32002, "Resource not found", {"uri": params.uri})
        return {"contents": definitions.CONTENTS[params.uri], "_meta": {"read": True}}

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> Any:
        self.state.write("subscribed", uri=params.uri)
        return {}

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> Any:
        self.state.write("unsubscribed", uri=params.uri)
        return {}

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        return self._cut("prompts", definitions.PROMPTS, params)

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> Any:
        if params.name == "show":
            content = [*definitions.CONTENT["draw"], *definitions.CONTENT["embed"]]
            return {"messages": [{"role": "assistant", "content": item} for item in content]}
        if params.name != "greet" or "person" not in (params.arguments or {}):
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt or missing argument: {params.name}")
        words = json.dumps(params.arguments, ensure_ascii=False)
        message = {"role": "user", "content": {"type": "text", "text": f"Greet {words}"}}
        return {"description": "A greeting", "messages": [message], "_meta": {"got": True}}

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> Any:
        before = params.context.arguments if params.context else None
        known = definitions.COMPLETIONS.get(params.argument.name, ())
        values = [value for value in known if value.startswith(params.argument.value)]
        if before:
            values = [f"{value} {json.dumps(before, ensure_ascii=False)}" for value in values]
        return {"completion": {"values": values, "total": len(known), "hasMore": len(values) < len(known)}}

    async def set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> Any:
        self.state.write("level", level=params.level)
        return {}

    async def roots_changed(self, ctx: Context, params: types.NotificationParams) -> None:
        self.state.write("roots changed")

    async def refuse_other_eras(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        refused = (ctx.method == "initialize" and self.era in ("2026", "none")) or (
            modern and self.era in ("2025", "none")
        )
        if not refused:
            return await call_next(ctx)
        if self.era == "2025":
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", ctx.method)
        supported = list(MODERN_PROTOCOL_VERSIONS) if self.era == "2026" else ["2099-01-01"]
        data = {"supported": supported, "requested": str((ctx.params or {}).get("protocolVersion", ""))}
        raise MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def make_server(handlers: Handlers) -> Server[Any]:
    """The SDK's server around the handlers."""
    server: Server[Any] = Server(
        "everything",
        version="1.2.3",
        title="Everything – ü",
        description="Does everything.",
        instructions="Call echo first – ü.",
        website_url="https://example.org/everything",
        icons=[types.Icon.model_validate(icon) for icon in definitions.ICONS],
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=handlers.subscribe,
        on_unsubscribe_resource=handlers.unsubscribe,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        on_subscriptions_listen=ListenHandler(handlers.state.bus),
    )
    # These two are deprecated as arguments; clients of 2025-11-25 use them.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, handlers.set_level)
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, handlers.roots_changed
    )

    async def answer_as_written(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer past the SDK's models, which change the order of keys and drop what they do not know."""
        entry = server.get_request_handler(ctx.method)
        if entry is None or not ctx.method.startswith(WRITTEN):
            return await call_next(ctx)
        result: Any = await entry.handler(ctx, entry.params_type.model_validate(ctx.params or {}, by_name=False))
        if isinstance(result, types.InputRequiredResult):
            return result
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        return {**result, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else result

    server.middleware.extend([handlers.refuse_other_eras, answer_as_written])
    return server
