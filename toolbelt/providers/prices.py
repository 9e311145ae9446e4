"""What tokens of a model cost: what the project says, else litellm's table, without litellm.

Ordinary prices of text alone: no batches, no priority, no discount at night (a dozen models have one: what is said
here is then the most it can be), no images, no searches. A cached token whose price the table leaves out costs what
any other costs, as litellm reckons it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from toolbelt.models.facts import ModelPrices
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.provider_names import served_alike

_MILLION = 1_000_000
_FILE_NAME = "token_prices.json"
_TIER = re.compile(r"(?:input|output)_cost_per_token_above_(\d+)(k?)_tokens")
_BEYOND_TOKENS = ("input_cost_per_request", "input_cost_per_second", "output_cost_per_second")
"""Prices of other things than tokens; an entry with one of them costs more than its tokens."""
_FROM_THE_BOUND_ON = ("xai",)
"""Providers whose higher price applies at the bound itself; for all others it applies above the bound."""
_CACHED_SHARE: Mapping[str, float] = {"fireworks_ai": 0.5}
"""Price of a cached token as a share of an ordinary one, by provider, if the table gives no price."""


class Rates(NamedTuple):
    """USD for one token of each sort; of reasoning as of any other of an answer if `None`."""

    prompt: float
    completion: float
    cached_read: float
    cached_write: float
    reasoning: float | None = None

    def answer_usd(self, completion_tokens: float, reasoning_tokens: float) -> float:
        """What an answer costs, of whose tokens some were spent on reasoning."""
        if self.reasoning is None:
            return completion_tokens * self.completion
        plain = max(completion_tokens - reasoning_tokens, 0.0)
        return plain * self.completion + min(reasoning_tokens, completion_tokens) * self.reasoning


@dataclass(frozen=True)
class Prices:
    """What tokens of a model cost.

    Attributes:
        steps: `(prompt tokens, rates)`, ascending from 0: the last step that a request's prompt is above holds for
            the whole of it.
    """

    steps: tuple[tuple[int, Rates], ...]

    def rates(self, prompt_tokens: float) -> Rates:
        """Those of a request with a prompt of that many tokens."""
        rates = self.steps[0][1]
        for above, dearer in self.steps:
            if prompt_tokens > above:
                rates = dearer
        return rates

    def cost_usd(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_read_tokens: int = 0,
        cached_write_tokens: int = 0,
        reasoning_tokens: int = 0,
    ) -> float:
        """What one request costs.

        Args:
            prompt_tokens: All of them, cached ones among them.
            completion_tokens: Of the answer.
            cached_read_tokens: Of the prompt, read from the provider's cache.
            cached_write_tokens: Of the prompt, written to it.
            reasoning_tokens: Of the answer, spent on reasoning.
        """
        rates = self.rates(prompt_tokens)
        plain = max(prompt_tokens - cached_read_tokens - cached_write_tokens, 0)
        return (
            plain * rates.prompt
            + cached_read_tokens * rates.cached_read
            + cached_write_tokens * rates.cached_write
            + rates.answer_usd(completion_tokens, reasoning_tokens)
        )


def find_prices(model: str, table: ModelTable | None = None) -> Prices | None:
    """The prices of a model's tokens; `None` if they are unknown, which is not the same as free.

    Args:
        model: A litellm name, with its provider before a slash or, for the well-known ones, without.
        table: Where to look; litellm's own if `None`.
    """
    table = table or ModelTable()
    for name in served_alike(model, table):
        own = table.find_project_model(name)
        if own is not None and own.prices is not None:
            return _own_prices(own.prices)
        known_as = table.find_name(name)
        steps = None if known_as is None else table.extract(_FILE_NAME, _steps, _is_sound).get(known_as)
        if steps is not None:
            return Prices(tuple((int(above), Rates(*rates)) for above, *rates in steps))
    return None


def first_price(entry: object) -> list[float | None] | None:
    """USD for a token of a prompt, an answer, a cached read and a cached write at the first step of an entry.

    The last two are `None` where the table leaves them out. `None` for all where it says nothing, or not enough.
    """
    steps = _steps(entry)
    if steps is None or not isinstance(entry, dict):
        return None
    tiers = entry.get("tiered_pricing")
    first = min(tiers, key=lambda tier: tier["range"][0]) if isinstance(tiers, list) else entry
    return [*steps[0][1:3], *_caching_prices(first)]


def per_million(price: float) -> float:
    """Converts USD for one token to USD for a million tokens."""
    return float(f"{price * _MILLION:.12g}")  # 1.1, and not 1.0999999999999999


def _own_prices(prices: ModelPrices) -> Prices:
    rates = (prices.input, prices.output, prices.cache_read, prices.cache_write)
    filled = (prices.input if price is None else price for price in rates)
    return Prices(((0, Rates(*(price / _MILLION for price in filled))),))


def _steps(entry: object) -> list[list[float | None]] | None:
    """The steps of an entry of the table, as JSON."""
    if not isinstance(entry, dict) or any(entry.get(key) for key in _BEYOND_TOKENS):
        return None
    shares = _CACHED_SHARE.get(str(entry.get("litellm_provider")))
    if isinstance(entry.get("tiered_pricing"), list):
        return _tiered(entry)
    first = _rates(entry, "", None, shares)
    if first is None:
        return None
    steps: list[list[float | None]] = [[0, *first]]
    early = 1 if entry.get("litellm_provider") in _FROM_THE_BOUND_ON else 0
    for bound, spelling in sorted(_bounds(entry).items()):
        dearer = _rates(entry, f"_above_{spelling}_tokens", first, shares)
        if dearer is not None:
            steps.append([bound - early, *dearer])
    return steps


def _bounds(entry: Mapping[str, Any]) -> dict[int, str]:
    matches = (_TIER.fullmatch(key) for key in entry)
    return {int(hit[1]) * (1000 if hit[2] else 1): hit[1] + hit[2] for hit in matches if hit}


def _rates(entry: Mapping[str, Any], suffix: str, below: Rates | None, share: float | None) -> Rates | None:
    prompt = _price(entry, f"input_cost_per_token{suffix}", below and below.prompt)
    none = 0.0 if entry.get("mode") == "embedding" else None  # vectors are no tokens, and some entries leave it out
    completion = _price(entry, f"output_cost_per_token{suffix}", below.completion if below else none)
    if prompt is None or completion is None:
        return None
    read, write = _caching_prices(entry)
    if suffix:
        read = _price(entry, f"cache_read_input_token_cost{suffix}", read)
        write = _price(entry, f"cache_creation_input_token_cost{suffix}", write)
    elsewise = prompt if share is None else prompt * share
    reasoning = _price(entry, f"output_cost_per_reasoning_token{suffix}", below.reasoning if below else None)
    reasoning = None if reasoning == completion else reasoning
    return Rates(prompt, completion, elsewise if read is None else read, prompt if write is None else write, reasoning)


def _caching_prices(entry: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """USD for a token read from the cache and for one written to it; `None` if the entry has no price."""
    read = _price(entry, "cache_read_input_token_cost", _price(entry, "input_cost_per_token_cache_hit", None))
    return read, _price(entry, "cache_creation_input_token_cost", None)


def _tiered(entry: Mapping[str, Any]) -> list[list[float | None]] | None:
    """Reads steps that the table writes as a list, each with its range."""
    steps: list[list[float | None]] = []
    for tier in entry["tiered_pricing"]:
        bounds = tier.get("range") if isinstance(tier, dict) else None
        if not isinstance(bounds, list) or len(bounds) != 2:
            return None
        rates = _rates({"output_cost_per_token": entry.get("output_cost_per_token"), **tier}, "", None, None)
        if rates is None:
            return None
        steps.append([bounds[0], *rates])
    steps.sort(key=itemgetter(0))
    return steps or None


def _price(entry: Mapping[str, Any], key: str, otherwise: float | None) -> float | None:
    value = entry.get(key)
    sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if sound and value is not None else otherwise


def _is_sound(steps: object) -> bool:
    return steps is None or (isinstance(steps, list) and bool(steps) and all(map(_is_step, steps)))


def _is_step(step: object) -> bool:
    if not isinstance(step, list) or len(step) != 6:
        return False
    return all(type(part) in (int, float) for part in step[:5]) and (step[5] is None or type(step[5]) in (int, float))
