"""Toolkits on the terminal; every view draws what `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from toolbelt.console.tables import fitted_table
from toolbelt.text import plural, visible, visible_lines

_FAINT = "bright_black"


def toolkits_view(data: Mapping[str, Any], screen: Console) -> RenderableType:
    """All toolkits, a line each, as `ToolkitInspection.list_data` gives them."""
    headers = ("toolkit", "default", "members", "tools", "tokens", "agents", "description")
    cells = [
        (
            Text(visible(row["toolkit"]), "bold"),
            _state(row["default_on"]),
            f"{len(row['members']):,}",
            Text(f"{row['tools']:,}", "" if row["tools"] else "yellow"),
            f"{row['tokens']:,}",
            visible(", ".join(row["agents"])),
            Text(visible(_titled(row)), _FAINT),
        )
        for row in data["toolkits"]
    ]
    return fitted_table(screen, headers, cells, right=range(2, 5))


def toolkit_view(data: Mapping[str, Any]) -> RenderableType:
    """One toolkit, as `ToolkitInspection.toolkit_data` gives it."""
    tokens = data["tokens"]
    tools = sum(len(member["tools"]) for member in data["members"])
    count = Text.assemble(
        f"  {plural(len(data['members']), 'member')}, {plural(tools, 'tool')}, ",
        (f"{tokens['toolkit']:,} tokens", "bold"),
        f" of {tokens['full']:,}",
        (f"  {counted_by(tokens)}", _FAINT),
    )
    parts: list[RenderableType] = [
        Text.assemble((visible(data["toolkit"]), "bold"), f"  over catalog {visible(data['catalog'])}"),
        *([Text(visible(about))] if (about := _titled(data)) else []),
        Text(),
        count,
        Text.assemble("  switched ", _state(data["default_on"]), " by default"),
        Text(),
        Text("Members", "bold"),
        *_members(data["members"]),
    ]
    parts += _policy(data["policy"])
    if data["directive"]:
        parts += [Text(), Text("Directive", "bold"), *map(_rule, data["directive"])]
    who = [f"{row['agent']} (from the start)" if row["initial"] else row["agent"] for row in data["agents"]]
    parts += [Text(), Text.assemble(("May be loaded by  ", "bold"), visible(", ".join(who)) or "no agent")]
    return Group(*parts)


def switches_view(data: Mapping[str, Any], screen: Console) -> RenderableType:
    """The switches of a config, as `SwitchInspection.to_dict` gives them."""
    kits = [
        (
            Text(visible(row["toolkit"]), "bold"),
            _state(row["on"]),
            f"{row['enabled']:,} of {row['tools']:,}",
            Text(_describe_switch(row), _FAINT),
        )
        for row in data["toolkits"]
    ]
    tools = [
        (
            visible(row["id"]),
            _state(row["enabled"]),
            visible(f"{row['key']}: {str(row['value']).lower()}" if row["key"] is not None else "-"),
            row["rule"],
            f"{row['tokens']:,}",
            Text(visible(row["reason"]), _FAINT),
        )
        for row in data["tools"]
    ]
    tokens = data["tokens"]
    on = sum(row["enabled"] for row in data["tools"])
    total = Text.assemble(
        (f"{plural(on, 'tool')} on, {tokens['on']:,} tokens", "bold"),
        f"; {len(data['tools']) - on:,} off, {tokens['off']:,} tokens",
        (f"  {counted_by(tokens)}", _FAINT),
    )
    parts: list[RenderableType] = [
        fitted_table(screen, ("toolkit", "switch", "tools on", "because"), kits, right=[2]),
        Text(),
        fitted_table(screen, ("tool", "is", "switch", "rule", "tokens", "because"), tools, right=[4]),
        Text(),
        total,
    ]
    if (directive := data["directive"]) is not None:
        parts += [Text(), *_narrowed(directive, on)]
    return Group(*parts)


def counted_by(tokens: Mapping[str, Any]) -> str:
    """The rule that decided."""
    return f"by {tokens['tokenizer']}{'' if tokens['exact'] else ' (an estimate)'}"


def overrides_text(overrides: Mapping[str, Any]) -> str:
    """Overrides on one line, safe to show."""
    return visible(json.dumps(overrides, ensure_ascii=False)) if overrides else ""


def _titled(row: Mapping[str, Any]) -> str:
    parts = (row["label"] if row["label"] != row["toolkit"] else "", row["description"])
    return ": ".join(part for part in parts if part)


def _members(members: Sequence[Mapping[str, Any]]) -> Iterable[Text]:
    for member in members:
        line = Text.assemble("  ", (visible(member["entry"]), "" if member["tools"] else "yellow"))
        if member["tools"]:
            line.append(f"  {plural(len(member['tools']), 'tool')}, {member['tokens']:,} tokens", _FAINT)
        else:
            line.append(f"  {visible(member['message'])}", "yellow")
        if member["overrides"]:
            line.append(f"  {overrides_text(member['overrides'])}", "cyan")
        yield line
        if [tool["id"] for tool in member["tools"]] != [member["entry"]]:
            yield from (Text(f"    {visible(tool['id'])}  {tool['tokens']:,}", _FAINT) for tool in member["tools"])


def _policy(policy: Mapping[str, str | None]) -> Iterable[Text]:
    if policy["text"] is not None:
        yield from (Text(), Text("Prompt, with every tool available", "bold"), *_quoted(policy["text"]))
    if policy["unavailable"] is not None:
        yield from (Text(), Text("Prompt, with none available", "bold"), *_quoted(policy["unavailable"]))


def _quoted(text: str) -> Iterable[Text]:
    return (Text(f"  {line}") for line in visible_lines(text).split("\n"))


def _rule(rule: Mapping[str, Any]) -> Text:
    words = " or ".join(json.dumps(word, ensure_ascii=False) for word in rule["when"])
    choice = f", tool_choice {rule['tool_choice']}" if rule["tool_choice"] is not None else ""
    members = ", ".join(rule["members"]) or "nothing"
    text = f"{words}: {members} ({plural(len(rule['tools']), 'tool')}){choice}"
    return Text(f"  {visible(text)}")


def _describe_switch(row: Mapping[str, Any]) -> str:
    if row["value"] is not None:
        text = f"the configuration says {str(row['value']).lower()}"
    elif row["on"]:
        text = "a tool of it is on by its own switch"
    else:
        text = f"the configuration says nothing{'; on by default' if row['default_on'] else ''}"
    return visible(f"{text}; may be loaded by {', '.join(row['agents'])}") if row["agents"] else text


def _narrowed(directive: Mapping[str, Any], on: int) -> Iterable[Text]:
    message = json.dumps(directive["message"], ensure_ascii=False)
    if not directive["applies"]:
        yield Text(visible(f"{message} narrows nothing; what is on would be sent ({plural(on, 'tool')})."))
        return
    active = directive["active_tools"]
    choice = f"tool_choice {directive['tool_choice']}" if directive["tool_choice"] else "no tool_choice"
    head = f"{message} narrows the request to {plural(len(active), 'tool')}, {directive['tokens']:,} tokens, {choice}:"
    yield Text(visible(head), "bold")
    yield from (Text(f"  {visible(key)}") for key in active)


def _state(on: bool) -> Text:
    return Text("on", "green") if on else Text("off", _FAINT)
