"""Whole documents; the sample APIs are made up here."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import LIBRARY, api, convert, mistakes, tool_of
from tests.wording import each_mentions
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidDefinitionError
from toolbelt.importers.openapi import convert_openapi, is_openapi
from toolbelt.sources import parse_json, parse_yaml


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
        assert each_mentions(
            made.notes,
            "several tags",
            ("listBooks", "'Authorization'"),
            ("addBook", "onLent"),
            ("putBook", "'isbn'", "'isbn_body'"),
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
        converted = convert_openapi(parse_json(text, "api.json"), "api")
        assert converted.find_line(converted.catalog.tools[0]) == 3


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
        assert mistakes(text) == expected

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
        assert mistakes(api(paths)) == [
            ("invalid-parameter", 4),
            ("wrong-type", 5),
            ("duplicate-tool-id", 8),
            ("unresolved-ref", 9),
        ]

    def test_a_blank_name_of_the_plugin_is_refused(self) -> None:
        with pytest.raises(InvalidDefinitionError):
            convert_openapi(parse_yaml(api("/a: {get: {}}"), "api.yaml"), " ")

    def test_V6_an_operation_with_a_mistake_does_not_refuse_the_others(self) -> None:
        paths = """
        /a:
          get: {operationId: a, parameters: [{name: a, in: query, schema: }]}
          put: {operationId: b, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/T'}}}}}
        /b:
          get: {operationId: c, parameters: [{name: b, in: query, schema: {$ref: '#/components/schemas/S'}}]}
          put: {operationId: d, parameters: [{name: b, in: query, schema: {$ref: '#/components/schemas/S'}}]}
          post: {operationId: e, parameters: [{name: c, in: query, schema: {$ref: '#/components/schemas/Good'}}]}
        /c:
          get: {operationId: c}
          put: {operationId: f}
        """
        components = """
        schemas:
          S: {type: object, properties: {t: {type: array, items: {$ref: '#/components/schemas/T'}}}}
          T: {type: object, properties: 5}
          Good: {type: string}
        """
        made = convert(api(paths, components))
        assert [tool.name for tool in made.catalog.tools] == ["e", "f"]
        # The mistake of a schema that three operations share stands in the file once.
        assert [(finding.rule, finding.line) for finding in made.findings] == [
            ("wrong-type", 4),
            ("duplicate-tool-id", 11),
            ("wrong-type", 16),
        ]


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
        assert each_mentions(convert(api(paths)).notes, ("o0", "o1", "o2", 2, "a/b"))
