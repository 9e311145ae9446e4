"""Cases as they are kept beside their trials."""

from __future__ import annotations

from tests.evals.running.agents import make_case
from toolbelt.catalog.frozen import freeze
from toolbelt.evals.cases.case import ExpectedArguments, ExpectedCall, Matching
from toolbelt.evals.running.records import format_case, parse_case


def test_what_was_asked_and_what_was_right_comes_back() -> None:
    arguments = ExpectedArguments(freeze({"path": ("a", {"b": [1]})}), frozenset({"path"}))
    case = make_case(
        messages=(freeze({"role": "user", "content": "half a pair: \ud800, \x1b[31m"}),),
        expected=(ExpectedCall(("files/read", "files/list"), arguments),),
        accept=((),),
        forbidden=frozenset({"net/ping"}),
        match=Matching.SUPERSET,
        role="developer",
    )
    assert parse_case(format_case(case)) == {
        "messages": [{"role": "user", "content": "half a pair: \ud800, \x1b[31m"}],
        "answers": [
            [{"tools": ["files/read", "files/list"], "args": {"path": ["a", {"b": [1]}]}, "optional": ["path"]}],
            [],
        ],
        "match": "superset",
        "forbidden": ["net/ping"],
        "role": "developer",
    }


def test_any_call_is_no_answer_and_no_call_is_one() -> None:
    assert parse_case(format_case(make_case(expected=None)))["answers"] is None
    assert parse_case(format_case(make_case()))["answers"] == [[]]
