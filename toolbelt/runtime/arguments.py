"""The arguments of a call: read, copied, and checked against the tool's schema (rule R3)."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.validators import SchemaValidator
from toolbelt.errors import nearest

MAX_DEPTH = 100
"""How many objects and lists may be inside one another: far beyond what a tool takes, and before Python gives up."""
MAX_INTEGER_BITS = 14_000
"""Longer ones cannot be written in decimal (`sys.int_info.default_max_str_digits`)."""
MAX_FAULTS_SHOWN = 5
_FAULTS_READ = 100
_MESSAGE_CHARS = 300
_NAMES_TOLD = 20
_SCALARS = frozenset((str, float, bool, type(None)))


Parse = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Makes arguments into what the function takes, by name; raises `ArgumentsError` where they are against the schema."""


class ArgumentsError(ValueError):
    """Arguments that are against the schema of a tool: all their faults, in a line for the model."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that the model fills.

    Attributes:
        annotation: With every name in it resolved; `Any` if there is none.
        default: `inspect.Parameter.empty` if there is none.
        description: What the docstring says of it.
    """

    annotation: Any = Any
    default: Any = inspect.Parameter.empty
    description: str = ""


def read_arguments(args: Any) -> dict[str, Any]:
    """Arguments as a provider hands them over, made into plain values that are nobody else's.

    Args:
        args: A mapping, or JSON text of an object; empty text is an empty object.

    Raises:
        ArgumentsError: what is wrong, and where.
    """
    if isinstance(args, str | bytes | bytearray):
        args = _parse(args)
    if not isinstance(args, Mapping):
        raise ArgumentsError(f"they must be a JSON object, not {_kind(args)}.")
    copied: dict[str, Any] = copy_value(args)
    return copied


def copy_value(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A copy with mappings and lists of its own; what is neither stays the same object.

    Raises:
        ArgumentsError: it is too deep, holds itself, or holds what JSON cannot.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is int:
        if value.bit_length() > MAX_INTEGER_BITS:
            raise ArgumentsError("they hold a number with too many digits.")
        return value
    if isinstance(value, Mapping | list | tuple) and not depth:
        raise ArgumentsError(f"they are nested more than {MAX_DEPTH} deep.")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ArgumentsError(f"the names in an object must be text, not {_kind(key)}.")
        return {key: copy_value(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_value(item, depth - 1) for item in value]
    return value


def _parse(text: str | bytes | bytearray) -> Any:
    try:
        written = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise ArgumentsError(f"they are not JSON: not UTF-8 at byte {error.start + 1}.") from None
    if not written.strip():
        return {}
    try:
        return json.loads(written)
    except json.JSONDecodeError as error:
        near = written[max(error.pos - 15, 0) : error.pos + 15]
        place = f"line {error.lineno}, column {error.colno}"
        raise ArgumentsError(f"they are not JSON: {error.msg} at {place}, near {near!r}.") from None
    except RecursionError:
        raise ArgumentsError(f"they are nested more than {MAX_DEPTH} deep.") from None
    except ValueError:  # the only other: a whole number with more digits than Python reads
        raise ArgumentsError("they hold a number with too many digits.") from None


def check_schema(validator: SchemaValidator | None, arguments: Mapping[str, Any]) -> None:
    """Check arguments against the schema of a tool; a schema that is broken (`None`) accepts everything.

    Raises:
        ArgumentsError: the first few faults, each with where it is.
    """
    if validator is None:
        return
    faults = islice(validator.faults(arguments), _FAULTS_READ)
    if found := sorted(faults, key=lambda fault: [str(step) for step in fault.absolute_path]):  # the same each time
        told = [f"{_place(fault.absolute_path)}{_shortened(fault.message)}" for fault in found[:MAX_FAULTS_SHOWN]]
        raise ArgumentsError("; ".join([*told, "and more"] if len(found) > MAX_FAULTS_SHOWN else told) + ".")


def describe_arguments_error(tool: Tool, message: str) -> str:
    """A fault in a sentence for the model, with what the tool takes."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    takes = ""
    if isinstance(properties, Mapping):
        needed = required if isinstance(required, list) else ()
        names = [f"{name} (required)" if name in needed else str(name) for name in properties]
        more = ", ..." if len(names) > _NAMES_TOLD else ""
        takes = f" It takes: {', '.join(names[:_NAMES_TOLD])}{more}." if names else " It takes no arguments."
    return f"The arguments of {tool.name} cannot be used: {message}{takes}"


def _place(path: Any) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{steps.removeprefix('.')}: " if steps else ""


def _shortened(text: str) -> str:
    return text if len(text) <= _MESSAGE_CHARS else f"{text[: _MESSAGE_CHARS // 2]} ... {text[-_MESSAGE_CHARS // 2 :]}"


def _kind(value: Any) -> str:
    """What JSON calls the type of a value, with its article."""
    names = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


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
