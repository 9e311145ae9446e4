"""p values adjusted for several contrasts (rule E7)."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted so that the chance of any false one stays below the level (Holm 1979, step-down Bonferroni).

    Args:
        p_values: Of the contrasts of one command, each in 0..1.

    Returns:
        The adjusted values in the order given, each at least its own p value and at most 1.

    Raises:
        ValueError: a value is out of range.
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError(f"p values lie in 0..1; not all of {list(p_values)} do.")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
