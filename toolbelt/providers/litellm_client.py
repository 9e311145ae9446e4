"""A client that asks a model through litellm."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from toolbelt.providers.answer import Answer
from toolbelt.providers.chat import A_TOOL, ChatReply, ChatRequest, Sampling, ToolDefinitions
from toolbelt.providers.chat_body import (
    SENT_BACK,
    SENT_BACK_DIRECTLY,
    STRIPS_SCHEMAS,
    chat_message,
    choice_field,
    find_dropped,
    sampling_fields,
    sendable,
)
from toolbelt.providers.chat_reply import make_reply
from toolbelt.providers.known_keys import PLACEHOLDER_KEY
from toolbelt.providers.litellm_calls import LitellmCalls

_TRANSLATED = frozenset({"reasoning_content", "thinking_blocks", "provider_specific_fields"})
"""Parts of a turn that litellm puts into another API's form: thinking with its signatures, and signatures of calls."""
_SENT_BACK: Mapping[str, Collection[str]] = MappingProxyType(
    {
        **dict.fromkeys(("anthropic", "bedrock", "bedrock_converse", "databricks", "gemini", "vertex_ai"), _TRANSLATED),
        **dict.fromkeys(("azure_ai", "ollama_chat", "vertex_ai_beta"), _TRANSLATED),
        **dict.fromkeys(("cerebras", "cohere", "cohere_chat", "mistral"), ()),
    }
)
"""Parts of a turn that are sent back, by provider, where these are not `SENT_BACK`.

Of Mistral's and Cohere's reasoning litellm keeps only the text, which their APIs do not take; nor does Cerebras. All
others speak OpenAI's form: litellm sends them every field of a message as it is, so that its own must not be in it.
"""


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
        self._calls = LitellmCalls(timeout_seconds)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; raises `ModelError` and nothing else."""
        from toolbelt.providers import litellm_loading

        dropped = find_dropped(request.messages, "chat", self._sent_back)
        return await self._calls.call(
            litellm_loading.complete, self._arguments(request), lambda answer: self._read(answer, dropped)
        )

    @property
    def sender(self) -> str:
        """Who maps the settings, as a user knows it."""
        return "litellm"

    def map_settings(self, sampling: Sampling) -> Mapping[str, Any]:
        """The settings as litellm would send them with a tool, by the provider's names; nothing is sent.

        Raises:
            ModelError: litellm does not send them (`bad_request`).
        """
        from toolbelt.providers import litellm_loading

        return litellm_loading.map_settings(self._arguments(ChatRequest((), A_TOOL, sampling)))

    async def close(self) -> None:
        """Release the connections, and litellm's clients if no other model uses this loop."""
        await self._calls.close()

    @property
    def _sent_back(self) -> Collection[str]:
        if self._route.passes_tools_on:
            return SENT_BACK_DIRECTLY
        return _SENT_BACK.get(self._route.provider, SENT_BACK)

    def _read(self, answer: Answer, dropped: tuple[str, ...]) -> ChatReply:
        reply = make_reply(answer.data, answer.seconds, answer.keys, answer.hold_seconds, dropped=dropped)
        # For some litellm puts its own name of the provider before the model's.
        served_by = reply.served_by.removeprefix(f"{self._route.provider}/" if self._route.passes_tools_on else "")
        return replace(reply, served_by=served_by)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        """The arguments for litellm."""
        route, sampling = self._route, request.sampling
        arguments: dict[str, Any] = {
            "model": route.model,
            "messages": [sendable(chat_message(message, self._sent_back)) for message in request.messages],
        }
        if route.api_base is not None:
            arguments["api_base"] = route.api_base
        if route.needs_placeholder:
            arguments["api_key"] = PLACEHOLDER_KEY
        fields = sampling_fields(sampling)
        if not route.takes_seed:
            fields.pop("seed", None)
        passed_on: dict[str, Any] = {}
        if route.passes_tools_on:  # litellm would refuse an effort for some, and drop fields that it does not know
            passed_on, fields = fields, {}
            for name in passed_on.keys() & {"temperature", "seed", "max_tokens"}:
                fields[name] = passed_on.pop(name)
        if request.tools.definitions:
            (passed_on if route.passes_tools_on else fields).update(self._tool_fields(request.tools, sampling))
        return arguments | fields | ({"extra_body": passed_on} if passed_on else {})

    def _tool_fields(self, tools: ToolDefinitions, sampling: Sampling) -> dict[str, Any]:
        if not self._route.passes_tools_on:  # litellm changes definitions in place for some: these get a copy
            definitions = json.loads(tools.body)
        else:
            definitions = tools.stripped if self._route.provider in STRIPS_SCHEMAS else tools.definitions
        choice = sampling.tool_choice
        return {"tools": definitions} | ({} if choice is None else {"tool_choice": choice_field(choice)})
