"""Whether a toolset goes with a model: its window, the answer's reserve, and how many tools a request may hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DEGRADED_SHARE = 0.4
"""The share of the window above which definitions crowd out the conversation."""


class FitVerdict(StrEnum):
    """Whether a toolset goes with a model."""

    FITS = "fits"
    FITS_DEGRADED = "fits_degraded"
    MAY_NOT_FIT = "may_not_fit"
    REFUSES = "refuses"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Component(StrEnum):
    """What takes room in a window."""

    DEFINITIONS = "definitions"
    OUTPUT_RESERVE = "output_reserve"


class FitReason(StrEnum):
    """Why a verdict is what it is, or what else to know; the numbers are in the `ModelFit`."""

    NO_TOOL_CALLING = "no_tool_calling"
    TOO_MANY_TOOLS = "too_many_tools"
    UNKNOWN_WINDOW = "unknown_window"
    NO_ROOM = "no_room"
    UNSURE_ROOM = "unsure_room"
    CROWDED = "crowded"
    UNKNOWN_TOOL_CALLING = "unknown_tool_calling"
    BROKEN_RULES = "broken_rules"


@dataclass(frozen=True)
class ModelFit:
    """A toolset against a model.

    Attributes:
        model: As the user named it.
        context_window: Input tokens the model takes; `None` if unknown.
        tokens: Of the definitions in a prompt, estimated from what `tokenizer` counted.
        tokenizer: What counted.
        exact: Whether that is this model's own tokenizer.
        tools: Number of tools; `None` where nobody counted.
        output_reserve: Tokens kept free for an answer; `None` if none is kept.
        max_tools: The most tools of a request; `None` if no limit is known.
        tool_calling: Whether the model calls tools; `None` if unknown.
        by_plugin: Tokens of the definitions by plugin, the largest first.
        api: Whose rules `to_repair` is about; `None` if no rules are known.
        to_repair: Tools that a rule of the API is broken by as they are sent: such a request is sure to be refused.
        error: By what share of it `tokens` may be wrong, see `toolbelt.models.token_rates`.
    """

    model: str
    context_window: int | None
    tokens: int
    tokenizer: str
    exact: bool
    tools: int | None = None
    output_reserve: int | None = None
    max_tools: int | None = None
    tool_calling: bool | None = None
    by_plugin: tuple[tuple[str, int], ...] = ()
    api: str | None = None
    to_repair: int = 0
    error: float = 0.0

    @property
    def fraction(self) -> float | None:
        """Share of the window that is taken, above 1 where it is more than there is; `None` if unknown."""
        return self.tokens / self.context_window if self.context_window else None

    @property
    def room(self) -> int | None:
        """Tokens left for a conversation, below 0 where even the definitions are too much; `None` if unknown."""
        if self.context_window is None:
            return None
        return self.context_window - (self.output_reserve or 0) - self.tokens

    @property
    def surplus(self) -> int:
        """Tools over the most that a request may hold."""
        return 0 if self.max_tools is None or self.tools is None else max(self.tools - self.max_tools, 0)

    @property
    def verdict(self) -> FitVerdict:
        """What is sure goes first: no tool calling, too many tools, no room; `unknown` rather than a guess.

        Where the error of the estimate reaches the limit, `may_not_fit`. Definitions that take over two fifths of the
        window leave `fits_degraded`; no tools go with any model.
        """
        if self.tool_calling is False and self.tools != 0:
            return FitVerdict.UNSUPPORTED
        if self.surplus:
            return FitVerdict.REFUSES
        if self.fraction is None or self.room is None:
            return FitVerdict.UNKNOWN
        if self.room <= 0:
            return FitVerdict.REFUSES
        if self.room <= self.error * self.tokens:
            return FitVerdict.MAY_NOT_FIT
        return FitVerdict.FITS_DEGRADED if self.fraction > DEGRADED_SHARE else FitVerdict.FITS

    @property
    def largest(self) -> Component:
        """What takes the most room."""
        return Component.OUTPUT_RESERVE if (self.output_reserve or 0) > self.tokens else Component.DEFINITIONS

    @property
    def reasons(self) -> tuple[FitReason, ...]:
        """Why the verdict is what it is, and what else to know; empty where all is known to fit."""
        if self.verdict is FitVerdict.UNSUPPORTED:
            return (FitReason.NO_TOOL_CALLING,)
        applies = {
            FitReason.TOO_MANY_TOOLS: self.surplus > 0,
            FitReason.UNKNOWN_WINDOW: self.room is None,
            FitReason.NO_ROOM: self.room is not None and self.room <= 0,
            FitReason.UNSURE_ROOM: self.verdict is FitVerdict.MAY_NOT_FIT,
            FitReason.CROWDED: self.verdict is FitVerdict.FITS_DEGRADED,
            FitReason.UNKNOWN_TOOL_CALLING: self.tool_calling is None and bool(self.tools),
            FitReason.BROKEN_RULES: self.to_repair > 0,
        }
        return tuple(reason for reason, does in applies.items() if does)
