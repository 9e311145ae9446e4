"""What each arm costs per solved case, as views: in dollars, or in tokens without a price."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.analysis.summary.run_summary import asked_most
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.render.numbers import NOTHING, format_number
from toolbelt.views.blocks import Block, Heading, Listing, Note
from toolbelt.views.cells import Count, Span
from toolbelt.views.table import Column, Row, Table

WAYS: Mapping[Caching, str] = MappingProxyType(
    {
        Caching.NONE: "without caching",
        Caching.WITHIN: "cached within conversations",
        Caching.ACROSS: "also across conversations",
    }
)
"""The ways of billing, in words."""
_WITH: Mapping[Caching, str] = MappingProxyType(
    {
        Caching.NONE: "without caching",
        Caching.WITHIN: "with caching within conversations",
        Caching.ACROSS: "with caching across conversations",
    }
)
"""The same within a sentence."""
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
- The cache is an ideal one: least lengths, rounding to blocks and time to live are ignored. What repeats what is
  our estimate, scaled to the tokens that the provider reported, where it did. Trials that were not scored are left
  out.
- **really read** and **really paid**, where they are shown: tokens from the cache and cost, as the provider reported
  them, for each solved case."""


def amount(costs: ArmEconomics, caching: Caching) -> float | None:
    """The cost of a solved case: USD if the arm has a price, else prompt tokens billed in full."""
    bill = costs.of_solved(caching)
    if bill is None:
        return None
    return bill.fresh_tokens if costs.rates is None else bill.usd


def rebilled(costs: ArmEconomics) -> float | None:
    """What changed tool lists add to the cost of a solved case, cached within conversations, in the same unit."""
    bill = costs.of_solved(Caching.WITHIN)
    if bill is None:
        return None
    return bill.rebilled_tokens if costs.rates is None else bill.rebilled_usd


def format_amount(costs: ArmEconomics, value: float | None) -> str:
    """`$0.137`, `$12.50`, or tokens."""
    if value is None or costs.rates is None:
        return format_number(value)
    return format_usd(value)


def format_usd(value: float | None) -> str:
    """`$0.00137`, `$1.37`, `$1,370`: three significant digits, and at least cents below $100."""
    if value is None:
        return NOTHING
    if value == 0:
        return "$0"
    if abs(value) < _LEAST_USD:
        return f"<${_LEAST_USD:.9f}"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"${value:,.{max(2, places) if abs(value) < 99.995 else 0}f}"


def why_none(costs: ArmEconomics) -> str:
    """Why there is no figure, in words; empty where there is one."""
    if not costs.arm.scored:
        return "nothing scored"
    if not costs.bills:
        return "unknown"
    return "" if costs.arm.solved.numerator else "nothing solved"


def rebilled_text(costs: ArmEconomics) -> str:
    """The cost of changed tool lists, with its share of the whole cost."""
    added, whole = rebilled(costs), amount(costs, Caching.WITHIN)
    if added is None or not whole:
        return NOTHING
    return f"{format_amount(costs, added)} ({added / whole:.0%})" if added else format_amount(costs, 0.0)


def price_lines(economics: Sequence[ArmEconomics]) -> list[str]:
    """Explains the dollars where a reader might misread them."""
    shown = [costs for costs in economics if not why_none(costs)]
    lines = []
    if shown and all(costs.rates is None for costs in shown):
        lines.append("No price is known; toolbelt eval report --priced-as MODEL takes that of another model.")
    stand_ins = dict.fromkeys(costs.arm.model for costs in economics if costs.priced_as)
    if stand_ins:
        priced_as = next(costs.priced_as for costs in economics if costs.priced_as)
        lines.append(f"As if at the price of {priced_as}: {', '.join(stand_ins)}.")
    silent = dict.fromkeys(costs.arm.model for costs in economics if costs.rates is not None and not costs.has_answers)
    if silent:
        lines.append(f"Prompts alone, as the tokens of the answers are not known: {', '.join(silent)}.")
    return lines


def economics_lines(economics: Sequence[ArmEconomics]) -> list[str]:
    """The conclusions: the cheapest arm of each model, and what changed tool lists add."""
    models = dict.fromkeys(costs.arm.model for costs in economics)
    lines = cheapest_lines(economics)
    added = [(costs, rebilled(costs) or 0.0, amount(costs, Caching.WITHIN) or 0.0) for costs in economics]
    shown = sorted((row for row in added if row[1] > 0 and row[2] > 0), key=lambda row: -row[1] / row[2])
    for costs, more, whole in shown[:_MOST_LINES]:
        label = costs.arm.label if len(models) > 1 else costs.arm.toolset_label
        unit, what = (" tokens", "billed in full") if costs.rates is None else ("", "paid")
        lines.append(
            f"Changed tool lists add {format_amount(costs, more)}{unit} to each solved case of {label}: "
            f"{more / whole:.0%} of what is {what} with caching within conversations."
        )
    if len(shown) > _MOST_LINES:
        lines.append(f"They add less to {len(shown) - _MOST_LINES} more.")
    return lines


def _if_solved(costs: ArmEconomics, value: float, share: float | None) -> float:
    """The cost of a solved case if that share of the trials were solved, at the same cost of each trial."""
    solved = costs.arm.solved.value
    if share is None or solved is None:
        return value
    return value * solved / share if share else math.inf


def cheapest_lines(economics: Sequence[ArmEconomics]) -> list[str]:
    """The cheapest arm of each model, and how caching turns the order."""
    models = dict.fromkeys(costs.arm.model for costs in economics)
    return [line for model in models if (line := _cheapest_line(economics, model, several=len(models) > 1))]


def _cheapest_line(economics: Sequence[ArmEconomics], model: str, *, several: bool) -> str:
    arms = [costs for costs in economics if costs.arm.model == model and not why_none(costs)]
    usable = [costs for costs in arms if not is_oracle(costs.arm.toolset)] or arms
    scored = [costs.arm for costs in economics if costs.arm.model == model and not is_oracle(costs.arm.toolset)]
    fitting = asked_most(scored or [costs.arm for costs in arms])
    choices = [costs for costs in usable if costs.arm in fitting]
    if len(choices) < 2:
        return ""
    best: dict[Caching, str] = {}
    rivals: dict[str, None] = {}
    for caching in Caching:
        amounts = [(value, costs) for costs in choices if (value := amount(costs, caching)) is not None]
        if len(amounts) == len(choices):
            least, cheapest = min(amounts, key=lambda row: row[0])
            best[caching] = cheapest.arm.toolset_label
            most = _if_solved(cheapest, least, cheapest.arm.solved.low)
            rivals |= {
                costs.arm.toolset_label: None
                for value, costs in amounts
                if costs is not cheapest and _if_solved(costs, value, costs.arm.solved.high) < most
            }
    of = f" of {model}" if several else ""
    beside = "" if len(usable) == len(arms) else "; oracle arms, which know the answer, are left out"
    if len(choices) < len(usable):
        beside += f"; {', '.join(costs.arm.toolset_label for costs in usable if costs not in choices)}"
        beside += " is left out, as fewer cases fit" if len(choices) == len(usable) - 1 else " are, as fewer cases fit"
    if unsure := [label for label in rivals if label not in best.values()]:
        more = f" and {len(unsure) - _MOST_RIVALS} more" if len(unsure) > _MOST_RIVALS else ""
        beside += f"; the intervals of the shares solved allow {', '.join(unsure[:_MOST_RIVALS])}{more} as well"
    is_tokens = choices[0].rates is None
    if len(set(best.values())) == 1:
        what = "Fewest prompt tokens billed in full" if is_tokens else "Cheapest"
        return f"{what} per solved case{of}, with caching and without: {best[Caching.NONE]}{beside}."
    does, too = ("takes the fewest prompt tokens billed in full", "does") if is_tokens else ("is cheapest", "is")
    first, *others = dict.fromkeys(best.values())
    ways = {label: " and ".join(_WITH[way] for way in best if best[way] == label) for label in (first, *others)}
    turned = "; ".join(f"{ways[label]} {label} {too}" for label in others)
    start = f"{ways[first][0].upper()}{ways[first][1:]}"
    return f"{start} {first} {does} per solved case{of}; {turned}{beside}."


TITLE = "What a provider's cache makes of it"
_SHORT: Mapping[Caching, str] = MappingProxyType(
    {
        Caching.NONE: "without\ncaching",
        Caching.WITHIN: "cached within\nconversations",
        Caching.ACROSS: "also across\nconversations",
    }
)


def economics_view(economics: Sequence[ArmEconomics]) -> Iterator[Block]:
    """Arms × ways of billing, per solved case, with the conclusions below; nothing where caching changes nothing.

    Args:
        economics: One an arm, in their order.
    """
    if not has_savings(economics):
        return
    yield Heading(TITLE, level=2)
    yield Note(f"In {unit_text(economics)}.")
    yield economics_table(economics)
    yield Listing(tuple(map(Span, (*economics_lines(economics), *price_lines(economics)))))


def economics_table(economics: Sequence[ArmEconomics]) -> Table:
    """Arms × ways of billing, with what was really read from a cache and paid, if any arm has these figures."""
    columns = [
        Column("solved"),
        *(Column(WAYS[caching], short=_SHORT[caching]) for caching in Caching),
        Column("re-billed", "As the tool list changed, with caching within conversations."),
    ]
    has_reported = any(costs.arm.cached_read_tokens is not None for costs in economics)
    if has_reported:
        columns += [Column("really read", short="really\nread"), Column("really paid", short="really\npaid")]
    rows = []
    for costs in economics:
        texts = [*(format_amount(costs, amount(costs, caching)) for caching in Caching), rebilled_text(costs)]
        if has_reported:
            texts.append(format_number(_of_solved(costs, costs.arm.cached_read_tokens)))
            texts.append(format_usd(_of_solved(costs, costs.arm.cost_usd)))
        solved = Count(costs.arm.solved.numerator, costs.arm.scored)
        rows.append(Row(costs.arm.toolset_label, (solved, *(Span(text) for text in texts)), costs.arm.model))
    return Table("toolset", tuple(columns), tuple(rows), "model", is_numbered=True)


def unit_text(economics: Sequence[ArmEconomics]) -> str:
    """The unit of the figures, in words."""
    priced = {costs.rates is not None for costs in economics if not why_none(costs)}
    if priced == {True}:
        return "USD per solved case"
    if priced == {False}:
        return "prompt tokens billed in full per solved case"
    return "USD per solved case; prompt tokens billed in full where there is no price"


def _of_solved(costs: ArmEconomics, mean: float | None) -> float | None:
    trials = costs.trials_per_solved
    return None if mean is None or trials is None else mean * trials
