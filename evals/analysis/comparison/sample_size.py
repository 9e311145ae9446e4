"""How to settle an open verdict: missing answers, or more cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from toolbelt.evals.analysis.comparison.comparison import LEVEL, MARGIN, Contrast
from toolbelt.evals.statistics.verdict import Verdict, judge

MOST_CASES = 1_000_000
"""The largest number of cases that is useful advice."""
_FEW = 0.05
"""Share of the cases that may lack an answer before advice asks for the answers first."""


def wanted_cases(contrast: Contrast, margin: float = MARGIN, level: float = LEVEL) -> int | None:
    """How many cases would decide where the data were insufficient, with a power of 80%.

    That the loss stays as it was found is taken for granted, and nothing is hoped for where there was a gain. Where
    the loss found is the margin or more, it is the cases that would show a loss of that size; else those that would
    rule out the margin. A loss has to be seen among as many contrasts as there were (Holm); an interval is not
    adjusted. How much cases differ is read off the interval, which knows of clusters and epochs: more cases of the
    same sort are meant, asked as often. Where no case differed, it is the cases that would rule out the margin if none
    of them did.

    Args:
        contrast: The contrast of a share.
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
    cases = max(math.floor(clusters * contrast.cases / contrast.clusters), contrast.cases) + 1
    return cases if cases <= MOST_CASES else None


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
        cases = cases_for_margin(margin, discordance, min(difference, 0.0), level=level)
    elif difference and difference != -margin:
        cases = cases_for_difference(abs(difference), discordance, level=1 - (1 - level) / _adjustment(contrast))
    else:
        cases = None
    return cases if cases is not None and contrast.cases < cases <= MOST_CASES else None


def is_too_few(contrast: Contrast, margin: float) -> bool:
    """Whether the data are insufficient because the cases are too few, not because trials were not scored."""
    low, high, p_value = contrast.low, contrast.high, contrast.adjusted_p
    if contrast.verdict is not Verdict.INSUFFICIENT_DATA or low is None or high is None or p_value is None:
        return False
    return judge(low, high, p_value, margin) is Verdict.INSUFFICIENT_DATA


def cannot_pass(contrast: Contrast, margin: float) -> bool:
    """Whether the cases are too few for the margin even though none of them differs, so that no further epoch helps."""
    return contrast.differing == 0 and is_too_few(contrast, margin)


def is_unfinished(contrast: Contrast) -> bool:
    """Whether more than a few of the cases planned lack an answer: figures of the rest say little yet."""
    return contrast.unanswered > _FEW * contrast.planned


@dataclass(frozen=True, slots=True)
class Advice:
    """What would settle the open verdicts of several contrasts.

    Attributes:
        unsure: Contrasts with insufficient data.
        unanswered: Cases without an answer, in the contrast with the most of them; 0 if no answers are needed first.
        planned: Cases that were to be asked in that contrast.
        lacking: Contrasts that need these answers first.
        settled: Contrasts that more cases would settle.
        cases: Cases that the most demanding one takes, if as many differ as its interval allows; `None` if unknown.
        cases_if_none_differs: The same number if no case differs; `None` unless that holds for each contrast.
    """

    unsure: int
    unanswered: int = 0
    planned: int = 0
    lacking: int = 0
    settled: int = 0
    cases: int | None = None
    cases_if_none_differs: int | None = None

    @property
    def helps(self) -> bool:
        """Whether anything would settle one of them."""
        return bool(self.lacking or self.settled)

    @property
    def wanted(self) -> int | None:
        """Cases that would settle all of them, if none differs where none did; `None` if no number does."""
        if not self.settled or self.settled < self.unsure:
            return None
        return self.cases if self.cases_if_none_differs is None else self.cases_if_none_differs


def find_advice(contrasts: Sequence[Contrast], margin: float = MARGIN, level: float = LEVEL) -> Advice:
    """Advice on missing answers and on how many cases would decide; planned cases should be answered first."""
    unsure = [contrast for contrast in contrasts if contrast.verdict is Verdict.INSUFFICIENT_DATA]
    lacking = [contrast for contrast in unsure if _wants_answers(contrast, margin)]
    worst = max(lacking, key=lambda contrast: contrast.unanswered, default=None)
    settled = [contrast for contrast in unsure if wanted_cases(contrast, margin, level) is not None]
    least = [n for contrast in settled if (n := _cases_if_none_differs(contrast, margin, level)) is not None]
    allowed = [n for contrast in settled if (n := _cases_if_as_many_differ(contrast, margin, level)) is not None]
    return Advice(
        unsure=len(unsure),
        unanswered=0 if worst is None else worst.unanswered,
        planned=0 if worst is None else worst.planned,
        lacking=len(lacking),
        settled=len(settled),
        cases=max(allowed, default=None),
        cases_if_none_differs=max(least) if least and len(least) == len(settled) else None,
    )


def _wants_more(contrast: Contrast, margin: float) -> bool:
    return is_too_few(contrast, margin) and not is_unfinished(contrast)


def _wants_answers(contrast: Contrast, margin: float) -> bool:
    """Whether missing answers keep the verdict open, as far as is known."""
    return is_unfinished(contrast) or (contrast.unanswered > 0 and not is_too_few(contrast, margin))


def _adjustment(contrast: Contrast) -> float:
    """The factor by which the p value was multiplied. It is too small where the adjusted p value is 1."""
    p, adjusted = contrast.p_value, contrast.adjusted_p
    return max(1.0, adjusted / p) if p and adjusted is not None else 1.0


def _discordance(low: float, high: float, difference: float, cases: int, level: float) -> float:
    """The share of single cases that would have to differ for the interval to be as wide as it is."""
    error = (high - low) / 2 / NormalDist().inv_cdf(0.5 + level / 2)
    return min(1.0, max(error * error * cases + difference * difference, abs(difference)))
