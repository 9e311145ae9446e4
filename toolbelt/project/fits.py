"""Fits of a loadout's tools to models, kept in the cache folder: `loadout inspect` asks for the same ones each time.

To calculate them loads the rules of providers and reads every schema, a tenth of what the command takes. They are found
again by all that they follow from: the tools, the models, litellm's table, the project's own models, and the code. It
is only a cache: what cannot be read or written is calculated.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.catalog import Tool
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts.fit import ModelFit
from toolbelt.providers.litellm_table import TOKENIZERS, find_litellm_file
from toolbelt.stores.content_cache import hash_text, stamp_code
from toolbelt.stores.files import write_text

if TYPE_CHECKING:
    from toolbelt.project.project import Project

FILE_NAME = "model-fits.json"
_MOST_KEPT = 50
_CODE = ("catalog", "loadouts", "models", "providers")
"""Our packages that fits follow from."""


def find_fits(
    project: Project, tools: Sequence[Tool], models: Sequence[str], calculate: Callable[[], tuple[ModelFit, ...]]
) -> tuple[ModelFit, ...]:
    """The fits of tools to models, from the cache or else calculated and put there."""
    folder = project.models.cache
    if folder is None:
        return calculate()
    try:
        key = hash_text(json.dumps(_list_causes(project, tools, models), ensure_ascii=False)).hex()
    except (OSError, TypeError, ValueError, RecursionError):
        return calculate()
    stored = _read(folder / FILE_NAME)
    fits = _parse(stored.get(key))
    if fits is None:
        fits = calculate()
        _write(folder / FILE_NAME, {**stored, key: _format(fits)})
    return fits


def _list_causes(project: Project, tools: Sequence[Tool], models: Sequence[str]) -> list[Any]:
    wire_names = project.catalog.wire_names
    vocabularies = find_litellm_file(TOKENIZERS)
    return [
        stamp_code(*_CODE),
        [] if vocabularies is None else sorted(map(str, vocabularies.iterdir())),
        project.models.stamp,
        repr(project.config.own_models),
        project.tokenizer,
        models,
        # A large catalog is known by its file: what is written of its tools need not be read.
        [project.catalog.digest, [tool.id for tool in tools]]
        if project.catalog.digest
        else [
            (tool.id, tool.plugin, tool.name, wire_names[tool.id], tool.description, tool.parameters, tool.extra)
            for tool in tools
        ],
    ]


def _read(path: Path) -> Mapping[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        stored = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(stored, dict):
            return stored
    return {}


def _format(fits: Sequence[ModelFit]) -> list[str]:
    text = json.dumps([vars(fit) for fit in fits])
    return [text, hash_text(text).hex()]


def _parse(entry: Any) -> tuple[ModelFit, ...] | None:
    """The fits of an entry; `None` if there is none, or it is not as it was written."""
    if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
        return None
    text, digest = entry
    if hash_text(text).hex() != digest:
        return None
    fits = json.loads(text)
    return tuple(ModelFit(**{**fit, "by_plugin": tuple(map(tuple, fit["by_plugin"]))}) for fit in fits)


def _write(path: Path, entries: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError, ToolbeltError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(dict(list(entries.items())[-_MOST_KEPT:])))
