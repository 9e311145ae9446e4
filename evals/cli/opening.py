"""From what a user asks for to everything a run needs, refusing what is wrong before anything is spent."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from toolbelt import __version__
from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import definition_text, openai_definition
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.cli.workspace import Workspace
from toolbelt.console.screen import progress, tell
from toolbelt.console.text import plural
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.dataset_opening import open_with_project
from toolbelt.evals.models.model import TOOL_CHOICES, Model, Sampling
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Shelf
from toolbelt.evals.running.asking import Asker, Gate, Keep, RetryPolicy
from toolbelt.evals.running.budget import Budget
from toolbelt.evals.running.metering import PromptCounter
from toolbelt.evals.running.plan import Arm, CaseFilter, Plan
from toolbelt.evals.running.playing import ArmPlayer
from toolbelt.evals.running.provenance import read_code
from toolbelt.evals.scoring.schemas import ArgumentSchemas
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.evals.toolsets.agents import describe_agents
from toolbelt.evals.toolsets.dynamic import Dynamic
from toolbelt.evals.toolsets.ground import Ground
from toolbelt.evals.toolsets.opening import expand_toolsets, make_toolset
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.evals.variants.disguise import make_look
from toolbelt.evals.variants.variant import Variant, expand_variants, parse_variant
from toolbelt.evals.variants.varied import Varied, vary
from toolbelt.gateway.models import find_form
from toolbelt.gateway.tokenizers import TiktokenCounter, find_tokenizer, make_counter
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.loadouts.loadout import AUTO
from toolbelt.stores.files import cache_folder
from toolbelt.stores.token_cache import CachedTokenCounter

ROLES = "loadout"
"""The toolset that goes by the role of each case."""
BY_AGENT = "dynamic:"
"""What the names of toolsets begin with that go by the project's agents."""
BY_WINDOW = f"{ROLES}:{AUTO}"
"""The toolset that goes by the window of the model."""
_LETS_TURNS_END = (None, "auto", "none")
"""Tool choices under which a model may call nothing."""
FULL = "full"
"""The toolset that leaves nothing to add."""
SAMPLE = 50
"""Cases that a variant is tried on before a run."""
MOST_TRIALS = 100_000_000
"""Trials of a run; each takes a byte of memory while it is under way."""


@dataclass(frozen=True, eq=False)
class Materials:
    """A dataset with the project around it.

    Attributes:
        dataset: The cases.
        workspace: The catalog they are over, and every loadout.
        catalog_reference: Where the catalog is, if it is not the dataset's own.
    """

    dataset: Dataset
    workspace: Workspace
    catalog_reference: str | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog the cases are over."""
        return self.workspace.catalog

    @cached_property
    def surroundings(self) -> str:
        """A digest of what a run must not be taken up without: the catalog and the loadouts."""
        digest = hashlib.sha256()
        for plugin in self.catalog.plugins:
            for tool in plugin.tools:
                text = definition_text(openai_definition(tool, self.catalog.wire_names[tool.id]))
                digest.update(f"{tool.id}\0{plugin.category_key}\0{text}\0".encode(errors="surrogatepass"))
        digest.update(repr((self.catalog.core, tuple(self.catalog.categories.items()))).encode(errors="surrogatepass"))
        for loadout in self.workspace.registry.get_all():
            digest.update(f"{loadout.name}\0{loadout_data(loadout)!r}\0".encode(errors="surrogatepass"))
        return digest.hexdigest()

    def digest_surroundings(self, toolsets: Iterable[str]) -> str:
        """The same with the agents and toolkits of the project, and its models, where a toolset goes by them."""
        names, config = tuple(toolsets), self.workspace.config
        said = self.surroundings
        if any(name.startswith(BY_AGENT) for name in names):
            said += f"\0{describe_agents(config.agents, config.toolkits)}"
        if config.own_models and any(name.casefold() == BY_WINDOW for name in names):
            said += f"\0{[(own.name, own.base, own.context_window) for own in config.own_models]}"
        if said == self.surroundings:
            return said
        return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()


def open_materials(dataset: str, catalog: str | None, config: str | None, tokenizer: str | None = None) -> Materials:
    """Open a dataset, its catalog and the project's loadouts.

    Args:
        dataset: A shipped name, a folder, or a file of cases.
        catalog: Takes the place of the dataset's own; for a dataset that has none, `toolbelt.yaml`'s does too.
        config: Of a `toolbelt.yaml`.
        tokenizer: Where a model's own is not known.

    Raises:
        ToolbeltError: anything that is not there or is wrong.
    """
    opened, workspace = open_with_project(dataset, catalog, config, tokenizer)
    fallback = workspace.config.catalog if opened.catalog_is_fallback else None
    return Materials(opened, workspace, catalog or fallback)


def draw_up(
    materials: Materials,
    models: Sequence[str],
    toolsets: Sequence[str],
    variants: Sequence[str],
    chosen: CaseFilter,
    **settings: object,
) -> Plan:
    """The plan of a run.

    Args:
        materials: What there is.
        models: Names, in order; repeats are dropped.
        toolsets: Names and patterns, in order.
        variants: Of each toolset, in order.
        chosen: Which cases.
        settings: The other fields of `Plan`.

    Raises:
        ToolbeltError: an unknown or malformed toolset, loadout or filter; no case is left, or too many trials.
    """
    dataset, workspace = materials.dataset, materials.workspace
    workspace.refuse_wrong_definitions()
    config = workspace.config
    names = expand_toolsets(toolsets, materials.catalog, workspace.registry, config.agents, config.toolkits)
    for name in names:
        kind, _, loadout = name.partition(":")
        if kind == "loadout" and loadout and loadout.casefold() != AUTO:
            workspace.get_lineage(loadout)  # which says all that is wrong with it
    seed = settings.get("seed", 0)
    indices = _select(dataset, chosen, seed if isinstance(seed, int) else 0)
    if not len(indices):
        raise ToolbeltError(f"No case of dataset {dataset.name!r} is left to ask.")
    for model in models:
        if not model.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in model):
            raise ToolbeltError(f"The name of model {model!r} is not UTF-8.")
    shown = _in_variants(names, expand_variants(variants))
    arms = tuple(Arm(model, toolset, variant) for model in dict.fromkeys(models) for toolset, variant in shown)
    epochs = settings.get("epochs", 1)
    if (size := len(indices) * len(arms) * (epochs if isinstance(epochs, int) else 1)) > MOST_TRIALS:
        raise ToolbeltError(f"A run has at most {MOST_TRIALS:,} trials, and this would be {size:,}.")
    without_role = sum(dataset.case(i).role is None for i in indices) if ROLES in names else 0
    return Plan(
        dataset=dataset.reference,
        dataset_name=dataset.name,
        digest=dataset.digest,
        catalog=materials.catalog_reference and _anywhere(materials.catalog_reference),
        catalog_name=materials.catalog.name,
        surroundings=materials.digest_surroundings(names),
        chosen=dataset.fingerprint(indices),
        config=None if config.path is None else str(config.path.resolve()),
        arms=arms,
        cases=len(indices),
        filter=chosen,
        excluded=dict(dataset.excluded),
        tokenizer=workspace.tokenizer,
        without_role=without_role,
        drafts=sum(map(dataset.is_draft, indices)) if dataset.drafts else 0,
        code={"toolbelt": __version__, **read_code(Path())},
        **settings,  # type: ignore[arg-type]
    )


def _in_variants(toolsets: Sequence[str], variants: Sequence[Variant]) -> list[tuple[str, str]]:
    """Every toolset in every variant, but for those that are nothing of their own, which is told."""
    made = []
    for toolset in toolsets:
        for variant in variants:
            if variant.distractors and toolset == FULL:
                tell(f"left out: {FULL} with {variant.name}, as {FULL} shows every tool already")
            else:
                made.append((toolset, variant.name))
    if not made:
        raise ToolbeltError(f"{FULL!r} shows every tool already, so that no distractor can be added to it.")
    return made


def _anywhere(reference: str) -> str:
    return str(Path(reference).resolve()) if os.path.exists(reference) else reference  # noqa: PTH110


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
    shelf: Shelf
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
    shelves = _Shelves(materials.catalog, plan.tokenizer, plan.seed)
    made = tuple(_prepare(materials, plan, arm, models[arm.model], shelves) for arm in plan.arms)
    for note in dict.fromkeys(note for one in made for note in one.notes):  # arms of one toolset have the same
        tell(note)
    _tell_shortfalls(made, choose_cases(materials, plan))
    return made


def _tell_shortfalls(prepared: Sequence[PreparedArm], cases: ChosenCases) -> None:
    """Where an arm is not all that its name says, in a sample of the cases."""
    step = max(1, len(cases.indices) // SAMPLE)
    for one in prepared:
        if not isinstance(one.toolset, Varied):
            continue
        found = one.toolset.find_shortfall(cases.case(index) for index in range(0, len(cases.indices), step))
        if found.longer:
            tell(
                f"{one.arm.label}: nothing is padded in {found.longer:,} of {plural(found.tried, 'case')} tried, whose "
                "definitions are longer already"
            )
        if found.lacking:
            tell(
                f"{one.arm.label}: fewer distractors are to be had in {found.lacking:,} of "
                f"{plural(found.tried, 'case')} tried, in one only {found.fewest:,}"
            )


def _prepare(materials: Materials, plan: Plan, arm: Arm, model: Model, shelves: _Shelves) -> PreparedArm:
    used: list[Shelf] = []
    variant = parse_variant(arm.variant)

    def shelf(extras: Mapping[str, Tool]) -> Shelf:
        used.append(shelves.get(arm.model, extras, variant))
        return used[-1]

    ground = Ground(
        catalog=materials.catalog,
        registry=materials.workspace.registry,
        shelf=shelf,
        roles=materials.dataset.roles,
        seed=plan.seed,
        resolve_auto=lambda: materials.workspace.resolve(AUTO, [arm.model]),
        agents=materials.workspace.config.agents,
        toolkits=materials.workspace.config.toolkits,
    )
    made = make_toolset(arm.toolset, ground)
    notes = _notes(made, plan.sampling) if isinstance(made, Dynamic) else ()
    toolset = vary(made, variant, ground, used[-1])
    return PreparedArm(arm, model, toolset, used[-1], shelves.counter(arm.model), notes)


def _notes(toolset: Dynamic, sampling: Sampling) -> tuple[str, ...]:
    notes = list(toolset.unmatched)
    if toolset.loads and (choice := sampling.tool_choice) not in _LETS_TURNS_END:
        notes.append(f"with tool choice {choice!r} no turn ever ends, so that nothing loaded is shown")
    return tuple(f"{toolset.name}: {note}" for note in notes)


class _Shelves:
    """Shelves by what counts them and what is on them, so that arms share them."""

    def __init__(self, catalog: Catalog, tokenizer: str, seed: int) -> None:
        self._catalog = catalog
        self._tokenizer = tokenizer
        self._seed = seed
        self._made: dict[tuple[str, str, tuple[str, ...], str], Shelf] = {}
        self._counters: dict[str, TokenCounter] = {}

    def counter(self, model: str) -> TokenCounter:
        name = find_tokenizer(model) or self._tokenizer
        if name not in self._counters:
            self._counters[name] = make_counter(name)
            self._counters[name].count(["a"])  # its vocabulary takes a second to load: not in the middle of a run
        return self._counters[name]

    def get(self, model: str, extras: Mapping[str, Tool], variant: Variant) -> Shelf:
        counter, form = self.counter(model), find_form(model)
        look = make_look(variant, self._catalog, self._seed)
        key = (counter.name, form, tuple(extras), "" if look is None else look.key)
        if key not in self._made:
            with progress("counting tokens of tools", len(self._catalog.tools)) as advance:
                if isinstance(counter, TiktokenCounter):
                    counter = CachedTokenCounter(counter, cache_folder(os.environ), advance)
                self._made[key] = Shelf(self._catalog, counter, form, extras, look)
        return self._made[key]


def make_players(
    materials: Materials, plan: Plan, prepared: Sequence[PreparedArm], budget: Budget, policy: RetryPolicy, keep: Keep
) -> tuple[ArmPlayer, ...]:
    """Players of the arms; those of one model share its gate."""
    scorer = Scorer(ArgumentSchemas(materials.catalog))
    gates: dict[str, Gate] = {}
    prompts: dict[str, PromptCounter] = {}
    players = []
    for one in prepared:
        gate = gates.setdefault(one.arm.model, Gate())
        counted = prompts.setdefault(one.counter.name, PromptCounter(one.counter))
        asker = Asker(one.model, budget, policy, keep, gate, random.Random())  # noqa: S311  only spreads the waits
        sampling = _named_as_shown(plan.sampling, one.shelf)
        players.append(ArmPlayer(one.toolset, one.shelf, asker, scorer, counted, sampling, plan.request_limit))
    return tuple(players)


def _named_as_shown(sampling: Sampling, shelf: Shelf) -> Sampling:
    """With the tool that is to be called by the name it is shown under."""
    choice = sampling.tool_choice
    tool_id = None if choice is None or choice in TOOL_CHOICES else shelf.find_id(choice)
    return sampling if tool_id is None else replace(sampling, tool_choice=shelf.offered(tool_id).name)


@dataclass(frozen=True, eq=False)
class ChosenCases:
    """The cases of a plan by their position in it.

    Attributes:
        dataset: Where they are.
        indices: Their positions there.
    """

    dataset: Dataset
    indices: Sequence[int]

    def case(self, index: int) -> Case:
        """The case at a position of the plan."""
        return self.dataset.case(self.indices[index])


def choose_cases(materials: Materials, plan: Plan) -> ChosenCases:
    """The cases that a plan asks."""
    return ChosenCases(materials.dataset, _select(materials.dataset, plan.filter, plan.seed))


def _select(dataset: Dataset, chosen: CaseFilter, seed: int) -> Sequence[int]:
    return dataset.select(kinds=chosen.kinds, tags=chosen.tags, ids=chosen.ids, limit=chosen.limit, seed=seed)
