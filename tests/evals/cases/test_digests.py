from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.cases.samples import NAMES, case, public
from toolbelt.evals.cases.digests import DatasetDigest
from toolbelt.evals.cases.layout import Layout, LayoutKind
from toolbelt.evals.cases.references import LiteralNames, WrittenNames


def digest(*rows: Any, layout: Layout = Layout(LayoutKind.OWN)) -> str:  # noqa: B008
    made = DatasetDigest()
    for row in rows:
        parsed = layout.parse(row, LiteralNames())
        assert parsed.case is not None, parsed.findings
        made.add(parsed.case)
    return made.hexdigest()


CALL = {"tool": "git_push", "args": {"remote": "origin", "force": True}}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(
            {"expected": [{"args": {"force": True, "remote": "origin"}, "tool": ["git_push"]}]}, id="key-order"
        ),
        pytest.param({"match": "exact", "steps": 1, "accept": [], "cluster": "a"}, id="defaults-written-out"),
        pytest.param({"note": "n", "kind": "k", "tags": ["t"]}, id="what-only-sorts"),
    ],
)
def test_E7_the_digest_stays_where_cases_and_grading_do(other: dict[str, Any]) -> None:
    assert digest(case(expected=[CALL], **other) if "expected" not in other else case(**other)) == digest(
        case(expected=[CALL])
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"id": "b"}, id="id"),
        pytest.param({"query": "Send it."}, id="query"),
        pytest.param({"system": "s"}, id="system"),
        pytest.param({"expected": []}, id="no-call"),
        pytest.param({"expected": None}, id="any-call"),
        pytest.param({"expected": [{"tool": "git_push", "args": {"remote": "up", "force": True}}]}, id="argument"),
        pytest.param({"expected": [{**CALL, "args": {"remote": "origin", "force": 1}}]}, id="type-of-an-argument"),
        pytest.param({"expected": [{**CALL, "optional": ["force"]}]}, id="optional"),
        pytest.param({"expected": [{**CALL, "args_exact": True}]}, id="exact"),
        pytest.param({"expected": [CALL, CALL]}, id="a-repeat"),
        pytest.param({"accept": [[]]}, id="accept"),
        pytest.param({"forbidden": ["x"]}, id="forbidden"),
        pytest.param({"allowed_extra": ["x"]}, id="allowed-extra"),
        pytest.param({"match": "ordered"}, id="match"),
        pytest.param({"role": "developer"}, id="role"),
        pytest.param({"cluster": "c"}, id="cluster"),
        pytest.param({"offered": ["git_push"]}, id="offered"),
        pytest.param({"results": {"git_push": "x"}}, id="results"),
        pytest.param({"steps": 2}, id="steps"),
    ],
)
def test_E7_the_digest_moves_with_cases_and_grading(other: dict[str, Any]) -> None:
    assert digest(case(**{"expected": [CALL], **other})) != digest(case(expected=[CALL]))


@settings(deadline=None)
@given(st.permutations([case(id=name, query=name) for name in "abcde"]))
def test_E7_the_order_of_lines_is_no_matter(rows: list[Any]) -> None:
    assert digest(*rows) == digest(*sorted(rows, key=lambda row: str(row["id"])))


def test_E7_a_case_more_or_less_is_another_dataset() -> None:
    one, other = case(id="a"), case(id="b")
    assert len({digest(), digest(one), digest(other), digest(one, other)}) == 4


def test_E7_the_rules_by_which_arguments_are_compared_count() -> None:
    own = case(expected=[{"tool": "git_push", "args": {"remote": ["a", "b"]}, "args_exact": True}])
    row = public(expected_args=[{"remote": ["a", "b"]}])
    assert len({digest(own), *(digest(row, layout=Layout(LayoutKind.PUBLIC, lists)) for lists in (True, False))}) == 3


REFERENCES = ("git_push", "git/git_push", "git_log", "file/read", "web/read", "web/search", "search")


@settings(deadline=None)
@given(st.data())
def test_E7_the_digest_is_of_names_as_written_however_a_catalog_resolves_them(data: st.DataObject) -> None:
    name, names = st.sampled_from(REFERENCES), st.lists(st.sampled_from(REFERENCES), min_size=1, max_size=3)
    own = case(
        expected=[{"tool": tools} for tools in data.draw(st.lists(names, max_size=3))],
        allowed_extra=data.draw(names),
        offered=list(REFERENCES),
        results={data.draw(name): "done"},
    )
    labels = data.draw(names)
    imported = public(expected=labels, offered=data.draw(st.sampled_from((None, [], list(REFERENCES), labels))))
    for row, layout in ((own, Layout(LayoutKind.OWN)), (imported, Layout(LayoutKind.PUBLIC))):
        reading = WrittenNames(NAMES)
        parsed = layout.parse(row, reading)
        if parsed.case is not None and reading.written is not None:
            made = DatasetDigest()
            made.add(parsed.case, reading.written)
            assert made.hexdigest() == digest(row, layout=layout)


def test_E7_a_tool_under_two_of_its_names_has_no_one_written_name() -> None:
    for row in (
        case(expected=[{"tool": ["git_push"]}, {"tool": "git/git_push"}]),
        public(expected=["read"], offered=["file/read", "web/read"]),
    ):
        reading = WrittenNames(NAMES)
        layout_kind = LayoutKind.OWN if isinstance(row["expected"][0], dict) else LayoutKind.PUBLIC
        assert Layout(layout_kind).parse(row, reading).case is not None
        assert reading.written is None
