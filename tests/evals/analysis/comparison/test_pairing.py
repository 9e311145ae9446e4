"""Which arm is compared with which."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import Written, side
from tests.wording import mentions
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.comparison.pairing import (
    Contrasted,
    Pairing,
    pair_arms,
    pair_by_model,
    pair_by_names,
    pair_by_toolset,
    pair_within,
)
from toolbelt.evals.analysis.comparison.reason_text import describe_notes, name_arms
from toolbelt.evals.analysis.comparison.reasons import ArmsNote
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.comparison import comparison_view
from toolbelt.evals.views.comparison_text import against_line
from toolbelt.render.markdown import render_markdown

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


RIGHT, UNFIT, FAILED, UNRUN, SOME = "++++", "oooo", "eeee", ["", "", "", ""], "++oo"


def run(**arms: str | list[str]) -> Written:
    """A run of four cases; arms by model, toolset and variant with `__` between."""
    names = [ArmName(*name.split("__")) for name in arms]
    return side(*arms.values(), names=names, cases=4)


def labels(written: Written, places: tuple[int, ...]) -> list[str]:
    return ["__".join(part for part in written.arms[place].key if part) for place in places]


def against(written: Written) -> dict[str, str]:
    """What each arm is compared with."""
    pairs = pair_by_model(written).pairs
    return dict(
        zip(labels(written, tuple(b for _, b in pairs)), labels(written, tuple(a for a, _ in pairs)), strict=True)
    )


def compared(written: Written) -> Comparison:
    return compare_arms(written, written, pair_by_model(written), resamples=200)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(
            run(m__full=RIGHT, m__loadout=RIGHT, m__tiered=RIGHT),
            {"m__loadout": "m__full", "m__tiered": "m__full"},
            id="one-model-against-its-first",
        ),
        pytest.param(
            run(m__full=RIGHT, m__tiered=RIGHT, n__full=RIGHT, n__tiered=RIGHT),
            {"m__tiered": "m__full", "n__tiered": "n__full"},
            id="each-model-against-its-own",
        ),
        pytest.param(
            run(m__full=RIGHT, n__full=RIGHT, m__tiered=RIGHT, n__tiered=RIGHT),
            {"m__tiered": "m__full", "n__tiered": "n__full"},
            id="in-whatever-order",
        ),
        pytest.param(
            run(m__full=UNFIT, m__auto=RIGHT, m__tiered=RIGHT, n__full=RIGHT, n__tiered=RIGHT),
            {"m__tiered": "m__auto", "n__tiered": "n__full"},
            id="not-against-what-cannot-fit",
        ),
        pytest.param(
            run(m__full=FAILED, m__auto=RIGHT, m__tiered=UNRUN),
            {"m__full": "m__auto", "m__tiered": "m__auto"},
            id="what-failed-or-was-not-run-is-still-compared",
        ),
        pytest.param(
            run(m__full__shuffled=RIGHT, m__full=RIGHT, m__tiered=RIGHT),
            {"m__full__shuffled": "m__full", "m__tiered": "m__full"},
            id="the-plain-toolset-rather-than-a-variant",
        ),
        pytest.param(
            run(m__full__shuffled=RIGHT, m__full=UNFIT, m__tiered=RIGHT),
            {"m__tiered": "m__full__shuffled"},
            id="the-variant-where-the-plain-one-does-not-fit",
        ),
        pytest.param(
            run(m__full=RIGHT, n__full=RIGHT, o__tiered=RIGHT),
            {"n__full": "m__full", "o__tiered": "m__full"},
            id="models-of-one-arm-each-are-the-contrast",
        ),
        pytest.param(
            run(m__full=UNFIT, n__full=RIGHT, o__full=RIGHT), {"o__full": "n__full"}, id="models-against-one-that-fits"
        ),
        pytest.param(
            run(m__full=SOME, m__tiered=RIGHT), {"m__tiered": "m__full"}, id="what-fits-in-part-is-scored-and-compared"
        ),
        pytest.param(run(m__full=UNFIT, m__tiered=UNFIT), {}, id="nothing-of-what-does-not-fit"),
        pytest.param(
            run(m__oracle=RIGHT, m__tiered=RIGHT, m__full=RIGHT),
            {"m__oracle": "m__full", "m__tiered": "m__full"},
            id="full-rather-than-an-oracle-that-is-first",
        ),
        pytest.param(
            run(m__oracle=RIGHT, m__full=UNFIT, m__tiered=RIGHT, m__loadout=RIGHT),
            {"m__oracle": "m__tiered", "m__loadout": "m__tiered"},
            id="the-first-that-is-no-oracle-where-full-does-not-fit",
        ),
        pytest.param(
            run(m__oracle=RIGHT, m__full__shuffled=RIGHT, m__full=RIGHT),
            {"m__oracle": "m__full", "m__full__shuffled": "m__full"},
            id="full-as-it-is-rather-than-its-variant",
        ),
        pytest.param(
            run(m__tiered=RIGHT, m__oracle=RIGHT, m__full=RIGHT),
            {"m__oracle": "m__tiered", "m__full": "m__tiered"},
            id="the-first-as-asked-for-where-it-is-no-oracle",
        ),
        pytest.param(
            run(**{"m__oracle": RIGHT, "m__oracle+9": RIGHT}),
            {"m__oracle+9": "m__oracle"},
            id="oracles-among-themselves",
        ),
    ],
)
def test_E7_what_each_arm_is_held_against(written: Written, expected: dict[str, str]) -> None:
    assert against(written) == expected


@pytest.mark.parametrize(
    ("written", "unfit", "alone"),
    [
        pytest.param(run(m__full=UNFIT, m__auto=RIGHT, m__tiered=RIGHT), ["m__full"], [], id="unfit"),
        pytest.param(run(m__full=UNFIT, m__auto=RIGHT, n__full=RIGHT), ["m__full"], ["m__auto", "n__full"], id="alone"),
        pytest.param(run(m__full=RIGHT, m__auto=RIGHT, n__full=RIGHT), [], ["n__full"], id="a-model-of-one-arm"),
        pytest.param(run(m__full=RIGHT, m__auto=["o", "", "", ""]), ["m__auto"], ["m__full"], id="as-far-as-it-ran"),
        pytest.param(run(m__full=RIGHT, m__auto="oeee"), [], [], id="most-failed-which-is-why-nothing-was-scored"),
        pytest.param(run(m__full=RIGHT, m__auto=SOME), [], [], id="fits-in-part"),
    ],
)  # fmt: skip
def test_E4_arms_that_are_in_no_pair(written: Written, unfit: list[str], alone: list[str]) -> None:
    pairing = pair_by_model(written)
    assert (labels(written, pairing.unfit), labels(written, pairing.alone)) == (unfit, alone)


ARM = st.tuples(st.sampled_from("mno"), st.sampled_from(["full", "auto", "tiered"]), st.sampled_from(["", "shuffled"]))


@given(st.dictionaries(ARM, st.sampled_from([RIGHT, UNFIT, FAILED, SOME]), min_size=1))
def test_every_arm_is_held_against_another_or_is_one_or_is_named(arms: dict[tuple[str, str, str], str]) -> None:
    written = side(*arms.values(), names=[ArmName(*key) for key in arms], cases=4)
    pairing = pair_by_model(written)
    bases, held = {old for old, _ in pairing.pairs}, [new for _, new in pairing.pairs]
    assert sorted([*bases, *held, *pairing.unfit, *pairing.alone]) == list(range(len(arms)))
    one_each = len({arm.model for arm in written.arms}) == len(arms)
    assert one_each or all(written.arms[old].model == written.arms[new].model for old, new in pairing.pairs)
    assert held == sorted(held)


def test_E4_what_does_not_fit_is_named_once_and_is_neither_a_regression_nor_too_little_data() -> None:
    written = run(
        m__full=UNFIT, m__auto=RIGHT, m__tiered=RIGHT, n__full=RIGHT, n__tiered="++++", n__wide=UNFIT, o__full=RIGHT
    )
    comparison = compared(written)
    notes = dict(zip(comparison.notes, describe_notes(comparison), strict=True))
    assert mentions(notes[ArmsNote.UNFIT], "m with full", "n with wide")
    assert mentions(notes[ArmsNote.ALONE], "o with full")
    assert [(pair.old.label, pair.new.label) for pair in comparison.pairs] == [
        ("m · auto", "m · tiered"),
        ("n · full", "n · tiered"),
    ]
    assert Verdict.REGRESSION not in {pair.verdict for pair in comparison.pairs}
    assert mentions(against_line(comparison), "m with auto", "n with full")
    assert any(
        mentions(line, "m · tiered", "m · auto") for line in render_markdown(comparison_view(comparison)).splitlines()
    )


def test_E4_an_arm_that_fits_less_than_its_models_first_has_regressed_all_the_same() -> None:
    (pair,) = compared(run(m__full=RIGHT, m__wide=SOME)).pairs
    assert (pair.verdict, pair.newly_overflowing) == (Verdict.REGRESSION, ("c2", "c3"))


def test_E4_against_what_is_named_all_is_as_asked() -> None:
    written = run(m__full=UNFIT, m__auto=RIGHT, m__wide=UNFIT)
    comparison = compare_arms(written, written, pair_within(written.arms, 1), resamples=200)
    assert [pair.verdict for pair in comparison.pairs] == [Verdict.REGRESSION, Verdict.REGRESSION]
    comparison = compare_arms(written, written, pair_within(written.arms, 0), resamples=200)
    assert [pair.verdict for pair in comparison.pairs] == [Verdict.NO_REGRESSION, Verdict.INSUFFICIENT_DATA]


def test_E10_the_data_name_the_arms_in_no_pair_and_keep_to_the_schema() -> None:
    data = comparison_data(compared(run(m__full=UNFIT, m__auto=RIGHT, n__full=RIGHT)))
    jsonschema.validate(data, read_schema("comparison"))
    assert [arm["label"] for arm in data["unfit"]] == ["m · full"]
    assert [arm["label"] for arm in data["alone"]] == ["m · auto", "n · full"]
    assert data["pairs"] == []


def test_many_arms_are_counted() -> None:
    arms = [ArmName("m", f"loadout:{number}") for number in range(5)]
    assert name_arms([*arms, ArmName("n", "full", "shuffled")], most=6).endswith("n with full · shuffled")
    assert mentions(name_arms(arms, most=2), "loadout:1", 3)
    assert not mentions(name_arms(arms, most=2), "loadout:2")


def test_by_model_each_toolset_is_compared_between_the_models() -> None:
    names = [ArmName(model, toolset) for model in ("a", "b", "c") for toolset in ("full", "loadout")]
    written = side(*["+-"] * 6, names=names)
    assert pair_by_toolset(written).pairs == ((0, 2), (1, 3), (0, 4), (1, 5))
    assert pair_by_names(written, None, by=Contrasted.MODEL).is_within
    with pytest.raises(ToolbeltError, match="no two models"):
        pair_by_names(side("+-", "+-", names=names[:2]), None, by=Contrasted.MODEL)
