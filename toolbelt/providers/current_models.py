"""Which models are current: the newest generally available ones that litellm's table has, by rules and not by name.

A name is read as words and a version: `gemini/gemini-3.5-flash-lite` is version 3.5 of `gemini flash lite`, its
family. Of each family the model that a `…-latest` alias of the table resolves to is the newest, else the one with the
highest version; previews, dated snapshots and models that are gone or go within 90 days are none. A vendor's family
is left out where fewer than half as many providers serve it as serve the vendor's most widely served one (models for
law, security or search), where a family of a later generation costs no more or is named after it, or where its name
has a size (`80b`) and that of another does not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from toolbelt.models.facts import NOTICE_DAYS
from toolbelt.providers.litellm_table import ModelTable, read_window

VENDORS = (
    *("openai", "anthropic", "gemini", "xai", "mistral"),
    *("deepseek", "zai", "moonshot", "minimax", "dashscope", "groq"),  # of models with open weights
)
"""Providers, in litellm's words, whose models are listed where nobody asked for any."""
SHOWN_VENDORS = ("groq", "openai", "anthropic", "gemini")
"""Of each of them one model is shown where no model was asked about."""
_FEWEST_HOSTS = 4
"""A family that fewer providers serve is not well known."""
_TALKS = ("chat", "responses")
_UNSETTLED = frozenset({"alpha", "beta", "exp", "experimental", "preview"})
_DATE = re.compile(r"20\d\d-\d\d-\d\d|\d\d-20\d\d|\d{4,}")
_SIZE = re.compile(r"\d+b\b")
_PART = re.compile(r"\d+b\b|[a-z]+|\d+")
_FILE_NAME = "current-models.json"


class _Candidate(NamedTuple):
    """A model of a vendor that may be current, as JSON."""

    name: str
    family: str
    hosts: int
    is_newest: bool
    version: list[str]
    price: float
    window: int
    ends: str | None

    @property
    def rank(self) -> tuple[Any, ...]:
        """Order within the family: a vendor's own `-latest` is newer than a name without a version."""
        return self.is_newest, self.generation, self.version[1:], "latest" in self.name, "/" in self.name, self.name

    @property
    def generation(self) -> int:
        """The first number of the version."""
        return int(self.version[0]) if self.version else 0


def list_current(table: ModelTable) -> dict[str, tuple[str, ...]]:
    """The current models of each vendor that has some, by their price: small to large."""
    names = {vendor: tuple(_choose(table, vendor)) for vendor in VENDORS}
    return {vendor: models for vendor, models in names.items() if models}


def list_defaults(table: ModelTable) -> tuple[str, ...]:
    """The models shown where nobody asked for any: the middle one of each of `SHOWN_VENDORS`."""
    current = list_current(table)
    return tuple(models[(len(models) - 1) // 2] for vendor in SHOWN_VENDORS if (models := current.get(vendor)))


def _choose(table: ModelTable, vendor: str) -> Iterator[str]:
    limit = (table.today + timedelta(NOTICE_DAYS)).isoformat()
    newest: dict[str, _Candidate] = {}
    for row in table.derive(_FILE_NAME, _gather, _are_sound).get(vendor, ()):
        candidate = _Candidate(*row)
        known = newest.get(candidate.family)
        if (candidate.ends is None or candidate.ends > limit) and (known is None or candidate.rank > known.rank):
            newest[candidate.family] = candidate
    most = max((candidate.hosts for candidate in newest.values()), default=0)
    known_well = [candidate for candidate in newest.values() if candidate.hosts >= max(_FEWEST_HOSTS, most / 2)]
    for candidate in sorted(known_well, key=lambda candidate: (candidate.price, candidate.name)):
        if not any(_replaces(other, candidate) for other in known_well):
            yield candidate.name


def _replaces(new: _Candidate, old: _Candidate) -> bool:
    if _SIZE.search(old.family) and not _SIZE.search(new.family):
        return True
    if new.generation <= old.generation:
        return False
    words, old_words = set(new.family.split()), set(old.family.split())
    return new.price <= old.price or words <= old_words or old_words <= words


def _gather(entries: Mapping[str, Any]) -> dict[str, list[_Candidate]]:
    """The candidates of each vendor, whatever the date is."""
    talking = {
        name: (*_split(name), entry)
        for name, entry in entries.items()
        if isinstance(entry, dict) and entry.get("mode") in _TALKS
    }
    hosts: defaultdict[str, set[str]] = defaultdict(set)
    owners: defaultdict[str, Counter[str]] = defaultdict(Counter)
    newest = set()
    for family, _, entry in talking.values():
        host = str(entry.get("litellm_provider"))
        hosts[family].add(re.split("[_-]", host)[0])
        owners[family][host] += 1
        newest.add(entry.get("alias_of"))
    gathered: dict[str, list[_Candidate]] = {vendor: [] for vendor in VENDORS}
    for model, (family, version, entry) in talking.items():
        provider, price, window = entry.get("litellm_provider"), entry.get("input_cost_per_token"), read_window(entry)
        ends = entry.get("deprecation_date")
        if (
            provider in VENDORS
            and provider == max(VENDORS, key=lambda vendor: owners[family][vendor])
            and version is not None
            and not _UNSETTLED & set(family.split())
            and entry.get("supports_function_calling") is True
            and entry.get("alias_of") is None
            and (entry.get("successor_model") is None or ends is not None)
            and _is_price(price)
            and window is not None
        ):
            ends = ends if isinstance(ends, str) else None
            row = _Candidate(model, family, len(hosts[family]), model in newest, version, price or 0.0, window, ends)
            gathered[provider].append(row)
    return gathered


def _split(name: str) -> tuple[str, list[str] | None]:
    """The family of a name, and its version; `None` of a snapshot, which has a date."""
    bare = name.rpartition("/")[2].lower()
    words: list[str] = []
    version: list[str] = []
    for part in _PART.findall(_DATE.sub("", bare)):
        (version if part.isdigit() else words).append(part)
    family = " ".join(word for word in words if word not in ("v", "latest"))
    return family, None if _DATE.search(bare) else version


def _is_price(value: object) -> bool:
    return type(value) in (int, float) and value > 0  # type: ignore[operator]


def _are_sound(rows: object) -> bool:
    return isinstance(rows, Sequence) and all(
        isinstance(row, Sequence)
        and len(row) == len(_Candidate._fields)
        and [type(row[place]) for place in (0, 1, 2, 3, 6)] == [str, str, int, bool, int]
        and isinstance(row[4], list)
        and all(type(part) is str and part.isdigit() for part in row[4])
        and _is_price(row[5])
        and (row[7] is None or type(row[7]) is str)
        for row in rows
    )
