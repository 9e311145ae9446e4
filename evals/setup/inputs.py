"""The files of a run: opens a dataset with its project, and compares them with those of a plan."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import definition_text, openai_definition
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.imports.formats import is_foreign
from toolbelt.evals.running.plan import CaseFilter, Plan
from toolbelt.evals.running.rounds import draw_rounds
from toolbelt.evals.running.shards import Shard, choose_positions
from toolbelt.evals.setup.project import open_with_project
from toolbelt.evals.setup.reporting import EvalReporter
from toolbelt.evals.toolsets.agents import describe_agents
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.loadouts.auto import ladder_of
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.project.project import Project


@dataclass(frozen=True, eq=False)
class RunInputs:
    """A dataset with the project around it.

    Attributes:
        dataset: The cases.
        project: The catalog they are over, and every loadout.
        catalog_reference: Where the catalog is, if it is not the dataset's own.
    """

    dataset: Dataset
    project: Project
    catalog_reference: str | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog that the cases use."""
        return self.project.catalog

    @cached_property
    def _surroundings(self) -> str:
        digest = hashlib.sha256()
        for plugin in self.catalog.plugins:
            for tool in plugin.tools:
                text = definition_text(openai_definition(tool, self.catalog.wire_names[tool.id]))
                digest.update(f"{tool.id}\0{plugin.category_key}\0{text}\0".encode(errors="surrogatepass"))
        digest.update(repr((self.catalog.core, tuple(self.catalog.categories.items()))).encode(errors="surrogatepass"))
        for loadout in self.project.registry.get_all():
            digest.update(f"{loadout.name}\0{loadout_data(loadout)!r}\0".encode(errors="surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def tool_digests(self) -> dict[str, str]:
        """Of each tool by its id: a digest of its description, and after a colon one of the rest of its definition."""
        names = self.catalog.wire_names
        return {
            tool.id: f"{_digest(tool.description)}:{_digest(_without_description(tool, names[tool.id]))}"
            for plugin in self.catalog.plugins
            for tool in plugin.tools
        }

    def digest_surroundings(self, toolsets: Iterable[ToolsetSpec]) -> str:
        """A digest of what must not change while a run is under way: the catalog and the loadouts.

        Where a toolset goes by them, also the agents and toolkits of the project, its models and the catalog's ladder.
        """
        specs, config = tuple(toolsets), self.project.config
        text = self._surroundings
        if any(spec.agent for spec in specs):
            text += f"\0{describe_agents(config.agents, config.toolkits)}"
        is_by_window = any(spec.is_auto for spec in specs)
        if is_by_window and self.catalog.ladder:
            text += f"\0{ladder_of(self.catalog)!r}"
        if is_by_window and config.own_models:
            text += f"\0{[(own.name, own.base, own.context_window) for own in config.own_models]}"
            if recommended := [(own.name, str(own.toolset)) for own in config.own_models if own.toolset is not None]:
                text += f"\0{recommended}"  # apart, so that runs of projects without such are still the same
        if text == self._surroundings:
            return text
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    def select(self, case_filter: CaseFilter, seed: int) -> ChosenCases:
        """The cases that pass a filter, in the order in which they are run."""
        indices = self.dataset.select(
            kinds=case_filter.kinds, tags=case_filter.tags, ids=case_filter.ids, limit=case_filter.limit, seed=seed
        )
        return ChosenCases(self.dataset, indices, (range(len(indices)),))

    def cases_of(self, plan: Plan) -> ChosenCases:
        """The cases of a plan."""
        chosen = self.select(plan.filter, plan.seed)
        if plan.decision is not None:
            return chosen.in_rounds([each.clusters for each in plan.decision.rounds], plan.seed)
        return chosen if plan.shard is None else chosen.part(plan.shard)

    def refuse_changes(self, plan: Plan) -> None:
        """Raise `ToolbeltError` if these are no longer what the plan was made from."""
        if self.dataset.digest != plan.digest:
            what = f"The cases of {plan.dataset!r}"
        elif self.digest_surroundings(arm.spec for arm in plan.arms) != plan.surroundings:
            also = ", agent or toolkit" if any(arm.spec.agent for arm in plan.arms) else ""
            also += ", or a ladder, or the window of a model" if any(arm.spec.is_auto for arm in plan.arms) else ""
            what = f"The catalog {plan.catalog_name!r}, or a loadout{also},"
        elif self.dataset.fingerprint(self.cases_of(plan).indices) != plan.chosen:
            what = f"The order of the cases of {plan.dataset!r}, or which of them fit the filter,"
        else:
            return
        raise ToolbeltError(
            f"{what} changed since this run began, so that its trials could not be compared; begin a new run."
        )


_DIGITS = 8
"""Of a digest that is only compared with another of the same tool."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def _without_description(tool: Tool, wire_name: str) -> str:
    return definition_text(openai_definition(replace(tool, description=""), wire_name))


@dataclass(frozen=True, eq=False)
class ChosenCases:
    """The cases of a plan by their position in it.

    Attributes:
        dataset: Where they are.
        indices: Their positions there.
        rounds: Positions in the plan of those that are asked, in order, by round: of all, or of a shard's.
    """

    dataset: Dataset
    indices: Sequence[int]
    rounds: tuple[Sequence[int], ...]

    @property
    def clusters(self) -> Sequence[int]:
        """Of each case of the plan, a number that only the cases of its cluster have."""
        return array("Q", map(self.dataset.cluster_key, self.indices))

    def in_rounds(self, counts: Sequence[int], seed: int) -> ChosenCases:
        """The same cases, clusters in random order; so many of them by the end of each round."""
        return replace(self, rounds=draw_rounds(self.clusters, counts, seed))

    def part(self, shard: Shard) -> ChosenCases:
        """The same cases, of which those of a shard are asked; raises `ToolbeltError` where there are too few."""
        return replace(self, rounds=(choose_positions(self.clusters, shard),))

    def case(self, index: int) -> Case:
        """The case at a position of the plan."""
        return self.dataset.case(self.indices[index])

    def sample(self, size: int) -> list[Case]:
        """About so many of the cases that are asked, evenly spread."""
        return [self.case(position) for position in self.sample_positions(size)]

    def sample_positions(self, size: int) -> Sequence[int]:
        """Their positions."""
        positions = self.rounds[0] if len(self.rounds) == 1 else sorted(chain.from_iterable(self.rounds))
        return positions[:: max(1, len(positions) // size)]


def open_inputs(
    dataset: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    reporter: EvalReporter,
    around: Project | Path | None = None,
) -> RunInputs:
    """Open a dataset, its catalog and the project's loadouts.

    Args:
        dataset: A shipped name, a folder, or a file of cases.
        catalog: Takes the place of the dataset's own; for a dataset that has none, `toolbelt.yaml`'s does too.
        config: Of a `toolbelt.yaml`.
        tokenizer: Where a model's own is not known.
        reporter: Gets notes and progress.
        around: The project, or its folder; the working directory if `None`.

    Raises:
        ToolbeltError: anything that is not there or is wrong.
    """
    opened, project = open_with_project(dataset, catalog, config, tokenizer, reporter, around)
    fallback = opened.catalog_file.source if opened.catalog_is_fallback else None
    is_beside = is_foreign(dataset)  # what was imported has its catalog beside it
    return RunInputs(opened, project, None if is_beside else catalog or fallback)
