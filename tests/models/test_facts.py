"""What is known of a model, as a value; and the one number of it that is a choice of ours."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.models.facts import ModelFacts, ModelPrices, default_reserve, facts_data
from toolbelt.models.project_models import ProjectModel, project_model_data

counts = st.none() | st.integers(1, 10**7)


@pytest.mark.parametrize(
    ("window", "limit", "reserve"),
    [
        pytest.param(128_000, 16_384, 4_096, id="a-large-model-keeps-4096"),
        pytest.param(200_000, 1_024, 1_024, id="no-more-than-it-can-answer"),
        pytest.param(8_192, 8_192, 2_048, id="a-quarter-of-a-small-window"),
        pytest.param(4_097, 4_096, 1_024, id="where-the-longest-answer-would-leave-a-single-token"),
        pytest.param(None, 2_000, 2_000, id="an-unknown-window"),
        pytest.param(1_000_000, None, 4_096, id="an-unknown-limit"),
        pytest.param(None, None, 4_096, id="nothing-known"),
    ],
)
def test_the_reserve_of_an_answer(window: int | None, limit: int | None, reserve: int) -> None:
    assert default_reserve(window, limit) == reserve


@given(counts, counts)
def test_a_reserve_never_takes_over_a_quarter_nor_more_than_can_be_said(window: int | None, limit: int | None) -> None:
    reserve = default_reserve(window, limit)
    assert 0 <= reserve <= 4_096
    assert limit is None or reserve <= limit
    assert window is None or reserve <= window / 4


def test_the_data_hold_every_fact_and_are_json() -> None:
    facts = ModelFacts("m", prices=ModelPrices(1, 2, None, 0.5), tool_calling=False, sources={"prices": "litellm"})
    data = facts_data(facts)
    assert list(data) == [field.name for field in fields(ModelFacts)]
    assert json.loads(json.dumps(data)) == data
    assert data["prices"] == {"input": 1, "output": 2, "cache_read": None, "cache_write": 0.5}
    assert (data["tool_calling"], data["parallel_calls"]) == (False, None)
    assert facts_data(ModelFacts("m"))["prices"] is None


@pytest.mark.parametrize(
    ("own", "calls"),
    [
        (ProjectModel("m"), None),
        (ProjectModel("m", tool_calling=False), False),
        (ProjectModel("m", parallel_calls=True), True),
        (ProjectModel("m", tool_choice=True), True),
        (ProjectModel("m", parallel_calls=False), None),
    ],
)
def test_who_makes_several_calls_makes_calls(own: ProjectModel, calls: bool | None) -> None:
    assert own.calls_tools is calls


def test_only_what_is_said_is_data() -> None:
    assert project_model_data(ProjectModel("m", tool_calling=False)) == {"name": "m", "tool_calling": False}
