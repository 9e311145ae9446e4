"""The table of reducers, and those that are shipped (rule R5)."""

from __future__ import annotations

import pytest

from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.reducers.read_file import ReadFileReducer
from toolbelt.runtime.reducers.reducer import ReducerRegistry
from toolbelt.runtime.reducers.shipped import SHIPPED_REDUCERS, default_reducers


def test_R5_a_reducer_is_found_by_the_exact_name_of_its_tool() -> None:
    registry = ReducerRegistry([ReadFileReducer("view")])
    assert registry.get("view") == ReadFileReducer("view")
    assert registry.get("View") is None
    assert registry.get("view_all") is None


def test_R5_a_second_reducer_for_a_tool_is_an_error() -> None:
    registry = ReducerRegistry([ReadFileReducer()])
    with pytest.raises(InvalidDefinitionError, match="'read_file' has a reducer already"):
        registry.register(ReadFileReducer(max_lines=5))
    assert registry.get("read_file") == ReadFileReducer()


def test_R5_register_gives_what_removes_it_and_nothing_else() -> None:
    registry = ReducerRegistry()
    remove = registry.register(ReadFileReducer())
    remove()
    assert registry.get("read_file") is None
    another = ReadFileReducer(max_lines=5)
    registry.register(another)
    remove()
    assert registry.get("read_file") is another


def test_R5_the_shipped_ones_are_a_callers_own_to_change() -> None:
    assert list(SHIPPED_REDUCERS) == ["terminal", "read_file", "kanban_list"]
    one, other = default_reducers(), default_reducers()
    one.register(ReadFileReducer("view"))
    assert other.get("view") is None
    assert all(other.get(name) is reducer for name, reducer in SHIPPED_REDUCERS.items())
