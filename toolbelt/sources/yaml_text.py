"""Strict YAML. PyYAML itself is only imported when there is YAML to read."""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, Any

from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import HALF_PAIR, MAX_DEPTH, Document, Key, has_surrogate, too_deep

if TYPE_CHECKING:
    import yaml

_MAX_BITS = 14_000  # about the 4,300 digits that Python is willing to print
_BLOCK_NESTING = r"[-?: \t]{400}"


def parse_yaml(text: str, source: str) -> Document:
    """One YAML document; `None` for an empty one.

    Raises:
        InvalidFileError: every mistake found.
    """
    document, findings = examine_yaml(text, source)
    if findings:
        raise InvalidFileError(findings)
    return document


def examine_yaml(text: str, source: str) -> tuple[Document, list[Finding]]:
    """One YAML document with what is wrong about it, for who has more to say about the rest.

    Returns:
        The document without what was wrong, and the mistakes.

    Raises:
        InvalidFileError: it cannot be read at all.
    """
    lines: dict[tuple[Key, ...], int] = {}
    node, loader = _compose(text, source)
    if node is None:
        return Document(None, source, "", {(): 1}), []
    builder = _YamlBuilder(loader, source, lines)
    data = builder.build(node, ())
    return Document(data, source, "", lines), builder.findings


class _YamlBuilder:
    """Turns composed nodes into plain values, keeping lines and collecting mistakes."""

    def __init__(self, loader: Any, source: str, lines: dict[tuple[Key, ...], int]) -> None:
        self._loader = loader
        self._source = source
        self._lines = lines
        self._distinct: set[int] = set()
        self._expanded = 0
        self._open: set[int] = set()
        self.findings: list[Finding] = []

    def build(self, node: yaml.Node, path: tuple[Key, ...]) -> Any:
        line = node.start_mark.line + 1
        self._lines.setdefault(path, line)
        self._expanded += 1
        self._distinct.add(id(node))
        if self._expanded > 10 * len(self._distinct) + 10_000:
            # Anchors that refer to anchors multiply: nine lines can stand for a billion values.
            message = "Aliases expand to far more than is written here; write it out."
            raise InvalidFileError([self._finding("alias-bomb", message, line)])
        kind = type(node).__name__
        if kind == "ScalarNode":
            return self._scalar(node, line)
        if len(path) >= MAX_DEPTH:
            raise InvalidFileError([too_deep(self._source, line)])
        if id(node) in self._open:
            raise InvalidFileError([self._finding("alias-cycle", "An alias refers to what contains it.", line)])
        self._open.add(id(node))
        try:
            return self._mapping(node, path) if kind == "MappingNode" else self._sequence(node, path, line)
        finally:
            self._open.discard(id(node))

    def _sequence(self, node: yaml.Node, path: tuple[Key, ...], line: int) -> list[Any]:
        self._check_tag(node, "tag:yaml.org,2002:seq", line)
        return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: yaml.Node, path: tuple[Key, ...]) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        self._check_tag(node, "tag:yaml.org,2002:map", node.start_mark.line + 1)
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                self.findings.append(self._finding("merge-key", "Merge keys (<<) are not read; write it out.", line))
                continue
            if type(key_node).__name__ != "ScalarNode" or key_node.tag != "tag:yaml.org,2002:str":
                shown = key_node.value if isinstance(key_node.value, str) else "a list or mapping"
                message = f"A key must be text, not {shown!r}; put it in quotes."
                self.findings.append(self._finding("key-type", message, line))
                continue
            key = key_node.value
            if key in mapping:
                self.findings.append(self._finding("duplicate-key", f"The key {key!r} stands here twice.", line))
                continue
            self._lines[(*path, key)] = line
            mapping[key] = self.build(value_node, (*path, key))
        return mapping

    def _scalar(self, node: yaml.Node, line: int) -> Any:
        tag = node.tag.removeprefix("tag:yaml.org,2002:")
        if tag in ("str", "timestamp", "value", "merge"):
            if has_surrogate(node.value):
                self.findings.append(self._finding("bad-character", HALF_PAIR, line))
            return node.value
        if tag not in ("null", "bool", "int", "float"):
            message = f"The tag {node.tag!r} is not read; write plain values."
            self.findings.append(self._finding("tag", message, line))
            return None
        try:
            value = self._loader.construct_object(node)
        except (ValueError, LookupError, ArithmeticError):
            self.findings.append(self._finding("syntax", f"Not a value of the type {tag}: {node.value!r}.", line))
            return None
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            self.findings.append(self._finding("not-json", "This number has thousands of digits.", line))
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.findings.append(self._finding("not-json", f"{node.value} has no form in JSON.", line))
        return value

    def _check_tag(self, node: yaml.Node, expected: str, line: int) -> None:
        if node.tag != expected:
            message = f"The tag {node.tag!r} is not read; write plain values."
            self.findings.append(self._finding("tag", message, line))

    def _finding(self, rule: str, message: str, line: int) -> Finding:
        return Finding(rule, Severity.ERROR, message, self._source, line)


@functools.cache
def with_json_numbers(yaml_class: Any) -> Any:
    """A loader or dumper for which `1e5` is the number it is in JSON, and not the text that YAML 1.1 makes of it."""
    subclass: Any = type(yaml_class.__name__, (yaml_class,), {})
    pattern = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][-+]?[0-9]+$")
    subclass.add_implicit_resolver("tag:yaml.org,2002:float", pattern, list("-0123456789"))
    return subclass


def _compose(text: str, source: str) -> tuple[yaml.Node | None, Any]:
    import yaml  # a JSON catalog must not pay for it

    loader_class = with_json_numbers(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if has_surrogate(text):
        raise InvalidFileError([_bad_character(text, next(filter(has_surrogate, text)), source)])
    try:
        _refuse_hostile_nesting(text, source, loader_class)
        loader = loader_class(text)
        return loader.get_single_node(), loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        # What is missing at the end is missing on the last line, not on one that is not there.
        line = min(mark.line + 1, max(1, len(text.splitlines()))) if mark else None
        raise InvalidFileError([Finding("syntax", Severity.ERROR, f"Not YAML: {problem}.", source, line)]) from None
    except yaml.reader.ReaderError as error:
        raise InvalidFileError([_bad_character(text, chr(error.character), source)]) from None
    except yaml.YAMLError as error:
        first = str(error).splitlines()[0]
        raise InvalidFileError([Finding("syntax", Severity.ERROR, f"Not YAML: {first}.", source)]) from None
    except RecursionError:
        raise InvalidFileError([too_deep(source)]) from None


def _refuse_hostile_nesting(text: str, source: str, loader_class: Any) -> None:
    """The composer recurses in C, where ten thousand brackets end the process; events come without recursion."""
    if text.count("[") + text.count("{") < 500 and not re.search(_BLOCK_NESTING, text):
        return
    import yaml

    depth = 0
    for event in yaml.parse(text, loader_class):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                mark = event.start_mark
                raise InvalidFileError([too_deep(source, mark.line + 1 if mark else None)])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _bad_character(text: str, character: str, source: str) -> Finding:
    line = text.count("\n", 0, text.index(character)) + 1
    message = f"The character {character!r} may not stand in YAML; leave it out, or write its escape in quotes."
    if has_surrogate(character):
        message = HALF_PAIR
    return Finding("bad-character", Severity.ERROR, message, source, line)
