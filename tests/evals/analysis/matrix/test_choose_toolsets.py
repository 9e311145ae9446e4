"""The recommended toolset of each model: never by a point estimate, never by what was left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from tests.evals.analysis.comparison.sides import side
from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of, stored
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Contrast
from toolbelt.evals.analysis.comparison.pairing import Pairing
from toolbelt.evals.analysis.comparison.sample_size import wanted_cases
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
from toolbelt.evals.analysis.matrix.choose_toolsets import family_level
from toolbelt.evals.analysis.matrix.matrix import Candidate, Pick
from toolbelt.evals.analysis.matrix.pick_reasons import (
    BestOverflows,
    ConcreteToolset,
    MissingAnswers,
    NotConsidered,
    SmallerChoice,
    TooLongToolsets,
    UncomparedToolsets,
    UnsureBest,
)
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.overflow import LeftOutArm
from toolbelt.loadouts.fit import FitVerdict

CASES = 200
CHANCE = 1e-4
"""Of a simulation that fails although all is well."""


def right(count: int, of: int = CASES, more: str = "") -> str:
    """So many cases right, then `more`, the rest wrong."""
    return "+" * count + more + "-" * (of - count - len(more))


def pick(run: WrittenRun | Sequence[Asked], margin: float = 0.05) -> Pick:
    return matrix_of(run, margin).rows[0].pick


def test_E7_the_smallest_that_is_surely_not_worse_by_more_than_the_margin() -> None:
    chosen = pick(
        [Asked("full", right(180), 9000), Asked("loadout:b", right(178), 500), Asked("tiered", right(150), 90)]
    )
    assert (chosen.best, chosen.choice, chosen.toolset) == (0, 1, "loadout:b")
    assert [candidate.arm for candidate in chosen.candidates] == [2, 1, 0], "the smallest first"
    (reason,) = chosen.reasons
    assert isinstance(reason, SmallerChoice)
    assert (reason.toolset, reason.best, reason.margin, reason.level) == ("loadout:b", "full", 0.05, 0.95)
    assert reason.contrast == chosen.candidates[1].contrast
    assert reason.saved == pytest.approx(1 - 500 / 9000)


def test_E7_of_the_best_as_measured_it_is_told_what_is_not_sure_and_how_many_cases_it_takes() -> None:
    chosen = pick([Asked("full", right(18, 20), 9000), Asked("tiered", right(18, 20), 90)], 0.02)
    assert (chosen.best, chosen.choice, chosen.toolset) == (1, 1, "tiered"), "nothing is given up by it"
    assert (chosen.sure, chosen.promising) == (False, None), "0 of 20 says little"
    assert chosen.cases_wanted is not None
    assert chosen.cases_wanted > 20
    first, second = describe_pick(chosen)
    assert mentions(first, "tiered", "90.0% of 20", "full", "2.0", "tiered less full", "0.0", "95%", "-16.1", "+16.1")
    assert mentions(second, "tiered")
    again = "+" * (chosen.cases_wanted - 2) + "--"
    sure = pick([Asked("full", again, 9000), Asked("tiered", again, 90)], 0.02)
    assert (sure.choice, sure.sure) == (1, True), "so many do it, if none flips"


def test_E7_a_smaller_one_takes_proof_and_the_best_does_not() -> None:
    best, near = "+-" * 20 + "++", "-+" * 20 + "+-"
    chosen = pick([Asked("full", best, 9000), Asked("tiered", near, 90)])
    assert (chosen.choice, chosen.toolset, chosen.sure) == (0, "full", False)
    assert chosen.promising == 1
    assert mentions(describe_pick(chosen)[0], "full", "52.4% of 42", "not sure", "tiered")
    assert any(reason.startswith("tiered") for reason in describe_pick(chosen))
    assert chosen.cases_wanted == wanted_cases(_contrast(chosen.rivals, 1), 0.05), "to be sure of the choice"


def test_E7_several_that_may_be_better_are_counted() -> None:
    arms = [Asked(f"loadout:x{number}", right(18, 20), 10 + number) for number in range(4)]
    chosen = pick(arms)
    assert len(chosen.rivals) == 3
    assert mentions(describe_pick(chosen)[0], 2)


def test_E7_a_smaller_one_that_looks_good_is_told_beside_the_choice() -> None:
    best, near = right(180), right(178)
    unsure = "-" * 16 + "+" * 179 + "-" * 5  # nearly as good on the whole, in other cases
    chosen = pick([Asked("full", best, 9000), Asked("loadout:b", near, 500), Asked("tiered", unsure, 90)])
    assert (chosen.choice, chosen.promising) == (1, 2)
    assert chosen.sure
    assert chosen.cases_wanted == wanted_cases(_contrast(chosen.candidates, 2), 0.05, chosen.level)
    assert any(reason.startswith("tiered") for reason in describe_pick(chosen))


def test_E7_of_equals_the_smallest_is_the_best_and_says_so() -> None:
    chosen = pick([Asked("full", right(180), 9000), Asked("tiered", right(180), 90)])
    assert (chosen.best, chosen.choice) == (1, 1)
    (reason,) = describe_pick(chosen)
    assert chosen.sure
    assert mentions(reason, "tiered", "90.0%", "5.0")


def test_E6_a_toolset_that_grows_pays_for_what_it_loads() -> None:
    chosen = pick([Asked("tiered", right(180), 90, 5000), Asked("loadout:b", right(180), 1000, 1200)])
    assert chosen.choice == 1, "small at first, and large in the end"
    chosen = pick([Asked("tiered", right(180), 90, prompt=3000), Asked("loadout:b", right(180), 90, prompt=200)])
    assert chosen.choice == 1, "of as many definitions, by the whole prompts"


def test_E7_the_best_is_chosen_where_it_is_surely_the_best() -> None:
    chosen = pick([Asked("full", right(180), 9000), Asked("tiered", right(100), 90)])
    assert (chosen.best, chosen.choice) == (0, 0)
    assert chosen.sure
    assert mentions(describe_pick(chosen)[0], "full")


def test_E7_what_may_look_best_by_chance_is_not_sure() -> None:
    best, other = "+-" * 20 + "++", "-+" * 20 + "+-"
    chosen = pick([Asked("loadout:a", best, 90), Asked("full", other, 9000)])
    assert (chosen.best, chosen.choice, chosen.sure) == (0, 0, False)
    assert mentions(describe_pick(chosen)[0], "full", "5.0", "loadout:a less full")


def test_E4_leaving_out_hard_cases_wins_nothing() -> None:
    easy_alone = right(100, more="o" * 100)
    chosen = pick([Asked("full", right(180), 9000), Asked("tiered", easy_alone, 90)])
    assert (chosen.best, chosen.choice) == (0, 0), "right in all that it was scored on, which are half of them"
    assert [each.overflowing for each in chosen.candidates if each.arm == 1] == [100]
    assert TooLongToolsets((("tiered", 100),)) in chosen.reasons


def test_E4_an_arm_that_overflows_where_another_does_not_is_never_sure() -> None:
    chosen = pick([Asked("full", right(199, more="o"), 9000), Asked("tiered", right(150), 90)])
    assert (chosen.best, chosen.choice, chosen.sure, chosen.cases_wanted) == (0, 0, False, None)
    (reason,) = chosen.reasons
    assert isinstance(reason, UnsureBest)
    assert reason.doubt == BestOverflows("tiered", 1), "nor is it told how many cases would do: they would be too long"
    assert pick([Asked("full", right(199, more="o"), 9000), Asked("tiered", right(198, more="-o"), 90)]).choice == 1


def test_E4_what_failed_may_have_been_right() -> None:
    lost = right(185, more="e" * 9)
    chosen = pick([Asked("full", right(190), 9000), Asked("tiered", lost, 90)], 0.03)
    assert chosen.best == 1, "right in 185 of 191"
    assert not chosen.sure, "9 of 200 cases are in doubt"
    assert pick([Asked("full", right(190), 9000), Asked("tiered", right(190), 90)], 0.03).sure


@pytest.mark.parametrize(
    ("run", "known"),
    [
        pytest.param([Asked("full", right(180))], ("full", "90.0%"), id="one-arm-alone"),
        pytest.param([Asked("full", "e" * 9)], ("9 of 9", "failed"), id="nothing-scored"),
        pytest.param([Asked("full", "." * 9)], ("9 of 9", "not run"), id="nothing-run"),
        pytest.param([Asked("full", "x" * 9)], ("fits", "9 of 9"), id="nothing-fits"),
        pytest.param(
            [Asked("full", "+" * 90 + "." * 10), Asked("tiered", "+" * 90 + "." * 10)],
            ("full", "100.0% of 90", "10 of 100"),
            id="unfinished",
        ),
        pytest.param(
            [Asked("full", "-" * CASES), Asked("tiered", "-" * CASES)],
            ("full", "tiered"),
            id="nothing-is-right",
        ),
        pytest.param(
            WrittenRun([Asked("full", right(180), 900), Asked("tiered", right(180))], drafts=200),
            ("full", "90.0% of 200", "200 of 200", "drafts"),
            id="drafts",
        ),
        pytest.param(
            [Asked("oracle", right(180)), Asked("loadout", right(180)), Asked("full", right(180), variant="shuffled")],
            "Only toolsets",
            id="nothing-that-may-be-chosen",
        ),
        pytest.param(
            [Asked("loadout:auto", right(180), offer="x"), Asked("loadout:a", right(180), offer="x")],
            ("Only loadout:a", "90.0%"),
            id="one-toolset-by-two-names",
        ),
        pytest.param(
            [Asked("oracle", right(200), 9), Asked("full", right(180))],
            ("Only full", "90.0%"),
            id="one-that-a-model-can-be-given",
        ),
    ],
)
def test_E7_missing_evidence_is_never_a_choice(run: WrittenRun | Sequence[Asked], known: object) -> None:
    chosen = pick(run)
    assert (chosen.choice, chosen.toolset, chosen.sure, chosen.promising) == (None, "", False, None)
    assert mentions(describe_pick(chosen)[0], known)


def test_E4_the_only_one_that_fits_is_chosen() -> None:
    arms = [Asked("full", "x" * 20, 46_000), Asked("loadout:minimal", right(18, 20))]
    chosen = pick(arms)
    assert (chosen.best, chosen.choice) == (1, 1)
    (reason,) = describe_pick(chosen)
    assert mentions(reason, "loadout:minimal", "90.0%")
    left_out = (LeftOutArm("m", "loadout:auto", FitVerdict.REFUSES, "Nothing fits."),)
    assert pick(WrittenRun([Asked("tiered", right(18, 20))], left_out=left_out)).choice == 0
    failed = pick([*arms, Asked("tiered", "e" * 20)])
    assert (failed.choice, failed.sure) == (1, False), "what failed may fit, and be better"
    assert mentions(describe_pick(failed)[0], "90.0% of 20", "not sure", "tiered")


def test_E7_the_best_is_not_sure_while_another_lacks_answers() -> None:
    arms = [Asked("full", right(180), 9000), Asked("tiered", right(90), 90)]
    assert pick(arms).sure
    chosen = pick([*arms, Asked("loadout:b", right(20, 40) + "." * 160, 900)])
    assert (chosen.choice, chosen.sure) == (0, False)
    best, unconsidered = chosen.reasons
    assert isinstance(best, UnsureBest)
    assert (best.best.toolset, best.doubt) == ("full", UncomparedToolsets(("loadout:b",)))
    assert unconsidered == NotConsidered((MissingAnswers("loadout:b", 160, 200),))


def test_E4_what_fits_in_part_is_no_rival_of_what_fits() -> None:
    chosen = pick([Asked("full", right(10, more="o" * 190), 9000), Asked("tiered", right(150), 90)])
    assert (chosen.best, chosen.choice) == (1, 1)
    assert mentions(describe_pick(chosen)[0], "tiered", "75.0%")


def test_E1_what_knows_the_answer_and_experiments_are_neither_best_nor_chosen() -> None:
    best = right(CASES)
    chosen = pick(
        [
            Asked("oracle", best, 1),
            Asked("oracle+9:near", best, 2),
            Asked("loadout", best, 3),
            Asked("tiered", best, 4, variant="shuffled"),
            Asked("full", right(150), 9000),
            Asked("loadout:b", right(150), 900),
        ]
    )
    assert [candidate.arm for candidate in chosen.candidates] == [5, 4]
    assert (chosen.best, chosen.choice) == (5, 5)


@pytest.mark.parametrize(
    ("auto", "named", "toolset"),
    [
        pytest.param(Asked("loadout:auto", right(180), offer="x"), "x", "loadout:minimal", id="the-same-tools"),
        pytest.param(Asked("loadout:auto", right(180), offer="x"), "y", "loadout:auto", id="other-tools"),
        pytest.param(Asked("loadout:auto", right(180), 999, offer="x"), "x", "loadout:auto", id="as-other-definitions"),
        pytest.param(
            Asked("loadout:auto", right(180), offer=["x", "y"] * 100), "x", "loadout:auto", id="not-in-all-cases"
        ),
    ],
)
def test_L15_auto_is_named_by_the_loadout_that_it_was(auto: Asked, named: str, toolset: str) -> None:
    chosen = pick([auto, Asked("loadout:minimal", right(180), offer=named), Asked("full", "x" * CASES)])
    assert (chosen.choice, chosen.toolset) == (0, toolset)
    assert (ConcreteToolset("loadout:auto", "loadout:minimal") in chosen.reasons) == (toolset != "loadout:auto")


def test_L15_one_toolset_by_two_names_is_no_rival_of_itself() -> None:
    noise = "-" * 10 + "+" * 170 + "+" * 10 + "-" * 10
    arms = [Asked("loadout:auto", right(180), offer="x"), Asked("loadout:minimal", noise, offer="x")]
    assert pick([*arms, Asked("tiered", right(90), 9000)], 0.03).sure
    other = [arms[0], Asked("loadout:minimal", noise, offer="y"), Asked("tiered", right(90), 9000)]
    assert not pick(other, 0.03).sure
    less = [Asked("loadout:auto", right(179), offer="x"), Asked("loadout:minimal", right(180), offer="x")]
    chosen = pick([*less, Asked("tiered", right(90), 9000)])
    assert (chosen.best, chosen.choice) == (1, 1), "nor is it smaller than itself"


def test_each_model_is_judged_by_its_own_arms() -> None:
    run = [
        Asked("full", right(190), 9000, model="one"),
        Asked("tiered", right(190), 90, model="one"),
        Asked("full", right(190), 9000, model="two"),
        Asked("tiered", right(90), 90, model="two"),
    ]
    assert [row.pick.toolset for row in matrix_of(run, 0.05).rows] == ["tiered", "full"]


def test_E7_verdicts_are_those_of_compare() -> None:
    run = WrittenRun([Asked("full", right(180), 9000), Asked("loadout:b", right(176), 500), Asked("tiered", right(99))])
    with stored(run) as (store, row):
        opened = StoredRun(store, row)
        chosen = build_matrix(summarize(store.connection, row.run), opened, 0.05).rows[0].pick
        comparison = compare_arms(opened, opened, Pairing(((0, 1), (0, 2)), is_within=True), margin=0.05)
    contrasts = {candidate.arm: candidate.contrast for candidate in chosen.candidates}
    for place, pair in ((1, comparison.pairs[0]), (2, comparison.pairs[1])):
        mine, theirs = contrasts[place], pair.contrasts[0]
        assert mine is not None
        assert (mine.difference, mine.low, mine.high, mine.p_value, mine.verdict) == (
            theirs.difference,
            theirs.low,
            theirs.high,
            theirs.p_value,
            theirs.verdict,
        )


def test_E7_many_smaller_ones_are_held_to_more() -> None:
    assert [round(family_level(size), 4) for size in (0, 1, 2, 4, 10)] == [0.95, 0.95, 0.95, 0.975, 0.99]
    few = [Asked("full", right(180), 9000), Asked("loadout:b", right(178), 500)]
    many = [*few, *(Asked(f"loadout:x{number}", right(20), 10 + number) for number in range(10))]
    assert pick(few).choice == 1
    assert pick(many).level == pytest.approx(1 - 0.1 / 11)
    contrasts = [next(each.contrast for each in pick(arms).candidates if each.arm == 1) for arms in (few, many)]
    assert contrasts[0] is not None
    assert contrasts[1] is not None
    assert contrasts[1].low < contrasts[0].low  # type: ignore[operator]


def test_E7_the_choice_follows_from_rows_read_by_sql_alone() -> None:
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(12):
        arms = [
            Asked(name, "".join(rng.choice(["+", "-"], 120, p=[chance, 1 - chance])), size)
            for name, size, chance in (
                ("full", 900, 0.97),
                ("loadout:b", 300, rng.choice([0.6, 0.97])),
                ("tiered", 90, 0.8),
            )
        ]
        with stored(WrittenRun(arms)) as (store, row):
            chosen = build_matrix(summarize(store.connection, row.run), StoredRun(store, row), 0.1).rows[0].pick
            assert (chosen.toolset, chosen.sure) == _by_sql(store.connection, 0.1)
        seen.add((chosen.toolset, chosen.sure))
    assert len(seen) > 1, "or this shows little"


def _contrast(candidates: Sequence[Candidate], arm: int) -> Contrast:
    contrast = next(candidate.contrast for candidate in candidates if candidate.arm == arm)
    assert contrast is not None
    return contrast


def _by_sql(connection: sqlite3.Connection, margin: float) -> tuple[str, bool]:
    """The smallest that is sure, else the best and whether that is, from SQL and a score bound worked out here."""
    right_by: dict[str, str] = {}
    sizes: dict[str, float] = {}
    for toolset, size, is_right in connection.execute(
        "SELECT toolset, definition_tokens_total, outcome = 'correct' FROM trials JOIN arms USING (run, arm) "
        "ORDER BY trial"
    ):
        right_by[toolset] = right_by.get(toolset, "") + str(is_right)
        sizes[toolset] = size  # the same in all trials here
    order = sorted(right_by, key=lambda name: sizes[name])
    best = max(order, key=lambda name: (right_by[name].count("1"), -sizes[name]))

    def low(new: str, old: str) -> float:
        pairs = list(zip(right_by[new], right_by[old], strict=True))
        gains, losses = pairs.count(("1", "0")), pairs.count(("0", "1"))
        return _tango_low(gains, losses, len(pairs))

    for name in order:
        if name == best:
            break
        if low(name, best) > -margin:
            return name, True
    return best, all(low(best, other) > -margin for other in order if other != best)


def _tango_low(gains: int, losses: int, cases: int) -> float:
    """The lower score bound of Tango (1998), chosen by bisection of the constrained likelihood's score."""
    low, high = -0.999999, (gains - losses) / cases
    for _ in range(80):
        middle = (low + high) / 2
        worse, better = losses, gains
        b = -worse - better + (2 * cases - worse + better) * -middle
        q = (np.sqrt(b * b + 8 * cases * better * -middle * (1 + middle)) - b) / (4 * cases)
        z = (worse - better + cases * middle) / -np.sqrt(max(1e-300, cases * (2 * q - middle * (1 + middle))))
        low, high = (middle, high) if z > stats.norm.ppf(0.975) else (low, middle)
    return high


def _simulated(truth: Sequence[float], cases: int, margin: float, rng: np.random.Generator) -> Pick:
    chance = np.asarray(truth)[:, None]
    shared, own = rng.random(cases), rng.random((len(truth), cases))
    is_right = np.where(rng.random(own.shape) < 0.3, own, shared) < chance
    names = [ArmName("m", f"loadout:{place}") for place in range(len(truth))]
    arms = tuple(
        ArmSummary(
            "m",
            name.toolset,
            planned=cases,
            finished=cases,
            scored=cases,
            accuracy=Rate(int(row.sum()), cases),
            definition_tokens_total=float(len(truth) - place),
        )
        for place, (name, row) in enumerate(zip(names, is_right, strict=True))
    )
    summary = RunSummary("r", "2026-03-01T12:00:00Z", "finished", "d", "x", cases=cases, arms=arms)
    trials = [["+" if trial else "-" for trial in row] for row in is_right]
    return build_matrix(summary, side(*trials, names=names), margin).rows[0].pick


@pytest.mark.parametrize(
    ("truth", "cases", "margin"),
    [
        pytest.param((0.9, 0.799, 0.799, 0.799), 60, 0.1, id="three-just-beyond-the-margin"),
        pytest.param((0.8, 0.69), 30, 0.1, id="the-best-may-look-worse"),
    ],
)
def test_E7_a_sure_choice_is_seldom_worse_than_the_best_by_more_than_the_margin(
    truth: tuple[float, ...], cases: int, margin: float
) -> None:
    rng, runs = np.random.default_rng(20), 80
    picks = [_simulated(truth, cases, margin, rng) for _ in range(runs)]
    wrong = sum(each.sure and truth[each.choice or 0] < max(truth) - margin for each in picks)
    assert wrong <= stats.binom.ppf(1 - CHANCE, runs, 0.05)
    by_looks = sum(each.promising not in (None, 0) or each.best != 0 for each in picks)
    assert by_looks > 3 * max(1, wrong), "while going by looks would often be wrong"
    unsure = [each for each in picks if not each.sure]
    assert unsure
    assert all(each.choice == each.best for each in unsure), "a smaller one is never taken unproven"
