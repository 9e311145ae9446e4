"""Names of arguments that two places claim."""

from __future__ import annotations

from tests.importers.openapi.samples import api, convert
from toolbelt.catalog.frozen import thaw


class TestNames:
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
