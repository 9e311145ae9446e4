"""What the TypeScript SDK's client refuses of a tool, with which the whole list is refused (rule M7)."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.catalog.mcp_tools import mend_tools, with_object_output

OBJECT = {"type": "object"}
GOOD = {"name": "good", "inputSchema": OBJECT}
MENDED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    **{key: ({key: None}, {}, f"null as `{key}`") for key in ("title", "description", "annotations", "icons")},
    **{key: ({key: None}, {}, f"null as `{key}`") for key in ("outputSchema", "execution", "_meta")},
    "title-number": ({"title": 1}, {}, "wrong type as `title`"),
    "icons-without-source": ({"icons": [{"sizes": ["1x1"]}]}, {}, "`icons`"),
    "meta-list": ({"_meta": []}, {}, "`_meta`"),
    "execution": ({"execution": {"taskSupport": "maybe"}}, {}, "`execution`"),
    "output-boolean": ({"outputSchema": True}, {}, "`outputSchema`"),
    "hint": (
        {"annotations": {"title": None, "readOnlyHint": True, "own": None}},
        {"annotations": {"readOnlyHint": True, "own": None}},
        "null as `annotations.title`",
    ),
    "hint-text": ({"annotations": {"readOnlyHint": "yes"}}, {"annotations": {}}, "`annotations.readOnlyHint`"),
    "no-properties": ({"inputSchema": {**OBJECT, "properties": None}}, {}, "null as `inputSchema.properties`"),
    "no-required": ({"inputSchema": {**OBJECT, "required": None}}, {}, "null as `inputSchema.required`"),
    "boolean-properties": (
        {"inputSchema": {**OBJECT, "properties": {"a": True, "b": False, "c": {"type": "string"}}}},
        {"inputSchema": {**OBJECT, "properties": {"a": {}, "b": {"not": {}}, "c": {"type": "string"}}}},
        "`true` or `false`",
    ),
    "boolean-results": (
        {"outputSchema": {**OBJECT, "properties": {"a": True}}},
        {"outputSchema": {**OBJECT, "properties": {"a": {}}}},
        "`outputSchema.properties`",
    ),
}
LEFT_OUT: dict[str, dict[str, Any]] = {
    "NaN": {"default": float("nan")},
    "infinite": {"maximum": float("inf")},
    "required-text": {"required": "a"},
    "required-numbers": {"required": [1]},
    "properties-list": {"properties": []},
    "property-null": {"properties": {"a": None}},
    "property-text": {"properties": {"a": "string"}},
}


@pytest.mark.parametrize("name", MENDED)
def test_M7_what_means_nothing_is_left_out_and_the_rest_stays(name: str) -> None:
    given, expected, words = MENDED[name]
    tools, notes = mend_tools([{**GOOD, **given}, GOOD])
    assert tools == [{**GOOD, **expected}, GOOD]
    assert len(notes) == 1
    assert "lists 'good' with" in notes[0]
    assert words in notes[0]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_M7_a_tool_whose_schema_has_no_meaning_is_left_out_and_named(name: str) -> None:
    tools, notes = mend_tools([{"name": "bad", "inputSchema": {**OBJECT, **LEFT_OUT[name]}}, GOOD])
    assert tools == [GOOD]
    assert len(notes) == 1
    assert "lists 'bad', which is left out" in notes[0]


def test_M7_many_tools_with_the_same_are_one_note() -> None:
    entries = [{"name": f"t{number}", "inputSchema": OBJECT, "title": None} for number in range(1200)]
    assert mend_tools(entries)[1] == ["lists 't0' and 1,199 more tools with null as `title`, which is left out"]


def test_M7_an_output_schema_is_of_an_object_for_clients_before_2026() -> None:
    assert with_object_output({**GOOD, "outputSchema": {"type": "array"}}) == GOOD
    assert with_object_output({**GOOD, "outputSchema": {"properties": {}}})["outputSchema"] == {
        **OBJECT,
        "properties": {},
    }
    assert with_object_output(GOOD) is GOOD
