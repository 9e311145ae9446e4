"""Leases: chunks together never have more than the caps leave, and all of it can be used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt.evals.engines.leases import Lease, Leases
from toolbelt.evals.running.client import Budget, CapReached


@given(cap=st.integers(0, 200), slots=st.integers(1, 8), uses=st.lists(st.integers(0, 60), min_size=1), data=st.data())
def test_X5_requests_are_lent_until_exactly_the_cap_is_used(
    cap: int, slots: int, uses: list[int], data: st.DataObject
) -> None:
    leases = Leases(Budget(max_requests=cap), slots)
    held: list[Lease] = []
    for use in uses * 50:
        while len(held) < slots:
            try:
                lease = leases.lend()
            except CapReached:
                assert leases.budget.requests == cap
                return
            if lease is None:
                break
            held.append(lease)
        assert leases.budget.requests + sum(lease.max_requests or 0 for lease in held) <= cap
        lease = held.pop(data.draw(st.integers(0, len(held) - 1)))
        leases.settle(lease, min(max(use, 1), lease.max_requests or 0), 0.0)


def test_X5_what_is_not_used_returns() -> None:
    leases = Leases(Budget(max_requests=100), 4)
    first = leases.lend()
    assert first is not None
    assert first.max_requests == 25
    leases.settle(first, 5, 0.0)
    second = leases.lend()
    assert second is not None
    assert second.max_requests == 24, "a quarter of what is left"


def test_X5_a_chunk_that_needs_more_waits_until_it_is_returned() -> None:
    leases = Leases(Budget(max_cost_usd=1.0), 4)
    others = leases.lend()
    assert others is not None
    assert leases.lend(least_cost_usd=0.9) is None
    leases.settle(others, 1, 0.05)
    alone = leases.lend(least_cost_usd=0.9)
    assert alone is not None
    assert alone.max_cost_usd == pytest.approx(0.9)
    leases.settle(alone, 0, 0.0)
    everything = leases.lend(least_cost_usd=1.8)
    assert everything is not None
    assert everything.max_cost_usd == pytest.approx(0.95)
    assert everything.is_last


def test_X5_what_earlier_executions_spent_is_not_lent() -> None:
    with pytest.raises(CapReached, match=naming("cap", 5)):
        Leases(Budget(max_requests=5, requests=5), 2).lend()


def test_X5_without_caps_nothing_is_limited() -> None:
    lease = Leases(Budget(), 2).lend()
    assert lease is not None
    assert not lease.is_limited
