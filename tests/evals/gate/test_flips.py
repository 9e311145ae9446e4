"""What flipped, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.evidence.sides import NOTHING, RIGHT, WRONG
from toolbelt.evals.comparison.comparison import Flip
from toolbelt.evals.evidence.evidence import Attempt
from toolbelt.evals.gate.flips import count_flips, describe_flip, describe_flips
from toolbelt.evals.scoring.outcome import Outcome

UNNEEDED = replace(WRONG, outcome=Outcome.UNNEEDED_CALL, missing=())
PARTLY = replace(NOTHING, called=("git/log",), missing=("git/status",))
UNCOVERED = replace(NOTHING, covered=False)
REFUSED = Attempt(Outcome.REFUSED, True, ())


@pytest.mark.parametrize(
    ("flip", "says"),
    [
        pytest.param(Flip("c", "single", -1, RIGHT, WRONG), "git/log instead of git/status", id="another-tool"),
        pytest.param(Flip("c", "single", 1, WRONG, RIGHT), "git/log instead of git/status", id="what-it-did-before"),
        pytest.param(Flip("c", "single", -1, RIGHT, NOTHING), "nothing instead of git/status", id="nothing"),
        pytest.param(Flip("c", "single", -1, RIGHT, PARTLY), "without git/status", id="one-too-few"),
        pytest.param(Flip("c", "single", -1, RIGHT, UNNEEDED), "git/log, which was not asked for", id="unneeded"),
        pytest.param(
            Flip("c", "single", -1, RIGHT, UNCOVERED),
            "nothing instead of git/status; the right answer cannot be reached",
            id="out-of-reach",
        ),
        pytest.param(Flip("c", "single", -1, RIGHT, REFUSED), "refused", id="refused"),
    ],
)
def test_a_flip_says_which_tool_took_whose_place(flip: Flip, says: str) -> None:
    assert describe_flip(flip) == says


def test_flips_are_counted_by_the_tool_they_went_to() -> None:
    takers = ["a", "a", "a", "b", "b", "c", "d", "e", "e", "e", "e"]
    flips = [Flip(str(n), "", -1, RIGHT, replace(WRONG, surplus=(tool,))) for n, tool in enumerate(takers)]
    flips.append(Flip("x", "", 1, WRONG, RIGHT))
    assert describe_flips(flips) == "11 cases now wrong (4 to e, 3 to a, 2 to b, 2 in 2 other ways), 1 now right"
    assert count_flips(flips) == "11 cases now wrong, 1 now right"
    assert describe_flips(flips[-1:]) == "0 cases now wrong, 1 now right"
    assert count_flips([replace(flips[0], change=-0.5)], epochs=2) == "1 case worse, 0 better"
    assert describe_flips([]) == "no case flipped"


@pytest.mark.parametrize(
    ("outcome", "called", "missing", "surplus", "says"),
    [
        pytest.param(Outcome.WRONG_TOOL, ("b", "a"), ("a",), ("a",), "1 in another order", id="order"),
        pytest.param(Outcome.UNOFFERED_TOOL, ("a",), ("a",), ("a",), "1 to a tool not offered", id="not-offered"),
        pytest.param(Outcome.MISSING_CALL, ("a",), ("b",), (), "1 with a call missing", id="one-of-two"),
        pytest.param(Outcome.WRONG_ARGUMENTS, ("a",), (), (), "1 with wrong arguments", id="arguments"),
        pytest.param(Outcome.WRONG_TOOL, ("a", "c"), ("a",), ("a", "c"), "1 to c", id="another-tool-too"),
    ],
)
def test_a_case_that_went_to_no_other_tool_says_how(
    outcome: Outcome, called: tuple[str, ...], missing: tuple[str, ...], surplus: tuple[str, ...], says: str
) -> None:
    attempt = Attempt(outcome, covered=True, called=called, missing=missing, surplus=surplus)
    assert f"({says})" in describe_flips([Flip("c", "single", -1, RIGHT, attempt)])
