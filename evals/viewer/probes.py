"""Probes as a page shows them: what works with each model of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolbelt.evals.probing.checks import title_of
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.probing.wording import WORDS, cache_line, shown_day, works_of
from toolbelt.evals.views.figures import NOTHING

_MARKS = {CheckOutcome.WORKS: "✓", CheckOutcome.PARTLY: "~", CheckOutcome.SKIPPED: "–", CheckOutcome.UNKNOWN: "?"}
_FAILED = "✕"
_LOOKS = {
    CheckOutcome.WORKS: "no_regression",
    CheckOutcome.PARTLY: "insufficient_data",
    CheckOutcome.SKIPPED: "none",
    CheckOutcome.UNKNOWN: "none",
}
"""The badge each has, by the names of verdicts."""
_LONGEST = 300
"""Characters shown of what a server said."""


def probe_values(results: Sequence[ProbeResult]) -> dict[str, Any]:
    """What the section on probes says.

    Returns:
        `models` (`model`, `where`, `day`, `works`, `caching`), `rows` (`title`; `cells`: `mark`, `word`, `verdict`),
        `reasons` (`model`, `title`, `word`, `said` of what does not simply work).
    """
    keys = dict.fromkeys(key for result in results for key in (*result.planned, *(one.key for one in result.checks)))
    return {
        "models": [
            {
                "model": result.model,
                "where": result.api_base or "",
                "day": shown_day(result.created),
                "works": works_of(result),
                "caching": cache_line(result),
            }
            for result in results
        ],
        "rows": [{"title": title_of(key), "cells": [_cell(result.outcome(key)) for result in results]} for key in keys],
        "reasons": [
            {
                "model": result.model,
                "title": title_of(check.key),
                "word": WORDS[check.outcome],
                "said": check.said if len(check.said) <= _LONGEST else f"{check.said[: _LONGEST - 1]}…",
            }
            for result in results
            for check in result.checks
            if check.outcome not in (CheckOutcome.WORKS, CheckOutcome.SKIPPED)
        ],
    }


def _cell(outcome: CheckOutcome | None) -> dict[str, str]:
    if outcome is None:
        return {"mark": NOTHING, "word": "not made", "verdict": "none"}
    return {
        "mark": _MARKS.get(outcome, _FAILED),
        "word": WORDS[outcome],
        "verdict": _LOOKS.get(outcome, "regression"),
    }
