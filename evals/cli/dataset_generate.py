"""`toolbelt dataset generate`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.evals.cli.dataset_generate_views import show_estimate, show_result
from toolbelt.evals.cli.options import CommaList, FiniteRange, asking_options, effort_option
from toolbelt.evals.drafts.generate import DraftSession, DraftSettings
from toolbelt.evals.drafts.jobs import DraftQuota
from toolbelt.evals.setup.asking import AskingOptions
from toolbelt.evals.setup.sendable import refuse_by_facts
from toolbelt.providers.chat import Sampling
from toolbelt.providers.model_facts import find_facts
from toolbelt.render.screen import ConsoleReporter

_MOST_SEED = 10**9


@click.command(
    epilog=examples(
        f"toolbelt dataset generate --catalog tools.json --model {EXAMPLE_MODEL} -o ./mine --limit 5 --dry-run",
        f"toolbelt dataset generate -c tools.json -m {EXAMPLE_MODEL} -o ./mine --tool 'git/*' --max-cost 1",
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
@effort_option
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
@source_options
def generate(
    model: str,
    output: str,
    per_tool: int,
    paraphrases: int,
    near_misses: int,
    patterns: tuple[str, ...],
    limit: int | None,
    languages: tuple[str, ...],
    seed: int,
    effort: str | None,
    temperature: float | None,
    asking: AskingOptions,
    dry_run: bool,
    force: bool,
    options: ProjectOptions,
    as_json: bool,
) -> int:
    """Have a model draft cases for each tool of a catalog: tasks in several wordings, and near misses.

    Each is marked "draft": true, and proves nothing before a human has read it: correct it, then remove that mark, or
    remove the line.

    Every answer is kept as it comes, in FOLDER/.toolbelt-drafts. Called again with the same settings, it goes on where
    it was interrupted, capped or failed, and asks nothing twice. Called with other tools or settings, it adds to what
    FOLDER has.

    Exit code 0: all was asked; 3: a cap was reached or requests failed, and what there is was written.
    """
    settings = DraftSettings(
        model,
        Path(output),
        DraftQuota(per_tool, paraphrases, near_misses),
        patterns=patterns,
        limit=limit,
        languages=languages,
        seed=seed,
        temperature=temperature,
        effort=effort,
        asking=asking,
        overwrite=force,
    )
    project = options.open(read_loadouts_too=False)
    refuse_by_facts([(find_facts(model, project.models), Sampling(temperature, effort=effort))])
    session = DraftSession(settings, project.catalog, project.models, project.tokenizer, ConsoleReporter())
    if dry_run:
        show_estimate(session.estimate(), session.jobs, model, as_json=as_json)
        return OK
    result = session.run()
    show_result(result, session, as_json=as_json)
    return OK if result.is_complete else INFRASTRUCTURE
