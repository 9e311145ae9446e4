"""No statement about a run prefers an arm to one that is at least as good and was asked more (rule V1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, stored
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.gate.gate import gate_sides
from toolbelt.evals.analysis.gate.verdict import Limits
from toolbelt.evals.analysis.matrix.ranking import Standing
from toolbelt.evals.analysis.result import TradeOff, find_result, find_trade_off
from toolbelt.evals.exports.run_report import RunReport, analyze_run
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.economics import cheapest_lines
from toolbelt.evals.views.pictures.shown import shown_arms
from toolbelt.evals.views.pictures.tradeoff import _point, find_front
from toolbelt.evals.views.ranking import conclusions
from toolbelt.evals.views.result_text import result_sentence, result_title

MODELS = ("red", "green", "blue")
TOOLSETS = ("full", "loadout:minimal", "loadout:developer", "tiered")
RIGHT, WRONG, TOO_LONG, UNKNOWN = "+", "-", "o", "e."


@st.composite
def runs(draw: st.DrawFn) -> list[Asked]:
    """Arms of one to three models. Mostly a window decides by the length of a case what is too long for an arm, so that
    one is asked more than another, and often an arm answers a case as the one before it, so that neither is worse.
    """
    cases = draw(st.integers(1, 12))
    times = draw(st.sampled_from((1, 1, 3, 15)))
    lengths = draw(st.lists(st.integers(0, 9), min_size=cases, max_size=cases))
    models = MODELS[: draw(st.integers(1, 3))]
    toolsets = draw(st.lists(st.sampled_from(TOOLSETS), min_size=1, max_size=4, unique=True))
    arms: list[Asked] = []
    answers = "".join(draw(st.sampled_from("++-")) for _ in range(cases))
    for model in models:
        for toolset in toolsets:
            answers = "".join(
                draw(st.sampled_from("+-")) if draw(st.integers(0, 5)) == 0 else answer for answer in answers
            )
            window, failing = draw(st.integers(-1, 10)), draw(st.sampled_from((0, 0, 0, 1, 4)))
            odd = draw(st.booleans()) and draw(st.booleans())
            trials = []
            for answer, length in zip(answers, lengths, strict=True):
                trial = answer
                if draw(st.integers(0, 9)) < failing:
                    trial = draw(st.sampled_from(UNKNOWN))
                if length > window or (odd and draw(st.booleans())):
                    trial = TOO_LONG
                trials.append(trial)
            tokens = draw(st.sampled_from((100, 1000, 20_000)))
            arms.append(
                Asked(
                    toolset,
                    trials * times,
                    tokens,
                    model=model,
                    prompt=tokens + draw(st.integers(0, 90)),
                    cost=draw(st.sampled_from((0.01, 0.02, 0.5))),
                    latency=draw(st.sampled_from((0.2, 1.5))),
                )
            )
    return arms


def outdoes(better: Asked, arm: Asked) -> bool:
    """Whether an arm was asked strictly more than another, and is at least as good on every case that both were asked;
    what failed may have gone either way.
    """
    was_asked_more = False
    for one, other in zip(better.trials, arm.trials, strict=True):
        if one == TOO_LONG and other != TOO_LONG:
            return False
        if other == TOO_LONG:
            was_asked_more |= one in RIGHT + WRONG
        elif not (one == RIGHT or other == WRONG):
            return False
    return was_asked_more


def right_of_asked(arm: Asked) -> tuple[int, int]:
    asked = [trial for trial in arm.trials if trial not in UNKNOWN]
    return asked.count(RIGHT), len(asked)


def known_right(arm: Asked) -> float:
    return arm.trials.count(RIGHT) / len(arm.trials)


def is_scored(arm: Asked) -> bool:
    return any(trial in RIGHT + WRONG for trial in arm.trials)


Preference = tuple[str, int, Sequence[int]]
"""A name for a statement, the position of the arm that it prefers, and those of the others that it is about."""


def of_model(arms: Sequence[Asked], model: str) -> list[int]:
    return [number for number, arm in enumerate(arms) if arm.model == model]


def by_result(report: RunReport, arms: Sequence[Asked]) -> Iterator[Preference]:
    summary, comparison = report.summary, report.comparison
    place = {(arm.model, arm.toolset): number for number, arm in enumerate(summary.arms)}
    result = find_result(summary, comparison)
    named = result.recommended or result.reference
    if named is not None and comparison is not None:
        yield "title", place[named.model, named.toolset], of_model(arms, named.model)
    if result.lead is not None:
        scored = [number for number, arm in enumerate(arms) if is_scored(arm)]
        yield "most accurate model", place[result.lead.arm.model, result.lead.arm.toolset], scored
    for pair in () if comparison is None else comparison.pairs:
        old, new = (place[arm.model, arm.toolset] for arm in (pair.old, pair.new))
        trade_off = find_trade_off(pair)
        if trade_off is TradeOff.MORE_ACCURATE:
            yield "more accurate", new, [old]
        if trade_off in (TradeOff.LESS_ACCURATE, TradeOff.UNREACHABLE):
            yield "less accurate", old, [new]


def by_ranking(report: RunReport) -> Iterator[Preference]:
    if (ranking := report.ranking) is None:
        return
    ranked = [each.place for each in ranking.arms]
    known = [each.arm.known_right for each in ranking.arms]
    assert known == sorted(known, reverse=True), "what failed does not let the rest lead"
    for number, each in enumerate(ranking.arms):
        yield "rank", each.place, ranked[number:]
        if each.standing is Standing.WORSE:
            yield "surely less accurate", ranked[0], [each.place]
    for name, named in (("cheapest", ranking.cheapest), ("fastest", ranking.fastest)):
        if named is not None:
            yield name, named.place, ranked


def by_picks(report: RunReport, arms: Sequence[Asked]) -> Iterator[Preference]:
    for row in () if report.matrix is None else report.matrix.rows:
        for name, number in (("best of the model", row.pick.best), ("pick", row.pick.choice)):
            if number is not None:
                yield name, number, of_model(arms, row.model)
        if row.pick.promising is not None and row.pick.choice is not None:
            yield "promising", row.pick.promising, [row.pick.choice]


def by_costs(report: RunReport, arms: Sequence[Asked]) -> Iterator[Preference]:
    points = [point for item in shown_arms(report.summary) if (point := _point(item, has_prompts=True)) is not None]
    for at in find_front(points):
        yield "front", points[at].shown.number - 1, [point.shown.number - 1 for point in points]
    models = dict.fromkeys(arm.model for arm in arms)
    for line in cheapest_lines(report.economics):
        said = line.split("; the intervals")[0].replace("billed in full", "")
        for model in models:
            if f" of {model}" in line or len(models) == 1:
                same = of_model(arms, model)
                left_out = said.split(";")[-1] if "fewer cases fit" in said else ""
                named = [n for n in same if arms[n].toolset in said and arms[n].toolset not in left_out]
                yield from (("cheapest per solved case", number, same) for number in named)


@settings(max_examples=150, deadline=None)
@given(runs())
def test_V1_no_arm_is_preferred_to_one_that_is_at_least_as_good_and_was_asked_more(arms: list[Asked]) -> None:
    with stored(WrittenRun(arms)) as (store, row):
        if not row.finished:
            return
        report = analyze_run(store, row)
    preferences = (by_result(report, arms), by_ranking(report), by_picks(report, arms), by_costs(report, arms))
    for statement, number, others in chain(*preferences):
        for other in others:
            assert not outdoes(arms[other], arms[number]), (statement, arms[number], arms[other])
    check_figures(report, arms)
    check_lead(report, arms)


_FIGURE = re.compile(r"(\d+\.\d)% (?:right )?(?:of|over) (?!\d+ of)([\d,]+) (?:cases?|trials?)")


def check_figures(report: RunReport, arms: Sequence[Asked]) -> None:
    """A number of cases beside a share is that of the share."""
    result = find_result(report.summary, report.comparison)
    lines = [result_title(result), result_sentence(replace(result, contrast=None))]
    lines += [] if report.ranking is None else list(conclusions(report.ranking))
    shares = {(f"{100 * right / of:.1f}", of) for right, of in map(right_of_asked, arms) if of}
    for line in lines:
        for share, of in _FIGURE.findall(line):
            assert (share, int(of.replace(",", ""))) in shares, line


def check_lead(report: RunReport, arms: Sequence[Asked]) -> None:
    """The model named as the most accurate is the one of which most is known to be right, and what is as good,
    undecided or failed more often is said so.
    """
    result = find_result(report.summary, report.comparison)
    best: dict[str, float] = {}
    for arm in filter(is_scored, arms):
        best[arm.model] = max(best.get(arm.model, 0.0), known_right(arm))
    sentence = result_sentence(result)
    assert ("most accurate of" in sentence) == (len(best) > 1)
    if len(best) < 2:
        return
    own = best.pop(result.model)
    assert own == max([own, *best.values()])
    tied = sum(share == own for share in best.values())
    assert (f"tied with {tied} other" in sentence) == bool(tied)
    assert f"of {len(best) + 1} models" in sentence
    if "surely the most accurate" in sentence:
        assert own > max(best.values())


@settings(max_examples=60, deadline=None)
@given(runs())
def test_V1_a_gate_passes_no_arm_that_its_baseline_outdoes(arms: list[Asked]) -> None:
    was, now = arms[0], replace(arms[-1], model=arms[0].model, toolset=arms[0].toolset)
    with stored(WrittenRun([was])) as (before, old), stored(WrittenRun([now])) as (after, new):
        result = gate_sides(StoredRun(after, new), Limits(min_accuracy=0.5), StoredRun(before, old))
    if outdoes(was, now):
        assert result.verdict is not Verdict.NO_REGRESSION
    least = next(check for check in result.checks if check.name == "min-accuracy")
    right, of = right_of_asked(now)
    if least.verdict is Verdict.NO_REGRESSION:
        assert right >= 0.5 * of


@pytest.mark.parametrize("answered", [pytest.param(12, id="right-as-often"), pytest.param(10, id="right-less-often")])
def test_V1_a_model_that_mostly_failed_does_not_lead(answered: int) -> None:
    trials = [*RIGHT * answered, *WRONG * (12 - answered)]
    failed = Asked("full", [RIGHT, *"e" * 11], 100, model="red", prompt=150, cost=0.01)
    whole = Asked("full", trials, 1000, model="green", prompt=1050, cost=0.02)
    with stored(WrittenRun([failed, whole])) as (store, row):
        report = analyze_run(store, row)
    result = find_result(report.summary, report.comparison)
    assert result.lead is not None
    assert result.lead.arm.model == "green"
    says_so = "red · full: 100.0% right of 1 trial, 11 more without an answer" in result_sentence(result)
    assert says_so == (answered < 12)
    assert report.ranking is not None
    assert [each.place for each in report.ranking.arms] == [1, 0]
