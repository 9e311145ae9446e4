"""What a tool returned, made into what the model reads and what the program gets."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Set, ValuesView
from dataclasses import fields, is_dataclass, replace
from typing import Any

from toolbelt.runtime.results import FailureCode, ToolResult

_SCALARS = frozenset((int, bool))
_NO_JSON = ("NaN", "Infinity")
"""How Python writes the numbers that JSON lacks."""
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads what Python writes, and those numbers as `null`."""
_CAUSES_TOLD = 5


def render(tool_name: str, returned: Any) -> ToolResult:
    """A result of what a tool returned.

    Text is taken as it is, and nothing as empty; a `ToolResult` is checked. Everything else becomes JSON, with the
    plain value as `structured`: dataclasses, pydantic models, dates, enums, sets, paths, ... among it. What comes to a
    single text, such as a date, is that text without quotes. The numbers that JSON lacks (NaN and the infinities) are
    `null`, in the text and in `structured`; a tool to which they are not all the same has to write them as text.
    """
    kind = type(returned)
    if kind is str:
        return ToolResult(True, returned)
    if returned is None:
        return ToolResult(True)
    if isinstance(returned, ToolResult):
        return _checked(tool_name, returned)
    if isinstance(returned, str) and not hasattr(returned, "value"):  # an enum of texts is none of this
        return ToolResult(True, str.__str__(returned))
    try:
        text = _to_json(returned)
        structured = returned if kind in _SCALARS else _JSON.decode(text)
        if any(name in text for name in _NO_JSON):
            text = json.dumps(structured, ensure_ascii=False)
    except Exception as error:  # noqa: BLE001  somebody's object: whatever its methods do, it is no JSON (rule R7)
        dispose(returned)
        reason = str(error) if isinstance(error, _NotPlainError) else _reason(error)
        culprit = _a(kind.__name__)
        reason = "" if reason == f": there is {culprit} in it" else reason
        message = f"Tool {tool_name} failed: it returned {culprit}, which cannot be written as JSON{reason}."
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    return ToolResult(True, structured if isinstance(structured, str) else text, structured=structured)


def describe(error: BaseException) -> str:
    """`ValueError: no such file`, whatever the exception does when asked for its text."""
    try:
        said = str(error).strip()
    except BaseException:  # noqa: BLE001  somebody's exception: that it was raised is what matters
        said = ""
    kind = type(error).__name__
    if isinstance(error, BaseExceptionGroup):  # as a task group raises it, whose own words say nothing
        said += f": {'; '.join(map(describe, error.exceptions[:_CAUSES_TOLD]))}"
    return f"{kind}: {said}" if said else kind


def make_encodable(text: str) -> str:
    """A text without half characters, with which no request could be sent."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def dispose(value: Any) -> None:
    """Close a coroutine that nobody will await, so that Python does not complain of it."""
    if inspect.iscoroutine(value):
        value.close()


class _NotPlainError(TypeError):
    """What is in the way, as the end of a sentence."""


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_simplify)
    except _NotPlainError:
        raise
    except TypeError:  # keys that are no text, which only pydantic knows how to write
        return json.dumps(_pydantic(value), ensure_ascii=False)


def _simplify(value: Any) -> Any:
    """What `json` does not know, one step simpler."""
    if inspect.isgenerator(value) or inspect.isasyncgen(value) or inspect.isawaitable(value):
        dispose(value)
        raise _NotPlainError(f": there is {_a(type(value).__name__)} in it")
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__pydantic_serializer__"):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        try:
            return sorted(value)  # an order that is the same from run to run
        except TypeError:
            return list(value)
    if isinstance(value, range | ValuesView):
        return list(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else _pydantic(value)


def _pydantic(value: Any) -> Any:
    from pydantic_core import to_jsonable_python  # of all that is rarely returned, it knows how it is written

    try:
        return to_jsonable_python(value, fallback=_refuse)
    except UnicodeDecodeError:
        return to_jsonable_python(value, fallback=_refuse, bytes_mode="base64")
    except ValueError as error:
        if "utf-8" not in str(error):
            raise
        return to_jsonable_python(value, fallback=_refuse, bytes_mode="base64")


def _refuse(value: Any) -> Any:
    raise _NotPlainError(f": there is {_a(type(value).__name__)} in it")


def _checked(tool_name: str, result: ToolResult) -> ToolResult:
    """A result that a tool made itself; one with parts of the wrong type is a failure."""
    cost: Any = result.cost_usd
    for part, value, is_right in (
        ("ok", result.ok, isinstance(result.ok, bool)),
        ("value", result.value, isinstance(result.value, str)),
        ("error", result.error, result.error is None or isinstance(result.error, str)),
        ("code", result.code, result.code is None or result.code in tuple(FailureCode)),
        ("cost_usd", cost, cost is None or (isinstance(cost, int | float) and not isinstance(cost, bool))),
        ("printed", result.printed, isinstance(result.printed, str)),
    ):
        if not is_right:
            message = f"Tool {tool_name} failed: the {part} of its result is {_a(type(value).__name__)}."
            return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    value, printed = str.__str__(result.value), str.__str__(result.printed)  # and not of a kind with ideas of its own
    if result.ok:
        return replace(result, value=value, printed=printed, error=None, code=None)
    code = FailureCode.EXECUTION_FAILED if result.code is None else FailureCode(result.code)
    error = str.__str__(result.error or "") or f"Tool {tool_name} failed and did not say why."
    return replace(result, value=value, printed=printed, error=error, code=code)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return ": it is too deep"
    if isinstance(error, ValueError) and "ircular" in str(error):
        return ": it holds itself"
    return f": {describe(error)}"


def _a(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
