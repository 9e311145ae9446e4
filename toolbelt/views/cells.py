"""Typed cells and pieces of text. Texts are foreign text as it came: each renderer escapes it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Tone(StrEnum):
    """What a piece of text is to the reader; renderers choose colours and classes by it."""

    PLAIN = "plain"
    STRONG = "strong"
    FAINT = "faint"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    INFO = "info"


class Span(NamedTuple):
    """A piece of text, inline or as a cell."""

    text: str
    tone: Tone = Tone.PLAIN


class Badge(NamedTuple):
    """A verdict or a severity, in a word or two; its tone is shown by a sign as well as by a colour."""

    word: str
    tone: Tone


class Count(NamedTuple):
    """A whole number, or one `of` another: `7`, `4/7`; `None` where nothing was counted."""

    value: int | None
    of: int | None = None


class Amount(NamedTuple):
    """A mean, or another number that need not be whole; `None` where nothing was measured."""

    value: float | None


class Tokens(NamedTuple):
    """Tokens, perhaps a mean; `None` where they are not known.

    Attributes:
        value: How many.
        is_estimate: Whether they were not counted by the vocabulary (or the party) that decides.
    """

    value: float | None
    is_estimate: bool = False


class Proportion(NamedTuple):
    """A share of counted things with its interval, all fractions in 0..1; `value` is `None` where none were counted."""

    value: float | None
    low: float | None = None
    high: float | None = None
    numerator: int = 0
    denominator: int = 0


class Percent(NamedTuple):
    """A fraction that may exceed 1, such as the part of a window that is taken; `None` where it is not known."""

    value: float | None


class Dollars(NamedTuple):
    """US dollars; `None` where a price is not known, which is not zero."""

    value: float | None


class Seconds(NamedTuple):
    """A duration; `None` where none was measured."""

    value: float | None


class Bar(NamedTuple):
    """A bar as a cell of its own; figures beside it say the same, so Markdown leaves it out.

    Attributes:
        share: Of its full length, 0..1; more is drawn as full. `None` draws nothing.
        tone: Its colour.
        has_track: Whether the rest of its length is marked.
    """

    share: float | None
    tone: Tone = Tone.PLAIN
    has_track: bool = False


class Shaded(NamedTuple):
    """A figure, or words, on a colour of a scale where colours can be shown.

    Attributes:
        text: What it says without the colour, too.
        ink: Colour of the text, as `#rrggbb`; empty for that of the page.
        ground: Colour behind it; empty for none, where the text is less prominent.
        is_strong: Whether it stands out among the others.
    """

    text: str
    ink: str = ""
    ground: str = ""
    is_strong: bool = False


Cell = Span | Badge | Count | Amount | Tokens | Proportion | Percent | Dollars | Seconds | Bar | Shaded


def sort_key(cell: Cell) -> float | str | None:
    """What a table is sorted by where readers may sort it; `None` where nothing is known."""
    if isinstance(cell, Span | Shaded):
        return cell.text
    if isinstance(cell, Badge):
        return cell.word
    return cell.share if isinstance(cell, Bar) else cell.value
