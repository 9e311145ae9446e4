"""A run as models × toolsets, against a run written trial by trial, and against SQL of our own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import side
from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of, stored
from tests.wording import mentions
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.matrix.build_matrix import build_matrix, merged
from toolbelt.evals.analysis.matrix.cell import Cell, CellProblem, CellReason, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ShownVariants
from toolbelt.evals.analysis.matrix.note_text import describe_cell, describe_matrix_notes
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.loadouts.fit import FitVerdict

SMALL = ModelLimits(context_window=8192, output_reserve=1024, max_tools=128, tool_calling=True)


def cell(matrix: Matrix, model: str, toolset: str) -> Cell:
    row = next(row for row in matrix.rows if row.model == model)
    found = row.cells[matrix.toolsets.index(toolset)]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("trials", "state"),
    [
        pytest.param("++-+", CellState.SCORED, id="all-scored"),
        pytest.param("++-o", CellState.PARTLY, id="some-too-long"),
        pytest.param("++-x", CellState.PARTLY, id="some-not-asked"),
        pytest.param("+e..", CellState.SCORED, id="what-failed-or-is-missing-is-told-elsewhere"),
        pytest.param("oooo", CellState.CANNOT_FIT, id="all-too-long-is-no-score-of-0"),
        pytest.param("xxxx", CellState.CANNOT_FIT, id="nothing-asked-is-no-score-of-0"),
        pytest.param("xx..", CellState.CANNOT_FIT, id="all-so-far-too-long"),
        pytest.param("ooee", CellState.UNSCORED, id="what-failed-might-have-fitted"),
        pytest.param("eeee", CellState.UNSCORED, id="all-failed"),
        pytest.param("....", CellState.UNSCORED, id="nothing-run-yet"),
    ],
)
def test_E4_what_a_cell_is(trials: str, state: CellState) -> None:
    shown = cell(matrix_of([Asked("full", trials)]), "m", "full")
    assert shown.state is state
    assert shown.accuracy.value is None or state in (CellState.SCORED, CellState.PARTLY)
    assert (shown.planned, shown.scored) == (4, sum(one in "+-" for one in trials))
    assert (shown.overflowed, shown.turned_away) == (sum(one in "ox" for one in trials), trials.count("x"))
    assert shown.errors == trials.count("e")


def test_E4_why_a_cell_is_not_scored_is_told_with_its_commonest_reason() -> None:
    shown = cell(matrix_of([Asked("full", "+oxxe.")]), "m", "full")
    assert shown.reasons == (
        CellReason(CellProblem.TOO_LONG, 3, "No room."),
        CellReason(CellProblem.FAILED, 1, "The provider was away."),
        CellReason(CellProblem.NOT_RUN, 1),
    )
    assert mentions(
        describe_cell(shown), "3 of 6", 2, "No room", "1 of 6", "failed", "The provider was away", "not run"
    )


@pytest.mark.parametrize(
    ("arms", "problem"),
    [
        pytest.param([Asked("full", "mmx+")], CellProblem.TOO_MANY_TOOLS, id="most-had-too-many-tools"),
        pytest.param([Asked("full", "mxx+")], CellProblem.TOO_LONG, id="most-were-too-long"),
        pytest.param([Asked("full", "mooo")], CellProblem.TOO_MANY_TOOLS, id="of-those-that-were-not-asked"),
        # Runs of earlier versions, whose endings do not show the limit.
        pytest.param([Asked("full", "xxxx", 900)], CellProblem.TOO_MANY_TOOLS, id="earlier-none-asked-and-tokens-fit"),
        pytest.param([Asked("full", "xx++", 900)], CellProblem.TOO_LONG, id="earlier-some-asked"),
        pytest.param([Asked("full", "xxxx", 9000)], CellProblem.TOO_LONG, id="earlier-unknown-number-of-tools"),
        pytest.param(
            [Asked("full", "xxxx", 9000), Asked("full", "++++", 9000, model="large", tools=150)],
            CellProblem.TOO_MANY_TOOLS,
            id="earlier-another-model-was-asked-with-too-many",
        ),
    ],
)
def test_E4_too_many_tools_are_another_problem_than_length(arms: list[Asked], problem: CellProblem) -> None:
    shown = cell(matrix_of(WrittenRun(arms, rooms={"m": SMALL})), "m", "full")
    assert shown.reasons[0].problem is problem
    assert shown.too_many_tools is (problem is CellProblem.TOO_MANY_TOOLS)
    assert mentions(describe_cell(shown), "too many tools" if shown.too_many_tools else "too long")


@pytest.mark.parametrize(
    ("asked", "room", "verdict"),
    [
        pytest.param(Asked("full", "++", 1000), SMALL, FitVerdict.FITS, id="fits"),
        pytest.param(Asked("full", "++", 4000), SMALL, FitVerdict.FITS_DEGRADED, id="over-two-fifths"),
        pytest.param(Asked("full", "oo", 7168), SMALL, FitVerdict.REFUSES, id="no-room-after-the-reserve"),
        pytest.param(Asked("full", "xx", 100), SMALL, FitVerdict.REFUSES, id="not-asked-for-too-many-tools"),
        pytest.param(Asked("full", "++", 100, tools=129), SMALL, FitVerdict.REFUSES, id="too-many-tools"),
        pytest.param(Asked("full", "++", 100), ModelLimits(), FitVerdict.UNKNOWN, id="nothing-is-known"),
        pytest.param(
            Asked("full", "--", 100), ModelLimits(8192, 0, None, False), FitVerdict.UNSUPPORTED, id="no-tool-calling"
        ),
        pytest.param(Asked("full", ".."), SMALL, None, id="nothing-was-offered"),
    ],
)
def test_L15_whether_what_was_offered_first_fits(asked: Asked, room: ModelLimits, verdict: FitVerdict | None) -> None:
    shown = cell(matrix_of(WrittenRun([asked], rooms={"m": room})), "m", "full")
    assert shown.verdict is verdict
    if verdict is not None:
        assert shown.definition_tokens == asked.tokens, "also where nothing was scored"
        assert shown.share == (asked.tokens / 8192 if room.context_window else None)


def test_E4_pairs_that_were_left_out_have_a_cell_with_their_reason() -> None:
    left_out = (
        LeftOutArm("deaf", "full", FitVerdict.UNSUPPORTED, "It does not call tools."),
        LeftOutArm("m", "loadout:auto", FitVerdict.REFUSES, "Nothing fits."),
        LeftOutArm("vague", "loadout:auto", FitVerdict.UNKNOWN, "Its window is unknown."),
    )
    matrix = matrix_of(WrittenRun([Asked("full", "++"), Asked("tiered", "++")], left_out=left_out))
    assert matrix.toolsets == ("full", "loadout:auto", "tiered"), "as a suite has them"
    assert [row.model for row in matrix.rows] == ["deaf", "m", "vague"]
    assert cell(matrix, "deaf", "full").state is CellState.UNSUPPORTED
    assert cell(matrix, "m", "loadout:auto").state is CellState.NO_CHOICE
    assert cell(matrix, "vague", "loadout:auto").reasons == (
        CellReason(CellProblem.LEFT_OUT, cause="Its window is unknown."),
    )
    assert matrix.rows[0].cells[1:] == (None, None), "pairs that the run does not have"
    assert describe_pick(matrix.rows[0].pick) == ("It does not call tools.",)


def test_E1_a_variant_is_a_toolset_of_its_own() -> None:
    matrix = matrix_of([Asked("full", "++"), Asked("full", "+-", variant="shuffled")])
    assert matrix.toolsets == ("full", "full · shuffled")
    assert ShownVariants.SHOWN in matrix.notes


@pytest.mark.parametrize(
    ("run", "known"),
    [
        pytest.param(WrittenRun([Asked("full", "+e")]), ("1 of 2", "failed"), id="errors"),
        pytest.param(WrittenRun([Asked("full", "+.")], status="interrupted"), "not finished", id="unfinished"),
        pytest.param(WrittenRun([Asked("full", "++")], drafts=1), (1, 2), id="drafts"),
        pytest.param(
            WrittenRun([Asked("full", "++"), Asked("loadout", "++"), Asked("oracle+3", "++")]),
            ("loadout", "oracle+3"),
            id="what-goes-by-the-case",
        ),
        pytest.param(
            WrittenRun([Asked("full", "+" * 14)], clusters=["a"] * 5 + [f"c{number}" for number in range(9)]),
            "clusters",
            id="clusters-of-very-different-sizes",
        ),
    ],
)
def test_E7_what_is_to_be_known_first(run: WrittenRun, known: object) -> None:
    assert any(mentions(note, known) for note in describe_matrix_notes(matrix_of(run)))
    assert not matrix_of([Asked("full", "++")]).notes, "and nothing else is"


def test_E5_every_figure_is_what_the_rows_say() -> None:
    run = WrittenRun(
        [
            Asked("full", ["+-", "a+", "u-", "oe", "+."], 900, 1700, model="one"),
            Asked("tiered", ["++", "--", "x+", "+-", "+a"], 170, 3333, model="one"),
            Asked("full", ["++", "+e", "..", "oo", "-+"], 901, model="two"),
        ],
        rooms={"one": ModelLimits(10_000), "two": ModelLimits(20_000)},
    )
    with stored(run) as (store, row):
        matrix = build_matrix(summarize(store.connection, row.run), StoredRun(store, row))
        raw = store.connection.execute(
            """
            SELECT a.model, a.toolset, a.planned,
                   sum(t.outcome NOT IN ('error', 'context_overflow')),
                   sum(t.outcome IN ('correct', 'wrong_arguments') AND t.covered = 1),
                   sum(t.outcome = 'context_overflow'), sum(t.outcome = 'error'),
                   avg(t.definition_tokens),
                   avg(CASE WHEN t.outcome NOT IN ('error', 'context_overflow') THEN t.definition_tokens_total END),
                   (SELECT avg(r.tools) FROM requests r JOIN trials u USING (run, trial)
                    WHERE u.arm = a.arm AND r.request = 0 AND r.failure IS NULL),
                   sum(t.requests = 0)
            FROM arms a JOIN trials t USING (run, arm) WHERE run = ? GROUP BY a.arm
            """,
            (row.run,),
        ).fetchall()
    assert len(raw) == 3
    for model, toolset, planned, scored, right, overflowed, errors, tokens, total, tools, away in raw:
        shown = cell(matrix, model, toolset)
        assert (shown.planned, shown.scored, shown.overflowed, shown.errors) == (planned, scored, overflowed, errors)
        assert (shown.accuracy.numerator, shown.accuracy.denominator) == (right, scored)
        assert (shown.definition_tokens, shown.definition_tokens_total) == (tokens, total)
        assert (shown.tools, shown.turned_away) == (tools, away)
        assert shown.share == pytest.approx(tokens / (10_000 if model == "one" else 20_000))


def test_arms_of_another_run_are_refused() -> None:
    with stored(WrittenRun([Asked("full", "++")])) as (store, row):
        summary = summarize(store.connection, row.run)
        with pytest.raises(ValueError, match="have different arms"):
            build_matrix(summary, side(["+"], ["-"]))


def test_E4_how_many_tools_were_not_asked_is_told_by_another_model() -> None:
    arms = [
        Asked("full", "xx", 9000, model="small"),
        Asked("loadout:auto", "xx", 9000, model="small"),
        Asked("full", "++", 9000, model="large", tools=150),
        Asked("loadout:auto", "++", 9000, model="large", tools=150),
    ]
    matrix = matrix_of(arms)
    assert cell(matrix, "small", "full").tools == 150
    assert cell(matrix, "small", "loadout:auto").tools is None, "which is another for each model"
    assert cell(matrix_of(arms[:2]), "small", "full").tools is None


AUTO = "loadout:auto"
SUITE = ("full", AUTO, "loadout:a", "tiered")


def _run(models: dict[str, tuple[str, ...]], rooms: tuple[str, ...] = ()) -> WrittenRun:
    """Models with the toolsets they were asked; the rest of the suite was left out."""
    return WrittenRun(
        [Asked(toolset, "+", model=model) for model, asked in models.items() for toolset in asked],
        rooms={model: ModelLimits(8192) for model in rooms},
        left_out=tuple(
            LeftOutArm(model, toolset, FitVerdict.UNSUPPORTED, "So.")
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
