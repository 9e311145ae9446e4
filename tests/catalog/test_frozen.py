"""Frozen reaches inside, and to everyone else a frozen value is the dict or list it was."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog.frozen import FrozenDict, FrozenList, freeze, thaw

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def parts(value: Any) -> list[Any]:
    inner = list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    return [value, *(part for item in inner for part in parts(item))]


@given(VALUES)
def test_there_and_back_is_the_identity(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value), "in the same order too"
    thawed = thaw(frozen)
    assert thawed == value
    assert {type(part) for part in parts(thawed)}.isdisjoint({FrozenDict, FrozenList})
    assert freeze(frozen) is frozen


@given(VALUES)
def test_every_dict_and_list_inside_is_frozen(value: Any) -> None:
    assert [part for part in parts(freeze(value)) if type(part) in (dict, list)] == []


@given(VALUES)
def test_it_travels(value: Any) -> None:
    frozen = freeze(value)
    for made in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert made == frozen
        assert type(made) is type(frozen)
    if isinstance(value, dict | list):
        assert hash(frozen) == hash(freeze(copy.deepcopy(value)))


DICT_CHANGES: dict[str, Callable[[Any], object]] = {
    "set": lambda d: d.__setitem__("a", 2),
    "set-new": lambda d: d.__setitem__("b", 2),
    "delete": lambda d: d.__delitem__("a"),
    "clear": lambda d: d.clear(),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "setdefault": lambda d: d.setdefault("b", 1),
    "update": lambda d: d.update(a=2),
    "or": lambda d: d.__ior__({"a": 2}),
    "attribute": lambda d: setattr(d, "x", 1),
}
LIST_CHANGES: dict[str, Callable[[Any], object]] = {
    "set": lambda items: items.__setitem__(0, 2),
    "slice": lambda items: items.__setitem__(slice(None), []),
    "delete": lambda items: items.__delitem__(0),
    "append": lambda items: items.append(1),
    "clear": lambda items: items.clear(),
    "extend": lambda items: items.extend([1]),
    "insert": lambda items: items.insert(0, 1),
    "pop": lambda items: items.pop(),
    "remove": lambda items: items.remove(3),
    "reverse": lambda items: items.reverse(),
    "sort": lambda items: items.sort(),
    "add": lambda items: items.__iadd__([1]),
    "multiply": lambda items: items.__imul__(2),
    "attribute": lambda items: setattr(items, "x", 1),
}


@pytest.mark.parametrize("change", DICT_CHANGES.values(), ids=DICT_CHANGES)
def test_a_frozen_dict_refuses(change: Callable[[Any], object]) -> None:
    frozen = freeze({"outer": [{"a": 1}]})
    with pytest.raises((TypeError, AttributeError)):
        change(frozen["outer"][0])
    assert frozen == {"outer": [{"a": 1}]}


@pytest.mark.parametrize("change", LIST_CHANGES.values(), ids=LIST_CHANGES)
def test_a_frozen_list_refuses(change: Callable[[Any], object]) -> None:
    frozen = freeze({"outer": [3, 1]})
    with pytest.raises((TypeError, AttributeError)):
        change(frozen["outer"])
    assert frozen == {"outer": [3, 1]}


def test_every_method_that_could_change_a_builtin_is_covered() -> None:
    harmless = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for frozen, base in ((FrozenDict, dict), (FrozenList, list)):
        public = {name for name in dir(base) if not name.startswith("_")} - harmless
        assert {name for name in public if getattr(frozen, name) is getattr(base, name)} == set()


def test_the_refusal_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="this dict is frozen"):
        freeze({})["a"] = 1
    with pytest.raises(TypeError, match="this list is frozen"):
        freeze([]).append(1)


def test_what_the_caller_still_holds_cannot_change_it() -> None:
    inner = [1]
    given_value = {"a": inner, "b": (inner, {"c": inner})}
    frozen = freeze(given_value)
    inner.append(2)
    given_value["d"] = inner
    assert frozen == {"a": [1], "b": [[1], {"c": [1]}]}


def test_a_thawed_copy_is_free() -> None:
    frozen = freeze({"a": [1]})
    thaw(frozen)["a"].append(2)
    assert frozen == {"a": [1]}


def test_other_mappings_and_tuples_are_frozen_as_dicts_and_lists() -> None:
    assert freeze(MappingProxyType({"a": (1, MappingProxyType({}))})) == {"a": [1, {}]}
