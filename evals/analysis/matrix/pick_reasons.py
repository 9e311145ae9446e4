"""Why a toolset is recommended for a model, or none, as data; `pick_text` puts it into words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolbelt.evals.analysis.comparison.comparison import Contrast
from toolbelt.evals.analysis.comparison.sample_size import Advice
from toolbelt.evals.analysis.matrix.cell import Cell
from toolbelt.evals.analysis.summary.run_summary import Rate

# What a reason is about


@dataclass(frozen=True, slots=True)
class MeasuredToolset:
    """The best toolset of a model, as measured.

    Attributes:
        toolset: Its label.
        right_of_asked: Right by names, of all asked.
        too_long: Of those, trials that were too long for the model.
    """

    toolset: str
    right_of_asked: Rate
    too_long: int = 0


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """What a model called with a toolset.

    Attributes:
        toolset: Its label.
        right: Trials that were right, of those that need a call.
        trials: Trials scored that need a call.
        abstained: Trials that were right without a call, of those that need none.
    """

    toolset: str
    right: int
    trials: int
    abstained: int

    @property
    def share(self) -> float:
        """Right ones of those that need a call; 0 where there are none."""
        return self.right / self.trials if self.trials else 0.0


@dataclass(frozen=True, slots=True)
class MissingAnswers:
    """Trials of a toolset that failed or were not run.

    Attributes:
        toolset: Its label.
        missing: How many.
        planned: Of how many.
    """

    toolset: str
    missing: int
    planned: int


# Why there is no best toolset


class NothingMeasured(StrEnum):
    """Why nothing was scored that could be chosen."""

    NO_TOOL_CALLING = "no_tool_calling"
    ONLY_UNASSIGNABLE = "only_unassignable"
    """What was scored goes by the case or is an experiment."""
    NOTHING_SCORED = "nothing_scored"
    NOTHING_FITS = "nothing_fits"


@dataclass(frozen=True, slots=True)
class NoBest:
    """There is no best toolset.

    Attributes:
        why: As a value.
        cell: The first one with a cause of its own, if there is one.
    """

    why: NothingMeasured
    cell: Cell | None = None


@dataclass(frozen=True, slots=True)
class NoneCalls:
    """With each toolset the model called hardly any right tool: in no larger share of trials than the margin."""

    arms: tuple[ToolCalls, ...]
    margin: float


@dataclass(frozen=True, slots=True)
class WideMargin:
    """The margin is so wide that a toolset that is never right would do, too.

    Attributes:
        best: The best by its calls, or by all trials.
        margin: Share that may be lost.
    """

    best: ToolCalls | MeasuredToolset
    margin: float


# Why there is a best toolset, but no choice


@dataclass(frozen=True, slots=True)
class UnreviewedCases:
    """Cases are drafts, which prove nothing."""

    best: MeasuredToolset
    drafts: int
    cases: int


@dataclass(frozen=True, slots=True)
class TooFewAnswers:
    """Too many trials of the best lack an answer."""

    best: MeasuredToolset
    answers: MissingAnswers


@dataclass(frozen=True, slots=True)
class HardlyRight:
    """The best is right in no larger share of trials than may be lost."""

    best: MeasuredToolset
    margin: float


@dataclass(frozen=True, slots=True)
class OnlyOneAsked:
    """There is nothing to choose from."""

    best: MeasuredToolset


# Why the choice is what it is


@dataclass(frozen=True, slots=True)
class SmallerChoice:
    """The smallest toolset that is surely good enough.

    Attributes:
        toolset: Its label.
        best: Label of the best.
        contrast: The choice less the best, with figures.
        margin: Share that may be lost.
        level: Of the interval.
        saved: Share of definition tokens that it saves; `None` if it saves none or that is unknown.
    """

    toolset: str
    best: str
    contrast: Contrast
    margin: float
    level: float
    saved: float | None


@dataclass(frozen=True, slots=True)
class OnlyCandidate:
    """No other toolset may be better.

    Attributes:
        best: The choice.
        is_only_calling: Whether others were scored, with which the model hardly calls a right tool.
        is_only_in_all: Whether others fit the model in some of the cases.
    """

    best: MeasuredToolset
    is_only_calling: bool
    is_only_in_all: bool


@dataclass(frozen=True, slots=True)
class SureBest:
    """The best toolset, surely not worse than any other by more than the margin.

    Attributes:
        best: The choice.
        margin: Share that may be lost.
        is_smallest: Whether none is smaller.
        is_of_calling: Whether others are left out, with which the model hardly calls a right tool.
    """

    best: MeasuredToolset
    margin: float
    is_smallest: bool
    is_of_calling: bool


@dataclass(frozen=True, slots=True)
class UncomparedToolsets:
    """Labels of toolsets that too little is known of."""

    toolsets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BestOverflows:
    """Cases that fit the model with another toolset, and not with the best."""

    rival: str
    cases: int


@dataclass(frozen=True, slots=True)
class MaybeBetter:
    """Another toolset may be better than the best.

    Attributes:
        rival: Its label.
        contrast: The best less the rival; `None` where they were not compared.
        margin: Share that may be lost.
        others: Further toolsets that may be better.
    """

    rival: str
    contrast: Contrast | None
    margin: float
    others: int


Doubt = UncomparedToolsets | BestOverflows | MaybeBetter


@dataclass(frozen=True, slots=True)
class UnsureBest:
    """The best as measured, which may be so by chance.

    Attributes:
        best: The choice.
        is_smallest: Whether there are others and none is smaller.
        is_of_calling: Whether others are left out, with which the model hardly calls a right tool.
        doubt: What speaks against it.
    """

    best: MeasuredToolset
    is_smallest: bool
    is_of_calling: bool
    doubt: Doubt


# What else to know


@dataclass(frozen=True, slots=True)
class ConcreteToolset:
    """The toolset that a label such as `loadout:auto` was in this run."""

    toolset: str
    concrete: str


@dataclass(frozen=True, slots=True)
class CasesWanted:
    """What would make sure of the choice: answers that are missing, or more cases."""

    toolset: str
    advice: Advice


@dataclass(frozen=True, slots=True)
class PromisingToolset:
    """A smaller toolset looks good enough, but not for sure.

    Attributes:
        toolset: Its label.
        contrast: Less the best.
        margin: Share that may be lost.
        level: Of the interval.
        advice: What would make sure of it.
    """

    toolset: str
    contrast: Contrast
    margin: float
    level: float
    advice: Advice


@dataclass(frozen=True, slots=True)
class TooLongToolsets:
    """Smaller toolsets, good enough but for cases that no longer fit: labels and how many cases."""

    toolsets: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class NeverCalls:
    """Toolsets that are left out because the model hardly calls a right tool with them."""

    arms: tuple[ToolCalls, ...]
    margin: float


@dataclass(frozen=True, slots=True)
class NotConsidered:
    """Toolsets that are left out because too many trials lack an answer."""

    arms: tuple[MissingAnswers, ...]


ChoiceReason = SmallerChoice | OnlyCandidate | SureBest | UnsureBest
NoChoiceReason = NoBest | NoneCalls | WideMargin | UnreviewedCases | TooFewAnswers | HardlyRight | OnlyOneAsked
FurtherReason = ConcreteToolset | CasesWanted | PromisingToolset | TooLongToolsets | NeverCalls | NotConsidered
PickReason = ChoiceReason | NoChoiceReason | FurtherReason
