"""A recorded response as a value, and as a line of JSON."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.providers.chat import Usage, is_turn

LONGEST_QUERY = 120
"""Characters of a query that are kept, for people."""
_KEY = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_CHECK_DIGITS = 16
_CHECK = re.compile(rf', "check": "([0-9a-f]{{{_CHECK_DIGITS}}})"}}')
_TEXTS = ("key", "model", "origin", "query", "recorded", "served_by", "fingerprint", "finish_reason", "text")
_USAGE = tuple(asdict(Usage()))
_KEYS = {*_TEXTS, "epoch", "calls", "usage", "cost_usd"}


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """A complete, valid response of a hosted model; never an error.

    Attributes:
        key: SHA-256 of the request, the origin and the epoch, see `toolbelt.evals.responses.keys`; 64 hexadecimal
            digits.
        model: The model that was asked, as named on the command line.
        origin: Who answered: a provider's name, or scheme, host and port.
        epoch: Which time the case was asked, from 0.
        query: The beginning of the last user message, for people who read an export; not used otherwise.
        recorded: When it was answered, ISO 8601 in UTC.
        reply: The answer; its latency is 0, because reusing it takes none.
        cost_usd: What it cost when it was asked; `None` where the price was unknown.
    """

    key: str
    model: str
    origin: str
    epoch: int
    query: str
    recorded: str
    reply: Reply
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Payment:
    """Which request of which run asked for a recorded response.

    Attributes:
        run: Its id.
        trial: Number of the trial in its plan.
        request: 0-based within the trial.
        key: Of the response.
        cost_usd: What it cost; `None` where the price was unknown.
    """

    run: str
    trial: int
    request: int
    key: str
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class ResponseMark:
    """What the store of runs keeps of a request whose answer is in a response cache.

    Attributes:
        key: The key of the response.
        answer: Digest of the answer, see `digest_answer`.
        recorded: When it was answered, ISO 8601 in UTC.
        is_reused: Whether it was taken from the cache, so that it is no request of the run; else the run asked it, and
            it was stored in the cache.
        cost_usd: What it cost when it was asked; `None` where the price was unknown.
    """

    key: str
    answer: str
    recorded: str
    is_reused: bool
    cost_usd: float | None


def digest_answer(reply: Reply) -> str:
    """A digest of what the model said and called; ids of calls, usage and cost are left out; 16 digits."""
    texts = [reply.finish_reason, reply.text, *(part for call in reply.calls for part in (call.name, call.text))]
    content = "".join(f"{len(text)}:{text}" for text in texts)  # the lengths tell where one ends
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:16]


def format_response(response: RecordedResponse) -> str:
    """A response as one line of JSON without a line end, in one form only: the same response gives the same text."""
    reply = response.reply
    usage = {name: count for name, count in asdict(reply.usage).items() if count is not None}
    data: dict[str, Any] = {
        "key": response.key,
        "model": response.model,
        "origin": response.origin,
        "epoch": response.epoch,
        "query": response.query,
        "recorded": response.recorded,
        "served_by": reply.served_by,
        "fingerprint": reply.fingerprint,
        "finish_reason": reply.finish_reason,
        "text": reply.text,
        "calls": [{"id": call.id, "name": call.name, "arguments": call.text} for call in reply.calls],
        "usage": usage,
        "cost_usd": response.cost_usd,
        **({} if reply.turn is None else {"turn": reply.turn}),
    }
    text = json.dumps(data, ensure_ascii=False)
    try:
        checked = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which models do write and UTF-8 cannot hold
        text = json.dumps(data)
        checked = text.encode()
    return f'{text[:-1]}, "check": "{hashlib.sha256(checked).hexdigest()[:_CHECK_DIGITS]}"}}'


def parse_response(line: str, key: str | None = None) -> RecordedResponse:
    """Read a line that `format_response` wrote.

    Args:
        line: Without its line end.
        key: The key that the response must have; any if `None`.

    Raises:
        ValueError: it is no such line, or was changed; the message says which, in a clause.
    """
    end = line.rfind(', "check": ')
    check = _CHECK.fullmatch(line, end) if end > 0 else None
    if check is None:
        raise ValueError("it does not end with the `check` of a recorded response")
    checked = f"{line[:end]}}}"
    if hashlib.sha256(checked.encode(errors="surrogatepass")).hexdigest()[:_CHECK_DIGITS] != check[1]:
        raise ValueError("it was changed: its content does not match its `check`")
    try:
        data = json.loads(checked)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    response = _read(data)
    if key not in (None, response.key):
        raise ValueError("it has another key")
    return response


def _read(data: Any) -> RecordedResponse:
    """Check every field: a file may have been written by another program, with a check of its own."""
    if not isinstance(data, dict) or data.keys() - {"turn"} != _KEYS:
        raise ValueError(f"it must be an object with the keys {', '.join(sorted(_KEYS))}, and `check`")
    if wrong := [name for name in _TEXTS if not isinstance(data[name], str)]:
        raise ValueError(f"`{wrong[0]}` must be a text")
    if not _KEY.fullmatch(data["key"]):
        raise ValueError("`key` must be 64 hexadecimal digits")
    if not _TIME.fullmatch(data["recorded"]):
        raise ValueError("`recorded` must be a time in UTC, such as 2026-01-01T12:00:00Z")
    if not _is_count(data["epoch"]):
        raise ValueError("`epoch` must be a whole number, 0 or more")
    cost = data["cost_usd"]
    if cost is not None and (isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost < 1e9):
        raise ValueError("`cost_usd` must be a number, 0 or more, or null")
    turn = data.get("turn")
    if turn is not None and not is_turn(turn):
        raise ValueError("`turn` must be an object with `api` and what came over it")
    return RecordedResponse(
        key=data["key"],
        model=data["model"],
        origin=data["origin"],
        epoch=data["epoch"],
        query=data["query"],
        recorded=data["recorded"],
        reply=Reply(
            text=data["text"],
            calls=_read_calls(data["calls"]),
            usage=_read_usage(data["usage"]),
            finish_reason=data["finish_reason"],
            served_by=data["served_by"],
            fingerprint=data["fingerprint"],
            turn=turn,
        ),
        cost_usd=cost,
    )


def _read_calls(data: Any) -> tuple[ToolUse, ...]:
    if not isinstance(data, list) or not all(map(_is_call, data)):
        raise ValueError("`calls` must be a list of objects with the texts `id`, `name` and `arguments`")
    return tuple(ToolUse.from_text(call["id"], call["name"], call["arguments"]) for call in data)


def _is_call(data: Any) -> bool:
    is_object = isinstance(data, dict) and data.keys() == {"id", "name", "arguments"}
    return is_object and all(isinstance(text, str) for text in data.values())


def _read_usage(data: Any) -> Usage:
    if not isinstance(data, dict) or not data.keys() <= set(_USAGE) or not all(map(_is_count, data.values())):
        raise ValueError(f"`usage` must be an object of whole numbers: {', '.join(_USAGE)}")
    return Usage(**data)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def find_query(messages: Any) -> str:
    """The beginning of the last user message, on one line; empty where there is none in plain text."""
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            text = " ".join(content[: 4 * LONGEST_QUERY].split()) if isinstance(content, str) else ""
            return text if len(text) <= LONGEST_QUERY else f"{text[: LONGEST_QUERY - 1]}…"
    return ""
