"""The loadout for a model, by its context window (rule L15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from toolbelt.catalog import Catalog
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.loadout import ToolLoadout, whole_catalog
from toolbelt.loadouts.registry import ToolLoadoutRegistry, WellKnownLoadouts

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


class RecommendationOutcome(StrEnum):
    """What became of the toolset that the project recommends for a model."""

    TAKEN = "taken"
    NOT_A_LOADOUT = "not_a_loadout"
    MATCHES_NOTHING = "matches_nothing"
    DOES_NOT_FIT = "does_not_fit"


@dataclass(frozen=True)
class AutoChoice:
    """What `auto` chose, and why.

    Attributes:
        outcome: The whole catalog, a loadout, none since nothing fits, or unknown since the window is.
        loadout: What to use: for `catalog` one that names every plugin; `None` if nothing fits.
        tokens: Of its tool definitions; 0 where nothing was chosen.
        window: The context window in tokens; `None` if unknown.
        reasons: Each step taken, in order, in words.
        recommendation: What became of the recommended toolset; `None` if none is, or if it is `loadout:auto`.
    """

    outcome: AutoOutcome
    loadout: ToolLoadout | None
    tokens: int
    window: int | None
    reasons: tuple[str, ...]
    recommendation: RecommendationOutcome | None = None

    @property
    def unmet_recommendation(self) -> str:
        """Why the recommended toolset was not chosen; empty if it was, or if none is recommended."""
        return "" if self.recommendation in (None, RecommendationOutcome.TAKEN) else self.reasons[0]


def choose_loadout(
    window: int | None,
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    tokens: ToolTokens,
    *,
    max_tools: int | None = None,
    output_reserve: int | None = None,
    tool_calling: bool | None = None,
) -> AutoChoice:
    """The loadout for a model: the largest of the ladder that takes at most half of its context window.

    A step that takes no more than that is passed over all the same if a request may not hold so many tools, or if no
    room is left beside an answer.

    Args:
        window: Tokens; `None` or 0 if unknown, which is then the answer.
        catalog: Whose ladder is stepped down, the default one if it names none.
        registry: Where the loadouts of the ladder are.
        tokens: Counted, of the same catalog.
        max_tools: The most tools that a request may hold; `None` if no limit is known.
        output_reserve: Tokens kept free for an answer; `None` if none are.
        tool_calling: Whether the model calls tools; for one that is known not to, nothing is chosen.

    Returns:
        The choice with each step as a reason.
    """
    if tool_calling is False:
        return AutoChoice(AutoOutcome.NONE, None, 0, window or None, ("It does not call tools, so none are chosen.",))
    if not window:
        reason = "The context window is unknown, so nothing can be chosen by it."
        return AutoChoice(AutoOutcome.UNKNOWN, None, 0, None, (reason,))
    bounds = _Bounds(window, max_tools, output_reserve or 0)
    whole = bounds.judge("The whole catalog", tokens.total, len(catalog.tools))
    if whole.fits:
        return AutoChoice(AutoOutcome.CATALOG, whole_catalog(catalog), tokens.total, window, (whole.reason,))
    reasons = [whole.reason]
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
        judged = bounds.judge(candidate.name, taken, len(tools))
        if judged.fits:
            return AutoChoice(AutoOutcome.LOADOUT, candidate, taken, window, (*reasons, judged.reason))
        reasons.append(judged.reason)
    return AutoChoice(AutoOutcome.NONE, None, 0, window, tuple(reasons))


def ladder_of(catalog: Catalog) -> Sequence[Rung]:
    """The ladder of a catalog: its own, else the default one."""
    return tuple(_rung(entry) for entry in catalog.ladder) or DEFAULT_LADDER


def _rung(entry: Mapping[str, object]) -> Rung:
    window = entry.get("min_window", 0)
    return Rung(str(entry["loadout"]), window if isinstance(window, int) else 0)


class _Judged(NamedTuple):
    fits: bool
    reason: str


@dataclass(frozen=True)
class _Bounds:
    """What a choice has to keep within; half of the window first."""

    window: int
    max_tools: int | None
    output_reserve: int

    def judge(self, what: str, taken: int, tools: int) -> _Judged:
        share = f"{taken / self.window:.0%}, {MAX_SHARE:.0%} allowed"
        measured = f"{what} takes {taken:,} of {self.window:,} tokens ({share})"
        if taken > MAX_SHARE * self.window:
            return _Judged(False, f"{measured}: too much.")
        if taken >= self.window - self.output_reserve:
            return _Judged(False, f"{measured}, and {self.output_reserve:,} are kept for the answer: too much.")
        if self.max_tools is not None and tools > self.max_tools:
            return _Judged(False, f"{measured}, but holds {tools:,} tools of {self.max_tools:,} allowed: too many.")
        return _Judged(True, f"{measured}: it fits.")
