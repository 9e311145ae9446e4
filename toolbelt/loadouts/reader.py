"""Loadouts as people write them: the keys of `toolbelt.yaml`, read strictly, with the line of every entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolbelt.findings import Finding
from toolbelt.loadouts.loadout import AUTO, WHOLE_CATALOG, ToolLoadout
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section

LOADOUT_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "description": KeySpec(Kind.PROSE, "What the loadout is for.", ("description",)),
        "extends": KeySpec(
            Kind.TEXT, "The loadout it inherits from, built-in or your own.", ("parent_loadout_name", "parent")
        ),
        "categories": KeySpec(
            Kind.NAMES, "Every plugin of these categories is active.", ("included_categories", "included_category")
        ),
        "plugins": KeySpec(
            Kind.NAMES,
            "Active by name: `plugin`, `plugin/tool` or `plugin/prefix*`.",
            ("default_plugins", "default_plugin"),
        ),
        "discoverable": KeySpec(
            Kind.NAMES,
            "May be asked for: a name, `prefix*`, `*`, or a `plugin/tool`.",
            ("discoverable_patterns", "discoverable_pattern"),
        ),
        "disabled": KeySpec(
            Kind.NAMES,
            "Never shown, whatever includes it: `plugin`, `plugin/tool` or `plugin/prefix*`.",
            ("disabled_plugins", "disabled_plugin"),
        ),
        "resources": KeySpec(
            Kind.SWITCH,
            "Whether a gateway offers the servers' resources and prompts, too; false at any level omits them.",
            ("resources",),
        ),
    }
)
"""The first of the other spellings is the field of `ToolLoadout` that the key fills."""


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
    section = Section.of(document, *path)
    names = () if section.value is None else section.read_mapping(wanted="a mapping from names to loadouts") or ()
    loadouts = [_read_loadout(name, section.child(name), document) for name in names]
    return [loadout for loadout in loadouts if loadout is not None], section.findings


def read_loadout_file(document: Document, name: str) -> tuple[WrittenLoadout | None, list[Finding]]:
    """The one loadout of a file, and everything wrong with it.

    Args:
        document: The file.
        name: Of the loadout, where the file has no `name`.
    """
    section = Section.of(document)
    return _read_loadout(section.value.get("name", name), section, document, also=("name",)), section.findings


def _read_loadout(
    name: object, section: Section, document: Document, also: tuple[str, ...] = ()
) -> WrittenLoadout | None:
    is_name = _check_name(name, section)
    if section.value is not None and section.read_mapping() is None:
        return None
    fields: dict[str, Any] = {}
    for key, written in section.read_fields(LOADOUT_KEYS, "loadout", also=also).items():
        findings_before = len(section.findings)
        match LOADOUT_KEYS[key].kind:
            case Kind.NAMES:
                value: object = written.read_texts(wanted=Kind.NAMES.value, item="a name")
                for item in written.read_items() if value else ():
                    _check_entry(item)
            case Kind.SWITCH:
                value = written.read_bool() is not False
            case kind:
                value = written.read_text(blank=kind is Kind.PROSE)
                if kind is Kind.TEXT:
                    _check_entry(written)
        if len(section.findings) == findings_before:
            fields[LOADOUT_KEYS[key].other_spellings[0]] = value
    return WrittenLoadout(ToolLoadout(str(name), **fields), document, section.path) if is_name else None


def _check_name(name: object, section: Section) -> bool:
    if not isinstance(name, str) or not name.strip():
        section.add_error("blank-name", "A loadout needs a name that is not blank.")
        return False
    if fold(name) in (AUTO, WHOLE_CATALOG):
        message = f"{name!r} means something of its own on the command line; give the loadout another name."
        section.add_error("reserved-name", message)
        return False
    return section.is_name(name)


def _check_entry(section: Section) -> None:
    if isinstance(section.value, str) and section.value.strip():  # else it is reported already
        section.is_name(section.value)
