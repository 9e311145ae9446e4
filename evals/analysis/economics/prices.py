"""Prices for the bills, from litellm's table, without litellm."""

from __future__ import annotations

from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.economics.caching import ArmEconomics, PriceOf, cache_economics
from toolbelt.evals.analysis.summary.measures import RunSummary
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.prices import Prices, find_prices


def open_prices(table: ModelTable | None = None) -> PriceOf:
    """Looks prices up, each model's once.

    Args:
        table: Where; litellm's own, without a cache, if `None`.
    """
    known: dict[str, Prices | None] = {}
    opened = table or ModelTable()

    def price_of(model: str) -> Prices | None:
        if model not in known:
            known[model] = find_prices(model, opened)
        return known[model]

    return price_of


def run_economics(
    summary: RunSummary, table: ModelTable | None = None, priced_as: str | None = None
) -> tuple[ArmEconomics, ...]:
    """`cache_economics` at the prices of a table.

    Args:
        summary: What the run came to.
        table: Where prices are looked up; litellm's own, without a cache, if `None`.
        priced_as: A model whose price is taken for those that have none.

    Raises:
        NotFoundError: no model of that name has a price, with the nearest names.
    """
    opened = table or ModelTable()
    try:
        return cache_economics(summary, open_prices(opened), priced_as)
    except NotFoundError as error:
        raise NotFoundError(error.kind, error.name, opened.find_similar(error.name)) from None
