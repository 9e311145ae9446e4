"""The loadout for a context window (rule L15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.catalog import Catalog
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.loadout import ToolLoadout, whole_catalog
from toolbelt.loadouts.registry import ToolLoadoutRegistry
from toolbelt.loadouts.well_known import WellKnownLoadouts

MAX_SHARE = 0.5
"""The most of a window that tool definitions may take."""


@dataclass(frozen=True)
class Rung:
    """A step of a ladder.

    Attributes:
        loadout: Name of the loadout.
        min_window: Smallest context window, in tokens, at which it is the first choice.
    """

    loadout: str
    min_window: int = 0


DEFAULT_LADDER: tuple[Rung, ...] = (
    Rung(WellKnownLoadouts.FULL.value, 128_000),
    Rung(WellKnownLoadouts.DEVELOPER.value, 64_000),
    Rung(WellKnownLoadouts.MINIMAL.value),
)


class AutoOutcome(StrEnum):
    """How a choice came out."""

    CATALOG = "catalog"
    LOADOUT = "loadout"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class AutoChoice:
    """What `auto` chose, and why.

    Attributes:
        outcome: The whole catalog, a loadout, none since nothing fits, or unknown since the window is.
        loadout: What to use: for `catalog` one that names every plugin; `None` if nothing fits.
        tokens: Of its tool definitions; 0 where nothing was chosen.
        window: The context window in tokens; `None` if unknown.
        reasons: Each step taken, in order, in words.
    """

    outcome: AutoOutcome
    loadout: ToolLoadout | None
    tokens: int
    window: int | None
    reasons: tuple[str, ...]


def choose_loadout(
    window: int | None, catalog: Catalog, registry: ToolLoadoutRegistry, tokens: ToolTokens
) -> AutoChoice:
    """The loadout for a context window: the largest of the ladder that takes at most half of it.

    Args:
        window: Tokens; `None` or 0 if unknown, which is then the answer.
        catalog: Whose ladder is stepped down, the default one if it names none.
        registry: Where the loadouts of the ladder are.
        tokens: Counted, of the same catalog.

    Returns:
        The choice with each step as a reason.
    """
    if not window:
        reason = "The context window is unknown, so nothing can be chosen by it."
        return AutoChoice(AutoOutcome.UNKNOWN, None, 0, None, (reason,))
    limit = MAX_SHARE * window
    whole = _measured("The whole catalog", tokens.total, window)
    if tokens.total <= limit:
        reason = f"{whole}: it fits."
        return AutoChoice(AutoOutcome.CATALOG, whole_catalog(catalog), tokens.total, window, (reason,))
    reasons = [f"{whole}: too much."]
    for rung in ladder_of(catalog):
        candidate = registry.get_loadout(rung.loadout)
        if candidate is None:
            reasons.append(f"{rung.loadout}: no loadout of that name.")
            continue
        if window < rung.min_window:
            reasons.append(f"{candidate.name} is for windows from {rung.min_window:,}; this one is {window:,}.")
            continue
        tools = registry.resolve(candidate.name, catalog).active_tools
        if not tools:
            reasons.append(f"{candidate.name} matches nothing of this catalog.")
            continue
        taken = tokens.of([tool.id for tool in tools])
        measured = _measured(candidate.name, taken, window)
        if taken <= limit:
            return AutoChoice(AutoOutcome.LOADOUT, candidate, taken, window, (*reasons, f"{measured}: it fits."))
        reasons.append(f"{measured}: too much.")
    return AutoChoice(AutoOutcome.NONE, None, 0, window, tuple(reasons))


def ladder_of(catalog: Catalog) -> Sequence[Rung]:
    """The ladder of a catalog: its own, else the default one."""
    return tuple(_rung(entry) for entry in catalog.ladder) or DEFAULT_LADDER


def _rung(entry: Mapping[str, object]) -> Rung:
    window = entry.get("min_window", 0)
    return Rung(str(entry["loadout"]), window if isinstance(window, int) else 0)


def _measured(what: str, taken: int, window: int) -> str:
    return f"{what} takes {taken:,} of {window:,} tokens ({taken / window:.0%}, {MAX_SHARE:.0%} allowed)"
