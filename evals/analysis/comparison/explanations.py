"""Explains a difference: cases that flipped, tools that were called for others, coverage and selection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from toolbelt.evals.analysis.comparison.comparison import Confusion, Contribution, Flip, KindContrast, Measure
from toolbelt.evals.analysis.comparison.paired_cases import CasePair, CaseResult, is_right_by
from toolbelt.evals.analysis.evidence.evidence import Attempt


def find_flips(scored: Sequence[CasePair], measure: Measure = Measure.ACCURACY) -> tuple[Flip, ...]:
    """The cases that one of the arms does better, the worse ones first, each in the order asked.

    Args:
        scored: Cases that both arms were scored on, in the order asked.
        measure: A share: what counts as right.
    """
    flips = []
    for pair in scored:
        change = _change(pair, measure)
        if change:
            # One that is right in some epochs is shown by those in which the difference shows.
            old = _first(pair.old, measure, is_right=change < 0)
            flips.append(Flip(pair.case, pair.kind, change, old, _first(pair.new, measure, is_right=change > 0)))
    return tuple(sorted(flips, key=lambda flip: flip.change > 0))


def part_by_kind(scored: Sequence[CasePair], measure: Measure = Measure.ACCURACY) -> tuple[KindContrast, ...]:
    """How each kind of cases fared, the one that cost most first.

    Args:
        scored: Cases that both arms were scored on.
        measure: A share: what counts as right.
    """
    kinds: defaultdict[str, list[CasePair]] = defaultdict(list)
    for pair in scored:
        kinds[pair.kind].append(pair)
    parts = []
    for kind, pairs in kinds.items():
        changes = [_change(pair, measure) for pair in pairs]
        part = KindContrast(
            kind,
            cases=len(pairs),
            better=sum(change > 0 for change in changes),
            worse=sum(change < 0 for change in changes),
            old=sum(pair.old.share(measure) for pair in pairs) / len(pairs),
            new=sum(pair.new.share(measure) for pair in pairs) / len(pairs),
        )
        parts.append((sum(changes), part))
    return tuple(part for _, part in sorted(parts, key=lambda item: (item[0], item[1].kind)))


def _change(pair: CasePair, measure: Measure) -> float:
    return pair.new.share(measure) - pair.old.share(measure)


def _first(tried: CaseResult, measure: Measure, *, is_right: bool) -> Attempt:
    return next(attempt for attempt in tried.attempts if is_right_by(measure, attempt) == is_right)


NOTHING = ""
"""Stands for a call that was not made, or not wanted."""


def find_confusions(scored: Sequence[CasePair]) -> tuple[Confusion, ...]:
    """Tools that were called for others: first those where it became more frequent, then those where it became less
    frequent, each by the size of the change; then the rest.

    Args:
        scored: Cases that both arms were scored on.
    """
    old = _count_confusions(attempt for pair in scored for attempt in pair.old.attempts)
    new = _count_confusions(attempt for pair in scored for attempt in pair.new.attempts)
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


def _count_confusions(attempts: Iterable[Attempt]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for attempt in attempts:
        for names in name_confusions(attempt):
            counts[names] += 1
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


def find_contribution(scored: Sequence[CasePair]) -> Contribution | None:
    """Divide a difference in accuracy between coverage and selection, whose product accuracy is.

    Shares are means over cases, epochs averaged to their case, as those of the contrast are, so that the parts add up
    to its difference. Where an arm covers nothing, nothing is known of its selection, and all is coverage's doing.

    Args:
        scored: Cases that both arms were scored on.

    Returns:
        The parts; `None` where there are no cases.
    """
    if not scored:
        return None
    olds, news = [pair.old for pair in scored], [pair.new for pair in scored]
    old_coverage, new_coverage = _mean_share(olds, _covered), _mean_share(news, _covered)
    old_selection = _mean_share(olds, _right) / old_coverage if old_coverage else None
    new_selection = _mean_share(news, _right) / new_coverage if new_coverage else None
    before = old_selection if old_selection is not None else new_selection or Fraction(0)
    after = new_selection if new_selection is not None else before
    covered = [(pair.old.covered, pair.new.covered) for pair in scored]
    return Contribution(
        coverage=float((new_coverage - old_coverage) * (before + after) * _HALF),
        selection=float((after - before) * (old_coverage + new_coverage) * _HALF),
        old_coverage=float(old_coverage),
        new_coverage=float(new_coverage),
        old_selection=None if old_selection is None else float(old_selection),
        new_selection=None if new_selection is None else float(new_selection),
        newly_uncovered=sum(bool(old) and not new for old, new in covered),
        newly_covered=sum(bool(new) and not old for old, new in covered),
    )


def _right(tried: CaseResult) -> int:
    return tried.right


def _covered(tried: CaseResult) -> int:
    return tried.covered


def _mean_share(tried: Sequence[CaseResult], count: Callable[[CaseResult], int]) -> Fraction:
    """Mean over cases of the share of attempts, without rounding."""
    sums: Counter[int] = Counter()
    for case in tried:
        sums[len(case.attempts)] += count(case)
    return sum((Fraction(total, attempts) for attempts, total in sums.items()), Fraction(0)) / len(tried)
