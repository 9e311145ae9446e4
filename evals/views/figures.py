"""Measures as people read them; what was not measured is `–`, which is neither 0 nor nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.toolsets.spec import BY_ROLE, find_toolset
from toolbelt.text import plural

NOTHING = "–"
OWN = "~"
"""Marks tokens that were counted here because the provider did not report those of every trial."""


def format_share(share: float | None) -> str:
    """`78.3%`; never rounded to 0% or 100% where it is neither."""
    if share is None:
        return NOTHING
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def format_interval(rate: Rate) -> str:
    """`75.1–81.2`, in percent; empty where there is none."""
    if rate.low is None or rate.high is None:
        return ""
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f}"


def format_number(value: float | None) -> str:
    """A mean: `12,345`, `7.25`, `0.04`, `0`; three digits at least where it is no whole number."""
    if value is None:
        return NOTHING
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def format_prompt_tokens(arm: ArmSummary) -> str:
    """With a mark where they are our own count."""
    mark = "" if arm.prompt_tokens_reported or arm.prompt_tokens is None else OWN
    return mark + format_number(arm.prompt_tokens)


def format_cost(usd: float | None) -> str:
    """`$0.0012`, `$12.50`: cents, and two digits that say something."""
    if usd is None:
        return NOTHING
    if usd == 0:
        return "$0"
    places = max(2, 1 - math.floor(math.log10(abs(usd))))
    return f"${usd:,.{places}f}"


def format_seconds(seconds: float | None) -> str:
    """`0.4 ms`, `350 ms`, `1.2 s`, `75 s`."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        thousandths = seconds * 1000
        return f"{thousandths:.1f} ms" if thousandths < 9.95 else f"{thousandths:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def format_scored(arm: ArmSummary) -> str:
    """Scored of planned."""
    return f"{arm.scored:,}/{arm.planned:,}"


COLUMNS: Mapping[str, Callable[[ArmSummary], str]] = MappingProxyType(
    {
        "accuracy": lambda arm: format_share(arm.accuracy.value),
        "95% interval": lambda arm: format_interval(arm.accuracy) or NOTHING,
        "coverage": lambda arm: format_share(arm.coverage.value),
        "selection given coverage": lambda arm: format_share(arm.selection_given_coverage.value),
        "abstention": lambda arm: format_share(arm.abstention.value),
        "abstained uncovered": lambda arm: format_share(arm.abstained_uncovered.value),
        "hallucinated": lambda arm: format_share(arm.hallucination.value),
        "definition tokens": lambda arm: format_number(arm.definition_tokens),
        "prompt tokens": format_prompt_tokens,
        "invalidated tokens": lambda arm: format_number(arm.invalidated_tokens),
        "requests": lambda arm: format_number(arm.requests),
        "cost per trial": lambda arm: format_cost(arm.cost_usd),
        "latency median": lambda arm: format_seconds(arm.latency_seconds),
        "latency p95": lambda arm: format_seconds(arm.latency_p95_seconds),
        "scored / planned": format_scored,
    }
)
"""What a table of arms may show, in order."""


def arm_labels(summary: RunSummary) -> list[str]:
    """What tells the arms apart, in their order: without the model where all have the same."""
    if len({arm.model for arm in summary.arms}) > 1 or len(summary.arms) == 1:
        return [arm.label for arm in summary.arms]
    return [arm.toolset_label for arm in summary.arms]


def same_model(summary: RunSummary) -> str | None:
    """The model, where all arms have the same."""
    models = {arm.model for arm in summary.arms}
    return models.pop() if len(models) == 1 else None


def status_lines(summary: RunSummary) -> list[str]:
    """What a reader must know before believing the figures: what was left out, what failed, what is missing."""
    lines = [line] if (line := _status_line(summary)) else []
    costs = [arm.cost_usd_total for arm in summary.arms if arm.cost_usd_total is not None]
    if any(costs):
        unknown = len(summary.arms) - len(costs)
        beside = f", without {plural(unknown, 'arm')} of unknown cost" if unknown else ""
        lines.append(f"Cost in all: {format_cost(sum(costs))}, retries and unscored trials included{beside}.")
    missing = summary.planned - sum(arm.finished for arm in summary.arms)
    if missing > 0:
        lines.append(f"Not run yet: {missing:,} of {summary.planned:,} trials.")
    overflows = sum(arm.outcomes.get("context_overflow", 0) for arm in summary.arms)
    unscored = [
        f"{count:,} {what}" for count, what in ((summary.errors, "error"), (overflows, "context_overflow")) if count
    ]
    if unscored:
        lines.append(f"Unscored, so in no rate: {', '.join(unscored)}.")
    if summary.excluded:
        total = sum(summary.excluded.values())
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in summary.excluded.items())
        lines.append(f"Excluded from the dataset: {plural(total, 'case')}: {reasons}.")
    if roleless := _without_role(summary):
        lines.append(roleless)
    return lines + _token_lines(summary)


_MOST_UNCOVERED = 3
"""Arms that a line is told of."""


def uncovered_line(summary: RunSummary) -> str | None:
    """How often nothing was called where no right answer could be reached (rule E5); `None` where it always could."""
    rates = zip(arm_labels(summary), (arm.abstained_uncovered for arm in summary.arms), strict=True)
    uncovered = [(label, rate) for label, rate in rates if rate.denominator]
    if not uncovered:
        return None
    # Of many arms those where it happened most often stand for the rest.
    most = sorted(uncovered, key=lambda one: -one[1].numerator)[:_MOST_UNCOVERED]
    told = "; ".join(
        f"{rate.numerator:,} of {plural(rate.denominator, 'trial')} of {label}"
        for label, rate in uncovered
        if any(label == named for named, _ in most)
    )
    others = len(uncovered) - len(most)
    more = f"; and of {plural(others, 'other')}" if others else ""
    return f"Nothing was called where no right answer could be reached: {told}{more}."


def _status_line(summary: RunSummary) -> str:
    """Empty where all went as planned."""
    if summary.status == "finished":
        return f"{summary.reason}." if summary.reason else ""
    words = {"running": "still running", "killed": "not finished: it was killed, and nobody works on it"}
    reason = f": {summary.reason}" if summary.reason and summary.status not in words else ""
    return f"This run is {words.get(summary.status, summary.status)}{reason}."


def _without_role(summary: RunSummary) -> str:
    """Cases that toolset `loadout`, which goes by the case's role, shows everything; empty if there are none."""
    roleless = summary.settings.get("without_role") or 0
    if not roleless or all(find_toolset(arm.toolset) != BY_ROLE for arm in summary.arms):
        return ""
    have = "has" if roleless == 1 else "have"
    shows = "it" if roleless == 1 else "them"
    return f"{plural(roleless, 'case')} {have} no role; `loadout` shows {shows} the whole catalog."


def _token_lines(summary: RunSummary) -> list[str]:
    """What the tokens of a prompt are, where they are not as reported."""
    own = [arm for arm in summary.arms if not arm.prompt_tokens_reported and arm.prompt_tokens is not None]
    lines = [
        f"{arm.prompt_tokens_trials:,} of {arm.scored:,} scored trials of {label} reported their prompt tokens."
        for label, arm in zip(arm_labels(summary), summary.arms, strict=True)
        if 0 < arm.prompt_tokens_trials < arm.scored
    ]
    if own:
        none = all(not arm.prompt_tokens_trials for arm in own)
        why = "reported none" if none else "did not report those of every trial"
        lines.append(f"{OWN} marks prompt tokens counted here, as the provider {why}.")
    return lines
