"""Two sides compared: laws that hold whatever the cases, and what is said first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import ABOUT, ARM, Written, side
from tests.wording import naming
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.compare import compare_arms, compare_runs
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Measure
from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_arms, pair_within
from toolbelt.evals.analysis.comparison.reasons import ArmsNote, Aspect, CasesNote, CasesProblem, Mismatch
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.statistics.verdict import Verdict

SHARES = [measure for measure in Measure if measure.is_share]
FEW = 50  # resamples, where only laws are looked at


def compared(old: Written, new: Written, **settings: object) -> ArmComparison:
    (pair,) = compare_arms(old, new, pair_arms(old.arms, new.arms), resamples=FEW, **settings).pairs  # type: ignore[arg-type]
    return pair


EPOCHS = st.text("+-au-+eo.", min_size=2, max_size=2)
CASES = st.lists(st.tuples(EPOCHS, EPOCHS, st.sampled_from("klmnopq")), min_size=1, max_size=14)


def sides(cases: list[tuple[str, str, str]]) -> tuple[Written, Written]:
    clusters = [cluster for *_, cluster in cases]
    old, new = ([case[position] for case in cases] for position in (0, 1))
    return side(old, clusters=clusters, kinds=clusters), side(new, clusters=clusters, kinds=clusters)


@settings(max_examples=40, deadline=None)
@given(CASES)
def test_E7_swapping_the_sides_negates(cases: list[tuple[str, str, str]]) -> None:
    old, new = sides(cases)
    one, back = compared(old, new), compared(new, old)
    for measure in (Measure.ACCURACY, Measure.REQUESTS):
        there, here = one.contrast(measure), back.contrast(measure)
        assert (there.old, there.new) == (here.new, here.old)
        if there.difference is not None:
            assert there.difference == pytest.approx(-(here.difference or 0))
    exact = [single for single in cases if set(single[0] + single[1]) <= set("+-")]
    if exact:  # where nothing is drawn by chance
        old, new = side(one[0] for one, *_ in exact), side(two[0] for _, two, _ in exact)
        there, here = (compared(*both).contrast(Measure.ACCURACY) for both in ((old, new), (new, old)))
        assert here.low is not None
        assert here.high is not None
        assert (there.low, there.high, there.p_value) == pytest.approx((-here.high, -here.low, here.p_value))
    assert {flip.case: flip.change for flip in one.flips} == {flip.case: -flip.change for flip in back.flips}
    assert {(c.wanted, c.called): (c.old, c.new) for c in one.confusions} == {
        (c.wanted, c.called): (c.new, c.old) for c in back.confusions
    }
    assert set(one.unpaired) == {replace(count, is_new=not count.is_new) for count in back.unpaired}


@settings(max_examples=40, deadline=None)
@given(CASES, st.randoms(use_true_random=False))
def test_E7_the_order_of_cases_does_not_matter(cases: list[tuple[str, str, str]], random: Random) -> None:
    old, new = sides(cases)
    mixed = []
    for one in (old, new):
        items = list(one.evidence[0].items())
        random.shuffle(items)
        mixed.append(replace(one, evidence=(dict(items),)))
    there, here = compared(old, new), compared(*mixed)
    for measure in Measure:
        before, after = there.contrast(measure), here.contrast(measure)
        assert (before.verdict, before.cases, before.clusters) == (after.verdict, after.cases, after.clusters)
        for name in ("old", "new", "difference", "low", "high", "ratio", "p_value", "adjusted_p"):
            assert getattr(before, name) == pytest.approx(getattr(after, name), abs=1e-12), name
    assert sorted(there.flips, key=str) == sorted(here.flips, key=str)
    assert (there.parts, there.confusions, there.contribution, there.unpaired) == (
        here.parts,
        here.confusions,
        here.contribution,
        here.unpaired,
    )


def test_E7_nor_where_rounding_depends_on_the_order_of_the_cases_of_a_cluster() -> None:
    random = Random(0)
    cases = [("".join(random.choices("+-", k=3)), "".join(random.choices("+-", k=3)), str(n % 20)) for n in range(100)]
    there, here = (compared(*sides(one)).contrast(Measure.ACCURACY) for one in (cases, cases[::-1]))
    assert (there.low, there.high, there.p_value) == (here.low, here.high, here.p_value)


@settings(max_examples=40, deadline=None)
@given(CASES)
def test_E7_what_lies_behind_adds_up(cases: list[tuple[str, str, str]]) -> None:
    pair = compared(*sides(cases))
    accuracy = pair.contrast(Measure.ACCURACY)
    assert sum(part.cases for part in pair.parts) == accuracy.cases
    if accuracy.difference is None:
        assert (pair.flips, pair.contribution, pair.parts) == ((), None, ())
        return
    assert accuracy.old is not None
    assert accuracy.new is not None
    assert accuracy.difference == pytest.approx(accuracy.new - accuracy.old)
    assert sum(flip.change for flip in pair.flips) == pytest.approx(accuracy.cases * accuracy.difference)
    assert sum(part.cases * (part.new - part.old) for part in pair.parts) == pytest.approx(
        accuracy.cases * accuracy.difference
    )
    assert sum(part.better + part.worse for part in pair.parts) == len(pair.flips)
    assert pair.contribution is not None
    assert pair.contribution.coverage + pair.contribution.selection == pytest.approx(accuracy.difference)


@settings(max_examples=40, deadline=None)
@given(CASES)
def test_E7_flips_and_kinds_are_of_the_share_that_is_told(cases: list[tuple[str, str, str]]) -> None:
    pair = compared(*sides(cases), measures=[Measure.SOLVED])
    solved = pair.contrast(Measure.SOLVED)
    lost = (solved.difference or 0) * solved.cases
    assert sum(flip.change for flip in pair.flips) == pytest.approx(lost)
    assert sum(part.cases * (part.new - part.old) for part in pair.parts) == pytest.approx(lost)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("+-a.")] * 4), min_size=5, max_size=20))
def test_E7_holm_never_lowers_a_p_value(cases: list[tuple[str, ...]]) -> None:
    run = side(*zip(*cases, strict=True))
    found = [
        pair.contrast(measure) for pair in compare_arms(run, run, pair_within(run.arms)).pairs for measure in SHARES
    ]
    for one in found:
        if one.p_value is None:
            assert one.adjusted_p is None
            assert one.verdict is not Verdict.NO_REGRESSION
        else:
            assert one.adjusted_p is not None
            assert one.adjusted_p >= one.p_value


def test_E7_what_is_not_comparable_is_not_compared() -> None:
    old, new = side("+-"), side("+-", epochs=2, catalog="more", status="killed")
    comparison = compare_arms(old, new, pair_arms(old.arms, new.arms))
    assert (comparison.is_comparable, comparison.pairs, len(comparison.reasons)) == (False, (), 1)
    assert (len(comparison.differences), len(comparison.notes)) == (1, 1)


def test_E4_a_case_that_was_too_long_before_is_not_newly_so() -> None:
    old = side(["++", "+o", "oo", "e.", "+e", "-+", "++"])
    new = side(["+o", "oo", "oo", "oo", "oo", "o-", "+e"])
    pair = compared(old, new)
    assert pair.newly_overflowing == ("c0", "c4", "c5")
    assert {one.label: one.cases for one in pair.unpaired} == {
        "old: context_overflow": 2,
        "old: error": 2,
        "old: not run": 1,
        "new: context_overflow": 6,
        "new: error": 1,
    }
    assert pair.verdict is Verdict.REGRESSION
    for measure in SHARES:
        assert pair.verdict_by(measure) is Verdict.REGRESSION
        assert pair.contrast(measure).verdict is Verdict.INSUFFICIENT_DATA, "of the cases that could be scored"


def test_cases_that_neither_arm_has_read_are_counted_as_not_run() -> None:
    pair = compared(side(["+", "", "e", ""]), side(["+", "", "+", "."]))
    assert {one.label: one.cases for one in pair.unpaired} == {"old: error": 1, "old: not run": 2, "new: not run": 2}


def test_a_run_that_is_named_twice_is_told() -> None:
    run = side("++", "+-", names=[ARM, replace(ARM, toolset="tiered")])
    itself = compare_arms(run, run, pair_arms(run.arms, run.arms), resamples=FEW)
    assert itself.notes == (ArmsNote.SAME_SIDES,)
    assert compare_arms(run, run, Pairing(((0, 1),)), resamples=FEW).notes == ()
    assert compare_arms(run, run, pair_within(run.arms), resamples=FEW).notes == ()
    assert compare_arms(run, replace(run, about=replace(run.about, name="b")), Pairing(((0, 0),))).notes == ()


def test_unscored_trials_and_missing_arms_are_said_first() -> None:
    names = [replace(ARM, toolset=toolset) for toolset in ("full", "loadout", "tiered")]
    old = side("+" * 9, "+++++++++", names=names[:2], name="a")
    new = side("++++e...-", "+" * 9, names=[names[0], names[2]], name="b")
    comparison = compare_arms(old, new, pair_arms(old.arms, new.arms))
    assert (comparison.missing, comparison.added) == ((names[1],), (names[2],))
    assert comparison.notes == (ArmsNote.MISSING, ArmsNote.ADDED, CasesNote(CasesProblem.UNSCORED, 4, 1, 1))
    within = compare_arms(new, new, pair_within(new.arms))
    assert within.notes == (CasesNote(CasesProblem.UNSCORED, 4, 1, 1),)
    assert within.differences == ()  # which arms are the contrast is plain to see


def test_unscored_trials_of_many_arms_are_one_note() -> None:
    run = side("++++", "+++e", "++++", "+e..")
    assert compare_arms(run, run, pair_within(run.arms)).notes == (
        CasesNote(CasesProblem.UNSCORED, 3, comparisons=2, of=3),
    )


def test_arms_that_are_the_contrast_are_told() -> None:
    old, new = side("++", names=[ARM]), side("++", names=[replace(ARM, model="m", toolset="loadout")])
    assert compare_arms(old, new, pair_arms(old.arms, new.arms)).differences == (
        Mismatch(Aspect.ARM_NAMES, ("model", "toolset")),
    )
    assert compare_arms(new, new, Pairing(((0, 0),))).differences == ()


def test_measures_are_those_asked_for_shares_first() -> None:
    old = side("++")
    wanted = [Measure.REQUESTS, Measure.SOLVED, Measure.REQUESTS]
    (pair,) = compare_arms(old, old, Pairing(((0, 0),)), measures=wanted).pairs
    assert [contrast.measure for contrast in pair.contrasts] == [Measure.SOLVED, Measure.REQUESTS]
    assert pair.contrast(Measure.ACCURACY).verdict is None


def test_advance_is_told_each_pair_and_an_arm_is_read_once() -> None:
    class Counting(Written):
        def read(self, arm: int):  # type: ignore[no-untyped-def]
            read.append(arm)
            return super().read(arm)

    read: list[int] = []
    told: list[int] = []
    written = side("++", "+-", "--", "-+")
    run = Counting(written.about, written.arms, written.evidence)
    found: Comparison = compare_arms(run, run, pair_within(run.arms), advance=told.append)
    assert told == [1, 2, 3]
    assert read == [0, 1, 2, 3]
    assert [pair.new for pair in found.pairs] == list(run.arms[1:])
    assert found.old is found.new


def test_a_margin_below_nothing_is_refused() -> None:
    old = Written(ABOUT, (ARM,), side("+").evidence)
    with pytest.raises(ValueError, match=naming("margin", 0)):
        compare_arms(old, old, Pairing(((0, 0),)), margin=-0.1)


FULL, TIERED, OTHER = ARM, replace(ARM, toolset="tiered"), replace(ARM, model="m")


def two_runs() -> tuple[Written, Written]:
    return side("++++", "+-+-", names=[FULL, TIERED], name="a"), side("+++-", "++++", names=[FULL, TIERED], name="b")


def test_runs_are_compared_arm_by_arm() -> None:
    old, new = two_runs()
    comparison = compare_runs(old, new, measures=SHARES)
    assert [(pair.old, pair.new) for pair in comparison.pairs] == [(FULL, FULL), (TIERED, TIERED)]
    assert not comparison.is_within


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        pytest.param({}, [(FULL, TIERED)], id="each-against-the-first-of-its-model"),
        pytest.param({"against": "tiered"}, [(TIERED, FULL)], id="against-a-named-arm"),
        pytest.param({"arms": ["tiered"]}, [(FULL, TIERED)], id="a-named-arm"),
    ],
)
def test_arms_of_one_run_are_compared(options: dict[str, Any], pairs: list[tuple[ArmName, ArmName]]) -> None:
    run, _ = two_runs()
    comparison = compare_runs(run, measures=SHARES, **options)
    assert [(pair.old, pair.new) for pair in comparison.pairs] == pairs
    assert comparison.is_within


@pytest.mark.parametrize(
    ("old", "new", "options", "message"),
    [
        pytest.param(side("++"), None, {}, "single", id="one-arm"),
        pytest.param(two_runs()[0], None, {"arms": ["full"]}, "full", id="itself"),
        pytest.param(
            side("++"),
            side("++", name="b", names=[replace(TIERED, model="m"), TIERED]),
            {},
            "an arm of the same name",
            id="no-arm-of-that-name",
        ),
        pytest.param(*two_runs(), {"against": "nothing"}, "nothing", id="no-such-arm"),
    ],
)
def test_what_cannot_be_compared_by_names(
    old: Written, new: Written | None, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolbeltError, match=message):
        compare_runs(old, new, **options)


def test_progress_has_a_step_for_each_pair() -> None:
    steps: list[object] = []

    @contextmanager
    def progress(label: str, total: int | None) -> Iterator[Callable[[int], object]]:
        steps.append((label, total))
        yield steps.append

    compare_runs(*two_runs(), measures=SHARES, progress=progress)
    assert steps == [("comparing arms", 2), 1, 2]


def test_a_comparison_can_be_read_in_a_shell() -> None:
    old, new = two_runs()
    shown = repr(compare_runs(old, new, measures=SHARES))
    label = FULL.label
    assert shown.startswith(f"<Comparison of a with b: {label} against {label}: accuracy -25.0 points, ")
    assert shown.endswith("accuracy +50.0 points, insufficient_data>")
    other = replace(new, about=replace(new.about, epochs=2))
    assert repr(compare_runs(old, other)) == f"<Comparison of a with b: not comparable ({Aspect.EPOCHS})>"
    assert repr(compare_runs(old, measures=SHARES)).startswith("<Comparison within a: ")
