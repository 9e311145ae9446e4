"""Tools with a function to run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from toolbelt.catalog import Tool
from toolbelt.catalog.definitions import sent_schema
from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.errors import InvalidDefinitionError, suggestion
from toolbelt.runtime.arguments import Parse
from toolbelt.runtime.availability import Availability
from toolbelt.runtime.context import Capability
from toolbelt.runtime.guards import Guard
from toolbelt.runtime.signatures import find_misfit, read_signature
from toolbelt.runtime.time_limits import is_async


def _does_nothing() -> None:
    """Stands for a missing function."""


@dataclass(frozen=True)
class ExecutableTool(Tool):
    """A `Tool` with its function, and its limits and needs at run time.

    Most are made by `ExecutableTool.of(function)`, which reads name, description and parameters off the function.

    Example:
        >>> from toolbelt import ExecutableTool
        >>> def add(first: int, second: int) -> int:
        ...     'The sum of two numbers.'
        ...     return first + second
        >>> tool = ExecutableTool.of(add, plugin="math")
        >>> tool.id, tool.description, list(tool.parameters["properties"])
        ('math/add', 'The sum of two numbers.', ['first', 'second'])

    Attributes:
        function: Called with the arguments by name; sync or async. A sync function runs in a thread of its own.
        is_available: Called at every listing and call, in a thread; sync or async (on an event loop of its own there);
            `None` for always. A tool whose function raises, or does not answer within a second, is not shown; at a
            call, the time counts for the call.
        always_include: Whether it passes the allow-list (rule R2).
        max_result_chars: Its own size limit, if smaller than its share of the budget (rule R4); `None` for none.
        timeout_seconds: Its time limit; `None` for the registry's default. A sync function that is given up goes on in
            its thread; an async one that never yields blocks the event loop. Only `isolated` can end such a function.
        isolated: Whether each call runs in a new Python process, which is killed when its time is over or it crashes.
            That takes some 0.1 s and the imports of the function's module. The function must be one that can be
            imported, takes no `ToolContext`, and its arguments and results have to be picklable.
        capabilities: Each needs a backend (rule R6).
        toolset: The group it is in, for `get_for_toolset`.
        guard: Asked before each call, except in a dry run (rule K7).
        policy: Text for the prompt of an agent that has this tool (rule K7).
        of_session: Whether it belongs to the session, not to a plugin: no loadout removes it or makes it
            discoverable, and no sub-agent inherits it (rules L14, D2).
        context_parameter: Name of the function's parameter that takes the `ToolContext`; `None` if none does.
        parse: Turns the arguments into the values that the function takes; `None` to check them against `parameters`
            and pass them unchanged. Both happen on the event loop: validators of your own types must not block.

    Raises:
        InvalidDefinitionError: as `Tool`; a function that cannot be called, an unknown capability, an invalid limit.
    """

    function: Callable[..., Any] = _does_nothing
    is_available: Callable[[], bool | Awaitable[bool]] | None = None
    always_include: bool = False
    max_result_chars: int | None = None
    timeout_seconds: float | None = None
    isolated: bool = False
    capabilities: frozenset[Capability] = frozenset()
    toolset: str | None = None
    guard: Guard | None = None
    policy: str = ""
    of_session: bool = False
    context_parameter: str | None = None
    parse: Parse | None = field(default=None, repr=False, compare=False)

    __hash__ = Tool.__hash__

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.function is _does_nothing or self.function is None:
            raise InvalidDefinitionError(f"Tool {self.name!r} has no function to run.")
        for part, wanted in (("function", self.function), ("is_available", self.is_available), ("guard", self.guard)):
            if wanted is not None and not callable(wanted):
                raise InvalidDefinitionError(f"The {part} of tool {self.name!r} cannot be called.")
        self._check_limits()
        if self.isolated:
            self._check_isolation()
        object.__setattr__(self, "capabilities", frozenset(map(self._capability, _listed(self.capabilities))))

    def _check_limits(self) -> None:
        limit = self.max_result_chars
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
            raise InvalidDefinitionError(
                f"The max_result_chars of tool {self.name!r} must be a whole number from 0 up, not {limit!r}."
            )
        timeout = self.timeout_seconds
        if timeout is not None and (
            not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0
        ):
            raise InvalidDefinitionError(
                f"The timeout_seconds of tool {self.name!r} must be a number above 0, not {timeout!r}."
            )

    def _check_isolation(self) -> None:
        if self.context_parameter is not None:
            raise InvalidDefinitionError(
                f"Tool {self.name!r} is isolated, so it cannot take the ToolContext, which is of this process."
            )
        from toolbelt.runtime.isolation import find_isolation_problem  # and with it multiprocessing

        if (problem := find_isolation_problem(self.function)) is not None:
            raise InvalidDefinitionError(
                f"The function of tool {self.name!r} cannot be isolated ({problem}). Define it at the top of a module."
            )

    @cached_property
    def validator(self) -> SchemaValidator | None:
        """Checks arguments where there is no `parse`; `None` where `parameters` is no usable schema.

        Cached, because to make one takes longer than most calls.
        """
        return make_validator(sent_schema(self.parameters) if self.parameters else {})

    @cached_property
    def is_async(self) -> bool:
        """Whether the function runs on the event loop; a sync one runs in a thread."""
        return is_async(self.function)

    @cached_property
    def availability(self) -> Availability | None:
        """Asks `is_available`; `None` where there is none."""
        return None if self.is_available is None else Availability(self.is_available)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("validator", "availability")}

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        capabilities: Iterable[Capability | str] = (),
        **settings: Any,
    ) -> Self:
        """Any Python callable as a tool; whatever is not given is read from its signature and docstring.

        Args:
            function: Sync or async; also a method, a `functools.partial` or an object with `__call__`.
            name: By default the function's.
            description: By default the docstring up to its section on arguments or results.
            parameters: JSON Schema of the arguments. By default derived from the annotations, and then the arguments
                are turned into annotated values: a date, an enum, a pydantic model, ...
            capabilities: Each needs a backend.
            settings: The other attributes of `ExecutableTool` and `Tool`.

        Raises:
            InvalidDefinitionError: as the class; a signature that no JSON object can fill, or an annotation that has
                no schema.
        """
        listed = None if parameters is None else parameters.get("properties")
        given = listed if isinstance(listed, Mapping) else ()
        signature = read_signature(function, derive=parameters is None, given=given)
        if name is None and not signature.name:
            raise InvalidDefinitionError("A lambda has no name; give it one: ExecutableTool.of(function, name=...).")
        return cls(
            name=signature.name if name is None else name,
            description=signature.description if description is None else description,
            parameters=signature.parameters if parameters is None else parameters,
            function=function,
            capabilities=capabilities,  # type: ignore[arg-type]  # converted at construction
            context_parameter=signature.context_parameter,
            parse=signature.parse,
            **settings,
        )

    def _capability(self, name: str) -> Capability:
        try:
            return Capability(name)
        except ValueError:
            known = [capability.value for capability in Capability]
            message = f"Tool {self.name!r} declares an unknown capability {name!r}.{suggestion(str(name), known)}"
            raise InvalidDefinitionError(message) from None


def as_executable(tool: Tool | Callable[..., Any]) -> ExecutableTool:
    """An executable tool, made by `ExecutableTool.of` if it is a function.

    Raises:
        InvalidDefinitionError: a function that cannot be a tool, a `Tool` that cannot be run, or a function that cannot
            take the arguments which its `parameters` list.
    """
    if isinstance(tool, ExecutableTool):
        if tool.parse is None and (reason := find_misfit(tool.function, tool.parameters, tool.context_parameter)):
            raise InvalidDefinitionError(f"The function of tool {tool.name!r} {reason}.")
        return tool
    if isinstance(tool, Tool):
        raise InvalidDefinitionError(f"Tool {tool.name!r} has no function to run; make it an ExecutableTool.")
    return as_executable(ExecutableTool.of(tool))


def _listed(names: Iterable[str]) -> Iterable[str]:
    return (names,) if isinstance(names, str) else names
