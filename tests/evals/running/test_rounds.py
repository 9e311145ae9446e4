"""Rounds of a run that may stop early (rule X6): clusters in an order that the seed and their names alone decide."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.running.test_plan import make_plan
from toolbelt.errors import OutOfRangeError
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.rounds import Decision, Round, draw_rounds
from toolbelt.evals.running.top_up import TopUp


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40), st.integers(-5, 5), st.data())
def test_X6_rounds_hold_every_case_once_and_cut_no_cluster(labels: list[int], seed: int, data: st.DataObject) -> None:
    number = len(set(labels))
    counts = [*sorted(data.draw(st.sets(st.integers(1, number), max_size=3)) - {number}), number]
    rounds = draw_rounds(labels, counts, seed)
    assert sorted(chain.from_iterable(rounds)) == list(range(len(labels)))
    seen = [{labels[position] for position in positions} for positions in rounds]
    assert [len(before) for before in seen] == [after - before for before, after in pairwise((0, *counts))]


def test_X6_the_order_goes_by_seed_and_cluster_alone() -> None:
    labels = [7, 8, 9, 10, 11, 12]
    order = [labels[position] for position in draw_rounds(labels, [6], 1)[0]]
    assert [labels[-1 - position] for position in draw_rounds(labels[::-1], [6], 1)[0]] == order
    assert order != [labels[position] for position in draw_rounds(labels, [6], 2)[0]]


def test_X6_a_plan_keeps_its_looks_and_ends_where_it_was_decided() -> None:
    plan = make_plan(arms=2, cases=10, epochs=3)
    planned = Plan(**{**vars(plan), "decision": Decision(0.02, "b.json", (Round(3, 4, 0.99), Round(8, 10, 0.96)))})
    assert (planned.size, Plan.from_json(planned.to_json())) == (60, planned)
    assert planned.decision is not None
    open_still = planned.decision.with_look(0, is_decided=False, verdicts={"a": {"verdict": "insufficient_data"}})
    decided = Plan(**{**vars(plan), "decision": open_still.with_look(1, is_decided=True)})
    assert (open_still.last_look, open_still.end, decided.size) == (0, None, 60)
    early = Plan(**{**vars(plan), "decision": planned.decision.with_look(0, is_decided=True)})
    assert (early.asked_cases, early.size, early.numbers) == (4, 24, 60)
    assert Plan.from_json(early.to_json()) == early


@pytest.mark.parametrize("level", [0.0, 0.9999, 1.0, float("nan"), "0.95", None])
def test_E9_a_plan_with_a_level_that_no_interval_can_have_is_no_plan(level: Any) -> None:
    plan = make_plan(arms=2, cases=10, epochs=3)
    looks = replace(plan, decision=Decision(0.02, "b.json", (Round(3, 4, 0.99), Round(8, 10, 0.96))))
    epochs = replace(plan, top_up=TopUp(3, 0.96, (3, 2)))
    for text in (looks.to_json(), epochs.to_json()):
        assert Plan.from_json(text)
        with pytest.raises(OutOfRangeError):
            Plan.from_json(text.replace("0.96", json.dumps(level)))


@pytest.mark.parametrize("margin", [-0.1, 1.5, float("nan"), True])
def test_X6_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(OutOfRangeError):
        Decision(margin)
