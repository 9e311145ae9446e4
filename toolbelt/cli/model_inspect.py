"""`toolbelt model inspect`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from toolbelt.command.completion import complete_models
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.errors import ToolbeltError
from toolbelt.models.facts import ModelFacts, facts_data, prices_data
from toolbelt.models.model_views import facts_view
from toolbelt.project.models import open_models, warn_of_ends, warn_of_unknown_bases
from toolbelt.providers.model_search import get_facts, price_steps
from toolbelt.render.screen import notify, print_json, show_blocks

if TYPE_CHECKING:
    from toolbelt.evals.probing.results import ProbeResult
    from toolbelt.evals.probing.selection import StandingProbe

DEFAULT_STORE = os.path.join(".toolbelt", "runs.db")  # noqa: PTH118  the harness has it, too, and takes long to load
"""Where runs and probes are kept if nobody says otherwise."""


@click.command(
    epilog=examples(f"toolbelt model inspect {EXAMPLE_MODEL}", "toolbelt model inspect ollama/mistral --json")
)
@click.argument("name", shell_complete=complete_models)
@option(
    "--store",
    default=DEFAULT_STORE,
    show_default=True,
    metavar="FILE",
    help="The file that stores probes; it need not exist.",
)
@config_option
@json_option
def inspect(name: str, store: str, config: str | None, as_json: bool) -> None:
    """All that is known of model NAME, fact by fact, with the source: toolbelt.yaml or litellm's table.

    The output reserve is what is kept free for an answer: the least of 4,096 tokens, the longest answer, and a quarter
    of the window, unless toolbelt.yaml sets another.

    The result of its last finished probe (toolbelt model probe) is shown beside the facts, if there is one.
    """
    project_config, table = open_models(config)
    picked = _find_probe(store, name)
    probe = None if picked is None else picked.result
    facts = get_facts(name, table, (*project_config.models, *([] if probe is None else [name])))
    warn_of_unknown_bases([name], table)
    warn_of_ends([facts])
    steps = price_steps(facts, table)
    if as_json:
        dearer = [{"above_tokens": above, **prices_data(prices)} for above, prices in steps]
        print_json({**facts_data(facts), "price_steps": dearer, "probe": _probe_data(probe, facts)})
        return
    if picked is None or probe is None:
        show_blocks(facts_view(facts, steps))
        return
    from toolbelt.evals.probing.learned_facts import seen_beside
    from toolbelt.evals.views.probes import inspected_view

    show_blocks(facts_view(facts, steps, seen_beside(probe, facts)))
    show_blocks(inspected_view(probe, picked.later))


def _find_probe(store: str, name: str) -> StandingProbe | None:
    """The latest probe of a model; a file that cannot be read is only a warning, as the facts were asked for."""
    if not os.path.exists(store):  # noqa: PTH110  the harness is loaded where something is kept, and not before
        return None
    from toolbelt.evals.probing.selection import find_latest

    try:
        return find_latest(store, name)
    except ToolbeltError as error:
        notify(f"no probes are shown: {error}", "warning")
        return None


def _probe_data(probe: ProbeResult | None, facts: ModelFacts) -> dict[str, object] | None:
    if probe is None:
        return None
    from toolbelt.evals.probing.learned_facts import find_news, learned_facts, news_data
    from toolbelt.evals.probing.results import probe_data

    return {**probe_data(probe), "learned": learned_facts(probe), "news": news_data(find_news(probe, facts))}
