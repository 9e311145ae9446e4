"""What no request sends."""

from __future__ import annotations

from tests.importers.openapi.samples import with_body
from toolbelt.catalog.frozen import thaw


class TestReadOnly:
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
