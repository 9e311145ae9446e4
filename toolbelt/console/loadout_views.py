"""Loadouts on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from toolbelt.catalog import Plugin, Tool
from toolbelt.console.bars import bar, stacked_bar
from toolbelt.console.screen import can_draw
from toolbelt.console.text import plural, visible
from toolbelt.loadouts import Status, ToolLoadout
from toolbelt.loadouts.decision import Decision, Reason, Rule
from toolbelt.loadouts.diff import Change, LoadoutDiff
from toolbelt.loadouts.fit import ModelFit, Verdict
from toolbelt.loadouts.inspection import Inspection, loadout_data

STATUS_STYLES = {
    Status.ACTIVE: "green",
    Status.DISCOVERABLE: "cyan",
    Status.DISABLED: "red",
    Status.HIDDEN: "bright_black",
}
# Told apart without colour too: (block, plain character).
_MARKS = {
    Status.ACTIVE: ("█", "#"),
    Status.DISCOVERABLE: ("▒", "+"),
    Status.DISABLED: ("╳", "x"),
    Status.HIDDEN: ("░", "."),
}
_VERDICT_STYLES = {
    Verdict.FITS: "green",
    Verdict.FITS_DEGRADED: "yellow",
    Verdict.REFUSES: "bold red",
    Verdict.UNKNOWN: "bright_black",
}
MAX_NAMES = 40
"""Names of a list that are shown unless all are asked for."""


def inspection_view(inspection: Inspection, screen: Console, *, show_tools: bool, show_all: bool) -> RenderableType:
    """A loadout over a catalog: what is active and why, what it costs, and where it fits."""
    parts: list[RenderableType] = [_heading(inspection), Text(), _picture(inspection, screen), Text()]
    if inspection.auto is not None:
        parts += [*(Text(f"  {reason}", "bright_black") for reason in inspection.auto.reasons), Text()]
    parts += _active_section(inspection, screen, show_tools=show_tools)
    for status in (Status.DISCOVERABLE, Status.DISABLED, Status.HIDDEN):
        parts.append(_names_section(inspection, status, show_all=show_all))
    if inspection.models:
        parts += [Text(), _models_table(inspection.models, screen)]
    return Group(*parts)


def list_view(rows: Sequence[tuple[ToolLoadout, Inspection, str]]) -> RenderableType:
    """All loadouts, a line each."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("loadout", no_wrap=True)
    table.add_column("extends", no_wrap=True)
    for header in ("plugins", "tools", "discoverable", "tokens", "saved"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("from", no_wrap=True)
    table.add_column("description", overflow="ellipsis", no_wrap=True)
    for loadout, inspection, origin in rows:
        table.add_row(
            Text(visible(loadout.name), "bold"),
            visible(loadout.parent_loadout_name or ""),
            str(len(inspection.resolution.active_plugins)),
            str(len(inspection.resolution.active_tools)),
            str(len(inspection.resolution.discoverable_plugins)),
            f"{inspection.active_tokens:,}",
            f"{inspection.saved_fraction:.0%}",
            Text(visible(origin), "bright_black"),
            Text(visible(loadout.description), "bright_black"),
        )
    return table


def definition_view(chain: Sequence[ToolLoadout], broken: str | None, origins: Sequence[str]) -> RenderableType:
    """A loadout's definition, and those it inherits from, root first."""
    parts: list[RenderableType] = []
    for depth, (loadout, origin) in enumerate(zip(chain, origins, strict=True)):
        parts.append(
            Text.assemble(("  " * depth, ""), (visible(loadout.name), "bold"), (f"  {origin}", "bright_black"))
        )
        for key, value in loadout_data(loadout).items():
            text = value if isinstance(value, str) else ", ".join(value)
            parts.append(Text.assemble(("  " * (depth + 1), ""), (f"{key}: ", "bright_black"), visible(text)))
    if broken:
        parts.append(Text(f"the chain ends early: {visible(broken)}", "yellow"))
    return Group(*parts)


def decision_view(decision: Decision) -> RenderableType:
    """Why a plugin or tool is where it is, rule by rule."""
    of = f" of plugin {visible(decision.plugin)}" if decision.kind == "tool" else ""
    category = f"category {visible(decision.category)}" if decision.category else "no category"
    heading = Text.assemble(
        (visible(decision.name), "bold"),
        f"  {decision.kind}{of}, {category}: ",
        (decision.status.value, STATUS_STYLES[decision.status]),
    )
    parts: list[RenderableType] = [heading]
    if decision.parts:
        shares = ", ".join(f"{count} {status.value}" for status, count in decision.parts)
        parts.append(Text(f"  of its tools: {shares}", "bright_black"))
    parts += [
        Text(f"  {'because' if reason.decides else 'overruled:'} {visible(str(reason))}", _reason_style(reason))
        for reason in decision.reasons
    ]
    if decision.chain:
        parts += [Text(), _chain_table(decision)]
    return Group(*parts)


def diff_view(diff: LoadoutDiff) -> RenderableType:
    """What an agent gains and loses from one loadout to the other."""
    heading = Text.assemble((visible(diff.a), "bold"), " → ", (visible(diff.b), "bold"))
    if diff.is_same:
        return Group(heading, Text("  no difference for an agent"))
    parts: list[RenderableType] = [heading]
    parts.append(_changes_table(diff.tools or diff.plugins))
    change = diff.tokens_b - diff.tokens_a
    share = f" ({change / diff.tokens_a:+.0%})" if diff.tokens_a else ""
    style = "red" if change > 0 else "green"
    tokens = f"  tokens {diff.tokens_a:,} → {diff.tokens_b:,}  "
    parts.append(Text.assemble(tokens, (f"{change:+,}{share}", style), (f"  {diff.tokenizer}", "bright_black")))
    return Group(*parts)


def _heading(inspection: Inspection) -> RenderableType:
    resolution = inspection.resolution
    lineage = " → ".join(visible(name) for name in resolution.lineage)
    name = visible(resolution.loadout)
    line = Text.assemble(("auto chose " if inspection.auto else "", ""), (name, "bold"))
    if len(resolution.lineage) > 1 or (resolution.lineage and lineage != name):
        line.append(f"  {lineage}", "bright_black")
    line.append(f"  over catalog {visible(resolution.catalog.name)}", "bright_black")
    description = resolution.chain[-1].description if resolution.chain else ""
    return Group(line, Text(visible(description))) if description else line


def _picture(inspection: Inspection, screen: Console) -> RenderableType:
    draw = can_draw(screen)
    tokens = {status: inspection.tokens_of(inspection.resolution.tools_with(status)) for status in Status}
    width = max(20, min(screen.width - 4, 96))
    marks = {status: blocks if draw else plain for status, (blocks, plain) in _MARKS.items()}
    parts = [(tokens[status], STATUS_STYLES[status], marks[status]) for status in Status]
    legend = Text("  ")
    for status in Status:
        if tools := inspection.resolution.tools_with(status):
            legend.append(f"{marks[status]} ", STATUS_STYLES[status])
            legend.append(f"{status.value} {plural(len(tools), 'tool')}, {tokens[status]:,} tokens   ")
    saved = Text.assemble(
        "  ",
        (f"{inspection.active_tokens:,} tokens", "bold"),
        f" of {inspection.full_tokens:,}: ",
        (f"{inspection.saved_fraction:.0%} saved", "bold green"),
        (f"   counted with {_tokenizer(inspection)} over the JSON sent", "bright_black"),
    )
    return Group(Padding(stacked_bar(parts, width), (0, 0, 0, 2)), legend, saved)


def _tokenizer(inspection: Inspection) -> str:
    return inspection.tokens.tokenizer if inspection.tokens.exact else f"{inspection.tokens.tokenizer} (an estimate)"


def _active_section(inspection: Inspection, screen: Console, *, show_tools: bool) -> list[RenderableType]:
    groups = inspection.by_category()
    if not groups:
        return [Text.assemble(("Active", "bold"), "  nothing: this loadout matches nothing of the catalog")]
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold", padding=(0, 1))
    table.add_column("Active", no_wrap=True)
    for header in ("tools", "tokens"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, width=16)
    table.add_column("why and what", overflow="fold", ratio=1)
    most = max(inspection.tokens_of(_shown(inspection, plugin)) for plugins in groups.values() for plugin in plugins)
    for category, plugins in groups.items():
        of_category = [tool for plugin in plugins for tool in _shown(inspection, plugin)]
        table.add_row(
            Text(visible(category or "no category"), "bold green"),
            Text(str(len(of_category)), "green"),
            Text(f"{inspection.tokens_of(of_category):,}", "green"),
        )
        for plugin in plugins:
            _add_plugin(table, inspection, plugin, most, show_tools=show_tools, draw=can_draw(screen))
    return [table, Text()]


def _add_plugin(
    table: Table, inspection: Inspection, plugin: Plugin, most: int, *, show_tools: bool, draw: bool
) -> None:
    shown = _shown(inspection, plugin)
    taken = inspection.tokens_of(shown)
    decisive = [reason for reason in inspection.resolution.explain_plugin(plugin).reasons if reason.decides]
    why = Text("; ".join(visible(_brief(reason)) for reason in decisive), "bright_black")
    count = str(len(shown)) if len(shown) == len(plugin.tools) else f"{len(shown)} of {len(plugin.tools)}"
    share = bar(taken / most if most else 0, 14, "green", draw=draw)
    table.add_row(f"  {visible(plugin.name)}", count, f"{taken:,}", share, why)
    if show_tools:
        table.add_row("", "", "", "", Text(", ".join(visible(tool.name) for tool in shown)))


def _names_section(inspection: Inspection, status: Status, *, show_all: bool) -> RenderableType:
    plugins = inspection.plugins_with(status)
    tools = inspection.resolution.tools_with(status)
    heading = (status.value.capitalize().ljust(13), f"bold {STATUS_STYLES[status]}")
    if not plugins and not tools:
        return Text.assemble(heading, ("none", "bright_black"))
    names = [f"{visible(plugin.name)} {len(plugin.tools)}" for plugin in plugins]
    whole = {plugin.name for plugin in plugins}
    names += [visible(tool.path) for tool in tools if tool.plugin not in whole]
    kept = names if show_all else names[:MAX_NAMES]
    more = f" … and {len(names) - len(kept):,} more (--all)" if len(kept) < len(names) else ""
    table = Table.grid(padding=(0, 0))
    table.add_column(no_wrap=True, width=13)
    table.add_column(overflow="fold")
    counts = f"{plural(len(plugins), 'plugin')}, {plural(len(tools), 'tool')}"
    table.add_row(Text.assemble(heading), Text.assemble((f"{counts}: ", "bright_black"), ", ".join(kept), more))
    return table


def _models_table(models: Iterable[ModelFit], screen: Console) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("Model", no_wrap=True)
    table.add_column("window", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("share of the window", no_wrap=True, width=26)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("", no_wrap=True)
    for fit in models:
        style = _VERDICT_STYLES[fit.verdict]
        known = fit.fraction is not None
        table.add_row(
            visible(fit.model),
            f"{fit.context_window:,}" if fit.context_window is not None else "unknown",
            f"{'' if fit.exact else '~'}{fit.tokens:,}",
            bar(fit.fraction or 0, 24, style, draw=can_draw(screen), track=True) if known else Text(""),
            percent(fit.fraction) if fit.fraction is not None else "",
            Text(fit.verdict.value.replace("_", " "), style),
            Text(fit.tokenizer if fit.exact else f"estimate ({fit.tokenizer})", "bright_black"),
        )
    return table


def percent(fraction: float) -> str:
    """A share as people read it: small ones with a digit more."""
    return f"{fraction:.1%}" if 0 < fraction < 0.1 else f"{fraction:.0%}"


def _shown(inspection: Inspection, plugin: Plugin) -> tuple[Tool, ...]:
    return inspection.resolution.tools_of(plugin, Status.ACTIVE)


def _brief(reason: Reason) -> str:
    if reason.rule is Rule.CATEGORY:
        return f"category, by {reason.loadout}"
    return f"{reason.entry!r} named by {reason.loadout}" if reason.rule is Rule.NAMED else str(reason)


def _reason_style(reason: Reason) -> str:
    return "" if reason.decides else "bright_black"


def _chain_table(decision: Decision) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2))
    table.add_column("chain, root first", no_wrap=True)
    for header in ("1 disabled?", "2 named?", "3 category?", "4 discoverable?"):
        table.add_column(header, no_wrap=True)
    for step in decision.chain:
        cells = [Text(", ".join(map(visible, entries)) if entries else "·") for _, entries in step.entries()]
        table.add_row(visible(step.loadout), *cells)
    return table


def _changes_table(changes: Sequence[Change]) -> RenderableType:
    """Tools by plugin and by what became of them: what the agent gains first, then what it loses."""
    groups: dict[tuple[int, str, str, str], list[str]] = {}
    for change in changes:
        rank = 0 if change.appears else 1 if change.disappears else 2
        groups.setdefault((rank, change.plugin, change.before, change.after), []).append(change.name)
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for (rank, plugin, before, after), names in sorted(groups.items(), key=lambda group: group[0][0]):
        mark, style = (("+", "green"), ("-", "red"), ("~", "cyan"))[rank]
        listed = ", ".join(visible(name.removeprefix(f"{plugin}/")) for name in names)
        row = (f"  {mark} {visible(plugin)}", plural(len(names), "tool"), f"{before} → {after}")
        table.add_row(*(Text(cell, style) for cell in row), "", Text(listed, "bright_black"))
    return table
