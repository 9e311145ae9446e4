"""Tools and plugins as values: identity, what may not exist, frozen to the inside."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from toolbelt.catalog import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string", "enum": ["a", "b"]}}}


@pytest.mark.parametrize(
    ("tool", "tool_id", "path"),
    [
        pytest.param(Tool("git_status"), "git_status", "git_status", id="alone-its-name"),
        pytest.param(Tool("git_status", plugin="git"), "git/git_status", "git/git_status", id="plugin-and-name"),
        pytest.param(Tool("f", plugin="p", id="f#1"), "f#1", "p/f", id="its-own-id-but-addressed-by-plugin-and-name"),
        pytest.param(Plugin("p", (Tool("f"),)).tools[0], "p/f", "p/f", id="taken-in-by-a-plugin"),
        pytest.param(Plugin("p", (Tool("f", id="x"),)).tools[0], "x", "p/f", id="taken-in-with-its-own-id"),
        pytest.param(Plugin("p", (Tool("f", plugin="p"),)).tools[0], "p/f", "p/f", id="taken-in-by-its-own-plugin"),
    ],
)
def test_identity(tool: Tool, tool_id: str, path: str) -> None:
    assert (tool.id, tool.path) == (tool_id, path)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": " \t\n"},
        {"name": None},
        {"name": 5},
        {"name": "f", "description": None},
        {"name": "f", "description": b"bytes"},
        {"name": "f", "parameters": []},
        {"name": "f", "parameters": "{}"},
        {"name": "f", "annotations": None},
        {"name": "f", "annotations": True},
        {"name": "f", "extra": [("a", 1)]},
        {"name": "f", "id": 5},
        {"name": "f", "id": " "},
        {"name": "f", "plugin": 5},
        {"name": "f", "plugin": " "},
    ],
    ids=str,
)
def test_a_tool_that_may_not_exist(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"tool|Tool"):
        Tool(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"name": ""}, "not blank", id="blank-name"),
        pytest.param({"name": "\u2003"}, "not blank", id="a-name-of-white-space"),
        pytest.param({"name": None}, "must be text", id="no-name"),
        pytest.param({"name": "p", "category": ""}, "not blank", id="blank-category"),
        pytest.param({"name": "p", "category": 5}, "must be text", id="category-of-another-type"),
        pytest.param({"name": "p", "tools": (Tool("f"), Tool("f"))}, "more than once: p/f", id="the-same-name-twice"),
        pytest.param({"name": "p", "tools": (Tool("f", id="x"), Tool("g", id="x"))}, "x", id="the-same-id-twice"),
        pytest.param({"name": "p", "tools": (Tool("f", plugin="q"),)}, "belongs to plugin 'q'", id="another's-tool"),
    ],
)
def test_a_plugin_that_may_not_exist(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        Plugin(**fields)


def test_the_same_name_twice_is_allowed_with_ids_of_their_own() -> None:
    plugin = Plugin("p", (Tool("f", id="f#1"), Tool("f", id="f#2")))
    assert [tool.id for tool in plugin.tools] == ["f#1", "f#2"]


@pytest.mark.parametrize(
    ("name", "own", "expected"),
    [
        pytest.param("git", None, "git", id="the-map-gives-it"),
        pytest.param("BATCHEDIT", None, "filesystem", id="the-map-ignores-case"),
        pytest.param("git", "payments", "payments", id="its-own-wins"),
        pytest.param("git", " Web ", "Web", id="its-own-keeps-its-spelling"),
        pytest.param("docker", None, None, id="unknown-to-the-map"),
    ],
)
def test_L2_a_plugins_own_category_wins_over_the_map(name: str, own: str | None, expected: str | None) -> None:
    plugin = Plugin(name, category=own)
    assert plugin.effective_category == expected
    assert plugin.category_key == (None if expected is None else expected.lower())
    assert plugin.key == name.lower()


def test_a_tool_is_frozen_to_the_inside() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    hints = {"readOnlyHint": True}
    tool = Tool("f", parameters=schema, annotations=hints)
    schema["properties"]["a"]["enum"].append("y")
    hints["readOnlyHint"] = False
    assert tool.parameters == {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    assert tool.annotations == {"readOnlyHint": True}
    with pytest.raises(TypeError, match="frozen"):
        tool.parameters["properties"]["a"]["enum"].append("z")
    with pytest.raises(TypeError, match="frozen"):
        tool.extra["x"] = 1  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        tool.name = "g"  # type: ignore[misc]


def test_a_plugin_is_frozen_to_the_inside() -> None:
    tools = [Tool("f")]
    plugin = Plugin("p", tools)  # type: ignore[arg-type]
    tools.append(Tool("g"))
    assert [tool.name for tool in plugin.tools] == ["f"]
    assert isinstance(plugin.tools, tuple)
    with pytest.raises(FrozenInstanceError):
        plugin.name = "q"  # type: ignore[misc]


def test_equal_values_are_equal_and_hash_alike() -> None:
    one, two = (Plugin("p", (Tool("f", "D.", SCHEMA),), "web") for _ in range(2))
    assert one == two
    assert len({one, two}) == 1
    assert one.tools[0] != Tool("f", "D.", {}, plugin="p")
    assert pickle.loads(pickle.dumps(one)) == one


def test_taking_a_tool_in_leaves_the_original_alone() -> None:
    tool = Tool("f", "D.", SCHEMA, {"readOnlyHint": True}, extra={"strict": True})
    (taken,) = Plugin("p", (tool,)).tools
    assert (tool.plugin, tool.id) == (None, "f")
    assert (taken.description, taken.parameters, taken.annotations, taken.extra) == (
        tool.description,
        tool.parameters,
        tool.annotations,
        tool.extra,
    )


def test_R7_a_tool_whose_schema_is_nested_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5_000):
        schema = {"properties": {"a": schema}}
    with pytest.raises(InvalidDefinitionError, match="too deep"):
        Tool("deep", parameters=schema)
