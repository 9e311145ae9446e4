"""Coverage, and the law that an uncovered case is never right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.case import Answer, Case, ExpectedCall, Matching, is_covered
from toolbelt.evals.scoring.outcome import Ending, Outcome, SelectedTool
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer

IDS = ("a", "b", "c", "d", "e")
SCORER = Scorer(ArgumentSchemas(Catalog((Plugin("p", tuple(Tool(name, id=name) for name in IDS)),))))


def answer(*calls: str) -> Answer:
    """Calls; `a|b` is a call that either will do for."""
    return tuple(ExpectedCall(tuple(call.split("|"))) for call in calls)


def case(expected: Answer | None, *accept: Answer, offered: tuple[str, ...] | None = None, forbidden: str = "") -> Case:
    return Case("c", (), expected, accept, forbidden=frozenset(forbidden), offered=offered)


@pytest.mark.parametrize(
    ("of", "reach", "covered"),
    [
        pytest.param(case(answer("a")), {"a", "b"}, True, id="the-tool-is-there"),
        pytest.param(case(answer("a")), {"b"}, False, id="the-tool-is-not-there"),
        pytest.param(case(answer("a", "b")), {"a"}, False, id="half-an-answer-is-none"),
        pytest.param(case(answer("a|b")), {"b"}, True, id="one-of-two-that-are-right"),
        pytest.param(case(answer("a"), answer("b", "c")), {"b", "c"}, True, id="another-answer"),
        pytest.param(case(answer("a"), answer("b", "c")), {"c"}, False, id="no-answer-wholly"),
        pytest.param(case(answer()), set(), True, id="calling-nothing-is-always-within-reach"),
        pytest.param(case(answer("a"), answer()), set(), True, id="calling-nothing-is-accepted-too"),
        pytest.param(case(None), {"a"}, True, id="any-call"),
        pytest.param(case(None), set(), False, id="any-call-and-nothing-there"),
        pytest.param(case(None, offered=("b",)), {"a"}, False, id="any-call-within-the-universe"),
        pytest.param(case(None, offered=("b",)), {"a", "b"}, True, id="any-call-of-the-universe"),
        pytest.param(case(None, forbidden="a"), {"a"}, False, id="any-call-but-all-are-forbidden"),
        pytest.param(case(None, answer()), set(), True, id="any-call-or-none"),
    ],
)
def test_E5_coverage(of: Case, reach: set[str], covered: bool) -> None:
    assert is_covered(of, reach) == covered


CALLS = st.lists(st.sampled_from(IDS), min_size=1, max_size=2, unique=True).map(tuple).map(ExpectedCall)
ANSWERS = st.lists(CALLS, max_size=3).map(tuple)


@st.composite
def trials(draw: st.DrawFn) -> tuple[Case, frozenset[str], list[SelectedTool], Ending]:
    """A case, what is within reach, and calls of that alone."""
    expected = draw(st.none() | ANSWERS)
    accept = tuple(draw(st.lists(ANSWERS, max_size=2)))
    named = {tool for one in (expected or (), *accept) for call in one for tool in call.tools}
    free = sorted(set(IDS) - named)
    forbidden = frozenset(draw(st.lists(st.sampled_from(free), max_size=2)) if free else ())
    extra = frozenset(draw(st.lists(st.sampled_from(IDS), max_size=2))) - forbidden
    of = Case("c", (), expected, accept, forbidden, extra, draw(st.sampled_from(Matching)))
    reach = draw(st.frozensets(st.sampled_from(IDS)))
    called = draw(st.lists(st.sampled_from(sorted(reach)), max_size=4)) if reach else []
    return of, reach, [SelectedTool(0, name, name, True, {}) for name in called], draw(st.sampled_from(Ending))


@given(trials())
def test_E5_an_uncovered_case_is_never_right(
    trial: tuple[Case, frozenset[str], list[SelectedTool], Ending],
) -> None:
    of, reach, selections, ending = trial
    score = SCORER.score(of, selections, ending)
    assert is_covered(of, reach) or not score.outcome.is_right_by_names
    surfaced = frozenset(selection.name for selection in selections)
    assert is_covered(of, surfaced) or not score.outcome.is_right_by_names


@given(trials())
def test_E5_counts_agree_with_each_other_and_with_the_outcome(
    trial: tuple[Case, frozenset[str], list[SelectedTool], Ending],
) -> None:
    of, _, selections, ending = trial
    score = SCORER.score(of, selections, ending)
    assert score.reason.endswith(".")
    assert 0 <= score.arguments_right <= score.arguments_checked <= len(selections)
    if score.hits is None or score.made is None or score.wanted is None:
        assert of.expected is None or not score.outcome.is_scored
        return
    assert score.hits <= score.made <= len(selections)
    assert score.hits <= score.wanted
    if score.outcome.is_right_by_names:
        assert score.hits == score.made == score.wanted
    elif score.outcome not in (Outcome.GAVE_UP, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.BROKEN_CALL):
        assert not score.hits == score.made == score.wanted


@given(trials())
def test_E4_further_answers_never_make_a_trial_worse(
    trial: tuple[Case, frozenset[str], list[SelectedTool], Ending],
) -> None:
    of, _, selections, ending = trial
    if of.expected is None or () in of.answers:
        return
    alone = SCORER.score(Case("c", (), of.expected, (), of.forbidden, of.allowed_extra, of.match), selections, ending)
    assert SCORER.score(of, selections, ending).outcome.is_right_by_names >= alone.outcome.is_right_by_names
