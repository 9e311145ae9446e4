"""The loadout for a model, by its context window (rule L15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.catalog import Catalog
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG, ToolLoadout, whole_catalog
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
    """The result of a choice."""

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
class Recommendation:
    """The toolset that the project recommends for a model.

    Attributes:
        outcome: What became of it.
        name: Of the loadout, `WHOLE_CATALOG`, or the name of another toolset.
        fit: How it fits the model; `None` where it is no loadout, or matches nothing.
    """

    outcome: RecommendationOutcome
    name: str
    fit: ModelFit | None = None


class StepVerdict(StrEnum):
    """What became of a step down the ladder."""

    FITS = "fits"
    OVER_SHARE = "over_share"
    NO_ROOM_FOR_ANSWER = "no_room_for_answer"
    TOO_MANY_TOOLS = "too_many_tools"
    FOR_LARGER_WINDOWS = "for_larger_windows"
    MATCHES_NOTHING = "matches_nothing"
    NO_LOADOUT = "no_loadout"
    NO_TOOL_CALLING = "no_tool_calling"
    UNKNOWN_WINDOW = "unknown_window"


@dataclass(frozen=True)
class TriedLoadout:
    """A loadout that was tried.

    Attributes:
        verdict: Whether it is chosen, else why not.
        loadout: Its name, or `WHOLE_CATALOG`; empty if no loadout was tried.
        window: The context window in tokens; `None` if unknown.
        tokens: Of its tool definitions; 0 where they were not counted.
        tools: How many it has; 0 if no loadout was tried.
        limit: What it breaks: tokens kept for the answer, tools of a request, or the smallest window in tokens; else 0.
    """

    verdict: StepVerdict
    loadout: str = ""
    window: int | None = None
    tokens: int = 0
    tools: int = 0
    limit: int = 0


@dataclass(frozen=True)
class AutoChoice:
    """What `auto` chose, and why.

    Attributes:
        outcome: The whole catalog, a loadout, none since nothing fits, or unknown since the window is.
        loadout: What to use: for `catalog` one that names every plugin; `None` if nothing fits.
        tokens: Of its tool definitions; 0 where nothing was chosen.
        window: The context window in tokens; `None` if unknown.
        steps: Down the ladder, in order; none where the recommended toolset was taken.
        recommendation: Whether the recommended toolset was chosen; `None` without one, or if it is `loadout:auto`.
    """

    outcome: AutoOutcome
    loadout: ToolLoadout | None
    tokens: int
    window: int | None
    steps: tuple[TriedLoadout, ...] = ()
    recommendation: Recommendation | None = None

    @property
    def unmet_recommendation(self) -> Recommendation | None:
        """The recommended toolset if it was not chosen."""
        recommendation = self.recommendation
        return (
            None if recommendation is None or recommendation.outcome is RecommendationOutcome.TAKEN else recommendation
        )


def choose_loadout(
    window: int | None,
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    tokens: ToolTokens,
    *,
    max_tools: int | None = None,
    output_reserve: int | None = None,
    tool_calling: bool | None = None,
    estimate: Callable[[int, int], int] = lambda tokens, _: tokens,
) -> AutoChoice:
    """The loadout for a model: the largest of the ladder that takes at most half of its context window.

    A step that takes no more than that is passed over all the same if a request may not hold so many tools, or if no
    room is left beside an answer.

    Args:
        window: Tokens; `None` or 0 if unknown, which is then the answer.
        catalog: Gives the ladder; the default ladder if it names none.
        registry: Where the loadouts of the ladder are.
        tokens: Counted, of the same catalog.
        max_tools: The most tools that a request may hold; `None` if no limit is known.
        output_reserve: Tokens kept free for an answer; `None` if none are.
        tool_calling: Whether the model calls tools; for one that is known not to, nothing is chosen.
        estimate: What so many tokens of so many tools come to in the model's prompt.

    Returns:
        The choice with each step.
    """
    if tool_calling is False:
        return AutoChoice(AutoOutcome.NONE, None, 0, window or None, (TriedLoadout(StepVerdict.NO_TOOL_CALLING),))
    if not window:
        return AutoChoice(AutoOutcome.UNKNOWN, None, 0, None, (TriedLoadout(StepVerdict.UNKNOWN_WINDOW),))
    bounds = _Bounds(window, max_tools, output_reserve or 0)
    everything = estimate(tokens.total, len(catalog.tools))
    whole = bounds.judge(WHOLE_CATALOG, everything, len(catalog.tools))
    if whole.verdict is StepVerdict.FITS:
        return AutoChoice(AutoOutcome.CATALOG, whole_catalog(catalog), everything, window, (whole,))
    steps = [whole]
    for rung in ladder_of(catalog):
        candidate = registry.get_loadout(rung.loadout)
        if candidate is None:
            steps.append(TriedLoadout(StepVerdict.NO_LOADOUT, rung.loadout))
            continue
        if window < rung.min_window:
            steps.append(TriedLoadout(StepVerdict.FOR_LARGER_WINDOWS, candidate.name, window, limit=rung.min_window))
            continue
        tools = registry.resolve(candidate.name, catalog).active_tools
        if not tools:
            steps.append(TriedLoadout(StepVerdict.MATCHES_NOTHING, candidate.name, window))
            continue
        taken = estimate(tokens.of([tool.id for tool in tools]), len(tools))
        steps.append(bounds.judge(candidate.name, taken, len(tools)))
        if steps[-1].verdict is StepVerdict.FITS:
            return AutoChoice(AutoOutcome.LOADOUT, candidate, taken, window, tuple(steps))
    return AutoChoice(AutoOutcome.NONE, None, 0, window, tuple(steps))


def ladder_of(catalog: Catalog) -> Sequence[Rung]:
    """The ladder of a catalog: its own, else the default one."""
    return tuple(_rung(entry) for entry in catalog.ladder) or DEFAULT_LADDER


def _rung(entry: Mapping[str, object]) -> Rung:
    window = entry.get("min_window", 0)
    return Rung(str(entry["loadout"]), window if isinstance(window, int) else 0)


@dataclass(frozen=True)
class _Bounds:
    """What a choice has to keep within; half of the window first."""

    window: int
    max_tools: int | None
    output_reserve: int

    def judge(self, loadout: str, tokens: int, tools: int) -> TriedLoadout:
        if tokens > MAX_SHARE * self.window:
            verdict, limit = StepVerdict.OVER_SHARE, 0
        elif tokens >= self.window - self.output_reserve:
            verdict, limit = StepVerdict.NO_ROOM_FOR_ANSWER, self.output_reserve
        elif self.max_tools is not None and tools > self.max_tools:
            verdict, limit = StepVerdict.TOO_MANY_TOOLS, self.max_tools
        else:
            verdict, limit = StepVerdict.FITS, 0
        return TriedLoadout(verdict, loadout, self.window, tokens, tools, limit)
