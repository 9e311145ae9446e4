"""The numbers that a run takes: one table, for Python and for the command line."""

from __future__ import annotations

import click
import pytest

from toolbelt.evals.cli.run import resume, run
from toolbelt.evals.running.plan import SETTING_RANGES
from toolbelt.evals.running.ranges import Range
from toolbelt.evals.running.rounds import MARGINS
from toolbelt.evals.setup.asking import EXECUTION_RANGES

FIELDS = {"limit": "filter.limit", "temperature": "sampling.temperature", "max_tokens": "sampling.max_tokens"} | {
    "timeout": "timeout_seconds",
    "max_cost": "max_cost_usd",
}
"""Fields whose option is not called as they are."""


@pytest.mark.parametrize(
    ("command", "ranges"),
    [(run, {**SETTING_RANGES, **EXECUTION_RANGES, "margin": MARGINS}), (resume, EXECUTION_RANGES)],
    ids=["run", "resume"],
)
def test_E9_the_command_line_allows_the_numbers_that_the_library_allows(
    command: click.Command, ranges: dict[str, Range]
) -> None:
    types = {
        FIELDS.get(str(option.name), str(option.name)): option.type
        for option in command.params
        if isinstance(option.type, click.IntRange | click.FloatRange)
    }
    assert {
        name: (type_.min, type_.max, type_.min_open, isinstance(type_, click.IntRange)) for name, type_ in types.items()
    } == {name: (each.low, each.high, each.is_low_open, each.is_whole) for name, each in ranges.items()}


@pytest.mark.parametrize(
    ("allowed", "text"),
    [
        (Range(1), "a whole number at least 1"),
        (Range(1, 1000), "a whole number at least 1 and at most 1000"),
        (Range(0, is_low_open=True, is_whole=False), "a number above 0"),
        (Range(0, is_whole=False, is_optional=True), "a number at least 0, or None"),
        (Range(), "a whole number"),
    ],
)
def test_a_range_describes_itself(allowed: Range, text: str) -> None:
    assert str(allowed) == text
