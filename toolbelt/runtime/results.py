"""Calls and their results as frozen values, and how a result is made from what a tool returned (rules R3, R4)."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping, Set, ValuesView
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Self

from toolbelt.text import without_addresses


class FailureCode(StrEnum):
    """Why a call failed (rule R3)."""

    NOT_AVAILABLE = "not_available"
    """No such tool, not permitted here, not available now, or refused by its guard."""
    EXECUTION_FAILED = "execution_failed"
    """It ran, and raised or returned what cannot be used."""
    INPUT_INVALID = "input_invalid"
    """The arguments are not a JSON object, or do not match the schema."""
    TIMEOUT = "timeout"
    """It took longer than its time limit."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a model.

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
        """A call from any common form; what is missing is empty, and nothing is raised.

        Args:
            call: A `ToolCall`; or a mapping or object with `name`, an id (`tool_call_id`, `call_id` or `id`) and
                arguments (`args`, `arguments` or `input`), also as `toolName`, `toolCallId` and `callId`. In OpenAI's
                chat form, name and arguments are inside `function`. This covers litellm, OpenAI's and Anthropic's
                packages, MCP and the AI SDK of JavaScript.
        """
        if isinstance(call, cls):
            is_text = type(call.tool_call_id) is str and type(call.name) is str
            return call if is_text else cls(_text(call.tool_call_id), _text(call.name), call.args)
        function = _part(call, "function")
        source = call if function is None else function
        call_id, name = _part(call, *_ID_KEYS), _part(source, *_NAME_KEYS)
        args = _part(source, *_ARGUMENT_KEYS)
        return cls(_text(call_id), _text(name), {} if args is None else args)


_ID_KEYS = ("tool_call_id", "toolCallId", "call_id", "callId", "id")
"""The first one counts: an item of OpenAI's Responses API has its own `id` beside the `call_id` of the answer."""
_NAME_KEYS = ("name", "tool_name", "toolName")
_ARGUMENT_KEYS = ("args", "arguments", "input")


def _part(source: Any, *keys: str) -> Any:
    """The value of the first key that has one."""
    for key in keys:
        value = source.get(key) if isinstance(source, Mapping) else getattr(source, key, None)
        if value is not None:
            return value
    return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one call.

    Attributes:
        ok: Whether the tool ran and returned.
        value: What the tool returned, as text for the model; empty where it failed.
        error: What went wrong, in a sentence for the model; `None` for a success.
        code: Why it failed; `None` for a success.
        structured: What the tool returned, as a value for the program; never cut.
        cost_usd: The cost of the call, if the tool states it.
        printed: What the tool wrote to standard output; it goes nowhere else.
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
        """The result of a call that failed."""
        return cls(ok=False, error=error, code=code)

    @property
    def text(self) -> str:
        """The text for the model: the value, or the error."""
        return self.value if self.ok else self.error or ""


@dataclass(frozen=True, slots=True)
class CallResult:
    """A result with its call.

    Attributes:
        tool_call_id: Of the call.
        name: As the model wrote it.
        result: Its result.
    """

    tool_call_id: str
    name: str
    result: ToolResult

    def to_message(self) -> dict[str, Any]:
        """The message of the next request, in OpenAI's form."""
        return {"role": "tool", "tool_call_id": self.tool_call_id, "content": self.result.text}


_SCALARS = frozenset((int, bool))
_NO_JSON = ("NaN", "Infinity")
"""How Python writes the numbers that JSON does not have."""
_JSON = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads what Python writes; those numbers become `null`."""
_MAX_CAUSES = 5


def make_result(tool_name: str, returned: Any) -> ToolResult:
    """The result for what a tool returned.

    Text stays as it is, and `None` becomes empty text; a `ToolResult` is checked. Everything else becomes JSON, with
    the plain value as `structured`: also dataclasses, pydantic models, dates, enums, sets and paths. A value that JSON
    writes as a single text, such as a date, becomes that text without quotes. Numbers that JSON does not have (NaN and
    the infinities) become `null`, in the text and in `structured`.
    """
    kind = type(returned)
    if kind is str:
        return ToolResult(True, returned)
    if returned is None:
        return ToolResult(True)
    if isinstance(returned, ToolResult):
        return _checked(tool_name, returned)
    if isinstance(returned, str) and not hasattr(returned, "value"):  # but no enum of texts
        return ToolResult(True, str.__str__(returned))
    try:
        text = _to_json(returned)
        structured = returned if kind in _SCALARS else _JSON.decode(text)
        if any(name in text for name in _NO_JSON):
            text = json.dumps(structured, ensure_ascii=False)
    except Exception as error:  # noqa: BLE001  someone else's object: its methods may raise anything (rule R7)
        close_unawaited(returned)
        reason = _describe_json_error(error, kind)
        message = f"Tool {tool_name} failed: it returned {_a(kind)}, which cannot be written as JSON{reason}."
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    return ToolResult(True, structured if isinstance(structured, str) else text, structured=structured)


def describe_error(error: BaseException) -> str:
    """`ValueError: no such file`; never raises, whatever the exception does when it is formatted."""
    try:
        message = without_addresses(str(error).strip())
    except BaseException:  # noqa: BLE001  someone else's exception: its type is enough
        message = ""
    kind = type(error).__name__
    if isinstance(error, BaseExceptionGroup):  # of a task group: its own message says nothing
        message += f": {'; '.join(map(describe_error, error.exceptions[:_MAX_CAUSES]))}"
    return f"{kind}: {message}" if message else kind


def make_encodable(text: str) -> str:
    """The text without lone surrogates, which no request could carry."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def close_unawaited(value: Any) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn about it."""
    if inspect.iscoroutine(value):
        value.close()


class _NotPlainError(TypeError):
    """A value of this type has no JSON form."""

    def __init__(self, kind: type) -> None:
        super().__init__(kind)
        self.kind = kind


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_simplify)
    except _NotPlainError:
        raise
    except TypeError:  # keys that are not text, which only pydantic can write
        return json.dumps(_pydantic(value), ensure_ascii=False)


def _simplify(value: Any) -> Any:
    """A value that `json` cannot write, one step simpler."""
    if inspect.isgenerator(value) or inspect.isasyncgen(value) or inspect.isawaitable(value):
        close_unawaited(value)
        raise _NotPlainError(type(value))
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__pydantic_serializer__"):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        try:
            return sorted(value)  # the same order in each run
        except TypeError:
            return list(value)
    if isinstance(value, range | ValuesView):
        return list(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else _pydantic(value)


def _pydantic(value: Any) -> Any:
    from pydantic_core import to_jsonable_python  # loaded only for rare values; it can write most of them

    try:
        return to_jsonable_python(value, fallback=_refuse)
    except UnicodeDecodeError:
        return to_jsonable_python(value, fallback=_refuse, bytes_mode="base64")
    except ValueError as error:
        if "utf-8" not in str(error):
            raise
        return to_jsonable_python(value, fallback=_refuse, bytes_mode="base64")


def _refuse(value: Any) -> Any:
    raise _NotPlainError(type(value))


def _checked(tool_name: str, result: ToolResult) -> ToolResult:
    """A result that a tool made itself; with parts of the wrong type it is a failure."""
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
            message = f"Tool {tool_name} failed: the {part} of its result is {_a(type(value))}."
            return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    value, printed = str.__str__(result.value), str.__str__(result.printed)  # plain strings, not of a subclass
    if result.ok:
        return replace(result, value=value, printed=printed, error=None, code=None)
    code = FailureCode.EXECUTION_FAILED if result.code is None else FailureCode(result.code)
    error = str.__str__(result.error or "") or f"Tool {tool_name} failed and did not say why."
    return replace(result, value=value, printed=printed, error=error, code=code)


def _describe_json_error(error: Exception, returned_kind: type) -> str:
    if isinstance(error, _NotPlainError):
        return "" if error.kind.__name__ == returned_kind.__name__ else f": there is {_a(error.kind)} in it"
    if isinstance(error, RecursionError):
        return ": it is too deep"
    if isinstance(error, ValueError) and "ircular" in str(error):
        return ": it holds itself"
    return f": {describe_error(error)}"


def _a(kind: type) -> str:
    name = kind.__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def chars_per_call(total_chars: int, calls: int) -> int:
    """The share of each call in the result budget of a batch, rounded down."""
    return total_chars // max(calls, 1)


def max_chars_of_call(share_chars: int, own_chars: int | None) -> int:
    """The size limit of a call: its share, or the limit of its own tool (`None` for none) if that is smaller."""
    return share_chars if own_chars is None else min(share_chars, own_chars)


def cut_text(text: str, max_chars: int) -> str:
    """The text, or its first characters with a mark that states the full length."""
    return text if len(text) <= max_chars else f"{text[:max_chars]}\n[truncated — {len(text)} chars total]"


def cut_result(result: ToolResult, max_chars: int) -> ToolResult:
    """The result with its texts cut; everything else stays."""
    value, error = result.value, result.error
    if len(value) <= max_chars and (error is None or len(error) <= max_chars):
        return result
    return replace(
        result, value=cut_text(value, max_chars), error=None if error is None else cut_text(error, max_chars)
    )


def limit_result(result: ToolResult, max_chars: int) -> ToolResult:
    """A result that can be sent: cut to its size limit, without characters that cannot be encoded."""
    result = cut_result(result, max_chars)
    if result.value.isascii() and (result.error is None or result.error.isascii()) and not result.printed:
        return result
    error = None if result.error is None else make_encodable(result.error)
    return replace(result, value=make_encodable(result.value), error=error, printed=make_encodable(result.printed))
