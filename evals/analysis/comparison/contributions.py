"""What coverage did to a difference in accuracy, and what selection did (rule E5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from toolbelt.evals.analysis.comparison.cases import Pair, Tried
from toolbelt.evals.analysis.comparison.comparison import Contribution

_HALF = Fraction(1, 2)


def find_contribution(scored: Sequence[Pair]) -> Contribution | None:
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
    old_coverage, new_coverage = _mean(olds, _covered), _mean(news, _covered)
    old_selection = _mean(olds, _right) / old_coverage if old_coverage else None
    new_selection = _mean(news, _right) / new_coverage if new_coverage else None
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


def _right(tried: Tried) -> int:
    return tried.right


def _covered(tried: Tried) -> int:
    return tried.covered


def _mean(tried: Sequence[Tried], count: Callable[[Tried], int]) -> Fraction:
    """Mean over cases of the share of attempts, without rounding."""
    sums: Counter[int] = Counter()
    for one in tried:
        sums[len(one.attempts)] += count(one)
    return sum((Fraction(total, attempts) for attempts, total in sums.items()), Fraction(0)) / len(tried)
