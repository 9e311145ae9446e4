"""Views as parts of an HTML page; every foreign text is escaped, and what is invisible in it is spelled out."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import assert_never

from markupsafe import Markup

from toolbelt.render.numbers import format_cell, format_interval
from toolbelt.text import visible, visible_lines
from toolbelt.views.blocks import Block, Code, Details, Heading, Line, Listing, Note, Picture, Shares
from toolbelt.views.cells import Badge, Bar, Cell, Proportion, Shaded, Span, Tone, sort_key
from toolbelt.views.table import Column, Group, Row, Table

_MARKS: Mapping[Tone, str] = MappingProxyType(
    {Tone.GOOD: "✓", Tone.BAD: "✕", Tone.WARNING: "?", Tone.FAINT: "·", Tone.INFO: "i"}
)
"""Signs of badges, so that no colour is needed to read them."""
_BREAKS = re.compile(r"(?<=[/:_=])(?![/:_=]|$)|(?<=[a-z])(?=[A-Z])")
_SVG_SIZE = re.compile(rb'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"')


def render_html(blocks: Iterable[Block], *, level: int = 1) -> Markup:
    """Blocks as elements to stand in a page's body.

    Args:
        blocks: In order.
        level: Of a heading of level 1.
    """
    return Markup("\n").join(_block(block, level) for block in blocks)


def picture_source(svg: bytes) -> str:
    """The address of a picture that is in the page itself."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def picture_size(svg: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, so that the page does not move when the picture is drawn."""
    size = _SVG_SIZE.search(svg[:2000])
    return None if size is None else (round(float(size[1]) * 4 / 3), round(float(size[2]) * 4 / 3))


def breakable(name: object) -> Markup:
    """A name that a browser may break after a separator, and so need not break within a word."""
    return Markup("<wbr>").join(_BREAKS.split(visible(str(name))))


def badge(word: str, tone: Tone) -> Markup:
    """A verdict as a sign and in words."""
    sign = Markup('<span aria-hidden="true">{}</span> ').format(_MARKS[tone]) if tone in _MARKS else ""
    return Markup('<span class="badge {}">{}{}</span>').format(tone.value, sign, visible(word))


def _block(block: Block, level: int) -> Markup:
    match block:
        case Heading():
            tag = f"h{min(6, level + block.level - 1)}"
            aside = Markup(' <span class="muted">{}</span>').format(visible(block.aside)) if block.aside else ""
            return Markup('<{} dir="auto">{}{}</{}>').format(tag, visible(block.text), aside, tag)
        case Note():
            return Markup('<p class="{}" dir="auto">{}</p>').format(block.tone.value, visible(block.text))
        case Line():
            return Markup('<p dir="auto">{}</p>').format(Markup("").join(map(_span, block.spans)))
        case Listing():
            items = (
                Markup('<li class="{}" dir="auto">{}</li>').format(i.tone.value, visible(i.text)) for i in block.items
            )
            return Markup("<ul>{}</ul>").format(Markup("").join(items))
        case Code():
            return Markup('<pre dir="auto">{}</pre>').format(visible_lines(block.text))
        case Shares():
            return _shares(block)
        case Table():
            return render_table(block)
        case Picture():
            size = picture_size(block.svg)
            sizes = Markup(' width="{}" height="{}"').format(*size) if size else ""
            alternative = f"{visible(block.title)}. {visible(block.caption)}"
            return Markup(
                '<figure><div class="picture" role="region" aria-label="{}"><img src="{}" alt="{}"{}></div>'
                "<figcaption>{}</figcaption></figure>"
            ).format(visible(block.title), picture_source(block.svg), alternative, sizes, visible(block.caption))
        case Details():
            aside = Markup(' <span class="muted">{}</span>').format(visible(block.aside)) if block.aside else ""
            return Markup("<details{}><summary>{}{}</summary>{}</details>").format(
                Markup(" open") if block.is_open else "",
                _span(Span(block.title, block.tone)),
                aside,
                render_html(block.blocks, level=level + 1),
            )
        case _:
            assert_never(block)


def _span(span: Span) -> Markup:
    """Keeps a blank at its ends, which parts it from its neighbours."""
    before, after = (" " if end.isspace() else "" for end in (span.text[:1], span.text[-1:]))
    return Markup('{}<bdi class="{}">{}</bdi>{}').format(before, span.tone.value, visible(span.text), after)


def _shares(shares: Shares) -> Markup:
    total = sum(part.amount for part in shares.parts)
    bars, start = [], 0.0
    for part in shares.parts:
        width = 100 * part.amount / total if total else 0.0
        bars.append(
            Markup('<rect class="{}" x="{:.3f}" width="{:.3f}" height="10"/>').format(part.tone.value, start, width)
        )
        start += width
    legend = (
        Markup('<li class="{}">{} {}</li>').format(part.tone.value, visible(part.label), visible(part.figures))
        for part in shares.parts
        if part.figures
    )
    return Markup(
        '<svg class="stacked" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
        '<ul class="legend">{}</ul>'
    ).format(Markup("").join(bars), Markup("").join(legend))


# Tables


def render_table(table: Table) -> Markup:
    """A table; one with a name and without figures of groups may be sorted by the page's script."""
    is_sortable = bool(table.name) and not table.groups
    heads = [Markup('<th scope="col" class="name">{}</th>').format(_head(table.label))]
    heads += [
        Markup('<th scope="col"{}>{}</th>').format(
            Markup(' class="name"') if column.is_text else "", _head(column.name, column.meaning)
        )
        for column in table.columns
    ]
    if table.is_numbered:
        head = _head("#", "In the order asked for.")
        heads.insert(0, Markup('<th scope="col" class="number" aria-sort="ascending">{}</th>').format(head))
    greatest = [_greatest(table, place) for place in range(len(table.columns))]
    rows, number = [], 0
    for group, members in table.by_group():
        if group is not None and group.cells:
            rows.append(_group_row(table, group))
        for row in members:
            number += 1
            rows.append(_row(table, row, number, greatest))
    return Markup("<table{}{}>{}<thead><tr>\n{}\n</tr></thead>\n<tbody>\n{}\n</tbody></table>").format(
        Markup(' class="sortable"') if is_sortable else "",
        Markup(' id="{}"').format(table.name) if table.name else "",
        Markup('\n<caption class="unseen">{}</caption>\n').format(visible(table.caption)) if table.caption else "",
        Markup("\n").join(heads),
        Markup("\n").join(rows),
    )


def _head(name: str, meaning: str = "") -> Markup:
    title = Markup(' title="{}"').format(visible(meaning)) if meaning else ""
    return Markup('<span class="head"{}>{}</span>').format(title, visible(name))


def _greatest(table: Table, place: int) -> float:
    values = [sort_key(row.cells[place]) for row in table.rows]
    return max((value for value in values if isinstance(value, int | float)), default=0.0)


def _row(table: Table, row: Row, number: int, greatest: list[float]) -> Markup:
    cells = [
        Markup('<td{} data-order="{}">{}</td>').format(
            Markup(' class="name"') if column.is_text else "", _order(cell), _figure(cell, column, most)
        )
        for cell, column, most in zip(row.cells, table.columns, greatest, strict=True)
    ]
    beside = Markup('<span class="beside"><bdi>{}</bdi></span>').format(breakable(row.group)) if row.group else ""
    if table.groups:
        beside = Markup("")
    notes = Markup("").join(
        Markup('<span class="beside" dir="auto">{}</span>').format(visible(note)) for note in row.notes
    )
    label = Markup('<th scope="row" class="name" data-order="{}"><bdi>{}</bdi>{}{}</th>').format(
        visible(table.full_label(row)), breakable(row.label), beside, notes
    )
    before = Markup('<td class="number" data-order="{}">{}</td>').format(number, number) if table.is_numbered else ""
    return Markup("<tr>{}{}{}</tr>").format(before, label, Markup("").join(cells))


def _group_row(table: Table, group: Group) -> Markup:
    cells = [
        Markup("<td>{}</td>").format(_figure(cell, column, 0.0))
        for cell, column in zip(group.cells, table.columns, strict=False)
    ]
    cells += [Markup("<td></td>")] * (len(table.columns) - len(cells))
    before = Markup("<td></td>") if table.is_numbered else ""
    label = Markup('<th scope="rowgroup" class="name"><bdi>{}</bdi></th>').format(breakable(group.label))
    return Markup('<tr class="group">{}{}{}</tr>').format(before, label, Markup("").join(cells))


def _order(cell: Cell) -> str:
    key = sort_key(cell)
    return "" if key is None else visible(key) if isinstance(key, str) else str(key)


def _figure(cell: Cell, column: Column, greatest: float) -> Markup:
    """The text of a cell, with what a page has room for: counts, an interval, a bar."""
    match cell:
        case Badge():
            return badge(cell.word, cell.tone)
        case Span():
            return Markup('<bdi class="{}">{}</bdi>').format(cell.tone.value, visible(cell.text))
        case Shaded():
            return Markup("<bdi>{}</bdi>").format(visible(cell.text))
        case Bar():
            return Markup("") if cell.share is None else _bar(min(max(cell.share, 0.0), 1.0))
        case Proportion():
            counts = Markup("")
            if cell.denominator or cell.value is None:
                counts = Markup('<span class="counts">{:,}/{:,}</span> ').format(cell.numerator, cell.denominator)
            drawn = _bar(cell.value, cell.low, cell.high) if column.has_bar and cell.value is not None else ""
            interval = format_interval(cell.low, cell.high)
            below = Markup('<span class="beside">{}</span>').format(interval) if interval else ""
            return Markup("{}{}{}{}").format(counts, _value(cell), drawn, below)
        case _:
            share = cell.value / greatest if column.has_bar and cell.value is not None and greatest else None
            return Markup("{}{}").format(_value(cell), "" if share is None else _bar(share))


def _value(cell: Cell) -> Markup:
    return Markup('<span class="value">{}</span>').format(format_cell(cell))


def _bar(share: float, low: float | None = None, high: float | None = None) -> Markup:
    whisker = Markup("")
    if low is not None and high is not None:
        whisker = Markup('<rect class="whisker" x="{}" y="3" width="{}" height="2"/>').format(
            round(100 * low, 2), round(100 * (high - low), 2)
        )
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/><rect class="fill" width="{}" height="8"/>{}</svg>'
    ).format(round(100 * share, 2), whisker)
