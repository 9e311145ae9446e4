"""The verdicts on many drawn runs at once, by the tests behind each bound, so that thousands take seconds.

A bound lies beyond a limit just where the limit is rejected; so no bound is sought here. What the product resamples is
computed: the characteristic function of a sum on a lattice gives its whole distribution. `test_many_runs.py` compares
the verdicts with those of `paired_difference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tests.evals.statistics.simulation import Change, Floats, Setting, draw_cases, draw_chances
from toolbelt.evals.statistics.distributions import student_quantile
from toolbelt.evals.statistics.paired import _unseen_size
from toolbelt.evals.statistics.resampling import expanded_tail

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

PASSED, OPEN, LOST = 1, 0, -1
"""Verdicts: `no_regression`, `insufficient_data`, `regression`."""
_HELD = 4_000_000
"""Complex numbers held at once."""
_DEVIATIONS = 9.0
"""Either side of a mean, within which a sum lies."""
_STEPS = 60
"""To a saddlepoint."""


@dataclass(frozen=True)
class ManyRuns:
    """Runs of one setting.

    Attributes:
        differences: Of each cluster of each run, new − old, in trials; of shape (runs, clusters).
        sizes: Cases of each cluster.
        differ: Whether a case of it differs.
        epochs: Trials of a case.
    """

    differences: Integers
    sizes: Integers
    differ: Flags
    epochs: int

    def first(self, clusters: int) -> ManyRuns:
        """The same with the first clusters of each run alone."""
        return replace(
            self,
            differences=self.differences[:, :clusters],
            sizes=self.sizes[:, :clusters],
            differ=self.differ[:, :clusters],
        )

    def __getitem__(self, chosen: Flags) -> ManyRuns:
        """Some of the runs."""
        return replace(self, differences=self.differences[chosen], sizes=self.sizes[chosen], differ=self.differ[chosen])

    @cached_property
    def kinds(self) -> tuple[Integers, Integers, Integers]:
        """Difference and size of each kind of cluster, and how many of it each run has, of shape (runs, kinds)."""
        span = 2 * int(self.sizes.max()) * self.epochs + 1
        keys, of = np.unique(self.sizes * span + self.differences + span // 2, return_inverse=True)
        runs, kinds = len(self.sizes), len(keys)
        of = of.reshape(self.sizes.shape) + kinds * np.arange(runs)[:, None]
        counts = np.bincount(of.ravel(), minlength=runs * kinds).reshape(runs, kinds)
        return keys % span - span // 2, keys // span, counts


def draw_runs(rng: np.random.Generator, setting: Setting, change: Change, loss: float, runs: int) -> ManyRuns:
    """Draw runs whose clusters are independent of each other, as those of one run are."""
    sizes, (new, old) = draw_cases(rng, replace(setting, clusters=runs * setting.clusters), change, loss)
    return _sum_up(sizes.reshape(runs, setting.clusters), new, old, setting.epochs)


def draw_epochs(
    rng: np.random.Generator, setting: Setting, change: Change, loss: float, runs: int
) -> tuple[ManyRuns, ...]:
    """Draw runs as above, as they are after each epoch of both arms."""
    sizes, chances = draw_chances(rng, replace(setting, clusters=runs * setting.clusters), change, loss)
    new, old = (np.zeros(len(of_side), dtype=np.int64) for of_side in chances)
    after = []
    for epoch in range(1, setting.epochs + 1):
        new, old = new + rng.binomial(1, chances[0]), old + rng.binomial(1, chances[1])
        after.append(_sum_up(sizes.reshape(runs, setting.clusters), new, old, epoch))
    return tuple(after)


def _sum_up(sizes: Integers, new: Integers, old: Integers, epochs: int) -> ManyRuns:
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return ManyRuns(
        np.add.reduceat(new - old, starts).reshape(sizes.shape),
        sizes,
        np.logical_or.reduceat(new != old, starts).reshape(sizes.shape),
        epochs,
    )


def decide(runs: ManyRuns, margin: float, level: float, comparisons: int = 1) -> NDArray[np.int8]:
    """The verdict on each run.

    Args:
        runs: As far as they have been asked.
        margin: What may be lost.
        level: Of the interval.
        comparisons: How many there are in the command, with the same p value, which is adjusted for them.
    """
    is_exact = runs.epochs == 1 and runs.sizes.max() == 1
    tests = (_exact_passes, _exact_loses) if is_exact else (_passes, _loses)
    verdicts = np.full(len(runs.sizes), OPEN, dtype=np.int8)
    verdicts[tests[0](runs, margin, level)] = PASSED
    left = verdicts == OPEN
    if left.any():
        verdicts[np.flatnonzero(left)[tests[1](runs[left], level, comparisons)]] = LOST
    return verdicts


def _exact_passes(runs: ManyRuns, margin: float, level: float) -> Flags:
    better, worse = ((sign * runs.differences > 0).sum(axis=1) for sign in (1, -1))
    return _tango_above(better, worse, runs.sizes.shape[1], -margin, special.ndtri(0.5 + level / 2))


def _exact_loses(runs: ManyRuns, level: float, comparisons: int) -> Flags:
    better, worse = ((sign * runs.differences > 0).sum(axis=1) for sign in (1, -1))
    p_value = np.minimum(1, 2 * special.bdtr(np.minimum(better, worse), better + worse, 0.5))
    is_below = _tango_above(worse, better, runs.sizes.shape[1], 0.0, special.ndtri(0.5 + level / 2))
    return np.asarray(is_below & (np.minimum(1, comparisons * p_value) < 1 - level))


def _passes(runs: ManyRuns, margin: float, level: float) -> Flags:
    rest = _reject_below(runs, -margin, level)
    tail = expanded_tail(runs.sizes.shape[1], level)
    return _narrowed(rest, lambda left: _resampled_below(runs[left], -margin) < tail)


def _loses(runs: ManyRuns, level: float, comparisons: int) -> Flags:
    turned = replace(runs, differences=-runs.differences)
    rest = _reject_below(turned, 0.0, level)
    tail = expanded_tail(runs.sizes.shape[1], level)
    rest = _narrowed(rest, lambda left: _resampled_below(turned[left], 0.0) < tail)
    return _narrowed(rest, lambda left: np.minimum(1, comparisons * _sign_flip_p(runs[left])) < 1 - level)


def _narrowed(flags: Flags, test: Callable[[Flags], Flags]) -> Flags:
    """The runs that are flagged and pass a dear test, too."""
    narrowed = flags.copy()
    if flags.any():
        narrowed[np.flatnonzero(flags)] = test(flags)
    return narrowed


def _reject_below(runs: ManyRuns, value: float, level: float) -> Flags:
    """Whether the score interval and Gaffke's bounds lie above a value."""
    differences, sizes, counts = runs.kinds
    shares = differences / runs.epochs
    count = runs.sizes.shape[1]
    cases = counts @ sizes
    per_cluster = cases / count
    mean = counts @ shares / cases
    residuals = (shares - mean[:, None] * sizes) / per_cluster[:, None]
    squares = count * mean**2 + count / (count - 1) * (counts * residuals**2).sum(axis=1)
    whole = counts @ sizes**2 / (cases * per_cluster)
    step = np.sqrt((squares + whole**2) / (runs.differ.sum(axis=1) + 1))
    surplus = count * mean / step
    differing = np.maximum(squares / step**2, abs(surplus))
    better, worse = (np.maximum(0, (differing + sign * surplus) / 2) for sign in (1, -1))
    pairs = np.maximum(count, better + worse)
    above = _tango_above(better, worse, pairs, value / step, student_quantile(level, count - 1))
    normal = special.ndtri(0.5 + level / 2) ** 2
    above &= mean - whole * normal / (count + normal) > value
    return _narrowed(above, lambda left: _unseen_below(runs[left], value, 1 - level) < 1 - level)


def _tango_above(better: Floats, worse: Floats, n: Floats | int, value: Floats | float, quantile: float) -> Flags:
    """Whether Tango's score interval lies above a value."""
    linear = (2 * n - better + worse) * value - better - worse
    constant = -worse * value * (1 - value)
    share = (np.sqrt(np.maximum(0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
    variance = np.maximum(0, 2 * share + value * (1 - value))
    return np.asarray((better - worse - n * value > quantile * np.sqrt(n * variance)) | (np.asarray(value) <= -1))


def _unseen_below(runs: ManyRuns, value: float, tail: float) -> Floats:
    """The chance that the mean lies below a value, an unseen cluster being lost; by the saddlepoint."""
    differences, sizes, counts = runs.kinds
    is_even = len(np.unique(sizes)) == 1
    unseen = np.array([_unseen_size(each.astype(float), tail) for each in (runs.sizes[:1] if is_even else runs.sizes)])
    lost = np.broadcast_to(-(1 + value) * unseen, (len(counts),))
    seen = np.broadcast_to(differences / runs.epochs - value * sizes, counts.shape)
    weights = np.column_stack((np.where(counts > 0, seen, 0.0), lost))
    shapes = np.column_stack((counts, np.ones(len(counts))))
    least, most = weights.min(axis=1), weights.max(axis=1)
    is_mixed = (least < 0) & (most > 0)
    chances = np.where(most <= 0, 1.0, 0.0)
    weights, shapes = weights[is_mixed], shapes[is_mixed]
    low, high = 1 / least[is_mixed], 1 / most[is_mixed]
    point = np.zeros(len(weights))
    for _ in range(_STEPS):
        tilted = weights / (1 - weights * point[:, None])
        slope, curvature = (shapes * tilted).sum(axis=1), (shapes * tilted**2).sum(axis=1)
        low, high = np.where(slope > 0, low, point), np.where(slope > 0, point, high)
        step = slope / curvature
        is_near = abs(step) * np.sqrt(curvature) < 1e-9
        if is_near.all():
            break
        is_within = (point - step > low) & (point - step < high)
        point = np.where(is_near, point, np.where(is_within, point - step, (low + high) / 2))
    tilted = weights / (1 - weights * point[:, None])
    curvature = (shapes * tilted**2).sum(axis=1)
    cumulant = -(shapes * np.log1p(-weights * point[:, None])).sum(axis=1)
    root = np.copysign(np.sqrt(np.maximum(0, -2 * cumulant)), point)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = special.ndtr(root) + np.exp(-(root**2) / 2) / math.sqrt(2 * math.pi) * (
            1 / root - 1 / (point * np.sqrt(curvature))
        )
    chances[is_mixed] = np.where(abs(root) < 1e-4, 0.5, found)
    return chances


def _resampled_below(runs: ManyRuns, value: float) -> Floats:
    """The chance that the mean of as many clusters, drawn with replacement, is at most a value."""
    differences, sizes, counts = runs.kinds
    n = runs.sizes.shape[1]
    offset = 0.0
    if len(np.unique(sizes)) == 1:
        units, offset = differences, value * sizes[0] * runs.epochs * n
    else:
        parts = round(1 / math.gcd(1000, round(1000 * abs(value))) * 1000) if value else 1
        units = differences * parts - round(value * parts) * sizes * runs.epochs
    shares = counts / n
    mean = shares @ units
    reach = float(np.max(abs(n * mean) + _DEVIATIONS * np.sqrt(n * (shares @ units**2 - mean**2)))) + abs(offset)
    points = _points(2 * reach + 2)

    def characteristic(chosen: slice) -> NDArray[np.complex128]:
        turns = np.exp(-2j * math.pi / points * np.outer(units, np.arange(points // 2 + 1)))
        return np.asarray((shares[chosen] @ turns) ** n)

    return _summed(characteristic, len(counts), points, lambda sums, _: sums <= offset + 1e-9)


def _sign_flip_p(runs: ManyRuns) -> Floats:
    """That the sum of differences with signs by chance is as large as the one found; all ways counted."""
    differences, _, counts = runs.kinds
    found = abs(counts @ differences)
    points = _points(2 * float(np.max(counts @ abs(differences))) + 2)

    def characteristic(chosen: slice) -> NDArray[np.complex128]:
        cosines = np.cos(2 * math.pi / points * np.outer(differences, np.arange(points // 2 + 1)))
        product = np.ones((len(counts[chosen]), points // 2 + 1))
        for kind, cosine in enumerate(cosines):
            if differences[kind]:
                product *= cosine ** counts[chosen, kind, None]
        return product.astype(complex)

    return _summed(characteristic, len(counts), points, lambda sums, chosen: abs(sums)[None, :] >= found[chosen, None])


def _points(reach: float) -> int:
    return int(2 ** math.ceil(math.log2(reach)))


def _summed(
    characteristic: Callable[[slice], NDArray[np.complex128]],
    runs: int,
    points: int,
    within: Callable[[Integers, slice], Flags],
) -> Floats:
    """The chance that a sum of whole numbers is within a set, of each run."""
    sums = np.fft.fftfreq(points, 1 / points).round().astype(np.int64)
    chances = np.empty(runs)
    step = max(1, _HELD // points)
    for start in range(0, runs, step):
        chosen = slice(start, start + step)
        density = np.fft.irfft(characteristic(chosen), points, axis=1)
        chances[chosen] = (density * within(sums, chosen)).sum(axis=1)
    return chances
