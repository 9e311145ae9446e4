"""Recorded responses of a run, in words."""

from __future__ import annotations

from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.render.numbers import format_cost
from toolbelt.text import plural

_DAY_DIGITS = 10
"""Characters of a time that are its day."""


def describe_days(oldest: str, newest: str) -> str:
    """`2026-11-02`, or `2026-11-02 to 2026-11-05`."""
    first, last = oldest[:_DAY_DIGITS], newest[:_DAY_DIGITS]
    return first if first == last else f"{first} to {last}"


def recorded_line(summary: RunSummary) -> str:
    """What was reused, of when, and at what cost it was asked; empty where nothing was.

    `$0 spent; 868 recorded responses of 2026-11-02, originally $1.23.`
    """
    used = [model for model in summary.responses if model.recorded.responses]
    if not used:
        return ""
    days = describe_days(min(use.recorded.oldest for use in used), max(use.recorded.newest for use in used))
    costs = [use.original_cost_usd for use in used]
    known = [cost for cost in costs if cost is not None]
    original = f"originally {format_cost(sum(known))}" if len(known) == len(costs) else "of unknown original cost"
    is_known = all(arm.cost_usd_total is not None for arm in summary.arms)
    amount = f"{format_cost(summary.spent_usd or 0.0)} spent" if is_known else "Spent: unknown"
    count, live = sum(use.recorded.responses for use in used), sum(use.live.responses for use in summary.responses)
    new = f"; {plural(live, 'response')} asked by this run" if live else ""
    return f"{amount}; {plural(count, 'recorded response')} of {days}, {original}{new}."
