"""What `$ref`s mean, and what is told of those that mean nothing."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from tests.importers.openapi.samples import api, convert, mistakes, with_body
from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidFileError


class TestReferences:
    @pytest.mark.parametrize(
        "ref",
        [
            "#/components/schemas/a~1b~0c d",
            "#/components/schemas/a~1b~0c%20d",
            "#/components/schemas/%61%7E1b~0c d",
            "#/components/schemas/Chain",
            "#/components/x-list/1/schema",
            "#/paths/~1x/get/parameters/1/schema",
        ],
    )
    def test_local_references_of_every_spelling(self, ref: str) -> None:
        paths = f"""
        /x:
          get:
            parameters:
              - {{name: a, in: query, schema: {{$ref: '{ref}'}}}}
              - {{name: b, in: query, schema: {{type: integer}}}}
        """
        components = """
        schemas:
          'a/b~c d': {type: integer}
          Chain: {$ref: '#/components/schemas/Chain2'}
          Chain2: {$ref: '#/components/schemas/a~1b~0c d'}
        x-list: [{}, {schema: {type: integer}}]
        """
        (tool,) = convert(api(paths, components)).catalog.tools
        validator = Draft202012Validator(thaw(tool.parameters))
        assert validator.is_valid({"a": 1})
        assert not validator.is_valid({"a": "one"})

    def test_parameters_bodies_and_path_items(self) -> None:
        paths = """
        /a: {$ref: '#/paths/~1b', summary: Of its own}
        /b: {$ref: '#/components/pathItems/B'}
        """
        components = """
        pathItems:
          B:
            summary: Of the other
            parameters: [{$ref: '#/components/parameters/P'}]
            post: {requestBody: {$ref: '#/components/requestBodies/Q'}}
        parameters:
          P: {$ref: '#/components/parameters/P2'}
          P2: {name: p, in: query, schema: {}}
        requestBodies:
          Q: {$ref: '#/components/requestBodies/Q2'}
          Q2: {content: {application/json: {schema: {properties: {q: {}}}}}}
        """
        made = convert(api(paths, components))
        assert [list(tool.parameters["properties"]) for tool in made.catalog.tools] == [["p", "q"]] * 2
        assert [tool.description for tool in made.catalog.tools] == ["Of its own", "Of the other"]

    @pytest.mark.parametrize(
        ("ref", "rule"),
        [
            ("other.yaml#/x", "external-ref"),
            ("http://example.com/a.json", "external-ref"),
            ("Pet", "external-ref"),
            ("", "external-ref"),
            ("#/components/schemas/Gone", "unresolved-ref"),
            ("#/components/schemas/A/0", "unresolved-ref"),
            ("#/components/x-list/7", "unresolved-ref"),
            ("#/components/x-list/-1", "unresolved-ref"),
            ("#/components/x-list/²", "unresolved-ref"),
            ("#anchor", "unresolved-ref"),
            ("#", "unresolved-ref"),
            ("#/", "unresolved-ref"),
            ("#/%FF%zz", "unresolved-ref"),
        ],
    )
    @pytest.mark.parametrize("place", ["schema", "parameter", "body", "path"])
    def test_what_leads_nowhere_is_refused_once_with_its_line(self, ref: str, rule: str, place: str) -> None:
        operation = {
            "schema": f"{{get: {{parameters: [{{name: a, in: query, schema:\n {{$ref: '{ref}'}}}}]}}}}",
            "parameter": f"{{get: {{parameters: [\n {{$ref: '{ref}'}}]}}}}",
            "body": f"{{post: {{requestBody:\n {{$ref: '{ref}'}}}}}}",
            "path": f"\n  {{$ref: '{ref}'}}",
        }[place]
        assert mistakes(api(f"/x: {operation}", "schemas: {A: {}}\nx-list: [1]")) == [(rule, 4)]

    def test_the_nearest_name_is_told(self) -> None:
        with pytest.raises(InvalidFileError, match="Did you mean 'Animal'") as caught:
            with_body("{$ref: '#/components/schemas/Animl'}", "schemas: {Animal: {}}")
        assert len(caught.value.findings) == 1

    def test_a_shared_mistake_is_told_once(self) -> None:
        paths = "\n".join(f"/{i}: {{get: {{parameters: [{{$ref: '#/components/parameters/P'}}]}}}}" for i in range(9))
        assert mistakes(api(paths, "parameters: {P: {name: p, in: query, schema: {type: int}}}")) == [
            ("wrong-type", 13)
        ]

    @pytest.mark.parametrize(
        ("paths", "components"),
        [
            pytest.param("/a: {$ref: '#/paths/~1a'}", "{}", id="path"),
            pytest.param(
                "/a: {get: {parameters: [{$ref: '#/components/parameters/A'}]}}",
                "parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}",
                id="parameter",
            ),
            pytest.param("/a: {get: {requestBody: {$ref: '#/paths/~1a/get/requestBody'}}}", "{}", id="request-body"),
        ],
    )
    def test_cycles_are_refused(self, paths: str, components: str) -> None:
        assert {found for found, _ in mistakes(api(paths, components))} == {"ref-cycle"}
