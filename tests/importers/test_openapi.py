"""Catalogs from OpenAPI documents; the sample APIs are made up here."""

from __future__ import annotations

import copy
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tool import Tool
from toolbelt.documents import Document, parse_json, parse_yaml
from toolbelt.errors import InvalidFileError
from toolbelt.importers.openapi import convert_openapi, is_openapi

LIBRARY = """\
openapi: 3.0.3
info:
  title: Town Library
  description: |
    Lends books and finds them again.

    Opened in 1911.
tags:
  - {name: Books, description: "What is lent. "}
  - {name: unused}
paths:
  /books:
    summary: The shelves
    parameters:
      - {name: branch, in: query, description: Which house, schema: {type: string, default: main}}
    get:
      tags: [Books]
      operationId: listBooks
      summary: List books
      description: List books, newest first.
      parameters:
        - {name: limit, in: query, example: 20, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
        - {$ref: '#/components/parameters/Trace'}
        - {name: Authorization, in: header, schema: {type: string}}
    post:
      tags: [books, other]
      operationId: addBook
      requestBody: {$ref: '#/components/requestBodies/Book'}
      callbacks:
        onLent: {}
  /books/{isbn}:
    parameters:
      - {name: isbn, in: path, required: true, schema: {$ref: '#/components/schemas/Isbn'}}
    put:
      tags: [Books]
      operationId: putBook
      deprecated: true
      summary: Replace a book
      description: All of it.
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Book'}}
    delete:
      tags: [Books]
    patch:
      requestBody:
        content:
          application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Change'}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, deprecated: true, schema: {type: string, nullable: true}}
  requestBodies:
    Book:
      content:
        application/json: {schema: {$ref: '#/components/schemas/Book'}}
  schemas:
    Isbn: {type: string, pattern: '^[0-9]{13}$', description: Thirteen digits.}
    Book:
      type: object
      required: [id, isbn, title]
      properties:
        id: {type: integer, readOnly: true}
        isbn: {$ref: '#/components/schemas/Isbn'}
        title: {type: string, example: Emma}
        shelf: {$ref: '#/components/schemas/Shelf'}
    Shelf:
      type: object
      properties:
        label: {type: string, nullable: true, enum: [a, b]}
        above: {$ref: '#/components/schemas/Shelf'}
    Change: {type: object, properties: {op: {type: string}}, discriminator: {propertyName: op}}
    Unreached: {type: nonsense}
"""


def convert(text: str, name: str = "api") -> CatalogFile:
    """Converts, and holds every schema to be one."""
    made = convert_openapi(parse_yaml(text, "api.yaml"), name)
    for tool in made.catalog.tools:
        Draft202012Validator.check_schema(thaw(tool.parameters))
        assert set(tool.extra["arguments"]) == set(tool.parameters["properties"])
    return made


def refused(text: str) -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidFileError) as caught:
        convert(text)
    assert all(finding.file == "api.yaml" for finding in caught.value.findings)
    return [(finding.rule, finding.line) for finding in caught.value.findings]


def tool_of(made: CatalogFile, name: str) -> Tool:
    return next(tool for tool in made.catalog.tools if tool.name == name)


def api(paths: str, components: str = "{}", version: str = "3.1.0") -> str:
    """A document of two blocks of YAML; `paths` begins in line 3."""
    indented = textwrap.indent(textwrap.dedent(paths).strip("\n"), "  ")
    parts = textwrap.indent(textwrap.dedent(components).strip("\n"), "  ")
    return f"openapi: {version}\npaths:\n{indented}\ncomponents:\n{parts}\n"


def one_parameter(schema: str, version: str = "3.0.3", components: str = "{}") -> Any:
    """What a parameter's schema becomes."""
    paths = f"/x: {{get: {{parameters: [{{name: a, in: query, schema: {schema}}}]}}}}"
    (tool,) = convert(api(paths, components, version)).catalog.tools
    return thaw(tool.parameters)["properties"]["a"]


def with_body(schema: str, components: str = "{}", required: str = "true", version: str = "3.1.0") -> CatalogFile:
    paths = f"""
        /x:
          post:
            operationId: send
            requestBody:
              required: {required}
              content: {{application/json: {{schema: {schema}}}}}
    """
    return convert(api(paths, components, version))


class TestIsOpenapi:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            pytest.param({"openapi": "3.0.0"}, True, id="three-point-zero"),
            pytest.param({"openapi": "3.1.1", "webhooks": {}}, True, id="three-point-one"),
            pytest.param({"swagger": "2.0"}, True, id="swagger-2-so-that-it-gets-its-message"),
            pytest.param({"swagger": 2.0}, True, id="swagger-2-without-quotes"),
            pytest.param({"openapi": 3.0}, False, id="a-number-is-no-version"),
            pytest.param({"openapi": "4.0"}, False, id="not-four"),
            pytest.param({"openapi": None}, False, id="not-nothing"),
            pytest.param({"plugins": []}, False, id="not-a-catalog"),
            pytest.param([], False, id="not-a-list"),
            pytest.param("openapi: 3.0.0", False, id="not-text"),
        ],
    )
    def test_looks_at_the_version(self, data: object, expected: bool) -> None:
        assert is_openapi(data) is expected


@pytest.fixture
def made() -> CatalogFile:
    return convert(LIBRARY, "library")


class TestLibrary:
    """One whole document."""

    def test_a_plugin_per_tag_under_its_first_spelling_else_the_name(self, made: CatalogFile) -> None:
        assert {plugin.name: [tool.id for tool in plugin.tools] for plugin in made.catalog.plugins} == {
            "Books": ["Books/listBooks", "Books/addBook", "Books/putBook", "Books/delete_books_isbn"],
            "library": ["library/patch_books_isbn"],
        }
        assert [plugin.description for plugin in made.catalog.plugins] == ["What is lent.", ""]

    def test_the_catalog_says_what_the_api_is(self, made: CatalogFile) -> None:
        assert made.catalog.name == "library"
        assert made.catalog.description == "Town Library. Lends books and finds them again."

    def test_parameters_of_path_and_operation_are_merged(self, made: CatalogFile) -> None:
        assert thaw(tool_of(made, "listBooks").parameters) == {
            "type": "object",
            "properties": {
                "branch": {"type": "string", "default": "main", "description": "Which house"},
                "limit": {"type": "integer", "exclusiveMinimum": 0, "examples": [20]},
                "X-Trace": {"type": ["string", "null"], "deprecated": True},
            },
            "additionalProperties": False,
        }

    def test_a_body_stands_beside_the_parameters(self, made: CatalogFile) -> None:
        assert thaw(tool_of(made, "putBook").parameters) == {
            "type": "object",
            "properties": {
                "isbn": {"$ref": "#/$defs/Isbn"},
                "isbn_body": {"$ref": "#/$defs/Isbn"},
                "title": {"type": "string", "examples": ["Emma"]},
                "shelf": {"$ref": "#/$defs/Shelf"},
            },
            "required": ["isbn", "isbn_body", "title"],
            "additionalProperties": False,
            "$defs": {
                "Isbn": {"type": "string", "pattern": "^[0-9]{13}$", "description": "Thirteen digits."},
                "Shelf": {
                    "type": "object",
                    "properties": {
                        "label": {"type": ["string", "null"], "enum": ["a", "b", None]},
                        "above": {"$ref": "#/$defs/Shelf"},
                    },
                },
            },
        }

    def test_extra_says_how_to_make_the_request(self, made: CatalogFile) -> None:
        assert thaw(tool_of(made, "putBook").extra) == {
            "method": "PUT",
            "path": "/books/{isbn}",
            "arguments": {
                "isbn": {"in": "path", "name": "isbn"},
                "isbn_body": {"in": "body", "name": "isbn"},
                "title": {"in": "body", "name": "title"},
                "shelf": {"in": "body", "name": "shelf"},
            },
            "body": {"content_type": "application/json", "required": True},
            "deprecated": True,
        }

    def test_a_body_that_may_be_left_out_requires_nothing(self, made: CatalogFile) -> None:
        assert "required" not in tool_of(made, "addBook").parameters

    def test_a_body_that_is_a_list_is_one_argument(self, made: CatalogFile) -> None:
        tool = tool_of(made, "patch_books_isbn")
        assert tool.parameters["properties"]["body"] == {"type": "array", "items": {"$ref": "#/$defs/Change"}}
        assert tool.extra["arguments"]["body"] == {"in": "body"}

    def test_only_what_is_reached_is_defined(self, made: CatalogFile) -> None:
        reached = {tool.name: set(tool.parameters.get("$defs", ())) for tool in made.catalog.tools}
        assert reached == {
            "listBooks": set(),
            "addBook": {"Isbn", "Shelf"},
            "putBook": {"Isbn", "Shelf"},
            "delete_books_isbn": {"Isbn"},
            "patch_books_isbn": {"Isbn", "Change"},
        }

    def test_descriptions(self, made: CatalogFile) -> None:
        assert {tool.name: tool.description for tool in made.catalog.tools} == {
            "listBooks": "List books, newest first.",
            "addBook": "The shelves",
            "putBook": "Deprecated. Replace a book. All of it.",
            "delete_books_isbn": "",
            "patch_books_isbn": "",
        }

    def test_annotations(self, made: CatalogFile) -> None:
        assert {tool.name: thaw(tool.annotations) for tool in made.catalog.tools} == {
            "listBooks": {"title": "List books", "readOnlyHint": True, "openWorldHint": True},
            "addBook": {"title": "The shelves", "readOnlyHint": False, "openWorldHint": True},
            "putBook": {
                "title": "Replace a book",
                "destructiveHint": True,
                "idempotentHint": True,
                "openWorldHint": True,
            },
            "delete_books_isbn": {"destructiveHint": True, "idempotentHint": True, "openWorldHint": True},
            "patch_books_isbn": {"readOnlyHint": False, "openWorldHint": True},
        }

    def test_notes_say_what_was_left_out_or_renamed(self, made: CatalogFile) -> None:
        assert made.notes == (
            "some operations have several tags; the first is their plugin",
            "listBooks: the header 'Authorization' is left out, as OpenAPI says",
            "addBook: callbacks are not tools: onLent",
            "putBook: property 'isbn' of the body is 'isbn_body' here",
        )

    def test_every_tool_and_plugin_has_its_line(self, made: CatalogFile) -> None:
        assert {tool.name: made.find_line(tool) for tool in made.catalog.tools} == {
            "listBooks": 16,
            "addBook": 25,
            "putBook": 34,
            "delete_books_isbn": 44,
            "patch_books_isbn": 46,
        }
        assert [made.find_line(plugin) for plugin in made.catalog.plugins] == [16, 46]

    def test_json_has_lines_too(self) -> None:
        text = '{"openapi": "3.1.0",\n "paths": {"/a":\n  {"get": {}}}}'
        made = convert_openapi(parse_json(text, "api.json"), "api")
        assert made.find_line(made.catalog.tools[0]) == 3


class TestNames:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("/pets/{petId}", "get_pets_petId"),
            ("/", "get"),
            ("/v1.0/pet-shops/{shop_id}/", "get_v1_0_pet_shops_shop_id"),
            ("/straße/{größe}", "get_straße_größe"),
        ],
    )
    def test_made_from_method_and_path(self, path: str, expected: str) -> None:
        (tool,) = convert(api(f"{path}: {{get: {{}}}}")).catalog.tools
        assert tool.name == expected

    def test_what_providers_refuse_stays(self) -> None:
        (tool,) = convert(api("/a: {get: {operationId: 'pets/list all', tags: ['The pets']}}")).catalog.tools
        assert tool.id == "The pets/pets/list all"

    def test_made_names_give_way_to_given_ones(self) -> None:
        made = convert(api("/a/b: {get: {}}\n/a_b: {get: {}}\n/c: {get: {operationId: get_a_b}}"))
        assert [tool.name for tool in made.catalog.tools] == ["get_a_b_2", "get_a_b_3", "get_a_b"]
        assert "GET /a/b: is called 'get_a_b_2', as 'get_a_b' is taken" in made.notes

    def test_one_operation_id_in_two_plugins_is_two_tools(self) -> None:
        made = convert(api("/a: {get: {operationId: list, tags: [a]}}\n/b: {get: {operationId: list, tags: [b]}}"))
        assert [tool.id for tool in made.catalog.tools] == ["a/list", "b/list"]

    @pytest.mark.parametrize(
        "paths",
        [
            pytest.param(
                "/a: {get: {operationId: list, tags: [A]}}\n/b: {get: {operationId: list, tags: [a]}}",
                id="same-plugin-in-another-spelling",
            ),
            pytest.param(
                "/a: {get: {operationId: list, tags: [A/x]}}\n/b: {get: {operationId: x/list, tags: [A]}}",
                id="same-id-by-a-slash",
            ),
        ],
    )
    def test_one_id_twice_is_refused(self, paths: str) -> None:
        assert refused(api(paths)) == [("duplicate-tool-id", 4)]


class TestDescriptions:
    @pytest.mark.parametrize(
        ("summary", "description", "expected"),
        [
            pytest.param("List pets", "Newest first.", "List pets. Newest first.", id="joined"),
            pytest.param("List pets.", "Newest first.", "List pets. Newest first.", id="one-full-stop"),
            pytest.param("List pets", "", "List pets", id="summary-alone"),
            pytest.param("", "Newest first.", "Newest first.", id="description-alone"),
            pytest.param("List pets.", "Will list pets, if any.", "Will list pets, if any.", id="held-by-the-other"),
            pytest.param("List all the pets", "All the pets.", "List all the pets", id="holds-the-other"),
            pytest.param("Get", "Budget of a pet.", "Get. Budget of a pet.", id="part-of-a-word-is-not-held"),
            pytest.param("Pets", "* one\\n* two", "Pets.\n\n* one\n* two", id="a-list-begins-its-own-line"),
            pytest.param("a (b", "c [d", "a (b. c [d", id="no-patterns"),
        ],
    )
    def test_summary_and_description(self, summary: str, description: str, expected: str) -> None:
        (tool,) = convert(api(f'/a: {{get: {{summary: "{summary}", description: "{description}"}}}}')).catalog.tools
        assert tool.description == expected

    def test_deprecated_is_said_even_if_the_word_occurs(self) -> None:
        (tool,) = convert(api("/a: {get: {summary: Lists deprecated pets, deprecated: true}}")).catalog.tools
        assert tool.description == "Deprecated. Lists deprecated pets"


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

    def test_a_name_made_by_a_suffix_may_be_taken_too(self) -> None:
        made = convert(
            api("""
            /a:
              get:
                parameters:
                  - {name: id_query, in: query, schema: {}}
                  - {name: id, in: cookie, schema: {}}
                  - {name: id, in: query, schema: {}}
            """)
        )
        assert list(made.catalog.tools[0].parameters["properties"]) == ["id_query", "id", "id_query_2"]

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


class TestBodies:
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

    def test_what_is_required_but_not_described_is_an_argument(self) -> None:
        made = with_body("{properties: {a: {}}, required: [b]}")
        assert made.catalog.tools[0].parameters["required"] == ["b"]
        assert thaw(made.catalog.tools[0].parameters["properties"]) == {"a": {}, "b": {}}
        assert made.notes == ("send: the body requires 'b', which it does not describe",)

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
        made = convert(api(f"/x: {{post: {{operationId: send, requestBody: {{content: {content}}}}}}}"))
        assert made.catalog.tools[0].extra["body"] == {"content_type": expected, "required": False}
        assert made.notes == notes

    def test_a_parameter_called_body(self) -> None:
        made = convert(
            api("""
            /x:
              post:
                operationId: send
                parameters: [{name: body, in: query, schema: {}}]
                requestBody: {description: The list., content: {application/json: {schema: {type: array}}}}
            """)
        )
        assert thaw(made.catalog.tools[0].extra["arguments"]) == {
            "body": {"in": "query", "name": "body"},
            "body_body": {"in": "body"},
        }
        assert made.catalog.tools[0].parameters["properties"]["body_body"]["description"] == "The list."
        assert made.notes == ("send: the body is 'body_body' here",)


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
        assert refused(api(f"/x: {operation}", "schemas: {A: {}}\nx-list: [1]")) == [(rule, 4)]

    def test_the_nearest_name_is_told(self) -> None:
        with pytest.raises(InvalidFileError, match="Did you mean 'Animal'") as caught:
            with_body("{$ref: '#/components/schemas/Animl'}", "schemas: {Animal: {}}")
        assert len(caught.value.findings) == 1

    def test_a_shared_mistake_is_told_once(self) -> None:
        paths = "\n".join(f"/{i}: {{get: {{parameters: [{{$ref: '#/components/parameters/P'}}]}}}}" for i in range(9))
        assert refused(api(paths, "parameters: {P: {name: p, in: query, schema: {type: int}}}")) == [("wrong-type", 13)]

    @pytest.mark.parametrize(
        ("paths", "components", "rule"),
        [
            pytest.param("/a: {$ref: '#/paths/~1a'}", "{}", "ref-cycle", id="path"),
            pytest.param(
                "/a: {get: {parameters: [{$ref: '#/components/parameters/A'}]}}",
                "parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}",
                "ref-cycle",
                id="parameter",
            ),
            pytest.param(
                "/a: {get: {requestBody: {$ref: '#/paths/~1a/get/requestBody'}}}", "{}", "ref-cycle", id="request-body"
            ),
            pytest.param(
                "/a: {get: {parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/A'}}]}}",
                "schemas: {A: {$ref: '#/components/schemas/A'}}",
                "endless-schema",
                id="schema-that-is-itself",
            ),
            pytest.param(
                "/a: {get: {requestBody: {content: {a/b: {schema: {$ref: '#/components/schemas/A'}}}}}}",
                "schemas: {A: {allOf: [{$ref: '#/components/schemas/A'}, {properties: {a: {}}}]}}",
                "endless-schema",
                id="schema-that-takes-itself-in",
            ),
        ],
    )
    def test_cycles_are_refused(self, paths: str, components: str, rule: str) -> None:
        assert {found for found, _ in refused(api(paths, components))} == {rule}

    def test_every_schema_of_an_endless_ring_is_named(self) -> None:
        components = """
        schemas:
          A: {anyOf: [{type: string}, {$ref: '#/components/schemas/B'}]}
          B: {oneOf: [{$ref: '#/components/schemas/A'}]}
          C: {allOf: [{$ref: '#/components/schemas/A'}]}
        """
        paths = "/a: {get: {parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/C'}}]}}"
        assert refused(api(paths, components)) == [("endless-schema", 6), ("endless-schema", 7)]


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

    def test_what_python_or_json_schema_cannot_read_is_noted(self) -> None:
        paths = r"""
        /x:
          get:
            parameters:
              - {name: a, in: query, schema: {pattern: '^\p{L}+$', patternProperties: {'(': {}}, propertis: {}}}
        """
        made = convert(api(paths))
        assert thaw(made.catalog.tools[0].parameters)["properties"] == {"a": {"patternProperties": {}}}
        assert made.notes == (
            r"the pattern '^\\p{L}+$' is left out, as Python cannot read it",
            "the pattern '(' is left out, as Python cannot read it",
            "the schema keyword 'propertis' is not read",
        )


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("[]", [("not-openapi", 1)], id="a-list"),
            pytest.param("", [("not-openapi", 1)], id="nothing"),
            pytest.param("a: 1", [("not-openapi", 1)], id="no-version"),
            pytest.param("info: {}\nopenapi: 3.1", [("not-openapi", 2)], id="version-is-a-number"),
            pytest.param("info: {}\nswagger: '2.0'\npaths: {}", [("swagger-2", 2)], id="swagger-2"),
            pytest.param("openapi: 3.0.0", [("empty", 1)], id="no-paths"),
            pytest.param("openapi: 3.0.0\npaths: {}", [("empty", 2)], id="paths-empty"),
            pytest.param("openapi: 3.0.0\npaths:", [("empty", 2)], id="paths-blank"),
            pytest.param("openapi: 3.0.0\npaths: {/a: {parameters: []}}", [("empty", 2)], id="no-operation"),
            pytest.param("openapi: 3.0.0\npaths: []", [("wrong-type", 2)], id="paths-a-list"),
            pytest.param(
                "info: 1\nopenapi: 3.0.0\ntags: [1, {name: a, description: 1}]\nwebhooks: []\npaths: {/a: {get: }}",
                [("wrong-type", line) for line in (1, 3, 3, 4, 5)],
                id="everything-around",
            ),
        ],
    )
    def test_of_the_document(self, text: str, expected: list[tuple[str, int]]) -> None:
        assert refused(text) == expected

    @pytest.mark.parametrize(
        ("path", "rules"),
        [
            pytest.param("a: {get: {}}", ["invalid-path"], id="path-without-slash"),
            pytest.param("/a: []", ["wrong-type"], id="path-a-list"),
            pytest.param("/a:", ["wrong-type"], id="path-blank"),
            pytest.param("/a: {gett: {}}", ["unknown-key"], id="misspelled-method"),
            pytest.param("/a: {GET: {}}", ["unknown-key"], id="method-in-capitals"),
            pytest.param("/a: {get: []}", ["wrong-type"], id="operation-a-list"),
            pytest.param("/a: {get: }", ["wrong-type"], id="operation-blank"),
            pytest.param("/a: {get: {operationId: 7}}", ["wrong-type"], id="id-a-number"),
            pytest.param("/a: {get: {operationId: ' '}}", ["wrong-type"], id="id-blank"),
            pytest.param("/a: {get: {tags: a}}", ["wrong-type"], id="tags-text"),
            pytest.param("/a: {get: {tags: [1]}}", ["wrong-type"], id="tag-a-number"),
            pytest.param("/a: {get: {tags: ['']}}", ["wrong-type"], id="tag-blank"),
            pytest.param("/a: {get: {summary: 1, description: []}}", ["wrong-type"] * 2, id="texts"),
            pytest.param("/a: {summary: 1, get: {}}", ["wrong-type"], id="text-of-the-path"),
            pytest.param(
                "/a: {get: {deprecated: 'yes', callbacks: []}}", ["wrong-type"] * 2, id="deprecated-callbacks"
            ),
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
    def test_of_an_operation(self, path: str, rules: list[str]) -> None:
        text = api(f"{path}\n/ok: {{get: {{}}}}")
        assert refused(text) == [(rule, 3) for rule in rules]

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
        found = refused(api(body if is_body else parameter))
        assert [rule for rule, _ in found] == ["wrong-type"]

    def test_all_at_once_in_the_order_of_lines(self) -> None:
        paths = """
        /a:
          get: {parameters: [{name: a, in: query}]}
        /b: 7
        /c:
          get: {operationId: x}
          put: {operationId: x}
          post: {parameters: [{name: a, in: query, schema: {$ref: '#/nowhere'}}]}
        """
        assert refused(api(paths)) == [
            ("invalid-parameter", 4),
            ("wrong-type", 5),
            ("duplicate-tool-id", 8),
            ("unresolved-ref", 9),
        ]

    def test_a_blank_name_is_a_finding_too(self) -> None:
        with pytest.raises(InvalidFileError):
            convert_openapi(parse_yaml(api("/a: {get: {}}"), "api.yaml"), " ")


class TestNotes:
    @pytest.mark.parametrize(
        ("webhooks", "expected"),
        [
            ("{}", ()),
            ("{a: {post: {}}}", ("1 webhook is not a tool",)),
            ("{a: {post: {}}, b: {}}", ("2 webhooks are not tools",)),
        ],
    )
    def test_webhooks(self, webhooks: str, expected: tuple[str, ...]) -> None:
        assert convert(f"{api('/a: {get: {}}')}webhooks: {webhooks}\n").notes == expected

    def test_one_remark_about_many_is_one_note(self) -> None:
        body = "requestBody: {content: {a/b: {schema: {}}}}"
        paths = "\n".join(f"/{i}: {{post: {{operationId: o{i}, {body}}}}}" for i in range(5))
        assert convert(api(paths)).notes == ("o0, o1, o2 and 2 more: the body is sent as a/b",)

    def test_methods_of_later_versions(self) -> None:
        assert convert(api("/a: {get: {}, query: {}, x-own: 1}")).notes == ("/a: 'query' is not read",)


class TestSize:
    def test_a_thousand_operations_that_share_five_hundred_schemas(self) -> None:
        def ref(i: int) -> dict[str, Any]:
            return {"$ref": f"#/components/schemas/S{i % 500}"}

        def operation(i: int) -> dict[str, Any]:
            parameters = [{"name": f"q{j}", "in": "query", "schema": ref(i * j)} for j in range(5)]
            return {"parameters": parameters, "requestBody": {"content": {"application/json": {"schema": ref(i)}}}}

        schemas = {
            f"S{i}": {"type": "object", "properties": {f"p{j}": ref(i * j + 1) for j in range(1, 21)}}
            for i in range(500)
        }
        paths = {f"/p{i}": {"post": operation(i)} for i in range(1000)}
        data = {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}
        started = time.perf_counter()
        made = convert_openapi(Document(data, "big.json"), "big")
        assert time.perf_counter() - started < 5
        assert len(made.catalog.tools) == 1000
        assert len(made.catalog.tools[-1].parameters["$defs"]) == 500

    @pytest.mark.parametrize("keyword", ["allOf", "anyOf", "properties"])
    def test_doubling_does_not_multiply(self, keyword: str) -> None:
        schemas: dict[str, Any] = {"S60": {"type": "object", "properties": {"x": {"type": "string"}}}}
        for i in range(60):
            ref = {"$ref": f"#/components/schemas/S{i + 1}"}
            schemas[f"S{i}"] = {keyword: {"a": ref, "b": ref} if keyword == "properties" else [ref, ref]}
        body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
        data = {
            "openapi": "3.1.0",
            "paths": {"/a": {"post": {"requestBody": body}}},
            "components": {"schemas": schemas},
        }
        (tool,) = convert_openapi(Document(data, "bomb.json"), "bomb").catalog.tools
        assert len(tool.parameters.get("$defs", ())) <= 61

    def test_a_long_chain_of_references_needs_no_stack(self) -> None:
        schemas = {f"S{i}": {"allOf": [{"$ref": f"#/components/schemas/S{i + 1}"}]} for i in range(3000)}
        schemas["S3000"] = {"properties": {"x": {}}}  # type: ignore[dict-item]
        body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
        data = {
            "openapi": "3.1.0",
            "paths": {"/a": {"post": {"requestBody": body}}},
            "components": {"schemas": schemas},
        }
        (tool,) = convert_openapi(Document(data, "chain.json"), "chain").catalog.tools
        assert list(tool.parameters["properties"]) == ["x"]


_SEED = parse_yaml(LIBRARY, "library.yaml").data
_REFS = ("#/components/schemas/Book", "#/components/schemas/Shelf", "#/paths/~1books", "#/components/parameters/Trace")
_KEYS = (
    "$ref",
    "allOf",
    "properties",
    "required",
    "nullable",
    "type",
    "schema",
    "content",
    "in",
    "name",
    "get",
    "items",
)
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
    | st.sampled_from(("", "#", "#/", "x.yaml", "query", "object", "null", *_REFS)),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=3), inner, max_size=3)
    | st.sampled_from(_REFS).map(lambda ref: {"$ref": ref}),
    max_leaves=6,
)  # fmt: skip


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


class TestFuzz:
    @settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def test_nothing_but_findings_comes_out(self, data: st.DataObject) -> None:
        mutant = copy.deepcopy(_SEED)
        mutant["openapi"] = data.draw(st.sampled_from(("3.0.3", "3.1.0")))
        for _ in range(data.draw(st.integers(1, 4))):
            places = list(containers(mutant))
            place = places[data.draw(st.integers(0, len(places) - 1))]
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[data.draw(st.integers(0, len(keys) - 1))]
            action = data.draw(st.sampled_from(("replace", "delete", "add")))
            if action == "delete" and len(places) > 1:
                del place[key]
            elif action == "add" and isinstance(place, dict):
                place[data.draw(st.sampled_from(_KEYS))] = data.draw(_JUNK)
            else:
                place[key] = data.draw(_JUNK)
            if not mutant:
                break
        try:
            made = convert_openapi(Document(mutant, "mutant.yaml"), "mutant")
        except InvalidFileError:
            return
        for tool in made.catalog.tools:
            Draft202012Validator.check_schema(thaw(tool.parameters))
            assert set(tool.extra["arguments"]) == set(tool.parameters["properties"])
            assert set(tool.parameters.get("required", ())) <= set(tool.parameters["properties"])

    @settings(max_examples=200, deadline=None)
    @given(_JUNK)
    def test_a_schema_of_junk(self, junk: Any) -> None:
        body = {"content": {"application/json": {"schema": junk}}}
        data = {"openapi": "3.0.0", "paths": {"/a": {"post": {"requestBody": body}}}}
        data["components"] = _SEED["components"]
        try:
            (tool,) = convert_openapi(Document(data, "junk.yaml"), "junk").catalog.tools
        except InvalidFileError:
            return
        Draft202012Validator.check_schema(thaw(tool.parameters))
