"""Views as Markdown, which foreign text cannot break."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from toolbelt.render.numbers import format_cell, format_interval
from toolbelt.text import visible, visible_lines
from toolbelt.views.blocks import Block, Code, Details, Heading, Line, Listing, Note, Picture, Shares
from toolbelt.views.cells import Bar, Cell, Proportion, Span, Tone
from toolbelt.views.table import Column, Table

_CALLING = re.compile(r"(?<![\w`])@(?=\w)|#(?=\d)|(?<!\w)gh-(?=\d)", re.IGNORECASE)
"""What GitHub reads as a mention of a person, or as a link to an issue."""
_SPECIAL = re.compile(r"[\\`*\[\]|~$!]|(?<![^\W_])_|_(?![^\W_])")


def escaped(text: str) -> str:
    """Foreign text that Markdown and HTML leave alone, on one line; posted as a comment it calls nobody."""
    return _quiet(_SPECIAL.sub(lambda match: "\\" + match.group(), _plain(text)))


def escaped_html(text: str) -> str:
    """As `escaped`, for the text of an HTML element within Markdown, where a backslash would be shown."""
    return _quiet(_SPECIAL.sub(lambda match: f"&#x{ord(match.group()):x};", _plain(text)))


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """A table of foreign text, which keeps its shape.

    Args:
        headers: One a column.
        rows: Cells, as many as headers.
        right: Numbers of the columns set to the right.
    """
    lines = [headers, *rows]
    shown = ["| " + " | ".join(escaped(cell) for cell in line) + " |" for line in lines]
    rule = "|" + "|".join("---:" if place in right else "---" for place in range(len(headers))) + "|"
    return "\n".join([shown[0], rule, *shown[1:]])


def _plain(text: str) -> str:
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quiet(text: str) -> str:
    return _CALLING.sub(lambda match: f"{match.group()}<!-- -->", text)


def render_markdown(blocks: Iterable[Block], *, level: int = 1) -> str:
    """Blocks as Markdown (GitHub's), without a line end at the end.

    Args:
        blocks: In order.
        level: Of a heading of level 1.
    """
    return "\n\n".join(part for block in blocks if (part := _block(block, level)))


def _block(block: Block, level: int) -> str:
    match block:
        case Heading():
            heading = f"{'#' * min(6, level + block.level - 1)} {escaped(block.text)}"
            return f"{heading}\n\n{escaped(block.aside)}" if block.aside else heading
        case Note():
            return escaped(block.text)
        case Line():
            return "".join(_emphasised(span) for span in block.spans)
        case Listing():
            return "\n".join(f"- {escaped(item.text)}" for item in block.items)
        case Code():
            return _code(block.text)
        case Shares():
            return "\n".join(
                f"- {escaped(part.label)}: {escaped(part.figures)}" for part in block.parts if part.figures
            )
        case Table():
            return _table(block)
        case Picture():
            return f"{'#' * min(6, level + 2)} {escaped(block.title)}\n\n{_picture(block)}"
        case Details():
            title = f"{block.title}: {block.aside}" if block.aside else block.title
            opened = " open" if block.is_open else ""
            inside = render_markdown(block.blocks, level=level + 1)
            return f"<details{opened}><summary>{escaped_html(title)}</summary>\n\n{inside}\n\n</details>"
        case _:
            assert_never(block)


def _code(text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{visible_lines(text)}\n{fence}"


def _picture(picture: Picture) -> str:
    """Light or dark, as whoever reads it prefers: an element that GitHub knows, where its own image has one form."""
    image = f'<img alt="{escaped_html(picture.title)}" src="{picture.name}.png">'
    dark = f'<source media="(prefers-color-scheme: dark)" srcset="{picture.name}-dark.png">'
    shown = f"<picture>{dark}{image}</picture>" if picture.dark_png else image
    return f"{shown}\n\n{escaped(picture.caption)} ([SVG]({picture.name}.svg))"


def _emphasised(span: Span) -> str:
    text = escaped(span.text)
    if span.tone is not Tone.STRONG or not text:
        return _blanks(span.text, text)
    return _blanks(span.text, f"**{text}**")


def _blanks(text: str, shown: str) -> str:
    """With a blank at an end where the text has some."""
    return f"{' ' * text[:1].isspace()}{shown}{' ' * text[-1:].isspace()}" if shown else ""


def _table(table: Table) -> str:
    """Groups are a column, or lines of their own where they have figures; sentences about rows stand beneath it."""
    table = table.take(
        [
            place
            for place in range(len(table.columns))
            if not any(isinstance(row.cells[place], Bar) for row in table.rows)
        ]
    )
    has_column = bool(table.group_label) and not table.groups and any(row.group for row in table.rows)
    headers = [*(["#"] if table.is_numbered else []), *([table.group_label] if has_column else []), table.label]
    start = len(headers)
    rows: list[list[str]] = []
    number = 0
    for group, members in table.by_group():
        if group is not None and group.cells:
            cells = [_cell(cell, column) for cell, column in zip(group.cells, table.columns, strict=False)]
            rows.append([*([""] if table.is_numbered else []), group.label, *cells])
            rows[-1] += [""] * (start + len(table.columns) - len(rows[-1]))
        for row in members:
            number += 1
            beginning = [*([str(number)] if table.is_numbered else []), *([row.group] if has_column else []), row.label]
            rows.append([*beginning, *(_cell(c, column) for c, column in zip(row.cells, table.columns, strict=True))])
    right = [start + place for place, column in enumerate(table.columns) if not column.is_text]
    text = markdown_table(
        [*headers, *(column.name for column in table.columns)],
        rows,
        right=[*([0] if table.is_numbered else []), *right],
    )
    notes = [f"- {escaped(f'{row.label}: {note}')}" for row in table.rows for note in row.notes]
    return "\n\n".join(filter(None, (text, "\n".join(notes))))


def _cell(cell: Cell, column: Column) -> str:
    interval = format_interval(cell.low, cell.high) if isinstance(cell, Proportion) and column.has_interval else ""
    return f"{format_cell(cell)} ({interval})" if interval else format_cell(cell)
