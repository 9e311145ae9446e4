"""Calls over timed connections, within a time limit; whatever goes wrong is a `ModelError`."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.known_keys import find_keys, find_secrets
from toolbelt.providers.provider_errors import make_model_error
from toolbelt.providers.rate_limits import find_hold
from toolbelt.providers.timing import Timing, current_timing

if TYPE_CHECKING:
    import aiohttp

    from toolbelt.providers.timed_http import TimedConnections

T = TypeVar("T")


class TimedCalls:
    """Makes calls on behalf of one model.

    Args:
        timeout_seconds: For a whole request, its time in our own queue included.
        prepare: Called with connections before they are used first; given where litellm asks over them.
    """

    def __init__(self, timeout_seconds: float, prepare: Callable[[TimedConnections], None] | None = None) -> None:
        self.timeout_seconds = timeout_seconds
        self._prepare = prepare
        self._connections: TimedConnections | None = None

    async def call(
        self, ask: Callable[[aiohttp.ClientSession, Callable[[], float]], Awaitable[Any]], read: Callable[[Answer], T]
    ) -> T:
        """Call once; raises `ModelError` and nothing else.

        Args:
            ask: Asks over a session and returns the data of the answer, or raises; it is also given what reads how
                many seconds the request has taken.
            read: Makes a value of a successful answer; whatever it raises is an answer that cannot be read.
        """
        if self._connections is None or not self._connections.is_open_here:
            from toolbelt.providers.timed_http import TimedConnections

            self._connections = TimedConnections.take(for_litellm=self._prepare is not None)
            if self._prepare is not None:
                self._prepare(self._connections)
        timing = Timing()
        token = current_timing.set(timing)
        start = time.perf_counter()

        def elapsed_seconds() -> float:
            return time.perf_counter() - start if timing.seconds is None else timing.seconds

        try:
            async with asyncio.timeout(self.timeout_seconds):
                data = await ask(self._connections.session, elapsed_seconds)
            return read(Answer(data, elapsed_seconds(), self._keys, find_hold(timing.headers)))
        except ModelError as refusal:
            failure = refusal
        except TimeoutError:
            message = f"No answer within {self.timeout_seconds:g} s."
            failure = ModelError(Failure.TIMEOUT, message, latency_seconds=time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001  whatever a server or a client raises, it costs this request alone
            failure = make_model_error(
                error, timing.status, find_secrets(os.environ), elapsed_seconds(), timing.headers
            )
        finally:
            current_timing.reset(token)
        # Raised out here, where no other error is under way: the original may hold the headers, key and all.
        raise failure

    async def close(self) -> None:
        """Release the connections."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.release()

    @cached_property
    def _keys(self) -> list[str]:
        """Read once: going through the environment for every answer costs as much as scoring it."""
        return find_keys(os.environ)
