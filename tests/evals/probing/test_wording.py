"""What a probe came to, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evals.probing.probes import SAID, make_probe
from toolbelt.evals.probing.checks import CHECKS, title_of
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult, is_complete, reports_cache
from toolbelt.evals.probing.wording import cache_line, works_line

ONE = SAID["one_tool"]
WORKING = make_probe(checks=(ONE,), planned=("one_tool",))


@pytest.mark.parametrize(
    ("result", "line"),
    [
        pytest.param(WORKING, "1 of 1 works", id="all"),
        pytest.param(
            make_probe(),
            "1 of 6 works; in another way: parallel_calls; not: choice_named, tools_128 (too large); "
            "unknown: cached_tokens; 1 skipped",
            id="each-in-its-group",
        ),
        pytest.param(
            make_probe(without=tuple(SAID)[1:]), "1 of 6 works; 5 not made", id="what-was-not-made-is-no-failure"
        ),
        pytest.param(replace(WORKING, checks=()), "0 of 1 work; 1 not made", id="nothing-made"),
    ],
)
def test_the_line_says_what_works_and_what_does_not(result: ProbeResult, line: str) -> None:
    assert works_line(result) == line


def test_every_check_has_a_title_and_one_of_another_suite_its_key() -> None:
    assert [title_of(check.key) for check in CHECKS] == [check.title for check in CHECKS]
    assert title_of("of_next_year") == "of next year"


def test_whether_cached_tokens_are_reported_is_unknown_where_nothing_was_answered() -> None:
    silent = make_probe(checks=(replace(ONE, cached_read_tokens=None),))
    assert [reports_cache(one) for one in (WORKING, silent, replace(WORKING, checks=()))] == [True, False, None]
    assert cache_line(WORKING) == "cached tokens are reported: 0 read"
    assert cache_line(silent) == "cached tokens are not reported"


@pytest.mark.parametrize(
    ("result", "is_so"),
    [
        pytest.param(WORKING, True, id="all-made"),
        pytest.param(replace(WORKING, checks=(replace(ONE, outcome=CheckOutcome.FAILS),)), True, id="fails"),
        pytest.param(replace(WORKING, checks=(replace(ONE, outcome=CheckOutcome.UNKNOWN),)), False, id="unknown"),
        pytest.param(replace(WORKING, status="incomplete"), False, id="cap"),
        pytest.param(replace(WORKING, planned=("one_tool", "unicode")), False, id="not-made"),
    ],
)  # fmt: skip
def test_E9_complete_is_what_answers_every_check(result: ProbeResult, is_so: bool) -> None:
    assert is_complete(result) is is_so
