"""Tables of typed cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from toolbelt.views.cells import Cell, Span


class Column(NamedTuple):
    """A column of cells.

    Attributes:
        name: Its heading.
        meaning: What it says, in a sentence; empty where the name says it.
        short: Its heading where columns are narrow, with line breaks; the name if empty.
        is_text: Whether it holds words, set to the left, rather than figures.
        is_cut: Whether words that find no room are cut off, so that a row stays one line.
        is_secondary: Whether a terminal leaves it out.
        is_spare: Whether a terminal leaves it out where there is no room for it beside the others.
        has_interval: Whether text shows the intervals of its proportions; a page always does.
        has_bar: Whether a page draws a bar beneath each figure.
    """

    name: str
    meaning: str = ""
    short: str = ""
    is_text: bool = False
    is_cut: bool = False
    is_secondary: bool = False
    is_spare: bool = False
    has_interval: bool = False
    has_bar: bool = False


class Row(NamedTuple):
    """What stands in a line.

    Attributes:
        label: What the row is of.
        cells: One a column.
        group: Which group of rows it belongs to; empty where there are none.
        notes: Sentences about the row.
    """

    label: str
    cells: tuple[Cell, ...]
    group: str = ""
    notes: tuple[str, ...] = ()


class Group(NamedTuple):
    """Figures of a whole group of rows, such as sums: one cell for each of the first columns."""

    label: str
    cells: tuple[Cell, ...] = ()


class Table(NamedTuple):
    """Rows × columns.

    Attributes:
        label: Heading of the rows' labels.
        columns: In order.
        rows: In order.
        group_label: Heading of the groups' labels.
        groups: Figures of groups, for those that have some.
        name: Identifies it on a page.
        caption: What it shows, for those who cannot see it.
        is_numbered: Whether rows are numbered from 1, where there is room for it.
    """

    label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    group_label: str = ""
    groups: tuple[Group, ...] = ()
    name: str = ""
    caption: str = ""
    is_numbered: bool = False

    @property
    def has_groups(self) -> bool:
        """Whether rows can stand beneath their groups' labels: several groups, each in one piece, or with figures."""
        labels = [label for label, _ in groupby(self.rows, key=lambda row: row.group)]
        return bool(self.groups) or (len(labels) > 1 and len(labels) == len(set(labels)))

    def find_group(self, label: str) -> Group:
        """A group's figures, of which there may be none."""
        return next((group for group in self.groups if group.label == label), Group(label))

    def by_group(self) -> Iterator[tuple[Group | None, list[Row]]]:
        """Rows beneath their groups, or all of them beneath `None`."""
        if not self.has_groups:
            yield None, list(self.rows)
            return
        for label, rows in groupby(self.rows, key=lambda row: row.group):
            yield self.find_group(label), list(rows)

    def full_label(self, row: Row) -> str:
        """What distinguishes a row from all others: with its group where there are several, or only one row."""
        if not row.group or (len(self.rows) > 1 and len({other.group for other in self.rows}) == 1):
            return row.label
        return f"{row.group} · {row.label}"

    def without(self, *names: str) -> Table:
        """The table without some of its columns; groups keep the figures of the columns before the first of them."""
        places = [place for place, column in enumerate(self.columns) if column.name not in names]
        return self.take(places)

    def take(self, places: list[int]) -> Table:
        """The table with the columns at these places alone."""
        return Table(
            self.label,
            tuple(self.columns[place] for place in places),
            tuple(Row(row.label, tuple(row.cells[p] for p in places), row.group, row.notes) for row in self.rows),
            self.group_label,
            tuple(Group(g.label, tuple(g.cells[p] for p in places if p < len(g.cells))) for g in self.groups),
            self.name,
            self.caption,
            self.is_numbered,
        )


def facts_table(facts: Iterable[tuple[str, str]]) -> Table:
    """Labels, and what is known under each; without headings."""
    return Table("", (Column("", is_text=True),), tuple(Row(label, (Span(text),)) for label, text in facts))
