"""How drafts, and the estimate of them, are shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from toolbelt.console.screen import notify
from toolbelt.console.tables import fitted_table
from toolbelt.evals.cli.estimates import shown_cost
from toolbelt.evals.drafts.answer_store import Journal
from toolbelt.evals.drafts.estimate import DraftEstimate
from toolbelt.evals.drafts.folder import DraftFolder
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.writing import NOT_ASKED, Drafted, Short
from toolbelt.text import plural, visible

_MOST_SHORT = 10
"""Tools with too few drafts that are told one by one."""


def drafted_data(made: Drafted) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {
        "cases": made.cases,
        "kinds": dict(made.kinds),
        "left_out": dict(made.refused),
        "short": [asdict(short) for short in made.short],
        "kept": made.kept,
        "superseded": made.superseded,
        "deleted": made.deleted,
        "earlier": made.earlier,
        "replaced": made.replaced,
        "unanswered": made.unanswered,
        "unanswered_tools": made.unanswered_tools,
        "failed": dict(made.failed),
    }


def drafted_view(made: Drafted, screen: Console) -> RenderableType:
    """A table of what was drafted."""
    rows = [(visible(kind), f"{count:,}", "") for kind, count in sorted(made.kinds.items(), key=lambda row: -row[1])]
    return fitted_table(screen, ("drafts", "cases", ""), rows, right=(1,))


def tell_drafted(made: Drafted, folder: DraftFolder) -> None:
    """What was left out, and what is to be done now."""
    if made.refused:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in made.refused.most_common())
        notify(f"left out of what the model wrote: {reasons}")
    told = [short for short in made.short if NOT_ASKED not in short.reasons]
    for short in told[:_MOST_SHORT]:
        notify(_line(short), "warning")
    if (more := len(told) - _MOST_SHORT) > 0:
        notify(f"{plural(more, 'more tool')} with fewer drafts than asked for; --json lists them", "warning")
    if made.kept:
        notify(f"{plural(made.kept, 'line')} of yours kept, first in the file")
    if made.superseded or made.deleted:
        notify(f"not drafted again: {made.superseded:,} that you changed, {made.deleted:,} that you took out")
    if made.earlier:
        notify(f"{plural(made.earlier, 'draft')} of other tools or settings kept, before these")
    if made.replaced:
        notify(
            f"{plural(made.replaced, 'draft')} of these tools and settings replaced: answered otherwise now", "warning"
        )
    if not made.cases:
        notify("there is no draft, so no cases were written", "warning")
        return
    notify(f"wrote {plural(made.cases, 'case')} to {folder.cases}")
    if made.kinds:
        notify(
            'review each: mend its query, its calls and their arguments, then take out "draft": true; or take out the '
            f"line. What is doubtful: toolbelt dataset lint {folder.path}"
        )


def tell_broken(journal: Journal) -> None:
    """Which of the answers kept are lost."""
    if not journal.broken:
        return
    lines = ", ".join(f"{journal.path}:{number}" for number in journal.broken[:_MOST_SHORT])
    lines += ", …" * (len(journal.broken) > _MOST_SHORT)
    notify(
        f"{plural(len(journal.broken), 'line')} of the answers kept cannot be read ({lines}): asked again where "
        "wanted, and what they took counts to neither cap",
        "warning",
    )


def estimate_data(found: DraftEstimate, jobs: Jobs, model: str) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {
        "dry_run": True,
        "catalog": jobs.catalog.name,
        "model": model,
        "tools": len(jobs.tools),
        "cases": len(jobs) * jobs.wanted.cases,
        **asdict(found),
    }


def estimate_view(found: DraftEstimate, jobs: Jobs, model: str) -> RenderableType:
    """A line, and how it came about."""
    kept = f"; {plural(found.answered, 'answer')} kept already" if found.answered else ""
    total = (
        f"{plural(len(jobs.tools), 'tool')}, {plural(len(jobs) * jobs.wanted.cases, 'case')}: "
        f"{plural(found.requests, 'request')} of {visible(model)}{kept}, about {found.prompt_tokens:,} prompt and "
        f"{found.completion_tokens:,} completion tokens: {shown_cost(found.cost_usd)}"
    )
    how = "Estimated from the prompts; twice as much at the most, if all has to be asked for again. Nothing was asked."
    return Group(Text(total, style="bold"), Text(how, style="dim"))


def _line(short: Short) -> str:
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in short.reasons.items())
    language = f" in {short.language}" if short.language else ""
    return f"{short.tool}{language}: {short.drafted} of {plural(short.wanted, 'draft')} ({reasons})"
