"""How long results may be (rule R4)."""

from __future__ import annotations

from dataclasses import replace

from toolbelt.runtime.results import ToolResult


def share_of(total_chars: int, calls: int) -> int:
    """What each call of a batch may have, rounded down; a batch without calls shares as one of a single call."""
    return total_chars // max(calls, 1)


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
