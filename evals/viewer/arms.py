"""Arms as a page shows them: a table to sort, outcomes as stacked bars, coverage beside selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.figures import arm_labels, format_prompt_tokens, format_scored
from toolbelt.render.numbers import NOTHING, format_cost, format_interval, format_number, format_seconds, format_share


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of an arm.

    Attributes:
        text: As people read it.
        order: What it is sorted by; `None` where there is none, which comes last.
        counts: What a rate is of: `40/60`; empty for other figures.
        interval: Of a rate, in percent.
        share: How long its bar is, 0..1; `None` for no bar.
        low: Where its interval begins, 0..1.
        high: Where it ends.
    """

    text: str
    order: float | None
    counts: str = ""
    interval: str = ""
    share: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A measure of arms.

    Attributes:
        name: In the table's head.
        meaning: In a sentence.
        cells: One an arm.
    """

    name: str
    meaning: str
    cells: tuple[Cell, ...]


_RATES = (
    ("accuracy", "accuracy", "Right tools called, by name, of the scored trials."),
    ("solved", "solved", "Right tools called with right arguments, of the scored trials."),
    ("coverage", "coverage", "A right answer could be reached with the tools that the toolset offers."),
    ("selection | coverage", "selection_given_coverage", "Right, of the trials where a right answer could be reached."),
    ("abstention", "abstention", "Right, of the trials where nothing needed to be called."),
    ("hallucinated", "hallucination", "A tool was called that is in no catalog."),
)
_WITH_BARS = ("accuracy", "solved")

_Amount = tuple[str, str, Callable[[ArmSummary], float | None], Callable[[ArmSummary], str]]
_AMOUNTS: tuple[_Amount, ...] = (
    (
        "definition tokens",
        "Tool definitions at the first request, own count; mean of the scored trials.",
        lambda arm: arm.definition_tokens,
        lambda arm: format_number(arm.definition_tokens),
    ),
    (
        "prompt tokens",
        "Whole prompts over all requests, as the provider reported them (~ own count); mean.",
        lambda arm: arm.prompt_tokens,
        format_prompt_tokens,
    ),
    ("requests", "Calls of the model's API; mean.", lambda arm: arm.requests, lambda arm: format_number(arm.requests)),
    (
        "cost per trial",
        "In US dollars, retries included; mean.",
        lambda arm: arm.cost_usd,
        lambda arm: format_cost(arm.cost_usd),
    ),
    (
        "latency",
        "Of a request, median.",
        lambda arm: arm.latency_seconds,
        lambda arm: format_seconds(arm.latency_seconds),
    ),
    (
        "latency p95",
        "Of a request, 95th percentile.",
        lambda arm: arm.latency_p95_seconds,
        lambda arm: format_seconds(arm.latency_p95_seconds),
    ),
    (
        "scored / planned",
        "Trials that say something about the choice; errors and prompts that were too long do not.",
        lambda arm: arm.scored,
        format_scored,
    ),
)
_BARRED_AMOUNTS = ("definition tokens", "prompt tokens", "cost per trial")


def arm_names(summary: RunSummary) -> list[str]:
    """What tells the arms apart, in their order; with its number where two would look the same."""
    labels = arm_labels(summary)
    return [f"#{place} {label}" if labels.count(label) > 1 else label for place, label in enumerate(labels, start=1)]


def arm_columns(arms: Sequence[ArmSummary]) -> list[Column]:
    """The measures of a table of arms."""
    columns = [
        Column(name, meaning, tuple(rate_cell(getattr(arm, key), has_bar=key in _WITH_BARS) for arm in arms))
        for name, key, meaning in _RATES
    ]
    for name, meaning, value, text in _AMOUNTS:
        most = max((value(arm) or 0 for arm in arms), default=0) if name in _BARRED_AMOUNTS else 0
        columns.append(Column(name, meaning, tuple(_amount(value(arm), text(arm), most) for arm in arms)))
    return columns


def rate_cell(rate: Rate, *, has_bar: bool = True) -> Cell:
    """A rate with its counts and its interval."""
    if rate.value is None:
        return Cell(NOTHING, None, "0/0")
    counts = f"{rate.numerator:,}/{rate.denominator:,}"
    interval = format_interval(rate.low, rate.high)
    if not has_bar:
        return Cell(format_share(rate.value), rate.value, counts, interval)
    return Cell(format_share(rate.value), rate.value, counts, interval, rate.value, rate.low, rate.high)


def _amount(value: float | None, text: str, most: float) -> Cell:
    return Cell(text, value, share=value / most if value is not None and most else None)


def outcome_columns(arms: Sequence[ArmSummary]) -> list[str]:
    """The outcomes that any arm has, the right ones first, unscored ones last."""
    present = [outcome for outcome in reversed(Outcome) if any(arm.outcomes.get(outcome.value) for arm in arms)]
    ordered = sorted(present, key=lambda outcome: (not outcome.is_scored, not outcome.is_right_by_names))
    return [outcome.value for outcome in ordered]


def outcome_row(arm: ArmSummary, names: Sequence[str]) -> dict[str, Any]:
    """An arm's trials by outcome.

    Returns:
        `counts` in the order of `names`, and `parts`: (`name`, `start`, `width`) of a bar from 0 to 100.
    """
    counts = [arm.outcomes.get(name, 0) for name in names]
    total = sum(counts)
    parts, start = [], 0.0
    for name, count in zip(names, counts, strict=True):
        width = 100 * count / total if total else 0.0
        if count:
            parts.append((name, round(start, 3), round(width, 3)))
        start += width
    return {"counts": counts, "parts": parts, "finished": total}
