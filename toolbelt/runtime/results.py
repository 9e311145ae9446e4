"""What a model asks for and what comes of it, in frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
