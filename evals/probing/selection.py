"""Which stored probe stands for a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbelt.evals.models.opening import OPENERS
from toolbelt.evals.probing.checks import CHECKS, SUITE
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.running.store import RunStore


@dataclass(frozen=True, slots=True)
class StandingProbe:
    """The probe that stands for a model.

    Attributes:
        result: Which.
        later: One that was begun after it and is not finished; `None` if there is none.
    """

    result: ProbeResult
    later: ProbeResult | None = None


def find_standing_and_later(probes: Sequence[ProbeResult]) -> StandingProbe | None:
    """As `pick_latest`, with what was begun later."""
    found = find_standing(probes)
    return None if found is None else StandingProbe(found, find_later(found, probes))


def find_latest(path: str, model: str) -> StandingProbe | None:
    """The probe that stands for a model, wherever it was asked; `None` if there is none, or no such file.

    Raises:
        ToolbeltError: the file holds something else, or cannot be read.
    """
    if not Path(path).exists():
        return None
    with RunStore(Path(path), must_exist=True) as store:
        return find_standing_and_later(ProbeStore(store).probes(model))


def probes_of_run(store: RunStore, models: Iterable[str], api_base: str | None) -> list[ProbeResult]:
    """The probe that stands for each model of a run, made at the same place; models without one are left out.

    Args:
        store: Where both are kept.
        models: Their names, in order.
        api_base: Where the run asks hosted models; says nothing of others.
    """
    return [one.result for one in standing_probes(store, models, api_base)]


def standing_probes(store: RunStore, models: Iterable[str], api_base: str | None) -> list[StandingProbe]:
    """As `probes_of_run`, with what was begun later there."""
    kept = ProbeStore(store)
    found = []
    for model in dict.fromkeys(models):
        anywhere = model.startswith(tuple(OPENERS))
        found.append(
            find_standing_and_later([one for one in kept.probes(model) if anywhere or _is_same(one.api_base, api_base)])
        )
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
    found = [find_standing(of_one) or of_one[0] for of_one in grouped.values()]
    return sorted(found, key=lambda one: one.created, reverse=True)


def find_standing(probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The one that stands for a model: the latest finished one of all checks, else the one that says most.

    Of the checks as they are now, if there is one that says anything: those of another version say less.

    Args:
        probes: The latest first.

    Returns:
        `None` if none has come to any result.
    """
    return max((one for one in probes if one.checks), key=_weight, default=None)


def _weight(one: ProbeResult) -> tuple[bool, bool, bool, int]:
    is_now, says = one.suite == SUITE, sum(check.outcome is not CheckOutcome.UNKNOWN for check in one.checks)
    is_whole = one.status == "finished" and set(one.planned) >= _ALL
    return is_now and is_whole, is_now and says > 0, is_whole, says


def find_later(picked: ProbeResult, probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The latest probe of the same model that was begun after the one that stands for it, and is not finished.

    Args:
        picked: Which stands for the model.
        probes: Of any models; the latest first.
    """
    later = (one for one in probes if one.model == picked.model and one.created > picked.created)
    return next((one for one in later if one.probe != picked.probe and one.status != "finished"), None)


_ALL = frozenset(check.key for check in CHECKS)
