"""Which cases differ in accuracy, and of what kind they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from toolbelt.evals.analysis.comparison.cases import Pair, Tried, counts_for
from toolbelt.evals.analysis.comparison.comparison import Flip, Measure, Part
from toolbelt.evals.analysis.evidence.evidence import Attempt


def find_flips(scored: Sequence[Pair], measure: Measure = Measure.ACCURACY) -> tuple[Flip, ...]:
    """The cases that one of the arms does better, the worse ones first, each in the order asked.

    Args:
        scored: Cases that both arms were scored on, in the order asked.
        measure: A share: what counts as right.
    """
    found = []
    for pair in scored:
        change = _change(pair, measure)
        if change:
            # One that is right in some epochs is shown by those in which the difference shows.
            old = _first(pair.old, measure, is_right=change < 0)
            found.append(Flip(pair.case, pair.kind, change, old, _first(pair.new, measure, is_right=change > 0)))
    return tuple(sorted(found, key=lambda flip: flip.change > 0))


def part_by_kind(scored: Sequence[Pair], measure: Measure = Measure.ACCURACY) -> tuple[Part, ...]:
    """How each kind of cases fared, the one that cost most first.

    Args:
        scored: Cases that both arms were scored on.
        measure: A share: what counts as right.
    """
    kinds: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in scored:
        kinds[pair.kind].append(pair)
    found = []
    for kind, pairs in kinds.items():
        changes = [_change(pair, measure) for pair in pairs]
        part = Part(
            kind,
            cases=len(pairs),
            better=sum(change > 0 for change in changes),
            worse=sum(change < 0 for change in changes),
            old=sum(pair.old.share(measure) for pair in pairs) / len(pairs),
            new=sum(pair.new.share(measure) for pair in pairs) / len(pairs),
        )
        found.append((sum(changes), part))
    return tuple(part for _, part in sorted(found, key=lambda item: (item[0], item[1].kind)))


def _change(pair: Pair, measure: Measure) -> float:
    return pair.new.share(measure) - pair.old.share(measure)


def _first(tried: Tried, measure: Measure, *, is_right: bool) -> Attempt:
    return next(attempt for attempt in tried.attempts if counts_for(measure, attempt) == is_right)
