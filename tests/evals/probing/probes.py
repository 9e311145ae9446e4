"""Probes made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from toolbelt.evals.probing.checks import SUITE
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult

SAID: Mapping[str, CheckResult] = {
    "one_tool": CheckResult(
        "one_tool", CheckOutcome.WORKS, "It called get_weather as asked.", 1, 0, 60, 80, 20, 0, 0, 0.5, 0.001
    ),
    "parallel_calls": CheckResult(
        "parallel_calls", CheckOutcome.PARTLY, "It made one call, then the other.", 2, 0, 120, 200, 40, 0, 0, 1.2, 0.002
    ),
    "choice_named": CheckResult(
        "choice_named",
        CheckOutcome.FAILS,
        "It called get_weather and not get_time.",
        1,
        0,
        120,
        90,
        20,
        0,
        0,
        0.4,
        0.001,
    ),
    "tools_128": CheckResult(
        "tools_128",
        CheckOutcome.TOO_LARGE,
        "It is more than the context window holds.",
        1,
        0,
        9_000,
        latency_seconds=0.0,
    ),
    "tools_256": CheckResult("tools_256", CheckOutcome.SKIPPED, "128 tools were too many."),
    "cached_tokens": CheckResult("cached_tokens", CheckOutcome.UNKNOWN, "No answer came (timeout).", 1, 3),
}


def make_probe(model: str = "gpt-4o-mini", *, without: tuple[str, ...] = (), **changes: Any) -> ProbeResult:
    """A finished probe of six checks.

    Args:
        model: Its name.
        without: Keys of checks that were not made.
        changes: Fields that are otherwise.
    """
    made = ProbeResult(
        probe="20261121-233000-ab12",
        created="2026-11-21T23:30:05.123+00:00",
        model=model,
        status="finished",
        checks=tuple(check for key, check in SAID.items() if key not in without),
        planned=tuple(SAID),
        suite=SUITE,
        tokenizer="o200k_base",
        code={"toolbelt": "1.0"},
    )
    return replace(made, **changes)


_COUNTS = st.none() | st.integers(0, 10**6)
CHECKS = st.builds(
    CheckResult,
    key=st.text(min_size=1),
    outcome=st.sampled_from(CheckOutcome),
    said=st.text(),
    requests=st.integers(0, 9),
    prompt_tokens=_COUNTS,
    completion_tokens=_COUNTS,
    cached_read_tokens=_COUNTS,
    cached_write_tokens=_COUNTS,
    latency_seconds=st.floats(0, 1000),
    cost_usd=st.none() | st.floats(0, 1000),
)
PROBES = st.builds(
    ProbeResult,
    probe=st.text(),
    created=st.text(),
    model=st.text(),
    status=st.sampled_from(("running", "finished", "incomplete", "interrupted", "killed")),
    checks=st.lists(CHECKS, max_size=5, unique_by=lambda check: check.key).map(tuple),
    planned=st.lists(st.text(min_size=1), max_size=5, unique=True).map(tuple),
    reason=st.text(),
    api_base=st.none() | st.text(),
    open_requests=st.integers(0, 9),
    open_cost_usd=st.none() | st.floats(0, 1000),
    code=st.dictionaries(st.text(), st.text(), max_size=2),
)
"""Any, whatever a file may hold."""
