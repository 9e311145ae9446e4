"""A gate on the terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console, Group

from tests.evals.analysis.evidence.sides import FULL, RIGHT, TIERED, WRONG, side
from tests.wording import mentions
from toolbelt.evals.analysis.gate.check_reasons import PlainReason
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, Limits
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.gate import gate_view, short_labels
from toolbelt.render.terminal import render_terminal

CODE = {"toolbelt": "1.0"}


def shown(result: GateResult, width: int) -> list[str]:
    file = io.StringIO()
    screen = Console(file=file, width=width, highlight=False)
    screen.print(Group(*render_terminal(gate_view(result), screen)))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def sample() -> GateResult:
    old = side([RIGHT] * 40, [RIGHT] * 40, is_baseline=True, name="b.json", code=CODE)
    return check_run(side([RIGHT] * 15 + [WRONG] * 25, [RIGHT] * 40, code=CODE), Limits(margin=0.2), old)


def test_the_verdict_is_first_then_a_line_a_check_then_what_flipped() -> None:
    lines = shown(sample(), 200)
    model = "local/bm25 (word-matching baseline, not an LLM)"
    assert lines[0] == f"regression  run 20260301-120000-beef against b.json: 40 cases of office; {model}"
    assert mentions(lines[-1], "toolbelt eval show 20260301-120000-beef --case", "toolbelt eval baseline save")
    assert lines[3].startswith("accuracy  FAIL     full  100.0% → 37.5%, -62.5 points (")
    assert lines[3].endswith("25 cases now wrong (25 to git/log), 0 now right")
    assert lines[5] == "pass 7 checks: comparable, reviewed, complete, arms, overflow ×2, accuracy"
    assert lines[7:9] == [
        "local/bm25 · full: 25 cases now wrong, 0 now right",
        "  c15: git/log instead of git/status",
    ]
    assert lines[-3:-1] == ["  … and 5 more; --json has all", ""]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_narrow_screen_loses_nothing(width: int) -> None:
    result = sample()
    lines = shown(result, width)
    assert all(len(line) <= width for line in lines)
    text = "".join("".join(lines).split())
    for check in result.checks:
        assert check.name in text
    assert "nowwrong" in text


def test_arms_of_one_model_go_by_their_toolset() -> None:
    other = replace(TIERED, model="other")
    of_one = tuple(GateCheck("accuracy", Verdict.NO_REGRESSION, PlainReason.NO_DRAFTS, arm) for arm in (FULL, TIERED))
    of_two = (*of_one, GateCheck("accuracy", Verdict.NO_REGRESSION, PlainReason.NO_DRAFTS, other))
    assert list(map(short_labels(of_one), (FULL, TIERED))) == ["full", "tiered"]
    assert list(map(short_labels(of_two), (FULL, TIERED, other))) == [
        "local/bm25 · full",
        "local/bm25 · tiered",
        "other · tiered",
    ]


def test_what_strangers_wrote_moves_no_cursor() -> None:
    result = check_run(side([RIGHT] * 3, names=(replace(FULL, toolset="\x1b[2J[red]"),)), Limits(min_accuracy=0.5))
    text = "\n".join(shown(result, 120))
    assert "\x1b" not in text
    assert "\\x1b[2J[red]" in text


def test_a_pass_shows_what_it_lets_through() -> None:
    old = side([RIGHT] * 300, is_baseline=True, name="b.json", code=CODE)
    lost = replace(WRONG, missing=("git/blame",))
    lines = shown(check_run(side([RIGHT] * 297 + [lost] * 3, code=CODE), Limits(margin=0.1), old), 120)
    assert lines[0].startswith("no_regression  ")
    assert [line for line in lines[-6:] if line] == [
        "local/bm25 · full: 3 cases now wrong, 0 now right",
        "  no case of git/blame is right any more; 3 were",
        *(f"  c{number}: git/log instead of git/blame" for number in (297, 298, 299)),
    ]


def test_every_check_has_a_line_when_asked() -> None:
    screen = Console(file=io.StringIO(), width=200, highlight=False)
    with screen.capture() as captured:
        screen.print(Group(*render_terminal(gate_view(sample(), details=True), screen)))
    marks = [line.split()[1] for line in captured.get().splitlines()[3:11]]
    assert marks == ["pass"] * 6 + ["FAIL", "pass"]


def test_E9_tools_that_changed_are_named_and_their_cases_stand_first() -> None:
    other = replace(WRONG, missing=("git/blame",), surplus=("git/log",))
    digests = {"git/status": "1:1", "git/blame": "1:1", "git/log": "1:1"}
    old = side([RIGHT] * 40, is_baseline=True, name="b.json", code=CODE, tools=digests)
    new = side([WRONG] * 5 + [other] * 2 + [RIGHT] * 33, code=CODE, tools={**digests, "git/blame": "2:1"})
    lines = shown(check_run(new, Limits(), old), 200)
    at = lines.index("1 tool changed")
    assert lines[at + 1] == "  git/blame: its description changed; 2 cases with it got worse, 0 better"
    cases = [line.strip().split(":")[0] for line in lines if line.startswith("  c")]
    assert cases[:3] == ["c5", "c6", "c0"]
