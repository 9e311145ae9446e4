"""A comparison as views, on the terminal (rules E7 and E10): what must be known first, and no number is cut."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, Group
from rich.text import Text

from tests.evals.analysis.comparison.samples import (
    ACCURACY,
    BASELINE,
    FULL,
    LOADOUT,
    PROMPT,
    REGRESSION,
    RUN,
    TIERED,
    UNSURE,
    WORSE,
    make_comparison,
    make_pair,
    many_pairs,
    with_accuracy,
)
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Comparison, Contrast, KindContrast, Measure, Unpaired
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.comparison.reasons import Aspect, Mismatch, MissingFigures, SideNote, SideProblem
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.comparison import TERMINAL, comparison_result, comparison_view
from toolbelt.render.numbers import NOTHING
from toolbelt.render.terminal import render_terminal

EXPECTED = Path(__file__).parent / "expected"


def _shown(comparison: Comparison, width: int, *, flips: int = TERMINAL.flips, details: bool = False) -> str:
    """As `toolbelt eval compare` prints it."""
    screen = Console(width=width, highlight=False, markup=False, emoji=False, color_system=None)
    view = comparison_view(comparison, TERMINAL._replace(flips=flips), details=details)
    with screen.capture() as captured:
        screen.print(
            Group(*render_terminal(view, screen), Text(), *render_terminal([comparison_result(comparison)], screen))
        )
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _two_sides() -> Comparison:
    return make_comparison(
        make_pair(FULL, FULL),
        old=BASELINE,
        notes=(SideNote(SideProblem.UNFINISHED, replace(RUN, status="running")),),
        differences=(Mismatch(Aspect.CATALOG),),
    )


@pytest.mark.parametrize("width", [80, 118])
def test_E10_one_pair_in_full(width: int) -> None:
    assert _shown(_two_sides(), width) == (EXPECTED / f"comparison-{width}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 118])
def test_E10_thirty_pairs_a_line_each(width: int) -> None:
    shown = _shown(make_comparison(*many_pairs(30)), width)
    assert shown == (EXPECTED / f"comparisons-{width}.txt").read_text(encoding="utf-8")


def test_E7_what_must_be_known_stands_before_any_verdict() -> None:
    shown = _shown(_two_sides(), 118)
    places = [shown.index(text) for text in ("not finished (running)", "The catalog is", "no regression")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("count", "details", "blocks"), [(1, True, 1), (1, False, 1), (3, False, 0), (3, True, 3), (30, False, 0)]
)
def test_one_pair_is_shown_in_full_and_several_when_asked(count: int, details: bool, blocks: int) -> None:
    shown = _shown(make_comparison(*many_pairs(count)), 118, details=details)
    assert shown.count("coverage contributed") == blocks
    assert ("--arm NAME" in shown) is (blocks == 0)
    assert ("\n\nNot worse: " in shown) is (count > 1)


@pytest.mark.parametrize("width", [40, 60, 80, 118, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    for comparison in (_two_sides(), make_comparison(*many_pairs(3)), make_comparison(*many_pairs(30))):
        assert max(map(len, _shown(comparison, width).splitlines())) <= width


@pytest.mark.parametrize("width", [64, 80, 118])
def test_no_figure_of_the_measures_is_cut(width: int) -> None:
    shown = _shown(_two_sides(), width)
    assert "…" not in shown
    for figure in ("+1.7 points (-0.4 to +3.7)", "-56.0% (-56.4 to -55.6%)", "63,539", "27,932", "12 ms"):
        assert figure in shown


def test_a_verdict_is_told_in_words_where_its_column_has_no_room() -> None:
    shown = _shown(make_comparison(with_accuracy(make_pair(), **REGRESSION)), 60)
    assert "verdict" not in shown.partition("prompt tokens")[0]
    assert mentions(shown, "worse than full", "6.0")


def test_each_verdict_has_a_colour_of_its_own() -> None:
    screen = Console(width=118, force_terminal=True, color_system="standard", highlight=False, no_color=False)
    view = comparison_view(make_comparison(*many_pairs(3), old=BASELINE), TERMINAL, details=False)
    with screen.capture() as captured:
        screen.print(Group(*render_terminal(view, screen)))
    codes = dict(re.findall(r"\x1b\[([\d;]+)m(regression|no regression|insufficient data) *\x1b", captured.get()))
    assert codes == {"1;31": "regression", "32": "no regression", "33": "insufficient data"}


@pytest.mark.parametrize(("flips", "lines"), [(0, 0), (1, 1), (2, 2), (50, 2)])
def test_as_many_cases_that_flipped_as_asked_for(flips: int, lines: int) -> None:
    shown = _shown(make_comparison(), 118, flips=flips)
    assert sum(case in shown for case in ("single-git-blame-1 ", "multi-")) == lines
    assert ("Cases that are worse  1 of 2\n" in shown) is (flips == 1)
    assert ("Cases that are better  1 of 2\n" in shown) is (flips == 1)
    assert sum(case in shown for case in ("single-pay-3 ", "single-pay-4 ")) == lines
    assert "600 cases: 2 better, 2 worse, 596 alike." in shown


def test_what_a_baseline_did_not_keep_is_not_made_up() -> None:
    right = replace(WORSE, old=Attempt(Outcome.CORRECT, True, None))
    assert "the right answer -> git/log" in _shown(make_comparison(make_pair(flips=(right,))), 118)
    wrong = replace(WORSE, old=replace(WORSE.new, called=None))
    assert "not kept -> git/log" in _shown(make_comparison(make_pair(flips=(wrong,))), 118)


def test_the_right_tools_with_wrong_arguments_are_not_told_as_the_right_answer() -> None:
    flip = replace(WORSE, old=Attempt(Outcome.CORRECT, True, None), new=Attempt(Outcome.WRONG_ARGUMENTS, True, None))
    shown = _shown(make_comparison(make_pair(flips=(flip,))), 160)
    assert "wrong_arguments  the right answer -> the right tools, wrong arguments\n" in shown
    flip = replace(flip, new=Attempt(Outcome.INVALID_ARGUMENTS, True, None))
    shown = _shown(make_comparison(make_pair(flips=(flip,))), 160)
    assert "invalid_arguments  the right answer -> the right tools, invalid arguments\n" in shown


def test_confusions_that_became_rarer_are_not_among_those_that_became_commoner() -> None:
    shown = _shown(make_comparison(), 118)
    assert "bank/refund" not in shown
    assert re.search(r"^ +nothing +web/search\|wide +0 +2$", shown, re.MULTILINE)
    assert re.search(r"^ +mail/send +nothing +3 +4$", shown, re.MULTILINE)


def test_what_was_wrong_is_told_of_the_arm_that_does_worse() -> None:
    shown = _shown(make_comparison(), 118)
    assert re.search(r"^ +case +kind +change +outcome +called: full -> loadout$", shown, re.MULTILINE)
    assert re.search(r"^ +single-git-blame-1 +single +wrong_tool +git/blame -> git/log$", shown, re.MULTILINE)
    assert re.search(r"^ +case +kind +outcome +called", shown, re.MULTILINE)
    assert re.search(r"^ +single-pay-3 +single +unneeded_call +bank/pay, bank/pay -> nothing$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("changed", "same", "line"),
    [
        (2, 0, ""),
        (2, 1, "Nothing changed in 1 kind.\n"),
        (7, 0, "And 1 kind more.\n"),
        (9, 12, "And 3 kinds more; nothing changed in 12 kinds.\n"),
    ],
)
def test_kinds_that_are_not_shown_are_counted(changed: int, same: int, line: str) -> None:
    parts = (
        *(KindContrast(f"kind-{number}", 10, 0, 1, 1.0, 0.9) for number in range(changed)),
        *(KindContrast(f"same-{number}", 10, 0, 0, 1.0, 1.0) for number in range(same)),
    )
    shown = _shown(make_comparison(make_pair(parts=parts)), 118)
    assert "same-" not in shown
    assert shown.count("kind-") == min(changed, 6)
    told = [text for text in ("othing changed in", "kind more", "kinds more") if text in shown]
    assert line in shown
    assert bool(told) is bool(line)


def test_E4_new_overflows_are_named() -> None:
    cases = tuple(f"big-{number}" for number in range(7))
    comparison = make_comparison(make_pair(newly_overflowing=cases), make_pair(new=TIERED))
    shown = _shown(comparison, 118, details=False)
    assert any(mentions(line, "loadout", "7 cases", ", ".join(cases[:5]), "2 more") for line in shown.splitlines())


def test_E7_a_pair_of_which_nothing_was_scored() -> None:
    nothing = Contrast(Measure.ACCURACY, verdict=Verdict.INSUFFICIENT_DATA, reasons=(MissingFigures.NO_SHARED_CASES,))
    pair = make_pair(
        contrasts=(nothing, Contrast(Measure.PROMPT_TOKENS)), flips=(), confusions=(), contribution=None, parts=(),
        unpaired=(Unpaired(True, "error", 600),),
    )  # fmt: skip
    shown = _shown(make_comparison(pair, make_pair(new=TIERED)), 80, details=True)
    assert mentions(" ".join(shown.split()), "cannot be decided", "no case was scored")
    assert mentions(shown, "not scored", "new 600 error")
    assert "measure" not in _shown(make_comparison(pair), 80)
    assert "None" not in shown
    assert "nan" not in shown


def test_one_reason_of_several_measures_is_told_once() -> None:
    unknown = [
        Contrast(measure, reasons=(MissingFigures.SINGLE_CLUSTER, *more))
        for measure, more in ((Measure.REQUESTS, ()), (Measure.COST_USD, (MissingFigures.UNKNOWN_COST,)))
    ]
    shown = _shown(make_comparison(make_pair(contrasts=(ACCURACY, *unknown))), 118)
    single, price = map(describe_reason, (MissingFigures.SINGLE_CLUSTER, MissingFigures.UNKNOWN_COST))
    assert f"  requests, cost: {single}\n  cost: {price}\n" in shown


def test_models_stand_above_their_arms_and_one_model_is_not_repeated() -> None:
    shown = _shown(make_comparison(*many_pairs(12)), 118)
    assert len(re.findall("^provider/model-0$", shown, re.MULTILINE)) == shown.count("provider/model-0") == 1
    alike = _shown(make_comparison(make_pair(), make_pair(new=TIERED)), 118)
    assert "Each arm against full" in alike
    assert "local/bm25 · " not in alike


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "Each arm against full (27.3% right):"),
        ({"old": BASELINE}, "Each arm against full of reports/baseline.json:"),
    ],
    ids=["within-a-run", "against-one-arm-of-another"],
)
def test_what_all_are_held_against(changes: dict[str, Any], line: str) -> None:
    assert f"\n{line}\n" in _shown(make_comparison(make_pair(), make_pair(new=TIERED), **changes), 118)


def test_arms_held_against_those_of_their_names() -> None:
    found = make_comparison(make_pair(LOADOUT, LOADOUT), make_pair(TIERED, TIERED), old=BASELINE)
    assert "\nEach arm against the same of reports/baseline.json:\n" in _shown(found, 118)


def test_many_cases_would_tell_of_all_that_are_unsure() -> None:
    unsure = with_accuracy(make_pair(), **UNSURE)
    shown = _shown(make_comparison(unsure, unsure, make_pair()), 118)
    assert "\nNot worse: loadout; undecided: loadout, loadout; about 5,800 cases would decide for both.\n" in shown


def test_what_was_not_scored_is_told_side_by_side() -> None:
    lost = (Unpaired(False, "error", 10), Unpaired(False, "not run", 1_200), Unpaired(True, "context_overflow", 3))
    shown = _shown(make_comparison(make_pair(unpaired=lost)), 118)
    assert "\n  Cases not scored: old 10 error, 1,200 not run; new 3 context_overflow.\n" in shown
    assert "not scored" not in _shown(make_comparison(make_pair(unpaired=())), 118)


def test_what_differs_is_left_out_before_the_difference_is_folded() -> None:
    lines = _shown(_two_sides(), 44).splitlines()
    assert any(line.endswith("+1.7 points (-0.4 to +3.7)") for line in lines)
    assert any(line.endswith("-56.0% (-56.4 to -55.6%)") for line in lines)


@pytest.mark.parametrize("width", [24, 30, 40])
def test_nothing_is_cut_however_narrow_the_screen(width: int) -> None:
    for comparison in (make_comparison(), make_comparison(*many_pairs(4))):
        shown = _shown(comparison, width)
        assert "…" not in shown
        for part in ("+1.7", "(-0.4", "+3.7)"):
            assert part in shown
    block = _shown(make_comparison(), width).partition("Confusions")[2].partition("By kind")[0]
    for count in (1, 6):
        assert re.search(rf" {count}\b", block), "how often is not left out"


def test_E7_a_column_tells_no_change_from_nothing_to_tell() -> None:
    same = replace(PROMPT, new=PROMPT.old, difference=0.0, low=0.0, high=0.0, ratio=1.0, ratio_low=1.0, ratio_high=1.0)
    unknown = Contrast(Measure.PROMPT_TOKENS)
    pairs = [make_pair(new=ArmName("m", name), contrasts=(ACCURACY, one)) for name, one in
             (("less", PROMPT), ("same", same), ("dark", unknown))]  # fmt: skip
    shown = _shown(make_comparison(*pairs), 118, details=False)
    for name, cell in (("less", "-56.0%"), ("same", "none"), ("dark", NOTHING)):
        assert re.search(rf"^\S* ?·? ?{name} .*not worse +{re.escape(cell)} +2/2\b", shown, re.MULTILINE)
    without = _shown(
        make_comparison(*(replace(pair, contrasts=(ACCURACY, same)) for pair in pairs)), 118, details=False
    )
    assert "tokens" not in without


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=30, deadline=None)
def test_foreign_text_is_made_visible_and_moves_nothing(name: str, other: str) -> None:
    flip = replace(WORSE, case=f"a{name}", kind=other, new=replace(WORSE.new, called=(name, other)))
    pair = make_pair(
        ArmName("m", f"t{name}"), ArmName("m", f"u{other}"), flips=(flip,), unpaired=(Unpaired(True, name, 2),)
    )
    old = replace(BASELINE, name=name, catalog=other, status=other)
    notes = (SideNote(SideProblem.UNFINISHED, old),)
    comparison = make_comparison(pair, pair, notes=notes, differences=(Mismatch(Aspect.CATALOG),), old=old)
    shown = _shown(comparison, 80)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)


def test_a_change_of_some_epochs_is_told_as_a_share() -> None:
    pair = with_accuracy(make_pair(flips=(replace(WORSE, change=-1 / 3),)))
    assert re.search(r"single-git-blame-1 +single +-0.33 +wrong_tool", _shown(make_comparison(pair), 118))
    whole = _shown(make_comparison(make_pair(flips=(WORSE,))), 118)
    assert "kind  change" not in whole


def test_amounts_without_a_ratio_or_a_change() -> None:
    cost = Contrast(Measure.COST_USD, old=0.0, new=0.002, difference=0.002, low=0.001, high=0.003, cases=600)
    free = replace(cost, new=0.0, difference=0.0, low=0.0, high=0.0)
    for contrast, said in ((cost, r"cost +\$0 +\$0.0020 +\+\$0.0020$"), (free, r"cost +\$0 +\$0 +none$")):
        assert re.search(said, _shown(make_comparison(make_pair(contrasts=(ACCURACY, contrast))), 118), re.MULTILINE)
