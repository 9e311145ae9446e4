"""Reads the search toolsets of a project from the section `toolsets` of `toolbelt.yaml`, strictly (rules S1, L10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.ranking.spec import parse_rank
from toolbelt.errors import ToolbeltError
from toolbelt.findings import Finding
from toolbelt.patterns import fold
from toolbelt.search.presets import PLAIN, PRESETS
from toolbelt.search.settings import MAX_K, Listing, Returns, Reveal, SearchSettings, Trigger
from toolbelt.sources import Document
from toolbelt.sources.section import Section

PRESET_KEY = "preset"
CHOICES: Mapping[str, type[StrEnum]] = MappingProxyType(
    {"trigger": Trigger, "returns": Returns, "reveal": Reveal, "listing": Listing}
)
SEARCH_KEYS: Mapping[str, str] = MappingProxyType(
    {
        PRESET_KEY: f"Whose search it is, with that project's settings where others are missing; {PLAIN} by default.",
        "trigger": "What starts a search: a call by the model, or each request of the user.",
        "k": "Tools that one search finds at the most.",
        "returns": "What the answer of the meta-tool holds of each tool.",
        "reveal": "How what was found becomes callable.",
        "pinned": "What is always shown: core, none, or the name of a loadout.",
        "listing": "What the description of the meta-tool lists.",
        "rank": "How tools are ranked: words, regex, embedding:MODEL or python:MODULE:FUNCTION.",
    }
)
"""The keys of a search toolset, with what they mean."""
NAME_PATTERN = r"^[^:,=+*]*[^:,=+*\s][^:,=+*]*$"
"""Names that can be written after `search:`."""


def read_searches(document: Document, section: str) -> tuple[dict[str, SearchSettings], list[Finding]]:
    """The search toolsets of a section, by name, and everything wrong with them.

    What is wrong has no part in the settings that are returned.
    """
    root = Section.of(document, section)
    searches: dict[str, SearchSettings] = {}
    presets = {fold(preset) for preset in PRESETS}
    for name, member in root.read_members("search toolset"):
        if fold(name) in presets:
            member.add_error("reserved-name", f"{member.label}: {name!r} is a preset; give it another name.")
        elif re.search(NAME_PATTERN, name) is None:
            member.add_error("bad-name", f"{member.label}: a name is written after `search:`, without : , = + or *.")
        if (settings := _read_settings(member)) is not None:
            searches[name] = settings
    return searches, root.findings


def _read_settings(member: Section) -> SearchSettings | None:
    if member.value is None:
        return PRESETS[PLAIN].settings
    fields = member.read_fields(tuple(SEARCH_KEYS), "a search toolset")
    preset = member.read_choice(PRESET_KEY, tuple(PRESETS), PRESET_KEY) if PRESET_KEY in fields else PLAIN
    changes: dict[str, Any] = {}
    for key, field in fields.items():
        if key in CHOICES:
            changes[key] = member.read_choice(key, CHOICES[key], f"value of {key}")
        elif key == "k":
            changes[key] = member.read_int(key, least=1, most=MAX_K, allow_float=True)
        elif key != PRESET_KEY and (text := member.read_text(key)) is not None:
            changes[key] = text.strip()
            if key == "rank":
                changes[key] = _read_rank(field, text)
    if preset is None or None in changes.values():
        return None
    try:
        return replace(PRESETS[preset].settings, **changes)
    except ToolbeltError as error:
        member.add_error("contradiction", f"{member.label}: {error}")
        return None


def _read_rank(field: Section, text: str) -> object:
    try:
        return parse_rank(text)
    except ToolbeltError as error:
        field.add_error("unknown-ranker", f"{field.label}: {error}")
        return None
