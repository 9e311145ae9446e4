"""What pictures are drawn on: sheets, styles, axes with their marks, and texts that fit."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import matplotlib
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.textpath import text_to_path

from toolbelt.evals.views.matrix_text import STEPS, heat_colour
from toolbelt.text import visible

_SI = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_number(value: float) -> str:
    """`250`, `1k`, `2.5k`, `12M`."""
    for unit, letter in _SI:
        if abs(value) >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def linear_marks(low: float, high: float) -> list[float]:
    """About five round values from `low` to `high`."""
    span = high - low
    if span < 1e-9:
        return [low]
    rough = span / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]


def logarithmic_marks(low: float, high: float) -> list[float]:
    """Round values from `low` to `high`, both above 0: 1, 2, 5, 10, …; fewer if the range has many powers of ten."""
    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades <= 2.2 else (1, 3) if decades <= 3.5 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [step * 10.0**power for power in powers for step in steps]
    return [value for value in marks if low * 0.999 <= value <= high * 1.001]


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether values differ so much that a linear axis would crowd the small ones."""
    return bool(values) and min(values) > 0.01 and max(values) / min(values) > 12


def share_range(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    """A range within 0 to 1 that shows all values with a margin, and does not exaggerate small differences."""
    low, high = min(lows, default=0.0), max(highs, default=1.0)
    air = max(0.04, (0.3 - (high - low)) / 2)
    return max(0.0, low - air), min(1.0, high + air)


SIZE = 9.0
"""The size of text, in points."""
SMALL = 8.25
"""The least: 11 pixels where a picture is shown as large as it is."""
TITLE = 11.0
NOTE_LINE = 0.17
"""Inches from one line at the foot to the next."""
INK = "#1a1a1a"
GREY = "#6b6b6b"
PALE = "#d9d9d9"
ACCENT = "#0b5a8a"
ORACLE = "#a3a3a3"
"""Of arms that know the answer, which nobody can use."""
_FONT = "DejaVu Sans"  # comes with matplotlib, so that a picture is the same everywhere
_MISSING = "\u25a1"
_PIXELS_PER_INCH = 160
_STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": False,
    "font.family": _FONT,
    "font.size": SIZE,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",
    "text.hinting": "none",  # letters as wide as in an SVG
    "svg.hashsalt": "toolbelt",
    "text.color": INK,
    "text.parse_math": False,  # a name may hold a dollar
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a picture distinguishes the arms of a model from those of others, without colour too.

    Attributes:
        colour: Of its marks; safe for the colour-blind.
        marker: Their shape.
        dashes: Of its lines, as matplotlib takes them.
    """

    colour: str
    marker: str
    dashes: Any


_COLOURS = ("#0b5a8a", "#d55e00", "#009e73", "#8c3b73", "#56b4e9", "#7a5c00", "#333333")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.5, 1.2, 1.5)), (0, (9, 2)), (0, (3, 1.5, 1, 1.5, 1, 1.5)))


def style(number: int) -> Style:
    """The style of the model with that number; styles repeat only after more models than a picture can show."""
    return Style(_COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)], _DASHES[number % len(_DASHES)])


@contextmanager
def own_settings() -> Iterator[None]:
    """A context to draw and save in: the user's matplotlib settings and ours do not affect each other."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


class Sheet:
    """A figure whose coordinates are inches from its lower left corner.

    Args:
        width: In inches.
        height: In inches.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.figure = Figure(figsize=(width, height), dpi=_PIXELS_PER_INCH)
        FigureCanvasAgg(self.figure)
        self.pixels_per_inch = _PIXELS_PER_INCH
        self.pixels_per_point = _PIXELS_PER_INCH / 72
        self._whole = self.figure.transFigure

    def axes(self, left: float, bottom: float, width: float, height: float) -> Any:
        """Axes to draw on; all in inches."""
        place = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(place)

    def text(self, left: float, bottom: float, text: str, **how: Any) -> None:
        """Text at a place, in inches."""
        self.figure.text(left / self.width, bottom / self.height, text, **how)

    def note(self, lines: Sequence[str]) -> None:
        """Lines at the foot."""
        for number, line in enumerate(reversed(lines)):
            self.text(0.1, 0.07 + NOTE_LINE * number, line, size=SMALL, color=GREY)

    def pixel_text(self, x: float, y: float, text: str, **how: Any) -> None:
        """Text at a place, in pixels."""
        self.text(x / self.pixels_per_inch, y / self.pixels_per_inch, text, **how)

    def line(self, start: tuple[float, float], end: tuple[float, float], **how: Any) -> None:
        """A line between two places, in pixels."""
        wide, high = self.width * self.pixels_per_inch, self.height * self.pixels_per_inch
        self.figure.add_artist(
            Line2D((start[0] / wide, end[0] / wide), (start[1] / high, end[1] / high), transform=self._whole, **how)
        )

    def mark(self, left: float, bottom: float, how: Style, size: float, *, filled: bool = True) -> None:
        """A model's mark at a place, in inches; its size in points."""
        mark = Line2D(
            [left / self.width],
            [bottom / self.height],
            transform=self._whole,
            marker=how.marker,
            markersize=size,
            markeredgecolor=how.colour,
            markerfacecolor=how.colour if filled else "white",
            markeredgewidth=1.2,
            linestyle="none",
        )
        self.figure.add_artist(mark)

    def sample(self, left: float, middle: float, width: float, how: Style, size: float) -> None:
        """A piece of a model's line with its mark, in inches; the mark's size in points."""
        ends = [(x * self.pixels_per_inch, middle * self.pixels_per_inch) for x in (left, left + width)]
        self.line(*ends, color=how.colour, linestyle=how.dashes, linewidth=1.3)
        self.mark(left + width / 2, middle, how, size)

    def interval_sample(self, left: float, middle: float) -> None:
        """An upright line as intervals are drawn, in inches."""
        across = left * self.pixels_per_inch
        ends = [(across, (middle + up) * self.pixels_per_inch) for up in (-0.06, 0.06)]
        self.line(*ends, color=GREY, linewidth=0.9)

    def bar(self, left: float, bottom: float, width: float, height: float, **how: Any) -> None:
        """A rectangle, in inches."""
        corner = (left / self.width, bottom / self.height)
        self.figure.add_artist(
            Rectangle(corner, width / self.width, height / self.height, transform=self._whole, **how)
        )

    def save(self, *, pngs: bool = True) -> Drawing:
        """The picture as it is drawn, and in its dark colours; the same picture gives the same bytes.

        Args:
            pngs: Whether to make them, too; they take twice as long as the SVG.
        """
        light = self._png() if pngs else b""
        svg = io.BytesIO()
        FigureCanvasSVG(self.figure).print_svg(svg, metadata={"Date": None, "Creator": None})
        if not pngs:
            return Drawing(with_dark_rules(svg.getvalue()))
        darken(self.figure)
        return Drawing(with_dark_rules(svg.getvalue()), light, self._png())

    def _png(self) -> bytes:
        png = io.BytesIO()
        self.figure.set_dpi(_PIXELS_PER_INCH)  # which an SVG changes
        FigureCanvasAgg(self.figure).print_png(png, metadata={"Software": None})
        return png.getvalue()


class Drawing(NamedTuple):
    """The files of a picture.

    Attributes:
        svg: Text is shapes; its colours go by what whoever looks at it prefers.
        png: On a light page; empty where none was wanted.
        dark_png: On a dark one.
    """

    svg: bytes
    png: bytes = b""
    dark_png: bytes = b""


def accuracy_axis(axes: Any, lows: Sequence[float], highs: Sequence[float]) -> None:
    """Make the upright axis one of accuracy, wide enough for these bounds, which are fractions."""
    bottom, top = share_range(lows, highs)
    axes.set_ylim(bottom, top + 0.01)  # the edge of a mark at the top is seen
    shares = linear_marks(bottom, top)
    axes.set_yticks(shares, [f"{share:.0%}" for share in shares])
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)


@lru_cache(maxsize=10_000)
def text_width(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """In inches, as wide as an SVG draws it."""
    if not text:
        return 0.0
    font = FontProperties(family=_FONT, size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def widest(texts: Sequence[str], size: float = SIZE, *, bold: bool = False) -> float:
    """In inches; 0 where there is none."""
    return max((text_width(text, size, bold=bold) for text in texts), default=0.0)


def in_lines(text: str, width: float, size: float = SIZE) -> list[str]:
    """Text in lines of at most so many inches, if no word is longer."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


@cache
def _drawable() -> frozenset[int]:
    return frozenset(get_font(findfont(_FONT)).get_charmap())


def drawable(text: str, most: int) -> str:
    """Foreign text for a picture: on one line, with at most so many characters, unknown ones as boxes."""
    plain = "".join(char if ord(char) in _drawable() else _MISSING for char in visible(text))
    if len(plain) <= most:
        return plain
    # In the middle: labels of arms differ at either end.
    head = (most - 1) // 2
    return f"{plain[:head].rstrip()}…{plain[head + 1 - most :].lstrip()}"


def distinct(texts: Sequence[str], most: int) -> list[str]:
    """Like `drawable`, but each is unique: texts that look the same when cut get a number, from 1."""
    shown = [drawable(text, most) for text in texts]
    return [f"#{n} {text}" if shown.count(text) > 1 else text for n, text in enumerate(shown, start=1)]


# Dark pages

DARK: Mapping[str, str] = MappingProxyType(
    {
        "#ffffff": "#14171a",
        "#1a1a1a": "#e4e7ea",
        "#6b6b6b": "#9aa5af",
        "#d9d9d9": "#2f363d",
        "#a3a3a3": "#7b858f",
        "#c3ccd2": "#3d4750",
        "#0b5a8a": "#4fa8df",
        "#d55e00": "#f08a3c",
        "#009e73": "#3fcf9f",
        "#8c3b73": "#d58cbb",
        "#56b4e9": "#b3ddf7",
        "#7a5c00": "#d9b64a",
        "#333333": "#c9ced3",
        "#f4f4f4": "#22272c",
        "#c4c4c4": "#3a424a",
        "#3d3d3d": "#c3cad1",
        # The heat map's scale runs the other way, so that much is bright, and so does what is written on its cells.
        **{heat_colour(step): heat_colour(STEPS - step) for step in range(STEPS + 1)},
        "#010101": "#fefefe",
        "#fefefe": "#010101",
    }
)
"""Light to dark; other colours are the same in both."""
_KINDS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def darken(figure: Figure) -> None:
    """Give everything in a figure its colour on a dark page."""
    for artist in _artists(figure):
        for kind in _KINDS:
            get, set_ = getattr(artist, f"get_{kind}", None), getattr(artist, f"set_{kind}", None)
            if get is None or set_ is None or (isinstance(colour := get(), str) and colour in ("none", "auto")):
                continue
            *_, alpha = rgba = to_rgba(colour)
            if (dark := DARK.get(to_hex(rgba))) is not None:
                set_((*to_rgba(dark)[:3], alpha))


def _artists(figure: Figure) -> Iterator[Artist]:
    for artist in figure.findobj():
        yield artist
        if isinstance(artist, Text) and (box := artist.get_bbox_patch()) is not None:
            yield box
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            yield artist.arrow_patch


def with_dark_rules(svg: bytes) -> bytes:
    """An SVG with rules that give it its dark colours where whoever looks at it prefers those."""
    rules = "".join(_rules(svg.decode("utf-8")))
    style = f'<style type="text/css">@media screen and (prefers-color-scheme: dark) {{{rules}}}</style>\n </defs>'
    return svg.replace(b"</defs>", style.encode(), 1)


def _rules(svg: str) -> Iterator[str]:
    """By what matplotlib writes: a style of each shape, and an attribute of the ground of each pattern."""
    for light, dark in DARK.items():
        for kind in ("fill", "stroke"):
            if f"{kind}: {light}" in svg:
                yield f'[style*="{kind}: {light}"]{{{kind}:{dark} !important}}'
        if f'fill="{light}"' in svg:
            yield f'[fill="{light}"]{{fill:{dark}}}'
