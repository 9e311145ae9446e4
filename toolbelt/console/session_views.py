"""What agents have loaded, on the terminal; every view draws what `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from toolbelt.console.tables import fitted_table
from toolbelt.console.toolkit_views import counted_by, overrides_text
from toolbelt.errors import suggestion
from toolbelt.sessions.inspection import conflict_text
from toolbelt.text import plural, visible

_FAINT = "bright_black"
_STATIC = "always"
_META = "meta-tool"
_MOST_NAMES = 10
"""The most tools that are named in a sentence; more are counted."""


def kept_view(rows: Sequence[Mapping[str, Any]], screen: Console) -> RenderableType:
    """Everything that is kept, a session a line, as `kept_data` gives it."""
    cells = [
        (
            Text(visible(row["agent"]), "bold"),
            visible(row["session"]),
            _kept(row),
        )
        for row in rows
    ]
    return fitted_table(screen, ("agent", "session", "loaded"), cells)


def session_view(data: Mapping[str, Any], screen: Console) -> RenderableType:
    """How an agent stands in a session, as `SessionInspection.to_dict` gives it."""
    heading = Text.assemble((visible(data["agent"]), "bold"), " in session ", (visible(data["session"]), "bold"))
    if data["stored"] is None:
        heading.append("  nothing is kept, so it starts anew", _FAINT)
    parts: list[RenderableType] = [heading]
    if data["loaded"]:
        parts += [Text(), _loaded_table(data["loaded"], screen)]
    else:
        parts.append(Text("  no toolkit is loaded"))
    if data["dropped"]:
        parts += [Text(), Text("Dropped", "bold"), *_dropped(data["dropped"])]
    if data["not_loaded"]:
        parts += [Text(), _not_loaded_table(data["not_loaded"], screen)]
    return Group(*parts, Text(), *_tools(data, screen))


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


def refusal_text(answer: Mapping[str, Any], agent: str, allowed_toolkits: Sequence[str] = ()) -> str:
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
    return visible(f"forgot what was loaded for {where}; it starts anew with {', '.join(initial) or 'no toolkit'}.")


def _kept(row: Mapping[str, Any]) -> Text:
    if row["problem"] is None:
        return Text(_listed(row["stored"]) or "nothing")
    return Text.assemble(f"{_listed(row['stored'])}  ".lstrip(), (visible(row["problem"]), "yellow"))


def _loaded_table(rows: Iterable[Mapping[str, Any]], screen: Console) -> RenderableType:
    cells = [
        (
            Text(visible(row["toolkit"]), "bold"),
            f"{len(row['tools']):,}",
            f"{row['tokens']:,}",
            Text(_origin(row), _FAINT),
        )
        for row in rows
    ]
    return fitted_table(screen, ("loaded", "tools", "tokens", "from"), cells, right=[1, 2])


def _origin(row: Mapping[str, Any]) -> str:
    if row["sticky"]:
        return "the agent's initial toolkits: sticky"
    return "this session"


def _dropped(rows: Iterable[Mapping[str, Any]]) -> Iterable[Text]:
    return (Text(f"  {visible(row['reason'])}", "yellow") for row in rows)


def _not_loaded_table(rows: Iterable[Mapping[str, Any]], screen: Console) -> RenderableType:
    cells = [
        (
            Text(visible(row["toolkit"]), "bold"),
            "" if row["conflict"] else f"{len(row['tools']):,}",
            "" if row["conflict"] else f"{row['tokens']:,}",
            Text(visible(f"cannot be loaded: {row['conflict']}"), "yellow")
            if row["conflict"]
            else Text(visible(row["description"]), _FAINT),
        )
        for row in rows
    ]
    return fitted_table(screen, ("may be loaded", "adds", "tokens", ""), cells, right=[1, 2])


def _tools(data: Mapping[str, Any], screen: Console) -> Iterable[RenderableType]:
    rows, tokens = data["tools"], data["tokens"]
    uncounted = f", {tokens['uncounted']:,} not counted" if tokens["uncounted"] else ""
    yield Text.assemble(
        (f"{plural(len(rows), 'tool')} in its next turn, {tokens['tools']:,} tokens{uncounted}", "bold"),
        (f"  over catalog {visible(data['catalog'])}, {counted_by(tokens)}", _FAINT),
    )
    if rows:
        cells = [
            (
                f"  {visible(row['tool'])}",
                f"{row['tokens']:,}",
                Text(_META if row["meta"] else _STATIC, _FAINT) if row["toolkit"] is None else visible(row["toolkit"]),
                Text(overrides_text(row["overrides"]), "cyan"),
            )
            for row in rows
        ]
        yield fitted_table(screen, ("  tool", "tokens", "by", "overrides"), cells, right=[1])


def _listed(names: Sequence[str]) -> str:
    return visible(", ".join(names))
