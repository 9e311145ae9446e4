"""Posts bodies to an endpoint of OpenAI's API over aiohttp; whatever goes wrong is a `ModelError`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from toolbelt import __version__
from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.direct_answers import NotAnAnswer, has_error, read_body
from toolbelt.providers.endpoints import Endpoint
from toolbelt.providers.known_keys import find_secrets
from toolbelt.providers.provider_errors import make_answer_error, remove_secrets
from toolbelt.providers.timed_calls import TimedCalls

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

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
        self._headers = {**endpoint.headers, "Accept": "application/json", "User-Agent": f"toolbelt/{__version__}"}
        self._calls = TimedCalls(timeout_seconds)

    async def post(self, body: bytes, read: Callable[[Answer], T]) -> T:
        """Post once; raises `ModelError` and nothing else.

        Args:
            body: What is sent.
            read: Makes a value of a successful answer; whatever it raises is an answer that cannot be read.
        """
        return await self._calls.call(partial(self._ask, body), read)

    async def close(self) -> None:
        """Release the connections."""
        await self._calls.close()

    async def _ask(self, body: bytes, session: aiohttp.ClientSession, elapsed_seconds: Callable[[], float]) -> Any:
        response, answered = await self._post(session, body)
        if response.status < 400:
            data = read_body(answered)
            if not has_error(data):
                return data
        raise make_answer_error(
            response.status, response.headers, answered, find_secrets(os.environ), elapsed_seconds()
        )

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> tuple[aiohttp.ClientResponse, bytes]:
        async with session.post(self._url, data=body, headers=self._headers, **self._proxy) as response:
            for redirect in response.history:
                if redirect.status in _LOSES_THE_BODY:
                    place = remove_secrets(
                        redirect.headers.get("Location", "another address"), find_secrets(os.environ)
                    )
                    raise ModelError(
                        Failure.BAD_REQUEST,
                        f"The server redirects to {place} in a way that loses the request: give that as the API base.",
                    )
            return response, await _read(response)

    @cached_property
    def _url(self) -> URL:
        """Read once: aiohttp reads a text anew at each request."""
        from yarl import URL

        return URL(self._endpoint.url)

    @cached_property
    def _proxy(self) -> dict[str, Any]:
        """The environment's proxy for the endpoint, found as aiohttp's `trust_env` finds it.

        That asks a thread at each request, twice, and refuses a key beside an entry of `.netrc` for the same host.
        """
        from aiohttp.helpers import get_env_proxy_for_url

        try:
            proxy, auth = get_env_proxy_for_url(self._url)
        except LookupError:
            return {}
        return {"proxy": proxy, "proxy_auth": auth}


async def _read(response: aiohttp.ClientResponse) -> bytes:
    first = await response.content.readany()
    if response.content.at_eof():
        return first
    parts = [first]
    length = len(first)
    async for part in response.content.iter_any():
        parts.append(part)
        length += len(part)
        if length > LONGEST_ANSWER:
            response.close()
            raise NotAnAnswer(f"The answer is longer than {LONGEST_ANSWER:,} bytes.")
    return b"".join(parts)
