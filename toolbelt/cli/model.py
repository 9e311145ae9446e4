"""`toolbelt model`: what is known of models, and which tools fit them."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.model_list:list_models", "Models with their windows, limits and prices."),
        "inspect": ("toolbelt.cli.model_inspect:inspect", "All known facts about a model, with their sources."),
        "fit": ("toolbelt.cli.model_fit:fit", "Which toolset fits which model."),
        "probe": ("toolbelt.evals.cli.probe:probe", "Test what a model's API supports of tool calling."),
        "probes": ("toolbelt.evals.cli.probes:probes", "Results of probes, model by model."),
    },
    epilog=examples("toolbelt model list", "toolbelt model inspect gpt-4o"),
)
def model() -> None:
    """What is known of models: windows, limits, prices; which tools fit them; and what works when they are asked.

    From litellm's table, which is read offline, and from the `models` of toolbelt.yaml, which go before it. Only
    `probe` asks anybody.
    """
