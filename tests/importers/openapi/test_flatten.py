"""Which bodies are plain objects, whose properties become arguments."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import with_body
from toolbelt.catalog.frozen import thaw


class TestFlatten:
    @pytest.mark.parametrize(
        "schema",
        [
            "{type: array, items: {type: string}}",
            "{type: string}",
            "{type: object}",
            "{type: object, properties: {}}",
            "{type: object, additionalProperties: {type: string}}",
            "{type: [object, 'null'], properties: {a: {}}}",
            "{nullable: true, type: object, properties: {a: {}}}",
            "{oneOf: [{properties: {a: {}}}, {properties: {b: {}}}]}",
            "{properties: {a: {}}, minProperties: 1}",
            "{allOf: [{properties: {a: {type: string}}}, {properties: {a: {type: integer}}}]}",
            "{allOf: [{properties: {a: {}}, additionalProperties: false}, {properties: {b: {}}}]}",
            "{allOf: [{properties: {a: {}}}, {type: string}]}",
            "{$ref: '#/components/schemas/List'}",
            "{}",
            "true",
        ],
    )
    def test_what_is_no_plain_object_is_one_argument(self, schema: str) -> None:
        (tool,) = with_body(schema, "schemas: {List: {type: array}}").catalog.tools
        assert list(tool.parameters["properties"]) == ["body"]
        assert tool.parameters["required"] == ["body"]
        assert tool.parameters["additionalProperties"] is False

    @pytest.mark.parametrize(
        ("schema", "properties", "required"),
        [
            pytest.param("{properties: {a: {}, b: {}}, required: [b]}", ["a", "b"], ["b"], id="without-a-type"),
            pytest.param("{type: [object], properties: {a: {}}}", ["a"], [], id="type-in-a-list"),
            pytest.param("{$ref: '#/components/schemas/Alias'}", ["base", "id"], ["base"], id="chain-of-references"),
            pytest.param(
                "{allOf: [{$ref: '#/components/schemas/Base'}, {properties: {own: {}}, required: [own, id]}]}",
                ["base", "own"],
                ["base", "own"],
                id="all-of-read-only-in-another-part",
            ),
            pytest.param(
                "{properties: {own: {}}, allOf: [{$ref: '#/components/schemas/Base'}, {required: [own]}]}",
                ["own", "base"],
                ["own", "base"],
                id="properties-beside-all-of",
            ),
            pytest.param(
                "{allOf: [{$ref: '#/components/schemas/Base'}, {$ref: '#/components/schemas/Base'}]}",
                ["base"],
                ["base"],
                id="the-same-twice",
            ),
            pytest.param(
                "{allOf: [{$ref: '#/components/schemas/Needs'}, {$ref: '#/components/schemas/Base'}]}",
                ["base"],
                ["base"],
                id="read-only-required-by-a-component",
            ),
            pytest.param(
                "{properties: {x: {$ref: '#/components/schemas/Given'}, y: {}}, required: [x]}",
                ["y"],
                [],
                id="read-only-by-reference",
            ),
        ],
    )
    def test_a_plain_object_is_flattened(self, schema: str, properties: list[str], required: list[str]) -> None:
        components = """
        schemas:
          Alias: {$ref: '#/components/schemas/Deeper'}
          Deeper: {type: object, properties: {base: {}, id: {}}, required: [base]}
          Base: {type: object, properties: {base: {}, id: {readOnly: true}}, required: [base, id]}
          Needs: {required: [id]}
          Given: {type: string, readOnly: true}
        """
        (tool,) = with_body(schema, components).catalog.tools
        assert sorted(tool.parameters["properties"]) == sorted(properties)
        assert sorted(tool.parameters.get("required", [])) == sorted(required)
        assert "$defs" not in tool.parameters

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ("{properties: {a: {}}}", False),
            ("{properties: {a: {}}, additionalProperties: false}", False),
            ("{properties: {a: {}}, additionalProperties: true}", True),
            ("{properties: {a: {}}, additionalProperties: {type: string}}", {"type": "string"}),
            ("{allOf: [{properties: {a: {}}, additionalProperties: true}, {properties: {b: {}}}]}", True),
        ],
    )
    def test_additional_arguments_where_the_body_allows_them(self, schema: str, expected: object) -> None:
        (tool,) = with_body(schema).catalog.tools
        assert thaw(tool.parameters["additionalProperties"]) == expected
