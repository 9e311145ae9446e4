"""The ladder of a catalog: the loadouts that `auto` tries, the largest first (rule L15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import InvalidDefinitionError
from toolbelt.text import show_value

_RUNG_KEYS = frozenset({"loadout", "min_window"})


def make_rung(entry: Any) -> FrozenDict:
    """A rung of a ladder: the name of a loadout, or `{"loadout": name, "min_window": tokens}`.

    Raises:
        InvalidDefinitionError: it is neither.
    """
    rung = {"loadout": entry} if isinstance(entry, str) else entry
    if not isinstance(rung, Mapping) or not isinstance(rung.get("loadout"), str) or rung.keys() - _RUNG_KEYS:
        message = f"A rung of a ladder has a `loadout` and a `min_window`; this is {show_value(entry)}."
        raise InvalidDefinitionError(message)
    window = rung.get("min_window", 0)
    if type(window) is not int or window < 0:
        raise InvalidDefinitionError(f"The `min_window` of a rung is a number of tokens, not {show_value(window)}.")
    return FrozenDict(loadout=rung["loadout"], min_window=window)
