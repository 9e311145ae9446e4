"""Loadouts as views: the list, a definition, a decision with its reasons, a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolbelt.loadouts.inspection import loadout_data
from toolbelt.loadouts.inspection_view import STATUS_TONES
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table, facts_table

if TYPE_CHECKING:
    from toolbelt.loadouts import Decision, Reason, ToolLoadout
    from toolbelt.loadouts.diff import Change, LoadoutDiff
    from toolbelt.loadouts.inspection import Inspection


def list_view(rows: Sequence[tuple[ToolLoadout, Inspection, str]]) -> tuple[Block, ...]:
    """All loadouts, a line each."""
    columns = (
        Column("extends", is_text=True),
        Column("plugins", is_spare=True),
        Column("tools"),
        Column("discoverable", is_spare=True),
        Column("tokens"),
        Column("saved"),
        Column("from", is_text=True, is_spare=True),
        Column("description", is_text=True, is_cut=True),
    )
    return (Table("loadout", columns, tuple(_list_row(*row) for row in rows)),)


def _list_row(loadout: ToolLoadout, inspection: Inspection, origin: str) -> Row:
    resolution = inspection.resolution
    cells = (
        Span(loadout.parent_loadout_name or ""),
        Count(len(resolution.active_plugins)),
        Count(len(resolution.active_tools)),
        Count(len(resolution.discoverable_plugins)),
        Tokens(inspection.active_tokens),
        Span("") if inspection.is_empty else Span(f"{inspection.saved_fraction:.0%}"),
        Span(origin, Tone.FAINT),
        Span(loadout.description, Tone.FAINT),
    )
    return Row(loadout.name, cells)


def definition_view(chain: Sequence[ToolLoadout], broken: str | None, origins: Sequence[str]) -> tuple[Block, ...]:
    """A loadout's definition, and those it inherits from, root first."""
    blocks: list[Block] = []
    for loadout, origin in zip(chain, origins, strict=True):
        data = loadout_data(loadout).items()
        facts = ((key, value if isinstance(value, str) else ", ".join(value)) for key, value in data)
        blocks += [Heading(loadout.name, origin), facts_table(facts)]
    if broken:
        blocks.append(Note(f"the chain ends early: {broken}", Tone.WARNING))
    return tuple(blocks)


def decision_view(decision: Decision) -> tuple[Block, ...]:
    """Why a plugin or tool is where it is, rule by rule."""
    of = f" of plugin {decision.plugin}" if decision.kind == "tool" else ""
    category = f"category {decision.category}" if decision.category else "no category"
    heading = (
        Span(decision.name, Tone.STRONG),
        Span(f"  {decision.kind}{of}, {category}: "),
        Span(decision.status.value, STATUS_TONES[decision.status]),
    )
    items = [
        Span(f"{_weight(decision, reason)} {reason}", Tone.PLAIN if reason.decides else Tone.FAINT)
        for reason in decision.reasons
    ]
    if decision.parts:
        shares = ", ".join(f"{count} {status.value}" for status, count in decision.parts)
        items.insert(0, Span(f"of its tools: {shares}", Tone.FAINT))
    return (Line(heading), Listing(tuple(items)), *([_chain_table(decision)] if decision.chain else []))


def diff_view(diff: LoadoutDiff) -> tuple[Block, ...]:
    """What an agent gains and loses from one loadout to the other."""
    heading = Heading(f"{diff.a} → {diff.b}")
    if diff.is_same:
        return (heading, Note("no difference for an agent"))
    change = diff.tokens_b - diff.tokens_a
    share = f" ({change / diff.tokens_a:+.0%})" if diff.tokens_a else ""
    tokens = (
        Span(f"tokens {diff.tokens_a:,} → {diff.tokens_b:,}  "),
        Span(f"{change:+,}{share}", Tone.BAD if change > 0 else Tone.GOOD),
        Span(f"  {diff.tokenizer}", Tone.FAINT),
    )
    return (heading, _changes_table(diff.tools or diff.plugins), Line(tokens))


def _weight(decision: Decision, reason: Reason) -> str:
    """How a reason affects the decision."""
    if reason.decides:
        return "because"
    return "but for some tools" if decision.kind == "plugin" and "/" in reason.entry else "overruled:"


def _chain_table(decision: Decision) -> Table:
    columns = ("1 disabled?", "2 named?", "3 category?", "4 discoverable?")
    rows = (
        Row(step.loadout, tuple(Span(", ".join(entries) or "·") for _, entries in step.entries()))
        for step in decision.chain
    )
    return Table("chain, root first", tuple(Column(name, is_text=True) for name in columns), tuple(rows))


def _changes_table(changes: Sequence[Change]) -> Table:
    """Tools by plugin and by change: first the tools that the agent gains, then those it loses."""
    groups: dict[tuple[int, str, str, str], list[str]] = {}
    for change in changes:
        rank = 0 if change.appears else 1 if change.disappears else 2
        groups.setdefault((rank, change.plugin, change.before, change.after), []).append(change.name)
    rows = []
    for (rank, plugin, before, after), names in sorted(groups.items(), key=lambda group: group[0][0]):
        mark, tone = (("+", Tone.GOOD), ("-", Tone.BAD), ("~", Tone.INFO))[rank]
        listed = ", ".join(name.removeprefix(f"{plugin}/") for name in names)
        cells = (
            Span(plural(len(names), "tool"), tone),
            Span(f"{before} → {after}", tone),
            Span(listed, Tone.FAINT),
        )
        rows.append(Row(f"{mark} {plugin}", cells))
    return Table("", (Column("", is_text=True),) * 3, tuple(rows))
