"""Posts bodies to an endpoint of OpenAI's API over aiohttp; whatever goes wrong is a `ModelError`."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from toolbelt import __version__
from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.direct_answers import NotAnAnswer, read_body
from toolbelt.providers.endpoints import Endpoint
from toolbelt.providers.known_keys import find_keys, find_secrets
from toolbelt.providers.provider_errors import make_answer_error, make_model_error
from toolbelt.providers.rate_limits import find_hold

if TYPE_CHECKING:
    import aiohttp

    from toolbelt.providers.timed_http import TimedConnections

LONGEST_ANSWER = 32 * 1024 * 1024
"""Bytes, after decompression; a body that does not end must not fill the memory."""
_LOSES_THE_BODY = (301, 302, 303)
"""Redirects after which HTTP clients send `GET` without a body."""
T = TypeVar("T")


class DirectHttp:
    """Posts to one endpoint.

    Args:
        endpoint: Who is asked.
        timeout_seconds: For a whole request, its time in our own queue included.
    """

    def __init__(self, endpoint: Endpoint, timeout_seconds: float) -> None:
        self._endpoint = endpoint
        self._timeout_seconds = timeout_seconds
        self._headers = {**endpoint.headers, "Accept": "application/json", "User-Agent": f"toolbelt/{__version__}"}
        self._connections: TimedConnections | None = None

    async def post(self, body: bytes, read: Callable[[Answer], T]) -> T:
        """Post once; raises `ModelError` and nothing else.

        Args:
            body: What is sent.
            read: Makes a value of a successful answer; whatever it raises is an answer that cannot be read.
        """
        from toolbelt.providers.timed_http import TimedConnections, Timing, current_timing

        if self._connections is None or not self._connections.is_open_here:
            self._connections = TimedConnections.take()
        timing = Timing()
        token = current_timing.set(timing)
        start = time.perf_counter()

        def elapsed_seconds() -> float:
            return time.perf_counter() - start if timing.seconds is None else timing.seconds

        try:
            async with asyncio.timeout(self._timeout_seconds):
                response, answered = await self._post(self._connections.session, body)
            if response.status < 400:
                data = read_body(answered)
                if not _is_failed(data):
                    return read(Answer(data, elapsed_seconds(), self._keys, find_hold(timing.headers)))
            failure = make_answer_error(
                response.status, response.headers, answered, find_secrets(os.environ), elapsed_seconds()
            )
        except ModelError as refusal:
            failure = refusal
        except TimeoutError:
            message = f"No answer within {self._timeout_seconds:g} s."
            failure = ModelError(Failure.TIMEOUT, message, latency_seconds=time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001  whatever a server may send, it costs this request alone
            failure = make_model_error(
                error, timing.status, find_secrets(os.environ), elapsed_seconds(), timing.headers
            )
        finally:
            current_timing.reset(token)
        # Raised out here, where no other error is under way: what aiohttp raises may hold the headers, key and all.
        raise failure

    async def close(self) -> None:
        """Release the connections."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.release()

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> tuple[aiohttp.ClientResponse, bytes]:
        async with session.post(self._endpoint.url, data=body, headers=self._headers, **self._proxy) as response:
            for redirect in response.history:
                if redirect.status in _LOSES_THE_BODY:
                    place = redirect.headers.get("Location", "another address")
                    raise ModelError(
                        Failure.BAD_REQUEST,
                        f"The server redirects to {place} in a way that loses the request: give that as the API base.",
                    )
            return response, await _read(response)

    @cached_property
    def _keys(self) -> list[str]:
        """Read once: going through the environment for every answer costs as much as scoring it."""
        return find_keys(os.environ)

    @cached_property
    def _proxy(self) -> dict[str, Any]:
        """The environment's proxy for the endpoint, found as aiohttp's `trust_env` finds it.

        That asks a thread at each request, twice, and refuses a key beside an entry of `.netrc` for the same host.
        """
        from aiohttp.helpers import get_env_proxy_for_url
        from yarl import URL

        try:
            proxy, auth = get_env_proxy_for_url(URL(self._endpoint.url))
        except LookupError:
            return {}
        return {"proxy": proxy, "proxy_auth": auth}


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    length = 0
    async for part in response.content.iter_any():
        parts.append(part)
        length += len(part)
        if length > LONGEST_ANSWER:
            response.close()
            raise NotAnAnswer(f"The answer is longer than {LONGEST_ANSWER:,} bytes.")
    return b"".join(parts)


def _is_failed(data: dict[str, Any]) -> bool:
    """Whether an answer reports an error, whatever its status: some gateways send these with 200."""
    error = data.get("error")
    if isinstance(error, dict):
        return bool(error.get("message")) or error.get("code") is not None
    return bool(error)
