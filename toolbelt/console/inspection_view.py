"""The picture of a loadout over a catalog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from toolbelt.console.bars import bar, stacked_bar
from toolbelt.console.screen import can_draw
from toolbelt.loadouts.fit import Verdict
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.loadouts.resolution import Rule
from toolbelt.loadouts.selection import Status
from toolbelt.text import plural, visible

if TYPE_CHECKING:
    from toolbelt.catalog import Plugin, Tool
    from toolbelt.loadouts.auto import AutoChoice
    from toolbelt.loadouts.fit import ModelFit
    from toolbelt.loadouts.inspection import Inspection
    from toolbelt.loadouts.resolution import Reason

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
VERDICT_STYLES = {
    Verdict.FITS: "green",
    Verdict.FITS_DEGRADED: "yellow",
    Verdict.REFUSES: "bold red",
    Verdict.UNSUPPORTED: "bold red",
    Verdict.UNKNOWN: "bright_black",
}
_BAR_WIDTH = 14
_SHARE_WIDTH = 24
MAX_NAMES = 40
"""Names of a list that are shown unless all are asked for."""


def inspection_view(inspection: Inspection, screen: Console, *, show_tools: bool, show_all: bool) -> RenderableType:
    """A loadout over a catalog: what is active and why, what it costs, and where it fits."""
    parts: list[RenderableType] = [_heading(inspection), Text(), _picture(inspection, screen), Text()]
    if inspection.auto is not None:
        parts += [*_reason_lines(inspection.auto), Text()]
    parts += _active_section(inspection, screen, show_tools=show_tools)
    for status in (Status.DISCOVERABLE, Status.DISABLED, Status.HIDDEN):
        parts += _names_section(inspection, status, show_all=show_all)
    if inspection.models and not inspection.is_empty:  # nothing fits everywhere, which says nothing
        parts += _models_section(inspection.models, screen)
    return Group(*parts)


def _reason_lines(choice: AutoChoice) -> list[Text]:
    unmet = choice.unmet_recommendation
    return [Text(f"  {visible(one)}", "yellow" if one == unmet else "bright_black") for one in choice.reasons]


def _heading(inspection: Inspection) -> RenderableType:
    resolution = inspection.resolution
    lineage = " → ".join(visible(name) for name in resolution.lineage)
    name = visible(resolution.loadout)
    line = Text.assemble(("auto chose " if inspection.auto else "", ""), (name, "bold"))
    if len(resolution.lineage) > 1:
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
    saved = Text.assemble("  ", (f"{inspection.active_tokens:,} tokens", "bold"), f" of {inspection.full_tokens:,}")
    if not inspection.is_empty:
        saved.append(": ").append(f"{inspection.saved_fraction:.0%} saved", "bold green")
    saved.append(f"   by {_tokenizer(inspection)}", "bright_black")
    return Group(Padding(stacked_bar(parts, width), (0, 0, 0, 2)), legend, saved)


def _tokenizer(inspection: Inspection) -> str:
    name = inspection.tokens.tokenizer
    return name if inspection.tokens.exact or name == "estimate" else f"{name} (an estimate)"


def _active_section(inspection: Inspection, screen: Console, *, show_tools: bool) -> list[RenderableType]:
    """Lines laid out by hand: a table of this size takes longer to lay out than all else takes to work out."""
    groups = inspection.by_category()
    if not groups:
        return [Text.assemble(("Active", "bold"), "  nothing: this loadout matches nothing of the catalog")]
    plugins = [plugin for members in groups.values() for plugin in members]
    most = max(inspection.tokens_of(_shown(inspection, plugin)) for plugin in plugins)
    names = max(cell_len(visible(name or "")) for name in (*(plugin.name for plugin in plugins), *groups))
    width = max(14, min(names + 2, 40))
    lines: list[RenderableType] = [Text(f"{'Active':<{width}}{'tools':>9}{'tokens':>9}", "bold")]
    for category, members in groups.items():
        tools = [tool for plugin in members for tool in _shown(inspection, plugin)]
        label = set_cell_size(visible(category or "no category"), width)
        lines.append(Text(f"{label}{len(tools):>9,}{inspection.tokens_of(tools):>9,}", "bold green"))
        for plugin in members:
            lines += _plugin_lines(inspection, plugin, most, width, show_tools=show_tools, draw=can_draw(screen))
    return [*lines, Text()]


def _plugin_lines(
    inspection: Inspection, plugin: Plugin, most: int, width: int, *, show_tools: bool, draw: bool
) -> list[RenderableType]:
    shown = _shown(inspection, plugin)
    taken = inspection.tokens_of(shown)
    decisive = [reason for reason in inspection.resolution.explain_plugin(plugin).reasons if reason.decides]
    why = "; ".join(visible(_brief(reason)) for reason in decisive)
    count = f"{len(shown):,}" if len(shown) == len(plugin.tools) else f"{len(shown)} of {len(plugin.tools)}"
    share = bar(taken / most if most else 0, _BAR_WIDTH, "green", draw=draw)
    share.pad_right(_BAR_WIDTH - share.cell_len)
    line = Text(f"{set_cell_size(f'  {visible(plugin.name)}', width)}{count:>9}{taken:>9,}  ")
    line.append_text(share).append(f"  {why}", "bright_black")
    line.no_wrap, line.overflow = True, "ellipsis"
    if not show_tools:
        return [line]
    names = Text(", ".join(visible(tool.name) for tool in shown), "bright_black")
    return [line, Padding(names, (0, 0, 0, 4))]


def _names_section(inspection: Inspection, status: Status, *, show_all: bool) -> list[RenderableType]:
    plugins = inspection.plugins_with(status)
    tools = inspection.resolution.tools_with(status)
    heading = (f"{status.value.capitalize():<14}", f"bold {STATUS_STYLES[status]}")
    if not plugins and not tools:
        return [Text.assemble(heading, ("none", "bright_black"))]
    names = [f"{visible(p.name)} ({len(inspection.resolution.tools_of(p, status)):,})" for p in plugins]
    whole = {plugin.name for plugin in plugins}
    names += [visible(tool.path) for tool in tools if tool.plugin not in whole]
    kept = names if show_all else names[:MAX_NAMES]
    more = f" … and {len(names) - len(kept):,} more (--all)" if len(kept) < len(names) else ""
    counts = f"{plural(len(plugins), 'plugin')}, {plural(len(tools), 'tool')}"
    listed = Text(", ".join(kept) + more, "bright_black")
    return [Text.assemble(heading, counts), Padding(listed, (0, 0, 0, 4))]


def _models_section(models: Iterable[ModelFit], screen: Console) -> list[RenderableType]:
    models = tuple(models)
    width = min(max(cell_len(visible(fit.model)) for fit in models) + 2, 50)
    share_width = min(screen.width - width - 57, _SHARE_WIDTH)
    if share_width < 6:
        share_width = 0  # on a narrow terminal the picture gives way, not a number
    share_head = "of the window"[:share_width]
    heading = f"{'Model':<{width}}{'window':>10}{'tokens':>10}  {share_head:<{share_width}}{'':>6}  verdict"
    lines: list[RenderableType] = [Text(), Text(heading, "bold")]
    for fit in models:
        style = VERDICT_STYLES[fit.verdict]
        window = f"{fit.context_window:,}" if fit.context_window is not None else "unknown"
        tokens = f"{'' if fit.exact else '~'}{fit.tokens:,}"
        line = Text(f"{set_cell_size(visible(fit.model), width)}{window:>10}{tokens:>10}  ")
        share = Text()
        if share_width:
            share = bar(fit.fraction or 0, share_width, style, draw=can_draw(screen), track=fit.fraction is not None)
            share.pad_right(share_width - share.cell_len)
        line.append_text(share).append(f"{'' if fit.fraction is None else percent(fit.fraction):>6}  ")
        line.append(f"{fit.verdict.value.replace('_', ' '):<14}", style)
        line.append(f"{'' if fit.exact else '~'}{fit.tokenizer}", "bright_black")
        line.no_wrap, line.overflow = True, "ellipsis"
        lines.append(line)
        lines += [Padding(Text(visible(reason), "bright_black"), (0, 0, 0, 2)) for reason in _worth_saying(fit)]
    return lines


def _worth_saying(fit: ModelFit) -> tuple[str, ...]:
    """Reasons that the row does not show; what is only unknown is told apart."""
    return () if fit.verdict in (Verdict.FITS, Verdict.UNKNOWN) and not fit.to_mend else fit.reasons


def percent(fraction: float) -> str:
    """A share as people read it: small ones with a digit more."""
    return f"{fraction:.1%}" if 0 < fraction < 0.1 else f"{fraction:.0%}"


def _shown(inspection: Inspection, plugin: Plugin) -> tuple[Tool, ...]:
    return inspection.resolution.tools_of(plugin, Status.ACTIVE)


def _brief(reason: Reason) -> str:
    if reason.loadout == WHOLE_CATALOG:
        return ""
    if reason.rule is Rule.CATEGORY:
        return f"category, by {reason.loadout}"
    return f"{reason.entry!r} named by {reason.loadout}" if reason.rule is Rule.NAMED else str(reason)
