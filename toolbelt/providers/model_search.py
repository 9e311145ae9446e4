"""Finds models by pattern, provider and window, and one by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolbelt.errors import NotFoundError
from toolbelt.models.facts import ModelFacts, ModelPrices
from toolbelt.patterns import fold
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts, is_known, list_current_names, list_models
from toolbelt.providers.prices import Rates, find_prices, per_million
from toolbelt.providers.provider_names import is_same, list_providers

_DESCRIBE = "A model of your own can be described under `models` in toolbelt.yaml."


@dataclass(frozen=True)
class ModelFilter:
    """Which models a listing shows.

    Attributes:
        pattern: A part of the name, or all of it where there is a `*`, which stands for anything.
        provider: Whose API the model is asked through.
        tool_calling: Only models that are known to call tools.
        min_window: Only windows that are known to be at least this many tokens.
        everything: All there are; else, without a pattern and a provider, the project's and the current ones.
    """

    pattern: str | None = None
    provider: str | None = None
    tool_calling: bool = False
    min_window: int | None = None
    everything: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether the whole table is looked through."""
        return self.everything or self.pattern is not None or self.provider is not None


def search_models(model_filter: ModelFilter, named: Sequence[str], table: ModelTable) -> tuple[ModelFacts, ...]:
    """The models that match the filter: the project's in its order, then the others.

    Of the whole table, plain names come first, then those with a provider before them; within each, by provider and
    name, numbers in names by their size.

    Args:
        model_filter: Which models to list.
        named: The models that the project names.
        table: What is known of models.

    Raises:
        NotFoundError: no name matches the pattern, or no model has the provider.
    """
    names = dict.fromkeys((*named, *list_current_names(table)))
    if model_filter.is_wide:
        rest = (name for name in list_models(table) if name not in names)
        known = (name for name in names if name not in set(named))
        names = dict.fromkeys((*named, *sorted((*known, *rest), key=lambda name: _order(name, table))))
    if model_filter.provider is not None and not _has_provider(model_filter.provider, table, names):
        raise NotFoundError("provider", model_filter.provider, list_providers(table))
    matching = _matching(model_filter.pattern, names, table)
    if model_filter.pattern is not None and not matching:
        raise NotFoundError("model", model_filter.pattern, table.find_similar(model_filter.pattern), _DESCRIBE)
    return tuple(facts for facts in (find_facts(name, table) for name in matching) if _fits(facts, model_filter))


def get_facts(name: str, table: ModelTable, named: Iterable[str] = ()) -> ModelFacts:
    """What is known of a model that the project names, or that is in the table.

    Raises:
        NotFoundError: neither, with the nearest names.
    """
    if name not in named and not is_known(name, table):
        raise NotFoundError("model", name, table.find_similar(name), _DESCRIBE)
    return find_facts(name, table)


def find_unknown_base(name: str, table: ModelTable) -> NotFoundError | None:
    """What a model is based on, directly or not, if nothing is known of it; `None` where all is well."""
    last = table.trace(name)[-1]
    if last == name or is_known(last, table):
        return None
    return NotFoundError("model", last, table.find_similar(last))


def price_steps(facts: ModelFacts, table: ModelTable) -> tuple[tuple[int, ModelPrices], ...]:
    """What a model costs for longer prompts: `(tokens, prices)`, those of every prompt with more tokens than that."""
    prices, first = find_prices(facts.name, table), facts.prices
    if prices is None or first is None:
        return ()
    return tuple((above, _prices(rates, first)) for above, rates in prices.steps[1:])


def _prices(rates: Rates, first: ModelPrices) -> ModelPrices:
    """The prices of a step; a price that is unknown at the first step is unknown at all."""
    return ModelPrices(
        per_million(rates.prompt),
        per_million(rates.completion),
        None if first.cache_read is None else per_million(rates.cached_read),
        None if first.cache_write is None else per_million(rates.cached_write),
    )


def count_models(table: ModelTable) -> int:
    """How many models there are to list."""
    return len({*list_models(table), *list_current_names(table), *(own.name for own in table.own)})


def _has_provider(provider: str, table: ModelTable, names: Iterable[str]) -> bool:
    return any(_is_of(known, provider) for known in list_providers(table)) or any(
        _is_of(find_facts(name, table).provider, provider) for name in names
    )


def _is_of(theirs: str | None, provider: str) -> bool:
    """Whether a model's provider is the one asked for; `vertex_ai` is whose models `vertex_ai-…` are, too."""
    folded = fold(provider)
    return theirs is not None and fold(theirs).startswith(folded) and is_same(fold(theirs), folded)


def _matching(pattern: str | None, names: Iterable[str], table: ModelTable) -> tuple[str, ...]:
    if pattern is None:
        return tuple(names)
    folded = fold(pattern)
    if "*" not in folded:
        called = table.find_name(pattern)  # `openai/gpt-4o` is `gpt-4o` there
        spelt = ((name, {fold(name), fold(table.find_asked(name))}) for name in names)
        return tuple(name for name, all_ in spelt if any(folded in one for one in all_) or name == called)
    first, *middle, last = folded.split("*")
    between = [part for part in middle if part]
    return tuple(name for name in names if _has_form(fold(name), first, between, last))


def _has_form(name: str, first: str, middle: Iterable[str], last: str) -> bool:
    """Whether a name begins and ends so, with the parts `middle` between in order; in linear time."""
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        position = name.find(part, at, end)
        if position < 0:
            return False
        at = position + len(part)
    return at <= end


def _fits(facts: ModelFacts, model_filter: ModelFilter) -> bool:
    if model_filter.provider is not None and not _is_of(facts.provider, model_filter.provider):
        return False
    if model_filter.tool_calling and not facts.tool_calling:
        return False
    return model_filter.min_window is None or (facts.context_window or 0) >= model_filter.min_window


def _order(name: str, table: ModelTable) -> tuple[bool, str, tuple[tuple[int, str], ...], str]:
    parts = re.split(r"(\d+)", fold(name))
    natural = tuple((int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in parts)
    return "/" in name, table.providers.get(name) or "", natural, name
