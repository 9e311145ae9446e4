"""What a project says of a model itself, in the `models` of its `toolbelt.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from toolbelt.models.facts import ModelPrices, prices_data


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model that the project has something to say of; `None` says nothing, and is looked up elsewhere.

    Attributes:
        name: As it is asked for.
        base: Another model, of the project or of litellm's table, whose facts hold where nothing else is known: what
            an alias stands for, or what a quantised build was made of.
        provider: Whose API it is asked through.
        context_window: Tokens that a prompt takes at most.
        output_limit: Tokens of the longest answer.
        output_reserve: Tokens to keep free for an answer.
        max_tools: The most tools that a request may hold.
        tool_calling: Whether it calls tools.
        parallel_calls: Whether it makes several calls at once.
        tool_choice: Whether it can be made to call.
        caching: Whether the provider caches prompts.
        prices: Of a million tokens.
        toolset: What it is to be given, by the name of a toolset, as `models.given` reads it.
    """

    name: str
    base: str | None = None
    provider: str | None = None
    context_window: int | None = None
    output_limit: int | None = None
    output_reserve: int | None = None
    max_tools: int | None = None
    tool_calling: bool | None = None
    parallel_calls: bool | None = None
    tool_choice: bool | None = None
    caching: bool | None = None
    prices: ModelPrices | None = None
    toolset: str | None = None

    @property
    def calls_tools(self) -> bool | None:
        """Whether it calls tools: what makes several calls, or can be made to call, does."""
        if self.tool_calling is None and (self.parallel_calls or self.tool_choice):
            return True
        return self.tool_calling


def own_model_data(model: OwnModel) -> dict[str, Any]:
    """What is said of a model, as plain values."""
    said = {field.name: getattr(model, field.name) for field in fields(model)}
    if model.prices is not None:
        said["prices"] = prices_data(model.prices)
    return {key: value for key, value in said.items() if value is not None}
