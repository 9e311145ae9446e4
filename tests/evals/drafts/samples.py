"""A small catalog to draft for, and a model that writes what it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.evals.conversation import Reply
from toolbelt.evals.drafts.answer_store import open_answers
from toolbelt.evals.drafts.answers import DraftChecker
from toolbelt.evals.drafts.asking import Drafter
from toolbelt.evals.drafts.folder import DraftFolder
from toolbelt.evals.drafts.jobs import DraftQuota, Jobs
from toolbelt.evals.drafts.tool_drafts import ToolDrafts
from toolbelt.evals.drafts.writing import DraftSummary, DraftWriter
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.scripted import ScriptedModel
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.providers.chat import Sampling

_ORDER = {
    "type": "object",
    "properties": {
        "order": {"type": "integer", "description": "Number of the order."},
        "reason": {"type": "string"},
        "fast": {"type": "boolean"},
    },
    "required": ["order"],
    "additionalProperties": False,
}
CATALOG = Catalog(
    plugins=(
        Plugin(
            "till",
            (
                Tool("pay_back", "Pay the money of an order back to the customer.", _ORDER),
                Tool("invoice", "Bill a customer for an order, in writing."),
            ),
        ),
        Plugin("mail", (Tool("send_letter", "Send a letter about an order by post."), Tool("track", "Find a parcel."))),
    ),
    name="office",
)
REFUND = CATALOG.get_tool("pay_back")
SAMPLING = Sampling(seed=0)
TWO_EACH = DraftQuota(2, 2, 1)
ONE_EACH = DraftQuota(1, 1, 1)


def make_jobs(quota: DraftQuota = TWO_EACH, tools: Sequence[Tool] = (REFUND,), languages: Sequence[str] = ()) -> Jobs:
    """Jobs for the till."""
    return Jobs(CATALOG, tools, quota, languages)


def make_drafting(quota: DraftQuota = TWO_EACH) -> ToolDrafts:
    """Drafting for `pay_back`."""
    return ToolDrafts(make_jobs(quota).job(0), DraftChecker(CATALOG))


def said(tasks: Sequence[tuple[Any, Sequence[Any]]] = (), misses: Sequence[tuple[Any, Any]] = ()) -> str:
    """An answer with these tasks, `(arguments, queries)`, and near misses, `(query, tool)`."""
    return json.dumps(
        {
            "tasks": [{"arguments": arguments, "queries": list(queries)} for arguments, queries in tasks],
            "near_misses": [{"query": query, "tool": tool} for query, tool in misses],
        }
    )


def about(request: Request) -> str:
    """Id of the tool that a request is about."""
    opening = next(str(message["content"]) for message in request.messages if message["role"] == "user")
    return opening.splitlines()[0].removeprefix("Drafting for: ")


def whole(request: Request) -> Reply:
    """All that is asked for, of one task with one wording and one near miss."""
    tool = about(request)
    arguments = {"order": 17} if tool == REFUND.id else {}
    return Reply(
        said(
            [(arguments, [f"Do {tool.partition('/')[0]} thing {len(tool)} for 17."])],
            [(f"Leave thing {len(tool)} alone.", None)],
        )
    )


def draft_into(
    folder: Path,
    answer: Callable[[Request], Any] = whole,
    *,
    jobs: Jobs | None = None,
    budget: Budget | None = None,
    concurrency: int = 1,
) -> tuple[DraftSummary, Drafter]:
    """Draft and write."""
    jobs = jobs or make_jobs(ONE_EACH, CATALOG.tools)
    model = ScriptedModel(answer)
    target = DraftFolder(folder)
    checker = DraftChecker(CATALOG)
    with open_answers(target.memory) as answers:
        spent = budget or Budget()
        drafter = Drafter(
            jobs, checker, answers, model, spent, RetryPolicy(0), EstimateCounter(), SAMPLING, concurrency
        )
        target.put_catalog(CATALOG, overwrite=False)
        asyncio.run(drafter.run(lambda done: None))
        writer = DraftWriter(jobs, checker, answers, model.name, SAMPLING)
        state = target.read_state(CatalogNames(CATALOG))
        return writer.write(target, state, lambda done: None, drafter.failures), drafter


def lines(folder: Path) -> list[str]:
    """Of the cases."""
    return (folder / "cases.jsonl").read_text().splitlines()
