"""`toolbelt model`: what is known of models, and which tools fit them."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.cli.model_list:list_models", "Models with their windows, limits and prices."),
        "inspect": ("toolbelt.cli.model_inspect:inspect", "All that is known of one model, and where it is from."),
        "fit": ("toolbelt.cli.model_fit:fit", "Which toolset fits which model."),
        "probe": ("toolbelt.evals.cli.probe:probe", "Ask a model's API what of tool calling works there."),
        "probes": ("toolbelt.evals.cli.probes:probes", "What probes have shown, model by model."),
    },
    epilog=examples("toolbelt model list", "toolbelt model inspect gpt-4o"),
)
def model() -> None:
    """What is known of models: windows, limits, prices; which tools fit them; and what works when they are asked.

    From litellm's table, which is read offline, and from the `models` of toolbelt.yaml, which go before it. Only
    `probe` asks anybody.
    """
