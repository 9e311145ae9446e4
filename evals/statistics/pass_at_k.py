"""pass@k and pass^k: solved at least once, and solved each time, over the epochs of a case."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passing:
    """A mean over cases.

    Attributes:
        value: The mean, a fraction in 0..1; `None` where no case has as many scored epochs as are drawn.
        cases: How many cases it covers.
        left_out: Cases with fewer scored epochs, which say nothing about so many draws.
    """

    value: float | None
    cases: int
    left_out: int


def pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> Passing:
    """pass@k: the chance that at least one of k trials of a case succeeds, over cases (Chen et al. 2021,
    arXiv:2107.03374).

    The estimator without bias, 1 − C(n−c, k)/C(n, k), and not 1 − (1 − c/n)^k, which is too low.

    Args:
        counts: For each case `(successes, n)`: epochs that succeeded, and epochs that were scored.
        k: Draws, 1 or more.

    Raises:
        ValueError: a count is out of range.
    """
    return _mean(counts, k, lambda successes, n: 1 - math.comb(n - successes, k) / math.comb(n, k))


def pass_all_k(counts: Iterable[tuple[int, int]], k: int) -> Passing:
    """pass^k: the chance that each of k trials of a case succeeds, over cases (Yao et al. 2024, arXiv:2406.12045).

    The estimator without bias, C(c, k)/C(n, k), and not (c/n)^k, which is too high. Arguments and errors are those
    of `pass_at_k`.
    """
    return _mean(counts, k, lambda successes, n: math.comb(successes, k) / math.comb(n, k))


def _mean(counts: Iterable[tuple[int, int]], k: int, share: Callable[[int, int], float]) -> Passing:
    if k < 1:
        raise ValueError(f"At least one trial is drawn; not {k}.")
    shares: list[float] = []
    left_out = 0
    for successes, n in counts:
        if not 0 <= successes <= n:
            raise ValueError(f"{successes} of {n} epochs cannot have succeeded.")
        if n < k:
            left_out += 1
        else:
            shares.append(share(successes, n))
    return Passing(math.fsum(shares) / len(shares) if shares else None, len(shares), left_out)
