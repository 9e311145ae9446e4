"""The colours of pictures on a dark page, each in place of one on a light page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from matplotlib.artist import Artist
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

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
    }
)
"""Light to dark. Other colours are the same in both: those of the heat map's cells, and of what is written on them."""
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
