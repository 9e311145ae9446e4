"""Announces to a client that its list of tools has grown (rule M5), in the way of its version of the protocol."""

from __future__ import annotations

from typing import Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import SubscriptionFilter, SubscriptionsListenRequestParams

from toolbelt.mcp.gateway.connections import TOOLS_CHANGED
from toolbelt.mcp.gateway.front import Context, Notices, is_modern
from toolbelt.mcp.upstreams.wire import Params

LISTEN = "subscriptions/listen"


class Announcements:
    """What one client is notified of.

    Args:
        notices: Notifications to it.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)

    async def announce_tools(self, context: Context, version: str) -> None:
        """Notify the client that its list of tools has changed.

        Args:
            context: Of a request of that client.
            version: Of the protocol that it speaks; from 2026 on, only those are notified that listen.
        """
        if is_modern(version):
            await self._bus.publish(ToolsListChanged())
        else:
            self._notices.put(context, "", TOOLS_CHANGED, {}, related=False)

    async def listen(self, context: Context, params: Params) -> dict[str, Any]:
        """Answer `subscriptions/listen`, of 2026: notify until the client or this gateway ends it.

        Only changes of the list of tools are acknowledged, as nothing else is ever announced.
        """
        wanted = SubscriptionsListenRequestParams.model_validate(params, by_name=False).notifications
        acknowledged = SubscriptionFilter(tools_list_changed=wanted.tools_list_changed)
        result = await self._streams(context, SubscriptionsListenRequestParams(notifications=acknowledged))
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    def close(self) -> None:
        """End what the client listens to."""
        self._streams.close()


def offer_announcements(result: dict[str, Any]) -> None:
    """State in the result of `initialize` or `server/discover` that the list of tools may change."""
    result["capabilities"]["tools"]["listChanged"] = True
