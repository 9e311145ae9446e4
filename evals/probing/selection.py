"""Which stored probe stands for a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbelt.evals.models.opening import OPENERS
from toolbelt.evals.probing.checks import CHECKS, SUITE
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import ProbeResult
from toolbelt.evals.running.store import RunStore


@dataclass(frozen=True, slots=True)
class StandingProbe:
    """The probe that stands for a model.

    Attributes:
        result: The probe.
        later: An unfinished probe that began after it; `None` if there is none.
    """

    result: ProbeResult
    later: ProbeResult | None = None


def find_standing_and_later(probes: Sequence[ProbeResult]) -> StandingProbe | None:
    """The probe that stands for the model, as `find_standing`, with the unfinished one after it."""
    standing = find_standing(probes)
    return None if standing is None else StandingProbe(standing, find_later(standing, probes))


def find_latest(path: str, model: str) -> StandingProbe | None:
    """The probe that stands for a model, at any place; `None` if there is no probe or no such file.

    Raises:
        ToolbeltError: the file is no run store, or cannot be read.
    """
    if not Path(path).exists():
        return None
    with RunStore(Path(path), must_exist=True) as store:
        return find_standing_and_later(ProbeStore(store).probes(model))


def probes_of_run(store: RunStore, models: Iterable[str], api_base: str | None) -> list[ProbeResult]:
    """The probe that stands for each model of a run, at the run's place; models without a probe are left out.

    Args:
        store: The store of the run and the probes.
        models: Their names, in order.
        api_base: Address at which the run asks hosted models; other models ignore it.
    """
    return [standing.result for standing in standing_probes(store, models, api_base)]


def standing_probes(store: RunStore, models: Iterable[str], api_base: str | None) -> list[StandingProbe]:
    """As `probes_of_run`, each with the unfinished probe after it."""
    probe_store = ProbeStore(store)
    standing = []
    for model in dict.fromkeys(models):
        anywhere = model.startswith(tuple(OPENERS))
        standing.append(
            find_standing_and_later(
                [probe for probe in probe_store.probes(model) if anywhere or _is_same(probe.api_base, api_base)]
            )
        )
    return [probe for probe in standing if probe is not None]


def _is_same(first: str | None, second: str | None) -> bool:
    return (first or "").rstrip("/") == (second or "").rstrip("/")


def latest_of_each(probes: Iterable[ProbeResult]) -> list[ProbeResult]:
    """The last probe of each model at each place, the latest first.

    Args:
        probes: The latest first.
    """
    grouped: dict[tuple[str, str | None], list[ProbeResult]] = {}
    for probe in probes:
        grouped.setdefault((probe.model, probe.api_base), []).append(probe)
    standing = [find_standing(group) or group[0] for group in grouped.values()]
    return sorted(standing, key=lambda probe: probe.created, reverse=True)


def find_standing(probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The probe that stands for a model: the latest finished one of all checks, else the one with most outcomes.

    Probes of the present version of the checks that have any outcome come before those of other versions.

    Args:
        probes: The latest first.

    Returns:
        `None` if no probe has a result.
    """
    return max((probe for probe in probes if probe.checks), key=_weight, default=None)


def _weight(probe: ProbeResult) -> tuple[bool, bool, bool, int]:
    is_now, says = probe.suite == SUITE, sum(not check.outcome.is_open for check in probe.checks)
    is_whole = probe.status == "finished" and set(probe.planned) >= _ALL
    return is_now and is_whole, is_now and says > 0, is_whole, says


def find_later(picked: ProbeResult, probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The latest unfinished probe of the same model that began after the one that stands for it.

    Args:
        picked: The probe that stands for the model.
        probes: Of any models; the latest first.
    """
    later = (probe for probe in probes if probe.model == picked.model and probe.created > picked.created)
    return next((probe for probe in later if probe.probe != picked.probe and probe.status != "finished"), None)


_ALL = frozenset(check.key for check in CHECKS)
