"""The context of a call: session, agent, budget, backends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import InvalidDefinitionError
from toolbelt.text import show_value

DEFAULT_RESULT_BUDGET_CHARS = 80_000
"""Characters that the results of one batch may have together (rule R4)."""


class Capability(StrEnum):
    """A need of a tool that the agent must serve with a backend (rule R6)."""

    NETWORK = "network"
    SECRETS = "secrets"
    STORAGE = "storage"
    FS_REACH = "fs_reach"
    PROCESS = "process"
    ATTACHMENTS = "attachments"


@dataclass(frozen=True)
class ToolContext:
    """The context of a batch of calls, and the part of it that a tool gets.

    A tool gets it in the parameter that is annotated with this class, whatever its name; the model never sees it.

    Attributes:
        session_id: Of the conversation; `None` outside a conversation.
        agent: Name of the agent that calls; `None` if it has none.
        turn_count: Turns of the session so far, this one included; reducers get it.
        result_budget_chars: Characters that the results of the batch may have together, from 0 up (rule R4).
        dry_run: Whether calls are only described, not made (rule R6).
        confirm: Called where a guard wants a person's confirmation (rule K7): gets the question, returns yes or no.
            `None` where there is nobody to ask.
        attachments: Of the turn; a tool sees them only if it declares the capability.
        backends: Of the capabilities that the tool declares, by name; empty for the batch.
        overrides: The configuration's overrides, by tool name (rule D1).

    Raises:
        InvalidDefinitionError: a budget that is not a whole number from 0 up; backends or overrides that are no
            mapping, attachments that are no list.
    """

    session_id: str | None = None
    agent: str | None = None
    turn_count: int = 0
    result_budget_chars: int = DEFAULT_RESULT_BUDGET_CHARS
    dry_run: bool = False
    confirm: Callable[[str], bool | Awaitable[bool]] | None = None
    attachments: tuple[Any, ...] = ()
    backends: Mapping[str, Any] = FrozenDict()
    overrides: Mapping[str, Mapping[str, Any]] = FrozenDict()

    def __post_init__(self) -> None:
        budget: object = self.result_budget_chars
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < 0:
            raise InvalidDefinitionError(f"The result_budget_chars must be a whole number from 0 up, not {budget!r}.")
        for name in ("backends", "overrides"):
            if not isinstance(value := getattr(self, name), Mapping):
                raise InvalidDefinitionError(f"The {name} of a context must be a mapping, not {show_value(value)}.")
        if isinstance(self.attachments, str | bytes | Mapping) or not isinstance(self.attachments, Iterable):
            wrong = show_value(self.attachments)
            raise InvalidDefinitionError(f"The attachments of a context must be a list, not {wrong}.")
        object.__setattr__(self, "attachments", tuple(self.attachments))
        object.__setattr__(self, "overrides", freeze(self.overrides))
        if not isinstance(self.backends, FrozenDict):  # not deeply frozen: backends are objects
            object.__setattr__(self, "backends", FrozenDict(self.backends))


EMPTY_CONTEXT = ToolContext()
"""The context of a batch that is given none."""
