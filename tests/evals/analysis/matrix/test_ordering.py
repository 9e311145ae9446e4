"""The order asked for, from arms and what was left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of
from toolbelt.evals.analysis.matrix.ordering import merged
from toolbelt.evals.running.limits import LeftOut, ModelLimits
from toolbelt.loadouts.fit import Verdict

AUTO = "loadout:auto"
SUITE = ("full", AUTO, "loadout:a", "tiered")


def _run(models: dict[str, tuple[str, ...]], rooms: tuple[str, ...] = ()) -> WrittenRun:
    """Models with the toolsets they were asked; the rest of the suite was left out."""
    return WrittenRun(
        [Asked(toolset, "+", model=model) for model, asked in models.items() for toolset in asked],
        rooms={model: ModelLimits(8192) for model in rooms},
        left_out=tuple(
            LeftOut(model, toolset, Verdict.UNSUPPORTED, "So.")
            for model, asked in models.items()
            for toolset in SUITE
            if toolset not in asked
        ),
    )


@pytest.mark.parametrize(
    "models",
    [
        pytest.param({"m": ("full", "loadout:a", "tiered"), "n": SUITE}, id="the-first-lacks-auto"),
        pytest.param({"m": SUITE, "n": ("full", "loadout:a", "tiered")}, id="the-second-lacks-auto"),
        pytest.param({"m": ("full", "loadout:a", "tiered")}, id="all-lack-auto"),
        pytest.param({"m": (), "n": ("full", "loadout:a", "tiered")}, id="one-calls-no-tools"),
    ],
)
def test_E1_toolsets_stand_in_the_order_asked_for(models: dict[str, tuple[str, ...]]) -> None:
    assert matrix_of(_run(models)).toolsets == SUITE


def test_models_that_were_left_out_stand_where_they_were_asked_for() -> None:
    models: dict[str, tuple[str, ...]] = {"m": SUITE, "deaf": (), "n": SUITE}
    assert [row.model for row in matrix_of(_run(models, ("deaf", "n"))).rows] == ["m", "deaf", "n"]


@given(st.permutations("abcdefg"), st.lists(st.sets(st.sampled_from("abcdefg")), max_size=5))
def test_every_chain_is_kept(order: list[str], parts: list[set[str]]) -> None:
    chains = [[name for name in order if name in part] for part in parts]
    found = merged(chains)
    assert sorted(found) == sorted(set().union(*parts))
    for chain in chains:
        assert [name for name in found if name in chain] == chain


def test_what_contradicts_itself_loses_nothing() -> None:
    assert sorted(merged([["a", "b"], ["b", "a"]])) == ["a", "b"]
