"""The arguments of a tool: their names, parameters, bodies as plain objects or whole."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import api, convert, mistakes, with_body
from tests.wording import each_mentions
from toolbelt.catalog.frozen import thaw


class TestNames:
    def test_a_name_made_by_a_suffix_may_be_taken_too(self) -> None:
        converted = convert(
            api("""
            /a:
              get:
                parameters:
                  - {name: id_query, in: query, schema: {}}
                  - {name: id, in: cookie, schema: {}}
                  - {name: id, in: query, schema: {}}
            """)
        )
        assert list(converted.catalog.tools[0].parameters["properties"]) == ["id_query", "id", "id_query_2"]

    def test_a_parameter_called_body(self) -> None:
        converted = convert(
            api("""
            /x:
              post:
                operationId: send
                parameters: [{name: body, in: query, schema: {}}]
                requestBody: {description: The list., content: {application/json: {schema: {type: array}}}}
            """)
        )
        assert thaw(converted.catalog.tools[0].extra["arguments"]) == {
            "body": {"in": "query", "name": "body"},
            "body_body": {"in": "body"},
        }
        assert converted.catalog.tools[0].parameters["properties"]["body_body"]["description"] == "The list."
        assert each_mentions(converted.notes, ("send", "'body_body'"))


class TestParameters:
    def test_the_operation_wins_by_name_and_place(self) -> None:
        converted = convert(
            api("""
            /a/{id}:
              parameters:
                - {name: id, in: path, required: true, schema: {type: string}}
                - {name: X-Mode, in: header, schema: {type: string}}
              get:
                operationId: get
                parameters:
                  - {name: id, in: query, schema: {type: integer}}
                  - {name: x-mode, in: header, schema: {type: boolean}}
                  - {name: id, in: path, required: true, schema: {type: number}}
                  - {name: id, in: cookie, required: true, schema: {type: 'null'}}
            """)
        )
        (tool,) = converted.catalog.tools
        assert thaw(tool.parameters)["properties"] == {
            "id": {"type": "number"},
            "x-mode": {"type": "boolean"},
            "id_query": {"type": "integer"},
            "id_cookie": {"type": "null"},
        }
        assert tool.parameters["required"] == ["id", "id_cookie"]
        assert tool.extra["arguments"]["id_query"] == {"in": "query", "name": "id"}
        assert each_mentions(
            converted.notes, ("get", "'id'", "query", "'id_query'"), ("get", "'id'", "cookie", "'id_cookie'")
        )

    def test_content_and_style_are_kept_for_the_caller(self) -> None:
        converted = convert(
            api("""
            /a:
              get:
                parameters:
                  - {name: where, in: query, description: Filter, content: {application/json: {schema: {type: object}}}}
                  - {name: ids, in: query, style: pipeDelimited, explode: false, schema: {type: array}}
                  - {name: any, in: query, content: {text/plain: {}}}
                  - {name: none, in: query, schema: false}
            """)
        )
        (tool,) = converted.catalog.tools
        assert thaw(tool.extra["arguments"]) == {
            "where": {"in": "query", "name": "where", "content_type": "application/json"},
            "ids": {"in": "query", "name": "ids", "style": "pipeDelimited", "explode": False},
            "any": {"in": "query", "name": "any", "content_type": "text/plain"},
            "none": {"in": "query", "name": "none"},
        }
        assert thaw(tool.parameters)["properties"] == {
            "where": {"type": "object", "description": "Filter"},
            "ids": {"type": "array"},
            "any": {},
            "none": {"not": {}},
        }

    @pytest.mark.parametrize("name", ["Accept", "content-type", "AUTHORIZATION"])
    def test_headers_that_are_ignored(self, name: str) -> None:
        for place, count in (("header", 0), ("query", 1)):
            paths = f"/a: {{get: {{parameters: [{{name: {name}, in: {place}, schema: {{}}}}]}}}}"
            assert len(convert(api(paths)).catalog.tools[0].parameters["properties"]) == count

    def test_doubts_about_the_path_are_noted(self) -> None:
        converted = convert(api("/a/{x}/{y}: {get: {operationId: a, parameters: [{name: x, in: path, schema: {}}]}}"))
        assert converted.catalog.tools[0].parameters["required"] == ["x"]
        assert each_mentions(converted.notes, ("a", "'x'", "required"), ("a", "{y}"))

    @pytest.mark.parametrize(
        ("path", "rules"),
        [
            pytest.param("/a: {parameters: {}, get: {}}", ["wrong-type"], id="parameters-an-empty-mapping"),
            pytest.param("/a: {get: {parameters: {a: 1}}}", ["wrong-type"], id="parameters-a-mapping"),
            pytest.param("/a: {get: {parameters: [a]}}", ["wrong-type"], id="parameter-text"),
            pytest.param("/a: {get: {parameters: [{in: query}]}}", ["invalid-parameter"], id="parameter-without-name"),
            pytest.param("/a: {get: {parameters: [{name: a}]}}", ["invalid-parameter"], id="parameter-without-place"),
            pytest.param("/a: {get: {parameters: [{name: a, in: [b]}]}}", ["invalid-parameter"], id="place-a-list"),
            pytest.param("/a: {get: {parameters: [{name: a, in: query}]}}", ["invalid-parameter"], id="no-schema"),
            pytest.param(
                "/a: {get: {parameters: [{name: a, in: query, schema: {}}, {name: a, in: query, schema: {}}]}}",
                ["duplicate-parameter"],
                id="parameter-twice",
            ),
            pytest.param(
                "/a: {get: {parameters: [{name: a, in: query, schema: text, required: 'yes', explode: 1, style: 2}]}}",
                ["wrong-type"] * 4,
                id="parameter-with-four-mistakes",
            ),
        ],
    )
    def test_mistakes(self, path: str, rules: list[str]) -> None:
        text = api(f"{path}\n/ok: {{get: {{}}}}")
        assert mistakes(text) == [(rule, 3) for rule in rules]


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


class TestBodies:
    def test_what_is_required_but_not_described_is_an_argument(self) -> None:
        made = with_body("{properties: {a: {}}, required: [b]}")
        assert made.catalog.tools[0].parameters["required"] == ["b"]
        assert thaw(made.catalog.tools[0].parameters["properties"]) == {"a": {}, "b": {}}
        assert each_mentions(made.notes, ("send", "'b'"))

    @pytest.mark.parametrize(
        ("content", "expected", "notes"),
        [
            ("{text/plain: {schema: {}}, application/json: {schema: {}}}", "application/json", ()),
            (
                "{application/json: {}, text/plain: {schema: {}}}",
                "text/plain",
                ("send: the body is sent as text/plain",),
            ),
            ("{text/plain: {}, application/vnd.a+json: {}}", "application/vnd.a+json", ()),
            ("{Application/JSON; charset=utf-8: {schema: {}}}", "Application/JSON; charset=utf-8", ()),
            (
                "{multipart/form-data: {schema: {properties: {file: {type: string, format: binary}}}}}",
                "multipart/form-data",
                ("send: the body is sent as multipart/form-data",),
            ),
        ],
    )
    def test_json_goes_first(self, content: str, expected: str, notes: tuple[str, ...]) -> None:
        converted = convert(api(f"/x: {{post: {{operationId: send, requestBody: {{content: {content}}}}}}}"))
        assert converted.catalog.tools[0].extra["body"] == {"content_type": expected, "required": False}
        assert converted.notes == notes

    @pytest.mark.parametrize(
        ("path", "rules"),
        [
            pytest.param("/a: {post: {requestBody: []}}", ["wrong-type"], id="body-a-list"),
            pytest.param("/a: {post: {requestBody: {}}}", ["invalid-body"], id="body-without-content"),
            pytest.param("/a: {post: {requestBody: {content: {a/b: 1}}}}", ["wrong-type"], id="media-type-a-number"),
            pytest.param(
                "/a: {post: {requestBody: {required: 1, content: []}}}",
                ["wrong-type"] * 2 + ["invalid-body"],
                id="body-of-wrong-types",
            ),
        ],
    )
    def test_mistakes(self, path: str, rules: list[str]) -> None:
        text = api(f"{path}\n/ok: {{get: {{}}}}")
        assert mistakes(text) == [(rule, 3) for rule in rules]
