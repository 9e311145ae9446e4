"""Arms with bills, and a price of a dollar for a thousand tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolbelt.evals.analysis.economics import ArmEconomics, cache_economics
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.providers.prices import Prices, Rates

PRICES = Prices(((0, Rates(0.001, 0.004, 0.0001, 0.00125)),))


def arm(toolset: str = "dynamic", model: str = "paid", solved: int = 5, **changes: Any) -> ArmSummary:
    """Ten trials of 2,000 tokens in two requests, 900 of them repeated and 100 of those billed again."""
    known: dict[str, Any] = {"planned": 10, "finished": 10, "scored": 10, "solved": Rate(solved, 10), "requests": 2.0}
    known |= {"own_prompt_tokens": 2000.0, "prompt_tokens": 2000.0, "definition_tokens": 500.0, "first_offers": 1}
    known |= {"repeated_tokens": 900.0, "invalidated_tokens": 100.0, "completion_tokens": 50.0}
    return ArmSummary(model, toolset, **known | changes)


def full(**changes: Any) -> ArmSummary:
    """Of 8,000 tokens, nearly all of them definitions that never change."""
    known = {"own_prompt_tokens": 8000.0, "prompt_tokens": 8000.0, "definition_tokens": 3900.0}
    return replace(arm("full"), **{**known, "repeated_tokens": 3980.0, "invalidated_tokens": 0.0, **changes})


def run(*arms: ArmSummary) -> RunSummary:
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=arms)


def billed(*arms: ArmSummary, priced_as: str | None = None) -> tuple[ArmEconomics, ...]:
    """At `PRICES` for models whose name begins with `paid`; others have no price."""
    return cache_economics(run(*arms), lambda model: PRICES if model.startswith("paid") else None, priced_as)
