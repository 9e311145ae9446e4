"""`toolbelt eval`: the same cases over several toolsets and models."""

from __future__ import annotations

import click

from toolbelt.cli.groups import LazyGroup, examples


@click.group(
    "eval",
    cls=LazyGroup,
    entries={
        "run": ("toolbelt.evals.cli.run:run", "Ask cases over toolsets and models, and score the answers."),
        "resume": ("toolbelt.evals.cli.run:resume", "Go on with a run that was interrupted, capped or failed in part."),
        "list": ("toolbelt.evals.cli.show:list_runs", "The runs there are."),
        "show": ("toolbelt.evals.cli.show:show", "What a run came to; or one of its cases, request by request."),
        "report": ("toolbelt.evals.cli.show:report", "Table, Markdown, CSV and pictures of a run."),
        "plan": ("toolbelt.evals.cli.planning:plan", "How many cases a comparison takes, and what so many show."),
    },
    epilog=examples("toolbelt eval run --dataset assistant --toolset full,loadout,tiered --model local/bm25"),
)
def evaluate() -> None:
    """Prove it: the same cases over full, loadout-filtered and tiered toolsets across models."""
