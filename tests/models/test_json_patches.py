"""Where two documents differ, and the way from one back to the other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.models.json_patches import find_differences, make_patch, restore_definition
from toolbelt.models.schema_parts import Place

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "a/b", "~"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "a/b", "~", ""]), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(sent=VALUES, own=VALUES)
def test_a_patch_leads_from_anything_to_anything(sent: Any, own: Any) -> None:
    before = json.dumps(sent)
    patch = json.loads(json.dumps(make_patch(sent, own, {})))
    assert json.dumps(restore_definition(sent, patch), sort_keys=True) == json.dumps(own, sort_keys=True)
    assert json.dumps(sent) == before
    assert (patch == []) == (json.dumps(sent, sort_keys=True) == json.dumps(own, sort_keys=True))


@pytest.mark.parametrize(("was", "now"), [(1, True), (1, 1.0), (0, False), (None, False), ("1", 1), ([], {})])
def test_what_python_takes_for_alike_is_told_apart(was: Any, now: Any) -> None:
    (one,) = find_differences({"a": was}, {"a": now})
    assert (one.place, one.was, one.now) == (("a",), was, now)


def test_a_patch_is_one_of_rfc_6902() -> None:
    sent = {"properties": {"a_b": {"type": "string"}}, "gone": 1, "list": [1, 2]}
    own = {"properties": {"a/b": {"type": "string"}}, "list": [1, 3], "new": None}
    moved: dict[Place, Place] = {("properties", "a_b"): ("properties", "a/b")}
    assert make_patch(sent, own, moved) == [
        {"op": "move", "from": "/properties/a_b", "path": "/properties/a~1b"},
        {"op": "remove", "path": "/gone"},
        {"op": "replace", "path": "/list/1", "value": 3},
        {"op": "add", "path": "/new", "value": None},
    ]
