"""The arguments of a call: read, copied, and held against the tool's schema (rule R3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.signatures import ArgumentsError

MAX_DEPTH = 100
"""How many objects and lists may be inside one another: far beyond what a tool takes, and before Python gives up."""
MAX_INTEGER_BITS = 14_000
"""Longer ones cannot be written in decimal (`sys.int_info.default_max_str_digits`)."""
FAULTS_TOLD = 5
_FAULTS_READ = 100
_MESSAGE_CHARS = 300
_NAMES_TOLD = 20
_SCALARS = frozenset((str, float, bool, type(None)))


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


def check_schema(tool: ExecutableTool, arguments: Mapping[str, Any]) -> None:
    """Hold arguments against the parameters of a tool; a schema that is broken holds nothing against them.

    Raises:
        ArgumentsError: the first few faults, each with where it is.
    """
    validator = tool.validator
    if validator is None:
        return
    faults = islice(validator.faults(arguments), _FAULTS_READ)
    if found := sorted(faults, key=lambda fault: [str(step) for step in fault.absolute_path]):  # the same each time
        told = [f"{_place(fault.absolute_path)}{_shortened(fault.message)}" for fault in found[:FAULTS_TOLD]]
        raise ArgumentsError("; ".join([*told, "and more"] if len(found) > FAULTS_TOLD else told) + ".")


def explain(tool: ExecutableTool, message: str) -> str:
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
