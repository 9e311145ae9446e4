"""A gate as Markdown: short, the verdict on top, nothing of a stranger's let through."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from tests.evals.analysis.evidence.sides import ABOUT, FULL, RIGHT, WRONG, side
from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.gate.check_reasons import SampleSize
from toolbelt.evals.analysis.gate.gate import check_run
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, Limits
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.gate_markdown import gate_markdown

WHOLE = """\
### ❌ Tool selection: regression

Run 20260301-120000-beef, against baseline.json: 40 cases of office; local/bm25 (word-matching baseline, not an LLM).

- ❌ accuracy, full: 97.5% → 75.0%, -22.5 points (-38.4 to -7.6), margin 2.0; 10 cases now wrong (10 to \
git/log), 1 now right

| arm | accuracy | difference, points (95%) | flipped | prompt tokens |
|---|---:|---:|---:|---:|
| ❌ full | 97.5% → 75.0% | -22.5 (-38.4 to -7.6) | 10 cases now wrong, 1 now right | 150 |

What an arm was offered and called: toolbelt eval show 20260301-120000-beef --case ID. If the change is meant: \
toolbelt eval baseline save, and commit the file.

<details><summary>local/bm25 · full: 10 cases now wrong, 1 now right</summary>

| case | was | is now |
|---|---|---|
| ❌ c1 | right | wrong_tool: git/log, without git/status |
| ❌ c2 | right | wrong_tool: git/log, without git/status |
| ❌ c3 | right | wrong_tool: git/log, without git/status |

… and 8 more cases.

</details>

<details><summary>5 checks passed</summary>

- ✅ comparable: baseline.json is of the same 40 cases, grading and settings
- ✅ reviewed: no case is a draft
- ✅ complete: all of 40 trials came to an end
- ✅ arms: the same 1 arm as in the baseline
- ✅ overflow, full: every case that fitted the model's window still does

</details>
"""


def test_the_whole_of_it() -> None:
    old = side([WRONG] + [RIGHT] * 39, is_baseline=True, name="baseline.json", code={"toolbelt": "1.0"})
    new = side([RIGHT] + [WRONG] * 10 + [RIGHT] * 29, code={"toolbelt": "1.0"})
    assert gate_markdown(check_run(new, Limits(), old), most_flips=3) == WHOLE


SOLVED = """\
### ❌ Tool selection: regression

Run 20260301-120000-beef, against baseline.json: 40 cases of office; local/bm25 (word-matching baseline, not an LLM).

- ❌ solved, full: 100.0% → 75.0%, -25.0 points (-40.2 to -14.0), margin 2.0; 10 cases now wrong (10 with wrong \
arguments), 0 now right

| arm | solved | difference, points (95%) | flipped | prompt tokens |
|---|---:|---:|---:|---:|
| ❌ full | 100.0% → 75.0% | -25.0 (-40.2 to -14.0) | 10 cases now wrong, 0 now right | 150 |

What an arm was offered and called: toolbelt eval show 20260301-120000-beef --case ID. If the change is meant: \
toolbelt eval baseline save, and commit the file.

<details><summary>local/bm25 · full: 10 cases now wrong, 0 now right</summary>

| case | was | is now |
|---|---|---|
| ❌ c0 | right | wrong_arguments: git/status |
| ❌ c1 | right | wrong_arguments: git/status |
| ❌ c2 | right | wrong_arguments: git/status |

… and 7 more cases.

</details>

<details><summary>5 checks passed</summary>

- ✅ comparable: baseline.json is of the same 40 cases, grading and settings
- ✅ reviewed: no case is a draft
- ✅ complete: all of 40 trials came to an end
- ✅ arms: the same 1 arm as in the baseline
- ✅ overflow, full: every case that fitted the model's window still does

</details>
"""


def test_the_whole_of_it_where_arguments_count() -> None:
    amiss = replace(RIGHT, outcome=Outcome.WRONG_ARGUMENTS)
    old = side([replace(RIGHT, called=None)] * 40, is_baseline=True, name="baseline.json", code={"toolbelt": "1.0"})
    new = side([amiss] * 10 + [RIGHT] * 30, code={"toolbelt": "1.0"})
    assert gate_markdown(check_run(new, Limits(measure=Measure.SOLVED), old), most_flips=3) == SOLVED


@pytest.mark.parametrize(
    ("outcome", "called", "says"),
    [
        pytest.param(Outcome.WRONG_TOOL, ("b", "a"), "wrong_tool: b, a", id="another-order"),
        pytest.param(Outcome.UNOFFERED_TOOL, ("a",), "unoffered_tool: a", id="not-offered"),
    ],
)
def test_a_tool_does_not_lack_what_was_called_in_vain(outcome: Outcome, called: tuple[str, ...], says: str) -> None:
    amiss = replace(WRONG, outcome=outcome, missing=("a",), surplus=("a",), called=called)
    old = side([RIGHT] * 40, is_baseline=True, name="b.json")
    assert f"| ❌ c0 | right | {says} |\n" in gate_markdown(check_run(side([amiss] * 40), Limits(), old))


def test_what_is_folded_is_named_in_html_where_a_backslash_would_show() -> None:
    names = (replace(FULL, model="a_b*c|d [e](f)", toolset="<b>&_x_ @octocat #12"),)
    old = side([RIGHT] * 40, names=names, is_baseline=True, name="b.json")
    text = gate_markdown(check_run(side([WRONG] * 40, names=names), Limits(), old))
    (summary,) = re.findall("<summary>(a_b.*)</summary>", text)
    assert "\\" not in summary
    assert "@octocat" not in summary
    assert "#12" not in summary
    shown = html.unescape(re.sub("<!--.*?-->", "", summary))
    assert shown == "a_b*c|d [e](f) · <b>&_x_ @octocat #12: 40 cases now wrong, 0 now right"
    assert "<b>" not in summary
    assert "[e]" not in summary


def test_what_strangers_wrote_is_shown_and_not_obeyed() -> None:
    evil = "<img src=x onerror=alert(1)> | `x` [a](b)\n# c @everyone"
    odd = replace(WRONG, surplus=(evil,), called=(evil,))
    old = side([RIGHT] * 40, names=(replace(FULL, model=evil),), is_baseline=True, name="b.json")
    new = side([odd] * 40, names=(replace(FULL, model=evil),), dataset=evil, reason=evil, status="killed")
    text = gate_markdown(check_run(new, Limits(min_accuracy=0.5), old))
    assert "<img" not in text
    assert "\n# c" not in text
    assert "[a](b)" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ❌ c0")]
    assert [row.replace("\\|", "").count("|") for row in rows] == [4]


def test_a_comment_holds_65536_characters() -> None:
    names = tuple(replace(FULL, toolset=f"loadout:{number}") for number in range(30))
    odd = replace(WRONG, surplus=("x" * 200,), called=("x" * 200,))
    old = side(*[[RIGHT] * 60] * 30, names=names, is_baseline=True, name="b.json")
    limits = Limits(min_accuracy=0.5, max_token_increase=0.1, max_cost_increase=0.1, min_sample_size=10)
    text = gate_markdown(check_run(side(*[[odd] * 60] * 30, names=names), limits, old))
    assert len(text) < 65_536
    assert "… and 57 more cases." in text


@pytest.mark.parametrize(("arms", "cases"), [(1, 5000), (30, 60), (100, 30)])
def test_a_comment_holds_65536_characters_whatever_strangers_call_things(arms: int, cases: int) -> None:
    long = "| `x` <details> & _ " * 8
    names = tuple(replace(FULL, toolset=f"loadout:{long}{number}") for number in range(arms))
    odd = replace(WRONG, surplus=(long,), called=(long,), missing=(long + "m",))
    old = side(*[[RIGHT] * cases] * arms, names=names, is_baseline=True, name=long)
    limits = Limits(min_accuracy=0.5, max_token_increase=0.1, max_cost_increase=0.1, min_sample_size=10)
    result = check_run(side(*[[odd] * cases] * arms, names=names), limits, old)
    text = gate_markdown(result)
    assert len(text) < 65_536
    assert text.count("<details>") == text.count("</details>")
    assert text.startswith("### ❌ Tool selection: regression\n\nRun ")
    assert ("which does not fit here" in text) is (arms > 1)
    rows = [line for line in text.splitlines() if line.startswith("| ❌ loadout:")]
    assert all(line.endswith(" |") for line in rows), "no line is cut within"
    assert len(gate_markdown(result, most_characters=3000)) <= 3000


def test_a_comment_calls_nobody() -> None:
    names = (replace(FULL, toolset="loadout:@octocat"),)
    odd = replace(WRONG, surplus=("@all",), called=("@all",))
    old = side([RIGHT] * 40, names=names, is_baseline=True, name="b#12 GH-34 (gh-56).json")
    text = gate_markdown(check_run(side([odd] * 40, names=names), Limits(), old))
    assert "@octocat" not in text
    assert "@all" not in text
    assert "#12" not in text
    assert not re.search(r"gh-\d", text, re.IGNORECASE)
    assert "GH-<!-- -->34 (gh-<!-- -->56)" in text
    assert "@<!-- -->octocat" in text, "which is shown as it is written"


def test_without_a_baseline_there_are_the_checks_alone() -> None:
    checks = (GateCheck("sample-size", Verdict.INSUFFICIENT_DATA, SampleSize(3, 9), ArmName("m", "full")),)
    assert gate_markdown(GateResult(replace(ABOUT, cases=3), checks, Limits())) == (
        "### ⚠️ Tool selection: insufficient data\n\n"
        "Run 20260301-120000-beef: 3 cases of office.\n\n"
        "- ⚠️ sample-size, full: 3 independent cases, 9 are wanted: ask more cases, or lower --min-sample-size\n"
    )


def test_a_pass_shows_what_it_lets_through() -> None:
    old = side([RIGHT] * 300, is_baseline=True, name="b.json")
    lost = replace(WRONG, missing=("git/<blame>|",))
    text = gate_markdown(check_run(side([RIGHT] * 297 + [lost] * 3), Limits(margin=0.1), old))
    assert text.startswith("### ✅ Tool selection: no regression\n")
    assert "\n- ⚠️ full: no case of git/&lt;blame&gt;\\| is right any more; 3 were\n" in text
    assert "| ❌ c297 | right | wrong_tool: git/log" in text
