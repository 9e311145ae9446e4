"""A model of the loopback server that does what it is told, with a handicap if need be.

What it is told is `the tool NAME once, with these arguments: key = JSON, key = JSON.`, as often as it stands in the
last user message, each done once it is offered; `It takes no arguments.` for none. Where nothing is told so, it picks
the offered tool whose name shares most words with the message, if any. With nothing left to call it answers in words,
which repeat what tools have said.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from tests.servers.replies import Asked, call, reply

_TOLD = re.compile(r"the tool ([A-Za-z_][\w-]{0,63})(?: once, with these arguments: |\. It takes no arguments\.)")
_KEY = re.compile(r"(?:, )?(\w+) = ")
_WORD = re.compile(r"[a-z]{3,}")
_BEGINNING = 4000
"""Characters of a first message that a cache knows it by."""
_Told = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Handicap:
    """What it cannot do.

    Attributes:
        is_serial: Makes one call at a time.
        ignores_choice: Does not look at `tool_choice`.
    """

    is_serial: bool = False
    ignores_choice: bool = False


NO_HANDICAP = Handicap()


def able(asked: Asked, handicap: Handicap = NO_HANDICAP) -> dict[str, Any]:
    """Does what it is told."""
    choice = None if handicap.ignores_choice else asked.body.get("tool_choice")
    calls = [] if choice == "none" else _choose(asked, choice)
    if calls:
        made = len(_made(asked, whole=True))
        kept = calls[:1] if handicap.is_serial else calls
        return reply(asked, [call(made + n, name, json.dumps(given)) for n, (name, given) in enumerate(kept)])
    results = [str(one["content"]) for one in asked.body["messages"] if one["role"] == "tool"]
    return reply(asked, text=" ".join(["That is all I can say.", *results]))


def cached_tokens(asked: Asked, seen: set[str]) -> int:
    """Tokens of the prompt that a cache would hold; `seen` is what it knows, and is told of this one."""
    text = str(asked.body["messages"][0]["content"])
    if len(text) < _BEGINNING:
        return 0
    digest = hashlib.sha256(f"{asked.body['model']}\0{text[:_BEGINNING]}".encode()).hexdigest()
    known = digest in seen
    seen.add(digest)
    return asked.tokens // 128 * 128 if known else 0


def _choose(asked: Asked, choice: Any) -> list[_Told]:
    told = read_told(asked.last_user_text)
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        return [next((one for one in told if one[0] == name), (name, _made_up(asked, name)))]
    made = _made(asked)
    left = [one for one in told if one[0] in asked.tools and one not in made]
    if not left and not told and not made and (picked := _pick(asked)):
        left = [(picked, _made_up(asked, picked))]
    if not left and choice == "required":
        left = [(asked.tools[0], _made_up(asked, asked.tools[0]))]
    return left


def read_told(text: str) -> list[_Told]:
    """The calls that a message asks for in so many words."""
    return [(found[1], _read_arguments(text, found.end())) for found in _TOLD.finditer(text)]


def _read_arguments(text: str, at: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    while (key := _KEY.match(text, at)) is not None:
        arguments[key[1]], at = json.JSONDecoder().raw_decode(text, key.end())
    return arguments


def _made(asked: Asked, *, whole: bool = False) -> list[_Told]:
    """The calls made since the user last spoke, or in the whole conversation."""
    made: list[_Told] = []
    for message in asked.body["messages"]:
        if message["role"] == "user" and not whole:
            made = []
        for one in message.get("tool_calls") or ():
            made.append((one["function"]["name"], json.loads(one["function"]["arguments"])))
    return made


def _pick(asked: Asked) -> str | None:
    """The tool whose name shares most words with the message; the first of several."""
    words = set(_WORD.findall(asked.last_user_text.lower()))
    shared = {name: len(words & set(_WORD.findall(name.lower()))) for name in asked.tools}
    best = max(shared, key=lambda name: shared[name], default=None)
    return best if best is not None and shared[best] else None


def _made_up(asked: Asked, name: str) -> dict[str, Any]:
    """Arguments that the schema takes."""
    for tool in asked.body.get("tools") or ():
        if tool["function"]["name"] == name:
            value = _sample(tool["function"].get("parameters") or {"type": "object"})
            return value if isinstance(value, dict) else {}
    return {}


def _sample(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _sample(schema["properties"][name]) for name in schema.get("required", ())}
    samples = {"integer": 7, "number": 7, "boolean": True, "array": []}
    return samples.get(str(schema.get("type")), "alpha")
