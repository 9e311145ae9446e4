"""From a plan to arms that are ready to be played, with what whoever began the run should know of them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.console.screen import notify, progress
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cli.opening import ChosenCases, Materials, choose_cases
from toolbelt.evals.cli.rooms import facts_for_auto
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import OPENERS, ModelOptions, open_model
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.running.budget import Budget
from toolbelt.evals.running.metering import PromptCounter
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.playing import TrialRunner
from toolbelt.evals.running.retrying import Gate, Keep, RetryingClient, RetryPolicy
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.evals.toolsets.context import ToolsetContext
from toolbelt.evals.toolsets.dynamic import Dynamic
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import BY_WINDOW
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.evals.toolsets.variants.disguise import make_presentation
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.evals.toolsets.variants.varied import Varied, vary
from toolbelt.loadouts import Resolution
from toolbelt.loadouts.loadout import AUTO
from toolbelt.providers.chat import TOOL_CHOICES, Sampling
from toolbelt.providers.litellm_table import find_form
from toolbelt.providers.tokenizers import TiktokenCounter, find_tokenizer, make_counter
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import CachedTokenCounter
from toolbelt.text import plural

_LETS_TURNS_END = (None, "auto", "none")
"""Tool choices under which a model may call nothing."""
SAMPLE = 50
"""Cases that an arm is tried on before a run."""
_WRONG = "Where that is wrong, say so under `models` in toolbelt.yaml, or ask all the same with --ask-anyway."
_BY_NAME = "That goes by the model's name, whatever {address} serves under it."
_RESERVED = "What is kept for an answer is --max-tokens."
_KEPT = "That is by what was known when the run began; a new run goes by what is known now."


@dataclass(frozen=True, eq=False)
class PreparedArm:
    """An arm, ready to be played.

    Attributes:
        arm: Which.
        model: Who is asked; shared by the arms of one model.
        toolset: What is shown.
        shelf: The tools as they are shown.
        counter: Counts as the model does, as far as that is known.
        notes: What whoever began the run should know of it, each in a sentence.
    """

    arm: Arm
    model: Model
    toolset: Toolset
    renderer: ToolRenderer
    counter: TokenCounter
    notes: tuple[str, ...] = ()


def prepare_arms(
    materials: Materials,
    plan: Plan,
    options: ModelOptions,
    opener: Callable[[str, ModelOptions], Model] = open_model,
) -> tuple[PreparedArm, ...]:
    """Everything the arms of a plan need.

    Args:
        materials: What there is.
        plan: Whose arms.
        options: How models are asked.
        opener: Opens a model by its name.

    Raises:
        ToolbeltError: a model that is unknown or whose key is missing, a toolset that matches nothing.
    """
    models = {name: opener(name, options) for name in dict.fromkeys(arm.model for arm in plan.arms)}
    renderers = _Renderers(materials.catalog, plan.tokenizer, plan.seed)
    made = tuple(_prepare(materials, plan, arm, models[arm.model], renderers) for arm in plan.arms)
    for note in dict.fromkeys(note for one in made for note in one.notes):  # arms of one toolset have the same
        notify(note)
    _tell_shortfalls(made, choose_cases(materials, plan))
    return made


def _tell_shortfalls(prepared: Sequence[PreparedArm], cases: ChosenCases) -> None:
    """Where an arm is not all that its name says, in a sample of the cases."""
    for one in prepared:
        if not isinstance(one.toolset, Varied):
            continue
        found = one.toolset.find_shortfall(_sample(cases))
        if found.longer:
            notify(
                f"{one.arm.label}: nothing is padded in {found.longer:,} of {plural(found.tried, 'case')} tried, whose "
                "definitions are longer already"
            )
        if found.lacking:
            notify(
                f"{one.arm.label}: fewer distractors are to be had in {found.lacking:,} of "
                f"{plural(found.tried, 'case')} tried, in one only {found.fewest:,}"
            )


def tell_rooms(prepared: Sequence[PreparedArm], plan: Plan, cases: ChosenCases, *, is_new: bool) -> None:
    """Tell which arms will not be asked, by what they offer first in a sample of the cases, and what is doubtful.

    Args:
        prepared: The arms.
        plan: Theirs.
        cases: Of the plan.
        is_new: Whether the run begins now, so that another one may be begun in its place.
    """
    never: dict[str, list[tuple[str, str]]] = {}
    for one in prepared:
        if (fit_guard := plan.fit_guard(one.arm.model)) is None:
            continue
        opened = [
            fit_guard.refusal(one.toolset.offer(case, Conversation(one.renderer.with_wire_names(case.messages))))
            for case in _sample(cases)
        ]
        refused = [reason for reason in opened if reason]
        if len(refused) == len(opened):
            never.setdefault(one.arm.model, []).append((one.arm.shown, refused[0]))
        elif refused:
            tried = f"{len(refused):,} of {plural(len(opened), 'case')} tried"
            notify(f"{one.arm.label}: not asked in {tried}, as it does not fit. In one: {refused[0]}")
    for model, arms in never.items():
        names, (first, reason) = ", ".join(shown for shown, _ in arms), arms[0]
        which = f"Of {first}: " if len(arms) > 1 else ""
        ways_out = _ways_out(plan, model, is_new=is_new)
        notify(f"{model} is not asked with what does not fit: {names}. {which}{reason} {ways_out}")
    for model in dict.fromkeys(one.arm.model for one in prepared):
        if model in plan.rooms and plan.rooms[model].tool_calling is False:
            notify(f"{model} is said to call no tools; it is asked all the same", "warning")


def _ways_out(plan: Plan, model: str, *, is_new: bool) -> str:
    """What can be done where a limit is wrong, and by what it was found."""
    parts = [_RESERVED] if plan.sampling.max_tokens else []
    if not is_new:
        return " ".join((*parts, _KEPT))
    if plan.api_base and not model.startswith(tuple(OPENERS)):  # those are asked nothing at any address
        parts.append(_BY_NAME.format(address=plan.api_base))
    return " ".join((*parts, _WRONG))


def _sample(cases: ChosenCases) -> Iterator[Case]:
    step = max(1, len(cases.indices) // SAMPLE)
    return (cases.case(index) for index in range(0, len(cases.indices), step))


def _prepare(materials: Materials, plan: Plan, arm: Arm, model: Model, renderers: _Renderers) -> PreparedArm:
    used: list[ToolRenderer] = []
    unmet: list[str] = []
    variant = arm.changes

    def renderer(extras: Mapping[str, Tool]) -> ToolRenderer:
        used.append(renderers.get(arm.model, extras, variant))
        return used[-1]

    def resolve_auto() -> Resolution:
        workspace, room = materials.workspace, plan.rooms.get(arm.model)
        # Outside a suite a model that is said to call no tools is asked all the same, whatever the toolset.
        facts = facts_for_auto(workspace, arm.model, room, ask_anyway=plan.ask_anyway or not plan.suite)
        if facts.toolset is not None and (said := workspace.choose([arm.model], facts=facts)[1].unmet_recommendation):
            unmet.append(f"{arm.model} with {BY_WINDOW}: {said}")
        return workspace.resolve(AUTO, [arm.model], facts=facts)

    context = ToolsetContext(
        catalog=materials.catalog,
        registry=materials.workspace.registry,
        renderer=renderer,
        roles=materials.dataset.roles,
        seed=plan.seed,
        resolve_auto=resolve_auto,
        agents=materials.workspace.config.agents,
        toolkits=materials.workspace.config.toolkits,
    )
    made = make_toolset(arm.spec, context)
    notes = _notes(made, plan.sampling) if isinstance(made, Dynamic) else ()
    toolset = vary(made, variant, context, used[-1])
    return PreparedArm(arm, model, toolset, used[-1], renderers.counter(arm.model), (*unmet, *notes))


def _notes(toolset: Dynamic, sampling: Sampling) -> tuple[str, ...]:
    notes = list(toolset.unmatched)
    if toolset.loads and (choice := sampling.tool_choice) not in _LETS_TURNS_END:
        notes.append(f"with tool choice {choice!r} no turn ever ends, so that nothing loaded is shown")
    return tuple(f"{toolset.name}: {note}" for note in notes)


class _Renderers:
    """Shelves by what counts them and what is on them, so that arms share them."""

    def __init__(self, catalog: Catalog, tokenizer: str, seed: int) -> None:
        self._catalog = catalog
        self._tokenizer = tokenizer
        self._seed = seed
        self._made: dict[tuple[str, str, tuple[str, ...], str], ToolRenderer] = {}
        self._counters: dict[str, TokenCounter] = {}

    def counter(self, model: str) -> TokenCounter:
        name = find_tokenizer(model) or self._tokenizer
        if name not in self._counters:
            self._counters[name] = make_counter(name)
            self._counters[name].count(["a"])  # its vocabulary takes a second to load: not in the middle of a run
        return self._counters[name]

    def get(self, model: str, extras: Mapping[str, Tool], variant: Variant) -> ToolRenderer:
        counter, form = self.counter(model), find_form(model)
        look = make_presentation(variant, self._catalog, self._seed)
        key = (counter.name, form, tuple(extras), "" if look is None else look.key)
        if key not in self._made:
            with progress("counting tokens of tools", len(self._catalog.tools)) as advance:
                if isinstance(counter, TiktokenCounter):
                    counter = CachedTokenCounter(counter, cache_folder(os.environ), advance)
                self._made[key] = ToolRenderer(self._catalog, counter, form, extras, look)
        return self._made[key]


def make_players(
    materials: Materials, plan: Plan, prepared: Sequence[PreparedArm], budget: Budget, policy: RetryPolicy, keep: Keep
) -> tuple[TrialRunner, ...]:
    """Players of the arms; those of one model share its gate."""
    scorer = Scorer(ArgumentSchemas(materials.catalog))
    gates: dict[str, Gate] = {}
    prompts: dict[str, PromptCounter] = {}
    players = []
    for one in prepared:
        gate = gates.setdefault(one.arm.model, Gate())
        counted = prompts.setdefault(one.counter.name, PromptCounter(one.counter))
        client = RetryingClient(one.model, budget, policy, keep, gate, random.Random())  # noqa: S311  only spreads the waits
        sampling = _named_as_shown(plan.sampling, one.renderer)
        fit_guard = plan.fit_guard(one.arm.model)
        players.append(
            TrialRunner(one.toolset, one.renderer, client, scorer, counted, sampling, plan.request_limit, fit_guard)
        )
    return tuple(players)


def _named_as_shown(sampling: Sampling, renderer: ToolRenderer) -> Sampling:
    """With the tool that is to be called by the name it is shown under."""
    choice = sampling.tool_choice
    tool_id = None if choice is None or choice in TOOL_CHOICES else renderer.find_id(choice)
    return sampling if tool_id is None else replace(sampling, tool_choice=renderer.offered(tool_id).name)
