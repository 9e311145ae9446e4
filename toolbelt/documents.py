"""Strict YAML, JSON and JSON Lines: plain values, with the line each came from.

Stricter than the formats: duplicate keys, anchors that blow up, keys that are no strings, and values JSON
has no word for are mistakes here, because each of them silently loses or changes what somebody wrote.
All mistakes of a text are reported together.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError
from toolbelt.findings import Finding, Severity

if TYPE_CHECKING:
    import yaml

Key = str | int
MAX_DEPTH = 100
"""Levels of nesting; real schemas stay below 20."""
_BLOCK_NESTING = r"[-?: \t]{400}"
_HALF_PAIR = "Half a surrogate pair is no character."


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A parsed text.

    Attributes:
        data: dicts, lists, strings, numbers, booleans and `None`.
        source: The path as the user wrote it, or another name for where the text is from.
        lines: 1-based line by place; of JSON, found only when first asked for.
    """

    data: Any
    source: str
    _text: str = field(default="", repr=False)
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict, repr=False)

    def find_line(self, *keys: Key) -> int | None:
        """1-based line of the value under `keys`, or of the nearest thing around it that is known."""
        if not self.lines and self._text:
            from toolbelt.json_places import locate_json

            self.lines.update(locate_json(self._text)[0])
        for end in range(len(keys), 0, -1):
            if (line := self.lines.get(keys[:end])) is not None:
                return line
        return self.lines.get(())

    def finding(self, rule: str, message: str, *keys: Key, severity: Severity = Severity.ERROR) -> Finding:
        """A finding placed at the value under `keys`."""
        return Finding(rule, severity, message, self.source, self.find_line(*keys))


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file (a byte-order mark is dropped).

    Raises:
        NotFoundError: no such file.
        InvalidFileError: it is a directory, or not UTF-8 (with the line of the first bad byte).
        StorageError: it may not be read.
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        siblings = _names_beside(file)
        raise NotFoundError("file", str(path), siblings) from None
    except IsADirectoryError:
        raise InvalidFileError([Finding("not-a-file", Severity.ERROR, "This is a folder.", str(path))]) from None
    except (OSError, ValueError) as error:
        raise StorageError(f"Cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}.") from None
    return decode(raw, str(path))


def decode(raw: bytes, source: str) -> str:
    """UTF-8 bytes as text.

    Raises:
        InvalidFileError: not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        hint = " It looks like UTF-16; save it as UTF-8." if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        message = f"Not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}.{hint}"
        raise InvalidFileError([Finding("not-utf8", Severity.ERROR, message, source, line)]) from None


def read_document(path: str | os.PathLike[str]) -> Document:
    """A `.json` file as JSON, anything else as YAML.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: its mistakes.
    """
    text = read_text(path)
    return parse_json(text, str(path)) if str(path).lower().endswith(".json") else parse_yaml(text, str(path))


def parse_json(text: str, source: str) -> Document:
    """One JSON value; duplicate keys, NaN and lone surrogates are mistakes.

    Raises:
        InvalidFileError: every mistake found.
    """
    has_duplicates = has_odd_numbers = False

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        made = dict(pairs)
        has_duplicates = has_duplicates or len(made) != len(pairs)
        return made

    def number(word: str) -> float:
        nonlocal has_odd_numbers
        value = float(word)
        has_odd_numbers = has_odd_numbers or not math.isfinite(value)
        return value

    try:
        data = json.loads(text, object_pairs_hook=unique, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        message = f"Not JSON: {error.msg} (column {error.colno})."
        raise InvalidFileError([Finding("syntax", Severity.ERROR, message, source, error.lineno)]) from None
    except RecursionError:
        raise InvalidFileError([_too_deep(source)]) from None
    except ValueError as error:
        raise InvalidFileError([Finding("syntax", Severity.ERROR, f"Not JSON: {error}.", source)]) from None
    document = Document(data, source, text)
    if _depth_exceeds(data, MAX_DEPTH):
        raise InvalidFileError([_too_deep(source)])
    findings: list[Finding] = []
    if has_duplicates:
        findings.extend(_repeated_keys(text, source))
    if has_odd_numbers or "\\ud" in text or "\\uD" in text or _has_surrogate(text):
        findings.extend(_check_json_values(document))
    if findings:
        raise InvalidFileError(sorted(findings, key=lambda finding: finding.line or 0))
    return document


def parse_json_lines(text: str, source: str) -> Iterator[tuple[int, Any, Finding | None]]:
    """One `(line number, value, None)` per line that holds something, or `(line number, None, finding)` per mistake."""
    # Not splitlines(): U+2028 and its like may stand raw inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, parse_json(line, source).data, None
        except InvalidFileError as error:
            for found in error.findings:
                yield number, None, Finding(found.rule, found.severity, found.message, source, number)


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
            raise InvalidFileError([_too_deep(self._source, line)])
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
        made: dict[str, Any] = {}
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
            if key in made:
                self.findings.append(self._finding("duplicate-key", f"The key {key!r} stands here twice.", line))
                continue
            self._lines[(*path, key)] = line
            made[key] = self.build(value_node, (*path, key))
        return made

    def _scalar(self, node: yaml.Node, line: int) -> Any:
        tag = node.tag.removeprefix("tag:yaml.org,2002:")
        if tag in ("str", "timestamp", "value", "merge"):
            if _has_surrogate(node.value):
                self.findings.append(self._finding("bad-character", _HALF_PAIR, line))
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
    made: Any = type(yaml_class.__name__, (yaml_class,), {})
    pattern = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][-+]?[0-9]+")
    made.add_implicit_resolver("tag:yaml.org,2002:float", pattern, list("-0123456789"))
    return made


def _compose(text: str, source: str) -> tuple[yaml.Node | None, Any]:
    import yaml  # a JSON catalog must not pay for it

    loader_class = with_json_numbers(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if _has_surrogate(text):
        raise InvalidFileError([_bad_character(text, next(filter(_has_surrogate, text)), source)])
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
        raise InvalidFileError([_too_deep(source)]) from None


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
                raise InvalidFileError([_too_deep(source, mark.line + 1 if mark else None)])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _bad_character(text: str, character: str, source: str) -> Finding:
    line = text.count("\n", 0, text.index(character)) + 1
    message = f"The character {character!r} may not stand in YAML; leave it out, or write its escape in quotes."
    if _has_surrogate(character):
        message = _HALF_PAIR
    return Finding("bad-character", Severity.ERROR, message, source, line)


def _too_deep(source: str, line: int | None = None) -> Finding:
    return Finding("too-deep", Severity.ERROR, f"Nested more than {MAX_DEPTH} levels deep.", source, line)


def _repeated_keys(text: str, source: str) -> Iterator[Finding]:
    from toolbelt.json_places import locate_json

    for line, key in locate_json(text)[1]:
        yield Finding("duplicate-key", Severity.ERROR, f"The key {key!r} stands here twice.", source, line)


def _check_json_values(document: Document) -> Iterator[Finding]:
    pending: list[tuple[tuple[Key, ...], Any]] = [((), document.data)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            pending.extend(((*place, key), item) for key, item in value.items())
            if any(_has_surrogate(key) for key in value):
                yield document.finding("bad-character", _HALF_PAIR, *place)
        elif isinstance(value, list):
            pending.extend(((*place, index), item) for index, item in enumerate(value))
        elif isinstance(value, str) and _has_surrogate(value):
            yield document.finding("bad-character", _HALF_PAIR, *place)
        elif isinstance(value, float) and not math.isfinite(value):
            yield document.finding("not-json", f"{value} has no form in JSON.", *place)


def _has_surrogate(text: str) -> bool:
    """Whether `text` has half a surrogate pair, which no file can hold."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _depth_exceeds(data: Any, limit: int) -> bool:
    level = [data]
    for _ in range(limit):
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _names_beside(file: Path) -> tuple[str, ...]:
    try:
        return tuple(str(file.parent / entry.name) for entry in file.parent.iterdir())
    except OSError:
        return ()
