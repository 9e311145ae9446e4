"""What every command works on: the project's files, a catalog, the loadouts, and something to count with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tokens import TokenCounter, ToolTokens, count_tool_tokens, render_definitions
from toolbelt.console.screen import progress, tell, tell_findings
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.gateway.models import DEFAULT_MODELS, ModelTable
from toolbelt.gateway.tokenizers import DEFAULT_TOKENIZER, TiktokenCounter, find_tokenizer, make_counter
from toolbelt.loadouts import Lineage, Resolution, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import AUTO
from toolbelt.patterns import fold
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.config import Config, examine_config
from toolbelt.stores.files import cache_folder
from toolbelt.stores.shipped import DEFAULT_CATALOG
from toolbelt.stores.token_cache import CachedTokenCounter

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice
    from toolbelt.loadouts.written import WrittenLoadout


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
        definitions = self._lint_definitions()
        if self.config.findings or any(finding.severity is Severity.ERROR for finding in definitions):
            raise InvalidFileError(self.lint())

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

    def resolve(self, name: str) -> Resolution:
        """What a loadout makes of the catalog; raises as `get_lineage`."""
        self.get_lineage(name)
        return self.registry.resolve(name, self.catalog)

    def inspect(self, name: str, models: Sequence[str] = ()) -> Inspection:
        """A loadout, counted and held against models; raises as `get_lineage`."""
        resolution = self.resolve(name)
        return Inspection(resolution, self.tokens(), self._fits(resolution, models))

    def inspect_auto(self, model: str) -> tuple[Inspection, AutoChoice]:
        """The loadout that `auto` chooses for a model, counted; nothing is active where none was chosen."""
        from toolbelt.loadouts.auto import choose_loadout

        self.refuse_wrong_definitions()
        window = self.models.find_context_window(model)
        tokens = self._count(find_tokenizer(model) or self.tokenizer)
        choice = choose_loadout(window, self.catalog, self.registry, tokens)
        if choice.loadout is None or choice.loadout.name == AUTO:
            resolution = Resolution(AUTO, (choice.loadout,) if choice.loadout else (), self.catalog)
        else:
            resolution = self.resolve(choice.loadout.name)
        return Inspection(resolution, tokens, self._fits(resolution, [model]), choice), choice

    def tokens(self) -> ToolTokens:
        """What every tool of the catalog costs."""
        return self._tokens

    @cached_property
    def _tokens(self) -> ToolTokens:
        return self._count(self.tokenizer)

    def _count(self, tokenizer: str) -> ToolTokens:
        return count_tokens(self.catalog, tokenizer, self._definitions)

    @cached_property
    def _definitions(self) -> tuple[str, ...]:
        return render_definitions(self.catalog)

    @cached_property
    def models(self) -> ModelTable:
        """What is known of models."""
        return ModelTable(cache_folder(os.environ))

    def model_names(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Those asked about, else the project's, else a few of every size."""
        return tuple(dict.fromkeys(asked)) or self.config.models or DEFAULT_MODELS

    def _fits(self, resolution: Resolution, models: Iterable[str]) -> tuple[ModelFit, ...]:
        counted = {self.tokenizer: self.tokens()}
        active = [tool.id for tool in resolution.active_tools]
        fits = []
        for model in models:
            own = find_tokenizer(model)
            tokenizer = own or self.tokenizer
            if tokenizer not in counted:
                counted[tokenizer] = self._count(tokenizer)
            tokens = counted[tokenizer]
            window = self.models.find_context_window(model)
            exact = own is not None and tokens.exact
            fits.append(ModelFit(model, window, tokens.of(active), tokens.tokenizer, exact))
        return tuple(fits)

    def _refuse(self, findings: Sequence[Finding]) -> None:
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise InvalidFileError(sorted_findings(findings))
        if not self.quiet:
            tell_findings(sorted_findings(findings))


def open_workspace(
    catalog: str | None, config: str | None, tokenizer: str | None, *, read_loadouts_too: bool = True
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
        tell(note)
    if not read_loadouts_too:
        found.refuse()
        return Workspace(replace(found, loadouts=()), catalog_file, name)
    workspace = Workspace(found, catalog_file, name)
    if found.findings:
        raise InvalidFileError(workspace.lint())  # with what is wrong about the rest, all at once
    return workspace


def count_tokens(catalog: Catalog, tokenizer: str, definitions: Sequence[str]) -> ToolTokens:
    """What every tool of a catalog costs, through the cache, with progress where that takes long."""
    with progress("counting tokens of tools", len(catalog.tools)) as advance:
        counter: TokenCounter = make_counter(tokenizer)
        if isinstance(counter, TiktokenCounter):
            counter = CachedTokenCounter(counter, cache_folder(os.environ), advance)
        return count_tool_tokens(catalog, counter, rendered=definitions)
