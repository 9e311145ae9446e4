"""Explains a difference: cases that flipped, tools that were called for others, coverage and selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.comparison.case_groups import CaseGroup, CaseResult, Places
from toolbelt.evals.analysis.comparison.comparison import (
    Confusion,
    Contribution,
    Flip,
    KindContrast,
    LeftOutFlips,
    Measure,
)
from toolbelt.evals.analysis.comparison.paired_cases import PairedCases, add_up, is_right_by
from toolbelt.evals.analysis.evidence.case_table import CaseTable
from toolbelt.evals.analysis.evidence.evidence import Attempt

MOST_FLIPS = 30_000
"""Flipped cases that a comparison keeps, over all its pairs."""
_LEAST_FLIPS = 100
"""That each pair keeps, however many pairs there are."""


def find_flips(
    cases: PairedCases, measure: Measure = Measure.ACCURACY, pairs: int = 1, most: int = MOST_FLIPS
) -> tuple[tuple[Flip, ...], tuple[LeftOutFlips, ...]]:
    """The cases that one of the arms does better, the worse ones first, each in the order asked.

    Args:
        cases: Of both arms.
        measure: A share: what counts as right.
        pairs: How many pairs are compared: of the cases that are kept, each has its part, half of which at least is
            for cases that are worse. Of more, those kept are spread evenly.
        most: Cases that are kept, over all pairs; a hundred of each at least.

    Returns:
        Those that are kept, and counts of the others.
    """
    changes = cases.take(lambda group: _change(group, measure) if group.is_compared else 0.0)
    most = max(_LEAST_FLIPS, most // max(1, pairs))
    worse, better = np.flatnonzero(changes < 0), np.flatnonzero(changes > 0)
    for_worse = min(len(worse), max(most - len(better), most // 2))
    flips: list[Flip] = []
    others: list[LeftOutFlips] = []
    for numbers, share in ((worse, for_worse), (better, most - for_worse)):
        is_worse = numbers is worse
        old = cases.old, _first_epochs(cases, numbers, 0, measure, is_right=is_worse)
        new = cases.new, _first_epochs(cases, numbers, 1, measure, is_right=not is_worse)
        is_kept = _spread(len(numbers), share)
        for at in np.flatnonzero(is_kept).tolist():
            number = int(numbers[at])
            kind = cases.groups[cases.group_of[number]].kind
            # As cases have them in common: with figures, of which a flip says nothing, each would be one of its own.
            attempts = [table.ends[table.end_of[places[at], epochs[at]]] for table, (places, epochs) in (old, new)]
            flips.append(Flip(cases.find_id(number), kind, float(changes[number]), *filter(None, attempts)))
        ends = [table.end_of[cells][~is_kept] for table, cells in (old, new)]
        alike, counts = np.unique(np.column_stack(ends), axis=0, return_counts=True)
        for (before, after), count in zip(alike.tolist(), counts.tolist(), strict=True):
            shown = [end for end in (cases.old.ends[before], cases.new.ends[after]) if end is not None]
            others.append(LeftOutFlips(shown[0], shown[1], is_worse, count))
    return tuple(flips), tuple(others)


def _spread(count: int, kept: int) -> NDArray[np.bool_]:
    """Which of so many are kept, as far apart as can be."""
    chosen = np.ones(count, dtype=bool) if count <= kept else np.zeros(count, dtype=bool)
    if count > kept:
        chosen[np.arange(kept) * count // max(1, kept)] = True
    return chosen


def _first_epochs(
    cases: PairedCases, numbers: Places, side: int, measure: Measure, *, is_right: bool
) -> tuple[Places, Places]:
    """Of each case, where it stands in an arm, and the first scored epoch that was right, or wrong. Of a case that is
    right in some epochs the difference shows there.
    """
    table, places = (cases.old, cases.new)[side], cases.places[side][numbers]

    def shows(attempt: Attempt | None) -> bool:
        is_asked = attempt is not None and cases.is_of_share(attempt)
        return attempt is not None and is_asked and is_right_by(measure, attempt) == is_right

    return places, np.argmax(table.by_end(shows, of=places), axis=1)


def part_by_kind(cases: PairedCases, measure: Measure = Measure.ACCURACY) -> tuple[KindContrast, ...]:
    """How each kind of cases fared, the one that cost most first.

    Args:
        cases: Of both arms.
        measure: A share: what counts as right.
    """
    parts = []
    for kind in dict.fromkeys(group.kind for group in cases.groups if group.is_compared):
        of = cases.find(lambda group, kind=kind: group.is_compared and group.kind == kind)  # type: ignore[misc]
        changes, old, new = (
            cases.take(lambda group, value=value: value(group) if group.is_compared else 0.0, of=of)  # type: ignore[misc]
            for value in (
                lambda group: _change(group, measure),
                lambda group: group.shares(measure)[1],
                lambda group: group.shares(measure)[0],
            )
        )
        part = KindContrast(
            kind,
            cases=len(of),
            better=int(np.count_nonzero(changes > 0)),
            worse=int(np.count_nonzero(changes < 0)),
            old=add_up(old) / len(of),
            new=add_up(new) / len(of),
        )
        parts.append((add_up(changes), part))
    return tuple(part for _, part in sorted(parts, key=lambda item: (item[0], item[1].kind)))


def _change(group: CaseGroup, measure: Measure) -> float:
    new, old = group.shares(measure)
    return new - old


NOTHING = ""
"""Stands for a call that was not made, or not wanted."""


def find_confusions(cases: PairedCases) -> tuple[Confusion, ...]:
    """Tools that were called for others: first those where it became more frequent, then those where it became less
    frequent, each by the size of the change; then the rest.

    Args:
        cases: Of both arms.
    """
    old, new = (
        _count_confusions(table, places[cases.scored])
        for table, places in zip((cases.old, cases.new), cases.places, strict=True)
    )
    confusions = [Confusion(*names, old[names], new[names]) for names in old.keys() | new.keys()]
    return tuple(sorted(confusions, key=_rank))


def name_confusions(attempt: Attempt) -> set[tuple[str, str]]:
    """What was wanted and what was called for it, in an attempt that was wrong.

    Where as many calls are missing as are too many, each is taken for the one in its place; else any may stand for any.
    A tool that is missing and too many was called at the wrong time, and confused with none.

    Args:
        attempt: Scored.

    Returns:
        `(wanted, called)` each, one of which may be empty; nothing where the attempt was right.
    """
    if attempt.is_right:
        return set()
    missing, surplus = missing_and_surplus(attempt)
    if len(missing) == len(surplus):
        return set(zip(missing, surplus, strict=True))
    return {(right, called) for right in missing or [NOTHING] for called in surplus or [NOTHING]}


def missing_and_surplus(attempt: Attempt) -> tuple[Sequence[str], Sequence[str]]:
    """The tools that an attempt lacks, and those that it called beyond what was wanted, without those that are both, as
    often as they are: what was called at the wrong time, or was not offered, took no other tool's place.
    """
    return _apart(attempt.missing, attempt.surplus)


def _count_confusions(table: CaseTable, places: Places) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for attempt, times in table.count_ends(places):
        if attempt.is_scored:
            for names in name_confusions(attempt):
                counts[names] += times
    return counts


def _apart(missing: Sequence[str], surplus: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Both lists without the elements that both have, each removed as often as both have it."""
    if not set(missing) & set(surplus):
        return missing, surplus
    left = list(surplus)
    only_missing = []
    for name in missing:
        if name in left:
            left.remove(name)
        else:
            only_missing.append(name)
    return only_missing, left


def _rank(confusion: Confusion) -> tuple[int, int, int, str, str]:
    change = confusion.new - confusion.old
    group = 0 if change > 0 else 1 if change < 0 else 2
    return group, -abs(change), -max(confusion.new, confusion.old), confusion.wanted, confusion.called


_HALF = Fraction(1, 2)


def find_contribution(cases: PairedCases) -> Contribution | None:
    """Divide a difference in accuracy between coverage and selection, whose product accuracy is.

    Shares are means over cases, epochs averaged to their case, as those of the contrast are, so that the parts add up
    to its difference. Where an arm covers nothing, nothing is known of its selection, and all is coverage's doing. Of
    all asked, what was too long is not covered: no right answer could be reached.

    Args:
        cases: Of both arms.

    Returns:
        The parts; `None` where there are no cases.
    """
    compared = [(group, count) for group, count in cases.count_groups() if group.is_compared]
    if not compared:
        return None

    def mean_share(arm: Callable[[CaseGroup], CaseResult], count: Callable[[CaseResult], int]) -> Fraction:
        """Over cases, of the share of attempts, without rounding."""
        total = Fraction(0)
        for group, times in compared:
            total += Fraction(count(arm(group)) * times, arm(group).trials(of_asked=cases.of_asked))
        return total / sum(times for _, times in compared)

    old_coverage, new_coverage = mean_share(_old, _covered), mean_share(_new, _covered)
    old_selection = mean_share(_old, _right) / old_coverage if old_coverage else None
    new_selection = mean_share(_new, _right) / new_coverage if new_coverage else None
    before = old_selection if old_selection is not None else new_selection or Fraction(0)
    after = new_selection if new_selection is not None else before
    return Contribution(
        coverage=float((new_coverage - old_coverage) * (before + after) * _HALF),
        selection=float((after - before) * (old_coverage + new_coverage) * _HALF),
        old_coverage=float(old_coverage),
        new_coverage=float(new_coverage),
        old_selection=None if old_selection is None else float(old_selection),
        new_selection=None if new_selection is None else float(new_selection),
        newly_uncovered=sum(count for group, count in compared if group.old.covered and not group.new.covered),
        newly_covered=sum(count for group, count in compared if group.new.covered and not group.old.covered),
    )


def _old(group: CaseGroup) -> CaseResult:
    return group.old


def _new(group: CaseGroup) -> CaseResult:
    return group.new


def _right(tried: CaseResult) -> int:
    return tried.right


def _covered(tried: CaseResult) -> int:
    return tried.covered
