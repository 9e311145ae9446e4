"""What is wrong with arguments, in a line that a model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbelt.errors import nearest

_MAX_FAULTS = 8
_MAX_SHOWN_CHARS = 60
_SUBJECTS = "Input|Value|String|Bytes|List|Tuple|Set|Frozenset|Dictionary"
_START = re.compile(rf"\s*(?:Value error, |Assertion failed, |(?:{_SUBJECTS}) (?=should ))")
"""What stands before the message proper."""
_MESSAGES = {"extra_forbidden": "is not known here", "invalid_key": "has a name that is not text"}


def describe_faults(
    args: Any, faults: Iterable[Mapping[str, Any]], unknown: Sequence[str], known: Sequence[str], beside: str = ""
) -> str:
    """All faults of arguments, a clause each.

    Args:
        args: What was validated.
        faults: As pydantic lists them.
        unknown: Names that are no argument of the tool.
        known: Names that are.
        beside: Key of `args` whose content the model wrote beside the others.
    """
    said = [f"there is no argument {name!r}{_suggested(name, known)}" for name in unknown]
    wrong: dict[tuple[str, str], dict[str, None]] = {}
    for fault in faults:
        path, value = _locate(args, fault["loc"], is_missing=fault["type"] == "missing")
        place = _format_path(path[1:] if beside and path[:1] == [beside] else path)
        if fault["type"] == "missing":
            wrong[place, "missing"] = {}
        else:
            message = _MESSAGES.get(fault["type"]) or _plain(str(fault["msg"]))
            wrong.setdefault((place, f"{_shown(value)} but "), {})[message] = None
    said += [f"{place!r} is {state}{' or '.join(messages)}" for (place, state), messages in wrong.items()]
    more = len(said) - _MAX_FAULTS
    return "; ".join([*said[:_MAX_FAULTS], *([f"and {more} more"] if more > 0 else [])]) + "."


def _suggested(name: str, known: Sequence[str]) -> str:
    close = nearest(name, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _plain(message: str) -> str:
    return " ".join(_START.sub("", message, count=1).rstrip(". \n").split())


def _locate(args: Any, loc: Sequence[str | int], *, is_missing: bool) -> tuple[list[str | int], Any]:
    """The path of a fault, without the names of the kinds that pydantic tried on its way, and what is there."""
    path: list[str | int] = []
    value = args
    for number, step in enumerate(loc):
        if isinstance(value, Mapping) and step in value:
            value = value[str(step)]
        elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        elif not is_missing or number < len(loc) - 1:
            continue
        path.append(step)
    return path, value


def _format_path(path: Iterable[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[: _MAX_SHOWN_CHARS - 1]}…"
