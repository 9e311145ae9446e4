"""Bills as plain values for JSON (rule E10)."""

from __future__ import annotations

import json

from toolbelt.evals.analysis.economics.caching import cache_economics
from toolbelt.evals.analysis.economics.data import economics_data
from toolbelt.evals.analysis.summary.measures import ArmSummary, Rate, RunSummary
from toolbelt.providers.prices import Prices, Rates


def test_E10_every_bill_is_there_or_null() -> None:
    arm = ArmSummary(
        "m",
        "tiered",
        "shuffled",
        finished=4,
        scored=4,
        solved=Rate(2, 4),
        own_prompt_tokens=100.0,
        prompt_tokens=100.0,
        repeated_tokens=40.0,
        invalidated_tokens=10.0,
        cached_read_tokens=20.0,
        cost_usd=0.5,
        requests=1.0,
    )
    summary = RunSummary("r", "2026", "finished", "d", "sha256:0", arms=(arm, ArmSummary("m", "full", planned=4)))
    first, second = economics_data(cache_economics(summary, lambda _: Prices(((0, Rates(2.0, 8.0, 1.0, 2.0)),))))
    assert first == {
        "model": "m",
        "toolset": "tiered",
        "variant": "shuffled",
        "scored": 4,
        "solved": 2,
        "trials_per_solved": 2.0,
        "scale": 1.0,
        "price": {"prompt": 2.0, "completion": 8.0, "cached_read": 1.0, "cached_write": 2.0},
        "priced_as": None,
        "has_answers": False,
        "none": {"per_trial": _bill(100, 0, 0, 200, 0), "per_solved": _bill(200, 0, 0, 400, 0)},
        "within": {"per_trial": _bill(70, 30, 10, 170, 10), "per_solved": _bill(140, 60, 20, 340, 20)},
        "across": None,
        "reported": {"cached_read_tokens": 20.0, "cached_write_tokens": None, "cost_usd": 0.5},
    }
    assert {second[name] for name in ("none", "within", "across", "scale", "price", "trials_per_solved")} == {None}
    json.dumps([first, second], allow_nan=False)


def _bill(fresh: float, read: float, rebilled: float, usd: float, rebilled_usd: float) -> dict[str, float]:
    return {
        "fresh_tokens": fresh,
        "read_tokens": read,
        "rebilled_tokens": rebilled,
        "usd": usd,
        "rebilled_usd": rebilled_usd,
    }
