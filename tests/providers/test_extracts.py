"""Extracts of litellm's table: one value is found without reading the others, and says what the whole says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.providers.extracts import Extract, write_extract

STAMP = ["/table.json", 5, 7]
ANEW = {"m": 0, "other": 1}
names = st.text(max_size=6) | st.sampled_from(["m", "m/n", "n/m", '"m": ', "a\nm", "\ud800", "of", "values", "é\u2028"])
values = st.none() | st.integers() | st.lists(st.text(max_size=3) | st.none(), max_size=2)


def is_sound(value: object) -> bool:
    return value is None or isinstance(value, int | list)


def make_anew() -> Mapping[str, Any]:
    return ANEW


def refuse_anew() -> Mapping[str, Any]:
    raise AssertionError("nothing was spoilt")


@given(st.dictionaries(names, values, max_size=6), names)
def test_what_was_written_is_found_one_by_one_and_as_a_whole(kept: dict[str, Any], name: str) -> None:
    text = write_extract(STAMP, kept)
    assert Extract.is_of(text, STAMP) or not kept
    assert json.loads(text) == {"of": STAMP, "values": kept}
    one = Extract(text, is_sound, refuse_anew)
    assert (name in one, one.get(name)) == (name in kept, kept.get(name))
    assert {each: one[each] for each in kept} == kept
    assert dict(Extract(text, is_sound, refuse_anew)) == kept


@pytest.mark.parametrize("at", [1, 20, -1, -2, -3])
def test_what_is_cut_off_or_of_another_table_is_none(at: int) -> None:
    text = write_extract(STAMP, {"m": 1, "n": 2})
    assert Extract.is_of(text, STAMP)
    assert not Extract.is_of(text[:at], STAMP)
    assert not Extract.is_of(text, [*STAMP[:2], 8])
    assert not Extract.is_of("", STAMP)


@pytest.mark.parametrize(
    "wrong", ['"text"', "{}", "{", "", "[" * 100_000], ids=["text", "mapping", "cut", "none", "deep"]
)
def test_what_is_not_sound_is_made_anew_and_what_is_sound_stays(wrong: str) -> None:
    text = write_extract(STAMP, {"m": 5, "n": 6}).replace("5,", f"{wrong},")
    extract = Extract(text, is_sound, make_anew)
    assert extract["n"] == 6  # it was not looked at further than that
    assert extract["m"] == 0
    assert dict(extract) == ANEW
    assert "n" not in extract
    with pytest.raises(KeyError):
        extract["n"]


def test_one_value_of_thousands_is_found_without_reading_the_others() -> None:
    text = write_extract(STAMP, {str(number): [number] for number in range(5_000)})
    looked_at: list[object] = []

    def looks(value: object) -> bool:
        looked_at.append(value)
        return True

    extract = Extract(text, looks, refuse_anew)
    assert [extract["4999"], extract["4999"], extract.get("x")] == [[4999], [4999], None]
    assert looked_at == [[4999]]
    assert len(extract) == len(looked_at) - 1 == 5_000
