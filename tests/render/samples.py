"""One set of views, with everything a renderer must get right."""

from __future__ import annotations

from toolbelt.views.blocks import Block, Code, Details, Heading, Line, Listing, Note, Part, Picture, Shares
from toolbelt.views.cells import (
    Amount,
    Badge,
    Bar,
    Count,
    Dollars,
    Percent,
    Proportion,
    Seconds,
    Span,
    Tokens,
    Tone,
)
from toolbelt.views.table import Column, Group, Row, Table

HOSTILE = (
    "a|b",
    "<script>alert(1)</script>",
    "\x1b[31mred",
    "e\u202evil",
    "`code`",
    "*bold*",
    "财务",
    "&amp;",
    '"quoted"',
)
"""Names that would break a table, a page or a terminal if they were shown raw."""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt"></svg>'

FIGURES = Table(
    "arm",
    (
        Column("accuracy", "Of the scored trials.", "accuracy\n(95% interval)", has_interval=True, has_bar=True),
        Column("of all"),
        Column("mean"),
        Column("tokens", has_bar=True),
        Column("cost"),
        Column("latency"),
        Column("of the window"),
        Column("", is_text=True),
        Column("verdict", is_text=True),
        Column("why", is_text=True, is_cut=True),
    ),
    (
        Row(
            "full",
            (
                Proportion(0.783, 0.7511, 0.8119, 470, 600),
                Count(470, 600),
                Amount(1.304),
                Tokens(45_678),
                Dollars(0.00123),
                Seconds(0.35),
                Percent(0.4),
                Bar(0.4, Tone.GOOD, has_track=True),
                Badge("fits", Tone.GOOD),
                Span("there is room", Tone.FAINT),
            ),
            "gpt",
            ("A sentence about the row.",),
        ),
        Row(
            "loadout",
            (
                Proportion(None),
                Count(None),
                Amount(None),
                Tokens(None),
                Dollars(None),
                Seconds(None),
                Percent(None),
                Bar(None),
                Badge("unknown", Tone.FAINT),
                Span(""),
            ),
            "qwen",
        ),
    ),
    "model",
    name="figures",
    caption="Figures of each arm",
    is_numbered=True,
)
SUMS = Table(
    "Active",
    (Column("tools"), Column("tokens")),
    (
        Row("git", (Count(1, 2), Tokens(100)), "code"),
        Row("file", (Count(1), Tokens(200, is_estimate=True)), "code"),
        Row("pay", (Count(3), Tokens(300)), "money"),
    ),
    groups=(Group("code", (Count(2), Tokens(300))), Group("money", (Count(3), Tokens(300)))),
)
NAMES = Table(
    "name", (Column("also", is_text=True),), tuple(Row(name, (Span(name),), f"{name}!") for name in HOSTILE), "of"
)
PICTURE = Picture("pic", "A <picture>", "How to read it.", SVG, b"\x89PNG")


def hostile_blocks() -> tuple[Block, ...]:
    """Every kind of block, with hostile text wherever it can stand."""
    blocks = (
        block
        for name in HOSTILE
        for block in (
            Heading(name, name),
            Note(name, Tone.WARNING),
            Line((Span("by "), Span(name, Tone.STRONG))),
            Listing((Span(name, Tone.FAINT),)),
            Code(name),
            Shares((Part(name, 1.0, f"{name} 1 tool", Tone.GOOD), Part("none", 0.0, ""))),
            Details(name, (Note(name),), name),
            Picture("p", name, name, SVG, b""),
        )
    )
    return (*blocks, NAMES)
