"""Catalogs and their tools, as views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS
from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.text import json_text, plural
from toolbelt.views.blocks import Block, Code, Heading, Line, Note
from toolbelt.views.cells import Amount, Bar, Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Group, Row, Table, facts_table


def tools_view(plugins: Sequence[Plugin], tokens: ToolTokens) -> tuple[Block, ...]:
    """Every tool, plugin by plugin, with its tokens."""
    groups = []
    for plugin in plugins:
        about = f"{plugin.effective_category or 'no category'}: {plugin.description}".removesuffix(": ")
        total = tokens.of([tool.id for tool in plugin.tools])
        groups.append(Group(plugin.name, (Tokens(total), Span(about))))
    rows = tuple(
        Row(tool.name, (Tokens(tokens.by_id[tool.id]), Span(tool.description, Tone.FAINT)), plugin.name)
        for plugin in plugins
        for tool in plugin.tools
    )
    columns = (Column("tokens"), Column("description", is_text=True, is_cut=True))
    return (Table("tool", columns, rows, "plugin", tuple(groups)),)


def tool_view(tool: Tool, category: str | None, wire_name: str, tokens: ToolTokens) -> tuple[Block, ...]:
    """One tool whole: identity, description, schema."""
    facts = [
        ("plugin", f"{tool.plugin} ({category or 'no category'})"),
        ("wire name", wire_name),
        ("tokens", f"{tokens.by_id[tool.id]:,} ({tokens.tokenizer})"),
        *((key, str(value)) for key, value in tool.annotations.items()),
    ]
    definition = DEFINITION_FORMATS["openai"](tool, wire_name)["function"]["parameters"]
    description = map(Note, tool.description.splitlines())
    return (Heading(tool.id), *description, facts_table(facts), Code(json_text(definition)))


_MAX_WORD_CHARS = 40
"""Of what matched: a pattern may match a whole description."""


def hits_view(hits: Sequence[SearchHit]) -> tuple[Block, ...]:
    """What a search found, with scores and what matched in which field."""
    columns = (
        Column("score", "Higher is better; comparable within one search only."),
        Column("matched", "Words of the query by the field that has them.", is_text=True),
        Column("description", is_text=True, is_cut=True),
    )
    rows = tuple(
        Row(
            hit.tool.id,
            (Amount(hit.score), Span(_describe_matches(hit)), Span(hit.tool.description, Tone.FAINT)),
        )
        for hit in hits
    )
    return (Table("tool", columns, rows, name="hits"),)


def _describe_matches(hit: SearchHit) -> str:
    """`push (name, description), remote (arguments)`."""
    fields: dict[str, list[str]] = {}
    for field, words in hit.matched.items():
        for word in words:
            shown = word if len(word) <= _MAX_WORD_CHARS else f"{word[:_MAX_WORD_CHARS]}…"
            fields.setdefault(shown, []).append(field.value)
    return ", ".join(f"{word} ({', '.join(names)})" for word, names in fields.items())


def stats_view(stats: Mapping[str, Any], most: int | None) -> tuple[Block, ...]:
    """How many plugins, tools and tokens, and where they are; `most` rows of each table, all if `None`."""
    summary = (
        Span(stats["catalog"], Tone.STRONG),
        Span(f"  {plural(stats['plugins'], 'plugin')}, {plural(stats['tools'], 'tool')}, "),
        Span(f"{stats['tokens']:,} tokens", Tone.STRONG),
        Span(f"  {stats['tokenizer']}{'' if stats['exact'] else ' (an estimate)'}", Tone.FAINT),
    )
    blocks: list[Block] = [Line(summary)]
    for label, rows in (("category", stats["by_category"]), ("plugin", stats["by_plugin"])):
        blocks.append(_stats_table(label, rows, most))
        if most is not None and len(rows) > most:
            blocks.append(Note(f"… and {len(rows) - most:,} more (--all)", Tone.FAINT))
    return tuple(blocks)


def _stats_table(label: str, rows: Mapping[str, Any], most: int | None) -> Table:
    largest = max((row["tokens"] for row in rows.values()), default=0) or 1
    ranked = sorted(rows.items(), key=lambda row: -row[1]["tokens"])[:most]
    columns = (Column("tools"), Column("tokens"), Column("", is_text=True))
    return Table(
        label,
        columns,
        tuple(
            Row(name, (Count(row["tools"]), Tokens(row["tokens"]), Bar(row["tokens"] / largest, Tone.GOOD)))
            for name, row in ranked
        ),
    )
