"""What agents have loaded, as views of the data that `--json` prints, and changes of it as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolbelt.errors import suggestion
from toolbelt.sessions.inspection import conflict_text
from toolbelt.text import plural, visible
from toolbelt.toolkits.toolkit_views import counted_by, overrides_text
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table

_STATIC = "always"
_META = "meta-tool"
_MOST_NAMES = 10
"""The most tools that are named in a sentence; more are counted."""


def kept_view(rows: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Everything that is kept, a session a line, as `kept_data` gives it."""
    columns = (Column("session", is_text=True), Column("loaded", is_text=True), Column("", is_text=True))
    table_rows = (
        Row(
            row["agent"],
            (
                Span(row["session"]),
                Span(", ".join(row["stored"]) or ("nothing" if row["problem"] is None else "")),
                Span(row["problem"] or "", Tone.WARNING),
            ),
        )
        for row in rows
    )
    return (Table("agent", columns, tuple(table_rows)),)


def session_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """How an agent stands in a session, as `SessionInspection.to_dict` gives it."""
    anew = "nothing is stored, so it starts afresh" if data["stored"] is None else ""
    blocks: list[Block] = [Heading(f"{data['agent']} in session {data['session']}", anew)]
    blocks.append(_loaded_table(data["loaded"]) if data["loaded"] else Note("no toolkit is loaded"))
    if data["dropped"]:
        reasons = tuple(Span(row["reason"], Tone.WARNING) for row in data["dropped"])
        blocks += [Heading("Dropped", level=2), Listing(reasons)]
    if data["not_loaded"]:
        blocks.append(_not_loaded_table(data["not_loaded"]))
    return (*blocks, *_tools(data), *_search(data.get("search")))


def change_text(answer: Mapping[str, Any], agent: str, session_id: str) -> str:
    """The result of loading or unloading, as a sentence; safe to show."""
    where = f"for {agent!r} in session {session_id!r}"
    toolkit = answer["toolkit"]
    if answer["status"] == "already_loaded":
        return visible(f"{toolkit!r} is loaded {where} already; nothing was changed.")
    if answer["status"] == "not_loaded":
        return visible(f"{toolkit!r} is not loaded {where}; nothing was changed.")
    tools = answer["tools"]
    named = ", ".join(tools) if len(tools) <= _MOST_NAMES else plural(len(tools), "tool")
    if answer["status"] == "loaded":
        return visible(f"loaded {toolkit!r} {where}; from its next turn on: {named or 'no tools'}")
    return visible(f"unloaded {toolkit!r} {where}; gone with its next turn: {named or 'no tools'}")


def refusal_text(answer: Mapping[str, Any], agent: str, allowed_toolkits: Sequence[str]) -> str:
    """Why nothing was loaded or unloaded, for a person, and what to do.

    Args:
        answer: Of the meta-tool.
        agent: Name of the agent.
        allowed_toolkits: Of its configuration, switched off or not.
    """
    toolkit, allowed = answer.get("toolkit", ""), answer.get("allowed_toolkits", ())
    may = f" It may load: {', '.join(allowed)}." if allowed else " It may load none."
    match answer["status"]:
        case "unknown":
            return f"No toolkit named {toolkit!r}.{suggestion(toolkit, allowed)}"
        case "not_allowed" if toolkit in allowed_toolkits:
            return f"Toolkit {toolkit!r} is switched off by the tools_config of agent {agent!r}.{may}"
        case "not_allowed":
            return f"Toolkit {toolkit!r} is not among the allowed_toolkits of agent {agent!r}.{may}"
        case "sticky":
            return f"Toolkit {toolkit!r} is among the initial_toolkits of agent {agent!r}, so it stays loaded."
        case "conflict":
            return f"Toolkit {toolkit!r} cannot be loaded: {conflict_text(answer)}."
        case _:
            return str(answer["message"])


def reset_text(agent: str, session_id: str, was_kept: bool, initial: Sequence[str]) -> str:
    """The result of a reset, as a sentence; safe to show."""
    where = f"{agent!r} in session {session_id!r}"
    if not was_kept:
        return visible(f"nothing is kept of {where}.")
    return visible(f"forgot what was loaded for {where}; it starts again with {', '.join(initial) or 'no toolkit'}.")


def _loaded_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = (Column("tools"), Column("tokens"), Column("from", is_text=True))
    return Table(
        "loaded",
        columns,
        tuple(
            Row(
                row["toolkit"],
                (
                    Count(len(row["tools"])),
                    Tokens(row["tokens"]),
                    Span("the agent's initial toolkits: sticky" if row["sticky"] else "this session", Tone.FAINT),
                ),
            )
            for row in rows
        ),
    )


def _not_loaded_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = (Column("adds"), Column("tokens"), Column("", is_text=True))
    return Table("may be loaded", columns, tuple(map(_not_loaded_row, rows)))


def _not_loaded_row(row: Mapping[str, Any]) -> Row:
    if row["conflict"]:
        return Row(row["toolkit"], (Span(""), Span(""), Span(f"cannot be loaded: {row['conflict']}", Tone.WARNING)))
    cells = (Count(len(row["tools"])), Tokens(row["tokens"]), Span(row["description"], Tone.FAINT))
    return Row(row["toolkit"], cells)


def _search(data: Mapping[str, Any] | None) -> list[Block]:
    if data is None:
        return []
    shown = f"first shown: {', '.join(data['shown']) or 'no tool'} ({data['tokens']:,} tokens)"
    count = f"found by search: {plural(len(data['found']), 'tool')}"
    return [Heading(f"Search {data['settings']}", data["source"], level=2), Listing((Span(shown), Span(count)))]


def _tools(data: Mapping[str, Any]) -> list[Block]:
    rows, tokens = data["tools"], data["tokens"]
    uncounted = f", {tokens['uncounted']:,} not counted" if tokens["uncounted"] else ""
    total = (
        Span(f"{plural(len(rows), 'tool')} in its next turn, {tokens['tools']:,} tokens{uncounted}", Tone.STRONG),
        Span(f"  over catalog {data['catalog']}, {counted_by(tokens)}", Tone.FAINT),
    )
    columns = (Column("tokens"), Column("by", is_text=True), Column("overrides", is_text=True, is_cut=True))
    offered = (
        Row(
            row["tool"],
            (
                Tokens(row["tokens"]),
                Span(_META if row["meta"] else _STATIC, Tone.FAINT) if row["toolkit"] is None else Span(row["toolkit"]),
                Span(overrides_text(row["overrides"]), Tone.INFO),
            ),
        )
        for row in rows
    )
    return [Line(total), *([Table("tool", columns, tuple(offered))] if rows else [])]
