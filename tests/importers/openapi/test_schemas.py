"""Schemas as JSON Schema, and their definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.importers.openapi.samples import api, convert, mistakes, with_body
from tests.wording import each_mentions
from toolbelt.catalog.frozen import thaw
from toolbelt.importers.openapi.loops import closure
from toolbelt.importers.openapi.schemas import ReadOnly
from toolbelt.importers.openapi.spec import Spec
from toolbelt.sources import Document


class TestDefinitions:
    def test_names_of_definitions_do_not_collide(self) -> None:
        paths = """
        /x:
          get:
            parameters:
              - {name: a, in: query, schema: {$ref: '#/components/schemas/A b'}}
              - {name: b, in: query, schema: {$ref: '#/components/schemas/A_b'}}
        """
        components = "schemas: {'A b': {type: string}, A_b: {type: integer}}"
        (tool,) = convert(api(paths, components)).catalog.tools
        assert thaw(tool.parameters["$defs"]) == {"A_b": {"type": "string"}, "A_b_2": {"type": "integer"}}

    def test_recursion_checks_values(self) -> None:
        components = """
        schemas:
          Tree: {type: object, properties: {leaves: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
        """
        (tool,) = with_body("{$ref: '#/components/schemas/Tree'}", components).catalog.tools
        validator = Draft202012Validator(thaw(tool.parameters))
        assert validator.is_valid({"leaves": [{"leaves": []}]})
        assert not validator.is_valid({"leaves": [{"leaves": [1]}]})


class TestMistakes:
    @pytest.mark.parametrize(
        "schema",
        [
            "text",
            "[]",
            "7",
            "",
            "{type: text}",
            "{type: }",
            "{type: [string, null]}",
            "{type: []}",
            "{type: [string, string]}",
            "{properties: []}",
            "{properties: {a: }}",
            "{properties: {a: {type: file}}}",
            "{required: 'yes'}",
            "{required: true}",
            "{required: [a, a]}",
            "{required: [1]}",
            "{enum: a}",
            "{allOf: []}",
            "{allOf: {}}",
            "{anyOf: [1]}",
            "{items: [{}]}",
            "{minLength: -1}",
            "{minLength: 1.5}",
            "{minItems: true}",
            "{multipleOf: 0}",
            "{minimum: true}",
            "{maximum: '1'}",
            "{exclusiveMinimum: a}",
            "{uniqueItems: 1}",
            "{nullable: 'yes'}",
            "{pattern: 1}",
            "{examples: {a: 1}}",
            "{description: [a]}",
            "{dependentRequired: {a: b}}",
            "{patternProperties: {a: 1}}",
            "{$ref: 1}",
            "{$ref: {}}",
        ],
    )
    @pytest.mark.parametrize("is_body", [False, True], ids=["parameter", "body"])
    def test_of_a_schema(self, schema: str, is_body: bool) -> None:
        parameter = f"/a: {{get: {{parameters: [{{name: a, in: query, schema:\n {schema}}}]}}}}"
        body = f"/a: {{post: {{requestBody: {{content: {{a/b: {{schema:\n {schema}}}}}}}}}}}"
        refusal = mistakes(api(body if is_body else parameter))
        assert [rule for rule, _ in refusal] == ["wrong-type"]

    def test_what_python_or_json_schema_cannot_read_is_noted(self) -> None:
        paths = r"""
        /x:
          get:
            parameters:
              - {name: a, in: query, schema: {pattern: '^\p{L}+$', patternProperties: {'(': {}}, propertis: {}}}
        """
        converted = convert(api(paths))
        assert thaw(converted.catalog.tools[0].parameters)["properties"] == {"a": {"patternProperties": {}}}
        assert each_mentions(converted.notes, r"'^\\p{L}+$'", "'('", "'propertis'")


class TestReadOnly:
    def test_read_only_is_left_out_at_every_depth(self) -> None:
        schema = "{properties: {list: {type: array, items: {$ref: '#/components/schemas/A'}}}}"
        components = """
        schemas:
          A: {properties: {id: {readOnly: true}, n: {}}, required: [id, n], not: {required: [id]}}
        """
        (tool,) = with_body(schema, components).catalog.tools
        assert thaw(tool.parameters["$defs"]) == {
            "A": {"properties": {"n": {}}, "required": ["n"], "not": {"required": ["id"]}}
        }


_NAMES = "abcdef"


@given(
    st.fixed_dictionaries(dict.fromkeys(_NAMES, st.lists(st.sampled_from(_NAMES), max_size=3))),
    st.permutations(_NAMES),
    st.sets(st.sampled_from(_NAMES)),
)
def test_what_is_read_only_is_that_of_all_that_is_taken_in(
    graph: dict[str, list[str]], order: list[str], marked: set[str]
) -> None:
    schemas = {
        name: {
            "allOf": [{"$ref": f"#/components/schemas/{target}"} for target in targets],
            "properties": {name: {"readOnly": name in marked}},
        }
        for name, targets in graph.items()
    }
    spec = Spec(Document({"components": {"schemas": schemas}}, "api.yaml"))
    read_only, section = ReadOnly(spec), spec.root.child("components").child("schemas")
    assert {name: read_only.names(section.child(name)) for name in order} == {
        name: closure([name], graph.__getitem__) & marked for name in graph
    }
