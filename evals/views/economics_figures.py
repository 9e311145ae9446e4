"""The bills of arms as people read them: per solved case, in dollars, or in tokens where there is no price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolbelt.evals.analysis.economics import ArmEconomics, Caching
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.figures import NOTHING, format_number

WAYS: Mapping[Caching, str] = MappingProxyType(
    {
        Caching.NONE: "without caching",
        Caching.WITHIN: "cached within conversations",
        Caching.ACROSS: "also across conversations",
    }
)
"""The ways of billing, in words."""
_MOST_LINES = 5
_MOST_RIVALS = 3
_LEAST_USD = 1e-9

READING = """\
- What a solved case costs is what all scored trials cost, divided by those solved: in dollars, answers included where
  their tokens were reported; where no price is known, in prompt tokens billed in full.
- **without caching**: every prompt token at the ordinary price. **cached within conversations**: what a request repeats
  of the one before is read from the provider's cache, the rest is written to it. **also across conversations**: the
  definitions that open a conversation are read, too, wherever an earlier one opened with the same list: the best case
  for a list that never changes.
- **re-billed**: definitions stand before the messages, so that a change of the tool list makes all behind the first
  changed tool worthless. This much less would be paid, cached within conversations, had the lists not changed.
- The cache is an ideal one: least lengths, rounding to blocks and time to live are ignored. What repeats what goes by
  our own count, scaled to the tokens that the provider reported, where it did. Trials that were not scored are left
  out.
- **really read** and **really paid**, where they are shown: tokens from the cache and cost, as the provider reported
  them, for each solved case."""


def amount(one: ArmEconomics, caching: Caching) -> float | None:
    """What a solved case costs: USD where the arm has a price, else prompt tokens billed in full."""
    bill = one.of_solved(caching)
    if bill is None:
        return None
    return bill.fresh_tokens if one.rates is None else bill.usd


def rebilled(one: ArmEconomics) -> float | None:
    """What changed tool lists add to that, cached within conversations, in the same unit."""
    bill = one.of_solved(Caching.WITHIN)
    if bill is None:
        return None
    return bill.rebilled_tokens if one.rates is None else bill.rebilled_usd


def format_amount(one: ArmEconomics, value: float | None) -> str:
    """`$0.137`, `$12.50`, or tokens."""
    if value is None or one.rates is None:
        return format_number(value)
    return format_usd(value)


def format_usd(value: float | None) -> str:
    """`$0.00137`, `$1.37`, `$1,370`: three digits that say something, cents at least below $100."""
    if value is None:
        return NOTHING
    if value == 0:
        return "$0"
    if abs(value) < _LEAST_USD:
        return f"<${_LEAST_USD:.9f}"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"${value:,.{max(2, places) if abs(value) < 99.995 else 0}f}"


def why_none(one: ArmEconomics) -> str:
    """Why there is no figure, in words; empty where there is one."""
    if not one.arm.scored:
        return "nothing scored"
    if not one.bills:
        return "unknown"
    return "" if one.arm.solved.numerator else "nothing solved"


def rebilled_text(one: ArmEconomics) -> str:
    """With its share of what is paid."""
    added, whole = rebilled(one), amount(one, Caching.WITHIN)
    if added is None or not whole:
        return NOTHING
    return f"{format_amount(one, added)} ({added / whole:.0%})" if added else format_amount(one, 0.0)


def price_lines(economics: Sequence[ArmEconomics]) -> list[str]:
    """What the dollars are, where a reader might take them for something else."""
    shown = [one for one in economics if not why_none(one)]
    lines = []
    if shown and all(one.rates is None for one in shown):
        lines.append("No price is known; toolbelt eval report --priced-as MODEL takes that of another model.")
    stand_ins = dict.fromkeys(one.arm.model for one in economics if one.priced_as)
    if stand_ins:
        priced_as = next(one.priced_as for one in economics if one.priced_as)
        lines.append(f"As if at the price of {priced_as}: {', '.join(stand_ins)}.")
    silent = dict.fromkeys(one.arm.model for one in economics if one.rates is not None and not one.has_answers)
    if silent:
        lines.append(f"Prompts alone, as the tokens of the answers are not known: {', '.join(silent)}.")
    return lines


def economics_lines(economics: Sequence[ArmEconomics]) -> list[str]:
    """What the figures say: the cheapest arm of each model, and what changed tool lists add."""
    models = dict.fromkeys(one.arm.model for one in economics)
    lines = [line for model in models if (line := _cheapest_line(economics, model, several=len(models) > 1))]
    added = [(one, rebilled(one) or 0.0, amount(one, Caching.WITHIN) or 0.0) for one in economics]
    shown = sorted((row for row in added if row[1] > 0 and row[2] > 0), key=lambda row: -row[1] / row[2])
    for one, more, whole in shown[:_MOST_LINES]:
        label = one.arm.label if len(models) > 1 else one.arm.toolset_label
        unit, what = (" tokens", "billed in full") if one.rates is None else ("", "paid")
        lines.append(
            f"Changed tool lists add {format_amount(one, more)}{unit} to each solved case of {label}: "
            f"{more / whole:.0%} of what is {what} with caching within conversations."
        )
    if len(shown) > _MOST_LINES:
        lines.append(f"They add less to {len(shown) - _MOST_LINES} more.")
    return lines


def _if_solved(one: ArmEconomics, value: float, share: float | None) -> float:
    """What a solved case would cost if that share of the trials were solved, at the same cost of each trial."""
    solved = one.arm.solved.value
    if share is None or solved is None:
        return value
    return value * solved / share if share else math.inf


def _cheapest_line(economics: Sequence[ArmEconomics], model: str, *, several: bool) -> str:
    arms = [one for one in economics if one.arm.model == model and not why_none(one)]
    choices = [one for one in arms if not is_oracle(one.arm.toolset)] or arms
    if len(choices) < 2:
        return ""
    best: dict[Caching, str] = {}
    rivals: dict[str, None] = {}
    for caching in Caching:
        found = [(value, one) for one in choices if (value := amount(one, caching)) is not None]
        if len(found) == len(choices):
            least, cheapest = min(found, key=lambda row: row[0])
            best[caching] = cheapest.arm.toolset_label
            most = _if_solved(cheapest, least, cheapest.arm.solved.low)
            rivals |= {
                one.arm.toolset_label: None
                for value, one in found
                if one is not cheapest and _if_solved(one, value, one.arm.solved.high) < most
            }
    of = f" of {model}" if several else ""
    beside = "" if len(choices) == len(arms) else "; oracle arms, which know the answer, are left out"
    if unsure := [label for label in rivals if label not in best.values()]:
        more = f" and {len(unsure) - _MOST_RIVALS} more" if len(unsure) > _MOST_RIVALS else ""
        beside += f"; the intervals of the shares solved allow {', '.join(unsure[:_MOST_RIVALS])}{more} as well"
    what = "Fewest prompt tokens billed in full" if choices[0].rates is None else "Cheapest"
    if len(set(best.values())) == 1:
        return f"{what} per solved case{of}, with caching and without: {best[Caching.NONE]}{beside}."
    ways = {label: [WAYS[caching] for caching in best if best[caching] == label] for label in best.values()}
    named = ", ".join(f"{label} {' and '.join(how)}" for label, how in ways.items())
    return f"{what} per solved case{of}: {named}{beside}."
