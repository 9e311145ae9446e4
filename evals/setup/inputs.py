"""From what a user asks for to everything a run needs, refusing what is wrong before anything is spent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from toolbelt import __version__
from toolbelt.catalog import Catalog
from toolbelt.catalog.definitions import definition_text, openai_definition
from toolbelt.console.screen import notify
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.dataset_opening import open_with_project
from toolbelt.evals.models.model import Sampling
from toolbelt.evals.running.limits import LeftOut
from toolbelt.evals.running.plan import Arm, CaseFilter, Plan
from toolbelt.evals.setup.model_limits import find_rooms, leave_out
from toolbelt.evals.setup.provenance import read_code
from toolbelt.evals.toolsets.agents import describe_agents
from toolbelt.evals.toolsets.opening import expand_toolsets
from toolbelt.evals.toolsets.spec import BY_ROLE, FULL, ToolsetSpec
from toolbelt.evals.toolsets.suites import make_suite
from toolbelt.evals.toolsets.variants.variant import Variant, expand_variants
from toolbelt.loadouts.auto import ladder_of
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.project.workspace import Workspace

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

    def digest_surroundings(self, toolsets: Iterable[ToolsetSpec]) -> str:
        """The same with the agents and toolkits of the project, its models and the catalog's ladder, where a toolset
        goes by them."""
        specs, config = tuple(toolsets), self.workspace.config
        said = self.surroundings
        if any(spec.agent for spec in specs):
            said += f"\0{describe_agents(config.agents, config.toolkits)}"
        by_window = any(spec.is_auto for spec in specs)
        if by_window and self.catalog.ladder:
            said += f"\0{ladder_of(self.catalog)!r}"
        if by_window and config.own_models:
            said += f"\0{[(own.name, own.base, own.context_window) for own in config.own_models]}"
            if given := [(own.name, str(own.toolset)) for own in config.own_models if own.toolset is not None]:
                said += f"\0{given}"  # apart, so that runs of projects without such are still the same
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


def make_plan(
    materials: Materials,
    models: Sequence[str],
    toolsets: Sequence[str],
    variants: Sequence[str],
    chosen: CaseFilter,
    *,
    sampling: Sampling | None = None,
    suite: str = "",
    ask_anyway: bool = False,
    **settings: object,
) -> Plan:
    """The plan of a run.

    Args:
        materials: What there is.
        models: Names, in order; repeats are dropped.
        toolsets: Names and patterns, in order; nothing where there is a suite.
        variants: Of each toolset, in order.
        chosen: Which cases.
        sampling: How models are asked; `None` leaves it all to the provider.
        suite: The one spelling of the suite that says which toolsets; pairs of it that cannot be asked are left out.
        ask_anyway: Whether it is asked all the same what cannot fit, or a model that is known to call no tools.
        settings: The other fields of `Plan`.

    Raises:
        ToolbeltError: an unknown or malformed suite, toolset, loadout or filter; no case is left, or nothing of the
            suite can be asked; too many trials.
    """
    dataset, workspace, sampling = materials.dataset, materials.workspace, sampling or Sampling()
    workspace.refuse_wrong_definitions()
    specs = _find_toolsets(materials, toolsets, suite)
    for spec in specs:
        if spec.loadout:
            workspace.get_lineage(spec.loadout)  # which says all that is wrong with it
    seed = settings.get("seed", 0)
    indices = _select(dataset, chosen, seed if isinstance(seed, int) else 0)
    if not len(indices):
        raise ToolbeltError(f"No case of dataset {dataset.name!r} is left to ask.")
    for model in models:
        if not model.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in model):
            raise ToolbeltError(f"The name of model {model!r} is not UTF-8.")
    shown = _in_variants(specs, expand_variants(variants))
    arms = tuple(Arm(model, str(spec), variant.name) for model in dict.fromkeys(models) for spec, variant in shown)
    rooms = find_rooms(workspace, models, sampling.max_tokens)
    left_out: tuple[LeftOut, ...] = ()
    if suite:
        arms, left_out = leave_out(workspace, arms, rooms, ask_anyway=ask_anyway)
        specs = tuple(dict.fromkeys(arm.spec for arm in arms))
    epochs = settings.get("epochs", 1)
    if (size := len(indices) * len(arms) * (epochs if isinstance(epochs, int) else 1)) > MOST_TRIALS:
        raise ToolbeltError(f"A run has at most {MOST_TRIALS:,} trials, and this would be {size:,}.")
    without_role = sum(dataset.case(i).role is None for i in indices) if BY_ROLE in specs else 0
    return Plan(
        dataset=dataset.reference,
        dataset_name=dataset.name,
        digest=dataset.digest,
        catalog=materials.catalog_reference and _anywhere(materials.catalog_reference),
        catalog_name=materials.catalog.name,
        surroundings=materials.digest_surroundings(specs),
        chosen=dataset.fingerprint(indices),
        config=None if workspace.config.path is None else str(workspace.config.path.resolve()),
        arms=arms,
        cases=len(indices),
        filter=chosen,
        excluded=dict(dataset.excluded),
        tokenizer=workspace.tokenizer,
        without_role=without_role,
        drafts=sum(map(dataset.is_draft, indices)) if dataset.drafts else 0,
        code={"toolbelt": __version__, **read_code(Path())},
        sampling=sampling,
        suite=suite,
        rooms=rooms,
        left_out=left_out,
        ask_anyway=ask_anyway,
        **settings,  # type: ignore[arg-type]
    )


def _find_toolsets(materials: Materials, toolsets: Sequence[str], suite: str) -> tuple[ToolsetSpec, ...]:
    registry, config = materials.workspace.registry, materials.workspace.config
    if not suite:
        return expand_toolsets(toolsets, materials.catalog, registry, config.agents, config.toolkits)
    made = make_suite(suite, materials.catalog, registry)
    for repeat in made.repeats:
        notify(f"left out: {repeat.toolset}, as it shows the same tools as {repeat.same_as}")
    return made.toolsets


def _in_variants(toolsets: Sequence[ToolsetSpec], variants: Sequence[Variant]) -> list[tuple[ToolsetSpec, Variant]]:
    """Every toolset in every variant, but for those that are nothing of their own, which is told."""
    made = []
    for toolset in toolsets:
        for variant in variants:
            if variant.distractors and toolset == FULL:
                notify(f"left out: {FULL} with {variant.name}, as {FULL} shows every tool already")
            else:
                made.append((toolset, variant))
    if not made:
        raise ToolbeltError(f"{str(FULL)!r} shows every tool already, so that no distractor can be added to it.")
    return made


def _anywhere(reference: str) -> str:
    return str(Path(reference).resolve()) if os.path.exists(reference) else reference  # noqa: PTH110


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
