"""Cases in columns: a table says what the cases say that it was made of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.analysis.evidence.case_table import FIGURES, TableBuilder, as_table
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence
from toolbelt.evals.scoring.outcome import Outcome

NAMES = st.text(min_size=1, max_size=3) | st.sampled_from(["c1", "c2", "\ud800", "é"])
COUNTS = st.integers(0, 300) | st.integers(0, 1 << 40)
FRACTIONS = st.floats(0, 1e6)
ATTEMPTS = st.builds(
    Attempt,
    st.sampled_from(Outcome),
    st.booleans(),
    st.none() | st.tuples(NAMES),
    st.lists(NAMES, max_size=1).map(tuple),
    definition_tokens=COUNTS,
    own_prompt_tokens=st.none() | COUNTS,
    prompt_tokens=st.none() | COUNTS,
    requests=COUNTS,
    cost_usd=st.none() | FRACTIONS,
    latency_seconds=st.none() | FRACTIONS,
)
CASES = st.dictionaries(
    NAMES, st.tuples(NAMES | st.none(), st.sampled_from(["single", ""]), st.tuples(*[st.none() | ATTEMPTS] * 2))
).map(
    lambda cases: {
        case: CaseEvidence(case, cluster or case, kind, attempts) for case, (cluster, kind, attempts) in cases.items()
    }
)


@given(CASES)
def test_E8_a_table_holds_what_it_was_made_of(cases: Mapping[str, CaseEvidence]) -> None:
    table = as_table(cases, 2)
    assert list(table) == list(cases)
    assert list(table.values()) == list(cases.values())
    assert dict(table) == cases
    assert "nowhere" not in table
    assert sum(count for _, count in table.count_ends()) == sum(
        attempt is not None for case in cases.values() for attempt in case.attempts
    )


@given(CASES)
def test_E7_cases_have_the_same_number_where_they_have_the_same_cluster(cases: Mapping[str, CaseEvidence]) -> None:
    numbers = as_table(cases, 2).names.clusters.tolist()
    clusters = [case.cluster for case in cases.values()]
    assert [[a == b for b in numbers] for a in numbers] == [[a == b for b in clusters] for a in clusters]


def test_a_figure_that_no_trial_has_is_unknown_in_each() -> None:
    attempt = Attempt(Outcome.CORRECT, covered=True)
    table = as_table({"a": CaseEvidence("a", "a", "single", (attempt, None))}, 2)
    assert table["a"].attempts == (attempt, None)
    with pytest.raises(KeyError):
        table["b"]


def test_E8_trials_of_a_case_that_do_not_come_together_are_put_together() -> None:
    builder = TableBuilder(2, lambda right: Attempt(Outcome.CORRECT if right else Outcome.WRONG_TOOL, covered=True))
    figures = [1.0, None, 2.0, 1.0, None, 0.5]
    assert len(figures) == len(FIGURES)
    for case, epoch in (("a", 0), ("b", 0), ("a", 1)):
        builder.begin(case, "one", "single")
        builder.add(epoch, epoch == 0, figures)
    table = builder.finish()
    assert list(table) == ["a", "b"]
    right = Attempt(Outcome.CORRECT, covered=True, definition_tokens=1, prompt_tokens=2, latency_seconds=0.5)
    assert [attempt and attempt.outcome for attempt in table["a"].attempts] == [Outcome.CORRECT, Outcome.WRONG_TOOL]
    assert table["b"] == CaseEvidence("b", "one", "single", (right, None))


def test_arms_that_were_asked_the_same_share_its_names() -> None:
    cases = {"a": CaseEvidence("a", "a", "single", (Attempt(Outcome.CORRECT, covered=True),))}
    first = as_table(cases, 1)
    builder = TableBuilder(1, lambda end: end, first)
    builder.begin("a", "a", "single")
    builder.add(0, Attempt(Outcome.CORRECT, covered=True), [0, None, None, 1, None, None])
    assert builder.finish().names is first.names
