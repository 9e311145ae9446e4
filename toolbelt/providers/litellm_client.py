"""A client that asks a model through litellm."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolbelt.providers.chat import ChatReply, ChatRequest, Failure, ModelError, Sampling, ToolDefinitions
from toolbelt.providers.chat_body import STRIPS_SCHEMAS, choice_field, sampling_fields, sendable
from toolbelt.providers.litellm_messages import make_reply
from toolbelt.providers.provider_errors import make_model_error

if TYPE_CHECKING:
    from toolbelt.providers.timed_http import TimedConnections

PLACEHOLDER_KEY = "none-needed"
"""Sent to the user's own endpoint if no key is set, as the client requires a key."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)")
_KEY_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$|BEARER_TOKEN")
_PROVIDERS_KEY_NAME = re.compile(
    r"_(API_?KEY|API_TOKEN|AUTH_TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)$"
    r"|^(HF_TOKEN|AWS_BEARER_TOKEN_BEDROCK)$"
)
"""Names of the keys that are sent to providers, so that a server can echo them."""
_SHORTEST_KEY = 4
"""Characters; what is shorter protects nothing, and occurs in every answer."""
_NO_KEYS = frozenset(
    {
        PLACEHOLDER_KEY, "anything", "changeme", "default", "dummy", "empty", "false", "key", "lm-studio", "local",
        "no-key", "none", "not-needed", "null", "ollama", "placeholder", "sk-no-key-required", "test", "token", "true",
        "vllm",
    }
)  # fmt: skip
"""What people set for a server that wants no key: words of answers, whose removal would change scores."""


@dataclass(frozen=True)
class Route:
    """How a model is reached.

    Attributes:
        model: The name that litellm gets.
        provider: litellm's name of the provider.
        api_base: Address of the API; `None` for the provider's own.
        needs_placeholder: Whether a placeholder key must be sent because no key is set.
        passes_tools_on: Whether the endpoint takes definitions as they are. Then litellm gets them as a part of the
            body, and the client does not inspect every schema, which costs more than all the rest. The request on the
            wire is the same.
        takes_seed: Whether the provider takes a seed.
    """

    model: str
    provider: str
    api_base: str | None = None
    needs_placeholder: bool = False
    passes_tools_on: bool = False
    takes_seed: bool = True


class LitellmClient:
    """Asks a model through litellm.

    `ChatReply.latency_seconds` runs from the writing of the request to its socket to the arrival of the answer's last
    byte: see `toolbelt.providers.timed_http`. A few providers (Azure, Bedrock and such) are asked by litellm over
    connections of its own: there it is measured around the call, with the time spent queueing here.

    A seed is left out for providers that take none. Nothing else is: a temperature or a tool choice that a provider
    does not take is a `ModelError` (`bad_request`), not an answer to another question.

    Args:
        route: How the model is reached.
        timeout_seconds: For a whole request, its time in our own queue included.
    """

    def __init__(self, route: Route, timeout_seconds: float) -> None:
        self._route = route
        self._timeout_seconds = timeout_seconds
        self._connections: TimedConnections | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; raises `ModelError` and nothing else."""
        from toolbelt.providers import litellm_loading
        from toolbelt.providers.timed_http import TimedConnections, Timing, current_timing

        if self._connections is None or not self._connections.is_open_here:
            litellm_loading.silence_warnings()
            self._connections = TimedConnections.take()
        timing = Timing()
        token = current_timing.set(timing)
        start = time.perf_counter()

        def elapsed_seconds() -> float:
            return time.perf_counter() - start if timing.seconds is None else timing.seconds

        try:
            arguments = {**self._arguments(request), "shared_session": self._connections.session}
            async with asyncio.timeout(self._timeout_seconds):
                response = await litellm_loading.complete(arguments)
            return make_reply(response, elapsed_seconds(), self._keys)
        except ModelError as refusal:
            failure = refusal
        except TimeoutError:
            message = f"No answer within {self._timeout_seconds:g} s."
            failure = ModelError(Failure.TIMEOUT, message, latency_seconds=time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001  litellm raises what it likes
            failure = make_model_error(error, timing.status, _secrets(os.environ), elapsed_seconds())
        finally:
            current_timing.reset(token)
        # Raised out here, where no other error is under way: what litellm raises may hold the headers, key and all.
        raise failure

    async def close(self) -> None:
        """Release the connections, and litellm's clients if no other model uses this loop."""
        connections, self._connections = self._connections, None
        if connections is not None and await connections.release():
            from toolbelt.providers.litellm_loading import forget_clients

            await forget_clients()

    @cached_property
    def _keys(self) -> list[str]:
        """Read once: going through the environment for every answer costs as much as scoring it."""
        return _echoed(os.environ)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments for litellm."""
        route, sampling = self._route, request.sampling
        arguments: dict[str, Any] = {
            "model": route.model,
            "messages": [sendable(message) for message in request.messages],
            "timeout": self._timeout_seconds,
            "max_retries": 0,
            "num_retries": 0,
        }
        if route.api_base is not None:
            arguments["api_base"] = route.api_base
        if route.needs_placeholder:
            arguments["api_key"] = PLACEHOLDER_KEY
        arguments |= sampling_fields(sampling)
        if not route.takes_seed:
            arguments.pop("seed", None)
        if request.tools.definitions:
            arguments.update(self._tool_arguments(request.tools, sampling))
        return arguments

    def _tool_arguments(self, tools: ToolDefinitions, sampling: Sampling) -> dict[str, Any]:
        shared = self._route.passes_tools_on
        if not shared:  # litellm changes definitions in place for some providers, so that these get a copy of their own
            definitions = json.loads(tools.body)
        else:
            definitions = tools.stripped if self._route.provider in STRIPS_SCHEMAS else tools.definitions
        arguments: dict[str, Any] = {"tools": definitions}
        if sampling.tool_choice is not None:
            arguments["tool_choice"] = choice_field(sampling.tool_choice)
        return {"extra_body": arguments} if shared else arguments


def _secrets(environment: Mapping[str, str]) -> list[str]:
    """Values that must not be shown."""
    values = [value for name, value in environment.items() if _SECRET_NAME.search(name.upper()) and len(value) >= 8]
    return [*values, *_providers_keys(environment)]


def _providers_keys(environment: Mapping[str, str]) -> list[str]:
    """Keys of providers, whatever they look like, but for the words that stand for none."""
    values = (value for name, value in environment.items() if _PROVIDERS_KEY_NAME.search(name.upper()))
    keys = [value for value in values if len(value) >= _SHORTEST_KEY and value.casefold() not in _NO_KEYS]
    return [*keys, *(escaped for key in keys if (escaped := json.dumps(key)[1:-1]) != key)]


def _echoed(environment: Mapping[str, str]) -> list[str]:
    """Values that are removed from answers: every key of a provider, and of other programs what looks like a key.

    The latter are fewer than those of `_secrets`. An answer is scored by its words, and variables of other programs may
    hold common words, such as `standard`; a server is sent none of them.
    """
    values = (value for name, value in environment.items() if _KEY_NAME.search(name.upper()))
    others = [value for value in values if len(value) >= 8 and (len(value) >= 20 or re.search(r"\d", value))]
    return [*others, *_providers_keys(environment)]
