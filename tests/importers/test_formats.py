"""Telling formats apart, and naming what was imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.wording import naming
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.json_lines import Grouping
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, NotFoundError
from toolbelt.findings import Finding, Severity
from toolbelt.importers import IMPORTERS, import_catalog, recognise
from toolbelt.importers.formats import FORMATS
from toolbelt.sources import read_text

SAMPLES: dict[str, Any] = {
    "toolbelt": {"plugins": [{"name": "mine", "tools": [{"name": "f"}]}]},
    "openapi": {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {"/x": {"get": {"operationId": "f", "responses": {}}}},
    },
    "mcp": {"tools": [{"name": "f", "inputSchema": {}}]},
    "anthropic": [{"name": "f", "input_schema": {}}],
    "openai": [{"type": "function", "function": {"name": "f"}}],
}
EACH = pytest.mark.parametrize("form", SAMPLES)


def test_there_is_a_sample_of_each_format() -> None:
    assert set(SAMPLES) == set(IMPORTERS)
    assert (*IMPORTERS, "jsonl") == FORMATS


@EACH
def test_each_is_recognised(form: str) -> None:
    assert recognise(SAMPLES[form]) == form


@EACH
@pytest.mark.parametrize("source", ["mine.json", "mine.yaml", "mine.txt", "-"])
@pytest.mark.parametrize("given_form", [False, True])
def test_each_is_imported_whatever_the_file_is_called(form: str, source: str, given_form: bool) -> None:
    text = json.dumps(SAMPLES[form], indent=2)
    made, label = import_catalog(text, source, form=form if given_form else None)
    assert [tool.name for tool in made.catalog.tools] == ["f"]
    assert label == IMPORTERS[form].label


@pytest.mark.parametrize("source", ["t.jsonl", "t.NDJSON", "t.txt", "t"])
def test_json_lines_are_recognised(source: str) -> None:
    made, label = import_catalog('\n{"name": "f"}\n{"name": "g"}\n', source)
    assert [tool.id for tool in made.catalog.tools] == ["t/f", "t/g"]
    assert label == "JSON Lines"


def test_json_lines_of_one_line_are_told_by_their_name_or_by_saying_so() -> None:
    for source, form in (("t.jsonl", None), ("t.txt", "jsonl")):
        assert len(import_catalog('{"name": "f"}', source, form=form)[0].catalog.tools) == 1


def test_a_grouping_reaches_json_lines() -> None:
    made, _ = import_catalog('{"name": "f", "team": "x"}', "t.jsonl", grouping=Grouping("team", None))
    assert [plugin.name for plugin in made.catalog.plugins] == ["x"]


@pytest.mark.parametrize("source", ["t.yaml", "t.YML"])
@pytest.mark.parametrize("text", ["{plugins: [{name: p}]}", "plugins:\n- name: p\n", "# c\nplugins: [{name: p}]"])
def test_yaml_may_begin_with_a_bracket(source: str, text: str) -> None:
    assert [plugin.name for plugin in import_catalog(text, source)[0].catalog.plugins] == ["p"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("weather.json", "weather"),
        ("some/folder/weather.tools.json", "weather"),
        ("some/folder/tools.json", "folder"),
        ("some/folder/openapi.yaml", "folder"),
        ("some/my folder/index.json", "my-folder"),
        ("my  tools.json", "my-tools"),
        ("-", "imported"),
    ],
)
def test_a_catalog_is_named_after_its_file(source: str, expected: str) -> None:
    made, _ = import_catalog(json.dumps(SAMPLES["mcp"]), source)
    assert (made.catalog.name, made.catalog.plugins[0].name) == (expected, expected)


def test_a_name_may_be_given() -> None:
    assert import_catalog(json.dumps(SAMPLES["mcp"]), "t.json", name="other")[0].catalog.tools[0].id == "other/f"
    with pytest.raises(InvalidDefinitionError, match="not blank"):
        import_catalog(json.dumps(SAMPLES["mcp"]), "t.json", name=" ")


@pytest.mark.parametrize(
    ("text", "source"),
    [("", "t.yaml"), ("5", "t.json"), ("[5]", "t"), ("{}", "t"), ("just words", "t"), ('{"tools": []}', "t.json")],
)
def test_what_is_none_of_them_is_refused(text: str, source: str) -> None:
    with pytest.raises(InvalidFileError, match=naming("toolbelt catalog", "JSON Lines")) as caught:
        import_catalog(text, source)
    assert [finding.rule for finding in caught.value.findings] == ["unknown-format"]


def test_what_is_none_of_them_names_the_way_to_say_which() -> None:
    with pytest.raises(InvalidFileError, match="name its format with `import --format`"):
        import_catalog("{}", "t.json")


@pytest.mark.parametrize("source", ["t.json", "t.yaml", "-"])
def test_an_empty_list_is_a_list_without_tools(source: str) -> None:
    assert recognise([]) == "openai"
    with pytest.raises(InvalidFileError, match="There is no tool") as caught:
        import_catalog("[]", source)
    assert [finding.rule for finding in caught.value.findings] == ["empty"]


def test_an_unknown_format_is_not_found() -> None:
    with pytest.raises(NotFoundError, match=naming("opanai", "openai")):
        import_catalog("[]", "t.json", form="opanai")


KEYS = ["tools", "result", "name", "plugins", "function", "type", "inputSchema", "input_schema"]
ANYTHING = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("form", FORMATS)
@given(text=st.text() | ANYTHING.map(json.dumps))
def test_whatever_the_text_it_is_imported_or_refused(form: str, text: str) -> None:
    for given_form in (form, None):
        try:
            name = import_catalog(text, "t.txt", form=given_form, name="mine")[0].catalog.name
            findings: tuple[Finding, ...] = ()
        except InvalidFileError as error:
            name, findings = "", error.findings
        assert bool(name) != bool(findings)


@needs_shared_data
@pytest.mark.parametrize(
    ("dataset", "tools"),
    [("github_mcp", 117), ("livemcpbench", 527), ("seal_tools", 4076), ("bfcl", 3108), ("metatool", 199)],
)
def test_public_catalogues_are_imported_and_named_after_their_folder(dataset: str, tools: int) -> None:
    path = SHARED_DATA / dataset / "catalog.jsonl"
    made, label = import_catalog(read_text(path), str(path))
    assert (label, made.catalog.name, len(made.catalog.tools)) == ("JSON Lines", dataset, tools)


SCHEMA_KEYS = {"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema", "jsonl": "parameters"}
BREAKS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "null": lambda _, __: None,
    "text": lambda _, __: "pay",
    "number": lambda _, __: 7,
    "list": lambda tool, _: [tool],
    "no-name": lambda tool, _: {key: value for key, value in tool.items() if key != "name"},
    "name-of-another": lambda tool, _: {**tool, "name": "tool0"},
    "name-null": lambda tool, _: {**tool, "name": None},
    "name-blank": lambda tool, _: {**tool, "name": " "},
    "name-a-list": lambda tool, _: {**tool, "name": ["x"]},
    "description-a-number": lambda tool, _: {**tool, "description": 5},
    "schema-a-list": lambda tool, key: {**tool, key: []},
    "schema-text": lambda tool, key: {**tool, key: "{}"},
    "schema-true": lambda tool, key: {**tool, key: True},
    "annotations-a-list": lambda tool, _: {**tool, "annotations": ["x"]},
}


@given(st.sampled_from(sorted(SCHEMA_KEYS)), st.integers(2, 6), st.sampled_from(sorted(BREAKS)), st.data())
def test_V6_a_tool_that_cannot_be_read_is_named_and_the_others_are_read(
    form: str, count: int, name: str, data: st.DataObject
) -> None:
    tools: list[Any] = [{"name": f"tool{index}", "description": "D.", SCHEMA_KEYS[form]: {}} for index in range(count)]
    broken = data.draw(st.integers(1, count - 1))
    tools[broken] = BREAKS[name](tools[broken], SCHEMA_KEYS[form])
    lines = list(map(json.dumps, tools))
    text = "\n".join(lines) if form == "jsonl" else "[" + ",\n".join(lines) + "]"
    made, _ = import_catalog(text, "t.json", form=form)
    assert [tool.name for tool in made.catalog.tools] == [f"tool{i}" for i in range(count) if i != broken]
    (left_out,) = made.left_out
    assert (left_out.file, left_out.line, left_out.severity) == ("t.json", broken + 1, Severity.WARNING)


OPERATIONS: dict[str, Any] = {
    "null": None,
    "text": "get",
    "list": [],
    "id-a-number": {"operationId": 7},
    "id-of-another": {"operationId": "op0"},
    "tags-text": {"tags": "a"},
    "summary-a-list": {"summary": []},
    "parameters-a-mapping": {"parameters": {}},
    "parameter-null": {"parameters": [None]},
    "parameter-without-a-name": {"parameters": [{"in": "query", "schema": {}}]},
    "parameter-in-the-body": {"parameters": [{"name": "a", "in": "body", "schema": {}}]},
    "schema-null": {"parameters": [{"name": "a", "in": "query", "schema": None}]},
    "ref-to-nothing": {"parameters": [{"$ref": "#/components/parameters/gone"}]},
    "ref-elsewhere": {"parameters": [{"$ref": "other.yaml#/a"}]},
    "ref-to-itself": {"requestBody": {"$ref": "#/components/requestBodies/Loop"}},
    "shared-schema": {"parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/Bad"}}]},
    "property-of-a-shared-schema": {
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/HasBad"}}}}
    },
    "body-without-content": {"requestBody": {}},
    "deprecated-text": {"deprecated": "yes"},
}
COMPONENTS = {
    "schemas": {
        "Good": {"type": "string"},
        "Bad": {"type": "object", "required": "a"},
        "HasBad": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Bad"}}},
    },
    "requestBodies": {"Loop": {"$ref": "#/components/requestBodies/Loop"}},
}


@given(st.integers(2, 6), st.data())
def test_V6_operations_with_a_mistake_are_named_and_the_others_are_read(count: int, data: st.DataObject) -> None:
    good = [{"name": "g", "in": "query", "schema": {"$ref": "#/components/schemas/Good"}}]
    operations: list[Any] = [{"operationId": f"op{index}", "parameters": good} for index in range(count)]
    broken = data.draw(st.sets(st.integers(1, count - 1), min_size=1))
    for index in broken:
        change = OPERATIONS[data.draw(st.sampled_from(sorted(OPERATIONS)))]
        operations[index] = {**operations[index], **change} if isinstance(change, dict) else change
    paths = {f"/p{index}": {"get": operation} for index, operation in enumerate(operations)}
    made, _ = import_catalog(json.dumps({"openapi": "3.1.0", "paths": paths, "components": COMPONENTS}), "t.json")
    assert [tool.name for tool in made.catalog.tools] == [f"op{i}" for i in range(count) if i not in broken]
    assert 1 <= len(made.left_out) <= 2 * len(broken)


def test_V6_a_mistake_of_yaml_leaves_out_what_has_it_and_merge_keys_are_read() -> None:
    text = """
        openapi: 3.1.0
        info: {title: t, version: 1.0}
        x-all: &all {parameters: [{name: land, in: query, schema: {enum: [NO, on]}}]}
        paths:
          /a: {get: {<<: *all, operationId: a}}
          /b: {get: {operationId: b, parameters: [{name: n, in: query, schema: {maximum: .inf}}]}}
          /c: {get: {operationId: c}, post: {operationId: d}, get: {operationId: e}}
    """
    made, _ = import_catalog(text, "api.yaml")
    assert [tool.name for tool in made.catalog.tools] == ["a", "c", "d"]
    assert thaw(made.catalog.tools[0].parameters["properties"])["land"] == {"enum": ["NO", "on"]}
    rules = {(finding.rule, finding.line) for finding in made.left_out}
    assert {("not-json", 7), ("duplicate-key", 8)} <= rules
    own = "{name: c, plugins: [{name: p, tools: [{<<: {name: a}}]}]}"
    with pytest.raises(InvalidFileError, match="merge-key"):
        import_catalog(own, "c.yaml")


def test_V6_a_mistake_of_json_leaves_out_what_has_it() -> None:
    text = r"""{"tools": [
        {"name": "pay", "description": "Old.", "description": "Pays."},
        {"name": "tell", "description": "\ud800"},
        {"name": "\udc01"},
        {"name": "pick", "inputSchema": {"properties": {"a": {"enum": ["\ud800", "x", NaN]}, "\ud800": {}}}}
    ]}"""
    made, _ = import_catalog(text, "t.json")
    assert [(tool.name, tool.description) for tool in made.catalog.tools] == [
        ("pay", "Pays."),
        ("tell", ""),
        ("pick", ""),
    ]
    assert made.catalog.tools[2].parameters["properties"] == {"a": {"enum": ["x"]}}
    assert [(finding.rule, finding.line) for finding in made.left_out] == [
        ("duplicate-key", 2), ("bad-character", 3), ("bad-character", 4),
        ("bad-character", 5), ("not-json", 5), ("bad-character", 5), ("invalid-tool", 4),
    ]  # fmt: skip


@pytest.mark.parametrize("tool", ['"name": "a", "name": "b"', r'"name": "a", "description": "\ud800"'])
def test_a_mistake_in_a_catalog_of_ours_is_refused(tool: str) -> None:
    with pytest.raises(InvalidFileError):
        import_catalog(f'{{"plugins": [{{"name": "p", "tools": [{{{tool}}}]}}]}}', "t.json")
