"""What became of cases: what a share goes by is little, how many epochs of a case were scored, right, solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.evidence.case_table import CaseTable, take
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome

Places = NDArray[np.integer[Any]]

NOT_RUN = "not run"
"""The reason of a trial without an outcome; other unscored trials have their outcome as reason."""
_TOO_LONG = Outcome.CONTEXT_OVERFLOW.value
_TRIALS = 1 << 16
"""Of the cases that are summarized at once."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case in one arm.

    Attributes:
        scored: Attempts that were scored.
        epochs: How often it was to be asked.
        lost: Why the others were not scored: outcomes, or `not run`; one for each epoch.
        right: Attempts that were right by names.
        solved: Attempts that were right in all.
        covered: Attempts in which an accepted answer could be reached.
    """

    scored: int
    epochs: int
    lost: tuple[str, ...] = ()
    right: int = 0
    solved: int = 0
    covered: int = 0

    def count(self, measure: Measure) -> int:
        """The attempts that count for that share."""
        return self.right if measure is Measure.ACCURACY else self.solved

    def trials(self, *, of_asked: bool) -> int:
        """The attempts that a share is of: those scored; of all asked, those that were too long, too."""
        return self.scored + self.too_long if of_asked else self.scored

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
        epochs = self.epochs - left_out
        return self.count(measure) / epochs if epochs else 0.0  # none is left of an arm that was asked less often

    def most(self, measure: Measure) -> float | None:
        """Share of the epochs that fitted, what is in doubt counted as won; `None` where none did."""
        could_be = self.epochs - self.too_long
        return (self.count(measure) + self.in_doubt) / could_be if could_be else None


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """Cases of a kind that came out alike in both arms.

    Attributes:
        kind: What sort of cases they are.
        old: What became of each in the old arm.
        new: And in the new one.
        of_asked: Whether what was too long counts as not right, as between arms of one run; else it is not compared.
    """

    kind: str
    old: CaseResult
    new: CaseResult
    of_asked: bool = False

    @property
    def is_scored(self) -> bool:
        """Whether each arm has a scored attempt at least."""
        return bool(self.old.scored and self.new.scored)

    @property
    def is_compared(self) -> bool:
        """Whether each arm has an attempt at least that its share is of."""
        return bool(self.old.trials(of_asked=self.of_asked) and self.new.trials(of_asked=self.of_asked))

    def shares(self, measure: Measure) -> tuple[float, float]:
        """`(new, old)` of a case that is compared."""
        new, old = (tried.count(measure) / tried.trials(of_asked=self.of_asked) for tried in (self.new, self.old))
        return new, old

    @property
    def is_whole(self) -> bool:
        """Whether every epoch of both arms was scored."""
        return not (self.old.lost or self.new.lost)

    @property
    def has_fitted(self) -> bool:
        """Whether the case was scored in the old arm, and never too long."""
        return bool(self.old.scored) and not self.old.too_long

    @property
    def newly_overflows(self) -> bool:
        """Whether the case fitted before, and is too long in the new arm (rule E4)."""
        return self.has_fitted and bool(self.new.too_long)

    @property
    def is_too_long(self) -> bool:
        """Whether the case was too long in either arm, at any epoch."""
        return bool(self.old.too_long or self.new.too_long)

    @property
    def never_fits(self) -> bool:
        """Whether the case was too long in both arms, at every epoch."""
        return self.old.too_long == self.old.epochs and self.new.too_long == self.new.epochs

    @property
    def may_be_loss(self) -> bool:
        """Whether unscored epochs may hide a loss; an old arm that could not answer had nothing to lose."""
        is_in_doubt = bool(self.old.in_doubt or self.new.in_doubt)
        return is_in_doubt or (not self.of_asked and self.new.too_long > self.old.too_long)

    @property
    def may_be_gain(self) -> bool:
        """Whether unscored epochs may hide a gain, such as an answer where the old arm could give none."""
        is_in_doubt = bool(self.old.in_doubt or self.new.in_doubt)
        return is_in_doubt or (not self.of_asked and self.old.too_long > self.new.too_long)

    def worst(self, measure: Measure) -> tuple[float, float] | None:
        """`(new, old)` if what is not scored were lost in the new arm and won in the old one; `None` where there was
        nothing to lose. What was too long was not won, and where it was in both it counts for neither.
        """
        if self.of_asked:
            return None if self.never_fits else (self._at_least(self.new, measure), self._at_most(self.old, measure))
        old = self.old.most(measure)
        return None if old is None else (self.new.least(measure, self._too_long_in_both), old)

    def best(self, measure: Measure) -> tuple[float, float] | None:
        """`(new, old)` the other way round; `None` where there was nothing to win."""
        if self.of_asked:
            return None if self.never_fits else (self._at_most(self.new, measure), self._at_least(self.old, measure))
        new = self.new.most(measure)
        return None if new is None else (new, self.old.least(measure, self._too_long_in_both))

    @staticmethod
    def _at_least(tried: CaseResult, measure: Measure) -> float:
        return tried.count(measure) / tried.epochs

    @staticmethod
    def _at_most(tried: CaseResult, measure: Measure) -> float:
        return (tried.count(measure) + tried.in_doubt) / tried.epochs

    @property
    def _too_long_in_both(self) -> int:
        """Epochs of a case stand for each other, so that which ones those were does not matter."""
        return min(self.old.too_long, self.new.too_long)


def summarize_cases(table: CaseTable) -> tuple[list[CaseResult], Places]:
    """The different results of cases, and which each has; the order of epochs does not matter."""
    kinds: dict[tuple[str, bool, bool, bool], int] = {}
    of_end = [kinds.setdefault(_reduce(end), len(kinds)) for end in table.ends]
    kind_of, names = np.array(of_end, dtype=np.int16), list(kinds)
    numbers: dict[tuple[int, ...], int] = {}
    codes = np.empty(len(table), np.int32)
    step = max(1, _TRIALS // max(1, table.epochs))
    for start in range(0, len(table), step):
        epochs = np.sort(kind_of[table.end_of[start : start + step]], axis=1)
        rows, inverse = np.unique(epochs, axis=0, return_inverse=True)
        known = np.array([numbers.setdefault(tuple(row), len(numbers)) for row in rows.tolist()])
        codes[start : start + step] = known[inverse.ravel()]
    ordered = sorted(numbers)
    rank = np.empty(len(numbers), np.min_scalar_type(len(numbers)))
    rank[[numbers[row] for row in ordered]] = np.arange(len(ordered))
    return [_make_result([names[each] for each in row]) for row in ordered], take(rank, codes)


def _reduce(attempt: Attempt | None) -> tuple[str, bool, bool, bool]:
    """Why an attempt was not scored, or whether it was right, solved and covered."""
    if attempt is None:
        return NOT_RUN, False, False, False
    if not attempt.is_scored:
        return attempt.outcome.value, False, False, False
    return "", attempt.is_right, attempt.is_solved, attempt.covered


def _make_result(epochs: Sequence[tuple[str, bool, bool, bool]]) -> CaseResult:
    lost = tuple(reason for reason, *_ in epochs if reason)
    flags = [epoch[1:] for epoch in epochs]
    return CaseResult(len(epochs) - len(lost), len(epochs), lost, *map(sum, zip(*flags, strict=True)))
