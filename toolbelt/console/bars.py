"""Bars that show a share at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int, style: str, *, draw: bool = True, track: bool = False) -> Text:
    """A horizontal bar.

    Args:
        share: 0 to 1; more is drawn as full.
        width: In columns.
        style: Of the bar.
        draw: Whether block characters may be used; else `#`.
        track: Whether the rest of the width is marked.
    """
    filled = min(max(share, 0.0), 1.0) * width
    whole = int(filled)
    if not draw:
        marks = max(whole, 1 if share > 0 else 0)  # what is there is seen
        return Text("#" * marks + ("." * (width - marks) if track else ""), style)
    rest = _EIGHTHS[int((filled - whole) * 8)] if whole < width else ""
    if share > 0 and whole == 0 and rest == " ":
        rest = _EIGHTHS[1]
    drawn = "█" * whole + rest.strip()
    made = Text(drawn, style)
    if track:
        made.append("░" * (width - len(drawn)), "bright_black")
    return made


def stacked_bar(parts: Sequence[tuple[float, str, str]], width: int) -> Text:
    """Shares of a whole, side by side.

    Args:
        parts: `(amount, style, character)` each; amounts are in any one unit.
        width: In columns, all used where there is anything.
    """
    total = sum(amount for amount, _, _ in parts)
    made = Text()
    if total <= 0:
        return made
    reached, end = 0.0, 0
    for amount, style, character in parts:
        start, reached = end, reached + amount
        end = round(reached / total * width)
        made.append(character * (end - start), style)
    return made
