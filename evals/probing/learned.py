"""What a probe shows of a model, in the words in which `toolbelt.yaml` says it."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.limits import find_limit
from toolbelt.evals.probing.probe import CheckOutcome, ProbeResult
from toolbelt.evals.probing.windows import find_window


def learned(result: ProbeResult) -> dict[str, Any]:
    """What it really shows; what it leaves open is left out.

    Args:
        result: Of a probe, finished or not.

    Returns:
        Of these, by the names of `OwnModel`'s attributes: `context_window`, where the provider named it as it turned a
        check away; `tool_calling`; `parallel_calls`; `tool_choice`, where both
        ways of demanding a call came out alike; `max_tools`, only where the API named it as it refused more: what a
        request was seen to hold is no limit; `caching`, only where cached tokens were reported: that none were does not
        show that a longer prompt has none.
    """
    shown: dict[str, Any] = {}
    if (window := _told_window(result)) is not None:
        shown["context_window"] = window
    if result.outcome(FIRST) is CheckOutcome.REFUSED:
        return {**shown, "tool_calling": False}
    if any(one.outcome.is_usable for one in result.checks if one.key in _BY_CALLING):
        shown["tool_calling"] = True
    parallel = result.outcome("parallel_calls")
    if parallel in (CheckOutcome.WORKS, CheckOutcome.PARTLY):
        shown["parallel_calls"] = parallel is CheckOutcome.WORKS
    demanded = {result.outcome("choice_required"), result.outcome("choice_named")}
    if demanded in ({CheckOutcome.WORKS}, {CheckOutcome.REFUSED}):
        shown["tool_choice"] = CheckOutcome.WORKS in demanded
    if (limit := find_limit(result)) is not None and limit.told is not None:
        shown["max_tools"] = limit.told
    if result.outcome("cached_tokens") is CheckOutcome.WORKS:
        shown["caching"] = True
    return shown


_BY_CALLING = frozenset(
    {
        FIRST, "parallel_calls", "choice_required", "choice_named", "nested_arguments", "enum_arguments", "unicode",
        "long_name", "empty_parameters", "after_result", "growing_tools", "retired_tool", *map(tools_key, TOOL_COUNTS),
    }
)  # fmt: skip
"""Checks that come out well only if a tool was called."""


def _told_window(result: ProbeResult) -> int | None:
    """What the provider said that its window is; `None` if it did not say, or said several things."""
    refusals = (one for one in result.checks if one.outcome is CheckOutcome.TOO_LARGE and one.requests)
    told = {window for one in refusals if (window := find_window(one.said)) is not None}
    return told.pop() if len(told) == 1 else None
