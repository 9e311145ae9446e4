"""How the estimate of probes is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from toolbelt.console.tables import fitted_table
from toolbelt.evals.cli.estimates import shown_cost
from toolbelt.evals.cli.probe_opening import Prepared, describe_estimate, sum_up
from toolbelt.evals.probing.costs import ProbeEstimate
from toolbelt.text import visible

_FEW = 4
"""Checks of which it goes without saying that three take most."""


def estimates_data(prepared: Sequence[Prepared]) -> dict[str, Any]:
    """Plain values, for JSON; a cost is `null` where a price is unknown."""
    total = sum_up(prepared)
    return {
        "dry_run": True,
        "requests": total.requests,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "cost_usd": total.cost_usd,
        "models": [
            {
                "model": one.wanted.model,
                "api_base": one.wanted.api_base,
                "goes_on_with": None if one.unfinished is None else one.unfinished.probe,
                "checks": list(one.left),
                "requests": one.estimate.requests,
                "prompt_tokens": one.estimate.prompt_tokens,
                "prompt_tokens_by_check": dict(one.estimate.by_check),
                "completion_tokens": one.estimate.completion_tokens,
                "cost_usd": one.estimate.cost_usd,
            }
            for one in prepared
        ],
    }


def estimates_view(prepared: Sequence[Prepared], screen: Console) -> RenderableType:
    """A line a model, and a total below."""
    rows = [
        (
            visible(one.wanted.model),
            f"{len(one.left):,}",
            f"{one.estimate.requests:,}",
            f"{one.estimate.prompt_tokens:,}",
            f"{one.estimate.completion_tokens:,}",
            shown_cost(one.estimate.cost_usd),
        )
        for one in prepared
    ]
    headers = ("model", "checks", "requests", "prompt tokens", "completion", "cost")
    how = "From what would be sent, with short answers; a model that thinks first takes more. Nothing was asked."
    whole = sum_up(prepared)
    total, largest = describe_estimate(whole), _describe_largest(whole)
    return Group(
        fitted_table(screen, headers, rows, right=range(1, 6)),
        Text(),
        Text(f"{total[0].upper()}{total[1:]}", "bold"),
        *([Text(largest, "dim")] if largest else []),
        Text(how, "dim"),
    )


def _describe_largest(whole: ProbeEstimate) -> str:
    """Which three checks take most of the tokens; empty if no three do, or there are few."""
    largest = sorted(whole.by_check, key=lambda key: -whole.by_check[key])[:3]
    tokens = sum(whole.by_check[key] for key in largest)
    if len(whole.by_check) <= _FEW or tokens * 2 <= whole.prompt_tokens:
        return ""
    return f"{', '.join(largest)} take {tokens:,} of the prompt tokens; without them: --check, with the others."
