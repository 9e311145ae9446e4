"""`toolbelt.yaml` and the `*.loadout.yaml` files beside it (rule L11), read strictly (rule L10)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolbelt.catalog import ToolCategory
from toolbelt.documents import Document, read_document
from toolbelt.errors import Finding, InvalidFileError, NotFoundError, suggestion
from toolbelt.loadouts.lint import sorted_findings
from toolbelt.loadouts.written import LOADOUT_KEYS, WrittenLoadout, read_loadout, read_loadouts
from toolbelt.stores.shipped import find_shipped_catalog

CONFIG_NAMES = ("toolbelt.yaml", "toolbelt.yml")
LOADOUT_SUFFIXES = (".loadout.yaml", ".loadout.yml")
CONFIG_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "catalog": "The catalog to use: a shipped one by name, or a file, relative to this one.",
        "tokenizer": "What counts tokens where no model says otherwise.",
        "models": "Models to hold toolsets against: litellm names.",
        "loadouts": "Your loadouts by name; one may shadow a built-in of that name.",
    }
)


@dataclass(frozen=True)
class Config:
    """What the files of a project say.

    Attributes:
        path: Of `toolbelt.yaml`; `None` if there is none.
        catalog: The catalog to use, a shipped name or a path as seen from the working directory.
        tokenizer: Name of the tokenizer.
        models: litellm names.
        loadouts: Every loadout written, in the order of the files.
    """

    path: Path | None = None
    catalog: str | None = None
    tokenizer: str | None = None
    models: tuple[str, ...] = ()
    loadouts: tuple[WrittenLoadout, ...] = ()


def find_config(folder: Path) -> Path | None:
    """The nearest `toolbelt.yaml` from `folder` upward."""
    for parent in (folder, *folder.parents):
        for name in CONFIG_NAMES:
            if (parent / name).is_file():
                return parent / name
    return None


def read_config(folder: Path, path: str | None = None) -> Config:
    """The configuration in force in `folder`.

    Args:
        folder: The working directory.
        path: Of a `toolbelt.yaml` or another name for one; searched upward if `None`.

    Returns:
        With the loadouts of `*.loadout.yaml` files beside the file, or in `folder` where there is none.

    Raises:
        NotFoundError: `path` is not there.
        InvalidFileError: every mistake in every file.
    """
    if path is not None and not Path(path).exists():
        raise NotFoundError("file", path, [str(entry) for entry in Path(path).parent.glob("*.y*ml")])
    file = Path(path) if path is not None else find_config(folder)
    reader = _Reader(folder)
    if file is not None:
        reader.read_config_file(file)
    for beside in _loadout_files(file.parent if file is not None else folder):
        if file is None or beside.resolve() != file.resolve():
            reader.read_loadout_file(beside)
    if reader.findings:
        raise InvalidFileError(sorted_findings(reader.findings))
    return Config(file, reader.catalog, reader.tokenizer, reader.models, tuple(reader.loadouts))


def read_loadout_definitions(path: str) -> tuple[WrittenLoadout, ...]:
    """The loadouts of one file alone, be it a `toolbelt.yaml` or a `*.loadout.yaml`.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: every mistake in it.
    """
    reader = _Reader(Path.cwd())
    document = reader.read(Path(path))
    if document is not None:
        is_config = isinstance(document.data, dict) and "loadouts" in document.data
        if is_config or not str(path).endswith(LOADOUT_SUFFIXES):
            reader.read_config_file(Path(path))
        else:
            reader.read_loadout_file(Path(path))
    if reader.findings:
        raise InvalidFileError(sorted_findings(reader.findings))
    return tuple(reader.loadouts)


def config_schema() -> dict[str, Any]:
    """A JSON Schema of `toolbelt.yaml`, for editors; made of the same tables that the reader uses."""
    properties: dict[str, Any] = {
        "catalog": {"type": "string", "minLength": 1},
        "tokenizer": {"type": "string", "minLength": 1},
        "models": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "loadouts": {
            "type": "object",
            "propertyNames": {"minLength": 1, "not": {"const": "auto"}},
            "additionalProperties": {"anyOf": [{"$ref": "#/$defs/loadout"}, {"type": "null"}]},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolbelt.yaml",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: {"description": CONFIG_KEYS[key], **schema} for key, schema in properties.items()},
        "$defs": {"loadout": _loadout_schema()},
    }


def _loadout_schema() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    properties: dict[str, Any] = {}
    for key, known in LOADOUT_KEYS.items():
        schema: dict[str, Any] = (
            {"type": "array", "items": text, "uniqueItems": True} if known.many else {"type": "string"}
        )
        properties[key] = {"description": known.description, **schema}
    # A catalog may declare further categories, so these are offered by an editor and not enforced.
    properties["categories"]["items"] = {"anyOf": [{"enum": [str(category) for category in ToolCategory]}, text]}
    return {"type": "object", "additionalProperties": False, "properties": properties}


class _Reader:
    """Reads file after file, collecting what they say and what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.catalog: str | None = None
        self.tokenizer: str | None = None
        self.models: tuple[str, ...] = ()
        self.loadouts: list[WrittenLoadout] = []
        self.findings: list[Finding] = []

    def read(self, path: Path) -> Document | None:
        """The document of a file; its mistakes are kept."""
        try:
            return read_document(_shown(path, self._folder))
        except InvalidFileError as error:
            self.findings.extend(error.findings)
            return None

    def read_config_file(self, path: Path) -> None:
        """Everything in a `toolbelt.yaml`."""
        document = self.read(path)
        if document is None or document.data is None:
            return
        if not isinstance(document.data, dict):
            self.findings.append(document.finding("wrong-type", "A toolbelt.yaml is a mapping."))
            return
        for key in document.data:
            if key not in CONFIG_KEYS:
                message = f"toolbelt.yaml has no key {key!r}.{suggestion(key, CONFIG_KEYS)}"
                self.findings.append(document.finding("unknown-key", message, key))
        self.catalog = self._catalog(document, path)
        self.tokenizer = self._text(document, "tokenizer")
        self.models = self._models(document)
        if "loadouts" in document.data:
            loadouts, findings = read_loadouts(document, "loadouts")
            self.loadouts.extend(loadouts)
            self.findings.extend(findings)

    def read_loadout_file(self, path: Path) -> None:
        """The one loadout of a `*.loadout.yaml`, named by its `name` or by the file."""
        document = self.read(path)
        if document is None:
            return
        data = document.data
        if not isinstance(data, dict):
            message = "A loadout file is a mapping with keys such as `extends` and `categories`."
            self.findings.append(document.finding("wrong-type", message))
            return
        stem = path.name.removesuffix(LOADOUT_SUFFIXES[0]).removesuffix(LOADOUT_SUFFIXES[1])
        written, findings = read_loadout(document, data.get("name", stem), data, also=("name",))
        self.findings.extend(findings)
        if written is not None:
            self.loadouts.append(written)

    def _catalog(self, document: Document, path: Path) -> str | None:
        name = self._text(document, "catalog")
        if name is None or find_shipped_catalog(name):
            return name
        return _shown(path.parent / name, self._folder)

    def _models(self, document: Document) -> tuple[str, ...]:
        models = document.data.get("models")
        if models is None:
            return ()
        if not isinstance(models, list) or not all(isinstance(model, str) and model.strip() for model in models):
            self.findings.append(document.finding("wrong-type", "`models` must be a list of model names.", "models"))
            return ()
        return tuple(models)

    def _text(self, document: Document, key: str) -> str | None:
        value = document.data.get(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self.findings.append(document.finding("wrong-type", f"`{key}` must be text.", key))
        return None


def _loadout_files(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(LOADOUT_SUFFIXES) and entry.is_file():
            yield entry


def _shown(path: Path, folder: Path) -> str:
    """`path` as a user in `folder` would write it."""
    absolute = path if path.is_absolute() else folder / path
    shown = os.path.relpath(absolute, folder)
    return str(absolute) if shown.startswith("../..") else shown


def format_loadout(name: str, keys: Mapping[str, Any]) -> str:
    """The text of a `*.loadout.yaml`.

    Args:
        name: Of the loadout.
        keys: Its definition, under the keys of a loadout.
    """
    import yaml

    text: str = yaml.safe_dump({"name": name, **keys}, allow_unicode=True, sort_keys=False, width=100)
    return text
