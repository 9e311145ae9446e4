"""What would tell what so many cases could not: answers that are missing, or how many cases more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, Contrast
from toolbelt.evals.statistics.verdict import Verdict, judge

MOST_CASES = 1_000_000
"""Beyond which a number is no advice."""
_FEW = 0.05
"""Share of the cases that may lack an answer without being the first thing to mend."""


def wanted_cases(contrast: Contrast, margin: float = MARGIN, level: float = LEVEL) -> int | None:
    """How many cases would do where the data were insufficient, with a power of 80%.

    That the loss stays as it was found is taken for granted, and nothing is hoped for where there was a gain. Where
    the loss found is the margin or more, it is the cases that would show a loss of that size; else those that would
    rule out the margin. A loss has to be seen among as many contrasts as there were (Holm); an interval is not
    adjusted. How much cases differ is read off the interval, which knows of clusters and epochs: more cases of the
    same sort are meant, asked as often. Where no case differed, it is the cases that would rule out the margin if none
    of them did.

    Args:
        contrast: Of a share.
        margin: What may be lost, a fraction.
        level: Of the interval.

    Returns:
        More than there were; `None` where the verdict is another or rests on trials that were not scored, where many
        of those planned lack an answer, where no number helps (the loss is just the margin, or there is no margin and
        no difference), or where it is over a million.
    """
    least = _cases_if_none_differs(contrast, margin, level)
    return _cases_if_as_many_differ(contrast, margin, level) if least is None else least


def _cases_if_none_differs(contrast: Contrast, margin: float, level: float) -> int | None:
    """Read off the bound of so many clusters alike, whole / (1 + n / quantile²), whatever size those are."""
    if contrast.differing != 0 or contrast.low is None or margin <= 0 or not _wants_more(contrast, margin):
        return None
    square = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    clusters = -contrast.low * (contrast.clusters + square) / margin - square
    found = max(math.floor(clusters * contrast.cases / contrast.clusters), contrast.cases) + 1
    return found if found <= MOST_CASES else None


@lru_cache(maxsize=256)  # asked several times of a contrast, and slow
def _cases_if_as_many_differ(contrast: Contrast, margin: float, level: float) -> int | None:
    """As the interval allows."""
    if contrast.difference is None or contrast.low is None or contrast.high is None:
        return None
    if not _wants_more(contrast, margin):
        return None
    # scipy, which is not needed to show a verdict that stands
    from toolbelt.evals.statistics.planning import cases_for_difference, cases_for_margin

    difference = contrast.difference
    discordance = _discordance(contrast.low, contrast.high, difference, contrast.cases, level)
    if -margin < difference and margin > 0:
        found = cases_for_margin(margin, discordance, min(difference, 0.0), level=level)
    elif difference and difference != -margin:
        found = cases_for_difference(abs(difference), discordance, level=1 - (1 - level) / _adjustment(contrast))
    else:
        found = None
    return found if found is not None and contrast.cases < found <= MOST_CASES else None


def is_too_few(contrast: Contrast, margin: float = MARGIN) -> bool:
    """Whether the data are insufficient because the cases are too few, not because trials were not scored."""
    low, high, p_value = contrast.low, contrast.high, contrast.adjusted_p
    if contrast.verdict is not Verdict.INSUFFICIENT_DATA or low is None or high is None or p_value is None:
        return False
    return judge(low, high, p_value, margin) is Verdict.INSUFFICIENT_DATA


def is_unfinished(contrast: Contrast) -> bool:
    """Whether more than a few of the cases planned lack an answer: figures of the rest say little yet."""
    return contrast.unanswered > _FEW * contrast.planned


def advice(contrast: Contrast, margin: float = MARGIN, level: float = LEVEL) -> str:
    """`about 2,400 cases would do`, or that answers are missing; empty where neither helps or none is needed."""
    return common_advice([contrast], margin, level)


def common_advice(contrasts: Sequence[Contrast], margin: float = MARGIN, level: float = LEVEL) -> str:
    """`about 2,400 cases would do for 3 of 4`: as many as the most demanding takes that a number helps. Before more
    cases are asked, those planned are to be answered.
    """
    unsure = [contrast for contrast in contrasts if contrast.verdict is Verdict.INSUFFICIENT_DATA]
    told = []
    if missing := [one for one in unsure if _wants_answers(one, margin)]:
        worst = max(missing, key=lambda one: one.unanswered)
        count = worst.unanswered
        lack = f"{count:,} of {worst.planned:,} cases {'lacks' if count == 1 else 'lack'} an answer"
        told.append(f"{lack}{_which(len(missing), len(unsure))}: first toolbelt eval resume --retry-errors")
    wanted = [one for one in unsure if wanted_cases(one, margin, level) is not None]
    if wanted:
        told.append(_enough(wanted, _which(len(wanted), len(unsure)), margin, level))
    return "; ".join(told)


def _enough(wanted: Sequence[Contrast], which: str, margin: float, level: float) -> str:
    least = [cases for one in wanted if (cases := _cases_if_none_differs(one, margin, level)) is not None]
    found = [cases for one in wanted if (cases := _cases_if_as_many_differ(one, margin, level)) is not None]
    if len(least) < len(wanted):
        return f"about {_about(max(found)):,} cases would do{which}"
    allowed = f", {_about(max(found)):,} if as many do as these allow" if found else ""
    return f"about {_about(max(least)):,} cases would do{which} if none flips{allowed}"


def _which(count: int, of: int) -> str:
    return {1: "", 2: " for both"}.get(of, f" for all {of}") if count == of else f" for {count} of {of}"


def _wants_more(contrast: Contrast, margin: float) -> bool:
    return is_too_few(contrast, margin) and not is_unfinished(contrast)


def _wants_answers(contrast: Contrast, margin: float) -> bool:
    """Whether answers that are missing are what keeps the verdict open, as far as can be told."""
    return is_unfinished(contrast) or (contrast.unanswered > 0 and not is_too_few(contrast, margin))


def _adjustment(contrast: Contrast) -> float:
    """By what the p value was multiplied; less where that came to 1, which says no more of it."""
    p, adjusted = contrast.p_value, contrast.adjusted_p
    return max(1.0, adjusted / p) if p and adjusted is not None else 1.0


def _discordance(low: float, high: float, difference: float, cases: int, level: float) -> float:
    """The share of single cases that would have to differ for the interval to be as wide as it is."""
    error = (high - low) / 2 / NormalDist().inv_cdf(0.5 + level / 2)
    return min(1.0, max(error * error * cases + difference * difference, abs(difference)))


def _about(cases: int) -> int:
    """To two digits, upward."""
    unit = int(10 ** max(0, len(str(cases)) - 2))
    return -(-cases // unit) * unit
