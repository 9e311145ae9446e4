"""The protocol of a toolset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.rankers import RANKERS
from toolbelt.catalog.ranking.spec import RankSpec
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.providers.hosted_search import SearchMethod
from toolbelt.search.rankers import find_own_ranker
from toolbelt.search.settings import SearchSettings
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit

GoAhead = Literal["Go ahead."]
GO_AHEAD: Final[GoAhead] = "Go ahead."
"""The only message that a user sends after a reply. So the store needs no text, only whether there was a message."""


@dataclass(frozen=True, slots=True)
class FoundTools:
    """What the searches of a conversation found.

    Attributes:
        searches: Ids of the tools that each found, the best first.
        revealed: Ids of those that the model can call without their being offered.
    """

    searches: tuple[tuple[str, ...], ...] = ()
    revealed: frozenset[str] = frozenset()


NOTHING_FOUND = FoundTools()


class Toolset(Protocol):
    """The tools that a model is shown, as a function of the case and the conversation so far.

    A toolset keeps no state of a trial. It depends on the conversation alone, so that trials cannot affect each other
    and an interrupted one continues where it stopped.
    """

    @property
    def name(self) -> str:
        """As it is written on the command line: `full`, `loadout:developer`, `oracle+9`."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether all requests of a case have the offer of the first, and no call is answered by anything else.

        Two trials whose fixed offers are the same send a model the same requests.
        """
        ...

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """What is shown at the next request of this conversation.

        Returns the same object for the same content where that is cheap, because others cache by the offer.
        """
        ...

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """What each call of the reply that follows `conversation` is answered with; `None` for no meta-tool's call."""
        ...

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> GoAhead | None:
        """`GO_AHEAD` if the user continues after a reply without calls; `None` if the conversation ends."""
        ...

    def reach(self, case: Case) -> frozenset[str]:
        """Ids of the catalog's tools that could be offered in some request of this case (rule E5, coverage)."""
        ...

    def found(self, case: Case, conversation: Conversation) -> FoundTools:
        """What was searched for and found so far; nothing where a toolset has no search."""
        ...

    def passed_on(self, case: Case, call: ToolUse) -> ToolUse | None:
        """The call that a call of a call-through tool passes on, which is the selection; `None` for any other call."""
        ...


class NoSearch:
    """The part of a toolset that has no search."""

    is_fixed = False

    def found(self, case: Case, conversation: Conversation) -> FoundTools:  # noqa: ARG002  the protocol's
        """Nothing."""
        return NOTHING_FOUND

    def passed_on(self, case: Case, call: ToolUse) -> None:
        """Always `None`: each tool is called by its own name."""


def open_plain_ranker(spec: RankSpec) -> Ranker:
    """A ranker that needs neither a model nor code of the user's.

    Raises:
        ToolbeltError: it needs one.
    """
    if (own := find_own_ranker(spec)) is not None:
        return own
    if (make := RANKERS.get(spec.kind)) is None:
        raise ToolbeltError(f"The ranker {spec} cannot be used here.")
    return make()


RendererMaker = Callable[[Mapping[str, Tool]], ToolRenderer]
"""Gives the renderer of the catalog and further tools, by the wire name each must have; kept by the maker."""


@dataclass(frozen=True, eq=False)
class ToolsetContext:
    """What every toolset of an arm is made from.

    Attributes:
        catalog: Every tool there is.
        registry: Every loadout there is.
        renderer: Gives the renderers, which count as the arm's model does.
        roles: The roles that cases have, for `loadout`.
        seed: Of everything that is drawn.
        resolve_auto: What `loadout:auto` is for the arm's model; raises `ToolbeltError` where nothing can be chosen.
        agents: Of the project, for `dynamic:AGENT`.
        toolkits: Of the project.
        searches: Search toolsets of the project, by name.
        open_ranker: Opens the ranker of a search.
        choose_search: How the arm's vendor searches itself, by the name of a method or an empty one; raises
            `ToolbeltError` where it does not.
    """

    catalog: Catalog
    registry: ToolLoadoutRegistry
    renderer: RendererMaker
    roles: frozenset[str] = frozenset()
    seed: int = 0
    resolve_auto: Callable[[], Resolution] | None = None
    agents: tuple[AgentSpec, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()
    searches: Mapping[str, SearchSettings] = FrozenDict()
    open_ranker: Callable[[RankSpec], Ranker] = open_plain_ranker
    choose_search: Callable[[str], SearchMethod] | None = None
