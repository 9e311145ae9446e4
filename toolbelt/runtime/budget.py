"""How long results may be (rule R4)."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from typing import Any

from toolbelt.runtime.context import DEFAULT_RESULT_BUDGET_CHARS
from toolbelt.runtime.results import ToolResult


def share_of(total_chars: Any, calls: int) -> int:
    """What each call of a batch may have, at least 0; of a total that is no number, the default is shared."""
    try:
        share: int = floor(total_chars / max(calls, 1))
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_RESULT_BUDGET_CHARS // max(calls, 1)
    return max(share, 0)


def cap_of(share_chars: int, own_chars: int | None) -> int:
    """What a call may have whose tool names a limit of its own; `None` if it names none."""
    return share_chars if own_chars is None else min(share_chars, own_chars)


def cut_text(text: str, cap_chars: int) -> str:
    """A text, or its first characters with a mark that says how many there were."""
    return text if len(text) <= cap_chars else f"{text[:cap_chars]}\n[truncated — {len(text)} chars total]"


def cut(result: ToolResult, cap_chars: int) -> ToolResult:
    """A result whose texts are cut; everything else stays."""
    value, error = result.value, result.error
    if len(value) <= cap_chars and (error is None or len(error) <= cap_chars):
        return result
    return replace(
        result, value=cut_text(value, cap_chars), error=None if error is None else cut_text(error, cap_chars)
    )
