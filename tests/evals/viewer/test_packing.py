from __future__ import annotations

import math
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.viewer.reading import unpacked
from toolbelt.evals.viewer.packing import LONGEST_TEXT, Numbered, cut, number, pack

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_packed_comes_out_as_it_was_half_surrogates_too(value: Any) -> None:
    packed = pack(value)
    assert unpacked(packed) == value
    assert set(packed) <= set(string.ascii_letters + string.digits + "+/=")
    assert pack(value) == packed


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError):
        pack([math.nan])


def test_a_long_text_is_cut_and_says_so() -> None:
    assert cut("a" * LONGEST_TEXT) == "a" * LONGEST_TEXT
    told = cut("a" * (LONGEST_TEXT + 1_234))
    assert told.startswith("a" * LONGEST_TEXT + "\n[… 1,234 more")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None), (0, 0), (3, 3), (0.1 + 0.2, 0.3), (math.inf, None), (math.nan, None), (2**53, 2**53),
        (2**53 + 1, None), (1.5e-7, 1.5e-7),
    ],
)  # fmt: skip
def test_figures_are_those_that_a_browser_reads_as_they_are(value: float | None, kept: float | None) -> None:
    assert number(value) == kept


def test_strings_are_kept_once_in_order() -> None:
    names = Numbered()
    assert [names.number(text) for text in ("b", "a", "b", "")] == [0, 1, 0, 2]
    assert names.strings == ["b", "a", ""]
    assert "a" in names
    assert "c" not in names
    assert len(names) == 3
