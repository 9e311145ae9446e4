"""Catalogs from OpenAPI 3 documents: one tool per operation, one plugin per tag.

The properties of a request body that is an object stand beside the parameters; any other body is one argument,
`body`. What a caller needs to make the request of a tool call is in the tool's `extra`:

    {"method": "PUT", "path": "/pets/{petId}",
     "arguments": {"petId": {"in": "path", "name": "petId"},        # style, explode, allowReserved, content_type
                   "name": {"in": "body", "name": "name"},          # as far as the document gives them
                   "body": {"in": "body"}},                         # no name: the argument is the whole body
     "body": {"content_type": "application/json", "required": true}, # if there is one
     "deprecated": true}                                            # if so

Arguments that are not listed there, which a tool takes only where its body does, belong in the body.
"""

from toolbelt.importers.openapi.convert import convert_openapi, is_openapi

__all__ = ["convert_openapi", "is_openapi"]
