"""Views as terminal text, by rich; every foreign text is spelled out by `visible`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from toolbelt.render.numbers import NOTHING, format_cell, format_interval
from toolbelt.text import visible, visible_lines
from toolbelt.views.blocks import Block, Code, Details, Heading, Line, Listing, Note, Picture, Shares
from toolbelt.views.cells import Badge, Bar, Cell, Proportion, Shaded, Span, Tone
from toolbelt.views.table import Column, Row, Table

STYLES: Mapping[Tone, str] = MappingProxyType(
    {
        Tone.PLAIN: "",
        Tone.STRONG: "bold",
        Tone.FAINT: "bright_black",
        Tone.GOOD: "green",
        Tone.WARNING: "yellow",
        Tone.BAD: "bold red",
        Tone.INFO: "cyan",
    }
)
_PART_MARKS = (("█", "#"), ("▒", "+"), ("╳", "x"), ("░", "."))
"""(Drawn, plain) of the parts of a whole, which differ without colour, too."""
_PLAIN_SIGNS = str.maketrans("✓✗✕–→≈", "+xx->~")
"""For terminals that cannot show them, one character for each."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GAP = 2
_INDENT = 2
_SHARES_WIDTH = (20, 96)
_BAR_WIDTH = 14
_LEAST_LABEL = 14
_LEAST_WORDS = 20
"""Columns that words which are folded are given at least."""
_LEAST_CUT = 12
"""Columns below which words that may be cut say nothing and are left out."""


def render_terminal(blocks: Iterable[Block], screen: Console) -> list[Text]:
    """Lines that fit the screen's width, but for code; a name without room is folded, and no figure is ever cut."""
    draw = can_draw(screen)
    lines = list(_Terminal(screen, draw).lines(blocks, screen.width))
    for line in lines if not draw else ():
        line.plain = line.plain.translate(_PLAIN_SIGNS)
    return lines


def can_draw(screen: Console) -> bool:
    """Whether block characters can be shown."""
    return "utf" in (screen.encoding or "").lower()


def draw_bar(share: float, width: int, style: str, *, draw: bool = True, has_track: bool = False) -> Text:
    """A horizontal bar.

    Args:
        share: 0 to 1; more is drawn as full.
        width: In columns.
        style: Of the bar.
        draw: Whether block characters may be used; else `#`.
        has_track: Whether the rest of the width is marked.
    """
    filled = min(max(share, 0.0), 1.0) * width
    whole = int(filled)
    if not draw:
        marks = max(whole, 1 if share > 0 else 0)  # what is there is seen
        return Text("#" * marks + ("." * (width - marks) if has_track else ""), style)
    rest = _EIGHTHS[int((filled - whole) * 8)] if whole < width else ""
    if share > 0 and whole == 0 and rest == " ":
        rest = _EIGHTHS[1]
    drawn = "█" * whole + rest.strip()
    bar = Text(drawn, style)
    if has_track:
        bar.append("░" * (width - len(drawn)), "bright_black")
    return bar


def draw_shares(parts: Sequence[tuple[float, str, str]], width: int) -> Text:
    """Shares of a whole, side by side.

    Args:
        parts: `(amount, style, character)` each; amounts are in any one unit.
        width: In columns, all used where there is anything.
    """
    total = sum(amount for amount, _, _ in parts)
    bar = Text()
    if total <= 0:
        return bar
    reached, end = 0.0, 0
    for amount, style, character in parts:
        start, reached = end, reached + amount
        end = round(reached / total * width)
        bar.append(character * (end - start), style)
    return bar


class _Terminal:
    def __init__(self, screen: Console, draw: bool) -> None:
        self.screen, self._draw = screen, draw

    def lines(self, blocks: Iterable[Block], width: int) -> Iterator[Text]:
        """Blocks below each other; those that stand apart have an empty line between them."""
        before: Block | None = None
        for block in blocks:
            if before is not None and _stand_apart(before, block):
                yield Text()
            yield from self._block(block, width)
            before = block

    def _block(self, block: Block, width: int) -> Iterator[Text]:
        match block:
            case Heading():
                heading = Text(visible(block.text), "bold")
                if block.aside:
                    heading.append(f"  {visible(block.aside)}", "not bold bright_black")
                yield from self._wrapped(heading, width)
            case Note():
                yield from self._wrapped(Text(visible(block.text), STYLES[block.tone]), width)
            case Line():
                spans = ((_inline(span.text), STYLES[span.tone]) for span in block.spans)
                line = Text.assemble(*spans)
                yield from [line] if block.is_whole else self._wrapped(line, width)
            case Listing():
                for item in block.items:
                    yield from self._wrapped(Text(visible(item.text), STYLES[item.tone]), width, _INDENT)
            case Code():
                yield from map(Text, visible_lines(block.text).split("\n"))
            case Shares():
                yield from self._shares(block, width)
            case Table():
                yield from self._table(block, width)
            case Picture():
                yield from self._wrapped(Text(visible(f"{block.title}: {block.caption}")), width)
            case Details():
                yield from self._details(block, width)
            case _:
                assert_never(block)

    def _details(self, details: Details, width: int) -> Iterator[Text]:
        title = Text(visible(details.title), _bold(details.tone))
        title.append(f"  {visible(details.aside)}" if details.aside else "", "not bold default")
        yield from self._wrapped(title, width)
        for line in self.lines(details.blocks, max(1, width - 2 * _INDENT)):
            yield Text(" " * min(2 * _INDENT, width - 1)).append_text(line)

    def _wrapped(self, text: Text, width: int, indent: int = 0) -> Iterator[Text]:
        indent = min(indent, max(0, width - 1))
        for line in text.wrap(self.screen, width - indent) if text.cell_len > width - indent else [text]:
            line.rstrip()
            yield Text(" " * indent).append_text(line) if indent else line

    def _shares(self, shares: Shares, width: int) -> Iterator[Text]:
        marks = [_PART_MARKS[place % len(_PART_MARKS)][0 if self._draw else 1] for place in range(len(shares.parts))]
        parts = list(zip(shares.parts, marks, strict=True))
        least, most = _SHARES_WIDTH
        drawn = [(part.amount, STYLES[part.tone], mark) for part, mark in parts]
        bar = draw_shares(drawn, min(max(least, min(width - 2 * _INDENT, most)), max(1, width - _INDENT)))
        yield Text(" " * _INDENT).append_text(bar)
        legend = Text()
        for part, mark in parts:
            if part.figures:
                legend.append(f"{mark} ", STYLES[part.tone]).append(f"{visible(part.label)} {visible(part.figures)}   ")
        yield from self._wrapped(legend, width, _INDENT)

    # Tables

    def _table(self, table: Table, width: int) -> Iterator[Text]:
        table = table.take([place for place, column in enumerate(table.columns) if not column.is_secondary])
        layout = _Layout(table, width, self)
        if not layout.fits:
            yield from self._list(table, layout, width)
            return
        for number, places in enumerate(layout.blocks):
            if number:
                yield Text()
            cells = iter(layout.cells)
            if any(table.label or layout.headers[place] != [""] for place in places):
                yield from layout.header(places)
            for group, rows in table.by_group():
                if group is not None:
                    yield from layout.row(Text(visible(group.label)), self.cells(group.cells, table), places, "bold")
                for row in rows:
                    yield from layout.row(layout.label(row, is_inside=group is not None), next(cells), places)
                    for note in row.notes if number == 0 else ():
                        text = Text(visible(note), STYLES[Tone.FAINT])
                        yield from self._wrapped(text, width, _INDENT * (2 if group else 1))
        if layout.left_out:
            hint = f"no room for: {', '.join(layout.left_out)} (--json has all)"
            yield from self._wrapped(Text(hint, STYLES[Tone.FAINT]), width)

    def _list(self, table: Table, layout: _Layout, width: int) -> Iterator[Text]:
        """A line for each figure, where the screen is too narrow for a label and a figure side by side."""
        for group, rows in table.by_group():
            if group is not None:
                yield from self._wrapped(Text(visible(group.label), "bold"), width)
            for row in rows:
                yield from self._wrapped(layout.label(row, is_inside=group is not None), width)
                for cell, column in zip(row.cells, table.columns, strict=True):
                    text = self.cell(cell, column)
                    if not isinstance(cell, Bar) and text.plain not in ("", NOTHING):
                        named = Text(f"{visible(column.name)} ").append_text(text)
                        yield from self._wrapped(named, width, _INDENT * (2 if group else 1))

    def cells(self, cells: Sequence[Cell], table: Table) -> list[Text]:
        """A text for each column, empty where a group has no figure."""
        texts = [self.cell(cell, column) for cell, column in zip(cells, table.columns, strict=False)]
        return texts + [Text()] * (len(table.columns) - len(texts))

    def cell(self, cell: Cell, column: Column) -> Text:
        match cell:
            case Bar():
                style = STYLES[cell.tone]
                return (
                    Text()
                    if cell.share is None
                    else draw_bar(cell.share, _BAR_WIDTH, style, draw=self._draw, has_track=cell.has_track)
                )
            case Span() | Badge():
                return Text(visible(format_cell(cell)), STYLES[cell.tone])
            case Shaded():
                return Text(visible(cell.text), _shade(cell))
            case Proportion() if column.has_interval and (interval := format_interval(cell.low, cell.high)):
                return Text.assemble((format_cell(cell), "bold"), f" {interval}")
            case _:
                return Text(format_cell(cell))


class _Layout:
    """How wide the columns of a table are, and in how many tables below each other they stand."""

    def __init__(self, table: Table, width: int, terminal: _Terminal) -> None:
        self._table, self._screen_width, self._console = table, width, terminal.screen
        has_groups = table.has_groups
        self._labels = [self.label(row, is_inside=has_groups) for row in table.rows]
        self._labels += [Text(visible(group.label)) for group, _ in table.by_group() if group is not None]
        self.headers = [[*map(visible, (column.short or column.name).split("\n"))] for column in table.columns]
        self.cells = [terminal.cells(row.cells, table) for row in table.rows]
        every = [*self.cells, *(terminal.cells(group.cells, table) for group in table.groups)]
        self._widths = [
            max([*map(cell_len, lines), *(cells[place].cell_len for cells in every)])
            for place, lines in enumerate(self.headers)
        ]
        fixed = [place for place, column in enumerate(table.columns) if not column.is_cut]
        bars = {p for p in fixed if any(isinstance(row.cells[p], Bar) for row in table.rows)}
        longest = max([cell_len(visible(table.label)), *(label.cell_len for label in self._labels)])
        fixed = self._without_spare(fixed, width - min(longest, width // 2), bars)
        self.label_width = self._label_width(longest, [place for place in fixed if place not in bars])
        if self._total(fixed) > width:  # figures say the same as bars
            fixed = [place for place in fixed if place not in bars]
        for place in (place for place in fixed if table.columns[place].is_text):
            excess = self._total(fixed) - width
            self._widths[place] = max(self._least_width(place), self._widths[place] - max(0, excess))
        self.blocks = self._in_blocks(fixed)
        left = width - self._total(self.blocks[0]) - _GAP
        for place in (place for place, column in enumerate(table.columns) if column.is_cut):
            if len(self.blocks) == 1 and left >= min(_LEAST_CUT, self._widths[place]):
                self._widths[place] = min(left, self._widths[place])
                self.blocks[0].append(place)
                left -= self._widths[place] + _GAP
        shown = {place for block in self.blocks for place in block} | bars
        hidden = [place for place in range(len(table.columns)) if place not in shown and self._widths[place]]
        self.left_out = [visible(name) for place in hidden if (name := table.columns[place].name)]

    @property
    def fits(self) -> bool:
        """Whether no line is wider than the screen."""
        return all(self._total(block) <= self._screen_width for block in self.blocks)

    def label(self, row: Row, *, is_inside: bool) -> Text:
        label = " " * _INDENT + visible(row.label) if is_inside else visible(self._table.full_label(row))
        return Text(label)

    def header(self, places: Sequence[int]) -> Iterator[Text]:
        high = max((len(self.headers[place]) for place in places), default=1)
        for number in range(high):
            label = visible(self._table.label) if number == high - 1 else ""
            cells = []
            for place in places:
                lines = self.headers[place]
                skipped = high - len(lines)
                cells.append(Text(lines[number - skipped] if number >= skipped else ""))
            yield self._line(Text(label), cells, places, "bold")

    def row(self, label: Text, cells: Sequence[Text], places: Sequence[int], style: str = "") -> Iterator[Text]:
        """A row, with its label folded where there is no room: half a name may be another's."""
        columns = [
            list(label.wrap(self._console, self.label_width, overflow="fold")),
            *(self._cell_lines(cells[place], place) for place in places),
        ]
        for number in range(max(map(len, columns))):
            first, *others = (lines[number] if number < len(lines) else Text() for lines in columns)
            yield self._line(first, others, places, style)

    def _cell_lines(self, cell: Text, place: int) -> list[Text]:
        """One line, but for words that are neither short enough nor to be cut."""
        width = self._widths[place]
        if cell.cell_len <= width:
            return [cell]
        if self._table.columns[place].is_cut:
            cell.truncate(width, overflow="ellipsis")
            return [cell]
        return list(cell.wrap(self._console, width))

    def _line(self, label: Text, cells: Sequence[Text], places: Sequence[int], style: str) -> Text:
        line = Text.assemble(label, " " * (self.label_width - label.cell_len))
        for place, cell in zip(places, cells, strict=True):
            cell.rstrip()
            blank = " " * (self._widths[place] - cell.cell_len)
            is_left = self._table.columns[place].is_text
            line.append(" " * _GAP).append_text(Text.assemble(*((cell, blank) if is_left else (blank, cell))))
        if style:
            line.stylize_before(style)
        line.rstrip()
        return line

    def _label_width(self, longest: int, places: Sequence[int]) -> int:
        """As wide as the longest label where there is room."""
        widths = [self._widths[place] for place in places]
        widest = max(map(self._least_width, places), default=0)
        if longest + sum(_GAP + each for each in widths) <= self._screen_width:
            return longest
        left = self._screen_width - sum(_GAP + self._least_width(place) for place in places)
        available_width = max(_LEAST_LABEL, left, min(self._screen_width // 3, self._screen_width - _GAP - widest))
        return max(1, min(longest, available_width, self._screen_width))

    def _without_spare(self, places: list[int], width: int, bars: Collection[int]) -> list[int]:
        """The columns that fit beside the labels: of the spare ones, those to the right are left out first."""
        remaining = list(places)
        for place in reversed([place for place in places if self._table.columns[place].is_spare]):
            if sum(_GAP + self._least_width(each) for each in remaining if each not in bars) <= width:
                break
            remaining.remove(place)
        return remaining

    def _least_width(self, place: int) -> int:
        """Of a column of words that can be folded, the least; of figures, what they take."""
        if not self._table.columns[place].is_text:
            return self._widths[place]
        return min(self._widths[place], max(_LEAST_WORDS, *map(cell_len, self.headers[place])))

    def _total(self, places: Sequence[int]) -> int:
        return self.label_width + sum(_GAP + self._widths[place] for place in places)

    def _in_blocks(self, places: Sequence[int]) -> list[list[int]]:
        blocks: list[list[int]] = [[]]
        for place in places:
            if blocks[-1] and self._total([*blocks[-1], place]) > self._screen_width:
                blocks.append([])
            blocks[-1].append(place)
        return blocks


def _stand_apart(before: Block, block: Block) -> bool:
    """Whether there is an empty line between two blocks: around tables and bars, after lists, above headings."""
    if isinstance(before, Heading) or (isinstance(before, Shares) and isinstance(block, Line | Note)):
        return False
    if Note("") in (before, block):  # a blank line by itself
        return False
    return isinstance(before, Table | Shares | Listing) or isinstance(block, Table | Shares | Heading)


def _inline(text: str) -> str:
    """As `visible`, with the blanks at the ends that part it from its neighbours."""
    start = " " * (len(text) - len(text.lstrip(" ")))
    end = " " * (len(text) - len(text.rstrip(" "))) if text.strip() else ""
    return f"{start}{visible(text)}{end}"


def _shade(cell: Shaded) -> str:
    if not cell.ground:
        return STYLES[Tone.FAINT]
    return f"{'bold ' if cell.is_strong else ''}{cell.ink} on {cell.ground}"


def _bold(tone: Tone) -> str:
    style = STYLES[tone]
    return style if "bold" in style else f"bold {style}".strip()
