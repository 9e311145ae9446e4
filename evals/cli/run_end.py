"""What a run came to, as its command shows it last: figures, what is in their way, and the exit code (rule E9)."""

from __future__ import annotations

import shlex
from pathlib import Path

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.cli.shown import show_run
from toolbelt.evals.responses.recorded import DEFAULT_CACHE
from toolbelt.evals.run import Run
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.render.screen import notify, progress
from toolbelt.text import plural


def show_end(run: Run, execution: ExecutionOptions, *, as_json: bool, details: bool) -> int:
    """Print what a run came to, the result last unless something is in its way, and give the exit code."""
    with RunStore(run.store, must_exist=True) as store:
        summary = summarize(store.connection, run.id)
        problem = _describe_unrecorded(run, execution) if run.not_recorded else ""
        error, requests = store.find_common_error(run.id), store.spent(run.id)[0]
        problem = problem or _find_problem(summary, run.end, error, requests, execution)
        if not problem:
            notify(f"run {summary.run}; pictures and files: toolbelt eval report {summary.run}")
        show_run(store, summary, as_json=as_json, details=details)
    if problem:
        notify(problem, "warning")
    return INFRASTRUCTURE if problem else OK


def _describe_unrecorded(run: Run, execution: ExecutionOptions) -> str:
    """What an offline execution left, and the command that asks for it."""
    files = map(str, execution.response_cache or (run.store.with_name(DEFAULT_CACHE),))
    options = " ".join(f"--response-cache {file}" for file in map(shlex.quote, files)) + execution.format_caps()
    return f"incomplete: {run.reason.rstrip('.')}. To ask and record them: toolbelt eval resume {run.id} {options}"


def _find_problem(summary: RunSummary, end: RunEnd, error: str, requests: int, execution: ExecutionOptions) -> str:
    """Empty where every trial says something; else how the infrastructure or a cap was in the way (rule E9)."""
    if "imported_from" in summary.settings:
        failed = f"{plural(summary.errors, 'trial')} unscored; the commonest reason: {error.rstrip('.')}"
        parts = (summary.reason if end is RunEnd.INCOMPLETE else "", failed if summary.errors else "")
        return "; ".join(part.rstrip(".") for part in parts if part)
    resume_line = f"toolbelt eval resume {summary.run}{execution.engine.as_option}{execution.retries_as_option}"
    if end is RunEnd.INCOMPLETE:
        failed = "; with --retry-errors what failed, too" if summary.errors else ""
        caps = execution.format_caps(times=2)  # one that was reached would stop it at once
        more = f" (caps are not kept: give them again; what was spent before counts, so this is twice){failed}"
        return f"incomplete: {summary.reason.rstrip('.')}. What is left: {resume_line}{caps}{more if caps else failed}"
    if summary.errors:
        trials, failure = plural(summary.errors, "trial"), error.rstrip(".")
        again = f"{resume_line} --retry-errors{execution.format_caps()}"
        return f"{trials} failed, unscored; the commonest failure: {failure}. Again: {again}"
    if summary.scored:
        return ""
    if requests:
        return "nothing could be scored: every conversation was too long for its model."
    return "nothing was asked: no toolset fits its model; smaller: --toolset loadout:NAME; or send it: --ask-anyway"


def write_report(run: Run, folder: Path) -> None:
    """As `toolbelt eval report` does; a run of which nothing has finished has none."""
    if not any(arm.finished for arm in run.summary.arms):
        notify("no trial has finished, so there is no report", "warning")
        return
    page, *others = run.report(folder / run.id, progress=progress)
    notify(f"wrote {page} and {plural(len(others), 'other file')} beside it")
