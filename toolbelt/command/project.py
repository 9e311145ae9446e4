"""The project that a command works on."""

from __future__ import annotations

from toolbelt.project.opening import open_project
from toolbelt.project.project import Project
from toolbelt.render.screen import ConsoleReporter


def open_current_project(
    catalog: str | None, config: str | None, tokenizer: str | None = None, *, read_loadouts_too: bool = True
) -> Project:
    """The project of the working directory, with notes and progress on standard error; raises as `open_project`."""
    return open_project(
        catalog=catalog,
        config=config,
        tokenizer=tokenizer,
        reporter=ConsoleReporter(),
        read_loadouts_too=read_loadouts_too,
    )
