"""The seam to a model's API: a request and its reply as plain values, the ways to fail, and a client's protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Protocol

from toolbelt.errors import ToolbeltError
from toolbelt.text import plural, visible


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reports them; `None` where it reports nothing.

    Attributes:
        prompt_tokens: All tokens of the request, cached ones among them.
        completion_tokens: Tokens of the answer, those of reasoning among them.
        cached_read_tokens: Prompt tokens read from the provider's cache.
        cached_write_tokens: Prompt tokens written to it.
        reasoning_tokens: Tokens of the answer that were spent on reasoning.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None
    reasoning_tokens: int | None = None


NOTHING_REPORTED = Usage()
"""The usage of a provider that reports none."""


Turn = Mapping[str, Any]
"""What a vendor sent as the assistant's turn, to be sent back unchanged (rule V4), as JSON.

`api` is the value of the `Api` that it came over. Of Messages and Responses, `items` has all content blocks or output
items. Of chat completions, `message` has the fields of the message beside its text and calls, and `calls` those of each
call beside its id, name and arguments.
"""


def is_turn(value: object) -> bool:
    """Whether a value, read from a file, is a `Turn`."""
    if not isinstance(value, dict) or not isinstance(value.get("api"), str):
        return False
    if value["api"] == "chat":
        lists, is_rest_right = [value.get("calls")], isinstance(value.get("message"), dict)
    else:
        lists, is_rest_right = [value.get("items")], True
    return is_rest_right and all(
        isinstance(each, list) and all(isinstance(item, dict) for item in each) for each in lists
    )


TOOL_CHOICES = ("auto", "required", "none")
"""The fixed values of `tool_choice`; any other value is a tool's name."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked; `None` leaves it to the provider.

    Attributes:
        temperature: 0 for the likeliest answer.
        seed: For providers that take one.
        tool_choice: `auto`, `required`, `none`, or a tool's wire name.
        max_tokens: The longest answer, in tokens; of a model that reasons, with its reasoning.
        effort: How much it reasons, in the provider's words: see `toolbelt.models.facts.EFFORTS`.
        params: Further fields of the request's body, as plain values of JSON.
    """

    temperature: float | None = None
    seed: int | None = None
    tool_choice: str | None = None
    max_tokens: int | None = None
    effort: str | None = None
    params: Mapping[str, Any] | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """What is not left to the provider."""
        return {key: value for key, value in asdict(self).items() if value is not None}


class Failure(StrEnum):
    """Why a model did not answer."""

    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    """Connection refused or reset, or a status of 500 and above."""
    BROKEN_ANSWER = "broken_answer"
    """The answer was cut short, is empty without a token spent on it, or is not an answer of this API."""
    TOOLS_NOT_SEEN = "tools_not_seen"
    """The server answered, but had dropped the tools or cut the prompt."""
    CALL_IN_TEXT = "call_in_text"
    """The server left the model's call in the text of its answer."""
    BROKEN_CALL = "broken_call"
    """The model called a tool in a form that the server cannot read, and the server refuses the answer for it."""
    CONTEXT_OVERFLOW = "context_overflow"
    REFUSED = "refused"
    """The provider's content filter, or the model, refused to answer."""
    AUTHENTICATION = "authentication"
    """Missing or wrong key, or no right to this model."""
    NOT_FOUND = "not_found"
    """No such model there."""
    BAD_REQUEST = "bad_request"
    """The provider says the request is wrong."""
    REQUEST_TOO_LARGE = "request_too_large"
    """More tokens than the account may ever send at once: a smaller request passes, this one never does."""
    QUOTA = "quota"
    """The account has no credit left, or has reached a limit that does not end by waiting."""

    @property
    def is_passing(self) -> bool:
        """Whether asking again may help: `transient` in `toolbelt.providers.reply_forms`."""
        return self in (Failure.RATE_LIMIT, Failure.TIMEOUT, Failure.UNAVAILABLE, Failure.BROKEN_ANSWER)

    @property
    def is_for_good(self) -> bool:
        """Whether no other request of this model can do better."""
        return self in (Failure.AUTHENTICATION, Failure.NOT_FOUND, Failure.QUOTA)


class NotStoredError(ToolbeltError):
    """Nothing may be asked, and vectors are needed that no earlier command has stored.

    Attributes:
        model: Its name.
        texts: How many are missing.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, model: str, texts: int) -> None:
        self.model = model
        self.texts = texts
        super().__init__(
            f"--offline opens no connection, and {plural(texts, 'text')} have no stored embeddings by "
            f"{visible(model)}. Run the same once without --offline."
        )


class ModelError(Exception):
    """A model did not answer.

    Attributes:
        failure: The reason.
        message: The provider's message, on one line, without keys.
        retry_after_seconds: The wait that the provider asks for; `None` if it does not say.
        latency_seconds: Duration of the request.
        usage: Tokens of the request, if the provider reports them for a refusal.
        hold_seconds: Until there is something left of the provider's limits; 0 where there is.
        may_pass: Whether the provider says that asking again may help; `None` where the failure decides.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        retry_after_seconds: float | None = None,
        latency_seconds: float = 0.0,
        usage: Usage = NOTHING_REPORTED,
        hold_seconds: float = 0.0,
        may_pass: bool | None = None,
    ) -> None:
        self.failure = failure
        self.message = message
        self.retry_after_seconds = retry_after_seconds
        self.latency_seconds = latency_seconds
        self.usage = usage
        self.hold_seconds = hold_seconds
        self.may_pass = may_pass
        super().__init__(f"{failure}: {message}")


PROVIDER_DEFAULTS = Sampling()
"""Everything is left to the provider."""


Definer = Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]
"""Writes definitions in OpenAI's form in that of another API."""


@dataclass(frozen=True, eq=False)
class ToolDefinitions:
    """Tools that a model may call.

    Attributes:
        definitions: In OpenAI's form; those of `toolbelt.providers.hosted_search` say more.
    """

    definitions: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def body(self) -> bytes:
        """The definitions as JSON in ASCII, written once."""
        return json.dumps(self.definitions, separators=(",", ":")).encode()

    def write(self, form: Definer) -> bytes:
        """The definitions in the form of another API, as JSON in ASCII, written once for each form."""
        if form not in self._written:
            self._written[form] = ToolDefinitions(form(self.definitions)).body
        return self._written[form]

    @cached_property
    def _written(self) -> dict[Definer, bytes]:
        return {}

    @cached_property
    def stripped(self) -> Sequence[Mapping[str, Any]]:
        """The definitions without the two things in schemas that litellm takes out for vLLM; made once."""
        if b'"strict"' not in self.body and b'"additionalProperties"' not in self.body:
            return self.definitions
        stripped: list[Mapping[str, Any]] = _stripped(json.loads(self.body))
        return stripped

    @cached_property
    def stripped_body(self) -> bytes:
        """`stripped` as JSON in ASCII, written once."""
        return self.body if self.stripped is self.definitions else ToolDefinitions(self.stripped).body


A_TOOL = ToolDefinitions(
    ({"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {}}}},)
)
"""For a request that is written to see what becomes of its settings, and is not sent."""


def _stripped(schema: Any) -> Any:
    """A schema without `strict` and `additionalProperties: false`. An argument named `strict` stays."""
    if isinstance(schema, list):
        return [_stripped(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _stripped(value)
        for key, value in schema.items()
        if not (key == "strict" and isinstance(value, bool)) and not (key == "additionalProperties" and value is False)
    }


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model's API.

    Attributes:
        messages: The conversation so far, in OpenAI's form; an assistant's message may have a `turn` (`Turn`).
        tools: The tools to choose from.
        sampling: How to ask.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: ToolDefinitions
    sampling: Sampling = PROVIDER_DEFAULTS


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A call that a model asks for.

    Attributes:
        id: Unique within the reply.
        name: As the model wrote it.
        arguments: As the model wrote them: a text that need not be JSON.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's answer to one request.

    Attributes:
        text: What it said; may be empty.
        calls: The calls it asked for, in order.
        usage: Tokens, as reported.
        finish_reason: As the provider words it.
        served_by: The model that answered, as the provider names it.
        latency_seconds: From sending the request to having the answer, without time spent queueing here.
        fingerprint: Of the build and settings that answered (`system_fingerprint`); empty where none is reported.
        hold_seconds: Until there is something left of the provider's limits; 0 where there is.
        thoughts: The model's reasoning, where the server keeps it apart from what it said.
        turn: What is to be sent back in place of text and calls, or beside them; `None` where these are all there is.
        dropped: Names of the parts of earlier turns that were not sent back, or that the vendor did not show the model.
    """

    text: str
    calls: tuple[ChatCall, ...]
    usage: Usage
    finish_reason: str
    served_by: str
    latency_seconds: float
    fingerprint: str = ""
    hold_seconds: float = 0.0
    thoughts: str = ""
    turn: Turn | None = None
    dropped: tuple[str, ...] = ()


class ChatClient(Protocol):
    """Asks one model over one transport."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once, without retries.

        Raises:
            ModelError: there is no answer; every failure of a provider or a network raises this.
        """
        ...

    async def close(self) -> None:
        """Close connections that no other client uses."""
        ...
