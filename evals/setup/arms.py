"""Prepares the arms of a plan: each gets its model, toolset, renderer and trial runner."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.ranking.ranker import Ranker, prepare_texts
from toolbelt.catalog.ranking.spec import RankSpec
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import NotFoundError
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.responses.recorded import ModelResponses
from toolbelt.evals.running.client import Budget, Keep, RetryingClient, RetryPolicy
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.prompt_tokens import PromptCounter
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.evals.setup.inputs import RunInputs
from toolbelt.evals.setup.model_limits import facts_for_auto
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.setup.sendable import choose_search
from toolbelt.evals.toolsets.dynamic import Dynamic
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.search import last_user_text
from toolbelt.evals.toolsets.spec import BY_WINDOW
from toolbelt.evals.toolsets.toolset import Toolset, ToolsetContext
from toolbelt.evals.toolsets.variants.presentation import make_presentation
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.evals.toolsets.variants.varied import vary
from toolbelt.loadouts import Resolution
from toolbelt.loadouts.loadout import AUTO
from toolbelt.loadouts.reason_text import describe_unmet_recommendation
from toolbelt.models.token_rates import AS_COUNTED
from toolbelt.project.rankers import open_project_ranker
from toolbelt.providers.chat import TOOL_CHOICES, Sampling
from toolbelt.providers.hosted_search import SearchMethod
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.tokenizers import TiktokenCounter, find_tokenizer, make_counter
from toolbelt.search.settings import Trigger
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import CachedTokenCounter

if TYPE_CHECKING:
    from toolbelt.providers.embeddings import EmbeddingOptions

_LETS_TURNS_END = (None, "auto", "none")
"""Tool choices under which a model may call nothing."""


@dataclass(frozen=True, eq=False)
class PreparedArm:
    """An arm whose trials can be run.

    Attributes:
        arm: Which.
        model: Who is asked; shared by the arms of one model.
        toolset: What is shown.
        renderer: The tools as they are shown.
        counter: Counts as the model does, as far as that is known.
    """

    arm: Arm
    model: Model
    toolset: Toolset
    renderer: ToolRenderer
    counter: TokenCounter


def prepare_arms(
    inputs: RunInputs,
    plan: Plan,
    options: ModelOptions,
    reporter: EvalReporter,
    opener: Callable[[str, ModelOptions], Model] = open_model,
    open_ranker: Callable[[RankSpec], Ranker] | None = None,
) -> tuple[PreparedArm, ...]:
    """Prepare the arms of a plan.

    Args:
        inputs: What the plan was made from.
        plan: With the arms.
        options: How models are asked.
        reporter: Gets notes and progress.
        opener: Opens a model by its name.
        open_ranker: Opens the ranker of a search; by default, one whose model is asked as all models are.

    Raises:
        ToolbeltError: a model that is unknown or whose key is missing, a toolset that matches nothing.
    """
    open_ranker = cache(open_ranker or partial(_open_ranker, inputs, options))  # arms share its vectors
    models = {name: opener(plan.find_asked(name), options) for name in dict.fromkeys(arm.model for arm in plan.arms)}
    renderers = _Renderers(inputs.catalog, inputs.project.models, plan, reporter)
    notes: dict[RunNote, None] = {}  # arms of one toolset have the same
    arms = []
    for arm in plan.arms:
        prepared, arm_notes = _prepare(inputs, plan, arm, models[arm.model], renderers, open_ranker, options)
        arms.append(prepared)
        notes |= dict.fromkeys(arm_notes)
    for note in notes:
        reporter.note(note)
    return tuple(arms)


def _open_ranker(inputs: RunInputs, options: ModelOptions, spec: RankSpec) -> Ranker:
    if not spec.asks_model:
        return open_project_ranker(inputs.project, spec)
    return open_project_ranker(inputs.project, spec, embedding_options(options))


def embedding_options(options: ModelOptions) -> EmbeddingOptions:
    """How a model that makes vectors is asked: as all models are."""
    from toolbelt.providers.embeddings import EmbeddingOptions  # aiohttp, which most runs do without

    return EmbeddingOptions(
        *(options.api_base, options.timeout_seconds, options.table, options.transport, options.is_offline)
    )


def list_counting(plan: Plan, arms: Iterable[PreparedArm]) -> list[str]:
    """What gives the tokens of definitions of each arm: figures with the same description can be compared."""
    counted = ((plan.token_rates.get(arm.arm.model, AS_COUNTED), arm.renderer.tokenizer) for arm in arms)
    return [tokenizer if rate.is_plain else str(rate) for rate, tokenizer in counted]


def refuse_unknown_choice(arms: Sequence[PreparedArm], choice: str | None) -> None:
    """Raise `NotFoundError` if the tool that a model is to call is shown by none of the arms' renderers."""
    if choice is None or choice in TOOL_CHOICES:
        return
    for arm in arms:
        if choice not in arm.renderer.names and arm.renderer.find_id(choice) is None:
            raise NotFoundError("tool choice", choice, (*TOOL_CHOICES, *arm.renderer.names))


def _prepare(
    inputs: RunInputs,
    plan: Plan,
    arm: Arm,
    model: Model,
    renderers: _Renderers,
    open_ranker: Callable[[RankSpec], Ranker],
    options: ModelOptions,
) -> tuple[PreparedArm, list[RunNote]]:
    used: list[ToolRenderer] = []
    notes: list[RunNote] = []
    variant = arm.changes

    def renderer(extras: Mapping[str, Tool]) -> ToolRenderer:
        used.append(renderers.get(arm.model, extras, variant))
        return used[-1]

    def resolve_auto() -> Resolution:
        project, limits = inputs.project, plan.limits.get(arm.model)
        # Outside a suite a model that is said to call no tools is asked all the same, whatever the toolset.
        facts = facts_for_auto(project, arm.model, limits, ask_anyway=plan.ask_anyway or not plan.suite)
        choice = None if facts.toolset is None else project.choose([arm.model], facts=facts)[1]
        if choice is not None and (unmet := describe_unmet_recommendation(choice)):
            notes.append(RunNote(NoteKind.UNMET, f"{arm.model} with {BY_WINDOW}: {unmet}", (arm.model, str(BY_WINDOW))))
        return project.resolve(AUTO, [arm.model], facts=facts)

    def choose(method: str) -> SearchMethod:
        return choose_search(inputs.project.facts(arm.model), options, method, ask_anyway=plan.ask_anyway)

    context = ToolsetContext(
        catalog=inputs.catalog,
        registry=inputs.project.registry,
        renderer=renderer,
        roles=inputs.dataset.roles,
        seed=plan.seed,
        resolve_auto=resolve_auto,
        agents=inputs.project.config.agents,
        toolkits=inputs.project.config.toolkits,
        searches=inputs.project.config.searches,
        open_ranker=open_ranker,
        choose_search=choose,
    )
    toolset = make_toolset(arm.spec, context)
    if (settings := arm.spec.search) is not None and settings.trigger is Trigger.REQUEST and not options.is_offline:
        cases = inputs.cases_of(plan)
        queries = (last_user_text(cases.case(position).messages) for position in chain.from_iterable(cases.rounds))
        prepare_texts(open_ranker(settings.rank), queries)
    if isinstance(toolset, Dynamic):
        notes.extend(_dynamic_notes(toolset, plan.sampling))
    varied = vary(toolset, variant, context, used[-1])
    return PreparedArm(arm, model, varied, used[-1], renderers.counter(arm.model)), notes


def _dynamic_notes(toolset: Dynamic, sampling: Sampling) -> Iterator[RunNote]:
    for text in toolset.unmatched:
        yield RunNote(NoteKind.UNMATCHED, f"{toolset.name}: {text}", (toolset.name,))
    if toolset.loads and (choice := sampling.tool_choice) not in _LETS_TURNS_END:
        text = f"{toolset.name}: with tool choice {choice!r} no turn ever ends, so that nothing loaded is shown"
        yield RunNote(NoteKind.NO_TURN_ENDS, text, (toolset.name,))


class _Renderers:
    """Renderers by tokenizer and variant, so that arms share them."""

    def __init__(self, catalog: Catalog, models: ModelTable, plan: Plan, reporter: EvalReporter) -> None:
        self._catalog = catalog
        self._models = models
        self._plan = plan
        self._reporter = reporter
        self._renderers: dict[tuple[str, str, tuple[tuple[str, Tool], ...], str], ToolRenderer] = {}
        self._counters: dict[str, TokenCounter] = {}

    def counter(self, model: str) -> TokenCounter:
        name = find_tokenizer(model, self._models) or self._plan.tokenizer
        if name not in self._counters:
            self._counters[name] = make_counter(name)
            self._counters[name].count(["a"])  # its vocabulary takes a second to load: not in the middle of a run
        return self._counters[name]

    def get(self, model: str, extras: Mapping[str, Tool], variant: Variant) -> ToolRenderer:
        counter = self.counter(model)
        form = self._plan.token_rates.get(model, AS_COUNTED).form or self._models.find_form(model)
        presentation = make_presentation(variant, self._catalog, self._plan.seed)
        key = (counter.name, form, tuple(extras.items()), "" if presentation is None else presentation.key)
        if key not in self._renderers:
            with self._reporter.progress("counting tokens of tools", len(self._catalog.tools)) as advance:
                if isinstance(counter, TiktokenCounter):
                    counter = CachedTokenCounter(counter, cache_folder(os.environ), advance)
                self._renderers[key] = ToolRenderer(self._catalog, counter, form, extras, presentation)
        return self._renderers[key]


def make_trial_runners(
    inputs: RunInputs,
    plan: Plan,
    arms: Sequence[PreparedArm],
    budget: Budget,
    policy: RetryPolicy,
    keep: Keep,
    responses: Mapping[str, ModelResponses] = MappingProxyType({}),
    paces: Mapping[str, Pace] | None = None,
) -> tuple[TrialRunner, ...]:
    """One trial runner for each arm; those of one model share its pace.

    Args:
        inputs: What the plan was made from.
        plan: Theirs.
        arms: Prepared.
        budget: Over all models.
        policy: How failures are met.
        keep: Makes an attempt durable.
        responses: By model, recorded ones that are used in place of asking, and where new ones are stored.
        paces: How fast each model is asked, by name; `None` for as fast as trials come.
    """
    scorer = Scorer(ArgumentSchemas(inputs.catalog))
    paces = paces or {arm.arm.model: Pace(arm.arm.model) for arm in arms}
    prompts: dict[str, PromptCounter] = {}
    runners = []
    for arm in arms:
        model = arm.arm.model
        counter = prompts.setdefault(arm.counter.name, PromptCounter(arm.counter))
        chance = random.Random()  # noqa: S311  only spreads the waits
        limits = plan.limits.get(model)
        client = RetryingClient(
            *(arm.model, budget, policy, keep, paces[model], chance),
            responses=responses.get(model),
            window=None if limits is None else limits.context_window,
        )
        runners.append(
            TrialRunner(
                *(arm.toolset, arm.renderer, client, scorer, counter, plan.sampling_of(arm.arm), plan.request_limit),
                plan.fit_guard(model),
                rate=plan.token_rates.get(model, AS_COUNTED),
                system=plan.system_of(arm.arm),
                in_threads=(search := arm.arm.spec.search) is not None and search.rank.asks_model,
            )
        )
    return tuple(runners)
