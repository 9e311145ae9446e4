"""OpenAPI documents made up for the tests, and ways to convert them."""

from __future__ import annotations

import textwrap
from typing import Any

from jsonschema import Draft202012Validator

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tool import Tool
from toolbelt.errors import InvalidFileError
from toolbelt.importers.openapi import convert_openapi
from toolbelt.sources import parse_yaml

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
        hold_to_be_sound(tool)
    return made


def hold_to_be_sound(tool: Tool) -> None:
    """Its schema is one, its references lead somewhere, checking ends, and the request can be made."""
    schema = thaw(tool.parameters)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    values: tuple[Any, ...] = (1, [{}], {"a": 1})
    for value in values:
        list(validator.iter_errors(dict.fromkeys(schema["properties"], value)))
    assert set(tool.extra["arguments"]) == set(schema["properties"])
    assert set(schema.get("required", ())) <= set(schema["properties"])


def mistakes(text: str) -> list[tuple[str, int | None]]:
    """Every mistake, whether some operations can be read or none."""
    try:
        findings = convert(text).findings
    except InvalidFileError as error:
        findings = error.findings
    assert all(finding.file == "api.yaml" for finding in findings)
    return [(finding.rule, finding.line) for finding in findings]


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
