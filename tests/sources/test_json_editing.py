"""A JSON text is changed in one object; everything else stays as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.sources import blank_comments, parse_json
from toolbelt.sources.json_editing import edit_object

COMMENTED = """{
    // what I use
    "mcpServers": {
        "git": { // version control
            "command": "git-server", // inside
            "args": ["a"]
        },
        /* before files */
        "files": {"command": "files"}, // after files
        "web": {"url": "http://x//y"}
    },
    "theme": "dark" // mine
}
"""


def test_comments_and_layout_stay() -> None:
    edited = edit_object(COMMENTED, ["mcpServers"], remove={"git", "web"}, key="new", value={"command": "x"})
    assert (
        edited
        == """{
    // what I use
    "mcpServers": {
        "new": {
            "command": "x"
        },
        /* before files */
        "files": {"command": "files"} // after files
    },
    "theme": "dark" // mine
}
"""
    )


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param("{}", ["a"], '{\n  "a": {\n    "k": 1\n  }\n}', id="empty"),
        pytest.param('{"a": {}}', ["a"], '{"a": {\n  "k": 1\n}}', id="an-empty-object-on-one-line"),
        pytest.param('{\n\t"b": 1\n}\n', ["a"], '{\n\t"a": {\n\t\t"k": 1\n\t},\n\t"b": 1\n}\n', id="tabs"),
        pytest.param('{\r\n "b": 1\r\n}', ["a"], '{\r\n "a": {\r\n  "k": 1\r\n },\r\n "b": 1\r\n}', id="line-ends"),
        pytest.param('{\n  "x": 1\n}', [], '{\n  "k": 1\n}', id="the-only-member-is-replaced"),
        pytest.param('{\n  "x": 1,\n  "y": 2\n}', [], '{\n  "k": 1,\n  "y": 2\n}', id="the-first"),
        pytest.param('{\n  "y": 2,\n  "x": 1\n}', [], '{\n  "k": 1,\n  "y": 2\n}', id="the-last"),
        pytest.param('{\n  "y": 2,\n  "x": 1,\n}', [], '{\n  "k": 1,\n  "y": 2,\n}', id="a-comma-after-the-last-stays"),
    ],
)
def test_a_member_takes_the_place_of_another(text: str, path: list[str], expected: str) -> None:
    assert edit_object(text, path, remove={"x"}, key="k", value=1) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c", '"}', "//"]), VALUES, max_size=5),
    st.sets(st.sampled_from(["a", "b", "c", '"}', "//"])),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
)
def test_the_data_is_that_of_a_dict_so_changed(
    members: dict[str, Any], remove: set[str], indent: Any, below: bool
) -> None:
    data = {"x": [1], "servers": members, "z": "{"} if below else members
    text = json.dumps(data, indent=indent)
    edited = json.loads(edit_object(text, ["servers"] if below else [], remove=remove, key="new", value={"v": [1]}))
    changed = {"new": {"v": [1]}} | {key: value for key, value in members.items() if key not in remove}
    assert edited == ({"x": [1], "servers": changed, "z": "{"} if below else changed)


@given(st.sets(st.sampled_from(["git", "files", "web"])))
def test_a_text_with_comments_can_be_read_afterwards(remove: set[str]) -> None:
    edited = edit_object(COMMENTED, ["mcpServers"], remove=remove, key="new", value=1)
    servers = parse_json(blank_comments(edited), "x").data["mcpServers"]
    assert set(servers) == {"new", "git", "files", "web"} - remove
    assert "// what I use" in edited
    assert "/* before files */" in edited
