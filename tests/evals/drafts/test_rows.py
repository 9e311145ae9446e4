"""Drafts as cases: read back as they were meant, and marked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evals.drafts.samples import CATALOG, make_drafting, said
from toolbelt.evals.cases.names import CatalogNames
from toolbelt.evals.cases.reader import parse_case
from toolbelt.evals.drafts.drafting import Answer
from toolbelt.evals.drafts.jobs import Wanted
from toolbelt.evals.drafts.rows import case_rows, is_stated

KEY = bytes(range(16))


def test_E3_every_draft_is_a_case_and_says_that_it_is_one() -> None:
    drafting = make_drafting(Wanted(1, 2, 2))
    arguments = {"order": 17, "reason": "too late", "fast": True}
    queries = ["Order 17 came too late, undo it fast.", "Undo 17 fast, it was tardy."]
    drafting.take(Answer(said([(arguments, queries)], [("Bill 17.", "invoice"), ("Sing.", None)])))
    rows = list(case_rows(drafting, "m", KEY))
    cases = [parse_case(row, CatalogNames(CATALOG)) for row in rows]
    assert [parsed.findings for parsed in cases] == [()] * 4
    assert all(parsed.case and parsed.case.draft and "generated" in parsed.case.tags for parsed in cases)
    assert [row["kind"] for row in rows] == ["single", "single", "near-miss", "irrelevant"]
    assert rows[0]["cluster"] == rows[1]["cluster"] != rows[0]["id"]
    assert len({row["id"] for row in rows}) == 4
    assert [row["expected"] for row in rows] == [
        [{"tool": "till/pay_back", "args": arguments}],
        [{"tool": "till/pay_back", "args": {"order": 17, "fast": True}}],
        [{"tool": "till/invoice"}],
        [],
    ]
    assert rows[1]["note"] == "drafted by m; unchecked, as the query does not state them word for word: reason"
    assert rows[2]["note"] == "drafted by m as a near miss of till/pay_back"


@pytest.mark.parametrize(
    ("value", "query", "stated"),
    [
        pytest.param("Berlin", "weather in berlin?", True, id="text-whatever-its-case"),
        pytest.param("2024-05-02", "on the second of May", False, id="text-in-other-words"),
        pytest.param("", "anything", False, id="blank"),
        pytest.param(17, "order 17.", True, id="number"),
        pytest.param(7, "order 17", False, id="part-of-a-number"),
        pytest.param(1, "1.5 kilos", False, id="part-of-a-fraction"),
        pytest.param(2.5, "2.5 kilos", True, id="fraction"),
        pytest.param(3.0, "3 kilos", True, id="whole-fraction"),
        pytest.param(1234567, "row 1234567", True, id="long-number"),
        pytest.param(True, "anything", True, id="truth"),
        pytest.param(["a.txt", "b.txt"], "a.txt and b.txt", True, id="list"),
        pytest.param(["a.txt", "c.txt"], "a.txt and b.txt", False, id="list-in-part"),
        pytest.param({"to": "Ann"}, "to Ann", True, id="object"),
        pytest.param("a", "Feed the cat.", False, id="a-letter-in-a-word"),
        pytest.param("A", "Give it an A.", True, id="a-letter-by-itself"),
        pytest.param("Ann", "write to Annabel", False, id="the-beginning-of-a-word"),
        pytest.param("two  words", "these two\nwords", True, id="whatever-white-space"),
        pytest.param("東京", "東京の天気は?", True, id="writing-without-blanks"),
        pytest.param("दिन", "दिनांक बताओ", False, id="a-word-with-marks-goes-on"),
        pytest.param("C++", "in C++, please", True, id="marks-at-the-end"),
        pytest.param("7", "order 17", False, id="digits-in-a-number"),
        pytest.param("4", "on A4 paper", False, id="digits-of-a-name"),
        pytest.param(5, "set it to -5", False, id="the-sign-is-part-of-it"),
        pytest.param(5, "set it to \u22125", False, id="a-minus-sign-proper"),
        pytest.param(-5, "set it to -5", True, id="negative"),
        pytest.param(-5, "set it to \u22125", True, id="negative-with-a-minus-sign-proper"),
        pytest.param(-5, "pages 10-5", False, id="a-hyphen-is-no-sign"),
        pytest.param(5, "5kg of it", True, id="with-its-unit"),
        pytest.param(float("inf"), "inf", False, id="no-number"),
        pytest.param([], "anything", False, id="empty-list"),
        pytest.param({}, "anything", False, id="empty-object"),
        pytest.param({"to": []}, "to nobody", False, id="empty-within"),
    ],
)
def test_E3_only_what_a_query_states_is_checked(value: Any, query: str, stated: bool) -> None:
    assert is_stated(value, query) is stated
