"""The three tools by which an agent finds, loads and unloads toolkits, and their answers (rules D2, D3)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.text import UNSAFE
from toolbelt.toolkits.toolkit import DYNAMIC_TOOLS, MetaRole

_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_CHANGES = {**_READS, "readOnlyHint": False}


def _takes_toolkit(what: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"toolkit": {"type": "string", "description": what}},
        "required": ["toolkit"],
        "additionalProperties": False,
    }


META_TOOLS: Mapping[MetaRole, Tool] = MappingProxyType(
    {
        MetaRole.LIST: Tool(
            MetaRole.LIST.value,
            "List the toolkits you may load: name, description and tools of each, whether it is loaded, and whether it "
            "is sticky, that is always loaded. Call this when none of the tools you have does what is asked and you "
            "are not sure which toolkit does.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            _READS,
        ),
        MetaRole.LOAD: Tool(
            MetaRole.LOAD.value,
            "Load one toolkit by its name. Its tools are not there at once: they come with the user's next message, "
            "and stay for the rest of this conversation. So finish your answer after loading, and tell the user that "
            "you will have them then.",
            _takes_toolkit("The name of a toolkit, as list_toolkits gives it."),
            _CHANGES,
        ),
        MetaRole.UNLOAD: Tool(
            MetaRole.UNLOAD.value,
            "Unload one toolkit by its name, when it is no longer needed. Its tools go with the user's next message. "
            "Sticky toolkits cannot be unloaded.",
            _takes_toolkit("The name of a loaded toolkit, as list_toolkits gives it."),
            _CHANGES,
        ),
    }
)
"""Definitions of the three; load and unload take `{"toolkit": string}`."""


Answer = dict[str, Any]
NEXT_REQUEST = "next_request"
"""When a change takes effect: at the next turn, that is with the user's next message and not with the next request to
the model, of which a turn may take many. The literal is the specification's (rule D4)."""


ALREADY_LOADED_MESSAGE = (
    "This toolkit is loaded already: you have its tools, at the latest with the user's next message."
)
LOADED_MESSAGE = (
    "The tools of this toolkit come with the user's next message, not earlier: do not call them now. Finish your "
    "answer and tell the user that you will have them with the next message."
)
LOADED_NOTHING_MESSAGE = "This toolkit is loaded, but there is no tool in it: it does not help with what is asked."
UNLOADED_MESSAGE = "These tools are gone with the user's next message."
UNLOADED_NOTHING_MESSAGE = "Whatever tools it has you keep, as something else brings them too."
STICKY_MESSAGE = "This toolkit is sticky: every session has it, and it cannot be unloaded."
NOT_LOADED_MESSAGE = "This toolkit is not loaded, so there is nothing to unload."
NO_SESSION_MESSAGE = "Nothing can be loaded or unloaded here: there is no session to keep it for."
CONFLICT_MESSAGE = (
    "This toolkit cannot be loaded beside the one in conflicts_with, which has a tool of it with other settings. "
    "Nothing was changed; if you need this one, unload that one first."
)
CONFLICT_STAYS_MESSAGE = (
    "This toolkit cannot be loaded: you always have a tool of it with other settings. Nothing was changed, and nothing "
    "you can do will change that."
)


def make_answer(status: str, **parts: Any) -> Answer:
    """An answer, with what every answer has."""
    return {"status": status, "tool": DYNAMIC_TOOLS, **parts}


def make_refusal(name: str, key: str | None, allowed: Iterable[str]) -> Answer:
    """To a toolkit that there is not (`key` is `None`), or that this agent may not have."""
    keys = list(allowed)
    status, words = ("unknown", "There is no such toolkit.") if key is None else ("not_allowed", "You may not have it.")
    message = f"{words} {'Choose one of allowed_toolkits.' if keys else 'There is none that you may load.'}"
    return make_answer(status, toolkit=name if key is None else key, allowed_toolkits=keys, message=message)


def make_usage_error(name: str, arguments: object, allowed: Iterable[str]) -> Answer:
    """To arguments that name no toolkit; `name` is what the tool goes by."""
    if not isinstance(arguments, Mapping):
        wrong = "The arguments are no JSON object."
    elif arguments.get("toolkit") is None:
        wrong = "The argument 'toolkit' is missing."
    else:
        wrong = "The argument 'toolkit' must be a string."
    message = f'{wrong} Call {name} with {{"toolkit": NAME}}.'
    return make_answer("error", allowed_toolkits=list(allowed), message=message)


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
