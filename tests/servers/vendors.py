"""A server that speaks Anthropic's Messages, OpenAI's Responses and chat completions, and is as strict as their SDKs.

What is not of the types of the vendor's own SDK, to the last unknown field, is answered with 400; so is an answer of a
test that is none of the vendor's. Only `SAMPLING`, which Anthropic's SDK has left out since its version 1, while older
models take it, goes as `extra_body` there, and is not looked at here.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

import anthropic.types
import openai.types.chat
import openai.types.responses
import pydantic
import pydantic_core
from typing_extensions import is_typeddict

Json = dict[str, Any]
SAMPLING = ("temperature", "top_p", "top_k")


def _refuse_unknown_fields(package: ModuleType) -> None:
    for value in list(vars(package).values()):
        if is_typeddict(value) and not hasattr(value, "__pydantic_config__"):
            value.__pydantic_config__ = {"extra": "forbid"}


@cache
def _checker(path: str) -> tuple[pydantic.TypeAdapter[Any], type[pydantic.BaseModel]]:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    for package in (anthropic.types, openai.types.responses, openai.types.chat):
        _refuse_unknown_fields(package)
    types: Mapping[str, tuple[type, type[pydantic.BaseModel]]] = {
        "messages": (MessageCreateParamsNonStreaming, anthropic.types.Message),
        "responses": (ResponseCreateParamsNonStreaming, openai.types.responses.Response),
        "completions": (CompletionCreateParamsNonStreaming, openai.types.chat.ChatCompletion),
    }
    params, answer = types[path.rpartition("/")[2]]
    _refuse_unknown_fields(sys.modules[params.__module__])
    return pydantic.TypeAdapter(params), answer


def find_mistake(path: str, body: Json) -> str:
    """What the SDK's types say against a body; empty if nothing."""
    checker, _ = _checker(path)
    if path.endswith("/messages"):
        body = {name: value for name, value in body.items() if name not in SAMPLING}
    try:
        _exhaust(checker.validate_python(body))
    except pydantic.ValidationError as error:
        return str(error)
    return ""


def _exhaust(value: Any) -> None:
    """An `Iterable` of a type is checked where it is read."""
    if isinstance(value, Mapping):
        for item in value.values():
            _exhaust(item)
    elif isinstance(value, list | tuple) or type(value).__name__ in ("ValidatorIterator", "SerializationIterator"):
        for item in value:
            _exhaust(item)


Answerer = Callable[[Json], Json]


class VendorServer:
    """Answers with what a test wants.

    Attributes:
        answer: Makes the answer to a body; a `status` in it is that of HTTP.
        bodies: That came.
        headers: Of the last request.
        paths: That were asked.
        is_strict: Whether bodies and answers have to be of the SDK's types.
    """

    def __init__(self) -> None:
        self.answer: Answerer = lambda body: {}
        self.bodies: list[Json] = []
        self.headers: Mapping[str, str] = {}
        self.paths: list[str] = []
        self.is_strict = True
        handler = type("Handler", (_Handler,), {"vendor": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> VendorServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    vendor: VendorServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vendor = self.vendor
        vendor.bodies.append(body)
        vendor.paths.append(self.path)
        vendor.headers = dict(self.headers)
        if vendor.is_strict and (mistake := find_mistake(self.path, body)):
            return self._send(400, {"error": {"message": mistake, "type": "invalid_request_error"}})
        answer = dict(vendor.answer(body))
        status = answer.pop("http_status", 200)
        if vendor.is_strict and status == 200 and not answer.get("error"):
            try:
                _checker(self.path)[1].model_validate(answer, strict=True)
            except pydantic_core.ValidationError as error:
                return self._send(400, {"error": {"message": f"the test's own answer is none: {error}"}})
        return self._send(status, answer)

    def _send(self, status: int, data: Json) -> None:
        text = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def vendor_server() -> Iterator[VendorServer]:
    """A server, for as long as a test needs it."""
    with VendorServer() as server:
        yield server


def message(*content: Json, stop_reason: str = "end_turn", **fields: Any) -> Json:
    """An answer of Anthropic's."""
    usage = {
        "input_tokens": 900,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 40,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 30},
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-of-the-day",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    } | fields


def response(*output: Json, status: str = "completed", **fields: Any) -> Json:
    """An answer of OpenAI's Responses."""
    usage = {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 40},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 30},
        "total_tokens": 1050,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "model": "gpt-of-the-day",
        "output": list(output),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    } | fields


def completion(finish_reason: str = "stop", **spoken: Any) -> Json:
    """An answer of chat completions."""
    usage = {
        "prompt_tokens": 1000,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 40},
        "completion_tokens": 50,
        "completion_tokens_details": {"reasoning_tokens": 30},
        "total_tokens": 1050,
    }
    said = {"role": "assistant", "content": None, "refusal": None, **spoken}
    choice = {"index": 0, "finish_reason": finish_reason, "logprobs": None, "message": said}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-of-the-day",
        "choices": [choice],
        "usage": usage,
    }
