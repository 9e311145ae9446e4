"""Messages that the SDK cannot read, without what is wrong with them, so that one fault costs only itself (rule M7).

The SDK drops a message with half a surrogate pair, an integer of over 4,300 digits or 200 levels of nesting; whoever
waits for the answer then waits until its limit. Here such an answer becomes an error, and a list loses its bad entries.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mcp.types import INTERNAL_ERROR
from mcp.types.jsonrpc import jsonrpc_message_adapter

from toolbelt.sources.document import has_surrogate

if TYPE_CHECKING:
    import httpx2

UNREADABLE = f"toolbelt/unreadable-{secrets.token_hex(8)}"
"""The key of `_meta` under which a mended message has what was left out; no peer can know it."""
UNREADABLE_ANSWER = "answered with what cannot be read"
"""How the message of an error begins that stands for an answer, to follow the name of who answered."""
_LISTS = ("tools", "resources", "resourceTemplates", "prompts")
"""Keys of results whose entries stand for themselves."""
_MAX_DEPTH = 190
"""Levels of a message; the SDK reads 200."""
_LONGEST_PLACE = 80
_HALF_PAIR = "half a surrogate pair, or bytes that are no UTF-8"
_NO_JSON = "it is no JSON"
_LONG = f"long-{secrets.token_hex(8)}"
_DEEP = f"deep-{secrets.token_hex(8)}"
_REASONS = {_LONG: "an integer of over 4,300 digits", _DEEP: f"more than {_MAX_DEPTH} levels of nesting"}
# Its end is optional, so that a string that never ends is not looked at again from each of its quotes.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_ID_FIRST = re.compile(
    r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")\s*,'
    r'(?:\s*"method"\s*:\s*"([^"\\]{1,200})")?'
)


def mend(line: bytes) -> dict[str, Any] | None:
    """A message that the SDK reads, for one that it does not.

    Args:
        line: The message as it came.

    Returns:
        An error for an answer that cannot be read, a list without its bad entries, which are named in its `_meta`, or
        a request without its params. `None` for what has no id.
    """
    text = line.decode("utf-8", "surrogateescape")
    try:
        message = json.loads(_without_depths(text), parse_int=_parse_int, strict=False)
    except (ValueError, RecursionError):
        found = _ID_FIRST.match(text)
        if found is None:
            return None
        return (
            _request(json.loads(found[1]), found[2], _NO_JSON) if found[2] else _error(json.loads(found[1]), _NO_JSON)
        )
    number = message.get("id") if isinstance(message, dict) else None
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int | str) or isinstance(number, bool) or _fault_of(number):
        return None
    method = message.get("method")
    if isinstance(method, str) and not _fault_of(method):
        reason = describe_faults(message) or "its `params` are no object"
        return _request(number, method, reason)
    return _mend_answer(message, number)


def mend_response(response: httpx2.Response, event_bytes: int) -> None:
    """Let what the SDK reads of a response over HTTP be mended.

    Args:
        response: Of which nothing was read yet.
        event_bytes: The longest line of an event that is held back.
    """
    kind, read = response.headers.get("content-type", "").casefold(), response.aiter_bytes
    if kind.startswith("text/event-stream"):
        response.aiter_bytes = lambda size=None: _mend_events(read(size), event_bytes)  # type: ignore[method-assign, assignment]
    elif kind.startswith("application/json"):
        response.aiter_bytes = lambda size=None: _mend_body(read(size))  # type: ignore[method-assign, assignment]


async def _mend_body(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield _mended(b"".join([chunk async for chunk in chunks]))


async def _mend_events(chunks: AsyncIterator[bytes], event_bytes: int) -> AsyncGenerator[bytes, None]:
    rest = bytearray()
    async for chunk in chunks:
        head, newline, tail = chunk.rpartition(b"\n")
        rest += head + newline
        if newline or len(rest) + len(tail) > event_bytes:
            for line in rest.splitlines(keepends=True):
                is_data = line.startswith(b"data:") and line[5:].strip()
                yield b"data:" + _mended(bytes(line[5:]).rstrip()) + b"\n" if is_data else bytes(line)
            rest = bytearray()
        rest += tail
    yield bytes(rest)


def _mended(text: bytes) -> bytes:
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        message = mend(text)
        return text if message is None else json.dumps(message).encode()
    return text


def left_out(message: Mapping[str, Any] | None) -> list[str]:
    """What was left out of params or a result, in words; empty for what came as it is."""
    meta = (message or {}).get("_meta")
    notes: list[str] = meta.get(UNREADABLE, []) if isinstance(meta, dict) else []
    return notes


def _mend_answer(message: Mapping[str, Any], number: int | str) -> dict[str, Any]:
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
    error, result = message.get("error"), message.get("result")
    if isinstance(error, dict):
        code, text = error.get("code"), error.get("message")
        code = code if isinstance(code, int) and not isinstance(code, bool) else INTERNAL_ERROR
        answer["error"] = {"code": code, "message": str(_without_faults(text or "an error without a message"))}
        return answer
    if not isinstance(result, dict):
        is_null = "result" in message and result is None
        return _error(number, "its `result` is null" if is_null else "it has no object as `result`")
    if "protocolVersion" in result or "supportedVersions" in result:
        return {**answer, "result": _without_faults(result)}
    notes = [note for key in _LISTS if isinstance(result.get(key), list) for note in _leave_out(result, key)]
    if reason := describe_faults({key: value for key, value in result.items() if key != "_meta"}):
        return _error(number, reason)
    return {**answer, "result": {**result, "_meta": {UNREADABLE: notes}}}


def _leave_out(result: dict[str, Any], key: str) -> Iterator[str]:
    """Take what cannot be read out of a list, and name it."""
    kept = []
    for place, entry in enumerate(result[key]):
        if reason := describe_faults(entry):
            name = entry.get("name") if isinstance(entry, dict) else None
            shown = repr(name) if isinstance(name, str) and not _fault_of(name) else f"number {place + 1}"
            yield f"lists {key.removesuffix('s')} {shown}, which is left out: {reason}"
        else:
            kept.append(entry)
    result[key] = kept


def describe_faults(value: object) -> str:
    """The first thing in a value that cannot be read, with its place; empty where all can."""
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        place, part = pending.pop()
        if fault := _fault_of(part):
            return f"`{_shortened(place)}` has {fault}" if place else f"it is {fault}"
        if isinstance(part, dict):
            if any(map(_fault_of, part)):
                return f"a key of `{_shortened(place)}` has {_HALF_PAIR}"
            pending += ((f"{place}.{key}" if place else key, item) for key, item in reversed(part.items()))
        elif isinstance(part, list):
            pending += ((f"{place}[{index}]", item) for index, item in reversed([*enumerate(part)]))
    return ""


def _shortened(place: str) -> str:
    return place if len(place) <= _LONGEST_PLACE else f"{place[:_LONGEST_PLACE]}…"


def _fault_of(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return _REASONS.get(value) or (_HALF_PAIR if has_surrogate(value) else "")


def _without_faults(value: Any) -> Any:
    """The value without what cannot be read; text keeps what of it can."""
    if isinstance(value, dict):
        return {key: _without_faults(item) for key, item in value.items() if not _is_lost(key) and not _is_lost(item)}
    if isinstance(value, list):
        return [_without_faults(item) for item in value if not _is_lost(item)]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _is_lost(value: object) -> bool:
    return isinstance(value, str) and value in _REASONS


def _error(number: int | str, reason: str) -> dict[str, Any]:
    error = {"code": INTERNAL_ERROR, "message": f"{UNREADABLE_ANSWER}: {reason}."}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def _request(number: int | str, method: str, reason: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": {UNREADABLE: [reason]}}}


def _parse_int(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return _LONG


def _without_depths(text: str) -> str:
    """The text with a word for each value that is nested too deep."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return text
    parts: list[str] = []
    depth = begin = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        mark = found[0]
        if mark in "[{":
            depth += 1
            if depth == _MAX_DEPTH + 1:
                parts.append(text[begin : found.start()])
        elif mark in "]}":
            depth -= 1
            if depth == _MAX_DEPTH:
                parts.append(f'"{_DEEP}"')
                begin = found.end()
    return "".join((*parts, text[begin:]))
