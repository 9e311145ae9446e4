"""From what a user asks to be probed to everything that needs, refusing what is wrong before anything is spent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolbelt import __version__
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.console.screen import notify
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.addresses import without_secrets
from toolbelt.evals.cli.estimates import shown_cost
from toolbelt.evals.models.opening import OPENERS, ModelOptions, open_price
from toolbelt.evals.probing.checks import ProbePlan, get_check, pick_checks
from toolbelt.evals.probing.costs import ProbeEstimate, estimate_probe
from toolbelt.evals.probing.probe_store import ProbeStore, find_open
from toolbelt.evals.probing.results import ProbeResult, total_cost
from toolbelt.evals.probing.runner import ProbeSettings
from toolbelt.evals.running.limits import ModelLimits
from toolbelt.evals.running.provenance import read_code
from toolbelt.evals.running.retrying import RetryPolicy
from toolbelt.evals.running.store import RunStore
from toolbelt.models.facts import ModelFacts
from toolbelt.models.project_models import ProjectModel
from toolbelt.project.models import open_models, warn_of_unknown_bases
from toolbelt.providers.litellm_routes import check_name
from toolbelt.providers.litellm_table import find_form
from toolbelt.providers.model_facts import find_facts
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, TiktokenCounter, find_tokenizer, make_counter
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import CachedTokenCounter
from toolbelt.text import plural


@dataclass(frozen=True, eq=False)
class Prepared:
    """One model, ready to be probed.

    Attributes:
        wanted: What is to be probed.
        settings: How.
        facts: What is known of the model.
        own: What the project says of it; `None` if nothing.
        unfinished: The probe that is gone on with; `None` for a new one.
        estimate: What is left would take.
    """

    wanted: ProbePlan
    settings: ProbeSettings
    facts: ModelFacts
    own: ProjectModel | None
    unfinished: ProbeResult | None
    estimate: ProbeEstimate

    @property
    def left(self) -> tuple[str, ...]:
        """The checks that are to be made."""
        return _find_left(self.wanted, self.unfinished)


def _find_left(wanted: ProbePlan, unfinished: ProbeResult | None) -> tuple[str, ...]:
    return find_open(() if unfinished is None else unfinished.checks, wanted.planned)


def prepare(asked: dict[str, Any]) -> tuple[ModelOptions, tuple[Prepared, ...]]:
    """How models are asked, and every one that is to be probed, with what it would take; no key is needed for that.

    Args:
        asked: What the command was given.

    Raises:
        ToolbeltError: a model, check, file or tokenizer that is not there.
    """
    for key in asked["required"]:
        get_check(key)
    checks = pick_checks((*asked["checks"], *asked["required"]) if asked["checks"] else ())
    names = tuple(dict.fromkeys(asked["models"]))
    for name in names:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ToolbeltError(f"The name of model {name!r} is not UTF-8.")
        check_name(name)  # before it is said what it would take
    config, table = open_models(asked["config"])
    warn_of_unknown_bases(names, table)
    tokenizer = asked["tokenizer"] or config.tokenizer or DEFAULT_TOKENIZER
    make_counter(tokenizer)  # an unknown name is refused whatever the models
    options = ModelOptions(asked["api_base"], asked["timeout"], table)
    code = {"toolbelt": __version__, **read_code(Path())}
    made = []
    for name in names:
        counter = _counter(name, tokenizer)
        facts = find_facts(name, table)
        api_base = None if name.startswith(tuple(OPENERS)) else without_secrets(asked["api_base"])
        wanted = ProbePlan(name, api_base, tuple(check.key for check in checks), counter.name, code)
        settings = ProbeSettings(
            counter,
            find_form(name),
            ModelLimits(facts.context_window, facts.output_reserve),
            RetryPolicy(asked["max_retries"]),
            max_concurrency=asked["max_concurrency"],
        )
        unfinished = None if asked["fresh"] else _find_unfinished(Path(asked["store"]), wanted)
        left = _find_left(wanted, unfinished)
        estimate = estimate_probe(open_price(name, options), counter, settings.form, settings.room, left)
        made.append(Prepared(wanted, settings, facts, table.find_project_model(name), unfinished, estimate))
    return options, tuple(made)


def _counter(model: str, tokenizer: str) -> TokenCounter:
    counter = make_counter(find_tokenizer(model) or tokenizer)
    return CachedTokenCounter(counter, cache_folder(os.environ)) if isinstance(counter, TiktokenCounter) else counter


def _find_unfinished(path: Path, wanted: ProbePlan) -> ProbeResult | None:
    """The probe that would be gone on with; a store that is not there is not made for that."""
    if not path.exists():
        return None
    with RunStore(path) as store:
        return ProbeStore(store).find_unfinished(wanted)


def tell_estimates(prepared: Sequence[Prepared]) -> None:
    """What is about to be asked and spent, a line a model, before it is."""
    for one in prepared:
        if one.unfinished is not None:
            left = plural(len(one.left), "check")
            notify(f"going on with probe {one.unfinished.probe} of {one.wanted.model}: {left} left")
        notify(f"{one.wanted.model}: {describe_estimate(one.estimate)}", "estimate")
    if len(prepared) > 1:
        notify(f"in all: {describe_estimate(sum_up(prepared))}", "estimate")


def describe_estimate(found: ProbeEstimate) -> str:
    """In words."""
    return (
        f"about {plural(found.requests, 'request')}, {found.prompt_tokens:,} prompt tokens and "
        f"{found.completion_tokens:,} of answers: {shown_cost(found.cost_usd)}"
    )


def sum_up(prepared: Sequence[Prepared]) -> ProbeEstimate:
    """Of all models together."""
    every = [one.estimate for one in prepared]
    costs = [one.cost_usd for one in every]
    return ProbeEstimate(
        sum(one.requests for one in every),
        sum(one.prompt_tokens for one in every),
        sum(one.completion_tokens for one in every),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        sum((Counter(one.by_check) for one in every), Counter()),
    )


def refuse_too_dear(prepared: Sequence[Prepared], max_cost: float | None) -> None:
    """Raise where a cap cannot be kept, or would be reached on the way."""
    if max_cost is None:
        return
    unpriced = [one.wanted.model for one in prepared if one.estimate.cost_usd is None]
    if unpriced:
        raise ToolbeltError(f"--max-cost cannot be kept: the price of {', '.join(unpriced)} is unknown.")
    earlier = sum((total_cost(one.unfinished) or 0.0) for one in prepared if one.unfinished is not None)
    expected = (sum_up(prepared).cost_usd or 0.0) + earlier
    if expected > max_cost:
        raise ToolbeltError(
            f"It would cost about {shown_cost(expected)}, which is more than --max-cost {max_cost:g}. Nothing was "
            "asked; fewer checks cost less: --check."
        )
