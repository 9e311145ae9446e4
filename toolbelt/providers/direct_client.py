"""A client that asks an endpoint directly, without litellm, over one of three APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import A_TOOL, ChatReply, ChatRequest, Sampling
from toolbelt.providers.chat_body import SENT_BACK_DIRECTLY, chat_body, find_dropped
from toolbelt.providers.chat_reply import find_turn, make_reply
from toolbelt.providers.direct_answers import normalise
from toolbelt.providers.direct_http import DirectHttp
from toolbelt.providers.endpoints import Api, Endpoint
from toolbelt.providers.messages_api import messages_body, read_message
from toolbelt.providers.responses_api import find_withheld, read_response, responses_body


class DirectClient:
    """Asks one model at an endpoint.

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
        dropped = find_dropped(request.messages, self._endpoint.api.word, SENT_BACK_DIRECTLY)
        return await self._http.post(self._write(request), lambda answer: self._read(answer, dropped))

    @property
    def sender(self) -> str:
        """Who maps the settings, as a user knows it."""
        return "toolbelt"

    def map_settings(self, sampling: Sampling) -> Mapping[str, Any]:
        """The settings as they would be sent with a tool, by the vendor's names; nothing is sent."""
        body: dict[str, Any] = json.loads(self._write(ChatRequest((), A_TOOL, sampling)))
        return {name: value for name, value in body.items() if name not in ("model", "messages", "input", "tools")}

    async def close(self) -> None:
        """Release the connections."""
        await self._http.close()

    def _write(self, request: ChatRequest) -> bytes:
        endpoint = self._endpoint
        if endpoint.api is Api.MESSAGES:
            return messages_body(endpoint.model, request, endpoint.output_limit, has_budgets=endpoint.has_budgets)
        if endpoint.api is Api.RESPONSES:
            return responses_body(endpoint.model, request, reasons=endpoint.reasons)
        return chat_body(endpoint.model, request, endpoint.provider)

    def _read(self, answer: Answer, dropped: tuple[str, ...]) -> ChatReply:
        data = answer.data
        if self._endpoint.api is Api.MESSAGES:
            data, turn = read_message(data)
        elif self._endpoint.api is Api.RESPONSES:
            dropped += find_withheld(data)
            data, turn = read_response(data)
        else:
            data = normalise(data)
            turn = find_turn(data["choices"][0]["message"]) if data["choices"] else None
        return make_reply(data, answer.seconds, answer.keys, answer.hold_seconds, turn, dropped)
