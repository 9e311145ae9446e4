"""Bringing a card's `content` up to date in the text, so that all that people wrote around it stays as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.card.card import Content
from toolbelt.evals.cases.card.check import content_data
from toolbelt.sources import parse_yaml

if TYPE_CHECKING:
    import yaml

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_NEW = """\
# What people should know of this dataset, for machines to read; README.md is the prose.
name: {name}
# summary: What it is, in a sentence or two.
# licence: An SPDX expression, such as MIT.
# languages: [en]
# made: How the cases were made.
content:  # kept by `toolbelt dataset card --write`
{content}
# readings:  # by people who had not seen the labels
#   - {{reader: Who, sample: 50, seed: 1, agreed: 49, disagreements: [{{case: ID, why: ..., done: ...}}]}}
# ambiguities:
#   - {{cases: [ID], text: What is doubtful about them.}}
"""


def new_card(name: str, content: Content) -> str:
    """The text of a card with what can be known, and comments on what cannot."""
    return _NEW.format(name=_word(name), content=_block(content_data(content), "  ", "\n"))


def with_content(text: str, content: Content) -> str:
    """The text of a card with another `content`; values are changed where they stand.

    Args:
        text: A YAML mapping.
        content: As it should be.

    Raises:
        InvalidFileError: the text is no YAML.
        ToolbeltError: it is written so that its `content` cannot be changed without changing more.
    """
    wanted = content_data(content)
    for edit in (_edited, _replaced):
        made = edit(text, wanted)
        if made is not None and _is_right(text, made, wanted):
            return made
    raise ToolbeltError(
        "This card is written so that its `content` cannot be changed alone: take that key out, or write it as a "
        "block of its own, and try again."
    )


def _is_right(before: str, after: str, wanted: Mapping[str, Any]) -> bool:
    """Whether `content` is as wanted, and nothing else has changed."""
    try:
        old, new = parse_yaml(before, "").data, parse_yaml(after, "").data
    except InvalidFileError:
        return False
    return isinstance(new, dict) and new == {**old, "content": dict(wanted)}


def _edited(text: str, wanted: Mapping[str, Any]) -> str | None:
    """Value by value; `None` where there is no mapping to edit."""
    node = _content_node(text)
    if node is None:
        return _appended(text, wanted)
    editing = _Editing(text, "\r\n" if "\r\n" in text else "\n")
    if not _is_mapping(node) or not node.value:
        return None
    editing.mapping(node, wanted)
    return editing.text()


def _replaced(text: str, wanted: Mapping[str, Any]) -> str | None:
    """The whole block anew, where what is there is not even a mapping."""
    node = _content_node(text)
    if node is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    start, end = node.start_mark.index, _end(node)
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    if text[start - 1] != ":":  # a comment, an anchor or a tag stands between
        start = node.start_mark.index
        return f"{text[:start].rstrip(' ')}{_block(wanted, '  ', newline).lstrip(' ')}{text[end:]}"
    return f"{text[:start]}{newline}{_block(wanted, '  ', newline)}{text[end:]}"


def _appended(text: str, wanted: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    return f"{text}{gap}content:{newline}{_block(wanted, '  ', newline)}{newline}"


def _content_node(text: str) -> yaml.Node | None:
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)  # PyYAML's own scanner, whose marks count characters
    pairs = root.value if root is not None and _is_mapping(root) else []
    return next((value for key, value in pairs if key.value == "content"), None)


def _is_mapping(node: Any) -> bool:
    return type(node).__name__ == "MappingNode"


def _end(node: Any) -> int:
    """Where the last character of a node stands; a block's own mark is where the next thing begins."""
    while type(node).__name__ != "ScalarNode" and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


@dataclass(eq=False)
class _Editing:
    """Changes to a text, made all together."""

    source: str
    newline: str
    changes: list[tuple[int, int, str]] = field(default_factory=list)

    def text(self) -> str:
        made = self.source
        # From the back; of what is added in one place, what was found first stands first.
        ranked = sorted(enumerate(self.changes), key=lambda change: (*change[1][:2], change[0]), reverse=True)
        for _, (start, end, new) in ranked:
            made = made[:start] + new + made[end:]
        return made

    def mapping(self, node: Any, wanted: Mapping[str, Any]) -> None:
        """Make a mapping say what is wanted."""
        there = {key.value: (key, value) for key, value in node.value}
        lacking = {key: value for key, value in wanted.items() if key not in there}
        surplus = [pair for key, pair in there.items() if key not in wanted]
        if node.flow_style and (lacking or surplus):
            self.changes.append((node.start_mark.index, node.end_mark.index, _flow(wanted)))
            return
        for key, value in surplus:
            self.changes.append((self._line_end_before(key.start_mark.index), self._line_end(_end(value)), ""))
        for key, (_, value) in there.items():
            if key in wanted:
                self._value(value, wanted[key])
        if lacking:
            end = self._line_end(_end(node))
            indent = " " * int(node.value[0][0].start_mark.column)
            self.changes.append((end, end, self.newline + _block(lacking, indent, self.newline)))

    def _value(self, node: Any, wanted: Any) -> None:
        if isinstance(wanted, Mapping) and wanted and _is_mapping(node) and node.value:
            self.mapping(node, wanted)
            return
        if type(node).__name__ == "ScalarNode" and node.value == str(wanted):
            return
        new = _flow(wanted) if isinstance(wanted, Mapping) else _scalar(wanted)
        start, end = node.start_mark.index, _end(node)
        gap = " " if start and self.source[start - 1] == ":" else ""
        self.changes.append((start, end, gap + new))

    def _line_end(self, index: int) -> int:
        found = self.source.find("\n", index)
        end = len(self.source) if found < 0 else found
        return end - 1 if self.source[end - 1 : end] == "\r" else end

    def _line_end_before(self, index: int) -> int:
        end = self.source.rfind("\n", 0, index)
        return end - 1 if end > 0 and self.source[end - 1] == "\r" else end


def _block(data: Mapping[str, Any], indent: str, newline: str) -> str:
    lines = []
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            lines += [f"{indent}{_word(key)}:", _block(value, indent + "  ", newline)]
        else:
            lines.append(f"{indent}{_word(key)}: {_flow(value) if isinstance(value, Mapping) else _scalar(value)}")
    return newline.join(lines)


def _flow(data: Mapping[str, Any]) -> str:
    values = {key: _flow(value) if isinstance(value, Mapping) else _scalar(value) for key, value in data.items()}
    items = (f"{_word(key)}: {value}" for key, value in values.items())
    return "{" + ", ".join(items) + "}"


def _scalar(value: Any) -> str:
    # A digest always in quotes: without them, one in fifty would be read as a number.
    return str(value) if isinstance(value, int) else json.dumps(value)


def _word(text: str) -> str:
    """As YAML, in quotes where that is needed."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _RESERVED
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in written)
