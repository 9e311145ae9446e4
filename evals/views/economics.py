"""What each arm costs per solved case, on the terminal and as Markdown: in dollars, or in tokens without a price."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.evals.analysis.economics import ArmEconomics, Caching, has_savings
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.render.markdown import escaped, markdown_table
from toolbelt.render.numbers import NOTHING, format_number
from toolbelt.text import visible

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
    lines = [line for model in models if (line := _cheapest_line(economics, model, several=len(models) > 1))]
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


def _cheapest_line(economics: Sequence[ArmEconomics], model: str, *, several: bool) -> str:
    arms = [costs for costs in economics if costs.arm.model == model and not why_none(costs)]
    choices = [costs for costs in arms if not is_oracle(costs.arm.toolset)] or arms
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


TITLE = "What a provider's cache makes of it"
_GAP = 2
_LEAST_LABEL = 10
_HEADERS = {
    WAYS[Caching.NONE]: "without\ncaching",
    WAYS[Caching.WITHIN]: "cached within\nconversations",
    WAYS[Caching.ACROSS]: "also across\nconversations",
    "really read": "really\nread",
    "really paid": "really\npaid",
}


def economics_columns(economics: Sequence[ArmEconomics]) -> Mapping[str, Callable[[ArmEconomics], str]]:
    """The columns of a table of bills for each arm, by header, in order.

    There are columns for the tokens that the provider reported as read from its cache, and for what was paid, if any
    arm has these figures.
    """
    columns: dict[str, Callable[[ArmEconomics], str]] = {
        "solved": lambda costs: f"{costs.arm.solved.numerator:,}/{costs.arm.scored:,}",
        **{WAYS[caching]: _amount_of(caching) for caching in Caching},
        "re-billed": rebilled_text,
    }
    if any(costs.arm.cached_read_tokens is not None for costs in economics):
        columns["really read"] = lambda costs: format_number(_of_solved(costs, costs.arm.cached_read_tokens))
        columns["really paid"] = lambda costs: format_usd(_of_solved(costs, costs.arm.cost_usd))
    return MappingProxyType(columns)


def economics_view(economics: Sequence[ArmEconomics], screen: Console) -> RenderableType:
    """Arms × ways of billing, per solved case, with the conclusions below. Empty where caching changes nothing.

    Args:
        economics: One an arm, in their order.
        screen: Gives the width; if the table is too wide, an arm gets a line for each figure.
    """
    if not has_savings(economics):
        return Group()
    parts: list[RenderableType] = [
        Text(f"{TITLE}: {unit_text(economics)}", "bold"),
        _table(economics, screen.width),
        Text(),
    ]
    parts += [Text(visible(line)) for line in (*price_lines(economics), *economics_lines(economics))]
    return Group(*parts)


def unit_text(economics: Sequence[ArmEconomics]) -> str:
    """The unit of the figures, in words."""
    priced = {costs.rates is not None for costs in economics if not why_none(costs)}
    if priced == {True}:
        return "USD per solved case"
    if priced == {False}:
        return "prompt tokens billed in full per solved case"
    return "USD per solved case; prompt tokens billed in full where there is no price"


def _amount_of(caching: Caching) -> Callable[[ArmEconomics], str]:
    return lambda costs: format_amount(costs, amount(costs, caching))


def _of_solved(costs: ArmEconomics, mean: float | None) -> float | None:
    trials = costs.trials_per_solved
    return None if mean is None or trials is None else mean * trials


def _table(economics: Sequence[ArmEconomics], width: int) -> RenderableType:
    columns = economics_columns(economics)
    cells = [[show(costs) for show in columns.values()] for costs in economics]
    labels = [Text(visible(label)) for label in _labels(economics)]
    headers = [_HEADERS.get(name, name) for name in columns]
    widths = [
        max([*map(len, header.split("\n")), *(len(row[place]) for row in cells)])
        for place, header in enumerate(headers)
    ]
    longest = max((label.cell_len for label in labels), default=0)
    available_width = width - sum(wide + _GAP for wide in widths)
    if available_width < min(_LEAST_LABEL, longest):
        return _list(labels, columns, cells)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("arm", width=max(len("arm"), min(longest, available_width)), overflow="fold", vertical="bottom")
    for header, wide in zip(headers, widths, strict=True):
        table.add_column(header, justify="right", no_wrap=True, width=wide, vertical="bottom")
    for label, row in zip(labels, cells, strict=True):
        table.add_row(label, *row)
    return table


def _list(labels: Sequence[Text], columns: Mapping[str, object], cells: Sequence[Sequence[str]]) -> RenderableType:
    lines = []
    for label, row in zip(labels, cells, strict=True):
        lines.append(label)
        lines += [Text(f"  {name} {value}") for name, value in zip(columns, row, strict=True) if value != NOTHING]
    return Group(*lines)


def _labels(economics: Sequence[ArmEconomics]) -> list[str]:
    several = len({costs.arm.model for costs in economics}) > 1
    return [costs.arm.label if several or len(economics) == 1 else costs.arm.toolset_label for costs in economics]


def economics_markdown(economics: Sequence[ArmEconomics]) -> str:
    """A section with the table, its conclusions and how to read it; empty where caching changes nothing."""
    if not has_savings(economics):
        return ""
    columns = economics_columns(economics)
    headers = ("#", "model", "toolset", *columns)
    rows = [
        (str(number), costs.arm.model, costs.arm.toolset_label, *(show(costs) for show in columns.values()))
        for number, costs in enumerate(economics, start=1)
    ]
    lines = "\n".join(f"- {escaped(line)}" for line in (*economics_lines(economics), *price_lines(economics)))
    table = markdown_table(headers, rows, right=(0, *range(3, len(headers))))
    return "\n\n".join(filter(None, (f"## {TITLE}", f"In {unit_text(economics)}.", table, lines, READING)))
