"""The cases of two arms, paired by their id."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from toolbelt.evals.analysis.comparison.comparison import FitCounts, Measure, NothingFitted, Unpaired
from toolbelt.evals.analysis.comparison.reasons import ClusterSizes
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence
from toolbelt.evals.scoring.outcome import Outcome

T = TypeVar("T")

NOT_RUN = "not run"
"""The reason of a trial without an outcome; other unscored trials have their outcome as reason."""
_TOO_LONG = Outcome.CONTEXT_OVERFLOW.value


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case in one arm.

    Attributes:
        attempts: Those that were scored, in the order of epochs.
        epochs: How often it was to be asked.
        lost: Why the others were not scored: outcomes, or `not run`; one for each epoch.
        right: Attempts that were right by names.
        solved: Attempts that were right in all.
        covered: Attempts in which an accepted answer could be reached.
    """

    attempts: tuple[Attempt, ...]
    epochs: int
    lost: tuple[str, ...] = ()
    right: int = 0
    solved: int = 0
    covered: int = 0

    def count(self, measure: Measure) -> int:
        """The attempts that count for that share."""
        return self.right if measure is Measure.ACCURACY else self.solved

    def share(self, measure: Measure) -> float:
        """The share of the scored attempts, of which there must be at least one."""
        return self.count(measure) / len(self.attempts)

    @property
    def too_long(self) -> int:
        """Epochs whose prompt did not fit the model's window, so that no answer was possible."""
        return self.lost.count(_TOO_LONG) if self.lost else 0

    @property
    def in_doubt(self) -> int:
        """Epochs with an unknown result: those that failed or were not run."""
        return len(self.lost) - self.too_long

    def least(self, measure: Measure, left_out: int) -> float:
        """Share of all epochs but so many, what is not scored among them counted as lost."""
        return self.count(measure) / (self.epochs - left_out)

    def most(self, measure: Measure) -> float | None:
        """Share of the epochs that fitted, what is in doubt counted as won; `None` where none did."""
        could_be = self.epochs - self.too_long
        return (self.count(measure) + self.in_doubt) / could_be if could_be else None


@dataclass(frozen=True, slots=True)
class CasePair:
    """A case in both arms.

    Attributes:
        case: Its id.
        cluster: Shared by the paraphrases of one task.
        kind: What sort of case it is.
        old: What became of it in the old arm.
        new: And in the new one.
    """

    case: str
    cluster: str
    kind: str
    old: CaseResult
    new: CaseResult

    @property
    def is_scored(self) -> bool:
        """Whether each arm has a scored attempt at least."""
        return bool(self.old.attempts and self.new.attempts)

    @property
    def is_whole(self) -> bool:
        """Whether every epoch of both arms was scored."""
        return not (self.old.lost or self.new.lost)

    @property
    def has_fitted(self) -> bool:
        """Whether the case was scored in the old arm, and never too long."""
        return bool(self.old.attempts) and not self.old.too_long

    @property
    def newly_overflows(self) -> bool:
        """Whether the case fitted before, and is too long in the new arm (rule E4)."""
        return self.has_fitted and bool(self.new.too_long)

    @property
    def never_fits(self) -> bool:
        """Whether the case was too long in both arms, at every epoch."""
        return self.old.too_long == self.old.epochs and self.new.too_long == self.new.epochs

    @property
    def may_be_loss(self) -> bool:
        """Whether unscored epochs may hide a loss; an old arm that could not answer had nothing to lose."""
        return bool(self.old.in_doubt or self.new.in_doubt) or self.new.too_long > self.old.too_long

    @property
    def may_be_gain(self) -> bool:
        """Whether unscored epochs may hide a gain, such as an answer where the old arm could give none."""
        return bool(self.old.in_doubt or self.new.in_doubt) or self.old.too_long > self.new.too_long

    def worst(self, measure: Measure) -> tuple[float, float] | None:
        """`(new, old)` if what is not scored were lost in the new arm and won in the old one; `None` where there was
        nothing to lose. What was too long was not won, and where it was in both it counts for neither.
        """
        old = self.old.most(measure)
        return None if old is None else (self.new.least(measure, self._too_long_in_both), old)

    def best(self, measure: Measure) -> tuple[float, float] | None:
        """`(new, old)` the other way round; `None` where there was nothing to win."""
        new = self.new.most(measure)
        return None if new is None else (new, self.old.least(measure, self._too_long_in_both))

    @property
    def _too_long_in_both(self) -> int:
        """Epochs of a case stand for each other, so that which ones those were does not matter."""
        return min(self.old.too_long, self.new.too_long)


@dataclass(frozen=True, slots=True)
class PairedCases:
    """All cases of two arms.

    Attributes:
        pairs: Those that either side has read, in the order asked.
        unread: How many more were to be asked, of which no trial has finished in either arm.
        epochs: How often each was to be asked.
    """

    pairs: tuple[CasePair, ...]
    unread: int = 0
    epochs: int = 1
    scored: tuple[CasePair, ...] = field(init=False)
    """The cases that each arm was scored on."""
    partly: tuple[CasePair, ...] = field(init=False)
    """The cases of which not every epoch of both arms was scored."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "partly", tuple(pair for pair in self.pairs if not pair.is_whole))
        object.__setattr__(self, "scored", tuple(pair for pair in self.pairs if pair.is_scored))

    @property
    def planned(self) -> int:
        """Cases each arm was to be asked."""
        return len(self.pairs) + self.unread

    @property
    def incomplete(self) -> int:
        """Cases of which not every epoch was scored in both arms, but for those that never fitted in either."""
        return self.unread + sum(not pair.never_fits for pair in self.partly)

    @property
    def never_fit(self) -> int:
        """Cases that were too long in both arms, which count for neither."""
        return sum(pair.never_fits for pair in self.partly)

    @property
    def may_be_losses(self) -> int:
        """Cases whose unscored epochs may hide a loss."""
        return self.unread + sum(pair.may_be_loss for pair in self.partly)

    @property
    def may_be_gains(self) -> int:
        """Cases whose unscored epochs may hide a gain."""
        return self.unread + sum(pair.may_be_gain for pair in self.partly)

    @property
    def unanswered(self) -> int:
        """Cases of which a trial of either arm ended with an error or has not been run."""
        return self.unread + sum(bool(pair.old.in_doubt or pair.new.in_doubt) for pair in self.partly)

    def count_fit(self) -> FitCounts:
        """Of how many cases it is known whether they still fit the model's window."""
        fitted = [pair.new for pair in self.pairs if pair.has_fitted]
        return FitCounts(
            len(fitted), sum(not new.in_doubt for new in fitted), sum(NOT_RUN in new.lost for new in fitted)
        )

    def find_unfit(self) -> NothingFitted | None:
        """That no case fitted the old arm at any epoch, and what the new one makes of them; `None` where some did, or
        nobody knows of either arm.
        """
        too_long = [pair for pair in self.pairs if pair.old.too_long == self.epochs]
        if not too_long or len(too_long) < self.planned:
            return None
        now = sum(bool(pair.new.attempts) for pair in too_long)
        if not now and not all(pair.never_fits for pair in too_long):
            return None
        return NothingFitted(len(too_long), len({pair.cluster for pair in too_long}), now)

    def count_unpaired(self) -> tuple[Unpaired, ...]:
        """Cases of which not every epoch was scored, by side and reason; a case may have several reasons."""
        counts: Counter[tuple[bool, str]] = Counter()
        for pair in self.partly:
            for is_new, result in ((False, pair.old), (True, pair.new)):
                counts.update({(is_new, reason) for reason in result.lost})
        if self.unread:
            counts.update({(is_new, NOT_RUN): self.unread for is_new in (False, True)})
        return tuple(Unpaired(is_new, reason, cases) for (is_new, reason), cases in sorted(counts.items()))


def pair_cases(
    old: Mapping[str, CaseEvidence], new: Mapping[str, CaseEvidence], cases: int, epochs: int
) -> PairedCases:
    """Pair the cases of two arms.

    Args:
        old: Of the old arm, by case.
        new: Of the new arm.
        cases: How many each arm was to be asked.
        epochs: How often each.
    """
    nothing = CaseResult((), epochs, (NOT_RUN,) * epochs)
    pairs = []
    for case in [*old, *(case for case in new if case not in old)]:
        before, after = old.get(case), new.get(case)
        known = before or after
        assert known is not None  # noqa: S101  it is a case of one of them
        pairs.append(
            CasePair(
                case,
                known.cluster,
                known.kind,
                nothing if before is None else _summarize_case(before),
                nothing if after is None else _summarize_case(after),
            )
        )
    return PairedCases(tuple(pairs), max(0, cases - len(pairs)), epochs)


def is_right_by(measure: Measure, attempt: Attempt) -> bool:
    """Whether an attempt was right, as that share defines it."""
    return attempt.is_right if measure is Measure.ACCURACY else attempt.is_solved


def group_by_cluster(pairs: Iterable[CasePair], value: Callable[[CasePair], T]) -> list[list[T]]:
    """A value for each case, grouped by cluster."""
    clusters: defaultdict[str, list[T]] = defaultdict(list)
    for pair in pairs:
        clusters[pair.cluster].append(value(pair))
    return list(clusters.values())


def _summarize_case(evidence: CaseEvidence) -> CaseResult:
    scored, lost = [], []
    right = solved = covered = 0
    for attempt in evidence.attempts:
        if attempt is None:
            lost.append(NOT_RUN)
        elif not attempt.is_scored:
            lost.append(attempt.outcome.value)
        else:
            scored.append(attempt)
            right += attempt.is_right
            solved += attempt.is_solved
            covered += attempt.covered
    return CaseResult(tuple(scored), len(evidence.attempts), tuple(lost), right, solved, covered)


_LARGE_TIMES = 3
"""Times the mean size, from which on a cluster counts as large."""
_LARGE_WEIGHT = 0.02
"""Of the largest cluster among the squares of all sizes: its part of the variance, if all change equally often."""


def measure_clusters(pairs: Sequence[CasePair]) -> ClusterSizes:
    """The sizes of the clusters of the cases."""
    sizes = Counter(pair.cluster for pair in pairs).values()
    if not sizes:
        return ClusterSizes()
    largest, mean = max(sizes), len(pairs) / len(sizes)
    weight = largest**2 / sum(size**2 for size in sizes) if largest >= _LARGE_TIMES * mean else 0.0
    return ClusterSizes(weight, largest, mean)


def find_uneven_clusters(sizes: Sequence[ClusterSizes]) -> ClusterSizes | None:
    """The sizes that differ most, of several comparisons, if they differ so much that few clusters may carry a result.

    They do if the largest cluster has at least three times the cases of the mean one, and its square is over 2% of the
    squares of all sizes. The simulations behind the rule are in `docs/statistics.md`.
    """
    most = max(sizes, default=ClusterSizes())
    return most if most.weight > _LARGE_WEIGHT else None
