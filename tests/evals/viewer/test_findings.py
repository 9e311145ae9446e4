from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.analysis.summary.rows import RUN
from tests.evals.viewer.compared import ABOUT, ACCURACY, FULL, PAIR, TOKENS, WITHIN
from tests.evals.viewer.runs import small_run
from toolbelt.evals.analysis.comparison.comparison import Contribution
from toolbelt.evals.analysis.comparison.reasons import MissingFigures
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.result import find_result
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.arm_columns import arm_columns
from toolbelt.evals.viewer.findings import find_badge, forest_values, format_tick
from toolbelt.views.cells import Badge, Span, Tone

SUMMARY = summarize(small_run(), RUN)
BETWEEN = replace(WITHIN, old=replace(ABOUT, name="before"))
UNDECIDED = replace(ACCURACY, verdict=Verdict.INSUFFICIENT_DATA)
NOT_WORSE = replace(ACCURACY, difference=0.0, low=-0.01, high=0.01, adjusted_p=0.9, verdict=Verdict.NO_REGRESSION)


@pytest.mark.parametrize(
    ("pair", "word", "tone"),
    [
        pytest.param(replace(PAIR, contribution=None), "less accurate", Tone.BAD, id="less-accurate"),
        pytest.param(
            replace(PAIR, contribution=Contribution(-0.09, -0.01, 1.0, 0.9, 0.9, 0.89)),
            "cannot reach the answer (coverage)",
            Tone.BAD,
            id="by-coverage",
        ),
        pytest.param(
            replace(PAIR, contrasts=(NOT_WORSE,)), "not worse by more than 2.0 points", Tone.GOOD, id="not-worse"
        ),
        pytest.param(replace(PAIR, contrasts=(UNDECIDED,)), "undecided", Tone.WARNING, id="undecided"),
        pytest.param(replace(PAIR, new=ArmName("m", "oracle+9")), "for orientation only", Tone.FAINT, id="oracle"),
    ],
)
def test_arms_of_one_run_are_described_as_a_trade_off(pair: object, word: str, tone: Tone) -> None:
    assert find_badge(WITHIN, pair) == Badge(word, tone)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (Verdict.REGRESSION, "Regression"),
        (Verdict.NO_REGRESSION, "No regression"),
        (Verdict.INSUFFICIENT_DATA, "Not enough data"),
        (None, "No verdict"),
    ],
)
def test_a_run_against_another_has_regressed_or_not(verdict: Verdict | None, word: str) -> None:
    assert find_badge(BETWEEN, replace(PAIR, contrasts=(replace(ACCURACY, verdict=verdict),))).word == word


def test_a_plot_holds_every_interval_zero_and_the_margin() -> None:
    wide = replace(ACCURACY, difference=0.2, low=0.1, high=0.3, verdict=Verdict.NO_REGRESSION)
    forest = forest_values(replace(WITHIN, pairs=(PAIR, replace(PAIR, contrasts=(wide, TOKENS)))), SUMMARY)
    assert forest is not None
    rows = forest["groups"][0]["rows"]
    low, right = rows[0]["low"], rows[1]["high"]
    assert 0 < low < rows[0]["x"] < rows[0]["high"] < forest["zero"] < rows[1]["low"] < right < 100
    scale = (right - low) / (0.3 + 0.15)
    assert forest["zero"] == pytest.approx(low + 0.15 * scale, abs=0.01)
    assert forest["band"]["width"] == pytest.approx(0.02 * scale, abs=0.01)
    assert [tick["text"] for tick in forest["ticks"]] == ["-10", "0", "+10", "+20", "+30"]
    assert (rows[0]["old"], rows[0]["new"], rows[0]["worse"], rows[0]["better"]) == (0, 1, 1, 0)


def test_what_was_not_measured_has_no_place_in_the_plot_but_its_reason() -> None:
    unknown = replace(
        ACCURACY, difference=None, low=None, high=None, verdict=None, reasons=(MissingFigures.UNKNOWN_COST,)
    )
    forest = forest_values(replace(WITHIN, pairs=(replace(PAIR, contrasts=(unknown,)),)), SUMMARY)
    assert forest is not None
    row = forest["groups"][0]["rows"][0]
    assert (row["x"], row["low"], row["difference"], row["interval"]) == (None, None, "–", "")
    assert row["reasons"]


def test_arms_held_against_several_are_grouped_and_another_run_has_no_arm_here() -> None:
    other = replace(PAIR, old=ArmName("other/model", "full"), new=ArmName("other/model", "loadout"))
    forest = forest_values(replace(WITHIN, pairs=(PAIR, other)), SUMMARY)
    assert forest is not None
    assert [len(group["rows"]) for group in forest["groups"]] == [1, 1]
    against = forest_values(BETWEEN, SUMMARY)
    assert against is not None
    assert against["groups"][0]["rows"][0]["new"] is None
    assert forest_values(None, SUMMARY) is None


@pytest.mark.parametrize(("share", "text"), [(-0.1, "-10"), (0.025, "+2.5"), (0.0, "0"), (1e-17, "0"), (1.0, "+100")])
def test_a_tick_is_as_short_as_it_is_exact(share: float, text: str) -> None:
    assert format_tick(share) == text


def test_six_columns_are_seen_at_first_and_all_others_are_there() -> None:
    columns = arm_columns(SUMMARY, WITHIN, find_result(SUMMARY, WITHIN))
    names = [column.name for column in columns.table.columns]
    assert [names[place] for place in sorted(columns.shown)] == [
        "accuracy",
        "difference",
        "finding",
        "prompt tokens",
        "cost per trial",
    ]
    assert {"solved", "coverage", "requests", "latency p95"} < set(names)
    findings = [row.cells[2] for row in columns.table.rows]
    assert findings == [
        Span("reference", Tone.FAINT),
        Badge("less accurate", Tone.BAD),
        Span("not compared", Tone.FAINT),
    ]
    assert columns.against == FULL.toolset
    alone = arm_columns(SUMMARY, None, find_result(SUMMARY))
    assert "difference" not in [column.name for column in alone.table.columns]
    assert len(alone.shown) == 5
