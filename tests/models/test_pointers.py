"""JSON Pointers, and references within a document; the cases of RFC 6901, sections 5 and 6."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.models.pointers import find_referred, follow, format_pointer, format_reference, parse_pointer

RFC: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
CASES = [
    ("", RFC),
    ("/foo", ["bar", "baz"]),
    ("/foo/0", "bar"),
    ("/", 0),
    ("/a~1b", 1),
    ("/c%d", 2),
    ("/e^f", 3),
    ("/g|h", 4),
    ("/i\\j", 5),
    ('/k"l', 6),
    ("/ ", 7),
    ("/m~0n", 8),
]


@pytest.mark.parametrize(("pointer", "value"), CASES)
def test_pointers_lead_where_the_rfc_says(pointer: str, value: Any) -> None:
    assert follow(RFC, parse_pointer(pointer)) == value
    assert format_pointer(parse_pointer(pointer)) == pointer


def test_what_begins_with_no_slash_is_no_pointer() -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        parse_pointer("foo")


@pytest.mark.parametrize("name", ["a b", "a/b", "a~b", "50%", "a%20b", "\u00e9", "^$", ""])
def test_a_reference_leads_back_to_its_place(name: str) -> None:
    root = {"properties": {name: {"type": "string"}}}
    assert find_referred(root, format_reference(("properties", name))) == (("properties", name), {"type": "string"})


@pytest.mark.parametrize("reference", ["#/gone", "#anchor", "https://example.com#/a", "#/list/7", "#/list/x", "#/text"])
def test_what_is_not_there_is_not_found(reference: str) -> None:
    assert find_referred({"list": [{}], "text": "x"}, reference) is None
