"""Loadouts on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.console.inspection_view import STATUS_TONES
from toolbelt.console.tables import fitted_table
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.render.terminal import STYLES
from toolbelt.text import plural, visible

if TYPE_CHECKING:
    from toolbelt.loadouts import Decision, Reason, ToolLoadout
    from toolbelt.loadouts.diff import Change, LoadoutDiff
    from toolbelt.loadouts.inspection import Inspection


def list_view(rows: Sequence[tuple[ToolLoadout, Inspection, str]], screen: Console) -> RenderableType:
    """All loadouts, a line each."""
    headers = ("loadout", "extends", "plugins", "tools", "discoverable", "tokens", "saved", "from", "description")
    cells = [
        (
            Text(visible(loadout.name), "bold"),
            visible(loadout.parent_loadout_name or ""),
            str(len(inspection.resolution.active_plugins)),
            str(len(inspection.resolution.active_tools)),
            str(len(inspection.resolution.discoverable_plugins)),
            f"{inspection.active_tokens:,}",
            f"{inspection.saved_fraction:.0%}" if not inspection.is_empty else "",
            Text(visible(origin), "bright_black"),
            Text(visible(loadout.description), "bright_black"),
        )
        for loadout, inspection, origin in rows
    ]
    return fitted_table(screen, headers, cells, right=range(2, 7))


def definition_view(chain: Sequence[ToolLoadout], broken: str | None, origins: Sequence[str]) -> RenderableType:
    """A loadout's definition, and those it inherits from, root first."""
    parts: list[RenderableType] = []
    for depth, (loadout, origin) in enumerate(zip(chain, origins, strict=True)):
        parts.append(
            Text.assemble(("  " * depth, ""), (visible(loadout.name), "bold"), (f"  {visible(origin)}", "bright_black"))
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
        (decision.status.value, STYLES[STATUS_TONES[decision.status]]),
    )
    parts: list[RenderableType] = [heading]
    if decision.parts:
        shares = ", ".join(f"{count} {status.value}" for status, count in decision.parts)
        parts.append(Text(f"  of its tools: {shares}", "bright_black"))
    parts += [
        Text(f"  {_weight(decision, reason)} {visible(str(reason))}", _reason_style(reason))
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


def _weight(decision: Decision, reason: Reason) -> str:
    """How a reason affects the decision."""
    if reason.decides:
        return "because"
    return "but for some tools" if decision.kind == "plugin" and "/" in reason.entry else "overruled:"


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
    """Tools by plugin and by change: first the tools that the agent gains, then those it loses."""
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
