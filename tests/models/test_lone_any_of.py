"""Google's APIs take `anyOf` with nothing beside it: what stands there is said by each branch."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.models.google_rules import GEMINI, VERTEX
from toolbelt.models.rules import LoneAnyOf, ProviderRules
from toolbelt.models.schema_parts import is_crowded, subschemas
from toolbelt.models.schema_rewriting import SchemaRewriter

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def _rewrite(part: dict[str, Any], rules: ProviderRules = VERTEX) -> dict[str, Any]:
    rewritten = SchemaRewriter(rules.facts).rewrite({"type": "object", "properties": {"a": part}})
    sent: dict[str, Any] = rewritten["properties"]["a"]
    return sent


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        pytest.param(
            {"anyOf": [TEXT, {"type": "null"}], "default": None, "description": "Who."},
            {"description": "Who.", "type": "string", "nullable": True},
            id="one-branch-beside-null-takes-all",
        ),
        pytest.param(
            {"anyOf": [{**TEXT, "description": "By name."}, NUMBER], "description": "Who.", "title": "W"},
            {
                "anyOf": [
                    {**TEXT, "description": "Who. By name.", "title": "W"},
                    {**NUMBER, "description": "Who.", "title": "W"},
                ]
            },
            id="descriptions-are-joined",
        ),
        pytest.param(
            {"type": "string", "maxLength": 4, "anyOf": [{"enum": ["up", "down"]}, {"pattern": "^b"}, NUMBER]},
            {"anyOf": [{**TEXT, "maxLength": 4, "enum": ["up", "down"]}, {**TEXT, "maxLength": 4, "pattern": "^b"}]},
            id="a-branch-that-takes-nothing-is-left-out",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"id": NUMBER, "url": {"type": "string", "maxLength": 9}},
                "required": ["id"],
                "anyOf": [{"required": ["url"]}, {"properties": {"url": {"type": "string", "maxLength": 3}}}],
            },
            {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"id": NUMBER, "url": {**TEXT, "maxLength": 9}},
                        "required": ["id", "url"],
                    },
                    {
                        "type": "object",
                        "properties": {"id": NUMBER, "url": {**TEXT, "maxLength": 3}},
                        "required": ["id"],
                    },
                ]
            },
            id="objects-are-merged-by-property",
        ),
        pytest.param(
            {"type": ["string", "integer", "null"], "minLength": 2, "minimum": 3, "description": "Who."},
            {
                "anyOf": [
                    {**TEXT, "minLength": 2, "description": "Who.", "nullable": True},
                    {**NUMBER, "minimum": 3, "description": "Who.", "nullable": True},
                ]
            },
            id="types-are-distinguished-with-what-is-said-of-each",
        ),
    ],
)
@pytest.mark.parametrize("rules", [GEMINI, VERTEX], ids=lambda rules: rules.key)
def test_V2_what_stands_beside_any_of_moves_into_the_branches(
    part: dict[str, Any], sent: dict[str, Any], rules: ProviderRules
) -> None:
    assert _rewrite(part, rules) == sent


def test_any_of_that_stands_alone_stays() -> None:
    part = {"anyOf": [TEXT, NUMBER]}
    assert _rewrite(part) == part


def test_alternatives_at_the_root_become_its_properties() -> None:
    schema = {
        "type": "object",
        "properties": {"id": TEXT, "url": TEXT, "depth": NUMBER},
        "required": ["depth"],
        "anyOf": [{"required": ["id"]}, {"required": ["url"]}],
    }
    without = {key: value for key, value in schema.items() if key != "anyOf"}
    assert SchemaRewriter(VERTEX.facts).rewrite(schema) == without


def test_many_branches_within_each_other_do_not_grow_without_end() -> None:
    part: dict[str, Any] = {"type": "object", "properties": {"x": TEXT}}
    for _ in range(12):
        part = {"type": "object", "properties": {"x": part}, "anyOf": [{"required": ["x"]}, {"required": ["y"]}]}
    assert sum(1 for _ in subschemas(_rewrite(part))) < 20_000


# Keywords of which `distribute` says all there is to say.
_TEXTS = st.fixed_dictionaries(
    {}, optional={"minLength": st.integers(0, 3), "maxLength": st.integers(0, 3), "enum": st.just(["a", "bb", "ccc"])}
)
_NUMBERS = st.fixed_dictionaries({}, optional={"minimum": st.integers(0, 3), "maximum": st.integers(0, 3)})
_KIND = st.sampled_from(["string", "integer", "number", "boolean", "object", "null"])
_SIMPLE = st.builds(
    lambda kind, texts, numbers: {**texts, **numbers, **({} if kind is None else {"type": kind})},
    st.none() | _KIND | st.lists(_KIND, min_size=1, max_size=3, unique=True),
    _TEXTS,
    _NUMBERS,
)
_OBJECTS = st.builds(
    lambda properties, required: {"type": "object", "properties": properties, "required": required},
    st.dictionaries(st.sampled_from("pq"), _SIMPLE, max_size=2),
    st.lists(st.sampled_from("pq"), max_size=2, unique=True),
)
_PARTS = _SIMPLE | _OBJECTS


def _crowded(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda own, branches: {**own, "anyOf": branches}, parts, st.lists(parts, min_size=1, max_size=3))


_TYPED_VALUES = st.booleans() | st.integers(-1, 4) | st.sampled_from(["", "a", "bb", "ccc", "dddd", 0.5])
_PLAIN_VALUES = st.none() | _TYPED_VALUES
# What says no type is sent to Google as all types but null, so null is left out where parts may say none.
_VALUES = _TYPED_VALUES | st.dictionaries(st.sampled_from("pq"), _TYPED_VALUES, max_size=2)


def _as_json_schema(schema: Any) -> Any:
    """Google's form in JSON Schema's words: `nullable` is its own."""
    if isinstance(schema, list):
        return [_as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _as_json_schema(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [result, {"type": "null"}]} if schema.get("nullable") is True else result


def _takes(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


LONE = tuple(fact for fact in VERTEX.facts if isinstance(fact.rule, LoneAnyOf))


@settings(max_examples=400, deadline=None)
@given(part=_crowded(_SIMPLE), values=st.lists(_PLAIN_VALUES, min_size=1, max_size=12))
def test_a_schema_takes_the_same_values_when_any_of_stands_alone(part: dict[str, Any], values: list[Any]) -> None:
    root = SchemaRewriter(LONE).rewrite({"type": "object", "properties": {"a": part}})
    assert not [place for place, each in subschemas(root) if place and is_crowded(each)]
    sent = _as_json_schema(root["properties"]["a"])
    taken = [_takes(part, value) for value in values]
    if any(taken):  # Google has no words for what takes nothing
        assert [_takes(sent, value) for value in values] == taken


@settings(max_examples=300, deadline=None)
@given(part=_crowded(_PARTS), values=st.lists(_VALUES, min_size=1, max_size=12))
def test_nothing_a_tool_takes_is_refused_after_all_of_googles_rules(part: dict[str, Any], values: list[Any]) -> None:
    sent = _as_json_schema(_rewrite(part))
    assert [value for value in values if _takes(part, value) and not _takes(sent, value)] == []
