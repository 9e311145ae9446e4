from __future__ import annotations

from typing import Any

import pytest

from tests.evals.cases.samples import case, public
from toolbelt.evals.cases.layout import Form, Layout, LayoutFinder


def look(*rows: Any) -> LayoutFinder:
    finder = LayoutFinder()
    for number, row in enumerate(rows, start=1):
        finder.look(row, number)
    return finder


NO_CALL = case(expected=[])


@pytest.mark.parametrize(
    ("rows", "layout"),
    [
        pytest.param([case()], Layout(Form.OWN), id="calls-are-objects"),
        pytest.param([NO_CALL, case(expected=None)], Layout(Form.OWN), id="ones-own-where-nothing-tells"),
        pytest.param([NO_CALL, case(accept=[[]], expected=[])], Layout(Form.OWN), id="keys-that-grade"),
        pytest.param([NO_CALL, public()], Layout(Form.PUBLIC), id="one-line-with-names-tells-for-all"),
        pytest.param([case(expected=None, expected_any_of=["x"])], Layout(Form.PUBLIC), id="keys-of-the-public-layout"),
        pytest.param(
            [public(expected_args=[{"a": [1]}]), public(expected_args=[{}])],
            Layout(Form.PUBLIC, lists=True),
            id="lists-where-every-value-is-one",
        ),
        pytest.param(
            [public(expected_args=[{"a": [1]}]), public(expected_args=[{"a": [1], "b": 1}])],
            Layout(Form.PUBLIC),
            id="values-where-any-is-no-list",
        ),
        pytest.param(
            [public(expected_args=[{"a": 1}]), public(expected_args=[{"a": [1]}])],
            Layout(Form.PUBLIC),
            id="values-where-the-first-is-no-list",
        ),
        pytest.param(
            ["text", None, [1], public(expected=[1, {}])], Layout(Form.OWN), id="what-is-no-case-says-nothing"
        ),
    ],
)
def test_E3_the_layout_is_told_from_the_content(rows: list[Any], layout: Layout) -> None:
    finder = look(*rows)
    assert finder.finding("f") is None
    assert finder.layout() == layout


def test_E3_a_file_in_two_layouts_is_refused_with_both_lines() -> None:
    finding = look(NO_CALL, case(), public(), case()).finding("cases.jsonl")
    assert finding is not None
    assert (finding.rule, finding.place) == ("mixed-layouts", "cases.jsonl:3")
    assert "but line 2 is in toolbelt's own" in finding.message
