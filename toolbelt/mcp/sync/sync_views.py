"""What servers answered, and what that changes, as values to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.gate.changes import Change, ChangeKind, total_tokens
from toolbelt.mcp.sync.sync import Listing, ServerStatus
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Note
from toolbelt.views.blocks import Listing as ListingBlock
from toolbelt.views.cells import Badge, Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table

_LARGEST = 3
_MOST_CHANGES = 40
_MOST_TOOLS = 3
"""Tools of one plugin that are named when they come or go together."""
_BADGES: Mapping[ServerStatus, Badge] = {
    ServerStatus.OK: Badge("ok", Tone.GOOD),
    ServerStatus.FAILED: Badge("failed", Tone.BAD),
    ServerStatus.NEEDS_LOGIN: Badge("needs login", Tone.WARNING),
}
_SIGNS: Mapping[ChangeKind, str] = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-"}
_WORDS: Mapping[ChangeKind, str] = {
    ChangeKind.DESCRIPTION: "another description",
    ChangeKind.SCHEMA: "another schema",
    ChangeKind.ANNOTATIONS: "other annotations",
    ChangeKind.OTHER: "another title, output schema or the like",
}


def servers_view(listings: Sequence[Listing], catalog: Catalog, tokens: Mapping[str, int]) -> tuple[Block, ...]:
    """A row for each server: status, plugins, tools, tokens, and its largest tools.

    Args:
        listings: The answers.
        catalog: After the sync; of a server that failed, it has the last known tools.
        tokens: By tool id.
    """
    columns = (
        Column("status"),
        Column("plugins"),
        Column("tools"),
        Column("tokens"),
        Column("version", is_text=True),
        Column("largest tools", is_text=True, is_cut=True),
    )
    rows = tuple(_server_row(listing, catalog, tokens) for listing in listings)
    return (Table("server", columns, rows, caption="What each server answered"),)


def plugins_view(plugins: Iterable[Plugin], tokens: Mapping[str, int]) -> tuple[Block, ...]:
    """A row for each plugin: category, tools, tokens, description."""
    columns = (
        Column("category", is_text=True),
        Column("tools"),
        Column("tokens"),
        Column("description", is_text=True, is_cut=True),
    )
    rows = tuple(
        Row(
            plugin.name,
            (
                Span(plugin.effective_category or ""),
                Count(len(plugin.tools)),
                Tokens(sum(tokens[tool.id] for tool in plugin.tools)),
                Span(plugin.description, Tone.FAINT),
            ),
        )
        for plugin in plugins
    )
    return (Table("plugin", columns, rows, caption="The plugins of the catalog"),)


def changes_view(changes: Sequence[Change]) -> tuple[Block, ...]:
    """What changed, a line each; of very many, the first."""
    if not changes:
        return (Note("Nothing has changed.", Tone.GOOD),)
    every = [Span(line) for line in _lines(changes)]
    lines = tuple(every[:_MOST_CHANGES])
    more = len(every) - len(lines)
    blocks: list[Block] = [
        Heading("What changed", f"{plural(len(changes), 'change')}, {total_tokens(changes):+,} tokens", 2),
        ListingBlock(lines),
    ]
    if more:
        blocks.append(Note(f"… and {more:,} more (--json lists all)", Tone.FAINT))
    return tuple(blocks)


def _server_row(listing: Listing, catalog: Catalog, tokens: Mapping[str, int]) -> Row:
    plugins = [plugin for plugin in catalog.plugins if plugin.server == listing.server]
    tools = [tool for plugin in plugins for tool in plugin.tools]
    is_stale = listing.status is not ServerStatus.OK and bool(tools)
    cells = (
        _BADGES[listing.status],
        Count(len(plugins)),
        Count(len(tools)),
        Tokens(sum(tokens[tool.id] for tool in tools)),
        Span(str(catalog.servers.get(listing.server, {}).get("version", ""))),
        Span(", ".join(_largest(tools, tokens)), Tone.FAINT),
    )
    return Row(listing.server, cells, notes=("the last known tools stay, marked stale",) if is_stale else ())


def _largest(tools: Iterable[Tool], tokens: Mapping[str, int]) -> Iterator[str]:
    for tool in sorted(tools, key=lambda tool: -tokens[tool.id])[:_LARGEST]:
        yield f"{tool.name} {tokens[tool.id]:,}"


def _lines(changes: Sequence[Change]) -> Iterator[str]:
    """A line for each change; for many tools of one plugin that came or went, one for all of them."""
    for (kind, plugin), group in groupby(changes, key=lambda change: (change.kind, change.tool.partition("/")[0])):
        members = list(group)
        if kind in _SIGNS and len(members) > _MOST_TOOLS:
            yield f"{_SIGNS[kind]} {plugin}: {plural(len(members), 'tool')} ({total_tokens(members):+,} tokens)"
        else:
            yield from map(_describe, members)


def _describe(change: Change) -> str:
    sign = _SIGNS.get(change.kind, "~")
    tokens = f" ({change.tokens:+,} tokens)" if change.tokens else ""
    if change.was:
        verb = "was named" if change.kind is ChangeKind.RENAMED else "was in another plugin, as"
        return f"{sign} {change.tool} {verb} {change.was}{tokens}"
    words = f": {_WORDS[change.kind]}" if change.kind in _WORDS else ""
    return f"{sign} {change.tool}{words}{tokens}"
