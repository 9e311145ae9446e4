"""A server that speaks OpenAI's chat API over real HTTP, and does to its clients whatever they ask for by model name.

It also has as much of Anthropic's API (`/v1/messages`) as shows that another provider's form is read as well, and
makes embeddings.

`python -m tests.servers.openai_like --port 0` prints its port and serves until its standard input ends. What a request
gets is said by its model: the name of a row of `BEHAVIOURS`, with a number after a dash where the row wants one
(`server-error-2`, `slow-50`), and then anything after an `@`, which tells the counts of one test from another's.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import socket
import struct
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from tests.servers import replies
from tests.servers.able import Handicap, able, cached_tokens
from tests.servers.replies import Asked

KEPT = 200
"""Requests whose bodies are remembered."""


class State:
    """What happened so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self.connections: set[Any] = set()

    def note(self, model: str, request: web.BaseRequest, raw: bytes) -> int:
        """Remember one request; how many this model had before."""
        self.counts[model] += 1
        if request.transport not in self.connections:
            self.connections.add(request.transport)
        headers = {name: value for name, value in request.headers.items() if name.lower().startswith(("auth", "x-"))}
        self.bodies.append({"model": model, "raw": raw, "headers": headers})
        return self.counts[model] - 1


Behaviour = Callable[[web.BaseRequest, Asked], Awaitable[web.StreamResponse]]


def _json(data: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(body=json.dumps(data).encode(), status=status, headers=headers, content_type="application/json")


def _error(status: int, message: str, code: str, headers: Mapping[str, str] | None = None) -> web.Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return _json({"error": {"message": message, "type": kind, "param": None, "code": code}}, status, headers)


def _always(make: Callable[[Asked], dict[str, Any]]) -> Behaviour:
    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return _json(make(asked))

    return answer


def _refuse(status: int, message: str, code: str) -> Behaviour:
    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return _error(status, message, code)

    return answer


async def _rate_limited(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """429 once, with the seconds to wait, then fine."""
    if asked.before:
        return _json(replies.pick_first(asked))
    return _error(429, "Slow down.", "rate_limit_exceeded", {"Retry-After": f"{asked.number:g}"})


async def _rate_limited_forever(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    return _error(429, "Slow down.", "rate_limit_exceeded", {"Retry-After": f"{asked.number:g}"})


async def _rate_limited_until(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """429 with a date of HTTP instead of seconds."""
    from datetime import UTC, datetime, timedelta
    from email.utils import format_datetime

    date = format_datetime(datetime.now(UTC) + timedelta(seconds=asked.number), usegmt=True)
    return _error(429, "Slow down.", "rate_limit_exceeded", {"Retry-After": date})


async def _server_error(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """500 that many times, then fine."""
    if asked.before < asked.number:
        return _error(500, "Something broke.", "internal")
    return _json(replies.pick_first(asked))


def _window(make: Callable[[Asked], dict[str, Any]]) -> Behaviour:
    """Takes that many tokens and no more."""

    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        if asked.tokens <= asked.number:
            return _json(make(asked))
        message = (
            f"This model's maximum context length is {asked.number:g} tokens. However, your messages resulted in "
            f"{asked.tokens} tokens. Please reduce the length of the messages or functions."
        )
        return _error(400, message, "context_length_exceeded")

    return answer


def _able_unless(refusal: Callable[[Asked], str]) -> Behaviour:
    """Does what it is told, but for requests that the API says this of."""

    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        said = refusal(asked)
        return _error(400, said, "unsupported_parameter") if said else _json(able(asked))

    return answer


def _no_tools(asked: Asked) -> str:
    return "This model does not support tools. \x1b[31mSee the manual.\x1b[0m" if asked.tools else ""


def _most_tools(asked: Asked) -> str:
    most, given = int(asked.number), len(asked.tools)
    return f"Invalid 'tools': array too long. At most {most} are taken, {given} were given." if given > most else ""


def _no_choice(asked: Asked) -> str:
    return "tool_choice is not supported by this model." if asked.body.get("tool_choice", "auto") != "auto" else ""


def _able_cached() -> Behaviour:
    """Reports how much of the prompt it has seen before."""
    seen: set[str] = set()

    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        data = able(asked)
        data["usage"]["prompt_tokens_details"] = {"cached_tokens": cached_tokens(asked, seen)}
        return _json(data)

    return answer


async def _able_breaks_at_tools(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """500 at whatever offers tools, as servers do that were started without them; else able."""
    return _error(500, "tools are not enabled here", "internal") if asked.tools else _json(able(asked))


async def _able_after_errors(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """500 that many times, then able."""
    return _error(500, "Something broke.", "internal") if asked.before < asked.number else _json(able(asked))


async def _able_until(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Able that many times, then 500."""
    return _json(able(asked)) if asked.before < asked.number else _error(500, "Something broke.", "internal")


async def _able_limited(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """429 at every so-manieth request, else able."""
    if asked.before % max(int(asked.number), 2) == 1:
        return _error(429, "Slow down.", "rate_limit_exceeded", {"Retry-After": "0"})
    return _json(able(asked))


async def _able_slow(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Able, after that many milliseconds."""
    await asyncio.sleep(asked.number / 1000)
    return _json(able(asked))


def _blind(asked: Asked) -> dict[str, Any]:
    """Drops the tools, as llama.cpp's server does with a chat template that has none, and answers what is left."""
    body = {key: value for key, value in asked.body.items() if key not in ("tools", "tool_choice")}
    return replies.no_call(replace(asked, body=body, size=len(json.dumps(body))))


def _blind_repeats(asked: Asked) -> dict[str, Any]:
    """The same, and the model writes the call that the user's message describes."""
    data = _blind(asked)
    data["choices"][0]["message"]["content"] = f'{asked.tools[0]}(city = "Oslo")'
    return data


async def _blind_until(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Drops the tools of that many requests, then able."""
    return _json(_blind(asked) if asked.before < asked.number else able(asked))


async def _unparsed_until(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Leaves that many calls in the text, then able."""
    return _json(replies.call_in_text(asked) if asked.before < asked.number else able(asked))


async def _able_cut(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Able within a window of that many tokens; a longer prompt is cut to half of it in silence, as Ollama does."""
    if asked.tokens <= asked.number:
        return _json(able(asked))
    return _json(replies.no_call(replace(asked, size=int(asked.number * 2))))


async def _empty_after(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Says something that many times, and then nothing at all."""
    return _json(replies.nothing(asked) if asked.before >= asked.number else replies.pick_first(asked))


async def _empty_every(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Says nothing at every so-manieth request."""
    return _json(replies.nothing(asked) if asked.before % int(asked.number) == 0 else replies.pick_first(asked))


async def _ramble(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Talks until it is stopped, that many tokens a second, and calls nothing."""
    limit = asked.body.get("max_tokens") or asked.body.get("max_completion_tokens") or 10**6
    await asyncio.sleep(limit / asked.number)
    return _json(replies.reply(asked, text="And then " * 9, finish_reason="length", tokens=limit))


async def _slow(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Takes that many milliseconds."""
    await asyncio.sleep(asked.number / 1000)
    return _json(replies.pick_first(asked))


async def _parts(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """The head and a half at once, the rest that many milliseconds later."""
    body = json.dumps(replies.pick_first(asked)).encode()
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(body[:20])
    await asyncio.sleep(asked.number / 1000)
    await response.write(body[20:])
    return response


async def _hang(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def _trickle(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """A byte a second: each one comes before any time-out of a single read."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for byte in json.dumps(replies.pick_first(asked)).encode():
        await response.write(bytes([byte]))
        await asyncio.sleep(1)
    return response


async def _cut(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Says how long the body is, sends half of it and hangs up."""
    body = json.dumps(replies.pick_first(asked)).encode()
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


async def _reset(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Connection reset by peer."""
    if request.transport is not None:
        sock = request.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response()


def _text(body: str, content_type: str, status: int = 200) -> Behaviour:
    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return web.Response(text=body, content_type=content_type, status=status)

    return answer


async def _faulty(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Each kind of fault in turn at three of ten requests, else fine."""
    turn, place = divmod(asked.before, 10)
    if place not in _FAULTY_PLACES:
        return _json(replies.pick_first(asked))
    fault = _FAULTS[(turn * len(_FAULTY_PLACES) + _FAULTY_PLACES.index(place)) % len(_FAULTS)]
    return await fault(request, asked)


async def _busy(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    return _error(429, "Slow down.", "rate_limit_exceeded", {"Retry-After": "0.05"})


_FAULTY_PLACES = (1, 4, 8)
_FAULTS: tuple[Behaviour, ...] = (
    _busy,
    _refuse(500, "Something broke.", "internal"),
    _reset,
    _hang,
    _cut,
    _text('{"choices": [{"mess', "application/json"),
    _text("<html><body>Bad gateway of a proxy</body></html>", "text/html"),
)


async def _raw(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """The last user message is JSON: the answer's `status`, `body` and `headers`."""
    wanted = json.loads(asked.last_user_text)
    body = wanted["body"] if isinstance(wanted["body"], str) else json.dumps(wanted["body"])
    return web.Response(
        text=body,
        status=wanted.get("status", 200),
        headers=wanted.get("headers"),
        content_type=wanted.get("content_type", "application/json"),
    )


async def _drafts_after(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """500 from that request on, drafts before."""
    if asked.before < asked.number:
        return _json(replies.drafts(asked))
    return _error(500, "Something broke.", "internal")


async def _slow_drafts(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Takes that many milliseconds."""
    await asyncio.sleep(asked.number / 1000)
    return _json(replies.drafts(asked))


async def _embeds_until(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
    """Makes embeddings that many times, and then refuses to."""
    if asked.before < asked.number:
        return _json(replies.embeddings(asked.body))
    return _error(400, "No more.", "invalid")


def _flaky() -> Behaviour:
    """Does what the user says, but for so many percent of what is said: of those now and then nothing, by chance that
    goes by the request and how often it came, so that it is the same in whatever order requests come.
    """
    before: Counter[str] = Counter()

    async def answer(request: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        body = json.dumps(asked.body, sort_keys=True)
        before[body] += 1
        is_flaky = _draw(asked.last_user_text) % 100 < asked.number
        is_lost = is_flaky and _draw(f"{before[body]} {body}") % 2
        return _json(replies.no_call(asked) if is_lost else replies.echo_tool(asked))

    return answer


def _draw(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


BEHAVIOURS: Mapping[str, Behaviour] = {
    "pick-first": _always(replies.pick_first),
    "echo-tool": _always(replies.echo_tool),
    "flaky": _flaky(),
    "many": _always(replies.many),
    "parallel": _always(replies.parallel),
    "none": _always(replies.no_call),
    "with-cache": _always(replies.with_cache),
    "tiered": _always(replies.tiered),
    "search": _always(replies.search),
    "dynamic": _always(replies.dynamic),
    "bad-arguments": _always(replies.bad_arguments),
    "object-arguments": _always(replies.object_arguments),
    "filtered": _always(replies.filtered),
    "drafts": _always(replies.drafts),
    "drafts-until": _drafts_after,
    "slow-drafts": _slow_drafts,
    "refusal": _always(replies.refusal),
    "duplicate-ids": _always(replies.duplicate_ids),
    "no-ids": _always(replies.no_ids),
    "function-call": _always(replies.function_call),
    "key-in-error": _refuse(400, "Bad field beside key sk-test-0123456789abcdef.", "invalid"),
    "rate-limited": _rate_limited,
    "rate-limited-forever": _rate_limited_forever,
    "rate-limited-until": _rate_limited_until,
    "overflow": _refuse(400, "This model's maximum context length is 10 tokens.", "context_length_exceeded"),
    "window": _window(replies.pick_first),
    "blind": _always(_blind),
    "blind-repeats": _always(_blind_repeats),
    "blind-until": _blind_until,
    "unparsed": _always(replies.call_in_text),
    "unparsed-thoughts": _always(replies.call_in_thoughts),
    "unparsed-until": _unparsed_until,
    "empty-after": _empty_after,
    "empty-every": _empty_every,
    "ramble": _ramble,
    "able": _always(able),
    "able-cut": _able_cut,
    "able-serial": _always(lambda asked: able(asked, Handicap(is_serial=True))),
    "able-no-choice": _always(lambda asked: able(asked, Handicap(ignores_choice=True))),
    "able-refuses-choice": _able_unless(_no_choice),
    "able-no-tools": _able_unless(_no_tools),
    "able-most-tools": _able_unless(_most_tools),
    "able-window": _window(able),
    "able-cached": _able_cached(),
    "able-breaks-at-tools": _able_breaks_at_tools,
    "able-after-errors": _able_after_errors,
    "able-until": _able_until,
    "able-limited": _able_limited,
    "able-slow": _able_slow,
    "embeds-until": _embeds_until,
    "unauthorized": _refuse(401, "Incorrect API key provided: sk-test-0123456789abcdef.", "invalid_api_key"),
    "forbidden": _refuse(403, "This key may not use the model.", "forbidden"),
    "missing": _refuse(404, "The model does not exist or you do not have access to it.", "model_not_found"),
    "bad-request": _refuse(400, "Unknown parameter.", "unknown_parameter"),
    "policy": _refuse(400, "Your request was rejected by our safety system.", "content_policy_violation"),
    "server-error": _server_error,
    "empty": _text("{}", "application/json"),
    "no-choices": _text('{"id": "x", "object": "chat.completion", "model": "m", "choices": []}', "application/json"),
    "rubbish": _text('{"choices": [{"mess', "application/json"),
    "html": _text("<html><body>Bad gateway of a proxy</body></html>", "text/html"),
    "list": _text("[1, 2]", "application/json"),
    "raw": _raw,
    "faulty": _faulty,
    "parts": _parts,
    "hang": _hang,
    "trickle": _trickle,
    "cut": _cut,
    "reset": _reset,
    "slow": _slow,
}


def split_model(model: str) -> tuple[str, float]:
    """The row and the number that a model's name asks for; `pick-first` where there is no such row."""
    name = model.partition("@")[0]
    if name in BEHAVIOURS:
        return name, 0
    row, _, number = name.rpartition("-")
    with contextlib.suppress(ValueError):
        if row in BEHAVIOURS:
            return row, float(number)
    return "pick-first", 0


def make_handler(state: State) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """The server, as a function of a request."""

    def control(path: str) -> web.Response:
        if path == "/control/reset":
            state.counts.clear()
            state.bodies.clear()
            return _json({})
        shown = [{**body, "raw": body["raw"].decode("utf-8", "replace")} for body in state.bodies]
        return _json({"counts": state.counts, "connections": len(state.connections), "requests": shown})

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/control/"):
            return control(request.path)
        if not request.path.endswith(("/chat/completions", "/v1/messages", "/embeddings")):
            return _error(404, f"No such path: {request.path}.", "not_found")
        raw = await request.read()
        try:
            body = json.loads(raw)
            model = body["model"]
        except (ValueError, KeyError, TypeError):
            return _error(400, "The body is no request of this API.", "bad_json")
        name, number = split_model(model)
        asked = Asked(body, len(raw), number, state.note(model, request, raw))
        if request.path.endswith("/v1/messages"):
            return _json(replies.anthropic(asked))
        if request.path.endswith("/embeddings") and name == "pick-first":
            return _json(replies.embeddings(body))
        return await BEHAVIOURS[name](request, asked)

    return handle


async def serve(port: int) -> None:
    """Serve on 127.0.0.1 until standard input ends; the port is printed."""
    runner = web.ServerRunner(web.Server(make_handler(State()), access_log=None))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    # Whoever started this holds the other end: no server outlives its tests, however they end.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Start it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
