"""Schemas that contain themselves with no property or item between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.importers.openapi.samples import api, convert
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.reader import CatalogFile
from toolbelt.importers.openapi.loops import (
    Cut,
    Reference,
    break_loops,
    closing_steps,
    closure,
    references_in_place,
    rings,
)

PETS = """
schemas:
  Pet:
    type: object
    required: [kind, name]
    properties: {kind: {type: string}, name: {type: string}, id: {type: integer, readOnly: true}}
    discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}
    oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
  Cat:
    allOf:
      - {$ref: '#/components/schemas/Pet'}
      - {type: object, required: [skill, id], properties: {skill: {enum: [lazy, playful]}}}
  Dog:
    allOf:
      - {$ref: '#/components/schemas/Pet'}
      - {type: object, required: [pack], properties: {pack: {type: integer}, rival: {$ref: '#/components/schemas/Pet'}}}
"""
LAZY = {"kind": "cat", "name": "Tom", "skill": "lazy"}


def send(*names: str, components: str = PETS) -> CatalogFile:
    """A tool for each schema, which is its body; that converting and checking end is held to by `convert`."""
    body = "{{required: true, content: {{application/json: {{schema: {{$ref: '#/components/schemas/{}'}}}}}}}}"
    paths = [f"/{name}: {{post: {{operationId: send{name}, requestBody: {body.format(name)}}}}}" for name in names]
    return convert(api("\n".join(paths), components, "3.0.3"))


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def broken(schemas: dict[str, Any]) -> dict[str, Any]:
    """All definitions after the loops are broken."""
    return schemas | break_loops(schemas, lambda name: f"{name}_base")[0]


class TestDiscriminator:
    """The loop that generators write: a parent is one of its subtypes, each of which takes the parent in."""

    @pytest.mark.parametrize("others", [(), ("Cat",), ("Dog", "Cat")], ids=["parent-first", "subtype-first", "all"])
    @pytest.mark.parametrize(
        ("body", "is_valid"),
        [
            pytest.param(LAZY, True, id="a-cat"),
            pytest.param({"kind": "dog", "name": "Rex", "pack": 3}, True, id="a-dog"),
            pytest.param({"kind": "dog", "name": "Rex", "pack": 3, "rival": LAZY}, True, id="a-pet-within"),
            pytest.param({"kind": "dog", "name": "Rex", "pack": 3, "rival": {}}, False, id="a-wrong-pet-within"),
            pytest.param({"kind": "cat", "name": "Tom", "skill": "none"}, False, id="against-the-subtype"),
            pytest.param({"kind": "cat", "skill": "lazy"}, False, id="against-the-parent"),
            pytest.param({"kind": "cat", "name": "Tom"}, False, id="of-no-subtype"),
        ],
    )
    def test_instances_are_told_apart(self, others: tuple[str, ...], body: object, is_valid: bool) -> None:
        tool = next(tool for tool in send(*others, "Pet").catalog.tools if tool.name == "sendPet")
        assert Draft202012Validator(thaw(tool.parameters)).is_valid({"body": body}) is is_valid

    @pytest.mark.parametrize("order", [("Pet", "Cat"), ("Cat", "Pet")], ids=" then ".join)
    def test_the_same_comes_out_in_any_order(self, order: tuple[str, str]) -> None:
        tools = {tool.name: thaw(tool.parameters) for tool in send(*order).catalog.tools}
        text = {"type": "string"}
        base = {"type": "object", "required": ["kind", "name"], "properties": {"kind": text, "name": text}}
        skill = {"enum": ["lazy", "playful"]}
        pack = {"type": "integer"}
        assert tools["sendPet"]["$defs"] == {
            "Pet": {**base, "oneOf": [ref("Cat"), ref("Dog")]},
            "Pet_base": base,
            "Cat": {
                "allOf": [
                    ref("Pet_base"),
                    {"type": "object", "required": ["skill"], "properties": {"skill": skill}},
                ]
            },
            "Dog": {
                "allOf": [
                    ref("Pet_base"),
                    {"type": "object", "required": ["pack"], "properties": {"pack": pack, "rival": ref("Pet")}},
                ]
            },
        }
        # What is plain stands beside the parameters, as without a loop.
        assert tools["sendCat"] == {
            "type": "object",
            "properties": {"kind": text, "name": text, "skill": skill},
            "required": ["kind", "name", "skill"],
            "additionalProperties": False,
        }

    def test_a_note_says_for_which(self) -> None:
        (note,) = send("Pet", "Cat").notes
        assert note == (
            "schema 'Cat', schema 'Dog': refers to 'Pet', which leads back here with no property or item between; "
            "it takes in 'Pet_base' instead, what 'Pet' says itself"
        )

    @pytest.mark.parametrize("order", [("Pet", "Other"), ("Other", "Pet")], ids=" then ".join)
    def test_the_base_gives_way_to_nobody_and_takes_no_name(self, order: tuple[str, str]) -> None:
        own = """\
  Pet_base: {type: integer}
  Other: {type: array, items: {$ref: '#/components/schemas/Pet_base'}}
"""
        tools = {
            tool.name: Draft202012Validator(thaw(tool.parameters))
            for tool in send(*order, components=PETS + own).catalog.tools
        }
        assert tools["sendPet"].is_valid({"body": LAZY})
        assert tools["sendOther"].is_valid({"body": [1]})
        assert not tools["sendOther"].is_valid({"body": [LAZY]})

    def test_several_levels(self) -> None:
        schemas = {
            "Pet": {"required": ["name"], "oneOf": [ref("Cat"), ref("Fish")]},
            "Cat": {"allOf": [ref("Pet"), {"required": ["skill"]}], "anyOf": [ref("Tabby")]},
            "Tabby": {"allOf": [ref("Cat"), {"required": ["stripes"]}]},
            "Fish": {"required": ["fins"]},
        }
        assert broken(schemas) == {
            **schemas,
            "Cat": {"allOf": [ref("Pet_base"), {"required": ["skill"]}], "anyOf": [ref("Tabby")]},
            "Tabby": {"allOf": [ref("Cat_base"), {"required": ["stripes"]}]},
            "Pet_base": {"required": ["name"], "anyOf": [{}, ref("Fish")]},
            "Cat_base": {"allOf": [ref("Pet_base"), {"required": ["skill"]}]},
        }


class TestOtherLoops:
    @pytest.mark.parametrize(
        ("schemas", "expected"),
        [
            pytest.param({"A": ref("A")}, {"A": {}}, id="itself"),
            pytest.param(
                {"A": {"allOf": [ref("A"), {"title": "a"}]}}, {"A": {"allOf": [{"title": "a"}]}}, id="takes-itself-in"
            ),
            pytest.param({"A": {"title": "a", "allOf": [ref("A")]}}, {"A": {"title": "a"}}, id="no-empty-all-of-stays"),
            pytest.param(
                {"A": {"anyOf": [{"type": "string"}, ref("B")]}, "B": {"oneOf": [ref("A"), {"type": "null"}]}},
                {"A": {"anyOf": [{"type": "string"}, ref("B")]}, "B": {"anyOf": [{}, {"type": "null"}]}},
                id="one-of-with-anything-is-any-of",
            ),
            pytest.param(
                {"A": {"oneOf": [ref("A"), {"type": "null"}], "anyOf": [{"minLength": 1}]}},
                {"A": {"anyOf": [{"minLength": 1}]}},
                id="any-of-is-not-overwritten",
            ),
            pytest.param({"A": {"title": "a", "anyOf": [ref("A")]}}, {"A": {"title": "a"}}, id="no-choice-no-keyword"),
            pytest.param({"A": {"title": "a", "not": ref("A")}}, {"A": {"title": "a"}}, id="not-would-refuse-all"),
            pytest.param(
                {"A": {"title": "a", "if": ref("A"), "then": False, "else": {}}}, {"A": {"title": "a"}}, id="condition"
            ),
            pytest.param(
                {"A": {"if": {"title": "a"}, "then": ref("A"), "else": {"title": "b"}}},
                {"A": {"if": {"title": "a"}, "then": {}, "else": {"title": "b"}}},
                id="consequence",
            ),
            pytest.param(
                {"A": {"dependentSchemas": {"x": ref("A"), "y": False}}},
                {"A": {"dependentSchemas": {"x": {}, "y": False}}},
                id="dependent-schema",
            ),
            pytest.param(
                {"A": {"allOf": [ref("B"), {"title": "a"}]}, "B": {"allOf": [ref("A"), {"title": "b"}]}},
                {
                    "A": {"allOf": [ref("B_base"), {"title": "a"}]},
                    "B": {"allOf": [ref("A_base"), {"title": "b"}]},
                    "B_base": {"allOf": [{"title": "b"}]},
                    "A_base": {"allOf": [ref("B_base"), {"title": "a"}]},
                },
                id="two-that-take-each-other-in-say-the-same",
            ),
            pytest.param(
                {"A": {"properties": {"a": ref("A")}, "items": ref("A"), "default": ref("A")}},
                {"A": {"properties": {"a": ref("A")}, "items": ref("A"), "default": ref("A")}},
                id="by-a-property-or-item-is-none",
            ),
        ],
    )
    def test_are_cut_where_they_close(self, schemas: dict[str, Any], expected: dict[str, Any]) -> None:
        assert broken(schemas) == expected

    def test_what_only_leads_to_a_loop_stays(self) -> None:
        schemas = {"C": {"allOf": [ref("A")]}, "A": ref("A"), "D": {"oneOf": [ref("C")]}}
        assert break_loops(schemas, str.lower) == ({"A": {}}, (Cut("A", "A", None),))

    @pytest.mark.parametrize("name", ["A", "B", "C"])
    def test_a_note_says_where(self, name: str) -> None:
        components = """
        schemas:
          A: {anyOf: [{type: string}, {$ref: '#/components/schemas/B'}]}
          B: {oneOf: [{$ref: '#/components/schemas/A'}]}
          C: {allOf: [{$ref: '#/components/schemas/A'}]}
        """
        source, target = ("A", "B") if name == "B" else ("B", "A")
        (note,) = send(name, components=components).notes
        assert note == (
            f"schema {source!r}: refers to {target!r}, which leads back here with no property or item between; "
            "that is left out"
        )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, []),
        (ref("A"), [("A", True)]),
        ({"allOf": [ref("A"), {"allOf": [ref("B")]}, ref("A")]}, [("A", True), ("B", True)]),
        ({"anyOf": [ref("A")], "allOf": [ref("A")]}, [("A", True), ("A", False)]),
        ({"oneOf": [{"allOf": [ref("A")]}], "not": {"if": ref("B")}}, [("A", True), ("B", False)]),
        ({"properties": {"a": ref("A")}, "items": ref("B"), "examples": [ref("C")]}, []),
    ],
)
def test_references_in_place(schema: Any, expected: Iterable[tuple[str, bool]]) -> None:
    assert references_in_place(schema) == tuple(Reference(*each) for each in expected)


NAMES = "abcdef"
GRAPHS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.lists(st.sampled_from(NAMES), max_size=3)))


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"a": ["b"], "b": []}, [], id="a-chain-is-none"),
        pytest.param({"a": ["a"], "b": ["a"]}, ["a"], id="itself"),
        pytest.param({"a": ["b"], "b": ["c"], "c": ["b"]}, ["bc"], id="what-leads-to-one-is-not-in-it"),
        pytest.param({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}, ["ab", "cd"], id="one-leads-to-the-other"),
        pytest.param({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, ["abc"], id="two-that-share-a-name-are-one"),
    ],
)
def test_rings(graph: dict[str, list[str]], expected: list[str]) -> None:
    assert sorted("".join(sorted(ring)) for ring in rings(graph)) == expected


@given(GRAPHS)
def test_a_ring_is_who_all_reach_each_other(graph: dict[str, list[str]]) -> None:
    reached = {name: closure(graph[name], graph.__getitem__) for name in graph}
    together = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    assert set(rings(graph)) == together
    assert len(rings(graph)) == len(together)


@given(GRAPHS)
def test_nothing_leads_back_without_the_closing_steps(graph: dict[str, list[str]]) -> None:
    closing = closing_steps(graph)
    left = {name: [target for target in targets if (name, target) not in closing] for name, targets in graph.items()}
    assert not any(name in closure(left[name], left.__getitem__) for name in left)
    assert bool(closing) == bool(rings(graph))


def test_a_long_ring_needs_no_stack() -> None:
    graph = {str(i): [str((i + 1) % 5000)] for i in range(5000)}
    assert [len(ring) for ring in rings(graph)] == [5000]
    assert closing_steps(graph) == {("4999", "0")}
