from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.cases.imports import json_array as elements
from toolbelt.evals.cases.imports.json_array import read_elements

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(params=[1, 7, 4096])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that are read at once."""
    monkeypatch.setattr(elements, "_CHUNK", request.param)
    return int(request.param)


@pytest.mark.parametrize("indent", [None, 2])
def test_E3_an_array_read_bit_by_bit_is_the_array(chunk: int, indent: int | None) -> None:
    @given(st.lists(_JSON, max_size=6))
    def law(values: list[Any]) -> None:
        raw = json.dumps(values, ensure_ascii=False, indent=indent).encode(errors="replace")
        read = list(read_elements(io.BytesIO(raw), "a.json"))
        assert [data for _, data, _ in read] == json.loads(raw)
        assert all(findings == () for _, _, findings in read)

    law()


def test_E3_elements_know_their_lines() -> None:
    raw = b'[\n  {"a": 1},\n\n  {\n "a": 2, "a": 3},\n {"b": "\\ud800"}]\n'
    read = list(read_elements(io.BytesIO(raw), "a.json"))
    assert [line for line, _, _ in read] == [2, 4, 6]
    assert [[(one.rule, one.line) for one in findings] for _, _, findings in read] == [
        [],
        [("duplicate-key", 5)],
        [("bad-character", 6)],
    ]


@pytest.mark.parametrize(
    ("raw", "line", "count"),
    [
        pytest.param(b'[{"a": 1},\n{"a": ', 2, 1, id="cut-off"),
        pytest.param(b'[{"a": 1}\n{"a": 2}]', 2, 1, id="no-comma"),
        pytest.param(b'[{"a": 1}]\n{"a": 2}', 2, 1, id="something-after-the-end"),
        pytest.param(b'[{"a": 1},\n' + b"[" * 200_000, 2, 1, id="too-deep"),
        pytest.param(b'[{"a": 1},\n\n]', 3, 1, id="a-comma-too-many"),
        pytest.param(b'[{"a": 1},\n{"a": "\xff"}]', 1, 0, id="not-utf8"),
    ],
)
def test_E3_after_what_is_no_json_nothing_is_guessed(raw: bytes, line: int, count: int) -> None:
    *sound, (told, _, findings) = read_elements(io.BytesIO(raw), "a.json")
    assert (len(sound), told, len(findings)) == (count, line, 1)


def test_E3_an_element_without_an_end_in_reach_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements, "MAX_LINE", 1000)
    monkeypatch.setattr(elements, "_CHUNK", 100)
    handle = io.BytesIO(b'["' + b"x" * 1_000_000)
    ((_, _, findings),) = read_elements(handle, "a.json")
    assert len(findings) == 1
    assert handle.tell() < 5000


def test_E3_how_much_of_an_array_was_not_read_is_said() -> None:
    rest = b" 7 {}, 8]"
    *_, (_, _, (finding,)) = read_elements(io.BytesIO(b'[{"a": 1},{}' + rest), "a.json")
    assert f"about {len(rest) - 1} bytes" in finding.message
