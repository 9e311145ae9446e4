"""Show drafts, and the estimate before drafting, for `toolbelt dataset generate`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolbelt.evals.cli.estimates import format_estimate
from toolbelt.evals.drafts.folder import DraftFolder
from toolbelt.evals.drafts.generate import DraftEstimate, DraftResult, DraftSession
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.writing import NOT_ASKED, DraftSummary, ShortTool
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Count, Tone
from toolbelt.views.table import Column, Row, Table

_MOST_SHORT = 10
"""Tools with too few drafts that are named."""


def show_result(result: DraftResult, session: DraftSession, *, as_json: bool) -> None:
    """Show the drafts, and warn of missing ones."""
    if as_json:
        print_json(result_data(result, session))
    else:
        show_blocks([drafts_table(result.summary)])
    notify(f"{plural(result.requests, 'request')}, {format_estimate(result.cost_usd)}")
    notify_summary(result.summary, session.folder)
    if not result.is_complete:
        _warn_incomplete(result)


def show_estimate(estimate: DraftEstimate, jobs: Jobs, model: str, *, as_json: bool) -> None:
    """Show the requests, tokens and cost of drafting."""
    if as_json:
        print_json(estimate_data(estimate, jobs, model))
    else:
        show_blocks(estimate_view(estimate, jobs, model))


def result_data(result: DraftResult, session: DraftSession) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {
        "folder": str(session.folder.path),
        "catalog": session.jobs.catalog.name,
        "model": result.model,
        "tools": len(session.jobs.tools),
        **summary_data(result.summary),
        "requests": result.requests,
        "cost_usd": result.cost_usd,
        "reasons": list(result.reasons),
    }


def summary_data(summary: DraftSummary) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {
        "cases": summary.cases,
        "kinds": dict(summary.kinds),
        "left_out": dict(summary.refused),
        "short": [asdict(short) for short in summary.short],
        "kept": summary.human_lines,
        "superseded": summary.superseded,
        "deleted": summary.deleted,
        "earlier": summary.earlier,
        "replaced": summary.replaced,
        "unanswered": summary.unanswered,
        "unanswered_tools": summary.unanswered_tools,
        "failed": dict(summary.failed),
    }


def drafts_table(summary: DraftSummary) -> Table:
    """Drafts by kind."""
    kinds = sorted(summary.kinds.items(), key=lambda row: -row[1])
    return Table("drafts", (Column("cases"),), tuple(Row(kind, (Count(count),)) for kind, count in kinds))


def notify_summary(summary: DraftSummary, folder: DraftFolder) -> None:
    """Notify of left-out drafts, and of the next step."""
    if summary.refused:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in summary.refused.most_common())
        notify(f"left out of what the model wrote: {reasons}")
    short = [tool for tool in summary.short if NOT_ASKED not in tool.reasons]
    for tool in short[:_MOST_SHORT]:
        notify(_short_text(tool), "warning")
    if (more := len(short) - _MOST_SHORT) > 0:
        notify(f"{plural(more, 'more tool')} with fewer drafts than asked for; --json lists them", "warning")
    if summary.human_lines:
        notify(f"{plural(summary.human_lines, 'line')} of yours kept, first in the file")
    if summary.superseded or summary.deleted:
        notify(f"not drafted again: {summary.superseded:,} that you changed, {summary.deleted:,} that you took out")
    if summary.earlier:
        notify(f"{plural(summary.earlier, 'draft')} of other tools or settings kept, before these")
    if summary.replaced:
        drafts = plural(summary.replaced, "draft")
        notify(f"{drafts} of these tools and settings replaced: the answers are different now", "warning")
    if not summary.cases:
        notify("there is no draft, so no cases were written", "warning")
        return
    notify(f"wrote {plural(summary.cases, 'case')} to {folder.cases}")
    if summary.kinds:
        notify(
            'review each: correct its query, its calls and their arguments, then take out "draft": true; or take out '
            f"the line. What is doubtful: toolbelt dataset lint {folder.path}"
        )


def _warn_incomplete(result: DraftResult) -> None:
    summary = result.summary
    reason = result.reasons[0].rstrip(".") if result.reasons else "not all was answered"
    if summary.failed.total() > 1:
        reason += f"; failed: {', '.join(f'{failure} ({count:,})' for failure, count in summary.failed.most_common())}"
    tools = plural(summary.unanswered_tools, "tool")
    notify(f"incomplete: {reason}. The same command goes on with the {tools} left", "warning")


def _short_text(tool: ShortTool) -> str:
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in tool.reasons.items())
    language = f" in {tool.language}" if tool.language else ""
    return f"{tool.tool}{language}: {tool.drafted} of {plural(tool.wanted, 'draft')} ({reasons})"


def estimate_data(estimate: DraftEstimate, jobs: Jobs, model: str) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {
        "dry_run": True,
        "catalog": jobs.catalog.name,
        "model": model,
        "tools": len(jobs.tools),
        "cases": len(jobs) * jobs.quota.cases,
        **asdict(estimate),
    }


def estimate_view(estimate: DraftEstimate, jobs: Jobs, model: str) -> tuple[Block, ...]:
    """The estimate in one line, and the source of its numbers."""
    answered = f"; {plural(estimate.answered, 'answer')} stored already" if estimate.answered else ""
    total = (
        f"{plural(len(jobs.tools), 'tool')}, {plural(len(jobs) * jobs.quota.cases, 'case')}: "
        f"{plural(estimate.requests, 'request')} of {model}{answered}, about {estimate.prompt_tokens:,} "
        f"prompt and {estimate.completion_tokens:,} completion tokens: {format_estimate(estimate.cost_usd)}"
    )
    source = "Estimated from the prompts; at most twice as much, if all has to be asked again. Nothing was asked."
    return (Note(total, Tone.STRONG), Note(source, Tone.FAINT))
