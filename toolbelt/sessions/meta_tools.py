"""The three tools by which an agent finds, loads and unloads toolkits, and their answers (rules D2, D3)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
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


MetaToolAnswer = dict[str, Any]
"""The answer of a meta-tool, as JSON values: always with a `status` and `tool`."""
NEXT_REQUEST = "next_request"
"""When a change takes effect: at the next turn, with the user's next message. A turn may have many requests to a model;
the specification prescribes the literal (rule D4)."""


class AnswerStatus(StrEnum):
    """The status of an answer (rule D3)."""

    OK = "ok"
    LOADED = "loaded"
    UNLOADED = "unloaded"
    ALREADY_LOADED = "already_loaded"
    NOT_LOADED = "not_loaded"
    STICKY = "sticky"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"
    NOT_ALLOWED = "not_allowed"
    ERROR = "error"


_MESSAGES: Mapping[AnswerStatus, str] = MappingProxyType(
    {
        AnswerStatus.LOADED: "The tools of this toolkit come with the user's next message, not earlier: do not call "
        "them now. Finish your answer and tell the user that you will have them with the next message.",
        AnswerStatus.UNLOADED: "These tools are gone with the user's next message.",
        AnswerStatus.ALREADY_LOADED: "This toolkit is loaded already: you have its tools, at the latest with the "
        "user's next message.",
        AnswerStatus.NOT_LOADED: "This toolkit is not loaded, so there is nothing to unload.",
        AnswerStatus.STICKY: "This toolkit is sticky: every session has it, and it cannot be unloaded.",
    }
)
_MESSAGES_WITHOUT_TOOLS: Mapping[AnswerStatus, str] = MappingProxyType(
    {
        AnswerStatus.LOADED: "This toolkit is loaded, but there is no tool in it: it does not help with what is asked.",
        AnswerStatus.UNLOADED: "Whatever tools it has you keep, as something else brings them too.",
    }
)
NO_SESSION_MESSAGE = "Nothing can be loaded or unloaded here: there is no session to keep it for."
_CONFLICT_MESSAGE = (
    "This toolkit cannot be loaded beside the one in conflicts_with, which has a tool of it with other settings. "
    "Nothing was changed; if you need this one, unload that one first."
)
_PERMANENT_CONFLICT_MESSAGE = (
    "This toolkit cannot be loaded: you always have a tool of it with other settings. Nothing was changed, and nothing "
    "you can do will change that."
)


def make_answer(status: AnswerStatus, **parts: Any) -> MetaToolAnswer:
    """An answer with the parts that every answer has, and the message of its status if there is one."""
    if "message" not in parts and status in _MESSAGES:
        parts["message"] = _MESSAGES[status]
    return {"status": status.value, "tool": DYNAMIC_TOOLS, **parts}


def make_change_answer(status: AnswerStatus, toolkit: str, tools: Sequence[str]) -> MetaToolAnswer:
    """The answer to a change that was made: `LOADED` or `UNLOADED`, with the tools that come or go."""
    message = (_MESSAGES if tools else _MESSAGES_WITHOUT_TOOLS)[status]
    return make_answer(status, toolkit=toolkit, tools=list(tools), takes_effect=NEXT_REQUEST, message=message)


def make_conflict_answer(toolkit: str, *, is_permanent: bool, **parts: Any) -> MetaToolAnswer:
    """The answer to a toolkit that conflicts; permanently with what the agent cannot unload."""
    message = _PERMANENT_CONFLICT_MESSAGE if is_permanent else _CONFLICT_MESSAGE
    return make_answer(AnswerStatus.CONFLICT, toolkit=toolkit, message=message, **parts)


def make_refusal(name: str, key: str | None, allowed: Iterable[str]) -> MetaToolAnswer:
    """The answer to a toolkit that does not exist (`key` is `None`), or that this agent may not have."""
    keys = list(allowed)
    if key is None:
        status, reason = AnswerStatus.UNKNOWN, "There is no such toolkit."
    else:
        status, reason = AnswerStatus.NOT_ALLOWED, "You may not have it."
    message = f"{reason} {'Choose one of allowed_toolkits.' if keys else 'There is none that you may load.'}"
    return make_answer(status, toolkit=name if key is None else key, allowed_toolkits=keys, message=message)


def make_usage_error(name: str, arguments: object, allowed: Iterable[str]) -> MetaToolAnswer:
    """The answer to arguments without a toolkit; `name` is the name of the meta-tool."""
    if not isinstance(arguments, Mapping):
        problem = "The arguments are no JSON object."
    elif arguments.get("toolkit") is None:
        problem = "The argument 'toolkit' is missing."
    else:
        problem = "The argument 'toolkit' must be a string."
    message = f'{problem} Call {name} with {{"toolkit": NAME}}.'
    return make_answer(AnswerStatus.ERROR, allowed_toolkits=list(allowed), message=message)


def answer_text(answer: Mapping[str, Any]) -> str:
    """An answer as JSON with sorted keys on one line (rule D2).

    Characters that are invisible, change the text direction or are no characters are escaped. A value that JSON
    cannot write becomes text.
    """
    return escaped(json.dumps(_plain(answer), sort_keys=True, ensure_ascii=False))


def quoted(text: str) -> str:
    """A name as a JSON string on one line."""
    return escaped(json.dumps(text, ensure_ascii=False))


def escaped(text: str) -> str:
    """Text with unsafe characters as JSON escapes, which mean the same within a JSON string."""
    return UNSAFE.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _plain(value: Any) -> Any:
    """Plain JSON values: overrides come from YAML, which has dates, sets and keys that are not text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
