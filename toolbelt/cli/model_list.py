"""`toolbelt model list`."""

from __future__ import annotations

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.models.facts import facts_data
from toolbelt.models.model_views import models_view
from toolbelt.project.models import open_models, warn_of_ends, warn_of_unknown_bases
from toolbelt.providers.model_search import ModelFilter, count_models, search_models
from toolbelt.render.screen import notify, print_json, show_blocks


@click.command(
    "list",
    epilog=examples(
        "toolbelt model list",
        "toolbelt model list claude --tool-calling",
        "toolbelt model list 'gemini/*' --min-window 500000 --json",
        "toolbelt model list --provider ollama",
    ),
)
@click.argument("pattern", required=False)
@option("--provider", "-p", metavar="P", help="Only what is asked through P's API: openai, bedrock, ollama, ...")
@option("--tool-calling", is_flag=True, help="Only models that are known to call tools.")
@option("--min-window", metavar="N", type=click.IntRange(min=1), help="Only known windows of at least N tokens.")
@option("--all", "everything", is_flag=True, help="Every model there is, not only the project's and the current ones.")
@config_option
@json_option
def list_models(
    pattern: str | None,
    provider: str | None,
    tool_calling: bool,
    min_window: int | None,
    everything: bool,
    config: str | None,
    as_json: bool,
) -> None:
    """Context window, longest answer, tokens reserved for it, tool calling, caching and prices of models.

    Prices are USD for a million tokens.

    Without PATTERN or --provider: the models of toolbelt.yaml, then the newest of each family of the large vendors, as
    far as litellm's table says that they are not switched off within 90 days. PATTERN is a part of a name; if there is
    a * in it, which matches anything, it is the whole name. `unknown` is what neither toolbelt.yaml nor litellm's table
    says: it is not no.
    """
    project_config, table = open_models(config)
    model_filter = ModelFilter(pattern, provider, tool_calling, min_window, everything)
    warn_of_unknown_bases([own.name for own in project_config.own_models], table)
    chosen = search_models(model_filter, project_config.models, table)
    if as_json:
        print_json({"models": [facts_data(facts) for facts in chosen], "known": count_models(table)})
        return
    warn_of_ends(facts for facts in chosen if facts.name in project_config.models)
    if chosen:
        show_blocks(models_view(chosen))
    else:
        notify("no model is left that is known to be so; what is unknown was left out.")
    if not model_filter.is_wide:
        notify(f"{count_models(table):,} models are known: toolbelt model list --all, or PATTERN, or --provider")
