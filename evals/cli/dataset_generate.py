"""`toolbelt dataset generate`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import examples
from toolbelt.command.options import catalog_option, config_option, json_option, option
from toolbelt.command.project import open_workspace
from toolbelt.console.screen import make_screen, notify, print_json, progress, show_view
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.drafting_views import (
    drafted_data,
    drafted_view,
    estimate_data,
    estimate_view,
    tell_broken,
    tell_drafted,
)
from toolbelt.evals.cli.estimates import shown_cost
from toolbelt.evals.cli.options import CommaList, FiniteRange, asking_options
from toolbelt.evals.drafts.answer_store import Journal, open_journal, read_journal
from toolbelt.evals.drafts.answers import Checker
from toolbelt.evals.drafts.asking import Drafter
from toolbelt.evals.drafts.estimate import DraftEstimate, estimate_drafting
from toolbelt.evals.drafts.folder import DraftFolder, Touched
from toolbelt.evals.drafts.jobs import Jobs, Wanted, choose_tools
from toolbelt.evals.drafts.writing import Drafted, Finisher
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import ModelOptions, open_model, open_price
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.project.workspace import Workspace
from toolbelt.providers.chat import Sampling, Usage
from toolbelt.providers.tokenizers import find_tokenizer, make_counter
from toolbelt.text import plural

_MOST_SEED = 10**9


@click.command(
    epilog=examples(
        "toolbelt dataset generate --catalog tools.json --model gpt-4o-mini -o ./mine --limit 5 --dry-run",
        "toolbelt dataset generate -c tools.json -m gpt-4o-mini -o ./mine --tool 'git/*' --max-cost 1",
        "toolbelt dataset generate -c tools.json -m hosted_vllm/qwen3 --api-base http://localhost:8000/v1 -o ./mine",
    )
)
@option("--model", "-m", required=True, metavar="M", help="Who writes: any litellm name, or scripted/FILE.")
@option(
    "--output",
    "-o",
    default="drafts",
    metavar="FOLDER",
    show_default=True,
    help="Gets cases.jsonl and the catalog: a dataset.",
)
@option("--per-tool", type=click.IntRange(0, 50), default=3, metavar="N", show_default=True, help="Tasks for each.")
@option(
    "--paraphrases",
    type=click.IntRange(1, 20),
    default=3,
    metavar="N",
    show_default=True,
    help="Wordings of each task; they share a cluster.",
)
@option(
    "--near-misses",
    type=click.IntRange(0, 20),
    default=1,
    metavar="N",
    show_default=True,
    help="For each tool: queries that sound like it and are for another tool, or for none.",
)
@option(
    "--tool",
    "patterns",
    type=CommaList(),
    multiple=True,
    metavar="PATTERN",
    help="Only these: an id, a name, or a beginning with * ('git/*'); again for more.  [default: all]",
)
@option("--limit", type=click.IntRange(min=1), metavar="N", help="Only N tools, drawn with --seed.")
@option(
    "--language",
    "languages",
    type=CommaList(),
    multiple=True,
    metavar="L",
    help="What users write in, in words (German); again for more: as much in each.  [default: the model's choice]",
)
@option(
    "--seed",
    type=click.IntRange(-_MOST_SEED, _MOST_SEED),
    default=0,
    metavar="N",
    show_default=True,
    help="Of the tools drawn, and the model's own where it takes one.",
)
@option("--temperature", type=FiniteRange(min=0), metavar="X", help="[default: the provider's]")
@asking_options(
    api_base="Where a hosted model is asked.  [default: the provider's]",
    max_concurrency="Tools under way at once.",
    max_cost="Stop before FOLDER has cost more, earlier calls included, but for the answers under way.",
    max_requests="Stop before more was asked for FOLDER, earlier calls included.",
)
@option("--dry-run", is_flag=True, help="Only say how many requests, tokens and dollars it would take.")
@option(
    "--force",
    is_flag=True,
    help="Draft also where cases.jsonl was changed since: what you wrote, reviewed or took out stays so.",
)
@catalog_option
@config_option
@json_option
def generate(**asked: Any) -> int:
    """Have a model draft cases for each tool of a catalog: tasks in several wordings, and near misses.

    Each is marked "draft": true, and no proof before a human has read it: mend it, then take that mark out, or take out
    the line.

    Every answer is kept as it comes, in FOLDER/.toolbelt-drafts. Called again with the same settings, it goes on where
    it was interrupted, capped or failed, and asks nothing twice. Called with other tools or settings, it adds to what
    FOLDER has.

    Exit code 0: all was asked; 3: a cap was reached or requests failed, and what there is was written.
    """
    name, folder = asked["model"], DraftFolder(Path(asked["output"]))
    _refuse_what_cannot_write(name)
    wanted = Wanted(asked["per_tool"], asked["paraphrases"], asked["near_misses"])
    if not wanted.cases:
        raise ToolbeltError("Nothing is asked for: give --per-tool or --near-misses a number above 0.")
    folder.refuse_files()
    workspace = open_workspace(asked["catalog"], asked["config"], read_loadouts_too=False)
    tools = choose_tools(workspace.catalog, asked["patterns"], asked["limit"], asked["seed"])
    if not tools:
        raise ToolbeltError(f"Catalog {workspace.catalog.name!r} has no tools to draft for.")
    jobs = Jobs(workspace.catalog, tools, wanted, asked["languages"])
    sampling = Sampling(asked["temperature"], asked["seed"])
    options = ModelOptions(asked["api_base"], asked["timeout"], workspace.models)
    if asked["dry_run"]:
        found = _estimate(jobs, open_price(name, options), sampling, workspace, folder, asked["api_base"])
        _show_estimate(found, jobs, name, as_json=asked["as_json"])
        return OK
    checker = Checker(workspace.catalog)
    touched = folder.look(checker.names)
    if not asked["force"]:
        _refuse_edited(folder, touched)
        folder.refuse_other_catalog(workspace.catalog)
    model = open_model(name, options)
    if asked["max_cost"] is not None and model.cost_usd(Usage(1, 1)) is None:
        raise ToolbeltError(f"--max-cost cannot be kept: the price of {name} is unknown.")
    with open_journal(folder.memory) as journal:
        folder.put_catalog(workspace.catalog, overwrite=asked["force"])
        return _draft(jobs, model, sampling, journal, folder, workspace, checker, asked)


def _draft(
    jobs: Jobs,
    model: Model,
    sampling: Sampling,
    journal: Journal,
    folder: DraftFolder,
    workspace: Workspace,
    checker: Checker,
    asked: dict[str, Any],
) -> int:
    tell_broken(journal)
    before = journal.requests, journal.cost_usd
    drafter = Drafter(
        jobs,
        checker,
        journal,
        model,
        Budget(asked["max_requests"], asked["max_cost"], journal.requests, journal.cost_usd),
        RetryPolicy(asked["max_retries"]),
        make_counter(find_tokenizer(model.name) or workspace.tokenizer),
        sampling,
        asked["max_concurrency"],
        asked["api_base"],
    )
    finisher = Finisher(jobs, checker, journal, model.name, sampling, asked["api_base"])
    try:
        with progress("drafting tools", len(jobs)) as advance:
            asyncio.run(drafter.work(advance))
    except KeyboardInterrupt:
        made = _finish(finisher, folder, drafter)
        place = f"{plural(made.cases, 'case')} so far in {folder.cases}" if made.cases else "no case so far"
        notify(f"{place}; the same command goes on where it was")
        raise
    made = _finish(finisher, folder, drafter)
    requests = journal.requests - before[0]
    cost = None if model.cost_usd(Usage(1, 1)) is None else journal.cost_usd - before[1]
    if asked["as_json"]:
        settings = {"folder": str(folder.path), "catalog": jobs.catalog.name, "model": model.name}
        spent = {"requests": requests, "cost_usd": cost}
        print_json({**settings, "tools": len(jobs.tools), **drafted_data(made), **spent, "reasons": drafter.reasons})
    else:
        screen = make_screen()
        show_view(drafted_view(made, screen), screen)
    notify(f"{plural(requests, 'request')}, {shown_cost(cost)}")
    tell_drafted(made, folder)
    if drafter.reasons or made.unanswered:
        reason = drafter.reasons[0].rstrip(".") if drafter.reasons else "not all was answered"
        if made.failed.total() > 1:
            reason += f"; failed: {', '.join(f'{how} ({count:,})' for how, count in made.failed.most_common())}"
        left = plural(made.unanswered_tools, "tool")
        notify(f"incomplete: {reason}. The same command goes on with the {left} left", "warning")
        return INFRASTRUCTURE
    return OK


def _finish(finisher: Finisher, folder: DraftFolder, drafter: Drafter) -> Drafted:
    with progress("writing cases", len(finisher.jobs)) as advance:
        return finisher.write(folder, folder.look(finisher.checker.names), advance, drafter.failures)


def _refuse_what_cannot_write(name: str) -> None:
    if name.startswith("local/"):
        raise ToolbeltError(
            f"{name} chooses between tools and writes nothing. Give a model that writes, such as gpt-4o-mini, or "
            "scripted/FILE."
        )


def _refuse_edited(folder: DraftFolder, touched: Touched) -> None:
    if touched.is_untouched:
        return
    changed = f"{plural(touched.kept, 'line')} not drafted here, or changed"
    gone = f", {plural(len(touched.gone), 'draft')} changed or taken out" if touched.gone else ""
    raise ToolbeltError(
        f"{str(folder.cases)!r} was changed since it was drafted ({changed}{gone}). Use --force to draft all the same: "
        "what you wrote, reviewed or took out stays so. Or name another folder."
    )


def _estimate(
    jobs: Jobs, model: Model, sampling: Sampling, workspace: Workspace, folder: DraftFolder, api_base: str | None
) -> DraftEstimate:
    counter = make_counter(find_tokenizer(model.name) or workspace.tokenizer)
    with progress("reading tools", len(jobs)) as advance, read_journal(folder.memory) as journal:
        return estimate_drafting(jobs, model, sampling, counter, journal, advance, api_base)


def _show_estimate(found: DraftEstimate, jobs: Jobs, model: str, *, as_json: bool) -> None:
    if as_json:
        print_json(estimate_data(found, jobs, model))
    else:
        show_view(estimate_view(found, jobs, model))
