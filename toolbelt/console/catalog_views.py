"""Catalogs on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.console.tables import fitted_table
from toolbelt.findings import Finding, Severity
from toolbelt.render.terminal import STYLES, can_draw, draw_bar
from toolbelt.text import json_text, plural, visible, visible_lines
from toolbelt.views.cells import Tone


def tools_view(plugins: Sequence[Plugin], tokens: ToolTokens, screen: Console) -> RenderableType:
    """Every tool, plugin by plugin, with its tokens."""
    rows: list[tuple[Text | str, ...]] = []
    for plugin in plugins:
        total = tokens.of([tool.id for tool in plugin.tools])
        about = f"{plugin.effective_category or 'no category'}: {plugin.description}".removesuffix(": ")
        rows.append((Text(visible(plugin.name), "bold"), Text(f"{total:,}", "bold"), Text(visible(about), "bold")))
        rows += [
            (f"  {visible(tool.name)}", f"{tokens.by_id[tool.id]:,}", Text(visible(tool.description), "bright_black"))
            for tool in plugin.tools
        ]
    return fitted_table(screen, ("tool", "tokens", "description"), rows, right=[1])


def tool_view(tool: Tool, category: str | None, wire_name: str, tokens: ToolTokens) -> RenderableType:
    """One tool whole: identity, description, schema."""
    facts = [
        ("plugin", f"{tool.plugin} ({category or 'no category'})"),
        ("wire name", wire_name),
        ("tokens", f"{tokens.by_id[tool.id]:,} ({tokens.tokenizer})"),
    ]
    facts += [(key, str(value)) for key, value in tool.annotations.items()]
    parts: list[RenderableType] = [Text(visible(tool.id), "bold"), Text(visible_lines(tool.description)), Text()]
    parts += [Text.assemble((f"{key:<16}", "bright_black"), visible(value)) for key, value in facts]
    definition = DEFINITION_FORMATS["openai"](tool, wire_name)["function"]["parameters"]
    return Group(*parts, Text(), Text(json_text(definition)))


def stats_view(stats: Mapping[str, Any], screen: Console, most: int | None = 20) -> RenderableType:
    """How many plugins, tools and tokens, and where they are; `most` rows of each table, all if `None`."""
    summary = Text.assemble(
        (visible(stats["catalog"]), "bold"),
        f"  {plural(stats['plugins'], 'plugin')}, {plural(stats['tools'], 'tool')}, ",
        (f"{stats['tokens']:,} tokens", "bold"),
        (f"  {stats['tokenizer']}{'' if stats['exact'] else ' (an estimate)'}", "bright_black"),
    )
    parts: list[RenderableType] = [summary]
    for label, rows in (("category", stats["by_category"]), ("plugin", stats["by_plugin"])):
        parts += [Text(), _stats_table(label, rows, screen, most)]
        if most is not None and len(rows) > most:
            parts.append(Text(f"… and {len(rows) - most:,} more (--all)", "bright_black"))
    return Group(*parts)


def findings_view(findings: Sequence[Finding]) -> RenderableType:
    """Findings, one a line, and how many there are."""
    parts: list[RenderableType] = [
        Text.assemble(
            (f"{visible(finding.place)}: " if finding.place else "", "bold"),
            (finding.severity.value, STYLES[Tone.BAD if finding.severity is Severity.ERROR else Tone.WARNING]),
            f": {visible(finding.message)} ",
            (f"[{finding.rule}]", "bright_black"),
        )
        for finding in findings
    ]
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    count = f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"
    parts.append(Text(count if findings else "no findings", "bold" if findings else "green"))
    return Group(*parts)


def _stats_table(label: str, rows: Mapping[str, Any], screen: Console, most: int | None) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(label, no_wrap=True)
    table.add_column("tools", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, width=24)
    largest = max((row["tokens"] for row in rows.values()), default=0)
    ranked = sorted(rows.items(), key=lambda row: -row[1]["tokens"])[:most]
    for name, row in ranked:
        share = draw_bar(row["tokens"] / largest if largest else 0, 22, "green", draw=can_draw(screen))
        table.add_row(visible(name), f"{row['tools']:,}", f"{row['tokens']:,}", share)
    return table
