"""Bills as plain values, for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolbelt.evals.analysis.economics.caching import ArmEconomics, Bill, Caching


def economics_data(economics: Sequence[ArmEconomics]) -> list[dict[str, Any]]:
    """One object an arm, in their order; what is unknown is `None`.

    `none`, `within` and `across` are the ways of billing of `Caching`, each `{per_trial, per_solved}` of
    `{fresh_tokens, read_tokens, rebilled_tokens, usd, rebilled_usd}`, or `None`. `reported` is what the provider said
    was read from its cache and written to it, and what was paid, for each scored trial. `price` is USD for one token.
    """
    return [_arm_data(one) for one in economics]


def _arm_data(one: ArmEconomics) -> dict[str, Any]:
    arm = one.arm
    return {
        "model": arm.model,
        "toolset": arm.toolset,
        "variant": arm.variant,
        "scored": arm.scored,
        "solved": arm.solved.numerator,
        "trials_per_solved": one.trials_per_solved,
        "scale": one.scale if one.bills else None,
        "price": None if one.rates is None else one.rates._asdict(),
        "priced_as": one.priced_as or None,
        "has_answers": one.has_answers,
        **{caching.value: _bills(one, caching) for caching in Caching},
        "reported": {
            "cached_read_tokens": arm.cached_read_tokens,
            "cached_write_tokens": arm.cached_write_tokens,
            "cost_usd": arm.cost_usd,
        },
    }


def _bills(one: ArmEconomics, caching: Caching) -> dict[str, Any] | None:
    if caching not in one.bills:
        return None
    return {"per_trial": _bill(one.bills[caching]), "per_solved": _bill(one.of_solved(caching))}


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
