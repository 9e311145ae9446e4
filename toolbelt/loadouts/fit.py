"""Whether a toolset goes with a model: its window, the answer's reserve, and how many tools a request may hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

DEGRADED_SHARE = 0.4
"""The share of the window above which definitions crowd out the conversation."""


class FitVerdict(StrEnum):
    """Whether a toolset goes with a model."""

    FITS = "fits"
    FITS_DEGRADED = "fits_degraded"
    REFUSES = "refuses"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Component(StrEnum):
    """What takes room in a window."""

    DEFINITIONS = "definitions"
    OUTPUT_RESERVE = "output reserve"


@dataclass(frozen=True)
class ModelFit:
    """A toolset against a model.

    Attributes:
        model: As the user named it.
        context_window: Input tokens the model takes; `None` if unknown.
        tokens: Of the definitions, by `tokenizer`.
        tokenizer: What counted.
        exact: Whether that is this model's own tokenizer; else the count is an estimate.
        tools: Number of tools; `None` where nobody counted.
        output_reserve: Tokens kept free for an answer; `None` if none is kept.
        max_tools: The most tools of a request; `None` if no limit is known.
        tool_calling: Whether the model calls tools; `None` if unknown.
        by_plugin: Tokens of the definitions by plugin, the largest first.
        api: Whose rules `to_mend` is about; `None` if no rules are known.
        to_mend: Tools that a rule of the API is broken by as they are sent: such a request is sure to be refused.
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
    to_mend: int = 0

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

        Definitions that take over two fifths of the window leave `fits_degraded`; no tools go with any model.
        """
        if self.tool_calling is False and self.tools != 0:
            return FitVerdict.UNSUPPORTED
        if self.surplus:
            return FitVerdict.REFUSES
        if self.fraction is None or self.room is None:
            return FitVerdict.UNKNOWN
        if self.room <= 0:
            return FitVerdict.REFUSES
        return FitVerdict.FITS_DEGRADED if self.fraction > DEGRADED_SHARE else FitVerdict.FITS

    @property
    def largest(self) -> Component:
        """What takes the most room."""
        return Component.OUTPUT_RESERVE if (self.output_reserve or 0) > self.tokens else Component.DEFINITIONS

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is what it is, and what else to know, in words; empty where there is nothing to say."""
        return tuple(self._reasons())

    def _reasons(self) -> Iterator[str]:
        verdict = self.verdict
        if verdict is FitVerdict.UNSUPPORTED:
            yield "It does not call tools."
            return
        if self.surplus:
            yield (f"A request may hold {self.max_tools:,} tools; these are {self.tools:,}, {self.surplus:,} too many.")
        if self.room is None or self.context_window is None:
            yield "Its context window is unknown."
        elif self.room <= 0:
            reserve = f" and {self.output_reserve:,} kept for the answer" if self.output_reserve else ""
            yield (
                f"Definitions of {self.tokens:,} tokens{reserve} leave no room in a window of {self.context_window:,}; "
                f"the largest part: the {self._largest_part()}."
            )
        elif verdict is FitVerdict.FITS_DEGRADED:
            yield (
                f"Definitions take {self.fraction:.0%} of the window, over {DEGRADED_SHARE:.0%}; "
                f"the largest part: the {self._largest_part()}."
            )
        if self.tool_calling is None and self.tools:
            yield "Whether it calls tools is unknown."
        if self.to_mend:
            several = self.to_mend > 1
            yield (
                f"{self.to_mend:,} tool{'s' if several else ''} break{'' if several else 's'} a rule of {self.api}: "
                "send the mended form (`toolbelt model fit --fix`), unless the client rewrites them."
            )

    def _largest_part(self) -> str:
        if self.largest is Component.OUTPUT_RESERVE or not self.by_plugin:
            return self.largest.value
        name, tokens = self.by_plugin[0]
        return f"{self.largest.value}, of which {name!r} takes {tokens:,}"
