"""What the meta-tools answer, as the model reads it (rules D2, D3)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from toolbelt.text import UNSAFE
from toolbelt.toolkits.reserved import DYNAMIC_TOOLS

Answer = dict[str, Any]
NEXT_REQUEST = "next_request"
"""When a change takes effect: at the next turn, that is with the user's next message and not with the next request to
the model, of which a turn may take many. The literal is the specification's (rule D4)."""


ALREADY_LOADED = "This toolkit is loaded already: you have its tools, at the latest with the user's next message."
LOADED = (
    "The tools of this toolkit come with the user's next message, not earlier: do not call them now. Finish your "
    "answer and tell the user that you will have them with the next message."
)
LOADED_NOTHING = "This toolkit is loaded, but there is no tool in it: it does not help with what is asked."
UNLOADED = "These tools are gone with the user's next message."
UNLOADED_NOTHING = "Whatever tools it has you keep, as something else brings them too."
STICKY = "This toolkit is sticky: every session has it, and it cannot be unloaded."
NOT_LOADED = "This toolkit is not loaded, so there is nothing to unload."
NO_SESSION = "Nothing can be loaded or unloaded here: there is no session to keep it for."
CONFLICT = (
    "This toolkit cannot be loaded beside the one in conflicts_with, which has a tool of it with other settings. "
    "Nothing was changed; if you need this one, unload that one first."
)
CONFLICT_STAYS = (
    "This toolkit cannot be loaded: you always have a tool of it with other settings. Nothing was changed, and nothing "
    "you can do will change that."
)


def make(status: str, **parts: Any) -> Answer:
    """An answer, with what every answer has."""
    return {"status": status, "tool": DYNAMIC_TOOLS, **parts}


def refused(name: str, key: str | None, allowed: Iterable[str]) -> Answer:
    """To a toolkit that there is not (`key` is `None`), or that this agent may not have."""
    keys = list(allowed)
    status, words = ("unknown", "There is no such toolkit.") if key is None else ("not_allowed", "You may not have it.")
    message = f"{words} {'Choose one of allowed_toolkits.' if keys else 'There is none that you may load.'}"
    return make(status, toolkit=name if key is None else key, allowed_toolkits=keys, message=message)


def misused(name: str, arguments: object, allowed: Iterable[str]) -> Answer:
    """To arguments that name no toolkit; `name` is what the tool goes by."""
    if not isinstance(arguments, Mapping):
        wrong = "The arguments are no JSON object."
    elif arguments.get("toolkit") is None:
        wrong = "The argument 'toolkit' is missing."
    else:
        wrong = "The argument 'toolkit' must be a string."
    message = f'{wrong} Call {name} with {{"toolkit": NAME}}.'
    return make("error", allowed_toolkits=list(allowed), message=message)


def answer_text(answer: Mapping[str, Any]) -> str:
    """An answer as JSON with sorted keys (rule D2): one line, whatever names and descriptions hold.

    Characters are themselves, but for those that hide, turn text around or are no characters, which are escaped. What
    JSON has no form for is given as text.
    """
    return escaped(json.dumps(_plain(answer), sort_keys=True, ensure_ascii=False))


def quoted(text: str) -> str:
    """A name as a JSON string on one line."""
    return escaped(json.dumps(text, ensure_ascii=False))


def escaped(text: str) -> str:
    """Text with what is not to be shown raw as JSON escapes, which within a JSON string mean the same."""
    return UNSAFE.sub(lambda found: json.dumps(found.group())[1:-1], text)


def _plain(value: Any) -> Any:
    """As `json` takes it: overrides come from YAML, which knows dates, sets and keys that are no text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
