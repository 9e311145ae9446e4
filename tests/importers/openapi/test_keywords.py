"""The keywords of OpenAPI 3.0 and 3.1 in those of JSON Schema."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import one_parameter


class TestDialect:
    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ("{type: string, nullable: true}", {"type": ["string", "null"]}),
            ("{type: string, nullable: false}", {"type": "string"}),
            ("{type: string, nullable: true, enum: [a]}", {"type": ["string", "null"], "enum": ["a", None]}),
            ("{nullable: true, enum: [a, null]}", {"enum": ["a", None]}),
            ("{nullable: true}", {}),
            (
                "{nullable: true, description: d, allOf: [{type: string}]}",
                {"description": "d", "anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
            ),
            (
                "{$ref: '#/components/schemas/A', nullable: true, description: d, maxLength: 3}",
                {"description": "d", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
            ),
            ("{minimum: 1, exclusiveMinimum: true}", {"exclusiveMinimum": 1}),
            ("{minimum: 1, exclusiveMinimum: false}", {"minimum": 1}),
            ("{exclusiveMinimum: true}", {}),
            ("{maximum: 2.5, exclusiveMaximum: true}", {"exclusiveMaximum": 2.5}),
            ("{example: null}", {"examples": [None]}),
            ("{example: {$ref: '#/nowhere', nullable: true}}", {"examples": [{"$ref": "#/nowhere", "nullable": True}]}),
            ("{default: {example: 1, $ref: 2}}", {"default": {"example": 1, "$ref": 2}}),
            ("{xml: {name: a}, externalDocs: {url: b}, discriminator: {propertyName: c}, x-a: 1}", {}),
            (
                "{properties: {nullable: {type: string}, example: {}, xml: {}, $ref: {}, readOnly: {}}}",
                {"properties": {"nullable": {"type": "string"}, "example": {}, "xml": {}, "$ref": {}, "readOnly": {}}},
            ),
            (
                "{items: {nullable: true, type: integer}, additionalProperties: {example: 1}, not: {xml: {}}}",
                {"items": {"type": ["integer", "null"]}, "additionalProperties": {"examples": [1]}, "not": {}},
            ),
            ("{title: , description: }", {}),
            ("{deprecated: true, format: uuid}", {"deprecated": True, "format": "uuid"}),
        ],
    )  # fmt: skip
    def test_of_3_0_becomes_json_schema(self, schema: str, expected: object) -> None:
        assert one_parameter(schema, "3.0.3", "schemas: {A: {type: string}}") == expected

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ("{type: [string, 'null'], examples: [a]}", {"type": ["string", "null"], "examples": ["a"]}),
            ("{examples: [a], example: b}", {"examples": ["a", "b"]}),
            ("{exclusiveMinimum: 1, const: null}", {"exclusiveMinimum": 1, "const": None}),
            ("{$ref: '#/components/schemas/A', maxLength: 3}", {"$ref": "#/$defs/A", "maxLength": 3}),
            ("{prefixItems: [true, {xml: {}}], items: false}", {"prefixItems": [True, {}], "items": False}),
            ("{$id: 'http://a', $schema: 'x', $comment: c, $defs: {A: {}}}", {}),
            ("{if: {required: [a]}, then: {required: [b]}}", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
            ("{dependentRequired: {a: [b]}}", {"dependentRequired": {"a": ["b"]}}),
            ("{dependentSchemas: {xml: {xml: {}}}}", {"dependentSchemas": {"xml": {}}}),
        ],
    )  # fmt: skip
    def test_of_3_1_is_json_schema_already(self, schema: str, expected: object) -> None:
        assert one_parameter(schema, "3.1.0", "schemas: {A: {type: string}}") == expected
