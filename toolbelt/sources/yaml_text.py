"""Strict YAML by the core schema of YAML 1.2. PyYAML itself is only imported when there is YAML to read or write.

| written plain | value |
| --- | --- |
| `null`, `Null`, `NULL`, `~`, nothing | `None` |
| `true`, `True`, `TRUE`, `false`, … | a boolean |
| `12`, `-01` (decimal), `0o17`, `0x1F` | an integer |
| `1.5`, `.5`, `1.`, `1e3` | a float; `.inf` and `.nan` are refused, as JSON has no word for them |
| all else: `NO`, `yes`, `on`, `22:30`, `1_000`, `2024-01-01` | text |

js-yaml 5 and yaml 2.9 read values in the same way. A key that is a plain scalar is its text as written; in
JavaScript it is the text of its value, so that there `1.0:` is "1", `0x1F:` is "31", `True:` is "true", `~:` is "null".
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import HALF_PAIR, MAX_DEPTH, Document, Key, has_surrogate, too_deep

if TYPE_CHECKING:
    import yaml

_TAG = "tag:yaml.org,2002:"
_CORE: Mapping[str, tuple[str, str]] = {
    "null": (r"~|null|Null|NULL|", "~nN"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    "merge": (r"<<", "<"),  # of YAML 1.1
}
"""Plain scalars that are no text, and the characters they begin with."""
_MAX_BITS = 14_000  # about the 4,300 digits that Python is willing to print
_BLOCK_NESTING = r"[-?: \t]{400}"


def parse_yaml(text: str, source: str, *, merges: bool = False) -> Document:
    """One YAML document; `None` for an empty one.

    Args:
        text: The document.
        source: The path as the user wrote it.
        merges: Whether merge keys (`<<`) of YAML 1.1 are applied, not refused.

    Raises:
        InvalidFileError: every mistake found.
    """
    document, findings = examine_yaml(text, source, merges=merges)
    if findings:
        raise InvalidFileError(findings)
    return document


def examine_yaml(text: str, source: str, *, merges: bool = False) -> tuple[Document, list[Finding]]:
    """One YAML document with what is wrong about it, for who has more to say about the rest.

    Returns:
        The document without what was wrong, and the mistakes.

    Raises:
        InvalidFileError: it cannot be read at all.
    """
    lines: dict[tuple[Key, ...], int] = {}
    node = _compose(text, source)
    if node is None:
        return Document(None, source, "", {(): 1}), []
    builder = _YamlBuilder(source, lines, merges=merges)
    data = builder.build(node, ())
    return Document(data, source, "", lines), builder.findings


class _YamlBuilder:
    """Turns composed nodes into plain values, keeping lines and collecting mistakes."""

    def __init__(self, source: str, lines: dict[tuple[Key, ...], int], *, merges: bool) -> None:
        self._merges = merges
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
        sources: list[tuple[yaml.Node, int]] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == f"{_TAG}merge" and self._merges:
                is_list = type(value_node).__name__ == "SequenceNode"
                sources += [(each, line) for each in (value_node.value if is_list else [value_node])]
                continue
            if key_node.tag == f"{_TAG}merge":
                self.findings.append(self._finding("merge-key", "Merge keys (<<) are not read; write it out.", line))
                continue
            is_scalar = type(key_node).__name__ == "ScalarNode" and key_node.tag.removeprefix(_TAG) in ("str", *_CORE)
            if not is_scalar or (key_node.tag == f"{_TAG}null" and not key_node.value):
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
        for source, line in sources:  # what is written here goes first, then the earlier source
            merged = self.build(source, (*path, "<<"))
            if not isinstance(merged, dict):
                self.findings.append(self._finding("merge-key", "A merge key (<<) takes in mappings alone.", line))
                continue
            for key in merged.keys() - mapping.keys():
                self._lines[(*path, key)] = line
            mapping |= {key: value for key, value in merged.items() if key not in mapping}
        return mapping

    def _scalar(self, node: yaml.Node, line: int) -> Any:
        tag, text = node.tag.removeprefix(_TAG), node.value
        if tag in ("str", "timestamp", "value", "merge"):
            if has_surrogate(text):
                self.findings.append(self._finding("bad-character", HALF_PAIR, line))
            return text
        if tag not in _CORE:
            message = f"The tag {node.tag!r} is not read; write plain values."
            self.findings.append(self._finding("tag", message, line))
            return None
        if _pattern(tag).fullmatch(text) is None:
            self.findings.append(self._finding("syntax", f"Not a value of the type {tag}: {text!r}.", line))
            return None
        value = _read_core(tag, text)
        if value is None and tag != "null":
            self.findings.append(self._finding("not-json", "This number has thousands of digits.", line))
        elif isinstance(value, float) and not math.isfinite(value):
            self.findings.append(self._finding("not-json", f"{text} has no form in JSON.", line))
            return None
        return value

    def _check_tag(self, node: yaml.Node, expected: str, line: int) -> None:
        if node.tag != expected:
            message = f"The tag {node.tag!r} is not read; write plain values."
            self.findings.append(self._finding("tag", message, line))

    def _finding(self, rule: str, message: str, line: int) -> Finding:
        return Finding(rule, Severity.ERROR, message, self._source, line)


def _read_core(tag: str, text: str) -> Any:
    """The value of a scalar that fits its tag; `None` for a number with thousands of digits, too."""
    match tag:
        case "null":
            return None
        case "bool":
            return text[0] in "tT"
        case "float":
            return float(text.replace(".", "") if text[-1] in "fFnN" else text)  # Python writes infinity without a dot
    try:
        value = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    except ValueError:
        return None
    return value if value.bit_length() <= _MAX_BITS else None


@functools.cache
def _pattern(tag: str) -> re.Pattern[str]:
    whole = f"{_CORE['int'][0]}|{_CORE[tag][0]}" if tag == "float" else _CORE[tag][0]  # a float may be written as 12
    return re.compile(f"(?:{whole})$")


@functools.cache
def _with_core_schema(base: Any, *, alone: bool) -> Any:
    """A loader or dumper that knows the core schema: `alone` without what YAML 1.1 knows besides."""
    subclass: Any = type(base.__name__, (base,), {"yaml_implicit_resolvers": {}} if alone else {})
    for tag, (pattern, first) in _CORE.items():
        subclass.add_implicit_resolver(f"{_TAG}{tag}", re.compile(f"(?:{pattern})$"), list(first))
    if alone:
        subclass.yaml_implicit_resolvers[""] = [(f"{_TAG}null", re.compile("$"))]
    return subclass


def format_yaml(data: Any, *, pure: bool = False, **options: Any) -> str:
    """Values as YAML that means the same to readers of 1.1 and of 1.2: what either takes for no text is quoted.

    Args:
        data: Plain values.
        pure: Whether PyYAML's own writer is used, which takes half a surrogate pair, not libyaml.
        options: Of `yaml.dump`.
    """
    import yaml

    dumper = yaml.SafeDumper if pure else getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    options = {"allow_unicode": True, "sort_keys": False, **options}
    return str(yaml.dump(data, Dumper=_with_core_schema(dumper, alone=False), **options))


def _compose(text: str, source: str) -> yaml.Node | None:
    import yaml  # a JSON catalog must not pay for it

    loader_class = _with_core_schema(getattr(yaml, "CSafeLoader", yaml.SafeLoader), alone=True)
    if has_surrogate(text):
        raise InvalidFileError([_bad_character(text, next(filter(has_surrogate, text)), source)])
    try:
        _refuse_hostile_nesting(text, source, loader_class)
        return cast("yaml.Node | None", loader_class(text).get_single_node())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        # What is missing at the end is missing on the last line, not on one that is not there.
        line = min(mark.line + 1, max(1, len(text.splitlines()))) if mark else None
        if "maximum nesting depth" in problem:  # libyaml's own limit, since PyYAML 6.0.4
            raise InvalidFileError([too_deep(source, line)]) from None
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
