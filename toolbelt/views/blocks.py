"""Blocks that stand below each other: headings, notes, lists, tables, pictures."""

from __future__ import annotations

from typing import NamedTuple

from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Table


class Heading(NamedTuple):
    """A title.

    Attributes:
        text: What follows is about.
        aside: Stands beside it, less prominent.
        level: From 1.
    """

    text: str
    aside: str = ""
    level: int = 1


class Note(NamedTuple):
    """A paragraph."""

    text: str
    tone: Tone = Tone.PLAIN


class Line(NamedTuple):
    """A paragraph whose pieces differ in tone.

    Attributes:
        spans: In order.
        is_whole: Whether a terminal leaves it one line, however long, for other programs.
    """

    spans: tuple[Span, ...]
    is_whole: bool = False


class Listing(NamedTuple):
    """Sentences of equal rank, one below the other."""

    items: tuple[Span, ...]


class Code(NamedTuple):
    """Text of which every line stays as it is: a schema, or an entry to paste into a file."""

    text: str


class Part(NamedTuple):
    """A part of a whole: its label, how much of the whole it is, in any unit, and its figures in words."""

    label: str
    amount: float
    figures: str
    tone: Tone = Tone.PLAIN


class Shares(NamedTuple):
    """A whole as one bar of its parts, with a legend."""

    parts: tuple[Part, ...]


class Picture(NamedTuple):
    """A picture in all its forms.

    Attributes:
        name: Of its files, without the ending.
        title: In a few words.
        caption: How to read it, one or two sentences.
        svg: The file's content.
        png: The PNG file, in the same form as `svg`; empty where a page takes the SVG alone.
        dark_png: The same in colours for a dark page; the SVG has both.
    """

    name: str
    title: str
    caption: str
    svg: bytes
    png: bytes = b""
    dark_png: bytes = b""

    @property
    def files(self) -> dict[str, bytes]:
        """What it is written to, by file name."""
        files = {f"{self.name}.svg": self.svg, f"{self.name}.png": self.png}
        return files | ({f"{self.name}-dark.png": self.dark_png} if self.dark_png else {})


class Details(NamedTuple):
    """What not every reader wants: folded where there is a way to unfold it, indented elsewhere.

    Attributes:
        title: What is inside.
        aside: Stands beside the title: counts.
        blocks: What is inside; nothing if there are none.
        tone: Of the title.
        is_open: Whether it begins unfolded.
    """

    title: str
    blocks: tuple[Block, ...]
    aside: str = ""
    tone: Tone = Tone.STRONG
    is_open: bool = False


Block = Heading | Note | Line | Listing | Code | Shares | Table | Picture | Details
