"""What every command works on: the project's files, a catalog, the loadouts, and something to count with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tokens import TokenCounter, ToolTokens, count_tool_tokens
from toolbelt.console.screen import notify, print_findings, progress
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import Lineage, Resolution, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG, whole_catalog
from toolbelt.patterns import fold
from toolbelt.providers.models import DEFAULT_MODELS, ModelTable, find_form
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, TiktokenCounter, find_tokenizer, make_counter
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.config import Config, examine_config
from toolbelt.stores.files import cache_folder
from toolbelt.stores.shipped import DEFAULT_CATALOG
from toolbelt.stores.token_cache import CachedTokenCounter

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice
    from toolbelt.loadouts.written import WrittenLoadout
    from toolbelt.models.facts import ModelFacts
    from toolbelt.models.fit import Asked, Comparer

_OTHERWISE = "What is known of a model can be given, or corrected, under `models` in toolbelt.yaml."


@dataclass(frozen=True, eq=False, repr=False)
class Workspace:
    """Everything opened.

    Attributes:
        config: What the project's files say.
        catalog_file: The catalog in use.
        tokenizer: Name of what counts where no model says otherwise.
        quiet: Whether notes are kept back.
    """

    config: Config
    catalog_file: CatalogFile
    tokenizer: str
    quiet: bool = False

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
        from toolbelt.loadouts.written import read_loadouts

        written, findings = read_loadouts(document, "loadouts")
        if findings:
            raise InvalidFileError(findings)
        return tuple(written)

    @property
    def written(self) -> tuple[WrittenLoadout, ...]:
        """Every loadout that is not built in: the catalog's but for those the user shadows, then the user's."""
        shadowed = {fold(one.loadout.name) for one in self.config.loadouts}
        kept = (one for one in self.catalog_loadouts if fold(one.loadout.name) not in shadowed)
        return (*kept, *self.config.loadouts)

    @cached_property
    def registry(self) -> ToolLoadoutRegistry:
        """All loadouts; the user's shadow the catalog's, which shadow the built-in ones."""
        return ToolLoadoutRegistry(one.loadout for one in self.written)

    def origin(self, loadout: ToolLoadout) -> str:
        """Where a loadout is defined."""
        for one in reversed(self.written):
            if one.loadout is loadout:
                return "catalog" if one in self.catalog_loadouts else one.document.source
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
        chain = [one for one in self.written if any(one.loadout is link for link in lineage.loadouts)]
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
        """Raise everything that is wrong with any loadout, for what uses them all; tell what is doubtful."""
        self._refuse(self.lint())

    def lint(self) -> tuple[Finding, ...]:
        """Everything wrong or doubtful about every loadout that is not built in."""
        of_catalog = self._lint_against_catalog(self.written)
        return sorted_findings([*self.config.findings, *self._lint_definitions(), *of_catalog])

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

        return [finding for one in written for finding in lint_against_catalog(one, self.registry, self.catalog)]

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
                raise ToolbeltError(" ".join((f"'auto' chose nothing for {models[0]!r}.", *choice.reasons, _OTHERWISE)))
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
            raise ToolbeltError("'auto' chooses by one model's context window; give one --model.")
        self.refuse_wrong_definitions()
        asked = self.ask(models[0])
        facts = asked.facts if facts is None else facts

        def choose_by_window() -> AutoChoice:
            return choose_loadout(
                facts.context_window,
                self.catalog,
                self.registry,
                self._count(*asked.means),
                max_tools=facts.max_tools,
                output_reserve=facts.output_reserve,
                tool_calling=facts.tool_calling,
            )

        if facts.toolset is None:
            choice = choose_by_window()
        else:
            from toolbelt.models.given_choice import choose_given  # few projects say so of a model

            measure = self._measure(replace(asked, facts=facts))
            choice = choose_given(facts.toolset, self.catalog, self.registry, measure, choose_by_window)
        if choice.loadout is None:
            return Resolution(AUTO, (), self.catalog), choice
        if choice.outcome is AutoOutcome.LOADOUT:
            return self.resolve(choice.loadout.name), choice
        return self.resolve(None), choice

    def inspect(self, name: str | None, models: Sequence[str] = ()) -> Inspection:
        """A loadout, counted and held against models; raises as `resolve`."""
        resolution, tokens = self.resolve(name), self.tokens()
        return Inspection(resolution, tokens, self._fits(resolution, models))

    def inspect_auto(self, models: Sequence[str]) -> Inspection:
        """What `auto` chooses, counted; raises as `choose`."""
        resolution, choice = self.choose(models)
        tokens = self._count(*self._means(models[0]))
        return Inspection(resolution, tokens, self._fits(resolution, models[:1]), choice)

    def tokens(self) -> ToolTokens:
        """What every tool of the catalog costs."""
        return self._count(self.tokenizer, "openai")

    def _means(self, model: str) -> tuple[str, str]:
        """The tokenizer and the format by which tools are counted for a model."""
        return find_tokenizer(model) or self.tokenizer, find_form(model)

    def _count(self, tokenizer: str, form: str) -> ToolTokens:
        if (tokenizer, form) not in self._counted:
            self._counted[tokenizer, form] = count_tokens(self.catalog, tokenizer, form)
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
        from toolbelt.providers.facts import (
            find_facts,  # prices and the rules of providers, where a model is asked about
        )

        return find_facts(model, self.models)

    def model_names(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Those asked about, else the project's, else a few of every size.

        Raises:
            ToolbeltError: a name that is blank.
        """
        if any(not name.strip() for name in asked):
            raise ToolbeltError("--model wants the name of a model, not nothing; see: toolbelt model list")
        return tuple(dict.fromkeys(asked)) or self.config.models or DEFAULT_MODELS

    def comparer(self, tools: Sequence[Tool]) -> Comparer:
        """What holds toolsets made of `tools` against models."""
        from toolbelt.models.fit import Comparer  # the rules of providers, for comparing alone

        return Comparer(self.catalog.wire_names, lambda means: self._count_some(means, tools), tools)

    def ask(self, model: str) -> Asked:
        """A model, with what is known of it and by what its tools are counted."""
        from toolbelt.models.fit import Asked

        return Asked(self.facts(model), self._means(model), find_tokenizer(model) is not None)

    def _count_some(self, means: tuple[str, str], tools: Sequence[Tool]) -> ToolTokens:
        # The whole catalog may be counted already; if not, what is shown is all that matters.
        return self._counted.get(means) or count_tokens(self.catalog, *means, tools=tools)

    def _fits(self, resolution: Resolution, models: Iterable[str]) -> tuple[ModelFit, ...]:
        from toolbelt.models.fit import Toolset

        toolset = Toolset(resolution.loadout, resolution.active_tools)
        comparer = self.comparer(toolset.tools)
        return tuple(comparer.fit(toolset, self.ask(model)) for model in models)

    def _measure(self, asked: Asked) -> Callable[[Sequence[Tool]], ModelFit]:
        """What holds tools against a model."""
        from toolbelt.models.fit import Toolset

        return lambda tools: self.comparer(tools).fit(Toolset("", tuple(tools)), asked)

    def _refuse(self, findings: Sequence[Finding]) -> None:
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise InvalidFileError(sorted_findings(findings))
        if not self.quiet:
            print_findings(sorted_findings(findings))


def open_workspace(
    catalog: str | None, config: str | None, tokenizer: str | None = None, *, read_loadouts_too: bool = True
) -> Workspace:
    """Open everything, in the order flag (or environment), file, default.

    Raises:
        NotFoundError: a catalog, file or tokenizer that is not there.
        InvalidFileError: every mistake in the project's files, or in the catalog.
    """
    found = examine_config(Path.cwd(), config)
    name = tokenizer or found.tokenizer or DEFAULT_TOKENIZER
    make_counter(name)  # an unknown name is refused before anything is read
    try:
        catalog_file = open_catalog(catalog or found.catalog or DEFAULT_CATALOG)
    except InvalidFileError as error:
        raise InvalidFileError(sorted_findings([*found.findings, *error.findings])) from None
    for note in catalog_file.notes:
        notify(note)
    if not read_loadouts_too:
        found.refuse()
        return Workspace(replace(found, loadouts=()), catalog_file, name)
    workspace = Workspace(found, catalog_file, name)
    if found.findings:
        raise InvalidFileError(workspace.lint())  # with what is wrong about the rest, all at once
    return workspace


def count_tokens(catalog: Catalog, tokenizer: str, form: str, tools: Sequence[Tool] | None = None) -> ToolTokens:
    """What tools of a catalog cost, all if none are given: through the cache, with progress where that takes long."""
    with progress("counting tokens of tools", len(catalog.tools if tools is None else tools)) as advance:
        counter: TokenCounter = make_counter(tokenizer)
        if isinstance(counter, TiktokenCounter):
            counter = CachedTokenCounter(counter, cache_folder(os.environ), advance)
        return count_tool_tokens(catalog, counter, form, tools=tools)
