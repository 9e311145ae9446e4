"""A hosted model of which only the price is asked: no key, no client, nothing sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolbelt.errors import NotFoundError
from toolbelt.evals.conversation import Reply, Usage
from toolbelt.evals.models.model import Failure, Model, ModelError, Request
from toolbelt.evals.models.opening import OPENERS, ModelOptions, open_model
from toolbelt.providers.facts import is_known
from toolbelt.providers.models import ModelTable
from toolbelt.providers.prices import find_prices


@dataclass(frozen=True)
class PricedModel:
    """Stands for a hosted model where nothing is asked.

    Attributes:
        name: A litellm name.
        table: What is known of models.
    """

    name: str
    table: ModelTable = field(default_factory=ModelTable, compare=False)

    async def complete(self, request: Request) -> Reply:  # noqa: ARG002  the protocol's
        """Raises `ModelError`, always."""
        raise ModelError(Failure.BAD_REQUEST, "only the price of this model was opened")

    def cost_usd(self, usage: Usage) -> float | None:
        """What tokens cost; `None` where the price, or the number of tokens, is unknown."""
        prices = find_prices(self.name, self.table)
        if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return prices.cost_usd(usage.prompt_tokens, usage.completion_tokens)

    async def close(self) -> None:
        """Nothing was opened."""


def open_price(name: str, options: ModelOptions) -> Model:
    """The model of that name where it asks nobody, else its price; needs no key and loads no client.

    Raises:
        NotFoundError: a name without a provider that no known model bears, with the nearest.
    """
    if not name.strip() or name.startswith(tuple(OPENERS)):
        return open_model(name, options)
    if "/" not in name and options.api_base is None and not is_known(name, options.table):
        raise NotFoundError("model", name, options.table.find_similar(name))
    return PricedModel(name, options.table)
