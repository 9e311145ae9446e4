"""What a probe came to, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from toolbelt.evals.probing.checks import CHECKS
from toolbelt.evals.probing.probe import CheckOutcome, CheckResult, ProbeResult

WORDS: Mapping[CheckOutcome, str] = MappingProxyType({one: one.value.replace("_", " ") for one in CheckOutcome})
"""Each outcome as it is shown."""
_TITLES: Mapping[str, str] = MappingProxyType({check.key: check.title for check in CHECKS})


def title_of(key: str) -> str:
    """What a check is called in a table; its key in words where it is of another suite."""
    return _TITLES.get(key) or key.replace("_", " ").replace("-", " ")


def keys_with(result: ProbeResult, *outcomes: CheckOutcome) -> tuple[str, ...]:
    """The checks that came to one of `outcomes`, in order."""
    return tuple(check.key for check in result.checks if check.outcome in outcomes)


def keys_left(result: ProbeResult) -> tuple[str, ...]:
    """The checks that were to be made and were not, in order."""
    made = {check.key for check in result.checks}
    return tuple(key for key in result.planned if key not in made)


def works_line(result: ProbeResult) -> str:
    """`19 of 22 work; not: two at once (fails), 256 tools (refused); unknown: named tool`, a line for people.

    What works in another way than asked for is among neither; what was not asked because of something else that does
    not work is only counted.
    """
    count = len(keys_with(result, CheckOutcome.WORKS))
    parts = [f"{count:,} of {len(result.planned):,} {'works' if count == 1 else 'work'}"]
    groups: tuple[tuple[str, Iterable[str]], ...] = (
        ("in another way", keys_with(result, CheckOutcome.PARTLY)),
        ("not", _with_reasons(result, CheckOutcome.FAILS, CheckOutcome.REFUSED, CheckOutcome.TOO_LARGE)),
        ("unknown", keys_with(result, CheckOutcome.UNKNOWN)),
    )
    for label, found in groups:
        if named := ", ".join(found):
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
    """`2026-11-21 23:30 UTC`: of a moment in ISO 8601, in UTC."""
    day, _, rest = created.partition("T")
    return f"{day} {rest[:5]} UTC" if rest else day


def shown_day(created: str) -> str:
    """Its day alone."""
    return created.partition("T")[0]


def _with_reasons(result: ProbeResult, *outcomes: CheckOutcome) -> list[str]:
    """Keys, with the outcome where it is not simply that it fails."""
    return [
        check.key if check.outcome is CheckOutcome.FAILS else f"{check.key} ({WORDS[check.outcome]})"
        for check in result.checks
        if check.outcome in outcomes
    ]


def is_complete(result: ProbeResult) -> bool:
    """Whether every check was made and says something."""
    return result.status == "finished" and not keys_left(result) and not keys_with(result, CheckOutcome.UNKNOWN)


def is_answered(check: CheckResult) -> bool:
    """Whether a reply came to any of its requests."""
    if not check.requests:
        return False
    judged = (CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS)
    return check.outcome in judged or check.latency_seconds > 0 or check.prompt_tokens is not None


def reports_cache(result: ProbeResult) -> bool | None:
    """Whether the provider ever said how many tokens it read from its cache, 0 too; `None` if it answered nothing."""
    answered = [check for check in result.checks if is_answered(check)]
    return any(check.cached_read_tokens is not None for check in answered) if answered else None


def cache_line(result: ProbeResult) -> str:
    """What was said of cached tokens."""
    told = reports_cache(result)
    if told is None:
        return "cached tokens: nothing was answered"
    if not told:
        return "cached tokens are not reported"
    read = sum(check.cached_read_tokens or 0 for check in result.checks)
    written = sum(check.cached_write_tokens or 0 for check in result.checks)
    also = f", {written:,} written" if written else ""
    return f"cached tokens are reported: {read:,} read{also}"


def total_requests(result: ProbeResult) -> int:
    """All that were made: retries too, and those of checks that did not come to an end."""
    return sum(check.requests + check.retries for check in result.checks) + result.open_requests


def total_cost(result: ProbeResult) -> float | None:
    """USD, of all requests; `None` where the price of one is unknown."""
    return _sum((*(check.cost_usd for check in result.checks), result.open_cost_usd))


def total_tokens(check: CheckResult) -> int | None:
    """Of a check's prompts and answers, as reported; `None` where they were not, or nothing was asked."""
    if check.prompt_tokens is None or check.completion_tokens is None or not check.requests:
        return None
    return check.prompt_tokens + check.completion_tokens


def _sum(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total
