"""What flipped, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.evidence.sides import NOTHING, RIGHT, WRONG
from toolbelt.evals.analysis.comparison.comparison import Flip
from toolbelt.evals.analysis.comparison.flip_text import count_flips, describe_flip, describe_flips
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome

UNNEEDED = replace(WRONG, outcome=Outcome.UNNEEDED_CALL, missing=())
PARTLY = replace(NOTHING, called=("git/log",), missing=("git/status",))
UNCOVERED = replace(NOTHING, covered=False)
REFUSED = Attempt(Outcome.REFUSED, True, ())


def _to(
    outcome: Outcome, called: tuple[str, ...] | None, missing: tuple[str, ...] = (), surplus: tuple[str, ...] = ()
) -> Flip:
    """A case that was right, and is so now."""
    return Flip("c", "single", -1, RIGHT, Attempt(outcome, True, called, missing, surplus))


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
        pytest.param(_to(Outcome.REFUSED, (), missing=("a",)), "refused, without a", id="refused-before-any-call"),
        pytest.param(
            _to(Outcome.GAVE_UP, ("c",), missing=("a",), surplus=("c",)),
            "given up, called c, without a",
            id="given-up-after-a-call",
        ),
        pytest.param(_to(Outcome.WRONG_TOOL, ("b", "a"), ("a",), ("a",)), "in another order: a", id="order"),
        pytest.param(
            _to(Outcome.WRONG_TOOL, ("b", "c", "a"), ("a", "b"), ("b", "c")),
            "c instead of a",
            id="order-beside-another",
        ),
        pytest.param(
            _to(Outcome.UNOFFERED_TOOL, ("a",), ("a",), ("a",)),
            "to a tool not offered: a",
            id="the-right-one-unoffered",
        ),
        pytest.param(_to(Outcome.WRONG_ARGUMENTS, None), "with wrong arguments", id="arguments-not-kept"),
        pytest.param(_to(Outcome.MISSING_CALL, None, ("a",)), "without a", id="calls-not-kept"),
        pytest.param(
            Flip("c", "single", -1, RIGHT, replace(RIGHT, covered=False)),
            "the right answer cannot be reached",
            id="right-and-out-of-reach",
        ),
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
        pytest.param(
            Outcome.WRONG_TOOL, ("a",), ("a", "b"), ("a",), "1 with a call missing", id="order-and-one-missing"
        ),
        pytest.param(Outcome.REFUSED, (), ("a",), (), "1 refused", id="refused"),
        pytest.param(Outcome.GAVE_UP, (), ("a",), (), "1 given up", id="given-up-at-once"),
        pytest.param(Outcome.TRUNCATED, (), ("a",), (), "1 cut by the token limit", id="cut"),
        pytest.param(Outcome.GAVE_UP, ("c",), ("a",), ("c",), "1 given up", id="given-up-after-another-tool"),
        pytest.param(Outcome.MISSING_CALL, (), ("a",), (), "1 to nothing", id="nothing-called"),
        pytest.param(Outcome.MISSING_CALL, None, ("a",), (), "1 with a call missing", id="calls-not-kept"),
        pytest.param(Outcome.WRONG_ARGUMENTS, None, (), (), "1 with wrong arguments", id="wrong-arguments-not-kept"),
        pytest.param(
            Outcome.INVALID_ARGUMENTS, None, (), (), "1 with invalid arguments", id="invalid-arguments-not-kept"
        ),
    ],
)
def test_a_case_that_went_to_no_other_tool_says_how(
    outcome: Outcome, called: tuple[str, ...] | None, missing: tuple[str, ...], surplus: tuple[str, ...], says: str
) -> None:
    assert f"({says})" in describe_flips([_to(outcome, called, missing, surplus)])
