"""Looking for probes where they may be kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toolbelt.evals.models.opening import OPENERS
from toolbelt.evals.probing.checks import CHECKS, SUITE
from toolbelt.evals.probing.kept import ProbeStore
from toolbelt.evals.probing.probe import ProbeResult
from toolbelt.evals.running.store import RunStore


def find_latest(path: str, model: str) -> ProbeResult | None:
    """The last probe of a model, wherever it was asked; `None` if there is none, or no such file.

    Raises:
        ToolbeltError: the file holds something else, or cannot be read.
    """
    if not Path(path).exists():
        return None
    with RunStore(Path(path), must_exist=True) as store:
        return pick_latest(ProbeStore(store).probes(model))


def probes_of_run(store: RunStore, models: Iterable[str], api_base: str | None) -> list[ProbeResult]:
    """The last probe of each model of a run, made at the same place; models without one are left out.

    Args:
        store: Where both are kept.
        models: Their names, in order.
        api_base: Where the run asks hosted models; says nothing of others.
    """
    kept = ProbeStore(store)
    found = []
    for model in dict.fromkeys(models):
        anywhere = model.startswith(tuple(OPENERS))
        found.append(pick_latest(one for one in kept.probes(model) if anywhere or _is_same(one.api_base, api_base)))
    return [one for one in found if one is not None]


def _is_same(one: str | None, other: str | None) -> bool:
    return (one or "").rstrip("/") == (other or "").rstrip("/")


def latest_of_each(probes: Iterable[ProbeResult]) -> list[ProbeResult]:
    """The last probe of each model at each place, the latest first.

    Args:
        probes: The latest first.
    """
    grouped: dict[tuple[str, str | None], list[ProbeResult]] = {}
    for one in probes:
        grouped.setdefault((one.model, one.api_base), []).append(one)
    found = [pick_latest(of_one) or of_one[0] for of_one in grouped.values()]
    return sorted(found, key=lambda one: one.created, reverse=True)


def pick_latest(probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The latest that has come to any result, of those of all checks rather than of a few; `None` if none has.

    Of the checks as they are now, if there is one: those of another version say less.

    Args:
        probes: The latest first.
    """
    return max(
        (one for one in probes if one.checks),
        key=lambda one: (one.suite == SUITE, set(one.planned) >= _ALL),
        default=None,
    )


_ALL = frozenset(check.key for check in CHECKS)
