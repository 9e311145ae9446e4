from __future__ import annotations

from typing import Any

import pytest

from tests.evals.cases.samples import NAMES, case, public
from toolbelt.evals.cases.layout import Layout, LayoutDetector, LayoutKind
from toolbelt.findings import Severity


def add_line(*rows: Any, has_imported_catalog: bool = False) -> LayoutDetector:
    finder = LayoutDetector(has_imported_catalog=has_imported_catalog)
    for number, row in enumerate(rows, start=1):
        finder.add_line(row, number)
    return finder


NO_CALL = case(expected=[])
WITH_ARGS = public(expected_args=[{"a": [1]}])


@pytest.mark.parametrize(
    ("rows", "layout"),
    [
        pytest.param([case()], Layout(LayoutKind.OWN), id="calls-are-objects"),
        pytest.param([NO_CALL, case(expected=None)], Layout(LayoutKind.OWN), id="ones-own-where-nothing-tells"),
        pytest.param([case(expected=[], accept=[[]])], Layout(LayoutKind.OWN), id="keys-that-grade"),
        pytest.param([case(), public()], Layout(LayoutKind.OWN), id="a-name-among-calls-is-a-mistake"),
        pytest.param(
            [case(expected=None, expected_any_of=["x"])], Layout(LayoutKind.PUBLIC), id="a-key-of-the-imported-one"
        ),
        pytest.param(
            [public(), public(expected_ids=[["x"]])], Layout(LayoutKind.PUBLIC), id="one-such-line-tells-for-all"
        ),
        pytest.param(
            [WITH_ARGS, case(), case()], Layout(LayoutKind.OWN, lists=True), id="of-both-that-of-more-lines-own"
        ),
        pytest.param(
            [WITH_ARGS, WITH_ARGS, case()], Layout(LayoutKind.PUBLIC, lists=True), id="of-both-that-of-more-lines"
        ),
        pytest.param(
            [WITH_ARGS, public(expected_args=[{}])],
            Layout(LayoutKind.PUBLIC, lists=True),
            id="lists-where-every-value-is-one",
        ),
        pytest.param(
            [WITH_ARGS, public(expected_args=[{"a": [1], "b": 1}])],
            Layout(LayoutKind.PUBLIC),
            id="values-where-any-is-no-list",
        ),
        pytest.param(
            [public(expected_args=[{"a": 1}]), WITH_ARGS],
            Layout(LayoutKind.PUBLIC),
            id="values-where-the-first-is-no-list",
        ),
        pytest.param(
            ["text", None, [1], public(expected=[1, {}])], Layout(LayoutKind.OWN), id="what-is-no-case-says-nothing"
        ),
    ],
)
def test_E3_the_layout_is_told_from_the_content(rows: list[Any], layout: Layout) -> None:
    finder = add_line(*rows)
    assert finder.finding("f") is None
    assert finder.layout() == layout


@pytest.mark.parametrize(
    ("rows", "form"),
    [
        pytest.param([NO_CALL, public()], LayoutKind.PUBLIC, id="bare-names"),
        pytest.param([case(expected=[], subset="live")], LayoutKind.PUBLIC, id="a-key-of-the-source"),
        pytest.param([public(), case()], LayoutKind.OWN, id="a-call-says-otherwise"),
        pytest.param([NO_CALL, case(expected=[], forbiden=["x"])], LayoutKind.OWN, id="a-slip-is-no-key-of-the-source"),
        pytest.param([NO_CALL, case(expected=[], match="superset")], LayoutKind.OWN, id="nor-is-a-key-of-ones-own"),
    ],
)
def test_E3_beside_a_catalog_of_lines_a_file_may_be_imported(rows: list[Any], form: LayoutKind) -> None:
    finder = add_line(*rows, has_imported_catalog=True)
    assert (finder.layout().kind, finder.finding("f")) == (form, None)


def test_E3_bare_names_that_nothing_says_are_imported_are_ones_own_mistake() -> None:
    finder = add_line(NO_CALL, public(), public(subset="x"))
    finding = finder.finding("cases.jsonl")
    assert finder.layout().kind is LayoutKind.OWN
    assert finding is not None
    assert (finding.rule, finding.severity, finding.place) == ("bare-names", Severity.ERROR, "cases.jsonl:2")
    assert 'write {"tool": NAME}' in finding.message
    assert "catalog.jsonl beside it" in finding.message


@pytest.mark.parametrize(
    ("form", "row", "rules"),
    [
        pytest.param(LayoutKind.OWN, WITH_ARGS, ["mixed-layouts"], id="imported-in-ones-own"),
        pytest.param(
            LayoutKind.OWN,
            public(expected_ids=[3], steps=3),
            ["mixed-layouts", "own-key", "wrong-type"],
            id="with-its-own",
        ),
        pytest.param(LayoutKind.PUBLIC, case(), ["mixed-layouts"], id="ones-own-in-imported"),
        pytest.param(
            LayoutKind.PUBLIC, case(match="x"), ["mixed-layouts", "unknown-match"], id="with-its-own-mistakes"
        ),
        pytest.param(LayoutKind.OWN, public(), ["wrong-type"], id="a-name-in-ones-own"),
        pytest.param(
            LayoutKind.OWN, case(expected=["git_psh"]), ["wrong-type", "unknown-tool"], id="a-name-that-is-no-tool"
        ),
    ],
)
def test_E3_a_line_of_the_other_layout_is_refused_with_all_that_is_wrong_with_it(
    form: LayoutKind, row: Any, rules: list[str]
) -> None:
    parsed = Layout(form).parse(row, NAMES)
    assert (parsed.case, parsed.excluded) == (None, None)
    assert [finding.rule for finding in parsed.findings] == rules
    assert all(finding.severity is Severity.ERROR for finding in parsed.findings)
