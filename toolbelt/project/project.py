"""A project: its files, the catalog they name, loadouts, toolkits, agents and models, opened in one step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tokens import TokenCounter, ToolTokens
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import Lineage, Resolution, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG, whole_catalog
from toolbelt.patterns import fold
from toolbelt.project.fits import find_fits
from toolbelt.providers.current_models import list_defaults
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.tokenizers import count_tokens, find_tokenizer, make_cached_counter
from toolbelt.reporter import SILENT, Reporter
from toolbelt.stores.config import Config
from toolbelt.stores.files import cache_folder

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice
    from toolbelt.loadouts.reader import WrittenLoadout
    from toolbelt.models.facts import ModelFacts
    from toolbelt.models.fit import FitCalculator, ModelToFit
    from toolbelt.runtime.context import ToolContext
    from toolbelt.runtime.registry import ToolRegistry
    from toolbelt.servers.spec import ServerSpec
    from toolbelt.sessions.agent import AgentSpec
    from toolbelt.sessions.session import Session
    from toolbelt.sessions.store import SessionStore
    from toolbelt.toolkits.toolkit import Toolkit

_OTHERWISE = "What is known of a model can be given, or corrected, under `models` in toolbelt.yaml."


@dataclass(frozen=True, eq=False, repr=False)
class Project:
    """A folder with its toolbelt files, opened; `open_project` makes one.

    Attributes:
        config: What the files of the folder say.
        catalog_file: The catalog in use.
        tokenizer: Name of what counts where no model says otherwise.
        reporter: Receives notes and progress.
        folder: The folder that paths are relative to.
    """

    config: Config
    catalog_file: CatalogFile
    tokenizer: str
    reporter: Reporter = SILENT
    folder: Path = Path()

    def __repr__(self) -> str:
        counts = (
            f"{len(self.loadouts)} loadouts, {len(self.toolkits)} toolkits, {len(self.agents)} agents",
            f"catalog {self.catalog.name!r} of {len(self.catalog.tools)} tools",
        )
        return f"<Project {str(self.folder)!r}: {', '.join(counts)}>"

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        return self.catalog_file.catalog

    @cached_property
    def catalog_loadouts(self) -> tuple[WrittenLoadout, ...]:
        """Loadouts that the catalog brings along."""
        document = self.catalog_file.document
        if document is None or not self.catalog.loadouts:
            return ()
        from toolbelt.loadouts.reader import read_loadouts

        written, findings = read_loadouts(document, "loadouts")
        if findings:
            raise InvalidFileError(findings)
        return tuple(written)

    @property
    def written(self) -> tuple[WrittenLoadout, ...]:
        """Every loadout that is not built in: the catalog's but for those the user shadows, then the user's."""
        shadowed = {fold(written.loadout.name) for written in self.config.loadouts}
        unshadowed = (written for written in self.catalog_loadouts if fold(written.loadout.name) not in shadowed)
        return (*unshadowed, *self.config.loadouts)

    @cached_property
    def registry(self) -> ToolLoadoutRegistry:
        """All loadouts; the user's shadow the catalog's, which shadow the built-in ones."""
        return ToolLoadoutRegistry(written.loadout for written in self.written)

    @property
    def loadouts(self) -> tuple[ToolLoadout, ...]:
        """Every loadout, the built-in ones first, in the registry's order."""
        return tuple(self.registry.get_all())

    @property
    def toolkits(self) -> tuple[Toolkit, ...]:
        """The toolkits of `toolbelt.yaml`, in its order."""
        return self.config.toolkits

    @property
    def agents(self) -> Mapping[str, AgentSpec]:
        """The agents of `toolbelt.yaml` by name, in its order."""
        return MappingProxyType({agent.name: agent for agent in self.config.agents})

    @cached_property
    def servers(self) -> tuple[ServerSpec, ...]:
        """The MCP servers of `toolbelt.yaml` that can be read, with `from` followed when first asked for."""
        from toolbelt.mcp.configs.project_servers import examine_servers  # few projects have servers

        return examine_servers(self.config)[0]

    def scope(self, tools: ToolRegistry, loadout: str | None) -> ToolRegistry:
        """A new registry with only the tools that a loadout makes active (rule L12).

        Args:
            tools: Every executable tool; unchanged.
            loadout: Name of a loadout; `None` for all tools.

        Raises:
            NotFoundError: there is no loadout of that name.
        """
        from toolbelt.agents import scoped_registry  # only what runs tools needs the runtime

        if loadout is not None:
            self.registry.require_loadout(loadout)
        return scoped_registry(tools, loadout, self.registry)

    def session(
        self,
        tools: ToolRegistry,
        session_id: str | None = None,
        *,
        agent: str | None = None,
        loadout: str | None = None,
        tiers: bool = False,
        enforce_tiers: bool = False,
        search: str | None = None,
        store: SessionStore | None = None,
        around: ToolContext | None = None,
    ) -> Session:
        """A conversation with an agent (rule R8).

        Args:
            tools: The executable tools; unchanged. The entries of agents and toolkits name them.
            session_id: Of the conversation. Without it, an agent cannot load toolkits.
            agent: Whose static tools and toolkits the session has (rules D2 to D8); `None` for all tools.
            loadout: What it may use, with capability tools for the rest (rules L12, L14); `None` for everything.
            tiers: Whether only the core is shown at first (T1 to T4); with `enforce_tiers`, nothing else runs then.
            search: How the others are found, as an eval has it after `search:` (S1); by default as the agent's says.
            store: Keeps which toolkits are loaded; by default `.toolbelt/sessions.db` in the project's folder.
            around: As in `Session`.

        Raises:
            NotFoundError: no agent, loadout or search toolset of that name.
            InvalidDefinitionError: toolkits contradict each other; toolkits and tiers, which both have a `load_tools`.
        """
        from toolbelt.project.sessions import make_policies  # only what runs tools needs the runtime
        from toolbelt.sessions.session import Session

        policies = make_policies(
            self, session_id, store, agent, loadout=loadout, tiers=tiers, enforce_tiers=enforce_tiers, search=search
        )
        return Session(tools, policies, session_id=session_id, agent=agent, around=around)

    def origin(self, loadout: ToolLoadout) -> str:
        """Where a loadout is defined."""
        for written in reversed(self.written):
            if written.loadout is loadout:
                return "catalog" if written in self.catalog_loadouts else written.document.source
        return "built in"

    def get_lineage(self, name: str) -> Lineage:
        """The chain of a loadout that is fit for use with this catalog.

        Raises:
            NotFoundError: no such loadout.
            InvalidFileError: any definition is wrong, or one of the chain is for this catalog.
        """
        self.refuse_wrong_definitions()
        self.registry.require_loadout(name)
        lineage = self.registry.trace_lineage(name)
        chain = [written for written in self.written if any(written.loadout is link for link in lineage.loadouts)]
        self._refuse(self._lint_against_catalog(chain))
        return lineage

    def refuse_wrong_definitions(self) -> None:
        """Raise everything that is wrong with the loadouts, if anything is that would be with any catalog."""
        # What is shipped is held by tests; linting it here would take the time that a start may take.
        as_shipped = self.catalog_file.is_shipped and not self.config.loadouts
        definitions = () if as_shipped else self._lint_definitions()
        if self.config.findings or any(finding.severity is Severity.ERROR for finding in definitions):
            raise InvalidFileError(self.lint())

    def refuse_errors(self) -> None:
        """Raise everything that is wrong with any loadout, for what uses them all; report what is doubtful."""
        of_catalog = self._lint_against_catalog(self.written)
        self._refuse([*self.config.findings, *self._lint_definitions(), *of_catalog])

    def lint(self) -> tuple[Finding, ...]:
        """Everything wrong or doubtful about every loadout that is not built in, and about toolkits and switches."""
        of_catalog = (*self._lint_against_catalog(self.written), *self.lint_toolkits())
        return sorted_findings([*self.config.findings, *self._lint_definitions(), *of_catalog])

    def lint_toolkits(self) -> tuple[Finding, ...]:
        """What is wrong or doubtful about the toolkits and the agents' switches (rules K2, K4)."""
        config = self.config
        if config.document is None or not (config.toolkits or any(agent.tools_config for agent in config.agents)):
            return ()
        from toolbelt.toolkits.lint import lint_policies, lint_toolkits  # most projects have loadouts alone
        from toolbelt.toolkits.switch_decisions import WrittenSwitches

        document, toolkits, catalog = config.document, config.toolkits, self.catalog
        findings = lint_toolkits(
            document, toolkits, catalog, (WrittenSwitches({}, document), *config.switches.values())
        )
        return (*findings, *lint_policies(document, toolkits, catalog))

    def _lint_definitions(self) -> tuple[Finding, ...]:
        if not self.written:
            return ()
        from toolbelt.loadouts.lint import lint_definitions  # the built-in loadouts alone need no linting

        return lint_definitions(self.written, self.registry)

    def _lint_against_catalog(self, written: Iterable[WrittenLoadout]) -> list[Finding]:
        written = tuple(written)
        if not written:
            return []
        from toolbelt.loadouts.lint import lint_against_catalog

        return [finding for each in written for finding in lint_against_catalog(each, self.registry, self.catalog)]

    def resolve(self, name: str | None, models: Sequence[str] = (), *, facts: ModelFacts | None = None) -> Resolution:
        """What a loadout makes of the catalog.

        Args:
            name: Of a loadout; `auto` chooses by the one model given, `None` is the whole catalog.
            models: Asked about.
            facts: As for `choose`.

        Raises:
            ToolbeltError: `auto` with no model or several, or none fits; else as `get_lineage`.
        """
        if name is None:
            self.refuse_wrong_definitions()
            return Resolution(WHOLE_CATALOG, (whole_catalog(self.catalog),), self.catalog)
        if name.casefold() == AUTO:
            resolution, choice = self.choose(models, facts=facts)
            if choice.loadout is None:
                from toolbelt.loadouts.reason_text import describe_choice  # words for an error

                raise ToolbeltError(
                    " ".join((f"'auto' chose nothing for {models[0]!r}.", *describe_choice(choice), _OTHERWISE))
                )
            return resolution
        self.get_lineage(name)
        return self.registry.resolve(name, self.catalog)

    def choose(self, models: Sequence[str], *, facts: ModelFacts | None = None) -> tuple[Resolution, AutoChoice]:
        """The loadout that `auto` chooses for a model, resolved; nothing is active where none was chosen.

        Args:
            models: The one model.
            facts: What is to be taken as known of it, in place of what is.

        Raises:
            ToolbeltError: not one model.
        """
        from toolbelt.loadouts.auto import AutoOutcome, choose_loadout

        if len(set(models)) != 1:
            raise ToolbeltError("'auto' chooses by one model's context window; give one model.")
        self.refuse_wrong_definitions()
        model = self.ask(models[0])
        facts = model.facts if facts is None else facts

        def choose_by_window() -> AutoChoice:
            tokens = self._count(*model.counting)
            return choose_loadout(
                facts.context_window,
                self.catalog,
                self.registry,
                tokens,
                max_tools=facts.max_tools,
                output_reserve=facts.output_reserve,
                tool_calling=facts.tool_calling,
                estimate=model.rate.counted_by(tokens.tokenizer).estimate,
            )

        if facts.toolset is None:
            choice = choose_by_window()
        else:
            from toolbelt.models.recommended import choose_recommended  # few projects say so of a model

            measure = self._measure(replace(model, facts=facts))
            choice = choose_recommended(facts.toolset, self.catalog, self.registry, measure, choose_by_window)
        if choice.loadout is None:
            return Resolution(AUTO, (), self.catalog), choice
        return self.resolve(choice.loadout.name if choice.outcome is AutoOutcome.LOADOUT else None), choice

    def inspect(self, name: str | None, models: Sequence[str] = ()) -> Inspection:
        """A loadout, counted and compared with models; raises as `resolve`."""
        resolution = self.resolve(name)
        return Inspection(resolution, self.tokens(), self._fits(resolution, models))

    def inspect_auto(self, models: Sequence[str]) -> Inspection:
        """What `auto` chooses, counted; raises as `choose`."""
        resolution, choice = self.choose(models)
        tokens = self._count(find_tokenizer(models[0], self.models) or self.tokenizer, self.models.find_form(models[0]))
        return Inspection(resolution, tokens, self._fits(resolution, models[:1]), choice)

    @property
    def counter(self) -> TokenCounter:
        """Counts tokens, where no model says otherwise."""
        return make_cached_counter(self.tokenizer)

    def tokens(self) -> ToolTokens:
        """What every tool of the catalog costs."""
        return self._count(self.tokenizer, "openai")

    def _count(self, tokenizer: str, form: str) -> ToolTokens:
        if (tokenizer, form) not in self._counted:
            self._counted[tokenizer, form] = count_tokens(self.catalog, tokenizer, form, reporter=self.reporter)
        return self._counted[tokenizer, form]

    @cached_property
    def _counted(self) -> dict[tuple[str, str], ToolTokens]:
        return {}

    @cached_property
    def models(self) -> ModelTable:
        """Where facts of models are, the project's own among them."""
        return ModelTable(cache_folder(os.environ), own=self.config.own_models)

    def facts(self, model: str) -> ModelFacts:
        """What is known of a model: what `toolbelt.yaml` says, else litellm's table."""
        from toolbelt.providers.model_facts import find_facts

        return find_facts(model, self.models)

    def model_names(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Those asked about, else the project's, else a few current ones.

        Raises:
            ToolbeltError: a name that is blank.
        """
        if any(not name.strip() for name in asked):
            raise ToolbeltError("A model's name is empty; see: toolbelt model list")
        return self.models.find_labels(asked) or self.config.models or list_defaults(self.models)

    def comparer(self, tools: Sequence[Tool]) -> FitCalculator:
        """What holds toolsets made of `tools` against models."""
        from toolbelt.models.fit import FitCalculator  # the rules of providers, for comparing alone

        return FitCalculator(self.catalog.wire_names, lambda counting: self._count_some(counting, tools), tools)

    def ask(self, model: str) -> ModelToFit:
        """A model, with what is known of it and by what its tools are counted."""
        from toolbelt.models.fit import ModelToFit

        known = find_tokenizer(model, self.models)
        return ModelToFit.of(
            self.facts(model), known or self.tokenizer, self.models.find_form(model), exact=known is not None
        )

    def _count_some(self, counting: tuple[str, str], tools: Sequence[Tool]) -> ToolTokens:
        # The whole catalog may be counted already; if not, what is shown is all that matters.
        return self._counted.get(counting) or count_tokens(self.catalog, *counting, tools=tools, reporter=self.reporter)

    def _fits(self, resolution: Resolution, models: Sequence[str]) -> tuple[ModelFit, ...]:
        def calculate() -> tuple[ModelFit, ...]:
            from toolbelt.models.fit import CandidateToolset

            toolset = CandidateToolset(resolution.loadout, resolution.active_tools)
            fit = self.comparer(toolset.tools).fit
            return tuple(fit(toolset, self.ask(model)) for model in models)

        return find_fits(self, resolution.active_tools, models, calculate)

    def _measure(self, model: ModelToFit) -> Callable[[Sequence[Tool]], ModelFit]:
        from toolbelt.models.fit import CandidateToolset

        return lambda tools: self.comparer(tools).fit(CandidateToolset("", tuple(tools)), model)

    def _refuse(self, findings: Sequence[Finding]) -> None:
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise InvalidFileError(sorted_findings(findings))
        self.reporter.findings(sorted_findings(findings))
