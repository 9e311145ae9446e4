"""What a project says of models already, for a recommendation that is to take its place."""

from __future__ import annotations

from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.models.own import OwnModel
from toolbelt.stores.config import Config, read_config


def written_models(config: Config) -> tuple[OwnModel, ...]:
    """The entries under `models`, also those that are a name and nothing else."""
    said = {own.name for own in config.own_models}
    return (*config.own_models, *(OwnModel(name) for name in config.models if name not in said))


def models_at(path: str | None) -> tuple[OwnModel, ...] | None:
    """The same of a file that was used once; `None` if there was none, it is gone, or something is wrong with it.

    Args:
        path: Absolute, of a `toolbelt.yaml`.
    """
    if path is None or not Path(path).is_file():
        return None
    try:
        return written_models(read_config(Path(path).parent, path))
    except (ToolbeltError, OSError):
        return None
