"""What a probe shows of a model, in the words in which `toolbelt.yaml` says it."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.probe import CheckOutcome, ProbeResult

_ANSWERED = (CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS)


def learned(result: ProbeResult) -> dict[str, Any]:
    """What it really shows; what it leaves open is left out.

    Args:
        result: Of a probe, finished or not.

    Returns:
        Of these, by the names of `OwnModel`'s attributes: `tool_calling`; `parallel_calls`; `tool_choice`, where both
        ways of demanding a call came out alike; `max_tools`, the most tools that a request was seen to hold where one
        of more was refused, so that the limit may lie between them; `caching`, only where cached tokens were reported:
        that none were does not show that a longer prompt has none.
    """
    shown: dict[str, Any] = {}
    if result.outcome(FIRST) is CheckOutcome.REFUSED:
        return {"tool_calling": False}
    if any(one.outcome.is_usable for one in result.checks if one.key in _BY_CALLING):
        shown["tool_calling"] = True
    parallel = result.outcome("parallel_calls")
    if parallel in (CheckOutcome.WORKS, CheckOutcome.PARTLY):
        shown["parallel_calls"] = parallel is CheckOutcome.WORKS
    demanded = {result.outcome("choice_required"), result.outcome("choice_named")}
    if demanded in ({CheckOutcome.WORKS}, {CheckOutcome.REFUSED}):
        shown["tool_choice"] = CheckOutcome.WORKS in demanded
    if (most := _most_tools(result)) is not None:
        shown["max_tools"] = most
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


def _most_tools(result: ProbeResult) -> int | None:
    """The most that were answered below the fewest that were refused; `None` where refusals do not go by number."""
    refused = [count for count in TOOL_COUNTS if result.outcome(tools_key(count)) is CheckOutcome.REFUSED]
    held = [count for count in TOOL_COUNTS if result.outcome(tools_key(count)) in _ANSWERED]
    if not refused or not held or max(held) > min(refused):
        return None
    return max(held)
