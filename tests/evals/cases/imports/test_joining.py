from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.cases.imports.joining import Joined

_JSON = st.none() | st.integers() | st.text() | st.lists(st.text(), max_size=3)


@given(st.lists(st.tuples(st.text(max_size=2), _JSON), max_size=20))
def test_E3_what_was_kept_is_found_again(pairs: list[tuple[str, Any]]) -> None:
    kept = Joined()
    expected: dict[str, Any] = {}
    for key, value in pairs:
        kept.add(key, value)
        expected.setdefault(key, value)
    assert (len(kept), kept.unclaimed, kept.repeated) == (len(expected), len(expected), len(pairs) - len(expected))
    for number, (key, value) in enumerate(expected.items(), start=1):
        assert kept.find(key) == (value,)
        assert kept.unclaimed == len(expected) - number
    assert kept.find("longer than any") is None
