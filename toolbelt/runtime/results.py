"""Calls and their results as frozen values, and how a result is made from what a tool returned (rules R3, R4)."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Set, ValuesView
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Self


class FailureCode(StrEnum):
    """Why a call came to nothing (rule R3)."""

    NOT_AVAILABLE = "not_available"
    """No such tool, not permitted here, not to be had now, or refused by its guard."""
    EXECUTION_FAILED = "execution_failed"
    """It ran, and raised or returned what cannot be used."""
    INPUT_INVALID = "input_invalid"
    """The arguments are no JSON object, or go against the schema."""
    TIMEOUT = "timeout"
    """It took longer than it may."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    Attributes:
        tool_call_id: The call's id, repeated in its result.
        name: As the model wrote it, which need not be the name of anything.
        args: The arguments: a mapping, or the JSON text a provider hands over.
    """

    tool_call_id: str
    name: str
    args: Any = field(default_factory=dict)

    @classmethod
    def of(cls, call: Any) -> Self:
        """A call in any of the forms they come in; what is missing is empty, and nothing is raised.

        Args:
            call: A `ToolCall`; or a mapping or object with `name`, an id (`tool_call_id`, `call_id` or `id`) and
                arguments (`args`, `arguments` or `input`), the last two of them inside of `function` in OpenAI's chat
                form: whatever litellm, OpenAI's and Anthropic's packages and MCP hand over.
        """
        if isinstance(call, cls):
            is_text = type(call.tool_call_id) is str and type(call.name) is str
            return call if is_text else cls(_text(call.tool_call_id), _text(call.name), call.args)
        function = _part(call, "function")
        source = call if function is None else function
        call_id, name = _part(call, *_ID_KEYS), _part(source, "name")
        args = _part(source, *_ARGUMENT_KEYS)
        return cls(_text(call_id), _text(name), {} if args is None else args)


_ID_KEYS = ("tool_call_id", "call_id", "id")
"""The first of them counts: an item of OpenAI's responses has an `id` of its own beside the `call_id` to answer to."""
_ARGUMENT_KEYS = ("args", "arguments", "input")


def _part(of: Any, *keys: str) -> Any:
    """The first of the keys that says something."""
    for key in keys:
        found = of.get(key) if isinstance(of, Mapping) else getattr(of, key, None)
        if found is not None:
            return found
    return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of one call.

    Attributes:
        ok: Whether the tool ran and returned.
        value: What it returned, as text for the model; empty where it failed.
        error: What went wrong, in a sentence for the model; `None` where nothing did.
        code: Why it failed; `None` where it did not.
        structured: What it returned, as a value for the program; never cut.
        cost_usd: What the call cost, where the tool says so.
        printed: What it wrote to standard output, which reaches nobody else.
    """

    ok: bool
    value: str = ""
    error: str | None = None
    code: FailureCode | None = None
    structured: Any = None
    cost_usd: float | None = None
    printed: str = ""

    @classmethod
    def failure(cls, code: FailureCode, error: str) -> Self:
        """A call that came to nothing."""
        return cls(ok=False, error=error, code=code)

    @property
    def text(self) -> str:
        """What the model is told: the value, or the error."""
        return self.value if self.ok else self.error or ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """A result with the call it belongs to.

    Attributes:
        tool_call_id: Of the call.
        name: As the model wrote it.
        result: What became of it.
    """

    tool_call_id: str
    name: str
    result: ToolResult

    def to_message(self) -> dict[str, Any]:
        """As the next request carries it, in OpenAI's form."""
        return {"role": "tool", "tool_call_id": self.tool_call_id, "content": self.result.text}


_SCALARS = frozenset((int, bool))
_NO_JSON = ("NaN", "Infinity")
"""How Python writes the numbers that JSON lacks."""
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads what Python writes, and those numbers as `null`."""
_CAUSES_TOLD = 5


def make_result(tool_name: str, returned: Any) -> ToolResult:
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
        close_unawaited(returned)
        reason = str(error) if isinstance(error, _NotPlainError) else _reason(error)
        culprit = _a(kind.__name__)
        reason = "" if reason == f": there is {culprit} in it" else reason
        message = f"Tool {tool_name} failed: it returned {culprit}, which cannot be written as JSON{reason}."
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    return ToolResult(True, structured if isinstance(structured, str) else text, structured=structured)


def describe_error(error: BaseException) -> str:
    """`ValueError: no such file`, whatever the exception does when asked for its text."""
    try:
        said = str(error).strip()
    except BaseException:  # noqa: BLE001  somebody's exception: that it was raised is what matters
        said = ""
    kind = type(error).__name__
    if isinstance(error, BaseExceptionGroup):  # as a task group raises it, whose own words say nothing
        said += f": {'; '.join(map(describe_error, error.exceptions[:_CAUSES_TOLD]))}"
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


def close_unawaited(value: Any) -> None:
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
        close_unawaited(value)
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
    return f": {describe_error(error)}"


def _a(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def chars_per_call(total_chars: int, calls: int) -> int:
    """What each call of a batch may have, rounded down; a batch without calls shares as one of a single call."""
    return total_chars // max(calls, 1)


def max_chars_of_call(share_chars: int, own_chars: int | None) -> int:
    """What a call may have whose tool names a limit of its own; `None` if it names none."""
    return share_chars if own_chars is None else min(share_chars, own_chars)


def cut_text(text: str, cap_chars: int) -> str:
    """A text, or its first characters with a mark that says how many there were."""
    return text if len(text) <= cap_chars else f"{text[:cap_chars]}\n[truncated — {len(text)} chars total]"


def cut_result(result: ToolResult, cap_chars: int) -> ToolResult:
    """A result whose texts are cut; everything else stays."""
    value, error = result.value, result.error
    if len(value) <= cap_chars and (error is None or len(error) <= cap_chars):
        return result
    return replace(
        result, value=cut_text(value, cap_chars), error=None if error is None else cut_text(error, cap_chars)
    )


def limit_result(result: ToolResult, max_chars: int) -> ToolResult:
    """A result that can be sent: cut to its size limit, without characters that cannot be encoded."""
    result = cut_result(result, max_chars)
    if result.value.isascii() and (result.error is None or result.error.isascii()) and not result.printed:
        return result
    error = None if result.error is None else make_encodable(result.error)
    return replace(result, value=make_encodable(result.value), error=error, printed=make_encodable(result.printed))
