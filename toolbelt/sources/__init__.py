"""Strict YAML, JSON and JSON Lines: plain values, with the line each came from.

Stricter than the formats: duplicate keys, anchors that blow up, keys that are no strings, and values JSON
has no word for are mistakes here, because each of them silently loses or changes what somebody wrote.
All mistakes of a text are reported together.
"""

from toolbelt.sources.document import Document, Key
from toolbelt.sources.files import decode, read_document, read_text, refuse_special
from toolbelt.sources.json_text import blank_comments, examine_json, parse_json, parse_json_lines
from toolbelt.sources.yaml_text import examine_yaml, format_yaml, parse_yaml

__all__ = [
    "Document",
    "Key",
    "blank_comments",
    "decode",
    "examine_json",
    "examine_yaml",
    "format_yaml",
    "parse_json",
    "parse_json_lines",
    "parse_yaml",
    "read_document",
    "read_text",
    "refuse_special",
]
