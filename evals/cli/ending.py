"""What is said when a session of a run has ended, and its exit code."""

from __future__ import annotations

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.console.screen import notify
from toolbelt.evals.analysis.summary.measures import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.cli.shown import show_run
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import RunStore
from toolbelt.text import plural


def show_end(store: RunStore, name: str, end: RunEnd, *, as_json: bool) -> int:
    """Print what a run came to, tell what to do next, and say with which exit code to end.

    Args:
        store: Where it is kept.
        name: Its id.
        end: How the session ended.
        as_json: Whether to print one JSON document.
    """
    summary = summarize(store.connection, name)
    show_run(store, summary, as_json=as_json)
    return _exit_code(summary, end, store.find_common_error(name), store.spent(name)[0])


def _exit_code(summary: RunSummary, end: RunEnd, error: str, requests: int) -> int:
    """0 where every trial says something; 3 where the infrastructure or a cap was in the way (rule E9)."""
    resume_line = f"toolbelt eval resume {summary.run}"
    if end is RunEnd.INCOMPLETE:
        notify(f"incomplete: {summary.reason.rstrip('.')}. What is left: {resume_line}", "warning")
        return INFRASTRUCTURE
    if summary.errors:
        trials, failure = plural(summary.errors, "trial"), error.rstrip(".")
        notify(
            f"{trials} failed, unscored; the commonest failure: {failure}. Again: {resume_line} --retry-errors",
            "warning",
        )
        return INFRASTRUCTURE
    if not summary.scored:
        if requests:
            notify("nothing could be scored: every conversation was too long for its model.", "warning")
        else:
            hint = "smaller: --toolset loadout:NAME; all the same: --ask-anyway"
            notify(f"nothing was asked: no toolset fits its model; {hint}", "warning")
        return INFRASTRUCTURE
    notify(f"run {summary.run}; pictures and files: toolbelt eval report {summary.run}")
    return OK
