"""One request for embeddings: `POST …/embeddings` of OpenAI's API, or a call of litellm."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Sequence
from typing import Any, Protocol

from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import Usage
from toolbelt.providers.chat_reply import make_usage, read_field
from toolbelt.providers.direct_answers import NotAnAnswer
from toolbelt.providers.direct_http import DirectHttp
from toolbelt.providers.known_keys import PLACEHOLDER_KEY
from toolbelt.providers.litellm_calls import LitellmCalls
from toolbelt.providers.litellm_client import Route
from toolbelt.text import plural


class EmbeddingRequests(Protocol):
    """Asks one model."""

    async def ask(self, texts: Sequence[str]) -> tuple[list[array[float]], Usage]:
        """Vectors of texts and the tokens that they took; once, raises `ModelError` and nothing else."""
        ...

    async def close(self) -> None:
        """Release the connections."""
        ...


class DirectRequests:
    """Asks an endpoint of OpenAI's API.

    Args:
        model: As the endpoint knows it.
        http: To the endpoint.
    """

    def __init__(self, model: str, http: DirectHttp) -> None:
        self._model = model
        self._http = http

    async def ask(self, texts: Sequence[str]) -> tuple[list[array[float]], Usage]:
        """Ask once."""
        body = json.dumps({"model": self._model, "input": texts}, separators=(",", ":")).encode()
        return await self._http.post(body, lambda answer: _read_vectors(answer, len(texts)))

    async def close(self) -> None:
        """Release the connections."""
        await self._http.close()


class LitellmRequests:
    """Asks through litellm.

    Args:
        route: How the model is reached.
        timeout_seconds: For a whole request.
    """

    def __init__(self, route: Route, timeout_seconds: float) -> None:
        self._arguments: dict[str, Any] = {"model": route.model}
        if route.api_base is not None:
            self._arguments["api_base"] = route.api_base
        if route.needs_placeholder:
            self._arguments["api_key"] = PLACEHOLDER_KEY
        self._calls = LitellmCalls(timeout_seconds)

    async def ask(self, texts: Sequence[str]) -> tuple[list[array[float]], Usage]:
        """Ask once."""
        from toolbelt.providers import litellm_loading

        arguments = {**self._arguments, "input": list(texts)}
        return await self._calls.call(litellm_loading.embed, arguments, lambda it: _read_vectors(it, len(texts)))

    async def close(self) -> None:
        """Release the connections."""
        await self._calls.close()


def _read_vectors(answer: Answer, count: int) -> tuple[list[array[float]], Usage]:
    """The vectors of an answer, in the order of the texts."""
    rows = read_field(answer.data, "data")
    if not isinstance(rows, list) or len(rows) != count:
        raise NotAnAnswer(f"The answer does not have {plural(count, 'embedding')}.")
    numbers = [read_field(row, "index") for row in rows]
    if all(number is None for number in numbers):
        numbers = list(range(count))  # some servers leave it out, and keep the order
    if {*numbers} != {*range(count)} or any(type(number) is not int for number in numbers):
        raise NotAnAnswer("The embeddings of the answer are not numbered one after the other.")
    by_number = {number: _read_vector(read_field(row, "embedding")) for number, row in zip(numbers, rows, strict=True)}
    vectors = [by_number[number] for number in range(count)]
    if len({len(vector) for vector in vectors}) != 1:
        raise NotAnAnswer("The embeddings of the answer differ in length.")
    return vectors, make_usage(read_field(answer.data, "usage"), is_empty=True)


def _read_vector(written: object) -> array[float]:
    if not isinstance(written, list):
        raise NotAnAnswer("An embedding of the answer is not a list of numbers.")
    try:
        vector = array("f", written)
    except (TypeError, OverflowError):
        raise NotAnAnswer("An embedding of the answer is not a list of numbers.") from None
    if not math.isfinite(sum(vector)) or not any(vector):
        raise NotAnAnswer("An embedding of the answer has no direction.")
    return vector
