"""A client that asks an endpoint of OpenAI's chat completions directly, without litellm."""

from __future__ import annotations

from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import ChatReply, ChatRequest
from toolbelt.providers.chat_body import chat_body
from toolbelt.providers.chat_reply import make_reply
from toolbelt.providers.direct_answers import normalise
from toolbelt.providers.direct_http import DirectHttp
from toolbelt.providers.endpoints import Endpoint


class DirectClient:
    """Asks one model at an endpoint of OpenAI's chat completions.

    `ChatReply.latency_seconds` runs from the writing of the request to its socket to the arrival of the answer's last
    byte: see `toolbelt.providers.timed_http`. A request is sent once: a connection that breaks, also one that the
    server had closed while it was not in use, is a `ModelError` (`unavailable`).

    Args:
        endpoint: Who is asked.
        timeout_seconds: For a whole request, its time in our own queue included.
    """

    def __init__(self, endpoint: Endpoint, timeout_seconds: float) -> None:
        self._endpoint = endpoint
        self._http = DirectHttp(endpoint, timeout_seconds)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; raises `ModelError` and nothing else."""
        return await self._http.post(chat_body(self._endpoint.model, request, self._endpoint.provider), _read_reply)

    async def close(self) -> None:
        """Release the connections."""
        await self._http.close()


def _read_reply(answer: Answer) -> ChatReply:
    return make_reply(normalise(answer.data), answer.seconds, answer.keys, answer.hold_seconds)
