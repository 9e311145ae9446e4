"""Toolkits as views, of the data that `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.text import plural
from toolbelt.views.blocks import Block, Code, Heading, Line, Listing, Note
from toolbelt.views.cells import Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table


def toolkits_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """All toolkits, a line each, as `ToolkitInspection.list_data` gives them."""
    columns = (
        Column("default", is_text=True),
        Column("members", is_spare=True),
        Column("tools"),
        Column("tokens"),
        Column("agents", is_text=True, is_spare=True),
        Column("description", is_text=True, is_cut=True),
    )
    rows = (
        Row(
            row["toolkit"],
            (
                _state(row["default_on"]),
                Count(len(row["members"])),
                Span(f"{row['tools']:,}", Tone.PLAIN if row["tools"] else Tone.WARNING),
                Tokens(row["tokens"]),
                Span(", ".join(row["agents"])),
                Span(_titled(row), Tone.FAINT),
            ),
        )
        for row in data["toolkits"]
    )
    return (Table("toolkit", columns, tuple(rows)),)


def toolkit_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """One toolkit, as `ToolkitInspection.toolkit_data` gives it."""
    tokens = data["tokens"]
    tools = sum(len(member["tools"]) for member in data["members"])
    count = (
        Span(f"{plural(len(data['members']), 'member')}, {plural(tools, 'tool')}, "),
        Span(f"{tokens['toolkit']:,} tokens", Tone.STRONG),
        Span(f" of {tokens['full']:,}"),
        Span(f"  {counted_by(tokens)}", Tone.FAINT),
    )
    who = [f"{row['agent']} (from the start)" if row["initial"] else row["agent"] for row in data["agents"]]
    return (
        Heading(data["toolkit"], f"over catalog {data['catalog']}"),
        *([Note(about)] if (about := _titled(data)) else []),
        Line(count),
        Line((Span("switched "), _state(data["default_on"]), Span(" by default"))),
        Heading("Members", level=2),
        _members_table(data["members"]),
        *_policy(data["policy"]),
        *_directive(data["directive"]),
        Heading("May be loaded by", level=2),
        Note(", ".join(who) or "no agent"),
    )


def switches_view(data: Mapping[str, Any]) -> tuple[Block, ...]:
    """The switches of a config, as `SwitchInspection.to_dict` gives them."""
    kits = (
        Row(
            row["toolkit"],
            (
                _state(row["on"]),
                Span(f"{row['enabled']:,} of {row['tools']:,}"),
                Span(_describe_switch(row), Tone.FAINT),
            ),
        )
        for row in data["toolkits"]
    )
    tools = (
        Row(
            row["id"],
            (
                _state(row["enabled"]),
                Span("-" if row["key"] is None else f"{row['key']}: {str(row['value']).lower()}"),
                Span(row["rule"]),
                Tokens(row["tokens"]),
                Span(row["reason"], Tone.FAINT),
            ),
        )
        for row in data["tools"]
    )
    tokens = data["tokens"]
    on = sum(row["enabled"] for row in data["tools"])
    total = (
        Span(f"{plural(on, 'tool')} on, {tokens['on']:,} tokens", Tone.STRONG),
        Span(f"; {len(data['tools']) - on:,} off, {tokens['off']:,} tokens"),
        Span(f"  {counted_by(tokens)}", Tone.FAINT),
    )
    because = Column("because", is_text=True, is_cut=True)
    kit_columns = (Column("switch", is_text=True), Column("tools on"), because)
    decided = (Column("is", is_text=True), Column("switch", is_text=True), Column("rule", is_text=True, is_spare=True))
    tool_columns = (*decided, Column("tokens", is_spare=True), because)
    return (
        Table("toolkit", kit_columns, tuple(kits)),
        Table("tool", tool_columns, tuple(tools)),
        Line(total),
        *_narrowed(data["directive"], on),
    )


def counted_by(tokens: Mapping[str, Any]) -> str:
    """The vocabulary that counted."""
    return f"by {tokens['tokenizer']}{'' if tokens['exact'] else ' (an estimate)'}"


def overrides_text(overrides: Mapping[str, Any]) -> str:
    """Overrides on one line."""
    return json.dumps(overrides, ensure_ascii=False) if overrides else ""


def _titled(row: Mapping[str, Any]) -> str:
    parts = (row["label"] if row["label"] != row["toolkit"] else "", row["description"])
    return ": ".join(part for part in parts if part)


def _members_table(members: list[Mapping[str, Any]]) -> Table:
    """A row for each tool, and for each member that stands for none."""
    rows = []
    for member in members:
        overrides = Span(overrides_text(member["overrides"]), Tone.INFO)
        for tool in member["tools"]:
            entry = member["entry"] if member["entry"] != tool["id"] else ""
            rows.append(Row(tool["id"], (Tokens(tool["tokens"]), Span(entry, Tone.FAINT), overrides)))
        if not member["tools"]:
            rows.append(Row(member["entry"], (Span(""), Span(member["message"], Tone.WARNING), overrides)))
    columns = (Column("tokens"), Column("named by", is_text=True), Column("overrides", is_text=True))
    return Table("tool", columns, tuple(rows))


def _policy(policy: Mapping[str, str | None]) -> Iterator[Block]:
    for title, key in (("Prompt, with every tool available", "text"), ("Prompt, with none available", "unavailable")):
        if (text := policy[key]) is not None:
            yield from (Heading(title, level=2), Code(text))


def _directive(rules: list[Mapping[str, Any]]) -> Iterator[Block]:
    if rules:
        yield from (Heading("Directive", level=2), Listing(tuple(Span(_rule(rule)) for rule in rules)))


def _rule(rule: Mapping[str, Any]) -> str:
    words = " or ".join(json.dumps(word, ensure_ascii=False) for word in rule["when"])
    choice = f", tool_choice {rule['tool_choice']}" if rule["tool_choice"] is not None else ""
    members = ", ".join(rule["members"]) or "nothing"
    return f"{words}: {members} ({plural(len(rule['tools']), 'tool')}){choice}"


def _describe_switch(row: Mapping[str, Any]) -> str:
    if row["value"] is not None:
        text = f"the configuration says {str(row['value']).lower()}"
    elif row["on"] and not row["default_on"]:
        text = "a tool of it is on"
    else:
        text = f"not in the configuration{'; on by default' if row['default_on'] else ''}"
    return f"{text}; may be loaded by {', '.join(row['agents'])}" if row["agents"] else text


def _narrowed(directive: Mapping[str, Any] | None, on: int) -> Iterator[Block]:
    if directive is None:
        return
    message = json.dumps(directive["message"], ensure_ascii=False)
    if not directive["applies"]:
        yield Note(f"{message} narrows nothing; what is on would be sent ({plural(on, 'tool')}).")
        return
    active = directive["active_tools"]
    choice = f"tool_choice {directive['tool_choice']}" if directive["tool_choice"] else "no tool_choice"
    head = f"{message} narrows the request to {plural(len(active), 'tool')}, {directive['tokens']:,} tokens, {choice}:"
    yield Note(head, Tone.STRONG)
    yield Listing(tuple(map(Span, active)))


def _state(on: bool) -> Span:
    return Span("on", Tone.GOOD) if on else Span("off", Tone.FAINT)
