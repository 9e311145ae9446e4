"""Models on the terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.console.tables import line_table
from toolbelt.models.facts import BY_RULES, ModelFacts, ModelPrices, prices_data
from toolbelt.models.provider_rules import find_rules
from toolbelt.text import visible

UNKNOWN = "unknown"
_DIM = "bright_black"
_HEADERS = (
    *("model", "window", "answer", "tools", "reserve", "parallel", "choice", "caching"),
    *("$/M in", "$/M out", "$/M read", "$/M write", "provider"),
)
_RIGHT = (1, 2, 4, 8, 9, 10, 11)
_APART = re.compile(" {2,}")


def models_view(models: Sequence[ModelFacts], screen: Console) -> RenderableType:
    """Models, a line each; what comes last gives way on a narrow screen, and is named below."""
    headers: Sequence[str] = _HEADERS
    rows = [_row(facts) for facts in models]
    if any(facts.toolset for facts in models):  # few models have one, in few projects
        headers = (*_HEADERS, "toolset")
        rows = [[*row, visible(facts.toolset or "")] for row, facts in zip(rows, models, strict=True)]
    table = line_table(screen, headers, rows, right=_RIGHT)
    left_out = _left_out(headers, table)
    return Group(table, Text(f"no room for: {', '.join(left_out)} (--json has all)", _DIM)) if left_out else table


def _left_out(headers: Sequence[str], table: Group) -> list[str]:
    first = table.renderables[0]
    shown = _APART.split(first.plain.strip()) if isinstance(first, Text) else headers
    return [header for header in headers if header not in shown]


def facts_view(
    facts: ModelFacts, steps: Sequence[tuple[int, ModelPrices]] = (), seen: Mapping[str, bool | int] | None = None
) -> RenderableType:
    """A model, fact by fact, with who says so.

    Args:
        facts: What is known of it.
        steps: Its prices for longer prompts, each with the tokens above which they hold.
        seen: What a probe showed, by fact; it stands beside what is known, and stands out where it is something else.
    """
    heading = [(visible(facts.name), "bold")]
    if facts.known_as is not None and facts.known_as != facts.name:
        heading.append((f"  litellm's {visible(facts.known_as)}", _DIM))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    if seen is not None:
        table.add_column(no_wrap=True)
    for label, key, value in _lines(facts):
        source = Text(visible(_source(facts, key)) if value.plain != UNKNOWN else "", _DIM)
        table.add_row(f"  {label}", value, source, *([] if seen is None else [_seen(seen.get(key), value)]))
    dearer = [Text(f"  prompts above {above:,} tokens: {_listed(prices)}") for above, prices in steps]
    return Group(Text.assemble(*heading), table, *dearer)


def _seen(shown: bool | int | None, known: Text) -> Text:
    if shown is None:
        return Text()
    value = _flag(shown) if isinstance(shown, bool) else _tokens(shown)
    style = _DIM if value.plain == known.plain else "yellow" if known.plain == UNKNOWN else "bold red"
    return Text(f"probe: {value.plain}", style)


def _source(facts: ModelFacts, key: str) -> str:
    """The source of a fact; for a provider's rule also where and when it was read."""
    source = facts.sources.get(key, "")
    rules = find_rules(facts) if key == "max_tools" and source == BY_RULES else None
    if rules is None or (fact := rules.most_tools_fact) is None:
        return source
    text = f"{source}: {fact.sources[0].url} ({fact.sources[0].read.isoformat()})"
    return f"{text}; {fact.note}" if fact.note else text


def _listed(prices: ModelPrices) -> str:
    shown = [f"{label} {price:.10g}" for label, price in prices_data(prices).items() if price is not None]
    return f"$/M {', '.join(shown).replace('_', ' ')}"


def _lines(facts: ModelFacts) -> list[tuple[str, str, Text]]:
    prices = facts.prices
    lines = [
        ("provider", "provider", _word(facts.provider)),
        ("for", "mode", _word(facts.mode)),
        ("context window", "context_window", _tokens(facts.context_window)),
        ("longest answer", "output_limit", _tokens(facts.output_limit)),
        ("output reserve", "output_reserve", _tokens(facts.output_reserve)),
        ("tool calling", "tool_calling", _flag(facts.tool_calling)),
        ("parallel calls", "parallel_calls", _flag(facts.parallel_calls)),
        ("tool choice", "tool_choice", _flag(facts.tool_choice)),
        ("most tools", "max_tools", _tokens(facts.max_tools)),
        ("caching", "caching", _flag(facts.caching)),
    ]
    if facts.toolset is not None:
        lines.append(("toolset", "toolset", _word(facts.toolset)))
    if prices is None:
        return [*lines, ("prices", "prices", _unknown())]
    return [
        *lines,
        ("$/M tokens of a prompt", "prices", _price(prices.input)),
        ("$/M read from the cache", "prices", _price(prices.cache_read)),
        ("$/M written to the cache", "prices", _price(prices.cache_write)),
        ("$/M tokens of an answer", "prices", _price(prices.output)),
    ]


def _row(facts: ModelFacts) -> list[Text | str]:
    return [
        Text(visible(facts.name), "bold" if "toolbelt.yaml" in facts.sources.values() else ""),
        _tokens(facts.context_window),
        _tokens(facts.output_limit),
        _flag(facts.tool_calling),
        _tokens(facts.output_reserve),
        _flag(facts.parallel_calls),
        _flag(facts.tool_choice),
        _flag(facts.caching),
        *(_price(getattr(facts.prices, key, None)) for key in ("input", "output", "cache_read", "cache_write")),
        _word(facts.provider),
    ]


def _unknown() -> Text:
    return Text(UNKNOWN, _DIM)


def _word(value: str | None) -> Text:
    return _unknown() if value is None else Text(visible(value))


def _tokens(value: int | None) -> Text:
    return _unknown() if value is None else Text(f"{value:,}")


def _flag(value: bool | None) -> Text:
    if value is None:
        return _unknown()
    return Text("yes", "green") if value else Text("no", "red")


def _price(value: float | None) -> Text:
    return _unknown() if value is None else Text(f"{value:.10g}")
