"""Calls of litellm: timed, within a time limit, and with whatever goes wrong as a `ModelError`."""

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

if TYPE_CHECKING:
    from toolbelt.providers.timed_http import TimedConnections

T = TypeVar("T")


class LitellmCalls:
    """Calls litellm on behalf of one model.

    Args:
        timeout_seconds: For a whole request, its time in our own queue included.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self._connections: TimedConnections | None = None

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
        from toolbelt.providers import litellm_loading
        from toolbelt.providers.timed_http import TimedConnections, Timing, current_timing

        if self._connections is None or not self._connections.is_open_here:
            litellm_loading.silence_warnings()
            self._connections = TimedConnections.take()
            self._connections.when_closed.add(litellm_loading.forget_clients)
        timing = Timing()
        token = current_timing.set(timing)
        start = time.perf_counter()

        def elapsed_seconds() -> float:
            return time.perf_counter() - start if timing.seconds is None else timing.seconds

        ours = {"timeout": self.timeout_seconds, "max_retries": 0, "num_retries": 0}
        try:
            async with asyncio.timeout(self.timeout_seconds):
                data = await ask({**arguments, **ours, "shared_session": self._connections.session})
            return read(Answer(data, elapsed_seconds(), self._keys, find_hold(timing.headers)))
        except ModelError as refusal:
            failure = refusal
        except TimeoutError:
            message = f"No answer within {self.timeout_seconds:g} s."
            failure = ModelError(Failure.TIMEOUT, message, latency_seconds=time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001  litellm raises what it likes
            failure = make_model_error(
                error, timing.status, find_secrets(os.environ), elapsed_seconds(), timing.headers
            )
        finally:
            current_timing.reset(token)
        # Raised out here, where no other error is under way: what litellm raises may hold the headers, key and all.
        raise failure

    async def close(self) -> None:
        """Release the connections, and litellm's clients if no other model uses this loop."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.release()

    @cached_property
    def _keys(self) -> list[str]:
        """Read once: going through the environment for every answer costs as much as scoring it."""
        return find_keys(os.environ)
