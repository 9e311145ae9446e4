"""The protocol of a reducer, and the registry of reducers (rule R5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.results import ToolResult


@dataclass(frozen=True, slots=True)
class ReduceInfo:
    """The call whose result is reduced.

    Attributes:
        args: The arguments, as the model gave them.
        turn_count: Turns of the session so far, this one included.
    """

    args: Mapping[str, Any]
    turn_count: int = 0


class ToolResultReducer(Protocol):
    """Makes the results of one tool shorter."""

    @property
    def tool_name(self) -> str:
        """The exact name of the tool."""
        ...

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        """The result, or one with shorter texts. If it raises, the result stays as it was.

        Args:
            result: What the tool returned, also a failure (`ok` is false, and the text is in `error`). A success cannot
                become a failure, nor a failure a success.
            info: The call.
        """
        ...


class ReducerRegistry:
    """Reducers by the exact name of their tool.

    Args:
        reducers: Registered at once.
    """

    def __init__(self, reducers: Iterable[ToolResultReducer] = ()) -> None:
        self._by_name: dict[str, ToolResultReducer] = {}
        for reducer in reducers:
            self.register(reducer)

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Add a reducer.

        Returns:
            A function that removes it again; called twice, or after another took its place, it does nothing.

        Raises:
            InvalidDefinitionError: its tool has one already.
        """
        name = reducer.tool_name
        if name in self._by_name:
            raise InvalidDefinitionError(f"Tool {name!r} has a reducer already; remove that one first.")
        self._by_name[name] = reducer

        def remove() -> None:
            if self._by_name.get(name) is reducer:
                del self._by_name[name]

        return remove

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of the tool of exactly that name; `None` if there is none."""
        return self._by_name.get(tool_name)
