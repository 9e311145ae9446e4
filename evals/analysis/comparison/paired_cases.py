"""The cases of two arms, paired by their id.

Cases that came out alike are grouped, so that what is asked of all is asked of a few groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.comparison.case_groups import NOT_RUN, CaseGroup, CaseResult, Places, summarize_cases
from toolbelt.evals.analysis.comparison.comparison import FitCounts, Measure, NothingFitted, Unpaired
from toolbelt.evals.analysis.comparison.reasons import ClusterSizes
from toolbelt.evals.analysis.evidence.case_table import CaseTable, as_table, count, take
from toolbelt.evals.analysis.evidence.evidence import Attempt, CaseEvidence
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.statistics.clusters import count_different

_ABSENT = -1
_PART = 1 << 16
"""Cases that are grouped at once, so that little is held beside the result."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedCases:
    """All cases of two arms that either side has read, in the order asked.

    Attributes:
        groups: Those that came out alike, together.
        group_of: Of each case, the place of its group.
        clusters: Of each case, a number that it shares with the cases of its cluster.
        old: The cases of the old arm.
        new: Those of the new one.
        places: Of each case, where it stands in the old arm and in the new one; below 0 where it is not.
        unread: How many more were to be asked, of which no trial has finished in either arm.
        epochs: How often each was to be asked.
        of_asked: Whether what was too long counts as not right, as between arms of one run (rule V1); else it is not
            compared, and a check of its own.
    """

    groups: tuple[CaseGroup, ...]
    group_of: Places
    clusters: Places
    old: CaseTable
    new: CaseTable
    places: tuple[Places, Places]
    unread: int = 0
    epochs: int = 1
    of_asked: bool = False
    scored: Places = field(init=False)
    """The cases that each arm was scored on, by their number."""
    compared: Places = field(init=False)
    """Those that their shares are compared over: of all asked, those that were too long, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scored", self.find(lambda group: group.is_scored))
        compared = self.find(lambda group: group.is_compared) if self.of_asked else self.scored
        object.__setattr__(self, "compared", compared)

    def __len__(self) -> int:
        return len(self.group_of)

    def take(self, value: Callable[[CaseGroup], Any], type_: Any = float, of: Places | None = None) -> NDArray[Any]:
        """Something of each case that its group says.

        Args:
            value: Of a group.
            type_: Of the array.
            of: Which cases; all if `None`.
        """
        values = np.array([value(group) for group in self.groups], dtype=type_)
        return take(values, self.group_of if of is None else take(self.group_of, of))

    def find(self, is_wanted: Callable[[CaseGroup], bool]) -> Places:
        """The numbers of the cases of some groups."""
        return np.flatnonzero(self.take(is_wanted, bool)).astype(np.int32)

    def count(self, is_wanted: Callable[[CaseGroup], object]) -> int:
        """The cases of some groups."""
        return sum(cases for group, cases in self.count_groups() if is_wanted(group))

    def count_groups(self) -> Iterator[tuple[CaseGroup, int]]:
        """The groups and how many cases they have."""
        counts = count(self.group_of, len(self.groups))
        return ((group, cases) for group, cases in zip(self.groups, counts, strict=True) if cases)

    def find_id(self, number: int) -> str:
        """The id of a case."""
        place = int(self.places[0][number])
        return self.new.names.id(int(self.places[1][number])) if place == _ABSENT else self.old.names.id(place)

    def is_of_share(self, attempt: Attempt) -> bool:
        """Whether an attempt is one that shares are of."""
        return attempt.is_scored or (self.of_asked and attempt.outcome is Outcome.CONTEXT_OVERFLOW)

    @property
    def planned(self) -> int:
        """Cases each arm was to be asked."""
        return len(self) + self.unread

    @property
    def incomplete(self) -> int:
        """Cases of which not every epoch was scored in both arms, but for those that never fitted in either, and those
        that count though they were too long.
        """
        if self.of_asked:
            return self.unanswered
        return self.unread + self.count(lambda group: not (group.is_whole or group.never_fits))

    @property
    def never_fit(self) -> int:
        """Cases that were too long in both arms."""
        return self.count(lambda group: not group.is_whole and group.never_fits)

    @property
    def may_be_losses(self) -> int:
        """Cases whose unscored epochs may hide a loss."""
        return self.unread + self.count(lambda group: not group.is_whole and group.may_be_loss)

    @property
    def may_be_gains(self) -> int:
        """Cases whose unscored epochs may hide a gain."""
        return self.unread + self.count(lambda group: not group.is_whole and group.may_be_gain)

    @property
    def unanswered(self) -> int:
        """Cases of which a trial of either arm ended with an error or has not been run."""
        return self.unread + self.count(lambda group: group.old.in_doubt or group.new.in_doubt)

    @property
    def newly_overflowing(self) -> tuple[str, ...]:
        """Ids of the cases that no longer fit the model's window."""
        return tuple(map(self.find_id, self.find(lambda group: group.newly_overflows)))

    def count_fit(self) -> FitCounts:
        """Of how many cases it is known whether they still fit the model's window."""
        return FitCounts(
            self.count(lambda group: group.has_fitted),
            self.count(lambda group: group.has_fitted and not group.new.in_doubt),
            self.count(lambda group: group.has_fitted and NOT_RUN in group.new.lost),
            self.count(lambda group: bool(group.old.too_long and group.new.scored) and not group.new.too_long),
        )

    def find_unfit(self) -> NothingFitted | None:
        """That no case fitted the old arm at any epoch, and what the new one makes of them; `None` where some did, or
        nobody knows of either arm.
        """
        too_long = self.find(lambda group: group.old.too_long == self.epochs)
        if not len(too_long) or len(too_long) < self.planned:
            return None
        now = self.count(lambda group: group.new.scored)
        if not now and self.count(lambda group: not group.never_fits):
            return None
        return NothingFitted(len(too_long), count_different(self.clusters[too_long]), now)

    def count_unpaired(self) -> tuple[Unpaired, ...]:
        """Cases of which not every epoch was scored, by side and reason; a case may have several reasons."""
        counts: Counter[tuple[bool, str]] = Counter()
        for group, cases in self.count_groups():
            for is_new, result in ((False, group.old), (True, group.new)):
                counts.update({(is_new, reason): cases for reason in set(result.lost)})
        if self.unread:
            counts.update({(is_new, NOT_RUN): self.unread for is_new in (False, True)})
        return tuple(Unpaired(is_new, reason, cases) for (is_new, reason), cases in sorted(counts.items()))


def pair_cases(
    old: Mapping[str, CaseEvidence], new: Mapping[str, CaseEvidence], cases: int, epochs: int, *, of_asked: bool = False
) -> PairedCases:
    """Pair the cases of two arms.

    Args:
        old: Of the old arm, by case.
        new: Of the new arm.
        cases: How many each arm was to be asked.
        epochs: How often each.
        of_asked: Whether what was too long counts as not right.
    """
    before, after = as_table(old, epochs), as_table(new, epochs)
    after.share_names(before)
    places = _pair_places(before, after)
    kinds, kind_of = _label_kinds(before, after, places)
    results: list[tuple[CaseResult, ...]] = []
    result_of: list[Places] = []
    for table, at in zip((before, after), places, strict=True):
        found, codes = summarize_cases(table)
        results.append((*found, CaseResult(0, epochs, (NOT_RUN,) * epochs)))  # the last, as absent is -1
        result_of.append(take(np.append(codes, len(found)), at))
    different, group_of = _number_groups(kind_of, len(results[0]), result_of[0], len(results[1]), result_of[1])
    groups = []
    for key in different.tolist():
        rest, last = divmod(key, len(results[1]))
        kind, first = divmod(rest, len(results[0]))
        groups.append(CaseGroup(kinds[kind], results[0][first], results[1][last], of_asked))
    return PairedCases(
        tuple(groups),
        group_of,
        _label_clusters(before, after, places),
        before,
        after,
        places,
        max(0, cases - len(group_of)),
        epochs,
        of_asked,
    )


def _number_groups(kinds: Places, olds: int, old: Places, news: int, new: Places) -> tuple[NDArray[np.int64], Places]:
    """What different cases are of, as one number each, and the place among those of each case."""

    def keys(start: int) -> NDArray[np.int64]:
        kind, before, after = (column[start : start + _PART].astype(np.int64) for column in (kinds, old, new))
        return (kind * olds + before) * news + after

    starts = range(0, len(kinds), _PART)
    different = np.unique(np.concatenate([np.empty(0, np.int64), *(np.unique(keys(start)) for start in starts)]))
    group_of = np.empty(len(kinds), np.min_scalar_type(len(different)))
    for start in starts:
        group_of[start : start + _PART] = np.searchsorted(different, keys(start))
    return different, group_of


def is_right_by(measure: Measure, attempt: Attempt) -> bool:
    """Whether an attempt was right, as that share defines it."""
    return attempt.is_right if measure is Measure.ACCURACY else attempt.is_solved


def add_up(values: NDArray[np.float64]) -> float:
    """The sum from the first to the last: of thirds, a sum in another order is rounded otherwise."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _pair_places(old: CaseTable, new: CaseTable) -> tuple[Places, Places]:
    """Where each case stands in both arms, those of the old arm first, in its order."""
    here = np.arange(len(old), dtype=np.int32)
    if old.names is new.names:
        return here, here
    there = np.full(len(old), _ABSENT, np.int32)
    added = []
    for place, case in enumerate(new):
        if (at := old.names.find(case)) is None:
            added.append(place)
        else:
            there[at] = place
    absent = np.full(len(added), _ABSENT, np.int32)
    return np.concatenate([here, absent]), np.concatenate([there, np.array(added, dtype=np.int32)])


def _label_kinds(old: CaseTable, new: CaseTable, places: tuple[Places, Places]) -> tuple[list[str], Places]:
    """The kinds, and that of each case; where the arms disagree, that of the old one."""
    kinds = list(dict.fromkeys((*old.names.kind_names, *new.names.kind_names)))
    type_ = np.min_scalar_type(len(kinds)).type
    before, after = (
        take(
            np.append(take(np.array([kinds.index(kind) for kind in names.kind_names], type_), names.kinds), type_(0)),
            at,
        )
        for names, at in zip((old.names, new.names), places, strict=True)
    )
    return kinds, np.where(places[0] == _ABSENT, after, before)


def _label_clusters(old: CaseTable, new: CaseTable, places: tuple[Places, Places]) -> Places:
    """A number for each case, those of a cluster alike; where the arms disagree, by what the old one says."""
    clusters = old.names.clusters
    if len(places[0]) == len(clusters):
        return clusters
    added = [new.names.label(int(place)) for place in places[1][len(clusters) :]]
    numbers = {old.names.label(place): int(number) for place, number in enumerate(clusters)}
    first = int(clusters.max(initial=-1)) + 1
    more = [numbers.setdefault(label, first + number) for number, label in enumerate(added)]
    return np.concatenate([clusters, np.array(more, dtype=np.int32)])


_LARGE_TIMES = 3
"""Times the mean size, from which on a cluster counts as large."""
_LARGE_WEIGHT = 0.02
"""Of the largest cluster among the squares of all sizes: its part of the variance, if all change equally often."""


def measure_clusters(cases: PairedCases) -> ClusterSizes:
    """The sizes of the clusters of the cases that both arms were scored on."""
    labels = cases.clusters[cases.scored]
    if not len(labels):
        return ClusterSizes()
    if count_different(labels) == len(labels):
        return ClusterSizes(0.0, 1, 1.0)
    sizes = np.unique(labels, return_counts=True)[1]
    largest, mean = int(sizes.max()), len(cases.scored) / len(sizes)
    weight = largest**2 / int(np.sum(sizes**2)) if largest >= _LARGE_TIMES * mean else 0.0
    return ClusterSizes(weight, largest, mean)


def find_uneven_clusters(sizes: Sequence[ClusterSizes]) -> ClusterSizes | None:
    """The sizes that differ most, of several comparisons, if they differ so much that few clusters may carry a result.

    They do if the largest cluster has at least three times the cases of the mean one, and its square is over 2% of the
    squares of all sizes. The simulations behind the rule are in `docs/statistics-checks.md`.
    """
    most = max(sizes, default=ClusterSizes())
    return most if most.weight > _LARGE_WEIGHT else None
