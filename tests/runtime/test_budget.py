"""How long results may be (rule R4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.runtime.budget import cap_of, cut, cut_text, share_of
from toolbelt.runtime.results import FailureCode, ToolResult


@pytest.mark.parametrize(
    ("total", "calls", "share"),
    [
        pytest.param(80_000, 1, 80_000, id="one-call-has-it-all"),
        pytest.param(80_000, 0, 80_000, id="no-call-is-no-division-by-zero"),
        pytest.param(100, 3, 33, id="rounded-down"),
        pytest.param(2, 3, 0, id="less-than-one-each-is-none"),
        pytest.param(0, 2, 0, id="nothing-is-nothing-each"),
    ],
)
def test_R4_the_budget_is_shared_evenly(total: int, calls: int, share: int) -> None:
    assert share_of(total, calls) == share


@pytest.mark.parametrize(("own", "cap"), [(None, 100), (50, 50), (0, 0), (500, 100)])
def test_R4_a_tool_may_lower_its_cap(own: int | None, cap: int) -> None:
    assert cap_of(100, own) == cap


@pytest.mark.parametrize(
    ("text", "cap", "left"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc\n[truncated — 4 chars total]"),
        ("abcd", 0, "\n[truncated — 4 chars total]"),
        ("", 0, ""),
        ("x" * 12_345, 1, "x\n[truncated — 12345 chars total]"),
    ],
)
def test_R4_a_cut_text_says_how_long_it_was(text: str, cap: int, left: str) -> None:
    assert cut_text(text, cap) == left


def test_R4_errors_are_cut_to_the_same_cap_and_the_rest_survives() -> None:
    failed = ToolResult(False, "also long", "very long", FailureCode.TIMEOUT, [1], 0.5, "printed text")
    assert cut(failed, 4) == ToolResult(
        False,
        "also\n[truncated — 9 chars total]",
        "very\n[truncated — 9 chars total]",
        FailureCode.TIMEOUT,
        [1],
        0.5,
        "printed text",
    )


@given(st.text(), st.integers(0, 50))
def test_R4_what_fits_is_left_alone(text: str, cap: int) -> None:
    result = ToolResult(True, text)
    assert (cut(result, cap) is result) is (len(text) <= cap)
