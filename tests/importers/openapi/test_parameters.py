"""Parameters as arguments."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import api, convert, refused
from toolbelt.catalog.frozen import thaw


class TestParameters:
    def test_the_operation_wins_by_name_and_place(self) -> None:
        made = convert(
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
        (tool,) = made.catalog.tools
        assert thaw(tool.parameters)["properties"] == {
            "id": {"type": "number"},
            "x-mode": {"type": "boolean"},
            "id_query": {"type": "integer"},
            "id_cookie": {"type": "null"},
        }
        assert tool.parameters["required"] == ["id", "id_cookie"]
        assert tool.extra["arguments"]["id_query"] == {"in": "query", "name": "id"}
        assert made.notes == (
            "get: parameter 'id' of the query is 'id_query' here",
            "get: parameter 'id' of the cookie is 'id_cookie' here",
        )

    def test_content_and_style_are_kept_for_the_caller(self) -> None:
        made = convert(
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
        (tool,) = made.catalog.tools
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
        made = convert(api("/a/{x}/{y}: {get: {operationId: a, parameters: [{name: x, in: path, schema: {}}]}}"))
        assert made.catalog.tools[0].parameters["required"] == ["x"]
        assert made.notes == (
            "a: parameter 'x' of the path is required, though it does not say so",
            "a: the path has {y}, but no parameter is called so",
        )

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
        assert refused(text) == [(rule, 3) for rule in rules]
