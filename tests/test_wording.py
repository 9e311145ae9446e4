"""The helper that looks for data in a message finds whole words and numbers only."""

from __future__ import annotations

import re

import pytest

from tests.wording import each_mentions, mentions, naming

TEXT = "tools.yaml:3: error: No tool named 'git_psh'. Did you mean 'git_push'?\n2 of 20 were kept, 1.5 (--force)."


@pytest.mark.parametrize(
    "data",
    [
        ("git_psh", "git_push", "tools.yaml:3: error"),
        (2, 20, "2 of 20", "1.5", "--force"),
        ("'git_push'", ("kept", ("No tool",))),
        (),
    ],
)
def test_data_in_any_order_and_over_lines(data: tuple[object, ...]) -> None:
    assert mentions(TEXT, *data)
    assert mentions(ValueError(TEXT), data)
    assert re.search(naming(*data), TEXT)


@pytest.mark.parametrize(
    "datum", ["git", "git_pus", "tools.yaml:30", 1, 5, "2 of 2", "0", "tool named git", "GIT_PUSH"]
)
def test_parts_of_words_and_of_numbers_are_no_data(datum: object) -> None:
    assert not mentions(TEXT, datum)
    assert not mentions(TEXT, ("git_push", datum)), "one datum that is missing is enough"


def test_each_text_its_own_data() -> None:
    assert each_mentions(["a 1", "b 2"], "a", ("b", 2))
    assert not each_mentions(["a 1", "b 2"], "b", "a")
    assert not each_mentions(["a 1", "b 2"], "a")
    assert not mentions(None, "a")
