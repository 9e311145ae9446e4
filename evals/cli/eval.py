"""`toolbelt eval`: the same cases over several toolsets and models."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    "eval",
    cls=LazyGroup,
    entries={
        "run": ("toolbelt.evals.cli.run:run", "Ask cases over toolsets and models, and score the answers."),
        "resume": ("toolbelt.evals.cli.run:resume", "Continue a run that was interrupted, capped or failed in part."),
        "merge": ("toolbelt.evals.cli.merge:merge", "Merge shards into one run."),
        "list": ("toolbelt.evals.cli.show:list_runs", "The stored runs."),
        "show": ("toolbelt.evals.cli.show:show", "The results of a run, or one of its cases, request by request."),
        "report": ("toolbelt.evals.cli.export:report", "Table, page, Markdown, CSV and pictures of a run."),
        "compare": ("toolbelt.evals.cli.compare:compare", "Compare two runs, or arms of one run, with intervals."),
        "recommend": ("toolbelt.evals.cli.recommend:recommend", "The recommended toolset of each model of a run."),
        "search": ("toolbelt.evals.cli.search:search", "How well rankers find the right tools: recall, MRR, nDCG."),
        "gate": ("toolbelt.evals.cli.gate:gate", "Pass or fail a run against a baseline and limits, for CI."),
        "baseline": ("toolbelt.evals.cli.baseline:baseline", "Save the results of a run as a file to commit."),
        "export": ("toolbelt.evals.cli.export:export", "A run as JSON, CSV, Parquet, JUnit XML, Markdown or HTML."),
        "responses": ("toolbelt.evals.cli.responses:responses", "Recorded responses: export, show, prune."),
        "schema": ("toolbelt.evals.cli.export:schema", "The JSON Schemas of what the harness writes."),
        "plan": (
            "toolbelt.evals.cli.plan:plan",
            "How many cases a comparison needs, and what they can show.",
        ),
    },
    epilog=examples("toolbelt eval run --dataset assistant --toolset full,loadout,tiered --model local/bm25"),
)
def evaluate() -> None:
    """Run evals: the same cases over full, loadout-filtered and tiered toolsets across models."""
