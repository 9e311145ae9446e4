"""Models × toolsets of a run in one ranking, by what is right of all asked (rules V1, E6 and E7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Contrast, Measure, find_margin
from toolbelt.evals.analysis.comparison.sample_size import wanted_cases
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary, asked_most, rank_key
from toolbelt.evals.models.model import is_word_matching
from toolbelt.evals.statistics.verdict import Verdict


class Standing(StrEnum):
    """How an arm stands against the one that is right most often."""

    BEST = "best"
    AS_GOOD = "as_good"
    """Surely not worse by more than the margin."""
    UNDECIDED = "undecided"
    """Perhaps as good: the cases cannot tell."""
    WORSE = "worse"
    """For sure."""


@dataclass(frozen=True, slots=True)
class RankedArm:
    """One model with one toolset.

    Attributes:
        place: Its position among the run's arms.
        arm: Its measures.
        standing: Against the best.
        contrast: Of what is right of all asked, this arm less the best; `None` for the best.
        cost_rank: From 1, the cheapest first, equals alike; `None` where its price is unknown.
        latency_rank: From 1, the fastest first; `None` where it is unknown.
    """

    place: int
    arm: ArmSummary
    standing: Standing
    contrast: Contrast | None = None
    cost_rank: int | None = None
    latency_rank: int | None = None

    @property
    def is_tied(self) -> bool:
        """Whether no difference from the best is certain, or it is as good within the margin."""
        return self.standing is not Standing.WORSE


@dataclass(frozen=True, slots=True)
class Ranking:
    """The arms of a run that can be used, those that are right most often of all asked first (rule V1).

    Attributes:
        run: Its id.
        cases: Cases that each arm was asked.
        margin: Accuracy that may be lost, a fraction.
        arms: The best first; then by accuracy.
        cases_wanted: Cases that would decide every undecided arm, if they are as good as measured; `None` if none is
            undecided, or no number would.
        more_cost_usd: What asking so many more cases of the best and the undecided arms would cost, US dollars; `None`
            where a price is unknown or no number is wanted.
    """

    run: str
    cases: int
    margin: float
    arms: tuple[RankedArm, ...]
    cases_wanted: int | None = None
    more_cost_usd: float | None = None

    @property
    def tied(self) -> tuple[RankedArm, ...]:
        """The best and those that are tied with it."""
        return tuple(arm for arm in self.arms if arm.is_tied)

    @property
    def tied_asked_most(self) -> tuple[RankedArm, ...]:
        """Those of them whose costs and latencies are of as many cases as any arm's."""
        fitting = asked_most([each.arm for each in self.arms])
        return tuple(each for each in self.tied if each.arm in fitting)

    @property
    def cheapest(self) -> RankedArm | None:
        """The cheapest of those tied arms; `None` where their prices are unknown or all the same."""
        known = [arm for arm in self.tied_asked_most if arm.cost_rank is not None]
        if len({arm.arm.cost_usd for arm in known}) < 2:
            return None
        return min(known, key=lambda arm: arm.cost_rank or 0)

    @property
    def fastest(self) -> RankedArm | None:
        """The fastest of those tied arms, by its median request; models that run in this process are left out, whose
        latency says nothing of a model's.
        """
        known = [
            each
            for each in self.tied_asked_most
            if each.latency_rank is not None and not is_word_matching(each.arm.model)
        ]
        return min(known, key=lambda arm: arm.latency_rank or 0, default=None)


def rank_arms(
    summary: RunSummary, side: Side, margin: float | None = None, *, advance: Callable[[int], object] | None = None
) -> Ranking | None:
    """Rank the arms of a run that can be used, over all models and toolsets.

    Args:
        summary: Of the run.
        side: The same run, case by case.
        margin: Accuracy that may be lost, a fraction; see `find_margin`.
        advance: Called with the number of arms compared.

    Returns:
        The ranking; `None` where fewer than two arms that can be used were scored. Oracles and variants are left out.
    """
    # numpy and scipy
    from toolbelt.evals.analysis.comparison.compare import compare_arms
    from toolbelt.evals.analysis.comparison.pairing import Pairing

    margin = find_margin(side.about, margin)
    usable = [place for place, arm in enumerate(summary.arms) if arm.scored and not arm.is_for_orientation]
    if len(usable) < 2:
        return None
    usable.sort(key=lambda place: rank_key(summary.arms[place]))
    best, *others = usable
    pairing = Pairing(tuple((best, place) for place in others), is_within=True)
    comparison = compare_arms(
        side, side, pairing, margin=margin, measures=(Measure.ACCURACY,), most_flips=0, advance=advance
    )
    pairs = comparison.pairs
    arms = [summary.arms[place] for place in usable]
    costs = _ranks([arm.cost_usd for arm in arms])
    latencies = _ranks([arm.latency_seconds for arm in arms])
    standings = [(Standing.BEST, None), *((_standing(pair), pair.main_contrast) for pair in pairs)]
    ranked = tuple(
        RankedArm(place, arm, standing, contrast, cost, latency)
        for place, arm, (standing, contrast), cost, latency in zip(
            usable, arms, standings, costs, latencies, strict=True
        )
    )
    wanted = _cases_wanted(ranked, margin)
    return Ranking(summary.run, summary.cases, margin, ranked, wanted, _more_cost(ranked, wanted, summary))


def ranking_data(ranking: Ranking) -> dict[str, Any]:
    """As plain values, for JSON: shares and differences are fractions."""
    return {
        "margin": ranking.margin,
        "cases": ranking.cases,
        "cases_wanted": ranking.cases_wanted,
        "more_cost_usd": ranking.more_cost_usd,
        "arms": [
            {
                "model": each.arm.model,
                "toolset": each.arm.toolset,
                "standing": each.standing.value,
                "accuracy": each.arm.accuracy.value,
                "right_of_asked": each.arm.right_of_asked.value,
                "difference": None if each.contrast is None else each.contrast.difference,
                "low": None if each.contrast is None else each.contrast.low,
                "high": None if each.contrast is None else each.contrast.high,
                "prompt_tokens": each.arm.prompt_tokens,
                "cost_usd": each.arm.cost_usd,
                "cost_rank": each.cost_rank,
                "latency_seconds": each.arm.latency_seconds,
                "latency_rank": each.latency_rank,
            }
            for each in ranking.arms
        ],
    }


def _standing(pair: ArmComparison) -> Standing:
    verdict = pair.main_contrast.verdict
    if verdict is Verdict.REGRESSION:
        return Standing.WORSE
    is_as_good = verdict is Verdict.NO_REGRESSION and not pair.newly_overflowing
    return Standing.AS_GOOD if is_as_good else Standing.UNDECIDED


def _ranks(values: Sequence[float | None]) -> list[int | None]:
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other < value for other in known) for value in values]


def _cases_wanted(arms: Sequence[RankedArm], margin: float) -> int | None:
    """Of the undecided arms that a number of cases would decide, the greatest such number."""
    numbers = [
        wanted_cases(each.contrast, margin)
        for each in arms
        if each.standing is Standing.UNDECIDED and each.contrast is not None
    ]
    return max((number for number in numbers if number is not None), default=None)


def _more_cost(arms: Sequence[RankedArm], wanted: int | None, summary: RunSummary) -> float | None:
    if wanted is None:
        return None
    costs = [each.arm.cost_usd for each in arms if each.standing in (Standing.BEST, Standing.UNDECIDED)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) * (wanted - summary.cases) * summary.epochs if len(known) == len(costs) else None
