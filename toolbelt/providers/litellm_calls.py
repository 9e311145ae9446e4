"""Calls of litellm: timed, within a time limit, and with whatever goes wrong as a `ModelError`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from toolbelt.providers.answer import Answer
from toolbelt.providers.timed_calls import TimedCalls

if TYPE_CHECKING:
    from toolbelt.providers.timed_http import TimedConnections

T = TypeVar("T")


class LitellmCalls:
    """Calls litellm on behalf of one model.

    Args:
        timeout_seconds: For a whole request, its time in our own queue included.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self._calls = TimedCalls(timeout_seconds, _prepare)

    async def call(
        self,
        ask: Callable[[dict[str, Any]], Awaitable[Any]],
        arguments: dict[str, Any],
        read: Callable[[Answer], T],
    ) -> T:
        """Call once, without retries; raises `ModelError` and nothing else.

        Args:
            ask: A function of `toolbelt.providers.litellm_loading`.
            arguments: What litellm is given, but for the connections, the time limit and that it does not retry.
            read: Makes a value of what litellm returns; whatever it raises is an answer that cannot be read.
        """
        ours = {"timeout": self._calls.timeout_seconds, "max_retries": 0, "num_retries": 0}
        return await self._calls.call(lambda session, _: ask({**arguments, **ours, "shared_session": session}), read)

    async def close(self) -> None:
        """Release the connections, and litellm's clients if no other model uses this loop."""
        await self._calls.close()


def _prepare(connections: TimedConnections) -> None:
    from toolbelt.providers import litellm_loading

    litellm_loading.silence_warnings()
    connections.when_closed.add(litellm_loading.forget_clients)
