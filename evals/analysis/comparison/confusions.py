"""Which tools are called for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from toolbelt.evals.analysis.comparison.cases import Pair
from toolbelt.evals.analysis.comparison.comparison import Confusion
from toolbelt.evals.analysis.evidence.evidence import Attempt

NOTHING = ""
"""Stands for the call that was not made, or not wanted."""


def find_confusions(scored: Sequence[Pair]) -> tuple[Confusion, ...]:
    """Tools that were called for others, those that it happened to more often first, then those less often, the
    greatest change first; then the rest.

    Args:
        scored: Cases that both arms were scored on.
    """
    old = _count(attempt for pair in scored for attempt in pair.old.attempts)
    new = _count(attempt for pair in scored for attempt in pair.new.attempts)
    found = [Confusion(*names, old[names], new[names]) for names in old.keys() | new.keys()]
    return tuple(sorted(found, key=_rank))


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
    return {(wanted, called) for wanted in missing or [NOTHING] for called in surplus or [NOTHING]}


def missing_and_surplus(attempt: Attempt) -> tuple[Sequence[str], Sequence[str]]:
    """The tools that an attempt lacks, and those that it called beyond what was wanted, without those that are both, as
    often as they are: what was called at the wrong time, or was not offered, took no other tool's place.
    """
    return _apart(attempt.missing, attempt.surplus)


def _count(attempts: Iterable[Attempt]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for attempt in attempts:
        for names in name_confusions(attempt):
            counts[names] += 1
    return counts


def _apart(missing: Sequence[str], surplus: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Both without what is in both, as often as it is."""
    if not set(missing) & set(surplus):
        return missing, surplus
    left = list(surplus)
    kept = []
    for name in missing:
        if name in left:
            left.remove(name)
        else:
            kept.append(name)
    return kept, left


def _rank(confusion: Confusion) -> tuple[int, int, int, str, str]:
    change = confusion.new - confusion.old
    group = 0 if change > 0 else 1 if change < 0 else 2
    return group, -abs(change), -max(confusion.new, confusion.old), confusion.wanted, confusion.called
