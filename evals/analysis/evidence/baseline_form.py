"""What an attempt looks like in a baseline, and the figures that follow from the attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome

SCHEMA_NAME = "toolbelt.baseline"
SCHEMA = f"{SCHEMA_NAME}/1"
COLUMNS = ("outcome", "definition_tokens", "own_prompt_tokens", "prompt_tokens", "requests", "cost_usd")
"""What the elements of an attempt are, in order."""
MAX_BYTES = 256 << 20
"""What is read of a file: twenty thousand cases of a hundred arms take less."""
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def parse_attempt(attempt: Sequence[Any]) -> Attempt:
    """An attempt of a baseline that was checked.

    Args:
        attempt: As in the file, see `toolbelt.evals.analysis.evidence.baseline`.
    """
    word, definition, own, reported, requests, cost, *rest = attempt
    more = rest[0] if rest else {}
    outcome, covered = _OUTCOMES[word], more.get("covered", True)
    surplus = tuple(more.get("surplus", ()))
    kept = outcome.is_scored and not (covered and outcome.is_right_by_names)
    return Attempt(
        outcome,
        covered,
        tuple(more.get("called", surplus)) if kept else None,
        tuple(more.get("missing", ())),
        surplus,
        definition,
        own,
        reported,
        requests,
        cost,
    )


def arm_figures(attempts: Iterable[Attempt]) -> dict[str, Any]:
    """What an arm came to, for whoever reads the file.

    Args:
        attempts: All of them.

    Returns:
        `trials`, `scored`, and of the latter how many were `right` by names, `solved` and `covered`; `accuracy`, a
        fraction; and means over scored trials: `definition_tokens`, `prompt_tokens` (own count where those of a trial
        were not reported), `requests` and `cost_usd`. `None` where nothing was scored or a figure is not known.
    """
    every = list(attempts)
    scored = [attempt for attempt in every if attempt.is_scored]
    right = sum(attempt.is_right for attempt in scored)
    prompt = _mean([attempt.prompt_tokens for attempt in scored], 1)
    cost = _mean([attempt.cost_usd for attempt in scored], 8)
    return {
        "trials": len(every),
        "scored": len(scored),
        "right": right,
        "solved": sum(attempt.is_solved for attempt in scored),
        "covered": sum(attempt.covered for attempt in scored),
        "accuracy": round(right / len(scored), 6) if scored else None,
        "definition_tokens": _mean([attempt.definition_tokens for attempt in scored], 1),
        "prompt_tokens": _mean([attempt.own_prompt_tokens for attempt in scored], 1) if prompt is None else prompt,
        "requests": _mean([attempt.requests for attempt in scored], 2),
        "cost_usd": cost,
    }


def _mean(values: Sequence[float | None], places: int) -> float | None:
    known = [value for value in values if value is not None]
    if not values or len(known) < len(values):
        return None
    mean = round(sum(known) / len(known), places)
    return int(mean) if mean == int(mean) else mean


FIGURES = tuple(arm_figures(()))
"""Names of the figures, in order."""
