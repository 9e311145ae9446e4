"""Which arm is held against which."""

from __future__ import annotations

import pytest

from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_arms, pair_within
from toolbelt.evals.analysis.evidence.evidence import ArmName

FULL, ROLE, PADDED, OTHER = (
    ArmName("m", "full"),
    ArmName("m", "loadout"),
    ArmName("m", "full", "padded:2"),
    ArmName("n", "full"),
)


@pytest.mark.parametrize(
    ("old", "new", "against", "expected"),
    [
        pytest.param([FULL, ROLE], [ROLE, FULL], None, Pairing(((1, 0), (0, 1))), id="same-with-same-whatever-order"),
        pytest.param(
            [FULL, ROLE], [OTHER, FULL], None, Pairing(((0, 1),), missing=(1,), added=(0,)), id="the-rest-is-told"
        ),
        pytest.param([FULL], [PADDED], None, Pairing(((0, 0),)), id="two-single-arms-are-the-contrast"),
        pytest.param([FULL, ROLE], [PADDED], None, Pairing((), (0, 1), (0,)), id="nothing-in-common-is-not-guessed"),
        pytest.param([FULL, ROLE], [FULL, OTHER], 1, Pairing(((1, 0), (1, 1))), id="against-one-every-new-arm"),
        pytest.param([], [FULL], None, Pairing((), (), (0,)), id="no-arms"),
    ],
)
def test_arms_of_two_sides(old: list[ArmName], new: list[ArmName], against: int | None, expected: Pairing) -> None:
    assert pair_arms(old, new, against) == expected


def test_a_tokenizer_does_not_make_another_arm() -> None:
    assert pair_arms([FULL, ROLE], [ArmName("m", "full", tokenizer="o200k"), ROLE]).pairs == ((0, 0), (1, 1))


def test_within_a_run_every_other_arm_is_held_against_one() -> None:
    assert pair_within([FULL, ROLE, OTHER], 1) == Pairing(((1, 0), (1, 2)), is_within=True)
    assert pair_within([FULL]).pairs == ()


@pytest.mark.parametrize("against", [-1, 1])
def test_an_arm_that_is_not_there_is_refused(against: int) -> None:
    with pytest.raises(IndexError, match="There is no arm"):
        pair_within([FULL], against)
    with pytest.raises(IndexError, match="There is no arm"):
        pair_arms([FULL], [FULL], against)
