"""What holds of every shipped reducer, whatever a tool returned (rule R5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shipped import SHIPPED_REDUCERS
from toolbelt.runtime.results import FailureCode, ToolResult

PIECES = st.sampled_from(
    [
        *(
            "On branch main\n",
            "Untracked files:\n",
            "\tx\n",
            "?? a\n",
            "R  a -> b\n",
            '"',
            "\\",
            "## a...b [ahead 1]\n",
        ),
        *("=== 3 passed in 0.1s ===\n", "a::b PASSED [ 1%]\n", "error: x\n", "ok  \tx\t0.1s\n", "Collecting a\n"),
        *("\x1b[31m", "\r", "\r\n", "\0", "\n", "x" * 3_000, "line\n" * 300, "é🙂", "\ud800", "# branch.oid a\n"),
        *('[{"status":"open"},', '{"a":1}]', "[reduced: ", " 0 errors", "E   assert\n"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=14) | st.dictionaries(st.sampled_from(["id", "status", "a"]), inner),
)
COMMANDS = st.sampled_from(["git status", "git status -s", "pytest", "pip install x", "cat a", "make", "'", "a && b"])
ARGS = st.fixed_dictionaries({}, optional={"command": COMMANDS | TEXTS | JSON, "lines": JSON, "offset": JSON})


@settings(max_examples=100, deadline=None)
@given(value=TEXTS | JSON.map(json.dumps), structured=JSON, args=ARGS)
def test_R5_nothing_raises_grows_or_touches_anything_but_the_value(
    value: str, structured: Any, args: dict[str, Any]
) -> None:
    result = ToolResult(True, value, structured=structured, cost_usd=0.5, printed="p")
    for name, reducer in SHIPPED_REDUCERS.items():  # to draw an example takes longer than to reduce it
        note(f"by the reducer {name!r}")
        made = reducer.reduce(result, ReduceInfo(args))
        assert len(made.value) <= len(value)
        assert replace(made, value=value, structured=None) == replace(result, structured=None)
        assert made.structured is result.structured
        if made.value != value:
            assert "[reduced: " in made.value
        assert reducer.reduce(made, ReduceInfo(args)) == made


@given(value=TEXTS, error=TEXTS, args=ARGS)
def test_R5_of_a_failed_command_value_and_error_get_shorter(value: str, error: str, args: dict[str, Any]) -> None:
    result = replace(ToolResult.failure(FailureCode.EXECUTION_FAILED, error), value=value, cost_usd=0.5, printed="p")
    made = SHIPPED_REDUCERS["terminal"].reduce(result, ReduceInfo(args))
    assert (len(made.value) <= len(value), len(made.text) <= len(error)) == (True, True)
    assert replace(made, value=value, error=error) == result
    assert SHIPPED_REDUCERS["terminal"].reduce(made, ReduceInfo(args)) == made


@pytest.mark.parametrize("name", sorted(SHIPPED_REDUCERS.keys() - {"terminal"}))
def test_R5_a_failure_of_another_tool_passes_as_it_is(name: str) -> None:
    failed = replace(ToolResult.failure(FailureCode.TIMEOUT, "x\n" * 9_000), value="x\n" * 9_000)
    assert SHIPPED_REDUCERS[name].reduce(failed, ReduceInfo({})) is failed


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param("x", id="one-line"),
        pytest.param("\n", id="blank-lines"),
        pytest.param("\x1b[", id="half-escapes"),
        pytest.param("a\r", id="progress"),
        pytest.param("0 errors ", id="errors-that-are-none"),
        pytest.param("a::b PASSED (", id="half-of-a-test"),
        pytest.param(" [", id="brackets"),
        pytest.param(" -> ", id="arrows"),
        pytest.param("On branch main\n", id="beginnings"),
    ],
)
@pytest.mark.parametrize(
    "command", ["", "pytest", "git status -sb", "pip install a", "cargo test", "python -m unittest", "npm test"]
)
def test_R5_a_megabyte_takes_time_by_its_size(piece: str, command: str, counted: Callable[..., int]) -> None:
    """Ten times as much must not take a hundred times as long; even the slowest takes less than thirty."""
    small = counted(piece * (30_000 // len(piece)), command)
    limit = 30 * max(small, 1_000_000)
    assert counted(piece * (300_000 // len(piece)), command, limit) < limit


@pytest.fixture
def counted() -> Callable[..., int]:
    """Nanoseconds of processor time, the least of three; the first that is few enough will do."""
    import time

    def count(text: str, command: str, enough: int = 0) -> int:
        info, result = ReduceInfo({"command": command}), ToolResult(True, "## a..." + text)
        taken = []
        for _ in range(3):
            began = time.process_time_ns()
            SHIPPED_REDUCERS["terminal"].reduce(result, info)
            taken.append(time.process_time_ns() - began)
            if taken[-1] < enough:
                break
        return min(taken)

    return count
