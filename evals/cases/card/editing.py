"""Update the `content` of a card in its text; everything else that people wrote stays as it is."""

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
    """The text of a new card: what can be counted, and comments on what people have to write."""
    return _NEW.format(name=_word(name), content=_block(content_data(content), "  ", "\n"))


def with_content(text: str, content: Content) -> str:
    """The text of a card with an updated `content`; values are changed in place.

    Args:
        text: A YAML mapping.
        content: The new content.

    Raises:
        InvalidFileError: the text is not YAML.
        ToolbeltError: `content` cannot be changed without changing more, such as an anchor.
    """
    new_content = content_data(content)
    for edit in (_with_values_edited, _with_block_replaced):
        edited = edit(text, new_content)
        if edited is not None and _is_right(text, edited, new_content):
            return edited
    raise ToolbeltError(
        "This card is written so that its `content` cannot be changed alone: take that key out, or write it as a "
        "block of its own, and try again."
    )


def _is_right(before: str, after: str, new_content: Mapping[str, Any]) -> bool:
    """Whether `content` is as wanted, and nothing else was changed."""
    try:
        old, new = parse_yaml(before, "").data, parse_yaml(after, "").data
    except InvalidFileError:
        return False
    return isinstance(new, dict) and new == {**old, "content": dict(new_content)}


def _with_values_edited(text: str, new_content: Mapping[str, Any]) -> str | None:
    """Value by value; `None` where there is no mapping to edit."""
    node = _content_node(text)
    if node is None:
        return _appended(text, new_content)
    editor = _TextEditor(text, "\r\n" if "\r\n" in text else "\n")
    if not _is_mapping(node) or not node.value:
        return None
    editor.update_mapping(node, new_content)
    return editor.text()


def _with_block_replaced(text: str, new_content: Mapping[str, Any]) -> str | None:
    """The whole block replaced, for a `content` that is no mapping."""
    node = _content_node(text)
    if node is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    start, end = node.start_mark.index, _end(node)
    while start and text[start - 1] in " \t\r\n":
        start -= 1
    if text[start - 1] != ":":  # a comment, an anchor or a tag stands between
        start = node.start_mark.index
        return f"{text[:start].rstrip(' ')}{_block(new_content, '  ', newline).lstrip(' ')}{text[end:]}"
    return f"{text[:start]}{newline}{_block(new_content, '  ', newline)}{text[end:]}"


def _appended(text: str, new_content: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    return f"{text}{gap}content:{newline}{_block(new_content, '  ', newline)}{newline}"


def _content_node(text: str) -> yaml.Node | None:
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)  # PyYAML's own scanner, whose marks count characters
    pairs = root.value if root is not None and _is_mapping(root) else []
    return next((value for key, value in pairs if key.value == "content"), None)


def _is_mapping(node: Any) -> bool:
    return type(node).__name__ == "MappingNode"


def _end(node: Any) -> int:
    """Position after the last character of a node; the end mark of a block is where the next node begins."""
    while type(node).__name__ != "ScalarNode" and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


@dataclass(eq=False)
class _TextEditor:
    """Collects changes to a text and applies them together."""

    source: str
    newline: str
    changes: list[tuple[int, int, str]] = field(default_factory=list)

    def text(self) -> str:
        text = self.source
        # From the end of the text. Of several additions in one place, the first stays first.
        ranked = sorted(enumerate(self.changes), key=lambda change: (*change[1][:2], change[0]), reverse=True)
        for _, (start, end, new) in ranked:
            text = text[:start] + new + text[end:]
        return text

    def update_mapping(self, node: Any, new_values: Mapping[str, Any]) -> None:
        """Change a mapping to the wanted one."""
        present = {key.value: (key, value) for key, value in node.value}
        missing = {key: value for key, value in new_values.items() if key not in present}
        surplus = [pair for key, pair in present.items() if key not in new_values]
        if node.flow_style and (missing or surplus):
            self.changes.append((node.start_mark.index, node.end_mark.index, _flow(new_values)))
            return
        for key, value in surplus:
            self.changes.append((self._line_end_before(key.start_mark.index), self._line_end(_end(value)), ""))
        for key, (_, value) in present.items():
            if key in new_values:
                self._update_value(value, new_values[key])
        if missing:
            end = self._line_end(_end(node))
            indent = " " * int(node.value[0][0].start_mark.column)
            self.changes.append((end, end, self.newline + _block(missing, indent, self.newline)))

    def _update_value(self, node: Any, new_value: Any) -> None:
        if isinstance(new_value, Mapping) and new_value and _is_mapping(node) and node.value:
            self.update_mapping(node, new_value)
            return
        if type(node).__name__ == "ScalarNode" and node.value == str(new_value):
            return
        new = _flow(new_value) if isinstance(new_value, Mapping) else _scalar(new_value)
        start, end = node.start_mark.index, _end(node)
        gap = " " if start and self.source[start - 1] == ":" else ""
        self.changes.append((start, end, gap + new))

    def _line_end(self, index: int) -> int:
        newline = self.source.find("\n", index)
        end = len(self.source) if newline < 0 else newline
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
    """A text as YAML, in quotes where needed."""
    is_plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _RESERVED
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in written)
