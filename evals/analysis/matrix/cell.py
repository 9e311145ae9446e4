"""One model with one toolset, as values (rules E4 and E5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from toolbelt.evals.analysis.summary.run_summary import Rate
from toolbelt.loadouts.fit import FitVerdict


class CellState(StrEnum):
    """What is known of a model with a toolset."""

    SCORED = "scored"
    """Trials were scored, and none was too long for the model."""
    PARTLY = "partly"
    """Trials were scored, others were too long for the model: what is scored says nothing of these."""
    CANNOT_FIT = "cannot_fit"
    """Every trial was too long for the model, or held more tools than it takes: it is not a score of 0."""
    UNSUPPORTED = "unsupported"
    """The model calls no tools, so that it was not asked."""
    NO_CHOICE = "no_choice"
    """`loadout:auto` found nothing for the model, so that there was nothing to ask."""
    UNSCORED = "unscored"
    """Nothing was scored: all failed, or none has finished yet."""


class CellProblem(StrEnum):
    """Why trials of a cell are not scored."""

    TOO_LONG = "too_long"
    TOO_MANY_TOOLS = "too_many_tools"
    FAILED = "failed"
    NOT_RUN = "not_run"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class CellReason:
    """Why trials of a cell are not scored.

    Attributes:
        problem: Which one.
        trials: How many; 0 for a cell that was left out of the run.
        cause: The commonest reason, as the run stores it; empty if there is none.
    """

    problem: CellProblem
    trials: int = 0
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model with one toolset.

    Attributes:
        toolset: Its label, the variant among it.
        state: What is known.
        arm: Its position among the run's arms; `None` where it was left out of the run.
        verdict: Whether what is offered at the first request fits, by the mean of its definitions; `None` if nothing
            was offered.
        accuracy: Right by names, of those scored.
        right_of_asked: Of those too long for the model, too, which count as not right.
        planned: Trials planned.
        scored: Trials that say something.
        overflowed: Trials that were too long for the model.
        errors: Trials that failed.
        tools: Tools at the first request; mean, `None` if unknown.
        definition_tokens: Of these, estimated; mean over finished trials, also those that could not fit.
        definition_tokens_total: Over all requests of a trial; mean of those scored. The size of a toolset, also of one
            that grows.
        share: `definition_tokens` of the context window; `None` if that is unknown.
        reasons: Why it is not scored, or only in part.
        turned_away: Of those that overflowed, how many were not even asked.
        too_many_tools: Whether those that overflowed held more tools than a request may, rather than being too long.
    """

    toolset: str
    state: CellState
    arm: int | None = None
    verdict: FitVerdict | None = None
    accuracy: Rate = field(default_factory=Rate)
    right_of_asked: Rate = field(default_factory=Rate)
    planned: int = 0
    scored: int = 0
    overflowed: int = 0
    errors: int = 0
    tools: float | None = None
    definition_tokens: float | None = None
    definition_tokens_total: float | None = None
    share: float | None = None
    reasons: tuple[CellReason, ...] = ()
    turned_away: int = 0
    too_many_tools: bool = False

    def __post_init__(self) -> None:
        if not self.overflowed:
            object.__setattr__(self, "right_of_asked", self.accuracy)
