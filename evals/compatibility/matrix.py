"""A run as models × toolsets, and what each model is to be given, as values (rules E4, E5 and E7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from toolbelt.evals.comparison.comparison import Contrast
from toolbelt.evals.summary.measures import Rate
from toolbelt.loadouts.fit import Verdict


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
        planned: Trials planned.
        scored: Trials that say something.
        overflowed: Trials that were too long for the model.
        errors: Trials that failed.
        tools: Tools at the first request; mean, `None` if unknown.
        definition_tokens: Of these, own count; mean.
        definition_tokens_total: Over all requests of a trial; mean. The size of a toolset, also of one that grows.
        share: `definition_tokens` of the context window; `None` if that is unknown.
        reason: Why it is not scored, or only in part, in words; else empty.
    """

    toolset: str
    state: CellState
    arm: int | None = None
    verdict: Verdict | None = None
    accuracy: Rate = field(default_factory=Rate)
    planned: int = 0
    scored: int = 0
    overflowed: int = 0
    errors: int = 0
    tools: float | None = None
    definition_tokens: float | None = None
    definition_tokens_total: float | None = None
    share: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A toolset held against the best one of its model.

    Attributes:
        arm: Its position among the run's arms.
        contrast: Of accuracy, this toolset less the best, with its interval and verdict; `None` for the best itself.
    """

    arm: int
    contrast: Contrast | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """What a model is to be given.

    Attributes:
        model: Its name.
        best: The arm of the highest accuracy; of equals, the smallest. `None` where nothing was scored.
        choice: The smallest arm that is not worse than the best by more than the margin, for sure (`no_regression`);
            the best itself if no smaller one is. `None` where nothing was scored.
        candidates: Every scored arm of the model, the smallest first.
        promising: A smaller arm than the choice that is within the margin as measured, but not for sure; else `None`.
        cases_wanted: Cases that would make sure of it, if it is as good as measured; `None` if none would, or none is
            promising.
        reasons: Why, each in a sentence.
    """

    model: str
    best: int | None = None
    choice: int | None = None
    candidates: tuple[Candidate, ...] = ()
    promising: int | None = None
    cases_wanted: int | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One model over all toolsets.

    Attributes:
        model: Its name.
        cells: One a toolset, in the order of `Matrix.toolsets`; `None` where the run does not have that pair.
        pick: What it is to be given.
        context_window: Tokens, as the run took it to be; `None` if unknown.
    """

    model: str
    cells: tuple[Cell | None, ...]
    pick: Pick
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """A run as models × toolsets.

    Attributes:
        run: Its id.
        dataset: Name of its dataset.
        catalog: Name of its catalog.
        cases: Cases each arm is asked.
        margin: Accuracy that may be lost for a smaller toolset, a fraction.
        toolsets: Labels, in the order asked for.
        rows: One a model, in the order asked for.
        notes: What to know before anything is read from it: drafts, errors, an unfinished run; each in a sentence.
    """

    run: str
    dataset: str
    catalog: str
    cases: int
    margin: float
    toolsets: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
