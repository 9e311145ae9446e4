"""The result of a probe, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from toolbelt.evals.probing.results import CheckOutcome, ProbeResult, keys_left, keys_with, reports_cache

WORDS: Mapping[CheckOutcome, str] = MappingProxyType(
    {outcome: outcome.value.replace("_", " ") for outcome in CheckOutcome}
)
"""The text of each outcome."""


def works_line(result: ProbeResult) -> str:
    """`19 of 22 work; not: two at once (fails), 256 tools (refused); unknown: named tool`, a line for people.

    Checks that work in another way than asked for have a part of their own. Skipped checks are only counted.
    """
    count = len(keys_with(result, CheckOutcome.WORKS))
    parts = [f"{count:,} of {len(result.planned):,} {'works' if count == 1 else 'work'}"]
    groups: tuple[tuple[str, Iterable[str]], ...] = (
        ("in another way", keys_with(result, CheckOutcome.PARTLY)),
        ("not", _with_reasons(result, CheckOutcome.FAILS, CheckOutcome.REFUSED, CheckOutcome.TOO_LARGE)),
        ("tools not seen", keys_with(result, CheckOutcome.TOOLS_NOT_SEEN)),
        ("unknown", keys_with(result, CheckOutcome.UNKNOWN)),
    )
    for label, keys in groups:
        if named := ", ".join(keys):
            parts.append(f"{label}: {named}")
    if skipped := keys_with(result, CheckOutcome.SKIPPED):
        parts.append(f"{len(skipped):,} skipped")
    if left := keys_left(result):
        parts.append(f"{len(left):,} not made")
    return "; ".join(parts)


def works_of(result: ProbeResult) -> str:
    """`19 of 22`."""
    return f"{len(keys_with(result, CheckOutcome.WORKS)):,} of {len(result.planned):,}"


def shown_time(created: str) -> str:
    """A time in ISO 8601 (UTC) as `2026-11-21 23:30 UTC`."""
    day, _, rest = created.partition("T")
    return f"{day} {rest[:5]} UTC" if rest else day


def shown_day(created: str) -> str:
    """The day of a time in ISO 8601."""
    return created.partition("T")[0]


def _with_reasons(result: ProbeResult, *outcomes: CheckOutcome) -> list[str]:
    """Keys of checks, each with its outcome unless that is `fails`."""
    return [
        check.key if check.outcome is CheckOutcome.FAILS else f"{check.key} ({WORDS[check.outcome]})"
        for check in result.checks
        if check.outcome in outcomes
    ]


def cache_line(result: ProbeResult) -> str:
    """One line on whether cached tokens were reported, and how many."""
    is_reported = reports_cache(result)
    if is_reported is None:
        return "cached tokens: nothing was answered"
    if not is_reported:
        return "cached tokens are not reported"
    read = sum(check.cached_read_tokens or 0 for check in result.checks)
    written = sum(check.cached_write_tokens or 0 for check in result.checks)
    also = f", {written:,} written" if written else ""
    return f"cached tokens are reported: {read:,} read{also}"
