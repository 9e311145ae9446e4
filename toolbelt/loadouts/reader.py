"""Loadouts as people write them: the keys of `toolbelt.yaml`, read strictly, with the line of every entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.errors import InvalidFileError, suggestion
from toolbelt.findings import Finding
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG, ToolLoadout
from toolbelt.sources import Document, Key


@dataclass(frozen=True)
class LoadoutKey:
    """A key of a written loadout.

    Attributes:
        attribute: The field of `ToolLoadout` it fills.
        many: Whether it takes a list of texts; else one text.
        description: For the JSON Schema.
    """

    attribute: str
    many: bool
    description: str


LOADOUT_KEYS: Mapping[str, LoadoutKey] = MappingProxyType(
    {
        "description": LoadoutKey("description", False, "What the loadout is for."),
        "extends": LoadoutKey("parent_loadout_name", False, "The loadout it inherits from, built-in or your own."),
        "categories": LoadoutKey("included_categories", True, "Every plugin of these categories is active."),
        "plugins": LoadoutKey("default_plugins", True, "Active by name: `plugin`, `plugin/tool` or `plugin/prefix*`."),
        "discoverable": LoadoutKey(
            "discoverable_patterns", True, "May be asked for: a name, `prefix*`, `*`, or a `plugin/tool`."
        ),
        "disabled": LoadoutKey(
            "disabled_plugins", True, "Never shown, whatever includes it: `plugin`, `plugin/tool` or `plugin/prefix*`."
        ),
    }
)


@dataclass(frozen=True)
class WrittenLoadout:
    """A loadout with the place where it is written.

    Attributes:
        loadout: The value.
        document: The file.
        path: Where in it the loadout's mapping stands; empty where the file is the loadout.
    """

    loadout: ToolLoadout
    document: Document
    path: tuple[Key, ...]

    def entries(self, key: str) -> tuple[str, ...]:
        """The entries under `key`, in the order written, repeats kept."""
        return tuple(entry for _, entry in self.numbered(key))

    def numbered(self, key: str) -> Iterator[tuple[int, str]]:
        """The entries under `key` with their places; what is no name is a finding of the reading, and not here."""
        written = self._mapping.get(key)
        for index, entry in enumerate(written if isinstance(written, list) else ()):
            if isinstance(entry, str) and entry.strip():
                yield index, entry

    def finding(self, rule: str, message: str, *keys: Key, **options: Any) -> Finding:
        """A finding placed at the value under `keys` of this loadout."""
        return self.document.finding(rule, message, *self.path, *keys, **options)

    @property
    def _mapping(self) -> Mapping[str, Any]:
        value = self.document.data
        for key in self.path:
            value = value[key]
        return value if isinstance(value, dict) else {}


def read_loadouts(document: Document, *path: Key) -> tuple[list[WrittenLoadout], list[Finding]]:
    """The loadouts of a mapping from name to definition, and everything wrong with them.

    Args:
        document: The file.
        path: Where in it the mapping stands.
    """
    data = document.data
    for key in path:
        data = data[key]
    if data is None:
        return [], []
    if not isinstance(data, dict):
        return [], [document.finding("wrong-type", "`loadouts` must map names to loadouts.", *path)]
    made: list[WrittenLoadout] = []
    findings: list[Finding] = []
    for name, entry in data.items():
        written, wrong = read_loadout(document, name, entry, *path, name)
        findings.extend(wrong)
        if written is not None:
            made.append(written)
    return made, findings


def read_loadout(
    document: Document, name: object, entry: object, *path: Key, also: tuple[str, ...] = ()
) -> tuple[WrittenLoadout | None, list[Finding]]:
    """One loadout, and everything wrong with it.

    Args:
        document: The file.
        name: Of the loadout.
        entry: Its mapping; `None` is a loadout that says nothing.
        path: Where in the document it stands.
        also: Further keys that may stand there.
    """
    if not isinstance(name, str) or not name.strip():
        return None, [document.finding("blank-name", "A loadout needs a name that is not blank.", *path)]
    if name.casefold() in (AUTO, WHOLE_CATALOG):
        message = f"{name!r} means something of its own on the command line; give the loadout another name."
        return None, [document.finding("reserved-name", message, *path)]
    if entry is not None and not isinstance(entry, dict):
        return None, [document.finding("wrong-type", f"Loadout {name!r} must be a mapping.", *path)]
    findings: list[Finding] = []
    fields: dict[str, Any] = {}
    for key, value in (entry or {}).items():
        if key in also:
            continue
        if key not in LOADOUT_KEYS:
            known = _advice(key) or suggestion(key, LOADOUT_KEYS)
            findings.append(document.finding("unknown-key", f"A loadout has no key {key!r}.{known}", *path, key))
            continue
        wrong = _wrong(document, key, value, *path, key)
        findings.extend(wrong)
        if not wrong and value is not None:
            fields[LOADOUT_KEYS[key].attribute] = tuple(value) if LOADOUT_KEYS[key].many else value
    return WrittenLoadout(ToolLoadout(name, **fields), document, path), findings


def _wrong(document: Document, key: str, value: object, *path: Key) -> list[Finding]:
    if value is None:
        return []
    if not LOADOUT_KEYS[key].many:
        if isinstance(value, str) and (value.strip() or key == "description"):
            return []
        return [document.finding("wrong-type", f"`{key}` must be text, not {_shown(value)}.", *path)]
    if not isinstance(value, list):
        return [document.finding("wrong-type", f"`{key}` must be a list, not {_shown(value)}.", *path)]
    return [
        document.finding("wrong-type", f"`{key}` must hold names, not {_shown(item)}.", *path, index)
        for index, item in enumerate(value)
        if not isinstance(item, str) or not item.strip()
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()} (put it in quotes if it is a name)"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(value)


def _advice(key: str) -> str:
    """For the words of the Python API, which a reader of its documentation may well try here."""
    for written, known in LOADOUT_KEYS.items():
        if key in (known.attribute, known.attribute.removesuffix("s")):
            return f" It is written {written!r} here."
    return ""


def loadouts_of(catalog: Catalog) -> tuple[ToolLoadout, ...]:
    """The loadouts a catalog brings along, to be registered beside one's own.

    Raises:
        InvalidFileError: everything wrong with them.
    """
    written, findings = read_loadouts(Document(catalog.loadouts, catalog.name))
    if findings:
        raise InvalidFileError(findings)
    return tuple(one.loadout for one in written)
