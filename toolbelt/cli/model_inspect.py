"""`toolbelt model inspect`."""

from __future__ import annotations

import click

from toolbelt.cli.groups import examples
from toolbelt.cli.model_opening import open_models, tell_unknown_bases
from toolbelt.cli.options import config_option, json_option
from toolbelt.console.model_views import facts_view
from toolbelt.console.screen import print_json, show_view
from toolbelt.gateway.choosing import get_facts, price_steps
from toolbelt.models.facts import facts_data, prices_data


@click.command(epilog=examples("toolbelt model inspect gpt-4o", "toolbelt model inspect ollama/llama3 --json"))
@click.argument("name")
@config_option
@json_option
def inspect(name: str, config: str | None, as_json: bool) -> None:
    """All that is known of model NAME, fact by fact, and who says so: toolbelt.yaml or litellm's table.

    The output reserve is what is kept free for an answer: the least of 4,096 tokens, the longest answer, and a quarter
    of the window, unless toolbelt.yaml says otherwise.
    """
    found, table = open_models(config)
    facts = get_facts(name, table, found.models)
    tell_unknown_bases([name], table)
    steps = price_steps(facts, table)
    if as_json:
        dearer = [{"above_tokens": above, **prices_data(prices)} for above, prices in steps]
        print_json({**facts_data(facts), "price_steps": dearer})
    else:
        show_view(facts_view(facts, steps))
