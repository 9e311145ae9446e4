"""What a model has room for (rule E4): what cannot fit is known before it is asked, and nothing is guessed."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.running.agents import CATALOG
from tests.wording import mentions
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.running.overflow import (
    FitGuard,
    LeftOutArm,
    ModelLimits,
    describe_overflow,
    read_left_out,
    read_model_limits,
)
from toolbelt.loadouts.fit import FitVerdict, ModelFit
from toolbelt.models.token_rates import TokenRate

SHELF = ToolRenderer(CATALOG, EstimateCounter())
THREE = SHELF.offer([tool.id for tool in CATALOG.tools])
TAKEN = THREE.tokens
NOTHING = Offer()


@pytest.mark.parametrize(
    ("room", "offer", "named"),
    [
        pytest.param(ModelLimits(), THREE, None, id="nothing-known"),
        pytest.param(ModelLimits(None, 4_096), THREE, None, id="a-reserve-of-an-unknown-window"),
        pytest.param(ModelLimits(TAKEN + 11, 10), THREE, None, id="a-token-is-left"),
        pytest.param(ModelLimits(TAKEN + 10, 10), THREE, ("no room", "10 kept"), id="no-token-is-left"),
        pytest.param(ModelLimits(TAKEN), THREE, ("no room", f"window of {TAKEN}"), id="no-reserve-is-known"),
        pytest.param(ModelLimits(10, 10), NOTHING, "output reserve", id="the-answer-takes-it-all"),
        pytest.param(ModelLimits(max_tools=3), THREE, None, id="as-many-tools-as-it-takes"),
        pytest.param(ModelLimits(max_tools=2), THREE, ("2 tools", 3, "1 too many"), id="a-tool-too-many"),
        pytest.param(ModelLimits(TAKEN, 0, 2), THREE, ("too many", "Definitions"), id="both-are-said"),
        pytest.param(
            ModelLimits(max_tools=2, output_reserve=9), THREE, "1 too many", id="an-unknown-window-is-no-reason"
        ),
        pytest.param(ModelLimits(tool_calling=False), THREE, None, id="said-to-call-no-tools-is-asked"),
        pytest.param(ModelLimits(TAKEN, 0, None, False), THREE, "leave no room", id="and-yet-needs-room"),
        pytest.param(ModelLimits(max_tools=0, tool_calling=False), NOTHING, None, id="no-tools-go-with-any-model"),
    ],
)
def test_E4_what_cannot_fit_is_refused_with_the_reason(room: ModelLimits, offer: Offer, named: object) -> None:
    refusal = room.find_overflow("m", offer)
    assert (refusal is None) is (named is None)
    said = describe_overflow(refusal) if refusal else ""
    assert named is None or mentions(said, named)
    assert "unknown" not in said


@given(st.integers(1, 400), st.integers(0, 300), st.integers(0, 6), st.booleans())
def test_E4_more_room_never_refuses_what_fitted(window: int, reserve: int, tools: int, calls: bool) -> None:
    small = ModelLimits(window, reserve, tools, calls)
    large = ModelLimits(window + 1, max(reserve - 1, 0), tools + 1, calls)
    if small.find_overflow("m", THREE) is None:
        assert large.find_overflow("m", THREE) is None


def test_E4_each_offer_is_looked_at_once_and_forgotten_with_it() -> None:
    class Counting(ModelLimits):
        seen = 0

        def find_overflow(self, model: str, offer: Offer, rate: TokenRate | None = None) -> ModelFit | None:
            Counting.seen += 1
            return super().find_overflow(model, offer, rate)

    fit_guard = FitGuard("m", Counting(max_tools=2))
    again = SHELF.offer([tool.id for tool in CATALOG.tools])
    assert len({fit_guard.find_overflow(one) for one in (THREE, THREE, again, THREE, again)}) == 1
    assert Counting.seen == 2, "another offer of the same tools is another"
    assert not fit_guard.find_overflow(NOTHING), "and what fits is not taken for it"


def test_E8_rooms_and_what_was_left_out_survive_the_store() -> None:
    rooms = {"m": ModelLimits(8_192, 2_048, 128, True), "n": ModelLimits(tool_calling=False)}
    left = (
        LeftOutArm("m", "loadout:auto", FitVerdict.UNKNOWN, "why"),
        LeftOutArm("n", "full", FitVerdict.UNSUPPORTED, "why"),
    )
    kept = json.loads(
        json.dumps({"rooms": {name: asdict(room) for name, room in rooms.items()}, "left_out": list(map(asdict, left))})
    )
    assert (read_model_limits(kept), read_left_out(kept)) == (rooms, left)
    assert (read_model_limits({}), read_left_out({})) == ({}, ()), "of a plan from before"
