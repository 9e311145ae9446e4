"""Which operations there are, and what their tools are called."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import api, convert, mistakes
from tests.wording import mentions


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
        converted = convert(api("/a/b: {get: {}}\n/a_b: {get: {}}\n/c: {get: {operationId: get_a_b}}"))
        assert [tool.name for tool in converted.catalog.tools] == ["get_a_b_2", "get_a_b_3", "get_a_b"]
        assert any(mentions(note, "GET /a/b", "get_a_b_2", "get_a_b") for note in converted.notes)

    def test_one_operation_id_in_two_plugins_is_two_tools(self) -> None:
        converted = convert(api("/a: {get: {operationId: list, tags: [a]}}\n/b: {get: {operationId: list, tags: [b]}}"))
        assert [tool.id for tool in converted.catalog.tools] == ["a/list", "b/list"]

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
        assert mistakes(api(paths)) == [("duplicate-tool-id", 4)]


class TestPaths:
    def test_methods_of_later_versions(self) -> None:
        assert convert(api("/a: {get: {}, query: {}, x-own: 1}")).notes == ("/a: 'query' is not read",)

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
        ],
    )
    def test_mistakes(self, path: str, rules: list[str]) -> None:
        text = api(f"{path}\n/ok: {{get: {{}}}}")
        assert mistakes(text) == [(rule, 3) for rule in rules]
