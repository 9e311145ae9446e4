"""A comparison as Markdown (rule E10): complete, and foreign names show as they are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.comparison.samples import (
    BASELINE,
    FULL,
    REGRESSION,
    RUN,
    UNSURE,
    WORSE,
    make_comparison,
    make_pair,
    many_pairs,
    with_accuracy,
)
from tests.wording import mentions
from toolbelt.evals.analysis.comparison.comparison import Comparison, Unpaired
from toolbelt.evals.analysis.comparison.reasons import Aspect, Mismatch, SideNote, SideProblem
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.views.comparison import WHOLE, comparison_view
from toolbelt.render.markdown import render_markdown

EXPECTED = Path(__file__).parent / "expected"


def comparison_markdown(comparison: Comparison, *, most_flips: int = WHOLE.flips, level: int = 1) -> str:
    """As `toolbelt eval compare` writes it."""
    return render_markdown(comparison_view(comparison, WHOLE._replace(flips=most_flips)), level=level) + "\n"


def test_E10_one_pair_of_two_sides() -> None:
    found = make_comparison(
        make_pair(FULL, FULL),
        old=BASELINE,
        notes=(SideNote(SideProblem.UNFINISHED, replace(RUN, status="running")),),
        differences=(Mismatch(Aspect.CATALOG),),
    )
    assert comparison_markdown(found) == (EXPECTED / "comparison.md").read_text(encoding="utf-8")


def test_E10_several_pairs_of_one_run() -> None:
    found = make_comparison(*many_pairs(3))
    assert comparison_markdown(found, level=2) == (EXPECTED / "comparisons.md").read_text(encoding="utf-8")


def test_E7_what_cannot_be_compared_says_why_and_no_more() -> None:
    reasons = (Mismatch(Aspect.EPOCHS), Mismatch(Aspect.SETTING, ("x",)))
    text = comparison_markdown(Comparison(replace(BASELINE, settings={"x": "*1*"}), RUN, reasons=reasons))
    first, second = text.partition("These cannot be compared:\n\n")[2].splitlines()
    assert first.startswith("- ")
    assert mentions(first, "--epochs")
    assert "--x is \\*1\\* in baseline" in second
    assert "|" not in text


def test_as_many_cases_as_asked_for() -> None:
    pair = make_pair(flips=tuple(replace(WORSE, case=f"case-{number}") for number in range(30)))
    assert comparison_markdown(make_comparison(pair)).count("\n| case-") == 20
    assert "Cases that are worse: 3 of 30<" in comparison_markdown(make_comparison(pair), most_flips=3)
    assert "are worse" not in comparison_markdown(make_comparison(pair), most_flips=0)
    assert "Cases that are better: 1 of 2<" in comparison_markdown(make_comparison(), most_flips=1)
    assert "are better" not in comparison_markdown(make_comparison(), most_flips=0)


def test_every_pair_is_told_of_in_a_sentence_of_its_own() -> None:
    pairs = (make_pair(), with_accuracy(make_pair(), **REGRESSION), with_accuracy(make_pair(), **UNSURE))
    text = comparison_markdown(make_comparison(*pairs))
    for said in ("is not worse than full by more", "is worse than full by 6.0", "cannot be decided"):
        assert len(re.findall(rf"^\*\*.*{said}.*\*\*$", text, re.MULTILINE)) == 1


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=50, deadline=None)
def test_foreign_text_keeps_tables_in_shape_and_holds_no_html(name: str, other: str) -> None:
    flip = replace(WORSE, case=name, kind=other, change=-0.5, new=replace(WORSE.new, called=(name, other)))
    pair = make_pair(ArmName(name, "x"), ArmName(other, "y"), flips=(flip,), unpaired=(Unpaired(True, other, 1),))
    old = replace(RUN, name=name, catalog=other, status=other)
    notes = (SideNote(SideProblem.UNFINISHED, old),)
    text = comparison_markdown(
        make_comparison(pair, pair, notes=notes, old=old, differences=(Mismatch(Aspect.CATALOG),))
    )
    tags = set(re.findall(r"<[^>]*>", text))
    assert tags <= {"<details>", "<summary>", "</summary>", "</details>", "<!-- -->"}  # the last one breaks mentions
    for block in text.split("\n\n"):
        if block.startswith("| "):
            assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in block.splitlines()}) == 1


@pytest.mark.parametrize("level", [1, 3])
def test_headings_stand_where_the_page_wants_them(level: int) -> None:
    text = comparison_markdown(make_comparison(), level=level)
    assert re.findall(r"^#+", text, re.MULTILINE) == ["#" * level, "#" * (level + 1)]
