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
"""How deep objects and lists may be nested: far beyond what a tool takes, and before Python fails."""
MAX_INTEGER_BITS = 14_000
"""Python cannot write longer integers in decimal (`sys.int_info.default_max_str_digits`)."""
MAX_FAULTS_SHOWN = 5
_MAX_FAULTS_READ = 100
_MESSAGE_CHARS = 300
_MAX_NAMES = 20
_SCALARS = frozenset((str, float, bool, type(None)))


Parse = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Turns arguments into the values of a function's parameters, by name; raises `ArgumentsError`."""


class ArgumentsError(ValueError):
    """Arguments that do not match the schema of a tool; the message lists all faults, for the model."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that the model fills.

    Attributes:
        annotation: With every name in it resolved; `Any` if there is none.
        default: `inspect.Parameter.empty` if there is none.
        description: From the docstring.
    """

    annotation: Any = Any
    default: Any = inspect.Parameter.empty
    description: str = ""


def read_arguments(args: Any) -> dict[str, Any]:
    """Arguments from a provider, copied into plain values.

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
    """A copy of the mappings and lists in a value; everything else stays the same object.

    Raises:
        ArgumentsError: it is too deep, contains itself, or contains what JSON cannot.
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
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise ArgumentsError(f"they are not JSON: not UTF-8 at byte {error.start + 1}.") from None
    if not decoded.strip():
        return {}
    try:
        return json.loads(decoded)
    except json.JSONDecodeError as error:
        excerpt = decoded[max(error.pos - 15, 0) : error.pos + 15]
        place = f"line {error.lineno}, column {error.colno}"
        raise ArgumentsError(f"they are not JSON: {error.msg} at {place}, near {excerpt!r}.") from None
    except RecursionError:
        raise ArgumentsError(f"they are nested more than {MAX_DEPTH} deep.") from None
    except ValueError:  # the only other error: a whole number with more digits than Python reads
        raise ArgumentsError("they hold a number with too many digits.") from None


def check_schema(validator: SchemaValidator | None, arguments: Mapping[str, Any]) -> None:
    """Check arguments against the schema of a tool; a schema that is broken (`None`) accepts everything.

    Raises:
        ArgumentsError: the first few faults, each with where it is.
    """
    if validator is None:
        return
    faults = islice(validator.faults(arguments), _MAX_FAULTS_READ)
    if ordered := sorted(faults, key=lambda fault: [str(step) for step in fault.path]):
        clauses = [f"{_place(fault.path)}{_shortened(fault.message)}" for fault in ordered[:MAX_FAULTS_SHOWN]]
        raise ArgumentsError("; ".join([*clauses, "and more"] if len(ordered) > MAX_FAULTS_SHOWN else clauses) + ".")


def describe_arguments_error(tool: Tool, message: str) -> str:
    """An error message for the model, with the arguments that the tool takes."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    hint = ""
    if isinstance(properties, Mapping):
        needed = required if isinstance(required, list) else ()
        names = [f"{name} (required)" if name in needed else str(name) for name in properties]
        more = ", ..." if len(names) > _MAX_NAMES else ""
        hint = f" It takes: {', '.join(names[:_MAX_NAMES])}{more}." if names else " It takes no arguments."
    return f"The arguments of {tool.name} cannot be used: {message}{hint}"


def _place(path: Any) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{steps.removeprefix('.')}: " if steps else ""


def _shortened(text: str) -> str:
    return text if len(text) <= _MESSAGE_CHARS else f"{text[: _MESSAGE_CHARS // 2]} ... {text[-_MESSAGE_CHARS // 2 :]}"


def _kind(value: Any) -> str:
    """The JSON name of a value's type, with its article."""
    names = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


_MAX_CLAUSES = 8
_MAX_SHOWN_CHARS = 60
_SUBJECTS = "Input|Value|String|Bytes|List|Tuple|Set|Frozenset|Dictionary"
_START = re.compile(rf"\s*(?:Value error, |Assertion failed, |(?:{_SUBJECTS}) (?=should ))")
"""What pydantic writes before the message itself."""
_MESSAGES = {"extra_forbidden": "is not known here", "invalid_key": "has a name that is not text"}


def describe_faults(
    args: Any, faults: Iterable[Mapping[str, Any]], unknown: Sequence[str], known: Sequence[str], extra_key: str = ""
) -> str:
    """All faults of arguments, with one clause each.

    Args:
        args: The validated arguments.
        faults: In pydantic's form.
        unknown: Names that are not arguments of the tool.
        known: Names of its arguments.
        extra_key: Key of `args` with the extra arguments; the model wrote them on the level of the others.
    """
    clauses = [f"there is no argument {name!r}{_suggest_name(name, known)}" for name in unknown]
    messages_by_place: dict[tuple[str, str], dict[str, None]] = {}
    for fault in faults:
        path, value = _locate(args, fault["loc"], is_missing=fault["type"] == "missing")
        place = _format_path(path[1:] if extra_key and path[:1] == [extra_key] else path)
        if fault["type"] == "missing":
            messages_by_place[place, "missing"] = {}
        else:
            message = _MESSAGES.get(fault["type"]) or _clean_message(str(fault["msg"]))
            messages_by_place.setdefault((place, f"{_shown(value)} but "), {})[message] = None
    clauses += [
        f"{place!r} is {state}{' or '.join(messages)}" for (place, state), messages in messages_by_place.items()
    ]
    more = len(clauses) - _MAX_CLAUSES
    return "; ".join([*clauses[:_MAX_CLAUSES], *([f"and {more} more"] if more > 0 else [])]) + "."


def _suggest_name(name: str, known: Sequence[str]) -> str:
    close = nearest(name, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _clean_message(message: str) -> str:
    return " ".join(_START.sub("", message, count=1).rstrip(". \n").split())


def _locate(args: Any, loc: Sequence[str | int], *, is_missing: bool) -> tuple[list[str | int], Any]:
    """The path of a fault without the names of union members that pydantic tried, and the value there."""
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
