"""The settings of a search toolset as a value, and how they are written (rule S1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from toolbelt.catalog.ranking.spec import RankKind, RankSpec, parse_rank
from toolbelt.errors import NotFoundError, OutOfRangeError, ToolbeltError
from toolbelt.patterns import fold

Choice = TypeVar("Choice", bound=StrEnum)
MAX_K = 1_000
"""Most tools that one search can be set to find."""
_WORDS = RankSpec()
_KEY = re.compile(r":(?=[A-Za-z_]+=)")


class Trigger(StrEnum):
    """What starts a search."""

    MODEL = "model"
    """The model calls a meta-tool."""
    REQUEST = "request"
    """The user's words are searched for before the first request."""


class Returns(StrEnum):
    """What the answer of the meta-tool holds of each tool."""

    NAMES = "names"
    SCHEMAS = "schemas"
    """The whole definition."""


class Reveal(StrEnum):
    """How what was found becomes callable."""

    APPEND = "append"
    """Its definition is offered after those already offered."""
    CALL = "call"
    """Through a second meta-tool, which takes the name of the tool and its arguments."""
    REBIND = "rebind"
    """The list of tools is replaced."""


class Listing(StrEnum):
    """What the description of the meta-tool lists."""

    NONE = "none"
    GROUPS = "groups"
    """Name and description of each plugin."""
    NAMES = "names"
    """Every tool."""


PINNED_CORE = "core"
PINNED_NONE = "none"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How tools are found and shown; `str()` gives the one full form, `PRESET:KEY=VALUE:…`.

    Attributes:
        preset: Whose meta-tools these are, by name in `PRESETS`.
        trigger: What starts a search.
        k: Tools that one search finds at the most.
        returns: What the answer holds of each.
        reveal: How they become callable.
        pinned: What is always shown: `core`, `none`, or the name of a loadout.
        listing: What the description of the meta-tool lists.
        rank: How tools are ranked.

    Raises:
        OutOfRangeError: `k` is not 1 to `MAX_K`.
        ToolbeltError: the settings do not go together.
    """

    preset: str
    trigger: Trigger = Trigger.MODEL
    k: int = 5
    returns: Returns = Returns.NAMES
    reveal: Reveal = Reveal.APPEND
    pinned: str = PINNED_CORE
    listing: Listing = Listing.NONE
    rank: RankSpec = _WORDS

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K:
            raise OutOfRangeError("k", self.k, f"a number from 1 to {MAX_K:,}")
        if self.trigger is Trigger.REQUEST:
            if self.reveal is Reveal.CALL:
                raise ToolbeltError(
                    "trigger=request and reveal=call do not go together: the model would see neither tools nor a "
                    "search. Write reveal=rebind or reveal=append."
                )
            if self.listing is not Listing.NONE:
                raise ToolbeltError(
                    f"listing={self.listing} needs trigger=model: with trigger=request there is no meta-tool whose "
                    "description could list anything."
                )
            if self.rank.kind is RankKind.REGEX:
                raise ToolbeltError("rank=regex needs trigger=model: the user's words are no pattern.")
        elif self.reveal is Reveal.CALL and self.returns is Returns.NAMES:
            raise ToolbeltError(
                "reveal=call needs returns=schemas: the model is shown the arguments of a tool nowhere else."
            )

    def __str__(self) -> str:
        return ":".join((self.preset, *(f"{key}={value}" for key, value in self.values().items())))

    @property
    def pinned_loadout(self) -> str | None:
        """The loadout that is always shown; `None` where it is none of one."""
        return None if self.pinned in (PINNED_CORE, PINNED_NONE) else self.pinned

    def values(self) -> dict[str, str]:
        """Each setting as text, in the order in which they are written."""
        return {key: str(getattr(self, key)) for key in KEYS}


KEYS = tuple(field.name for field in fields(SearchSettings) if field.name != "preset")
"""The keys, in the order in which they are written; `rank` is the last, as its value holds colons."""


def split_settings(text: str) -> tuple[str, dict[str, str]]:
    """The name that settings begin with, empty for none, and the values that follow by key, as written.

    Raises:
        NotFoundError: there is no such key.
        ToolbeltError: a key stands twice, after `rank`, or is missing.
    """
    name, *parts = _KEY.split(f":{text}")
    values: dict[str, str] = {}
    while parts:
        written, _, value = parts.pop(0).partition("=")
        key = _get_key(written)
        if key == "rank":  # its value may look like a key
            value, parts = ":".join((value, *parts)), []
        if key in values:
            raise ToolbeltError(f"{key}= stands twice in {text!r}.")
        values[key] = value.strip()
    name = name.removeprefix(":").strip()
    preset, colon, rest = name.partition(":")
    if colon:
        raise ToolbeltError(f"{rest!r} in {text!r} is no setting. Write KEY=VALUE; keys are {', '.join(KEYS)}.")
    return preset.strip(), values


def change_settings(settings: SearchSettings, values: Mapping[str, str]) -> SearchSettings:
    """The settings with other values.

    Args:
        settings: As they are.
        values: By key, as written.

    Raises:
        NotFoundError: there is no such key, value or ranker.
        OutOfRangeError: a number that is not allowed.
        ToolbeltError: the settings do not go together.
    """
    changes: dict[str, Any] = {_get_key(key): _parse_value(_get_key(key), value) for key, value in values.items()}
    return replace(settings, **changes)


def _parse_value(key: str, value: str) -> object:
    """One value from its text; errors as for `change_settings`."""
    match key:
        case "trigger":
            return _choose(Trigger, key, value)
        case "returns":
            return _choose(Returns, key, value)
        case "reveal":
            return _choose(Reveal, key, value)
        case "listing":
            return _choose(Listing, key, value)
        case "rank":
            return parse_rank(value)
        case "k":
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                raise OutOfRangeError("k", value, f"a number from 1 to {MAX_K:,}")
            return int(value)
        case _:
            if not value:
                raise ToolbeltError("pinned= needs a value: core, none, or the name of a loadout.")
            return fold(value) if fold(value) in (PINNED_CORE, PINNED_NONE) else value


def _get_key(written: str) -> str:
    key = fold(written.strip())
    if key not in KEYS:
        raise NotFoundError("search setting", written.strip(), KEYS)
    return key


def _choose(kind: type[Choice], key: str, value: str) -> Choice:
    try:
        return kind(fold(value))
    except ValueError:
        known = [choice.value for choice in kind]
        raise NotFoundError(f"value of {key}", value, known, f"{key} is {' or '.join(known)}.") from None
