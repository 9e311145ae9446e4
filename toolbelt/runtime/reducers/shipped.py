"""The reducers that come with toolbelt, by the names of the tools they are for (rule R5)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolbelt.runtime.reducers.read_file import ReadFileReducer
from toolbelt.runtime.reducers.records import RecordsReducer
from toolbelt.runtime.reducers.reducer import ReducerRegistry, ToolResultReducer
from toolbelt.runtime.reducers.shell import ShellReducer

SHIPPED_REDUCERS: Mapping[str, ToolResultReducer] = MappingProxyType(
    {reducer.tool_name: reducer for reducer in (ShellReducer(), ReadFileReducer(), RecordsReducer())}
)
"""Each for a tool of the name that its class has by default; where yours are called otherwise, name them:
`ReducerRegistry([ShellReducer("bash"), ReadFileReducer("view"), RecordsReducer("list_issues")])`."""


def default_reducers() -> ReducerRegistry:
    """A registry of the shipped reducers, which is the caller's to change."""
    return ReducerRegistry(SHIPPED_REDUCERS.values())
