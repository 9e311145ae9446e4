"""The project that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolbelt.command.options import catalog_option, config_option, gathered, json_option, tokenizer_option
from toolbelt.project.opening import open_project
from toolbelt.project.project import Project
from toolbelt.render.screen import ConsoleReporter

if TYPE_CHECKING:
    from toolbelt.servers.spec import Approvable


@dataclass(frozen=True)
class ProjectOptions:
    """The options that name a project, each `None` where it is not given.

    Attributes:
        catalog: A shipped catalog, a dataset folder, or a file.
        config: Path of a `toolbelt.yaml`.
        tokenizer: Counts tokens if a model's own tokenizer is not known.
    """

    catalog: str | None = None
    config: str | None = None
    tokenizer: str | None = None

    def open(self, *, read_loadouts_too: bool = True, refuse_mistakes: bool = True, yes: bool = False) -> Project:
        """The project of the working directory, with notes and progress on standard error; raises as `open_project`.

        Args:
            read_loadouts_too: As for `open_project`.
            refuse_mistakes: Likewise.
            yes: Whether the command has `--yes`, so that code needs no approval.
        """

        def approve(specs: Sequence[Approvable]) -> None:
            from toolbelt.command.approval import approve

            approve(specs, yes=yes)

        return open_project(
            catalog=self.catalog,
            config=self.config,
            tokenizer=self.tokenizer,
            reporter=ConsoleReporter(),
            read_loadouts_too=read_loadouts_too,
            refuse_mistakes=refuse_mistakes,
            approve=approve,
        )


_SOURCE = (catalog_option, config_option, json_option)

source_options = gathered("options", ProjectOptions, _SOURCE)
"""`--catalog --config --json`, for what counts no tokens: the command gets `options: ProjectOptions` and `as_json`."""

project_options = gathered("options", ProjectOptions, (*_SOURCE, tokenizer_option))
"""`source_options` and `--tokenizer`."""
