"""A probe as JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.probing.probes import make_probe
from toolbelt.evals.probing.results import probe_data


def test_what_follows_is_counted() -> None:
    data = probe_data(make_probe())
    assert (data["works"], len(data["planned"])) == (1, 6)
    assert data["outcomes"] == {"works": 1, "partly": 1, "fails": 1, "too_large": 1, "skipped": 1, "unknown": 1}
    assert (data["requests"], data["cost_usd"]) == (9, pytest.approx(0.004)), "retries too"
    capped = probe_data(make_probe(open_requests=3, open_cost_usd=0.001))
    assert (capped["requests"], capped["cost_usd"]) == (12, pytest.approx(0.005))
    assert probe_data(make_probe(open_requests=1, open_cost_usd=None))["cost_usd"] is None
    assert data["cached_tokens_reported"] is True
    assert data["checks"][0]["title"] == "One tool"


def test_a_price_that_is_unknown_makes_the_cost_unknown() -> None:
    probe = make_probe()
    [first, *rest] = probe.checks
    unpriced = replace(probe, checks=(replace(first, cost_usd=None), *rest))
    assert probe_data(unpriced)["cost_usd"] is None
