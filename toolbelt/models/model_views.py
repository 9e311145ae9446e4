"""Models as views: the list, and all that is known of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolbelt.models.facts import BY_RULES, NOTICE_DAYS, ModelFacts, ModelPrices, prices_data
from toolbelt.models.provider_rules import find_rules
from toolbelt.models.token_rates import UNKNOWN, find_model_rate
from toolbelt.views.blocks import Block, Heading, Note
from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Column, Row, Table

_UNKNOWN = Span("unknown", Tone.FAINT)
_PRICES = ("input", "output", "cache_read", "cache_write")


def models_view(models: Sequence[ModelFacts]) -> tuple[Block, ...]:
    """Models, a line each; what comes last gives way on a narrow screen, and is named below."""
    has_ends = any(facts.deprecation_date for facts in models)
    has_toolsets = any(facts.toolset for facts in models)  # few models have one, in few projects
    columns = [Column("window")]
    if has_ends:
        columns.append(Column("switched off", is_text=True, is_spare=True))
    figures = ("answer", "tools", "reserve", "parallel", "choice", "caching")
    prices = ("$/M in", "$/M out", "$/M read", "$/M write")
    words = ("tools", "parallel", "choice", "caching")
    columns += [Column(name, is_text=name in words, is_spare=True) for name in (*figures, *prices)]
    columns.append(Column("provider", is_text=True, is_spare=True))
    if has_toolsets:
        columns.append(Column("toolset", is_text=True, is_spare=True))
    rows = []
    for facts in models:
        window, *others = _cells(facts)
        ends, toolset = [_end(facts)] if has_ends else [], [Span(facts.toolset or "")] if has_toolsets else []
        rows.append(Row(facts.name, (window, *ends, *others, *toolset)))
    return (Table("model", tuple(columns), tuple(rows)),)


def facts_view(
    facts: ModelFacts, steps: Sequence[tuple[int, ModelPrices]], seen: Mapping[str, bool | int] | None = None
) -> tuple[Block, ...]:
    """A model, fact by fact, with the source of each.

    Args:
        facts: What is known of it.
        steps: Its prices for longer prompts, each with the tokens above which they hold.
        seen: What a probe showed, by fact; it stands beside what is known, and stands out where it is something else.
    """
    known_as = facts.known_as if facts.known_as not in (None, facts.name, facts.asked_as) else None
    columns = (Column(""), Column("", is_text=True), *([Column("", is_text=True)] if seen else []))
    rows = []
    for label, key, value in _facts(facts):
        source = Span("" if value is _UNKNOWN else _source(facts, key), Tone.FAINT)
        rows.append(Row(label, (value, source, *([_seen(seen.get(key), value)] if seen else []))))
    dearer = (Note(f"prompts above {above:,} tokens: {_listed(prices)}") for above, prices in steps)
    return (
        Heading(facts.name, ", ".join(filter(None, (facts.asked_as, known_as and f"litellm's {known_as}")))),
        Table("", columns, tuple(rows)),
        *dearer,
    )


def _seen(shown: bool | int | None, known: Span) -> Span:
    if shown is None:
        return Span("")
    text = (_flag(shown) if isinstance(shown, bool) else _tokens(shown)).text
    tone = Tone.FAINT if text == known.text else Tone.WARNING if known is _UNKNOWN else Tone.BAD
    return Span(f"probe: {text}", tone)


def _source(facts: ModelFacts, key: str) -> str:
    """The source of a fact; for a provider's rule also where and when it was read."""
    source = facts.sources.get(key, "")
    if key == "token_rate" and not source:
        rate = find_model_rate(facts)
        return f"{rate.family}: {rate.basis.value}" if rate.family else ""
    rules = find_rules(facts) if key == "max_tools" and source == BY_RULES else None
    if rules is None or (fact := rules.most_tools_fact) is None:
        return source
    text = f"{source}: {fact.sources[0].url} ({fact.sources[0].read.isoformat()})"
    return f"{text}; {fact.note}" if fact.note else text


def _listed(prices: ModelPrices) -> str:
    shown = [f"{label} {price:.10g}" for label, price in prices_data(prices).items() if price is not None]
    return f"$/M {', '.join(shown).replace('_', ' ')}"


def _facts(facts: ModelFacts) -> list[tuple[str, str, Span]]:
    prices = facts.prices
    rows = [
        ("provider", "provider", _word(facts.provider)),
        ("for", "mode", _word(facts.mode)),
        *([("asked over", "api", _word(facts.api))] if facts.api else []),
        ("context window", "context_window", _tokens(facts.context_window)),
        ("longest answer", "output_limit", _tokens(facts.output_limit)),
        ("output reserve", "output_reserve", _tokens(facts.output_reserve)),
        ("tool calling", "tool_calling", _flag(facts.tool_calling)),
        ("parallel calls", "parallel_calls", _flag(facts.parallel_calls)),
        ("tool choice", "tool_choice", _flag(facts.tool_choice)),
        ("most tools", "max_tools", _tokens(facts.max_tools)),
        ("reasoning", "reasoning", _flag(facts.reasoning)),
        ("efforts", "efforts", _UNKNOWN if facts.efforts is None else Span(", ".join(facts.efforts) or "none taken")),
        ("temperature", "sampling", _flag(facts.sampling)),
        ("caching", "caching", _flag(facts.caching)),
        ("own tool search", "tool_search", _flag(facts.tool_search)),
        ("definitions", "token_rate", _rate(facts)),
    ]
    if facts.toolset is not None:
        rows.append(("toolset", "toolset", _word(facts.toolset)))
    if facts.alias_of is not None:
        rows.append(("alias of", "alias_of", _word(facts.alias_of)))
    if facts.deprecation_date is not None:
        rows.append(("switched off", "deprecation_date", _end(facts)))
    if facts.successor is not None:
        rows.append(("successor", "successor", _word(facts.successor)))
    if prices is None:
        return [*rows, ("prices", "prices", _UNKNOWN)]
    return [
        *rows,
        ("$/M tokens of a prompt", "prices", _price(prices.input)),
        ("$/M read from the cache", "prices", _price(prices.cache_read)),
        ("$/M written to the cache", "prices", _price(prices.cache_write)),
        ("$/M tokens of an answer", "prices", _price(prices.output)),
    ]


def _rate(facts: ModelFacts) -> Span:
    """What definitions come to in its prompt, by our count, and by how much that may be wrong."""
    rate = find_model_rate(facts)
    if rate == UNKNOWN:
        return _UNKNOWN
    fixed = f" + {rate.fixed:g}" if rate.fixed else ""
    return Span(f"×{rate.factor:g}{fixed}" + (f" ±{rate.error:.0%}" if rate.error else ""))


def _cells(facts: ModelFacts) -> tuple[Span, ...]:
    return (
        _tokens(facts.context_window),
        _tokens(facts.output_limit),
        _flag(facts.tool_calling),
        _tokens(facts.output_reserve),
        _flag(facts.parallel_calls),
        _flag(facts.tool_choice),
        _flag(facts.caching),
        *(_price(getattr(facts.prices, key, None)) for key in _PRICES),
        _word(facts.provider),
    )


def _end(facts: ModelFacts) -> Span:
    """The day on which a model is switched off; it stands out where users are warned of it."""
    if facts.days_left is None:
        return Span("")
    tone = Tone.BAD if facts.days_left <= 0 else Tone.WARNING if facts.days_left <= NOTICE_DAYS else Tone.PLAIN
    return Span(facts.deprecation_date or "", tone)


def _word(value: str | None) -> Span:
    return _UNKNOWN if value is None else Span(value)


def _tokens(value: int | None) -> Span:
    return _UNKNOWN if value is None else Span(f"{value:,}")


def _flag(value: bool | None) -> Span:
    if value is None:
        return _UNKNOWN
    return Span("yes", Tone.GOOD) if value else Span("no", Tone.BAD)


def _price(value: float | None) -> Span:
    return _UNKNOWN if value is None else Span(f"{value:.10g}")
