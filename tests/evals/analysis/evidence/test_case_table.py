"""Cases in columns: a table says what the cases say that it was made of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.analysis.evidence import case_table
from toolbelt.evals.analysis.evidence.case_table import FIGURES, CaseTable, TableBuilder, as_table
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


@given(CASES, CASES)
def test_E8_arms_share_the_names_of_the_cases_that_both_were_asked(
    old: Mapping[str, CaseEvidence], new: Mapping[str, CaseEvidence]
) -> None:
    assert _after(as_table(old, 2), old).names == as_table(old, 2).names
    assert list(_after(as_table(old, 2), new).values()) == list(new.values())
    first = dict(list(old.items())[:-1])
    assert list(_after(as_table(old, 2), first).values()) == list(first.values())


def _after(before: CaseTable, cases: Mapping[str, CaseEvidence]) -> CaseTable:
    """A table of the ends of cases, and of the figures, made after that of another arm."""
    builder = TableBuilder(2, lambda end: end, before)
    for case in cases.values():
        builder.begin(case.case, case.cluster, case.kind)
        for epoch, attempt in enumerate(case.attempts):
            if attempt is not None:
                end = Attempt(attempt.outcome, attempt.covered, attempt.called, attempt.missing, attempt.surplus)
                builder.add(epoch, end, [getattr(attempt, name) for name in FIGURES])
    return builder.finish()


@contextmanager
def _no_larger_files() -> Iterator[None]:
    """Files of some bytes at most, as on a disk that is full."""
    import resource  # which Windows does not have

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


FULL = pytest.param("full", marks=pytest.mark.skipif(os.name == "nt", reason="Windows limits no process's files"))


@pytest.mark.parametrize("disk", ["whole", FULL, "without-a-folder"])
def test_E8_figures_of_many_trials_are_the_same_from_a_file_and_without_room_for_one(
    disk: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cases = {
        case: CaseEvidence(
            case,
            case,
            "single",
            (
                Attempt(
                    Outcome.CORRECT,
                    covered=True,
                    definition_tokens=number,
                    prompt_tokens=number << 33,
                    requests=1,
                    cost_usd=number / 7,
                ),
                None if number % 3 else Attempt(Outcome.WRONG_TOOL, covered=False, definition_tokens=2),
            ),
        )
        for number, case in enumerate("abcdefgh")
    }
    monkeypatch.setattr(case_table, "_MOST_HELD", 4)
    monkeypatch.setattr(case_table, "_BATCH", 3)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if disk != "without-a-folder" else tmp_path / "gone"))
    if disk == "full":
        with _no_larger_files():
            table = as_table(cases, 2)
    else:
        table = as_table(cases, 2)
    assert list(table.values()) == list(cases.values())
    assert table["f"] == cases["f"]
    shown = table.figure("definition_tokens", np.array([3, 0]))
    assert shown.tolist() == [[3, 2], [0, 2]]
    assert table.first_epochs(1).figure("cost_usd", np.arange(8)).ravel().tolist() == [
        number / 7 for number in range(8)
    ]
    assert bool(table._figures._stored) == (disk == "whole")


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
