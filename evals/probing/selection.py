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
    standing = find_standing(probes)
    return None if standing is None else StandingProbe(standing, find_later(standing, probes))


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
    return [standing.result for standing in standing_probes(store, models, api_base)]


def standing_probes(store: RunStore, models: Iterable[str], api_base: str | None) -> list[StandingProbe]:
    """As `probes_of_run`, with what was begun later there."""
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
    """The one that stands for a model: the latest finished one of all checks, else the one that says most.

    Of the checks as they are now, if there is one that says anything: those of another version say less.

    Args:
        probes: The latest first.

    Returns:
        `None` if none has come to any result.
    """
    return max((probe for probe in probes if probe.checks), key=_weight, default=None)


def _weight(probe: ProbeResult) -> tuple[bool, bool, bool, int]:
    is_now, says = probe.suite == SUITE, sum(check.outcome is not CheckOutcome.UNKNOWN for check in probe.checks)
    is_whole = probe.status == "finished" and set(probe.planned) >= _ALL
    return is_now and is_whole, is_now and says > 0, is_whole, says


def find_later(picked: ProbeResult, probes: Iterable[ProbeResult]) -> ProbeResult | None:
    """The latest probe of the same model that was begun after the one that stands for it, and is not finished.

    Args:
        picked: Which stands for the model.
        probes: Of any models; the latest first.
    """
    later = (probe for probe in probes if probe.model == picked.model and probe.created > picked.created)
    return next((probe for probe in later if probe.probe != picked.probe and probe.status != "finished"), None)


_ALL = frozenset(check.key for check in CHECKS)
