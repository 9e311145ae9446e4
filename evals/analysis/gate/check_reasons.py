"""Why a check of a gate has its verdict, as data; `gate_text` puts it into words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolbelt.evals.analysis.comparison.comparison import (
    Contrast,
    FitCounts,
    Flip,
    LeftOutFlips,
    Measure,
    NothingFitted,
)
from toolbelt.evals.analysis.comparison.reasons import Mismatch
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures
from toolbelt.evals.analysis.gate.recorded import RecordedUse


class PlainReason(StrEnum):
    """Reasons that need no numbers."""

    NO_DRAFTS = "no_drafts"
    NO_TRIALS = "no_trials"
    MISSING_ARM = "missing_arm"
    """The baseline has it, the run does not."""
    ADDED_ARM = "added_arm"
    """The run has it, the baseline does not."""


@dataclass(frozen=True, slots=True)
class NotComparable:
    """Run and baseline differ in something that must agree."""

    mismatch: Mismatch
    old: SideInfo
    new: SideInfo


@dataclass(frozen=True, slots=True)
class SameSetup:
    """Run and baseline agree in all that must agree."""

    baseline: SideInfo


class Role(StrEnum):
    """Which of the two sides; what a run is compared with may be a run, too."""

    RUN = "run"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class DraftCases:
    """Cases that nobody has reviewed.

    Attributes:
        role: Whose cases.
        drafts: How many.
        cases: Of how many.
    """

    role: Role
    drafts: int
    cases: int


@dataclass(frozen=True, slots=True)
class UnfinishedBaseline:
    """The baseline was saved before its run had finished."""

    baseline: SideInfo


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """Trials that have not been run, or a run that ended badly after its last trial.

    Attributes:
        run: With its status and the reason.
        finished: Trials with an outcome.
        planned: All of them.
    """

    run: SideInfo
    finished: int
    planned: int


@dataclass(frozen=True, slots=True)
class FinishedTrials:
    """Every trial has an outcome.

    Attributes:
        run: Its id.
        planned: Trials.
        errors: Of them, those that ended with an error.
        overflows: Those that did not fit the model's window.
    """

    run: str
    planned: int
    errors: int
    overflows: int


@dataclass(frozen=True, slots=True)
class CheckedArms:
    """The arms that are checked.

    Attributes:
        same: How many they are if run and baseline have the same ones; `None` where that is not known.
        left_out: Arms that are not checked because the user named others.
    """

    same: int | None
    left_out: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Clusters of cases that a verdict rests on, and those wanted."""

    clusters: int
    wanted: int


@dataclass(frozen=True, slots=True)
class NewOverflows:
    """Ids of cases that no longer fit the model's window."""

    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnfitBefore:
    """Nothing of the arm fitted in the baseline, so that there is nothing to compare with.

    Attributes:
        unfit: With the number of cases that fit now.
        measure: What is checked; `None` for the overflow itself.
    """

    unfit: NothingFitted
    measure: Measure | None = None


@dataclass(frozen=True, slots=True)
class ShareChange:
    """A share against the baseline.

    Attributes:
        contrast: New less old; without figures where it cannot be decided.
        flips: Cases that differ.
        epochs: How often each case was asked.
        margin: What may be lost, a fraction.
        left_out: Counts of other cases that differ, where they are too many to keep each.
        is_run: Whether every trial has been run; what is to be done otherwise is a note of the whole run.
        max_lost: Cases that may be lost, where that decides what the interval leaves open; `None` for the margin alone.
    """

    contrast: Contrast
    flips: tuple[Flip, ...]
    epochs: int
    margin: float
    left_out: tuple[LeftOutFlips, ...] = ()
    is_run: bool = True
    max_lost: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether there are figures, so that the margin decides."""
        contrast = self.contrast
        return None not in (contrast.difference, contrast.low, contrast.high, contrast.old, contrast.new)


@dataclass(frozen=True, slots=True)
class LostCases:
    """Cases that were right and are not, or are right in fewer epochs.

    Attributes:
        lost: How many.
        in_doubt: Further ones that were not scored in both, so that they may be.
        tolerated: How many may be.
    """

    lost: int
    in_doubt: int
    tolerated: int


@dataclass(frozen=True, slots=True)
class MinimumShare:
    """A share of the run itself, and the least that it must reach, a fraction."""

    figures: ArmFigures
    least: float


@dataclass(frozen=True, slots=True)
class AmountChange:
    """Tokens or cost against the baseline.

    Attributes:
        contrast: New over old; without figures where it cannot be decided.
        tolerated: By how much it may grow, a fraction.
    """

    contrast: Contrast
    tolerated: float


RunReason = (
    PlainReason
    | NotComparable
    | SameSetup
    | DraftCases
    | UnfinishedBaseline
    | UnfinishedRun
    | FinishedTrials
    | CheckedArms
    | RecordedUse
)
ArmReason = SampleSize | NewOverflows | FitCounts | UnfitBefore | ShareChange | LostCases | MinimumShare | AmountChange
CheckReason = RunReason | ArmReason
