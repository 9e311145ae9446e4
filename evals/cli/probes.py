"""`toolbelt model probes`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolbelt.command.completion import complete_models
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import config_option, json_option
from toolbelt.errors import NotFoundError, nearest
from toolbelt.evals.cli.options import store_option
from toolbelt.evals.probing.checks import CHECK_BY_KEY, MAX_TOKENS, ProbePlan
from toolbelt.evals.probing.learned_facts import find_news, make_entry
from toolbelt.evals.probing.probe_store import NOTHING_PROBED, ProbeStore
from toolbelt.evals.probing.results import ProbeResult, probe_data
from toolbelt.evals.probing.selection import find_later, find_standing, latest_of_each
from toolbelt.evals.running.run_names import is_run_name
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.views.probe_news import news_view
from toolbelt.evals.views.probes import later_line, list_view, probe_view, probes_view
from toolbelt.models.facts import ModelFacts
from toolbelt.models.project_models import ProjectModel
from toolbelt.project.models import open_models
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Note

if TYPE_CHECKING:
    from toolbelt.evals.cli.probe_preparing import ProbeOptions

_CUT_SHORT = ("incomplete", "interrupted", "killed")
"""Of a probe that the same command goes on with."""


@click.command(epilog=examples("toolbelt model probes", f"toolbelt model probes {EXAMPLE_MODEL} --json"))
@click.argument("model", metavar="[MODEL]", required=False, shell_complete=complete_models)
@store_option
@config_option
@json_option
def probes(model: str | None, store: str, config: str | None, as_json: bool) -> None:
    """The stored probes: one of each model, side by side.

    With MODEL, or the id of a probe: that one in full, what it showed that is not known of the model, as an entry for
    toolbelt.yaml, and a list of the model's others. Of several of a model the latest finished one of all checks stands
    for it, else the one that says most.
    """
    every: list[ProbeResult] = []
    named: list[ProbeResult] = []
    if store != str(DEFAULT_FILE) or DEFAULT_FILE.exists():
        with RunStore(Path(store), must_exist=True, hint=NOTHING_PROBED) as opened:
            probe_store = ProbeStore(opened)
            every = probe_store.probes()
            named = [probe for probe in every if probe.model == model]
            if (picked := find_standing(named)) is not None:
                named = [picked, *(probe for probe in named if probe is not picked)]
            if model is not None and not named and is_run_name(model):
                named = [probe_store.get(model)]
    if model is None:
        _show_all(latest_of_each(every), as_json=as_json)
    elif named:
        _show_one(named, every, config, as_json=as_json)
    else:
        raise _not_probed(model, tuple(dict.fromkeys(probe.model for probe in every)))


def _not_probed(model: str, known: Sequence[str]) -> NotFoundError:
    hint = f"It can be probed: toolbelt model probe --model {shlex.quote(model)}"
    # Names are long by their providers, so that one without is near to none of them.
    parts = {part: name for name in reversed(known) for part in (name.rpartition("/")[2], name.partition("/")[2])}
    near = dict.fromkeys((*nearest(model, known), *(parts[part] for part in nearest(model, parts))))
    if not near:
        return NotFoundError("probed model", model, known, hint)
    question = f"Did you mean {' or '.join(repr(name) for name in list(near)[:3])}?"
    return NotFoundError("probed model", model, (), f"{question} {hint}")


def _show_all(latest: Sequence[ProbeResult], *, as_json: bool) -> None:
    if as_json:
        print_json({"probes": [probe_data(probe) for probe in latest]})
        return
    if not latest:
        notify(f"nothing has been probed here yet; try: toolbelt model probe --model {EXAMPLE_MODEL} --dry-run")
        return
    show_blocks(probes_view(latest))
    if len(latest) == 1:
        notify(f"all that was seen: toolbelt model probes {latest[0].model}")


def _show_one(named: Sequence[ProbeResult], every: Sequence[ProbeResult], config: str | None, *, as_json: bool) -> None:
    """The first of those named in full, the model's others in a line each."""
    if as_json:
        print_json({"probes": [probe_data(probe) for probe in named]})
        return
    first = named[0]
    show_blocks(probe_view(named[:1]))
    _show_news(first, config)
    if first.status in _CUT_SHORT:
        notify(f"it goes on where it was with: {resume_command([first])}")
    if (later := find_later(first, every)) is not None:
        notify(later_line(later))
        if later.status in _CUT_SHORT:
            notify(f"that one goes on where it was with: {resume_command([later])}")
    if others := [probe for probe in every if probe.model == first.model and probe.probe != first.probe]:
        show_blocks([Note(""), *list_view(others)])
        notify(f"{plural(len(others), 'other probe')} of it: toolbelt model probes ID shows one")


def _show_news(result: ProbeResult, config: str | None) -> None:
    """What it showed that is not known of the model now."""
    from toolbelt.providers.model_facts import find_facts

    _, table = open_models(config)
    show_news(result, find_facts(result.model, table), table.find_project_model(result.model))


def show_news(result: ProbeResult, facts: ModelFacts, own: ProjectModel | None) -> None:
    """What a probe showed that is not known of its model, and what to write down of it; nothing where that is nothing.

    Args:
        result: The probe.
        facts: What is known of the model.
        own: What the project says of it; `None` if nothing.
    """
    if news := find_news(result, facts):
        show_blocks(news_view(result.model, news, make_entry(result.model, news, own), replaces=own is not None))


def resume_command(probes: Sequence[ProbePlan | ProbeResult], options: ProbeOptions | None = None) -> str:
    """The command that goes on with probes of the same checks at the same place.

    Args:
        probes: One a model; at least one.
        options: Of the command in hand: where its files are, and the checks that must work.
    """
    words = ["toolbelt", "model", "probe"]
    words += [word for probe in probes for word in ("--model", probe.model)]
    if set(probes[0].planned) != set(CHECK_BY_KEY):
        words += ["--check", ",".join(probes[0].planned)]
    places = {probe.api_base for probe in probes if probe.api_base}
    words += [word for place in places for word in ("--api-base", place)]
    if options is not None and options.required:
        words += ["--require", ",".join(options.required)]
    if options is not None and options.max_tokens != MAX_TOKENS:
        words += ["--max-tokens", str(options.max_tokens)]
    for name in ("store", "config", "tokenizer"):
        value = None if options is None else getattr(options, name)
        if value and value != str(DEFAULT_FILE):
            words += [f"--{name}", value]
    return shlex.join(words)
