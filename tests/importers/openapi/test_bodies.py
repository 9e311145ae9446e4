"""Request bodies as arguments."""

from __future__ import annotations

import pytest

from tests.importers.openapi.samples import api, convert, refused, with_body
from toolbelt.catalog.frozen import thaw


class TestBodies:
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
        assert refused(text) == [(rule, 3) for rule in rules]
