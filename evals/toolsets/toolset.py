"""The protocol of a toolset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Protocol

from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer

GoAhead = Literal["Go ahead."]
GO_AHEAD: Final[GoAhead] = "Go ahead."
"""The one thing that a user ever says after a reply: what was said need not be kept, for it can be told from that
anything was."""


class Toolset(Protocol):
    """What a model is shown, as a function of the case and of what was said so far.

    A toolset keeps no state of a trial: all that it may depend on is in the conversation, so that trials cannot
    leak into each other and an interrupted one is taken up where it stood.
    """

    @property
    def name(self) -> str:
        """As it is written on the command line: `full`, `loadout:developer`, `oracle+9`."""
        ...

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """What is shown at the next request of this conversation.

        The same value for the same content wherever that is cheap: what others derive from an offer is kept by it.
        """
        ...

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """What each call of the reply that follows `conversation` is answered with; `None` for no meta-tool's call."""
        ...

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> GoAhead | None:
        """`GO_AHEAD` where a user goes on after a reply to `conversation` that calls nothing; `None`: it is over."""
        ...

    def reach(self, case: Case) -> frozenset[str]:
        """Ids of the catalog's tools that could be offered in some request of this case (rule E5, coverage)."""
        ...
