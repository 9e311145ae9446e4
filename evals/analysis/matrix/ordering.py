"""The order in which the models and toolsets of a run were asked for, from what is left of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from toolbelt.evals.analysis.summary.measures import RunSummary
from toolbelt.evals.toolsets.spec import BY_WINDOW, FULL

_FIRST = (str(FULL), str(BY_WINDOW))
"""What a suite begins with, where no model tells where it stood."""


def order_models(summary: RunSummary) -> tuple[str, ...]:
    """The models of a run, those left out of it among them, in the order asked for."""
    left_out = dict.fromkeys(one.model for one in summary.left_out)
    named = dict.fromkeys(arm.model for arm in summary.arms)
    known = [model for model in summary.rooms if model in named or model in left_out]
    return merged([tuple(named), known, tuple(left_out)])


def order_toolsets(summary: RunSummary) -> tuple[str, ...]:
    """The labels of its toolsets, likewise: each model was asked some of them, and left out of others."""
    models = order_models(summary)
    asked = (tuple(arm.toolset_label for arm in summary.arms if arm.model == model) for model in models)
    left_out = (tuple(one.toolset for one in summary.left_out if one.model == model) for model in models)
    return merged([*asked, *left_out], rank=lambda label: _FIRST.index(label) if label in _FIRST else len(_FIRST))


def merged(chains: Iterable[Sequence[str]], rank: Callable[[str], int] = lambda _: 0) -> tuple[str, ...]:
    """Names in an order that keeps that of every chain.

    Args:
        chains: Each without repeats; those that contradict each other are followed as far as they go.
        rank: What goes first where the chains leave it open; then what is named first.
    """
    open_chains = [list(chain) for chain in chains]
    names = dict.fromkeys(name for chain in open_chains for name in chain)
    return tuple(_take(names, open_chains, rank))


def _take(names: dict[str, None], chains: list[list[str]], rank: Callable[[str], int]) -> Iterator[str]:
    while names:
        waiting = {name for chain in chains for name in chain[1:]}
        ready = [name for name in names if name not in waiting] or list(names)
        found = min(ready, key=rank)  # the first of equals
        yield found
        del names[found]
        chains[:] = [left for chain in chains if (left := [name for name in chain if name != found])]
