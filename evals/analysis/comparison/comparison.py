"""The result of a comparison, as values: contrasts, flips, confusions, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.evals.analysis.comparison.reasons import ComparisonNote, Mismatch, Reason
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SideInfo
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict

MARGIN = 0.02
"""Share that may be lost by default: two points."""
LEVEL = 0.95


def find_margin(side: SideInfo, margin: float | None) -> float:
    """The margin that a side is judged by: the one given, else the side's own, else two points."""
    return margin if margin is not None else MARGIN if side.margin is None else side.margin


class Measure(StrEnum):
    """What is compared."""

    ACCURACY = "accuracy"
    SOLVED = "solved"
    DEFINITION_TOKENS = "definition_tokens"
    PROMPT_TOKENS = "prompt_tokens"
    REQUESTS = "requests"
    COST_USD = "cost_usd"
    LATENCY_SECONDS = "latency_seconds"

    @property
    def is_share(self) -> bool:
        """Whether it is a share, with a verdict: more is better. Of amounts, less is better; they have no verdict."""
        return self in (Measure.ACCURACY, Measure.SOLVED)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One measure of two arms over the cases that both were scored on; a share of arms of one run, over those too long
    for either, too, which are not right (rule V1). Figures are means, epochs averaged to their case; new − old.

    Attributes:
        measure: What is compared.
        old: Mean of the old arm; `None` where it is not known for all those cases.
        new: Mean of the new arm.
        difference: New − old; `None` where either is not known, or there are no cases.
        low: Lower bound of the difference's interval.
        high: Upper bound.
        ratio: New over old, of amounts; `None` where that is not a positive number over another.
        ratio_low: Lower bound of the ratio's interval.
        ratio_high: Upper bound.
        p_value: Two-sided, not adjusted; `None` where there is no difference to test.
        adjusted_p: Adjusted over the verdicts of the command (Holm); `None` where no verdict is given.
        verdict: On a share, with the margin; `None` for an amount.
        cases: How many those are.
        clusters: How many clusters of cases those are.
        too_long: How many of those were too long for either arm and count as not right.
        worst_low: Lower bound if all that failed or was not run were lost; `None` where nothing was.
        is_same: Whether both sent the same requests and have the same answers: then neither is worse (rule V3).
        planned: How many each arm was to be asked; 0 where that is unknown.
        unanswered: Of how many of those a trial of either arm ended with an error or has not been run.
        differing: In how many of the cases the arms differ; `None` without figures, and of an amount.
        method: How interval and p value were found; empty where they were not.
        reasons: Why the verdict is no better, or why there are no figures.
    """

    measure: Measure
    old: float | None = None
    new: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    verdict: Verdict | None = None
    cases: int = 0
    clusters: int = 0
    planned: int = 0
    unanswered: int = 0
    differing: int | None = None
    method: str = ""
    reasons: tuple[Reason, ...] = ()
    too_long: int = 0
    worst_low: float | None = None
    is_same: bool = False

    @property
    def is_surely_more(self) -> bool:
        """Whether a share is surely greater, by however little, whatever became of trials without an answer."""
        is_more = all(low is None or low > 0 for low in (self.low, self.worst_low))
        return self.verdict is Verdict.NO_REGRESSION and (self.adjusted_p or 0.0) < SIGNIFICANT and is_more


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that one of the arms does better.

    Attributes:
        case: Its id.
        kind: What sort of case it is.
        change: New − old share of scored epochs that were right, in −1..1; never 0.
        old: The old arm's first scored attempt that was right where the case got worse, wrong where it got better.
        new: The new arm's first that was the other way round; neither has its figures.
    """

    case: str
    kind: str
    change: float
    old: Attempt
    new: Attempt


@dataclass(frozen=True, slots=True)
class LeftOutFlips:
    """Cases that differ alike, and are counted where a comparison has too many to keep each.

    Attributes:
        old: The attempt of the old arm, as in `Flip`, without tokens, requests, cost and time; `new` likewise.
        is_worse: Whether the new arm does worse.
        cases: How many.
    """

    old: Attempt
    new: Attempt
    is_worse: bool
    cases: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """A tool that was called for another.

    Attributes:
        wanted: Id of the tool that was missing; empty where nothing should have been called or nothing was missing.
        called: Id of the tool that was called; empty where nothing was.
        old: Scored trials of the old arm in which it happened, over the cases both were scored on.
        new: Of the new arm.
    """

    wanted: str
    called: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Contribution:
    """What coverage and what selection contributed to a difference in accuracy; the two add up to it.

    accuracy = coverage × selection given coverage, so each part is its own change times the mean of the other
    (Shapley's division of a product's difference).

    Attributes:
        coverage: Accuracy gained because right answers could be reached, a fraction; below 0 where it was lost.
        selection: Accuracy gained because they were chosen, where they could be.
        old_coverage: Share of scored trials where an accepted answer could be reached.
        new_coverage: The same share of the new arm.
        old_selection: Share of those trials that are right by names; `None` if no answer could be reached.
        new_selection: The same share of the new arm.
        newly_uncovered: Cases whose right answer cannot be reached any more.
        newly_covered: Cases whose right answer can be reached now.
    """

    coverage: float
    selection: float
    old_coverage: float
    new_coverage: float
    old_selection: float | None
    new_selection: float | None
    newly_uncovered: int = 0
    newly_covered: int = 0


@dataclass(frozen=True, slots=True)
class KindContrast:
    """How the two arms differ over the cases of one kind.

    Attributes:
        kind: Of the cases.
        cases: How many both arms were scored on.
        better: How many the new arm does better.
        worse: How many it does worse.
        old: Mean share of the old arm over them.
        new: Of the new arm.
    """

    kind: str
    cases: int
    better: int
    worse: int
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Cases that one arm was not scored on at every epoch.

    Attributes:
        is_new: Whether it is the new arm.
        reason: An outcome that is not scored, or `not run`.
        cases: How many.
    """

    is_new: bool
    reason: str
    cases: int

    @property
    def label(self) -> str:
        """`old: error`, `new: not run`."""
        return f"{'new' if self.is_new else 'old'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class FitCounts:
    """Of how many cases that fitted the old arm's window it is known whether they fit the new one's.

    Attributes:
        before: Cases that the old arm was scored on and that never were too long for it.
        answered: Of those, cases of which every trial of the new arm ended otherwise than with an error.
        unrun: Of those, cases of which a trial of the new arm has not been run.
        gained: Cases that were too long for the old arm, and fit the new one.
    """

    before: int = 0
    answered: int = 0
    unrun: int = 0
    gained: int = 0


@dataclass(frozen=True, slots=True)
class NothingFitted:
    """That no case fitted the old arm's window, at any epoch: nothing could be lost.

    Attributes:
        cases: How many that were: all that were to be asked.
        clusters: How many clusters of cases those are.
        now: Of how many cases the new arm was scored; 0 where none fits it either.
    """

    cases: int
    clusters: int
    now: int = 0


@dataclass(frozen=True, slots=True)
class FlipCounts:
    """How many cases differ between two arms.

    Attributes:
        worse: Cases that the new arm does worse.
        better: Cases that it does better.
        ends: Of those that are worse, the new arm's attempts, and how many cases ended so.
    """

    worse: int = 0
    better: int = 0
    ends: tuple[tuple[Attempt, int], ...] = ()

    @property
    def total(self) -> int:
        """All cases that differ."""
        return self.worse + self.better


def count_changes(flips: Sequence[Flip], left_out: Sequence[LeftOutFlips]) -> FlipCounts:
    """How many cases got worse and better, of those that are kept and those that are left out."""
    worse = [(flip.new, 1) for flip in flips if flip.change < 0]
    worse += [(others.new, others.cases) for others in left_out if others.is_worse]
    better = sum(flip.change > 0 for flip in flips) + sum(each.cases for each in left_out if not each.is_worse)
    return FlipCounts(sum(cases for _, cases in worse), better, tuple(worse))


@dataclass(frozen=True, slots=True, repr=False)
class ArmComparison:
    """Two arms.

    Attributes:
        old: Name of the old arm.
        new: Name of the new arm.
        contrasts: By measure, shares first.
        flips: Cases that differ in the first share compared, the worse ones first; of very many an even sample.
        left_out: The others, counted.
        confusions: Those that happened more or less often, the greatest change for the worse first; then the rest.
        contribution: What coverage and selection did; `None` where there are no cases.
        parts: By kind, in the same share, the greatest loss first.
        unpaired: Cases of which not all epochs were scored in both arms, by side and reason.
        newly_overflowing: Cases that no longer fit the model's window: a regression, whatever is left (rule E4).
        fit: Of how many cases that is known.
        unfit: Set where the old arm, of another run, fitted no case at all, and it is known what the new one does.
    """

    old: ArmName
    new: ArmName
    contrasts: tuple[Contrast, ...] = ()
    flips: tuple[Flip, ...] = ()
    left_out: tuple[LeftOutFlips, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    contribution: Contribution | None = None
    parts: tuple[KindContrast, ...] = ()
    unpaired: tuple[Unpaired, ...] = ()
    newly_overflowing: tuple[str, ...] = ()
    fit: FitCounts = FitCounts()
    unfit: NothingFitted | None = None

    @property
    def flip_counts(self) -> FlipCounts:
        """The cases that differ, of those that are kept and those that are left out."""
        return count_changes(self.flips, self.left_out)

    @property
    def verdict(self) -> Verdict | None:
        """Of the arms, by the first share compared; `None` where there is none."""
        return self.verdict_by(self.main_contrast.measure)

    @property
    def main_contrast(self) -> Contrast:
        """Of the first share compared: accuracy, unless it was not asked for; without figures if there is none."""
        shares = (contrast for contrast in self.contrasts if contrast.measure.is_share)
        return next(shares, Contrast(Measure.ACCURACY))

    def __repr__(self) -> str:
        contrast = self.main_contrast
        difference = "" if contrast.difference is None else f" {100 * contrast.difference:+.1f} points"
        verdict = "no verdict" if self.verdict is None else self.verdict.value
        return f"{self.new.label} against {self.old.label}: {contrast.measure.value}{difference}, {verdict}"

    def verdict_by(self, measure: Measure) -> Verdict | None:
        """By one share; a regression where cases no longer fit (rule E4), unless surely more of all asked is right."""
        contrast, is_unfit = self.contrast(measure), self.unfit is not None  # then no case fitted before
        if self.newly_overflowing and not (contrast.too_long and contrast.is_surely_more):
            return Verdict.REGRESSION
        return Verdict.NO_REGRESSION if is_unfit and contrast.verdict is not None else contrast.verdict

    def contrast(self, measure: Measure) -> Contrast:
        """The contrast of one measure; one without figures if it was not asked for."""
        return next((each for each in self.contrasts if each.measure is measure), Contrast(measure))


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two sides, or the arms of one.

    Attributes:
        old: What the old side is of.
        new: What the new one is of; the same where the arms of one run are compared.
        reasons: Why they cannot be compared; empty if they can.
        differences: What differs and may: catalog, loadouts, toolset, model, code.
        notes: What must be known before any verdict: unfinished, unscored, drafts.
        pairs: The arms compared.
        missing: Arms of the old side that the new one lacks.
        added: Arms of the new side that the old one lacks.
        unfit: Arms of one run that are in no pair, as they do not fit their model and nothing of them was scored.
        alone: Those that are in none, as no other of their model could be scored.
        margin: Share that may be lost.
        level: Of all intervals.
    """

    old: SideInfo
    new: SideInfo
    reasons: tuple[Mismatch, ...] = ()
    differences: tuple[Mismatch, ...] = ()
    notes: tuple[ComparisonNote, ...] = ()
    pairs: tuple[ArmComparison, ...] = ()
    missing: tuple[ArmName, ...] = ()
    added: tuple[ArmName, ...] = ()
    unfit: tuple[ArmName, ...] = ()
    alone: tuple[ArmName, ...] = ()
    margin: float = MARGIN
    level: float = LEVEL

    @property
    def is_comparable(self) -> bool:
        """Whether the two sides may be compared."""
        return not self.reasons

    @property
    def is_within(self) -> bool:
        """Whether the arms of one run or baseline are compared."""
        return self.old.name == self.new.name

    @property
    def hypotheses(self) -> int:
        """How many p values are adjusted over: two shares of an arm that are the same in every trial count once."""
        judged = [[each for each in pair.contrasts if each.verdict is not None] for pair in self.pairs]
        return sum(len({replace(each, measure=Measure.ACCURACY) for each in contrasts}) for contrasts in judged)

    def __repr__(self) -> str:
        sides = f"of {self.old.name} with {self.new.name}" if not self.is_within else f"within {self.new.name}"
        if not self.is_comparable:
            why = ", ".join(reason.aspect.value for reason in self.reasons)
            return f"<Comparison {sides}: not comparable ({why})>"
        return f"<Comparison {sides}: {'; '.join(map(repr, self.pairs)) or 'no arms'}>"
