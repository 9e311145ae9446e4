"""Models of providers, and of servers that speak OpenAI's API, asked through litellm."""

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
from weakref import WeakKeyDictionary

from toolbelt.evals.conversation import Reply, Usage
from toolbelt.evals.models.hosted_errors import make_model_error
from toolbelt.evals.models.hosted_messages import sendable
from toolbelt.evals.models.hosted_replies import make_reply
from toolbelt.evals.models.model import TOOL_CHOICES, Failure, ModelError, Request, Sampling
from toolbelt.evals.offers import Offer
from toolbelt.providers.models import ModelTable
from toolbelt.providers.prices import Prices, find_prices

if TYPE_CHECKING:
    from toolbelt.evals.models.hosted_wire import Wire

PLACEHOLDER_KEY = "none-needed"
"""Sent to an endpoint of one's own where no key is set: the client refuses to send none."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)")
_KEY_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$|BEARER_TOKEN")
_texts: WeakKeyDictionary[Offer, str] = WeakKeyDictionary()
"""The definitions of an offer as JSON, written once."""


@dataclass(frozen=True)
class Route:
    """How a model is reached.

    Attributes:
        model: Its name as litellm is told it.
        provider: litellm's word for who serves it.
        api_base: Where; the provider's own place if `None`.
        needs_placeholder: Whether a key must be made up because none is set.
        passes_tools_on: Whether the endpoint takes definitions as they are. Then they go to litellm as part of the
            body, past the client's look into every corner of every schema, which costs more than all the rest; what
            goes over the wire is the same.
        takes_seed: Whether the provider takes a seed.
    """

    model: str
    provider: str
    api_base: str | None = None
    needs_placeholder: bool = False
    passes_tools_on: bool = False
    takes_seed: bool = True


class HostedModel:
    """A model asked through litellm.

    `Reply.latency_seconds` runs from the writing of the request to its socket to the arrival of the answer's last
    byte: see `toolbelt.evals.models.hosted_wire`. For the few providers that litellm asks over connections of its own
    (Azure, Bedrock and such), it is taken around the call, time spent queueing here and all.

    A seed is left out for providers that take none. Nothing else is: a temperature or a tool choice that a provider
    does not take is a `ModelError` (`bad_request`), not an answer to another question.

    Args:
        name: As it is written on the command line.
        route: How it is reached.
        timeout_seconds: For a whole request, its time in our own queue included.
        table: What is known of models.
    """

    def __init__(
        self, name: str, route: Route, timeout_seconds: float = 120.0, table: ModelTable | None = None
    ) -> None:
        self._name = name
        self._route = route
        self._timeout_seconds = timeout_seconds
        self._table = table or ModelTable()
        self._wire: Wire | None = None

    @property
    def name(self) -> str:
        """As it is written on the command line."""
        return self._name

    async def complete(self, request: Request) -> Reply:
        """Ask, once; raises `ModelError` and nothing else."""
        from toolbelt.evals.models import hosted_client
        from toolbelt.evals.models.hosted_wire import Timing, Wire, timing_here

        if self._wire is None or not self._wire.is_open_here:
            hosted_client.hush()
            self._wire = Wire.take()
        timing = Timing()
        before = timing_here.set(timing)
        began = time.perf_counter()

        def took() -> float:
            return time.perf_counter() - began if timing.seconds is None else timing.seconds

        try:
            arguments = self._arguments(request)
            async with asyncio.timeout(self._timeout_seconds):
                response = await hosted_client.complete({**arguments, "shared_session": self._wire.session})
            return make_reply(response, took(), self._keys)
        except ModelError as refused:
            failure = refused
        except TimeoutError:
            said = f"No answer within {self._timeout_seconds:g} s."
            failure = ModelError(Failure.TIMEOUT, said, latency_seconds=time.perf_counter() - began)
        except Exception as error:  # noqa: BLE001  litellm raises what it likes
            failure = make_model_error(error, timing.status, _secrets(os.environ), took())
        finally:
            timing_here.reset(before)
        # Raised out here, where no other error is under way: what litellm raises may hold the headers, key and all.
        raise failure

    def cost_usd(self, usage: Usage) -> float | None:
        """By toolbelt.yaml, else litellm's table; `None` where the price, or the number of tokens, is unknown."""
        prices = self._prices
        if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return prices.cost_usd(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_read_tokens or 0,
            usage.cached_write_tokens or 0,
        )

    async def close(self) -> None:
        """Let go of the connections, and of what litellm keeps if no other model is asked on this loop."""
        wire, self._wire = self._wire, None
        if wire is not None and await wire.let_go():
            from toolbelt.evals.models.hosted_client import forget_clients

            await forget_clients()

    @cached_property
    def _keys(self) -> list[str]:
        """Read once: going through the environment for every answer costs as much as scoring it."""
        return _echoed(os.environ)

    @cached_property
    def _prices(self) -> Prices | None:
        return find_prices(self._name, self._table)

    def _arguments(self, request: Request) -> dict[str, Any]:
        """What litellm is given."""
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
        if sampling.temperature is not None:
            arguments["temperature"] = sampling.temperature
        if sampling.seed is not None and route.takes_seed:
            arguments["seed"] = sampling.seed
        if sampling.max_tokens is not None:
            arguments["max_tokens"] = sampling.max_tokens
        if request.offer.tools:
            arguments.update(self._tool_arguments(request.offer, sampling))
        return arguments

    def _tool_arguments(self, offer: Offer, sampling: Sampling) -> dict[str, Any]:
        shared = self._route.passes_tools_on and self._takes_as_is(offer)
        # litellm changes definitions in place for some providers, so that these get a copy of their own.
        tools: dict[str, Any] = {"tools": offer.definitions if shared else json.loads(_text(offer))}
        if sampling.tool_choice is not None:
            choice = sampling.tool_choice
            tools["tool_choice"] = (
                choice if choice in TOOL_CHOICES else {"type": "function", "function": {"name": choice}}
            )
        return {"extra_body": tools} if shared else tools

    def _takes_as_is(self, offer: Offer) -> bool:
        # litellm takes these two out of schemas for vLLM; what is sent has to be the same either way.
        touched = self._route.provider == "hosted_vllm" and ("additionalProperties", "strict")
        return not (touched and any(f'"{word}"' in _text(offer) for word in touched))


def _text(offer: Offer) -> str:
    text = _texts.get(offer)
    if text is None:
        text = _texts[offer] = json.dumps(offer.definitions)
    return text


def _secrets(environment: Mapping[str, str]) -> list[str]:
    """Values that must not be shown."""
    return [value for name, value in environment.items() if _SECRET_NAME.search(name.upper()) and len(value) >= 8]


def _echoed(environment: Mapping[str, str]) -> list[str]:
    """Values that are taken out of answers.

    Fewer than of `_secrets`: an answer is scored by its words, and `none-needed` or `standard`, set for some program
    or for a server that wants no key, may well be one of them.
    """
    found = (value for name, value in environment.items() if _KEY_NAME.search(name.upper()))
    return [value for value in found if len(value) >= 8 and (len(value) >= 20 or re.search(r"\d", value))]
