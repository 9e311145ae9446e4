"""Dicts and lists that nobody can change: still dicts and lists to `json`, `jsonschema` and `==`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"this {type(self).__bases__[0].__name__} is frozen; build a new one")


class FrozenDict(dict[str, Any]):
    """A dict that refuses change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A list that refuses change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenList, (list(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self


_ATOMS = frozenset({str, int, float, bool, type(None)})


def freeze(value: Any) -> Any:
    """`value` with every dict and list in it frozen; what is frozen already is returned as it is."""
    kind = type(value)
    if kind is FrozenDict or kind is FrozenList or kind in _ATOMS:
        return value
    if kind is dict or isinstance(value, Mapping):  # the former spares every part of a catalog the slow question
        return FrozenDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList([freeze(item) for item in value])
    return value


def freeze_members(members: list[tuple[str, Any]]) -> FrozenDict:
    """What `freeze` makes of a dict with these members, whose own dicts are frozen already, as a decoder makes them."""
    for _, value in members:
        if type(value) is list:
            return FrozenDict([(key, freeze(item)) for key, item in members])
    return FrozenDict(members)


def thaw(value: Any) -> Any:
    """A deep copy of `value` made of plain dicts and lists."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value
