"""What a table carries along, so that it is known by itself what it is of."""

from __future__ import annotations

from toolbelt.evals.analysis.summary.run_summary import RunSummary

TRIALS_SCHEMA = "toolbelt.trials/1"
"""Name and version of the columns of trials: a column may be added; what there is keeps its name, unit and meaning."""
ARMS_SCHEMA = "toolbelt.arms/1"
"""Likewise of arms."""


def about_trials(summary: RunSummary) -> dict[str, str]:
    """`schema`, `run`, `dataset` and `digest`, all texts."""
    return make_about(summary.run, summary.dataset, summary.digest)


def about_arms(summary: RunSummary) -> dict[str, str]:
    """Likewise, of a table of arms."""
    return {**about_trials(summary), "schema": ARMS_SCHEMA}


def make_about(run: str, dataset: str, digest: str) -> dict[str, str]:
    """As `about_trials`, of a run of which no more is known."""
    return {"schema": TRIALS_SCHEMA, "run": run, "dataset": dataset, "digest": digest}
