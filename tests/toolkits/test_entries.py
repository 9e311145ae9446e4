"""Which entry is heard about a tool that several mean (rules D1, D6)."""

from __future__ import annotations

import pytest

from toolbelt.toolkits.entries import heard, widest_first

MATCHED = {"git": ("status", "push", "pull"), "git/pu*": ("push", "pull"), "git/push": ("push",), "push": ("push",)}


@pytest.mark.parametrize(
    ("entries", "push"),
    [
        pytest.param(("git", "git/pu*", "git/push"), "git/push", id="the-narrowest"),
        pytest.param(("git/push", "git/pu*", "git"), "git/push", id="wherever-it-stands"),
        pytest.param(("git/push", "git", "push"), "push", id="of-two-as-narrow-the-last"),
        pytest.param(("git",), "git", id="one-alone"),
    ],
)
def test_D1_the_narrowest_entry_is_heard_and_of_those_the_last(entries: tuple[str, ...], push: str) -> None:
    assert heard({entry: entry for entry in entries}, MATCHED)["push"] == push
    assert widest_first(entries, MATCHED)[-1] == push


def test_D1_what_is_said_reaches_every_tool_of_an_entry_and_no_other() -> None:
    assert heard({"git/pu*": 1, "git/push": 2}, MATCHED) == {"push": 2, "pull": 1}
    assert heard({"none": 1}, {"none": ()}) == {}
