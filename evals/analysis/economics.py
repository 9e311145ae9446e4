"""Costs of an arm's prompts for a solved case, with and without a provider's cache (rule E6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.prices import Prices, Rates, find_prices

PriceOf = Callable[[str], Prices | None]
"""What tokens of a model cost, by its name; `None` where that is unknown."""


class Caching(StrEnum):
    """A way of billing the same requests."""

    NONE = "none"
    """Every prompt token costs the ordinary price."""
    WITHIN = "within"
    """What a request repeats of the one before, up to the first tool in which their lists differ, is read from the
    cache; all else is written to it, where the provider charges for that."""
    ACROSS = "across"
    """The definitions that open a conversation are read, too, wherever an earlier conversation opened with the same
    list: all trials follow each other within the cache's time to live. Lists are taken to be equally long; what a later
    list of one conversation shares with another conversation is not counted."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What a scored trial takes in one way of billing; means, or sums for each solved trial.

    Attributes:
        fresh_tokens: Prompt tokens billed in full.
        read_tokens: Prompt tokens read from the cache.
        rebilled_tokens: Of the fresh ones, those that the cache held and a change of the tool list made worthless.
        usd: Of the prompt, and of the answers where their tokens were reported; `None` without a price.
        rebilled_usd: Of that, what reading the re-billed tokens from the cache would have saved.
    """

    fresh_tokens: float
    read_tokens: float
    rebilled_tokens: float
    usd: float | None = None
    rebilled_usd: float | None = None

    def times(self, factor: float) -> Bill:
        """The bill multiplied by a factor."""
        usd = None if self.usd is None else self.usd * factor
        rebilled = None if self.rebilled_usd is None else self.rebilled_usd * factor
        return Bill(self.fresh_tokens * factor, self.read_tokens * factor, self.rebilled_tokens * factor, usd, rebilled)


@dataclass(frozen=True, slots=True)
class ArmEconomics:
    """An arm's bills.

    What is fresh and what repeated goes by our estimate. Where the provider reported its count of the prompts, all
    of it is scaled to that, in one proportion, so that the tokens of a bill add up to those reported.

    Attributes:
        arm: What was measured.
        bills: By the way of billing, of a scored trial; empty where the tokens are unknown or nothing was scored, and
            without `ACROSS` where the first tool lists are unknown.
        scale: Tokens as reported, for one of our estimate; 1 where the figures are estimated.
        rates: USD for a token of each sort; `None` where the price is unknown, or nothing.
        priced_as: The model whose price was taken in place of one that the arm's has not; empty if none was.
    """

    arm: ArmSummary
    bills: Mapping[Caching, Bill] = field(default_factory=dict)
    scale: float = 1.0
    rates: Rates | None = None
    priced_as: str = ""

    @property
    def trials_per_solved(self) -> float | None:
        """Scored trials for each that was solved; `None` where none was, for which no price can be named."""
        return self.arm.scored / self.arm.solved.numerator if self.arm.solved.numerator else None

    def of_solved(self, caching: Caching) -> Bill | None:
        """The bill of each solved trial: what the scored trials took in all, divided by those solved."""
        bill, trials = self.bills.get(caching), self.trials_per_solved
        return None if bill is None or trials is None else bill.times(trials)

    @property
    def has_answers(self) -> bool:
        """Whether the dollars include the answers."""
        return self.rates is not None and self.arm.completion_tokens is not None


def cache_economics(summary: RunSummary, price_of: PriceOf, priced_as: str | None = None) -> tuple[ArmEconomics, ...]:
    """What each arm's requests cost, billed in the three ways of `Caching`.

    The bills are of an ideal cache: least lengths that providers cache, the blocks they round to and the time they
    keep it are ignored. Steps of a price go by the arm's mean prompt. Trials that were not scored are not in it, as
    in every mean.

    Args:
        summary: Of the run.
        price_of: Looks prices up.
        priced_as: A model whose price is taken for those that have none, or that cost nothing.

    Returns:
        One an arm, in their order.

    Raises:
        NotFoundError: nothing is known of the price of `priced_as`.
    """
    stand_in = None if priced_as is None else _cost(price_of(priced_as))
    if priced_as is not None and stand_in is None:
        raise NotFoundError("priced model", priced_as)
    own = ((arm, _cost(price_of(arm.asked_as or arm.model))) for arm in summary.arms)
    return tuple(_arm_economics(arm, cost, stand_in, priced_as or "") for arm, cost in own)


def has_savings(economics: Sequence[ArmEconomics]) -> bool:
    """Whether a cache would have saved anything for any arm with a solved case."""
    return any(
        bill.read_tokens > 0 or bill.rebilled_tokens > 0
        for costs in economics
        if costs.trials_per_solved is not None
        for bill in costs.bills.values()
    )


def _cost(prices: Prices | None) -> Prices | None:
    """Prices that are any: of what costs nothing there is nothing to compare."""
    return prices if prices is not None and any(map(any, (rates for _, rates in prices.steps))) else None


def _arm_economics(arm: ArmSummary, own: Prices | None, stand_in: Prices | None, priced_as: str) -> ArmEconomics:
    split = _split(arm)
    if split is None:
        return ArmEconomics(arm)
    scale = 1.0
    if arm.prompt_tokens_reported and arm.prompt_tokens is not None and arm.own_prompt_tokens:
        scale = arm.prompt_tokens / arm.own_prompt_tokens
    prices = own or stand_in
    rates = None
    if prices is not None:
        rates = prices.rates((arm.prompt_tokens or 0.0) / (arm.requests or 1.0))
    bills = {caching: _priced(bill.times(scale), arm, rates, caching) for caching, bill in split}
    return ArmEconomics(
        arm, MappingProxyType(bills), scale, rates, priced_as if own is None and rates is not None else ""
    )


def _split(arm: ArmSummary) -> list[tuple[Caching, Bill]] | None:
    """The prompt tokens of a scored trial, estimated; `None` where they are unknown."""
    whole, repeated, invalidated = arm.own_prompt_tokens, arm.repeated_tokens, arm.invalidated_tokens
    if not arm.scored or whole is None or repeated is None or invalidated is None:
        return None
    read = repeated - invalidated
    bills = [
        (Caching.NONE, Bill(whole, 0.0, 0.0)),
        (Caching.WITHIN, Bill(whole - read, read, invalidated)),
    ]
    if arm.first_offers is not None and arm.finished and arm.definition_tokens is not None:
        # Some trial has to write each list first; the others find it. Of the trials finished, not of those scored:
        # an unscored one has written it, too.
        opened = arm.definition_tokens * max(0.0, 1 - arm.first_offers / arm.finished)
        bills.append((Caching.ACROSS, Bill(whole - read - opened, read + opened, invalidated)))
    return bills


def _priced(bill: Bill, arm: ArmSummary, rates: Rates | None, caching: Caching) -> Bill:
    if rates is None:
        return bill
    # Some entries of the table give less for writing than for an ordinary token, or nothing: what is written is paid
    # as a token of the prompt all the same.
    fresh = rates.prompt if caching is Caching.NONE else max(rates.prompt, rates.cached_write)
    usd = (
        bill.fresh_tokens * fresh
        + bill.read_tokens * rates.cached_read
        + rates.answer_usd(arm.completion_tokens or 0.0, arm.reasoning_tokens or 0.0)
    )
    rebilled = bill.rebilled_tokens * max(0.0, fresh - rates.cached_read)
    return Bill(bill.fresh_tokens, bill.read_tokens, bill.rebilled_tokens, usd, rebilled)


def open_prices(table: ModelTable | None) -> PriceOf:
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
    summary: RunSummary, table: ModelTable | None, priced_as: str | None = None
) -> tuple[ArmEconomics, ...]:
    """`cache_economics` at the prices of a table.

    Args:
        summary: Of the run.
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


def economics_data(economics: Sequence[ArmEconomics]) -> list[dict[str, Any]]:
    """One object an arm, in their order; what is unknown is `None`.

    `none`, `within` and `across` are the ways of billing of `Caching`, each `{per_trial, per_solved}` of
    `{fresh_tokens, read_tokens, rebilled_tokens, usd, rebilled_usd}`, or `None`. `reported` is what the provider said
    was read from its cache and written to it, and what was paid, for each scored trial. `price` is USD for one token.
    """
    return [_arm_data(costs) for costs in economics]


def _arm_data(costs: ArmEconomics) -> dict[str, Any]:
    arm = costs.arm
    return {
        "model": arm.model,
        "toolset": arm.toolset,
        "variant": arm.variant,
        "scored": arm.scored,
        "solved": arm.solved.numerator,
        "trials_per_solved": costs.trials_per_solved,
        "scale": costs.scale if costs.bills else None,
        "price": None if costs.rates is None else costs.rates._asdict(),
        "priced_as": costs.priced_as or None,
        "has_answers": costs.has_answers,
        **{caching.value: _bills(costs, caching) for caching in Caching},
        "reported": {
            "cached_read_tokens": arm.cached_read_tokens,
            "cached_write_tokens": arm.cached_write_tokens,
            "cost_usd": arm.cost_usd,
        },
    }


def _bills(costs: ArmEconomics, caching: Caching) -> dict[str, Any] | None:
    if caching not in costs.bills:
        return None
    return {"per_trial": _bill(costs.bills[caching]), "per_solved": _bill(costs.of_solved(caching))}


def _bill(bill: Bill | None) -> dict[str, float | None] | None:
    if bill is None:
        return None
    return {
        "fresh_tokens": bill.fresh_tokens,
        "read_tokens": bill.read_tokens,
        "rebilled_tokens": bill.rebilled_tokens,
        "usd": bill.usd,
        "rebilled_usd": bill.rebilled_usd,
    }
