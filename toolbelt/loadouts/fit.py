"""What part of a model's context window tool definitions take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DEGRADED_SHARE = 0.4
"""The share of the window above which definitions crowd out the conversation."""


class Verdict(StrEnum):
    """Whether a toolset goes with a model."""

    FITS = "fits"
    FITS_DEGRADED = "fits_degraded"
    REFUSES = "refuses"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ModelFit:
    """A toolset against a model's context window.

    Attributes:
        model: As the user named it.
        context_window: Input tokens the model takes; `None` if unknown.
        tokens: Of the definitions, by `tokenizer`.
        tokenizer: What counted.
        exact: Whether that is this model's own tokenizer; else the count is an estimate.
    """

    model: str
    context_window: int | None
    tokens: int
    tokenizer: str
    exact: bool

    @property
    def fraction(self) -> float | None:
        """Share of the window that is taken, above 1 where it is more than there is; `None` if unknown."""
        return self.tokens / self.context_window if self.context_window else None

    @property
    def verdict(self) -> Verdict:
        """`refuses` where nothing is left, `fits_degraded` above two fifths, `unknown` rather than a guess."""
        if self.fraction is None:
            return Verdict.UNKNOWN
        if self.fraction >= 1:
            return Verdict.REFUSES
        return Verdict.FITS_DEGRADED if self.fraction > DEGRADED_SHARE else Verdict.FITS
