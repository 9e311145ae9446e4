"""YAML that others wrote: as strict as our own, but for merge keys (`<<`), which are taken for what they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.sources import Document, parse_yaml
from toolbelt.sources.yaml_text import examine_yaml, with_json_numbers

_MERGE = "tag:yaml.org,2002:merge"


def parse_foreign_yaml(text: str, source: str) -> Document:
    """One YAML document, merge keys put in; lines are those of what is written.

    Raises:
        InvalidFileError: every mistake found.
    """
    document, findings = examine_yaml(text, source)
    if not findings:
        return document
    if others := [finding for finding in findings if finding.rule != "merge-key"]:
        raise InvalidFileError(others)
    return replace(document, data=parse_yaml(_merged(text), source).data)


def _merged(text: str) -> str:
    """The same document without merge keys; anchors stay anchors, so that it grows no larger than it was."""
    import yaml

    loader_class = with_json_numbers(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    node = loader_class(text).get_single_node()
    _flatten(node, set())
    made: str = yaml.serialize(node, allow_unicode=True)
    return made


def _flatten(node: Any, seen: set[int]) -> None:
    """Put in what a mapping and all within it merge: its own keys come first, then those of earlier sources."""
    if id(node) in seen or isinstance(node.value, str):
        return
    seen.add(id(node))
    if type(node).__name__ == "SequenceNode":
        for item in node.value:
            _flatten(item, seen)
        return
    own = {key.value: (key, value) for key, value in node.value if key.tag != _MERGE}
    for key, value in node.value:
        _flatten(value, seen)
        if key.tag != _MERGE:
            continue
        for source in value.value if type(value).__name__ == "SequenceNode" else [value]:
            for pair in source.value if type(source).__name__ == "MappingNode" else ():
                own.setdefault(pair[0].value, pair)
    node.value = list(own.values())
