"""Sentences about a model that stay few, however many toolsets there are."""

from __future__ import annotations

import pytest

from tests.evals.analysis.matrix.runs import Asked, matrix_of
from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.matrix.matrix import Pick
from toolbelt.evals.analysis.matrix.pick_text import describe_pick, format_accuracy, format_accuracy_difference
from toolbelt.evals.analysis.summary.run_summary import Rate

GOOD = "+" * 180 + "-" * 20


def test_many_that_lack_answers_are_one_sentence() -> None:
    arms = [Asked("full", GOOD, 9000), *(Asked(f"loadout:x{number}", "+" * 9 + "e" * 191) for number in range(12))]
    reasons = describe_pick(matrix_of(arms, 0.05).rows[0].pick)
    assert len(reasons) == 2, "nor do they look promising"
    assert reasons[1].startswith("loadout:x0, loadout:x1, loadout:x2, ")
    assert reasons[1].endswith("were not considered: too many trials lack an answer.")


def test_many_that_are_too_long_are_one_sentence() -> None:
    arms = [Asked("full", GOOD, 9000), *(Asked(f"loadout:x{number}", "o" + GOOD[1:]) for number in range(12))]
    reasons = describe_pick(matrix_of(arms, 0.05).rows[0].pick)
    assert reasons[1:] == ("12 smaller ones do not fit it in cases that fit with the best.",)


@pytest.mark.parametrize(
    ("rate", "told"),
    [(Rate(), "nothing"), (Rate(0, 9), "0.0%"), (Rate(1, 9000), "<0.1%"), (Rate(8999, 9000), ">99.9%")],
)
def test_a_share_is_never_rounded_to_all_or_none(rate: Rate, told: str) -> None:
    assert format_accuracy(rate) == told


def test_a_difference_says_the_level_of_its_interval() -> None:
    contrast = Contrast(Measure.ACCURACY, difference=-0.01, low=-0.03, high=0.01)
    assert format_accuracy_difference(contrast, 0.02) == "-1.0 points, 95% interval -3.0 to +1.0"
    assert format_accuracy_difference(contrast, 0.02, 1 - 0.1 / 7) == "-1.0 points, 98.6% interval -3.0 to +1.0"
    assert format_accuracy_difference(Contrast(Measure.ACCURACY), 0.02) == ""


ABSTAINS = "0" * 50 + "u" * 350
"""Right in all that needs nothing, and in nothing else."""


def pick(*arms: Asked, margin: float = 0.02) -> Pick:
    return matrix_of(arms, margin).rows[0].pick


def calling(right: int, abstained: int = 30) -> str:
    return "0" * abstained + "9" * (50 - abstained) + "+" * right + "-" * (350 - right)


def test_E7_a_toolset_that_only_abstains_is_neither_the_best_nor_chosen() -> None:
    found = pick(Asked("full", calling(20, 20), 9000), Asked("tiered", ABSTAINS, 90))
    assert (found.best, found.choice, found.toolset, found.never_calls) == (0, 0, "full", (1,)), "40 right against 50"
    assert [one.arm for one in found.candidates] == [0]
    assert found.sure, "the other one is known, and does not do"
    assert describe_pick(found) == (
        "full is the only toolset of this run that it calls right tools with (10.0%).",
        "It called no right tool with tiered: its 50 right answers are cases that need none.",
    )


def test_E7_if_that_leaves_nothing_there_is_no_choice() -> None:
    found = pick(Asked("full", calling(7, 0), 9000), Asked("tiered", ABSTAINS, 90))
    assert (found.best, found.choice, found.toolset, found.candidates) == (None, None, "", ())
    assert found.never_calls == (0, 1), "7 of 350 are 2%, which is no more than the margin"
    [reason] = describe_pick(found)
    assert reason == (
        "No toolset does: it called no right tool with tiered: its 50 right answers are cases that need none; with "
        "full it called the right tools in 7 of 350 trials that need a call, which the margin of 2.0 points counts as "
        "zero."
    )
    assert pick(Asked("full", calling(9, 0), 9000), Asked("tiered", ABSTAINS, 90)).toolset == "full"


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        pytest.param(
            [Asked("tiered", "0uu")], "with tiered: its one right answer is a case that needs none.", id="one"
        ),
        pytest.param([Asked("tiered", "9uu")], "it called no right tool with tiered.", id="not-even-that"),
        pytest.param(
            [Asked(f"loadout:x{number}", "00uu") for number in range(3)],
            "with loadout:x0, loadout:x1, loadout:x2: its right answers are cases that need none.",
            id="several",
        ),
        pytest.param(
            [Asked(f"loadout:x{number}", "00uu") for number in range(9)],
            "it called no right tool with 9 toolsets: its right answers are cases that need none.",
            id="many",
        ),
    ],
)
def test_why_nothing_does_stays_a_sentence(arms: list[Asked], said: str) -> None:
    [reason] = describe_pick(pick(*arms))
    assert reason.startswith("No toolset does: it called")
    assert reason.endswith(said)


def test_E4_where_all_that_needs_a_call_was_too_long_no_call_was_right() -> None:
    """That the run has cases that need a call is known by another arm."""
    found = pick(Asked("full", "0000" + "++++", 90), Asked("tiered", "0000" + "oooo", 9))
    assert (found.best, found.never_calls) == (0, (1,))


def test_where_no_case_needs_a_call_the_smallest_that_abstains_does() -> None:
    found = pick(Asked("full", "0" * 200, 9000), Asked("tiered", "0" * 200, 90))
    assert (found.toolset, found.sure, found.never_calls) == ("tiered", True, ())


def test_what_too_little_is_known_of_is_not_said_to_abstain() -> None:
    found = pick(Asked("full", calling(300), 9000), Asked("tiered", "0" * 50 + "." * 350, 90))
    assert (found.best, found.never_calls) == (0, ())
    assert "tiered was not considered: 350 of 400 trials lack an answer." in describe_pick(found)


def test_the_others_are_held_against_each_other_as_ever() -> None:
    arms = [Asked("full", calling(300), 9000), Asked("loadout:b", calling(300), 500), Asked("tiered", ABSTAINS, 90)]
    found = pick(*arms, margin=0.05)
    assert (found.choice, found.toolset, found.sure) == (1, "loadout:b", True)
    assert (
        "not worse than any other that it calls tools with by more than 5.0 points; none of these is smaller."
        in (describe_pick(found)[0])
    )
    unsure = pick(*(Asked(arm.toolset, arm.trials[::20], arm.tokens) for arm in arms))
    assert "and the smallest of those it calls tools with; not sure: full may be better" in describe_pick(unsure)[0]


@pytest.mark.parametrize("margin", [0.9, 1.0])
def test_E7_a_margin_that_all_are_within_is_told_to_decide_nothing(margin: float) -> None:
    arms = [Asked("full", calling(300), 9000), Asked("tiered", calling(200), 90)]
    [reason] = describe_pick(pick(*arms, margin=margin))
    assert reason == (
        f"A margin of {100 * margin:.1f} points decides nothing: the right tools were called in 300 of 350 trials that "
        "need a call with full, the most of all, and that is no more, so that a toolset with which it never calls any "
        "would do."
    )


def test_E7_such_a_margin_is_told_where_much_was_too_long() -> None:
    found = pick(Asked("full", "+" * 30 + "o" * 70, 9000), Asked("tiered", "+" * 20 + "o" * 80, 90), margin=0.5)
    assert describe_pick(found)[0].startswith("A margin of 50.0 points decides nothing: full is the best as measured")
