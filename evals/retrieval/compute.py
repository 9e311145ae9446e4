"""From the scores of single cases to means with intervals and paired differences (rules S3 and E7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from toolbelt.evals.retrieval.retrieval import GroupMeasures, Mean, PointAtK, RankerContrast, RankerMeasures
from toolbelt.evals.retrieval.searches import KS, Measure, Scores
from toolbelt.evals.statistics.intervals import mean_interval

LEVEL = 0.95


def measure_ranker(
    dataset: str, rank: str, scores: Scores, clusters: Sequence[int], groups: Sequence[Sequence[str]]
) -> RankerMeasures:
    """The measures of a ranker.

    Args:
        dataset: Its name.
        rank: The ranker's name.
        scores: Of the cases.
        clusters: Of each case, a number that only the cases of its cluster have.
        groups: Of each case, the groups that it is in.
    """
    everything = range(len(scores.numbers))
    members: dict[str, list[int]] = defaultdict(list)
    for position, number in enumerate(scores.numbers):
        for name in (groups[number] or ("",)) if groups else ():
            members[name].append(position)
    curve = (
        PointAtK(k, _mean(scores, column, clusters, everything)) for k, column in zip(KS, scores.recall, strict=True)
    )
    return RankerMeasures(
        dataset=dataset,
        rank=rank,
        planned=len(clusters),
        scored=len(scores.numbers),
        unscored=dict(scores.unscored),
        **_means(scores, clusters, everything),
        curve=tuple(curve),
        groups=tuple(
            GroupMeasures(name, **_means(scores, clusters, members[name]))
            for name in sorted(members, key=lambda name: (-len(members[name]), name))
        ),
    )


def _means(scores: Scores, clusters: Sequence[int], positions: Sequence[int]) -> dict[str, Mean]:
    return {measure.value: _mean(scores, scores.values(measure), clusters, positions) for measure in Measure}


def _mean(scores: Scores, values: Sequence[float], clusters: Sequence[int], positions: Sequence[int]) -> Mean:
    """Of the values at some positions."""
    sums: dict[int, tuple[float, int]] = {}
    for position in positions:
        cluster = clusters[scores.numbers[position]]
        total, count = sums.get(cluster, (0.0, 0))
        sums[cluster] = total + values[position], count + 1
    if not sums:
        return Mean()
    count = len(positions)
    return Mean(sum(total for total, _ in sums.values()) / count, count, *mean_interval(sums.values(), LEVEL))


def compare_rankers(
    dataset: str, ranked: Sequence[tuple[str, Scores]], clusters: Sequence[int], seed: int
) -> Iterable[RankerContrast]:
    """Every ranker against the first, in every measure, over the cases that both could search; p values not adjusted.

    Args:
        dataset: Its name.
        ranked: The names of rankers with the scores of the cases.
        clusters: Of each case, as for `measure_ranker`.
        seed: Of the bootstrap.
    """
    from toolbelt.evals.statistics.paired import paired_difference  # numpy and scipy, which one ranker does without

    (a, old), *others = ranked
    places = {number: place for place, number in enumerate(old.numbers)}
    for b, new in others:
        for measure in Measure:
            pairs: dict[int, list[tuple[float, float]]] = defaultdict(list)
            before, after = old.values(measure), new.values(measure)
            for place, number in enumerate(new.numbers):
                if number in places:
                    pairs[clusters[number]].append((after[place], before[places[number]]))
            if pairs:
                contrast = paired_difference(pairs.values(), LEVEL, seed)
                yield RankerContrast(
                    dataset=dataset,
                    a=a,
                    b=b,
                    measure=measure,
                    difference=contrast.difference,
                    low=contrast.low,
                    high=contrast.high,
                    p_value=contrast.p_value,
                    adjusted_p=contrast.p_value,
                    cases=contrast.cases,
                    clusters=contrast.clusters,
                    discordant=contrast.discordant,
                    method=contrast.method.value,
                )
