"""What an audit log comes to, as views."""

from __future__ import annotations

from toolbelt.mcp.logs.usage import Usage, UsageBy, UsageRow
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Note
from toolbelt.views.cells import Cell, Count, Seconds, Span, Tokens
from toolbelt.views.table import Column, Row, Table


def usage_view(usage: Usage, by: UsageBy) -> tuple[Block, ...]:
    """Calls by tool or server, then what was offered and never called."""
    span = f"{usage.first[:10]} to {usage.last[:10]}" if usage.first else "no records"
    totals = f"{plural(usage.sessions, 'session')}, {plural(usage.calls, 'call')}, {usage.failures:,} failed; {span}"
    blocks: list[Block] = [Heading("Usage", totals)]
    if usage.rows:
        blocks.append(_calls_table(usage.rows, by))
    if usage.never_called:
        tokens = sum(row.definition_tokens for row in usage.never_called)
        blocks += [
            Heading("Offered, never called", f"{tokens:,} tokens in every request", 2),
            _offered_table(usage.never_called, by),
            Note("A loadout that disables these, or makes them discoverable, saves their tokens."),
        ]
    return tuple(blocks)


def _calls_table(rows: tuple[UsageRow, ...], by: UsageBy) -> Table:
    columns = (
        Column("calls"),
        Column("failed"),
        Column("answer tokens", "Of all answers together.", "answer\ntokens"),
        Column("mean time", short="mean\ntime"),
        Column("sessions", is_secondary=True),
        Column("definition tokens", "In every request.", "definition\ntokens"),
        *_server_column(by),
    )
    return Table(by.value.title(), columns, tuple(_calls_row(row, by) for row in rows))


def _calls_row(row: UsageRow, by: UsageBy) -> Row:
    cells: tuple[Cell, ...] = (
        Count(row.calls),
        Count(row.failures),
        Tokens(row.answer_tokens),
        Seconds(row.seconds / row.calls),
        Count(row.sessions),
        Tokens(row.definition_tokens or None),
    )
    return Row(row.name or "(none)", (*cells, *_server_cell(row, by)))


def _offered_table(rows: tuple[UsageRow, ...], by: UsageBy) -> Table:
    columns = (Column("definition tokens", "In every request.", "definition\ntokens"), Column("sessions"))
    table_rows = tuple(
        Row(row.name or "(none)", (Tokens(row.definition_tokens), Count(row.sessions), *_server_cell(row, by)))
        for row in rows
    )
    return Table(by.value.title(), (*columns, *_server_column(by)), table_rows)


def _server_column(by: UsageBy) -> tuple[Column, ...]:
    return (Column("server", is_text=True, is_cut=True),) if by is UsageBy.TOOL else ()


def _server_cell(row: UsageRow, by: UsageBy) -> tuple[Cell, ...]:
    return (Span(row.server),) if by is UsageBy.TOOL else ()
