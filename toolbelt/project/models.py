"""What the commands about models work on: the project's own, and litellm's table."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from toolbelt.models.facts import ModelFacts, describe_end
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_search import find_unknown_base
from toolbelt.render.screen import notify
from toolbelt.stores.config import Config, read_config
from toolbelt.stores.files import cache_folder


def warn_of_unknown_bases(names: Iterable[str], table: ModelTable) -> None:
    """Say which models are based on what nobody knows."""
    for name in names:
        if (unknown := find_unknown_base(name, table)) is not None:
            notify(f"the base of {name!r} is unknown: {unknown}", "warning")


def warn_of_ends(models: Iterable[ModelFacts]) -> None:
    """Warn of models that are gone, or will be soon."""
    for warning in filter(None, map(describe_end, models)):
        notify(warning, "warning")


def open_models(config: str | None) -> tuple[Config, ModelTable]:
    """The project's files, and what is known of models, with what these files say themselves.

    Args:
        config: Of a `toolbelt.yaml`; the nearest from here upward if `None`.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: every mistake in the project's files.
    """
    project_config = read_config(Path.cwd(), config)
    return project_config, ModelTable(cache_folder(os.environ), own=project_config.own_models)
