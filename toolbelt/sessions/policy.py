"""What decides which tools a session shows and runs: the protocol of its policies (rule R8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.sessions.prompt import NO_PROMPT, SessionPrompt

if TYPE_CHECKING:
    from toolbelt.runtime.registry import ToolRegistry
    from toolbelt.runtime.results import ToolResult
    from toolbelt.toolkits.toolkit import Toolkit


class Stage(IntEnum):
    """When a policy applies. A session sorts its policies by this, so the order in which they are given is free."""

    GRANT = 1
    """What the agent has: static tools and toolkits."""
    LIMIT = 2
    """What of that it may use: a loadout."""
    CONTEXT = 3
    """What of that is shown, to save context: tiers, search."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools that one policy hands to the next, by their names in the registry. Any other tool is unreachable.

    Attributes:
        shown: The model is shown these, in this order, and may call them.
        hidden: Not shown; a call runs.
        waiting: Neither shown nor run now, but the model can get them with a meta-tool.
        requested: Those of `shown` that the model asked for, so that no later policy hides them to save context.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    requested: frozenset[str] = frozenset()

    @property
    def callable(self) -> tuple[str, ...]:
        """The tools whose calls run."""
        return (*self.shown, *self.hidden)

    @property
    def reachable(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.shown, *self.hidden, *self.waiting)


class PassedOn(Protocol):
    """A call that a meta-tool passes on: a name as the model wrote it, and arguments, `None` if these are no object."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def arguments(self) -> Mapping[str, Any] | None: ...  # noqa: D102


class SessionPolicy(Protocol):
    """One policy of one session; it keeps the state of that session.

    A session calls `begin_turn` when a turn begins, and `select` then and after every batch in which a meta-tool ran.
    So a change takes effect with the next request, unless `select` goes by what was there when the turn began.
    """

    @property
    def name(self) -> str:
        """For messages, and the `toolset` of its meta-tools: `tiers`, `loadout`, ..."""
        ...

    @property
    def stage(self) -> Stage:
        """When the policy applies."""
        ...

    @property
    def meta_tools(self) -> Sequence[Tool]:
        """The tools by which the model asks this policy; the same in every turn. They are shown before all others."""
        ...

    def begin_turn(self, tools: ToolRegistry) -> Sequence[str]:
        """Take over the tools of a new turn.

        Args:
            tools: All tools of plugins, as they are now, with the wire names of the session; the same object as in the
                turn before, if nothing was registered since.

        Returns:
            Warnings, in sentences.
        """
        ...

    def read_message(self, message: str) -> None:  # noqa: ARG002
        """Take over what the user wrote in this turn, before `select`; most policies do not need it."""
        return

    def pass_on(self, meta_tool: str, arguments: Mapping[str, Any]) -> PassedOn | None:  # noqa: ARG002
        """The call of a tool that a call of a meta-tool stands for; it runs in its place, with all that applies to it.

        `None` for a call that `answer` answers.
        """
        return None

    def select(self, given: Selection) -> Selection:
        """Which of the given tools are shown now, in which order; changes nothing."""
        ...

    async def answer(self, meta_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Answer a call of a meta-tool whose arguments match its schema. Calls come one after another."""
        ...

    def explain(self, tool: str) -> str | None:  # noqa: ARG002  for those who override it
        """Why a tool that this policy does not let through cannot be called now, in a sentence for the model.

        `None` where the model gets the same answer as for a tool that does not exist.
        """
        return None

    @property
    def prompt(self) -> SessionPrompt:
        """What the prompt of this turn states about the policy."""
        return NO_PROMPT

    @property
    def toolkits(self) -> Sequence[Toolkit]:
        """The toolkits of this turn, with names of tools as members: their policies and directives apply."""
        return ()

    @property
    def overrides(self) -> Mapping[str, Mapping[str, Any]]:
        """The configuration's overrides of this turn, by name of a tool."""
        return FrozenDict()
