"""The counts of real releases that are kept, and what docs/ci.md says of them."""

from __future__ import annotations

import pytest

from tests.catalog.gate.page import PAGE, describe_pairs
from tests.catalog.gate.releases import read_pairs


@pytest.mark.parametrize("is_held_out", [False, True], ids=["tuning", "held-out"])
def test_the_page_says_what_was_counted(is_held_out: bool) -> None:
    assert describe_pairs(is_held_out=is_held_out) in PAGE.read_text(encoding="utf-8")


def test_at_most_one_real_change_in_twenty_is_a_false_alarm() -> None:
    held_out = [pair for pair in read_pairs() if pair.is_held_out]
    changed = sum(pair.changed for pair in held_out)
    assert changed >= 200
    assert sum(pair.alarmed for pair in held_out) <= 0.05 * changed
