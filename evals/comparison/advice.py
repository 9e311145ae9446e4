"""How many cases would tell what so many could not."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from toolbelt.evals.comparison.comparison import LEVEL, MARGIN, Contrast
from toolbelt.evals.statistics.verdict import Verdict, judge

MOST_CASES = 1_000_000
"""Beyond which a number is no advice."""


def wanted_cases(contrast: Contrast, margin: float = MARGIN, level: float = LEVEL) -> int | None:
    """How many cases would do where the data were insufficient, with a power of 80%.

    That the loss stays as it was found is taken for granted, and nothing is hoped for where there was a gain. Where
    the loss found is the margin or more, it is the cases that would show a loss of that size; else those that would
    rule out the margin. A loss has to be seen among as many contrasts as there were (Holm); an interval is not
    adjusted. How much cases differ is read off the interval, which knows of clusters and epochs: more cases of the
    same sort are meant, asked as often.

    Args:
        contrast: Of a share.
        margin: What may be lost, a fraction.
        level: Of the interval.

    Returns:
        More than there were; `None` where the verdict is another or rests on trials that were not scored, where no
        number helps (the loss is just the margin, or there is no margin and no difference), or where it is over a
        million.
    """
    if contrast.difference is None or contrast.low is None or contrast.high is None or not is_too_few(contrast, margin):
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


def advice(contrast: Contrast, margin: float = MARGIN, level: float = LEVEL) -> str:
    """`about 2,400 cases would do`; empty where no number of cases helps or none is needed."""
    return common_advice([contrast], margin, level)


def common_advice(contrasts: Sequence[Contrast], margin: float = MARGIN, level: float = LEVEL) -> str:
    """`about 2,400 cases would do for 3 of 4`: as many as the most demanding takes that a number helps."""
    few = [contrast for contrast in contrasts if contrast.verdict is Verdict.INSUFFICIENT_DATA]
    wanted = [cases for one in few if (cases := wanted_cases(one, margin, level)) is not None]
    if not wanted:
        return ""
    of = len(few)
    every = {1: "", 2: " for both"}.get(of, f" for all {of}")
    which = every if len(wanted) == of else f" for {len(wanted)} of {of}"
    return f"about {_about(max(wanted)):,} cases would do{which}"


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
