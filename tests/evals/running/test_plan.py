"""What is to be run (rule E8): complete, interleaved, resumable by subtraction, and never held."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.running.plan import Arm, CaseFilter, Plan
from toolbelt.evals.running.records import Done
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.providers.chat import Sampling


def make_plan(arms: int = 3, cases: int = 5, epochs: int = 2) -> Plan:
    return Plan(
        dataset="assistant",
        dataset_name="assistant",
        digest="d1",
        catalog_name="assistant",
        surroundings="s1",
        chosen="c1",
        arms=tuple(Arm("local/bm25", f"oracle+{number}") for number in range(arms)),
        cases=cases,
        epochs=epochs,
    )


SIZES = st.integers(1, 6)


@given(SIZES, SIZES, SIZES)
def test_E8_every_trial_is_planned_once(arms: int, cases: int, epochs: int) -> None:
    plan = make_plan(arms, cases, epochs)
    trials = list(plan.trials())
    assert sorted(trial.number for trial in trials) == list(range(plan.size))
    assert len({(trial.case, trial.arm, trial.epoch) for trial in trials}) == plan.size == arms * cases * epochs


@given(SIZES, SIZES, SIZES, st.data())
def test_E8_resuming_is_subtraction(arms: int, cases: int, epochs: int, data: st.DataObject) -> None:
    plan = make_plan(arms, cases, epochs)
    done = data.draw(st.sets(st.integers(0, plan.size - 1)))
    marks = Done(plan.size)
    for number in done:
        marks.add(number)
        marks.add(number)
    assert (set(marks), len(marks)) == (done, len(done))
    assert list(plan.trials(marks)) == [trial for trial in plan.trials() if trial.number not in done]


@given(SIZES, st.integers(2, 30), SIZES)
def test_E8_arms_are_interleaved_so_that_drift_hits_all_alike(arms: int, cases: int, epochs: int) -> None:
    seen: Counter[int] = Counter()
    for trial in make_plan(arms, cases, epochs).trials():
        seen[trial.arm] += 1
        counts = [seen[arm] for arm in range(arms)]
        assert max(counts) - min(counts) <= 1


def test_E8_no_arm_always_comes_first() -> None:
    firsts = [trial.arm for trial in list(make_plan(arms=3, cases=6, epochs=1).trials())[::3]]
    assert Counter(firsts) == {0: 2, 1: 2, 2: 2}


def test_E8_a_plan_of_a_hundred_million_trials_takes_no_memory() -> None:
    plan = make_plan(arms=10, cases=1_000_000, epochs=10)
    tracemalloc.start()
    try:
        for _ in islice(plan.trials(), 10_000):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert plan.size == 100_000_000
    assert peak < 100_000


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(make_plan(), id="least"),
        pytest.param(
            Plan(
                dataset="/data/mine",
                dataset_name="mine",
                digest="d2",
                catalog_name="shop",
                surroundings="s2",
                chosen="c2",
                arms=(Arm("gpt-4o", "tiered", "shuffled"), Arm("local/bm25", "loadout:Köche")),
                cases=7,
                catalog="/data/shop.yaml",
                config="/data/toolbelt.yaml",
                filter=CaseFilter(("single",), ("easy",), ("a", "b"), 7),
                excluded={"label not in the catalog": 3},
                epochs=4,
                seed=9,
                sampling=Sampling(0.5, 9, "required", 100),
                request_limit=4,
                tokenizer="cl100k_base",
                without_role=2,
                distractors_reached={"oracle+9": 3},
                api_base="http://localhost:1/v1",
                drafts=3,
                code={"toolbelt": "1.2.3", "commit": "0f" * 20, "changed": "yes"},
                suite="compatibility",
                limits={"gpt-4o": ModelLimits(128_000, 4_096, 128, True)},
                left_out=(LeftOutArm("local/bm25", "loadout:auto", FitVerdict.UNKNOWN, "unknown"),),
                ask_anyway=True,
            ),
            id="everything-said",
        ),
    ],
)
def test_E8_a_plan_survives_the_store(plan: Plan) -> None:
    assert Plan.from_json(plan.to_json()) == plan


def test_E8_a_plan_kept_before_the_code_was_has_none() -> None:
    data = json.loads(make_plan().to_json())
    del data["code"]
    assert Plan.from_json(json.dumps(data)) == make_plan()


def test_E4_a_plan_kept_before_there_were_rooms_asks_as_it_did() -> None:
    data = json.loads(make_plan().to_json())
    for key in ("suite", "rooms", "left_out", "ask_anyway"):
        del data[key]
    plan = Plan.from_json(json.dumps(data))
    assert plan == make_plan()
    assert plan.fit_guard("local/bm25") is None


def test_E4_only_a_model_of_which_something_is_known_is_kept_from_anything() -> None:
    plan = replace(make_plan(), limits={"m": ModelLimits(max_tools=0)})
    assert (plan.fit_guard("m") is not None, plan.fit_guard("n")) == (True, None)
    assert replace(plan, ask_anyway=True).fit_guard("m") is None


def test_E4_that_all_is_asked_is_shown_among_the_settings() -> None:
    assert "ask_anyway" not in json.loads(make_plan().to_json())["settings"]
    assert json.loads(replace(make_plan(), ask_anyway=True).to_json())["settings"]["ask_anyway"] is True
