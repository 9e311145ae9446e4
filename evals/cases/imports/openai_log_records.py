"""Read a record of a message log, in any of the shapes that logs have: messages, offered tools, and the response.

- `{"messages": […], "tools": […]}`, as used for fine-tuning; `functions` in place of `tools` in older ones;
- a request with its response, `{"request": {…}, "response": {…}}` or under the names in `_REQUESTS` and `_RESPONSES`,
  as proxies and tracers keep them; `{"messages": […], "response": {…}}`, as litellm's log has it, whose tools are in
  `model_parameters` or `optional_params`;
- a stored completion: `choices` beside `messages` or a request;
- preferences: an `input` with a `preferred_output`, which counts as the response;
- a batch: `{"custom_id", "body"}`, whose response is a record of its own (`toolbelt.evals.cases.imports.sources`);
- the Responses API: `input`, `instructions` and `output`, whose items become messages;
- ShareGPT, as LLaMA-Factory has it: `conversations` of `from` and `value`, with `function_call` and `observation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import content_text
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.messages import Message, check_messages, is_item, openai_call
from toolbelt.providers.direct_answers import has_error, keep_one_choice
from toolbelt.providers.reply_forms import Fault, find_form
from toolbelt.sources import parse_json

_REQUESTS = ("request", "body", "kwargs", "input", "inputs", "request_body", "requestBody", "invocation_params")
_RESPONSES = ("response", "output", "outputs", "preferred_output", "completion", "response_body", "responseBody")
_PARAMETERS = ("model_parameters", "optional_params", "modelParameters", "kwargs", "params", "invocation_params")
_SPEAKERS = {"human": "user", "gpt": "assistant"}
_IDS = ("id", "custom_id", "request_id", "trace_id", "uuid")
_UNFINISHED = ["incomplete", "failed", "cancelled"]  # a list, which anything can be looked for in
"""States of an answer of the Responses API; other words under `status` are of whoever wrote the log."""
_STREAMED = ("data:", "event:")
BROKEN_CALL = "the server could not read the model's call"
IN_PIECES = "the response is in pieces, as it was streamed"
_NO_CONVERSATION = "There is no list of messages in this record."


@dataclass(frozen=True, slots=True)
class LoggedExchange:
    """A request with its response, or a conversation.

    Attributes:
        messages: The request; the whole conversation if `answer` is `None`.
        answer: One or several messages of the response; `None` if `messages` includes them.
        tools: The tools as offered; `None` if the record does not mention tools.
        tool_choice: As in the request; also the older `function_call`.
        id: Of the record; empty if it has none.
        choices: Number of alternative answers in the response; `answer` is the first.
        own_tools: Names of tools that the agent brings along, such as `Bash`; a catalog need not have them.
        is_trace: Whether an agent's steps were recorded; then calls of one tool in a row count once.
    """

    messages: list[Message]
    answer: list[Message] | None
    tools: list[Any] | None
    tool_choice: Any = None
    id: str = ""
    choices: int = 1
    own_tools: frozenset[str] = frozenset()
    is_trace: bool = False


def looks_like_exchange(data: Any) -> bool:
    """Whether a record might be one of a message log."""
    return isinstance(data, Mapping) and (_find_request(data) is not None or is_batch_response(data))


def is_batch_response(data: Mapping[str, Any]) -> bool:
    """Whether it is only the response of a batch, which names its request by `custom_id`."""
    return "custom_id" in data and "response" in data and _find_request(data) is None


def read_exchange(data: Any, earlier: Callable[[str], list[Message] | None] = lambda _: None) -> LoggedExchange:
    """Read a record.

    Args:
        data: The record.
        earlier: The conversation up to a response of the Responses API, by its id.

    Raises:
        BrokenError: it has no known shape, or a mistake.
        UnmappedError: the response is an error, in pieces, or cut off.
    """
    request = _find_request(data) if isinstance(data, Mapping) else None
    if request is None or not isinstance(data, Mapping):
        raise BrokenError("no-messages", _NO_CONVERSATION)
    previous = request.get("previous_response_id")
    before = earlier(str(previous)) if previous else []
    if before is None or request.get("conversation"):
        raise UnmappedError("it goes on from what stands in another record")
    messages = [*before, *check_messages(in_roles(request.get("messages")))]
    if system_text := content_text(request.get("system") or request.get("instructions")):
        messages = [{"role": "system", "content": system_text}, *messages]
    answer: list[Message] | None = None
    written = _find_response(data)
    if written is not _ABSENT:
        answer = read_answer(written)
    tools = _find_tools(data, request)
    keys = ("tool_choice", "function_call")
    tool_choices = (place[key] for place in _places(data, request) for key in keys if key in place)
    return LoggedExchange(
        messages, answer, tools, next(tool_choices, None), _find_id(data, written), count_choices(written)
    )


def count_choices(value: Any) -> int:
    """Number of alternative answers in a response."""
    value = unpacked(value)
    body = unpacked(value["body"]) if isinstance(value, dict) and "body" in value else value
    choices = body.get("choices") if isinstance(body, dict) else None
    return len(choices) if isinstance(choices, list) else 1


def read_answer(value: Any) -> list[Message]:
    """The messages of a response.

    Raises:
        BrokenError: it has no known shape.
        UnmappedError: it is an error, in pieces, or cut off.
    """
    has_text = isinstance(value, str) and bool(value.strip()) and not value.lstrip().startswith(_STREAMED)
    if has_text and not _is_response(unpacked(value)):
        return [{"role": "assistant", "content": value}]
    value = _body(unpacked(value))
    if isinstance(value, list):
        return check_messages(value, "response")
    if not isinstance(value, dict):
        raise BrokenError("wrong-type", "The response must be an object, a list of messages or text.")
    if isinstance(value.get("choices"), list):
        return [_first_choice(value)]
    _refuse_unscored(value.get("stop_reason"))
    if (status := value.get("status")) in _UNFINISHED:
        _refuse_unscored(status)
    if isinstance(value.get("output"), list):
        return read_answer(value["output"])
    message = value.get("message", value)
    if isinstance(message, dict) and ("content" in message or "tool_calls" in message or "function_call" in message):
        return check_messages([{"role": "assistant", **message}], "response")
    raise BrokenError("wrong-type", "The response holds neither `choices` nor a message.")


def _body(value: Any) -> Any:
    """The body of a response, without the envelope of a batch.

    Raises:
        UnmappedError: it is an error, in pieces, or empty.
    """
    if isinstance(value, dict) and "body" in value:
        status = value.get("status_code", 200)
        if status != 200:
            raise UnmappedError("the response is an error", str(status))
        value = unpacked(value["body"])
    if isinstance(value, dict) and value.get("error"):
        raise UnmappedError("the response is an error")
    if _is_piece(value) or (isinstance(value, list) and any(map(_is_piece, value))):
        raise UnmappedError(IN_PIECES)
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        raise UnmappedError("there is no response")
    return value


def _is_response(value: Any) -> bool:
    """Whether the JSON in a text is a response, and not an answer in JSON."""
    return isinstance(value, dict) and not {"choices", "body", "message", "tool_calls"}.isdisjoint(value)


def _first_choice(response: Mapping[str, Any]) -> Message:
    response = dict(response)
    keep_one_choice(response)
    [choice] = response["choices"] or [None]
    if not isinstance(choice, dict):
        raise UnmappedError("there is no response")
    if has_error(choice):
        raise UnmappedError("the response is an error")
    _refuse_unscored(choice.get("finish_reason"))
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BrokenError("wrong-type", "The first of `choices` holds no message.")
    return check_messages([{"role": "assistant", **message}], "choices")[0]


def _is_piece(value: Any) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str) and value.lstrip().startswith(_STREAMED)
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    has_delta = isinstance(first, dict) and "delta" in first and "message" not in first
    return value.get("object") == "chat.completion.chunk" or has_delta


def _refuse_unscored(reason: Any) -> None:
    """Raises `UnmappedError` for an answer that shows no whole choice of the model's, by the table of reply forms."""
    reason = "" if reason is None else reason
    if not isinstance(reason, str):
        raise BrokenError("wrong-type", "The finish reason of the response must be a text.")
    form = find_form(reason)
    if form.finish_reason in ("length", "content_filter"):
        raise UnmappedError("the response was cut off", reason)
    if form.fault is Fault.BROKEN_CALL:
        raise UnmappedError(BROKEN_CALL, reason)
    if form.failure is not None:
        raise UnmappedError("the response is an error", reason[:60])


_ABSENT = object()


def _find_request(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if isinstance(data.get("messages"), list):
        return data
    turns = data.get("conversations")
    if isinstance(turns, list) and turns and all(isinstance(turn, dict) and "from" in turn for turn in turns):
        return {**data, "messages": turns}
    for key in _REQUESTS:
        value = unpacked(data.get(key))
        if isinstance(value, dict) and "messages" in value:
            return value
        if isinstance(value, list) and value and all(map(is_item, value)):
            return {**data, "messages": value}
        if isinstance(value, dict) and (items := _items(value.get("input"))):
            return {**value, "messages": items}
    if _is_responses(data) and (items := _items(data.get("input"))):
        return {**data, "messages": items}
    return None


def in_roles(messages: Any) -> Any:
    """Turns of ShareGPT, and Apify's messages with the roles `tool_use` and `tool_result`, in OpenAI's roles."""
    return list(_in_roles(messages)) if isinstance(messages, list) else messages


def _in_roles(messages: list[Any]) -> Iterator[Any]:
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        turn = message if isinstance(message, dict) else {}
        role = turn.get("role", turn.get("from"))
        if role in ("tool_use", "function_call") and "content" not in turn:
            calls = unpacked(turn.get("value", {"name": turn.get("tool"), "arguments": turn.get("input")}))
            calls = [call if isinstance(call, dict) else {} for call in (calls if isinstance(calls, list) else [calls])]
            open_calls = [f"call-{number}-{index}" for index in range(len(calls))]
            named = zip(open_calls, calls, strict=True)
            written = [openai_call(call_id, call.get("name"), call.get("arguments")) for call_id, call in named]
            yield {"role": "assistant", "content": None, "tool_calls": written}
        elif role in ("tool_result", "observation") or (role == "tool" and "from" in turn):
            answered = open_calls.pop(0) if open_calls else None
            yield {"role": "tool", "tool_call_id": answered, "content": turn.get("content", turn.get("value"))}
        elif "from" in turn and "role" not in turn:
            yield {"role": _SPEAKERS.get(str(role), role), "content": turn.get("value")}
        else:
            yield message


def _items(value: Any) -> list[Any] | None:
    """The input of the Responses API, a text or items, as a list; `None` if it is neither."""
    if isinstance(value, str) and value.strip():
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) and value and all(map(is_item, value)) else None


def _is_responses(data: Mapping[str, Any]) -> bool:
    output = data.get("output")
    return isinstance(output, list) and all(map(is_item, output))


def _find_response(data: Mapping[str, Any]) -> Any:
    if "choices" in data:
        return data
    return next((data[key] for key in _RESPONSES if key in data), _ABSENT)


def _find_tools(data: Mapping[str, Any], request: Mapping[str, Any]) -> list[Any] | None:
    tools: list[Any] | None = None
    for place in _places(data, request):
        for key in ("tools", "functions"):
            if (value := unpacked(place.get(key))) is not None:
                if not isinstance(value, list):
                    raise BrokenError("wrong-type", f"`{key}` must be a list.")
                tools = [*(tools or []), *value]
        if tools is not None:
            return tools
    return None


def _places(data: Mapping[str, Any], request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All mappings that may have parameters of the request."""
    nested = [place.get(key) for place in (request, data) for key in _PARAMETERS]
    return [request, data, *(parameters for parameters in nested if isinstance(parameters, dict))]


def _find_id(data: Mapping[str, Any], response: Any) -> str:
    inner = response if isinstance(response, dict) else {}
    written = (place.get(key) for place in (data, inner) for key in _IDS)
    return next((str(value) for value in written if isinstance(value, str | int) and str(value).strip()), "")


def unpacked(value: Any) -> Any:
    """The object or list of a JSON text, as some logs store requests; any other value is returned unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return parse_json(value, "").data
    except InvalidFileError:
        return value
