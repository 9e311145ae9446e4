"""Prepares probes and estimates them. Mistakes are refused before anything is spent."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolbelt import __version__
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.estimates import format_estimate
from toolbelt.evals.models.opening import OPENERS, ModelOptions, open_price
from toolbelt.evals.probing.checks import ProbePlan, get_check, pick_checks
from toolbelt.evals.probing.costs import ProbeEstimate, estimate_probe
from toolbelt.evals.probing.probe_store import ProbeStore, find_open_checks
from toolbelt.evals.probing.results import ProbeResult, total_cost
from toolbelt.evals.probing.runner import ProbeSettings
from toolbelt.evals.running.client import RetryPolicy
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.asking import AskingOptions
from toolbelt.evals.setup.provenance import read_code
from toolbelt.evals.setup.sendable import refuse_by_facts
from toolbelt.models.facts import ModelFacts
from toolbelt.models.project_models import ProjectModel
from toolbelt.project.models import open_models, warn_of_unknown_bases
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import check_name, without_secrets
from toolbelt.providers.model_facts import find_facts
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, TiktokenCounter, find_tokenizer, make_counter
from toolbelt.render.screen import notify
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import CachedTokenCounter
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table


@dataclass(frozen=True)
class ProbeOptions:
    """The options of `toolbelt model probe`.

    Attributes:
        models: Names of models.
        checks: Keys of checks; none for all.
        required: Keys of checks that must work.
        asking: How models are asked; its caps are those of all models together.
        max_tokens: The longest answer; 0 leaves it to the provider.
        effort: How much models reason; `None` leaves it to the provider.
        fresh: Whether an unfinished probe is left alone, and a new one begun.
        store: File of the run store.
        config: The `toolbelt.yaml`; `None` for the one that is found.
        tokenizer: For models whose own tokenizer is unknown; `None` for the project's.
        as_json: Whether one JSON document is printed.
    """

    models: tuple[str, ...]
    checks: tuple[str, ...]
    required: tuple[str, ...]
    asking: AskingOptions
    max_tokens: int
    effort: str | None
    fresh: bool
    store: str
    config: str | None
    tokenizer: str | None
    as_json: bool


@dataclass(frozen=True, eq=False)
class PreparedProbe:
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
    return find_open_checks(() if unfinished is None else unfinished.checks, wanted.planned)


def prepare_probes(options: ProbeOptions) -> tuple[ModelOptions, tuple[PreparedProbe, ...]]:
    """How models are asked, and each probe with its estimate; no key is needed for that.

    Raises:
        ToolbeltError: a model, check, file or tokenizer that is not there.
    """
    for key in options.required:
        get_check(key)
    checks = pick_checks((*options.checks, *options.required) if options.checks else ())
    config, table = open_models(options.config)
    names = tuple(dict.fromkeys(map(table.find_asked, options.models)))
    for name in names:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ToolbeltError(f"The name of model {name!r} is not UTF-8.")
        check_name(name)  # before it is said what it would take
    warn_of_unknown_bases(names, table)
    tokenizer = options.tokenizer or config.tokenizer or DEFAULT_TOKENIZER
    make_counter(tokenizer)  # an unknown name is refused whatever the models
    model_options = options.asking.model_options(table)
    code = {"toolbelt": __version__, **read_code(Path())}
    code |= {} if options.effort is None else {"effort": options.effort}
    refuse_by_facts((find_facts(name, table), Sampling(effort=options.effort)) for name in names)
    prepared = []
    for name in names:
        counter = _counter(name, tokenizer)
        facts = find_facts(name, table)
        api_base = None if name.startswith(tuple(OPENERS)) else without_secrets(options.asking.api_base)
        wanted = ProbePlan(name, api_base, tuple(check.key for check in checks), counter.name, code)
        settings = ProbeSettings(
            counter,
            table.find_form(name),
            ModelLimits(facts.context_window, facts.output_reserve),
            RetryPolicy(options.asking.max_retries),
            max_concurrency=options.asking.max_concurrency,
            max_tokens=options.max_tokens or None,
            effort=options.effort,
        )
        unfinished = None if options.fresh else _find_unfinished(Path(options.store), wanted)
        left = _find_left(wanted, unfinished)
        estimate = estimate_probe(open_price(name, model_options), counter, settings.form, settings.limits, left)
        prepared.append(PreparedProbe(wanted, settings, facts, table.find_project_model(name), unfinished, estimate))
    return model_options, tuple(prepared)


def _counter(model: str, tokenizer: str) -> TokenCounter:
    counter = make_counter(find_tokenizer(model) or tokenizer)
    return CachedTokenCounter(counter, cache_folder(os.environ)) if isinstance(counter, TiktokenCounter) else counter


def _find_unfinished(path: Path, wanted: ProbePlan) -> ProbeResult | None:
    """The probe that would be gone on with; a store that is not there is not made for that."""
    if not path.exists():
        return None
    with RunStore(path) as store:
        return ProbeStore(store).find_unfinished(wanted)


def notify_estimates(prepared: Sequence[PreparedProbe]) -> None:
    """Show what is about to be asked and spent, a line a model."""
    for probe in prepared:
        if probe.unfinished is not None:
            left = plural(len(probe.left), "check")
            notify(f"going on with probe {probe.unfinished.probe} of {probe.wanted.model}: {left} left")
        notify(f"{probe.wanted.model}: {describe_estimate(probe.estimate)}", "estimate")
    if len(prepared) > 1:
        notify(f"in all: {describe_estimate(sum_up(prepared))}", "estimate")


def describe_estimate(estimate: ProbeEstimate) -> str:
    """In words."""
    return (
        f"about {plural(estimate.requests, 'request')}, {estimate.prompt_tokens:,} prompt tokens and "
        f"{estimate.completion_tokens:,} of answers: {format_estimate(estimate.cost_usd)}"
    )


def sum_up(prepared: Sequence[PreparedProbe]) -> ProbeEstimate:
    """Of all models together."""
    every = [probe.estimate for probe in prepared]
    costs = [estimate.cost_usd for estimate in every]
    return ProbeEstimate(
        sum(estimate.requests for estimate in every),
        sum(estimate.prompt_tokens for estimate in every),
        sum(estimate.completion_tokens for estimate in every),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        sum((Counter(estimate.by_check) for estimate in every), Counter()),
    )


def check_cost_cap(prepared: Sequence[PreparedProbe], max_cost: float | None) -> None:
    """Raise `ToolbeltError` if a cap cannot be kept, or would be reached on the way."""
    if max_cost is None:
        return
    unpriced = [probe.wanted.model for probe in prepared if probe.estimate.cost_usd is None]
    if unpriced:
        raise ToolbeltError(f"--max-cost cannot be kept: the price of {', '.join(unpriced)} is unknown.")
    earlier = sum((total_cost(probe.unfinished) or 0.0) for probe in prepared if probe.unfinished is not None)
    expected = (sum_up(prepared).cost_usd or 0.0) + earlier
    if expected > max_cost:
        raise ToolbeltError(
            f"It would cost about {format_estimate(expected)}, which is more than --max-cost {max_cost:g}. Nothing was "
            "asked; fewer checks cost less: --check."
        )


_FEW = 4
"""Checks of which it goes without saying that three take most."""


def estimates_data(prepared: Sequence[PreparedProbe]) -> dict[str, Any]:
    """Plain values, for JSON; a cost is `null` where a price is unknown."""
    total = sum_up(prepared)
    return {
        "dry_run": True,
        "requests": total.requests,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "cost_usd": total.cost_usd,
        "models": [
            {
                "model": probe.wanted.model,
                "api_base": probe.wanted.api_base,
                "goes_on_with": None if probe.unfinished is None else probe.unfinished.probe,
                "checks": list(probe.left),
                "requests": probe.estimate.requests,
                "prompt_tokens": probe.estimate.prompt_tokens,
                "prompt_tokens_by_check": dict(probe.estimate.by_check),
                "completion_tokens": probe.estimate.completion_tokens,
                "cost_usd": probe.estimate.cost_usd,
            }
            for probe in prepared
        ],
    }


def estimates_view(prepared: Sequence[PreparedProbe]) -> tuple[Block, ...]:
    """A line a model, and a total below."""
    columns = ("checks", "requests", "prompt tokens", "answer tokens", "cost")
    rows = (
        Row(
            probe.wanted.model,
            (
                Count(len(probe.left)),
                Count(probe.estimate.requests),
                Tokens(probe.estimate.prompt_tokens),
                Tokens(probe.estimate.completion_tokens),
                Span(format_estimate(probe.estimate.cost_usd)),
            ),
        )
        for probe in prepared
    )
    how = "From what would be sent, with short answers; a model that thinks first takes more. Nothing was asked."
    whole = sum_up(prepared)
    total, largest = describe_estimate(whole), _describe_largest(whole)
    return (
        Table("model", tuple(map(Column, columns)), tuple(rows)),
        Note(f"{total[0].upper()}{total[1:]}", Tone.STRONG),
        *([Note(largest, Tone.FAINT)] if largest else []),
        Note(how, Tone.FAINT),
    )


def _describe_largest(whole: ProbeEstimate) -> str:
    """Which three checks take most of the tokens; empty if no three do, or there are few."""
    largest = sorted(whole.by_check, key=lambda key: -whole.by_check[key])[:3]
    tokens = sum(whole.by_check[key] for key in largest)
    if len(whole.by_check) <= _FEW or tokens * 2 <= whole.prompt_tokens:
        return ""
    return (
        f"{', '.join(largest)} take {tokens:,} of the prompt tokens; to leave them out, name the others with --check."
    )
