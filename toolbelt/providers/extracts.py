"""What is kept of litellm's table: a value a model, a line each, so that one is found without reading the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

_END = "\n}}\n"
_MISSING = object()


def write_extract(stamp: object, values: Mapping[str, Any]) -> str:
    """The text of an extract, which is JSON.

    Args:
        stamp: What tells one state of the table from another.
        values: By model.
    """
    lines = (f"\n{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return f"{_head(stamp)}{','.join(lines)}{_END}"


class Extract(Mapping[str, Any]):
    """An extract that was kept, read as far as it is asked for.

    Args:
        text: As `write_extract` made it.
        is_sound: Whether a value is one that may have been written.
        make_anew: All values, where one is not sound.
    """

    def __init__(self, text: str, is_sound: Callable[[Any], bool], make_anew: Callable[[], Mapping[str, Any]]) -> None:
        self._text = text
        self._is_sound = is_sound
        self._make_anew = make_anew
        self._found: dict[str, Any] = {}

    @staticmethod
    def is_of(text: str, stamp: object) -> bool:
        """Whether `text` is whole and of that state of the table."""
        return text.startswith(f"{_head(stamp)}\n") and text.endswith(_END)

    def __getitem__(self, name: str) -> Any:
        if "_all" in self.__dict__:
            return self._all[name]
        if name not in self._found:
            self._found[name] = self._find(name)
        value = self._found[name]
        if value is _MISSING:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def _find(self, name: str) -> Any:
        key = f"\n{json.dumps(name)}: "  # no text of JSON holds a line break: what begins a line is a model
        if (start := self._text.find(key)) < 0:
            return _MISSING
        start += len(key)
        try:
            value = json.loads(self._text[start : self._text.index("\n", start)].rstrip(","))
        except (ValueError, RecursionError):
            return self._all.get(name, _MISSING)
        return value if self._is_sound(value) else self._all.get(name, _MISSING)

    @cached_property
    def _all(self) -> Mapping[str, Any]:
        """Every value; all anew if one is not sound."""
        try:
            values = json.loads(self._text)["values"]
        except (ValueError, RecursionError, KeyError, TypeError):
            return self._make_anew()
        sound = isinstance(values, dict) and all(map(self._is_sound, values.values()))
        return values if sound else self._make_anew()


def _head(stamp: object) -> str:
    return f'{{"of": {json.dumps(stamp)}, "values": {{'
