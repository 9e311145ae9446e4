"""A loadout over a catalog, as views: what is active and why, what it costs, and where it fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.loadouts.fit import FitVerdict
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.loadouts.resolution import Rule
from toolbelt.loadouts.selection import Status
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Details, Heading, Line, Listing, Note, Part, Shares
from toolbelt.views.cells import Badge, Bar, Count, Percent, Span, Tokens, Tone
from toolbelt.views.table import Column, Group, Row, Table

if TYPE_CHECKING:
    from toolbelt.catalog import Plugin
    from toolbelt.loadouts.auto import AutoChoice
    from toolbelt.loadouts.fit import ModelFit
    from toolbelt.loadouts.inspection import Inspection
    from toolbelt.loadouts.resolution import Reason

STATUS_TONES: Mapping[Status, Tone] = MappingProxyType(
    {
        Status.ACTIVE: Tone.GOOD,
        Status.DISCOVERABLE: Tone.INFO,
        Status.DISABLED: Tone.BAD,
        Status.HIDDEN: Tone.FAINT,
    }
)
VERDICT_TONES: Mapping[FitVerdict, Tone] = MappingProxyType(
    {
        FitVerdict.FITS: Tone.GOOD,
        FitVerdict.FITS_DEGRADED: Tone.WARNING,
        FitVerdict.MAY_NOT_FIT: Tone.WARNING,
        FitVerdict.REFUSES: Tone.BAD,
        FitVerdict.UNSUPPORTED: Tone.BAD,
        FitVerdict.UNKNOWN: Tone.FAINT,
    }
)
MAX_NAMES = 40
"""Names of a list that are shown unless all are asked for."""


def inspection_view(inspection: Inspection, *, show_tools: bool, show_all: bool) -> tuple[Block, ...]:
    """A loadout over a catalog.

    Args:
        inspection: What there is to show.
        show_tools: Whether active tools are named, or only counted.
        show_all: Whether every plugin that is not active is named, however many.
    """
    return (
        *_heading(inspection),
        *_token_shares(inspection),
        *([] if inspection.auto is None else [_choice_reasons(inspection.auto)]),
        _active_plugins(inspection, show_tools=show_tools),
        *(
            _inactive_plugins(inspection, status, show_all=show_all)
            for status in (Status.DISCOVERABLE, Status.DISABLED, Status.HIDDEN)
        ),
        *_switched_off(inspection),
        # An empty loadout fits everywhere, which says nothing.
        *([_models_table(inspection.models)] if inspection.models and not inspection.is_empty else []),
    )


def _heading(inspection: Inspection) -> Iterator[Block]:
    resolution = inspection.resolution
    lineage = f"{' → '.join(resolution.lineage)}, " if len(resolution.lineage) > 1 else ""
    chosen = "auto chose " if inspection.auto else ""
    yield Heading(f"{chosen}{resolution.loadout}", f"{lineage}over catalog {resolution.catalog.name}")
    if resolution.chain and (description := resolution.chain[-1].description):
        yield Note(description)


def _token_shares(inspection: Inspection) -> Iterator[Block]:
    parts = []
    for status in Status:
        tools = inspection.resolution.tools_with(status)
        tokens = inspection.tokens_of(tools)
        figures = f"{plural(len(tools), 'tool')}, {tokens:,} tokens" if tools else ""
        parts.append(Part(status.value, tokens, figures, STATUS_TONES[status]))
    yield Shares(tuple(parts))
    saved = []
    if not inspection.is_empty:
        saved = [Span(": "), Span(f"{inspection.saved_fraction:.0%} saved", Tone.GOOD)]
    tokenizer = inspection.tokens.tokenizer
    is_named_estimate = not inspection.tokens.exact and tokenizer != "estimate"
    yield Line(
        (
            Span(f"{inspection.active_tokens:,} tokens", Tone.STRONG),
            Span(f" of {inspection.full_tokens:,}"),
            *saved,
            Span(f"  by {tokenizer}{' (an estimate)' if is_named_estimate else ''}", Tone.FAINT),
        )
    )


def _choice_reasons(choice: AutoChoice) -> Listing:
    from toolbelt.loadouts.reason_text import describe_choice  # only `auto` needs its classes

    reasons = describe_choice(choice)
    first = Tone.FAINT if choice.unmet_recommendation is None else Tone.WARNING
    return Listing(tuple(Span(reason, Tone.FAINT if place else first) for place, reason in enumerate(reasons)))


def _active_plugins(inspection: Inspection, *, show_tools: bool) -> Block:
    by_category = inspection.by_category()
    if not by_category:
        return Line((Span("Active", Tone.STRONG), Span("  nothing: this loadout matches nothing of the catalog")))
    resolution = inspection.resolution
    tools_of = {
        plugin: resolution.tools_of(plugin, Status.ACTIVE) for plugins in by_category.values() for plugin in plugins
    }
    tokens_of = {plugin: inspection.tokens_of(tools) for plugin, tools in tools_of.items()}
    most = max(tokens_of.values())
    groups, rows = [], []
    for category, plugins in by_category.items():
        label = category or "no category"
        count = sum(len(tools_of[plugin]) for plugin in plugins)
        groups.append(Group(label, (Count(count), Tokens(sum(tokens_of[plugin] for plugin in plugins)))))
        for plugin in plugins:
            tools, tokens = tools_of[plugin], tokens_of[plugin]
            cells = (
                Count(len(tools), None if len(tools) == len(plugin.tools) else len(plugin.tools)),
                Tokens(tokens),
                Bar(tokens / most if most else 0.0, Tone.GOOD),
                Span(_why_active(inspection, plugin), Tone.FAINT),
            )
            names = (", ".join(tool.name for tool in tools),) if show_tools else ()
            rows.append(Row(plugin.name, cells, label, names))
    columns = (
        Column("tools"),
        Column("tokens"),
        Column("", is_text=True),
        Column("", is_text=True, is_cut=True),
    )
    return Table("Active", columns, tuple(rows), "category", tuple(groups))


def _why_active(inspection: Inspection, plugin: Plugin) -> str:
    reasons = inspection.resolution.explain_plugin(plugin).reasons
    return "; ".join(_describe_reason(reason) for reason in reasons if reason.decides)


def _describe_reason(reason: Reason) -> str:
    if reason.loadout == WHOLE_CATALOG:
        return ""
    if reason.rule is Rule.CATEGORY:
        return f"category, by {reason.loadout}"
    return f"{reason.entry!r} named by {reason.loadout}" if reason.rule is Rule.NAMED else str(reason)


def _inactive_plugins(inspection: Inspection, status: Status, *, show_all: bool) -> Block:
    plugins = inspection.plugins_with(status)
    tools = inspection.resolution.tools_with(status)
    title, tone = status.value.capitalize(), STATUS_TONES[status]
    if not plugins and not tools:
        return Details(title, (), "none", tone)
    names = [f"{plugin.name} ({len(inspection.resolution.tools_of(plugin, status)):,})" for plugin in plugins]
    whole = {plugin.name for plugin in plugins}
    names += [tool.path for tool in tools if tool.plugin not in whole]
    shown = names if show_all else names[:MAX_NAMES]
    more = f" … and {len(names) - len(shown):,} more (--all)" if len(shown) < len(names) else ""
    counts = f"{plural(len(plugins), 'plugin')}, {plural(len(tools), 'tool')}"
    return Details(title, (Note(", ".join(shown) + more, Tone.FAINT),), counts, tone)


def _switched_off(inspection: Inspection) -> Iterator[Block]:
    """What files of clients switch off, whatever the loadout."""
    if off := inspection.resolution.catalog.switched_off:
        names = tuple(Note(f"{each.name}, {each.why}", Tone.FAINT) for each in off)
        yield Details("Switched off", names, str(len(off)), Tone.WARNING)


def _models_table(fits: Iterable[ModelFit]) -> Table:
    columns = (
        Column("window"),
        Column("tokens"),
        Column("of the window", is_text=True),
        Column(""),
        Column("verdict", is_text=True),
        Column("", is_text=True, is_cut=True),
    )
    return Table("Model", columns, tuple(map(_model_row, fits)))


def _model_row(fit: ModelFit) -> Row:
    tone = VERDICT_TONES[fit.verdict]
    cells = (
        Span("unknown") if fit.context_window is None else Tokens(fit.context_window),
        Tokens(fit.tokens, is_estimate=not fit.exact),
        Bar(fit.fraction, tone, has_track=True),
        Span("") if fit.fraction is None else Percent(fit.fraction),
        Badge(fit.verdict.value.replace("_", " "), tone),
        Span(f"±{fit.error:.0%}" if fit.error else "", Tone.FAINT),
    )
    # The row shows what fits and what is unknown.
    needs_reasons = fit.verdict not in (FitVerdict.FITS, FitVerdict.UNKNOWN) or fit.to_repair
    return Row(fit.model, cells, notes=describe_fit(fit) if needs_reasons else ())
