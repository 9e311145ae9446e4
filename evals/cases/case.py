"""A case: what a user says, and which calls are right (rule E3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.evals.conversation import Message


class Matching(StrEnum):
    """How the calls made are compared with an accepted answer."""

    EXACT = "exact"
    SUPERSET = "superset"
    """The calls made contain the answer's."""
    ORDERED = "ordered"
    """`exact`, and in order."""
    IN_ORDER = "in_order"
    """The calls made contain the answer's in this order; others may be before, between and after them."""
    STARTS_WITH = "starts_with"
    """The first calls made are the answer's, in this order; others may follow."""

    @property
    def allows_more(self) -> bool:
        """Whether calls of any tool are permitted beside those of an answer."""
        return self in (Matching.SUPERSET, Matching.IN_ORDER, Matching.STARTS_WITH)

    @property
    def unordered(self) -> Matching | None:
        """The same without the order; `None` where the order does not count."""
        return _UNORDERED.get(self)


_UNORDERED = {
    Matching.ORDERED: Matching.EXACT,
    Matching.IN_ORDER: Matching.SUPERSET,
    Matching.STARTS_WITH: Matching.SUPERSET,
}


class ArgumentRules(StrEnum):
    """How two argument values are compared."""

    LITERAL = "literal"
    """Equal as JSON values; 1 and 1.0 are equal, 1 and true are not."""
    BFCL = "bfcl"
    """As the Berkeley Function Calling Leaderboard compares: see `toolbelt.evals.scoring.scoring`."""


@dataclass(frozen=True)
class ExpectedArguments:
    """Which arguments of a call are right.

    Attributes:
        accepted: The right values of each argument, by name.
        optional: Names of arguments that may be missing.
        exact: Whether an argument that is neither in `accepted` nor in `contains` is wrong; otherwise it is unchecked.
        rules: How values are compared.
        contains: Texts that an argument must contain, in any case, by name: for searches, messages, commands. An
            argument that is no text is compared as JSON.
    """

    accepted: Mapping[str, tuple[Any, ...]] = FrozenDict()
    optional: frozenset[str] = frozenset()
    exact: bool = False
    rules: ArgumentRules = ArgumentRules.LITERAL
    contains: Mapping[str, tuple[str, ...]] = FrozenDict()

    @property
    def names(self) -> frozenset[str]:
        """Names of the arguments that are checked."""
        return frozenset(self.accepted) | frozenset(self.contains)


@dataclass(frozen=True)
class ExpectedCall:
    """One call of an accepted answer.

    Attributes:
        tools: Ids of tools; a call of any of them is right.
        arguments: Its right arguments; `None` leaves them unchecked.
    """

    tools: tuple[str, ...]
    arguments: ExpectedArguments | None = None


Answer = tuple[ExpectedCall, ...]
"""A complete right answer; an empty one means that no tool is called."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        id: Unique in its dataset.
        messages: The beginning of the conversation, in OpenAI's format.
        expected: The right answer; empty where no tool should be called, `None` where any call is right.
        accept: Further right answers.
        forbidden: Ids of tools that must not be called.
        allowed_extra: Ids of tools that may be called besides.
        match: How calls are compared with the answers.
        role: Name of the loadout of an agent with this task.
        kind: `single`, `multi`, ...; free text.
        tags: For filtering; free text.
        cluster: Shared by paraphrases of one task; the case's id where it has none.
        offered: Ids of the tools from which every toolset selects; `None` is the whole catalog.
        results: Results of calls, by tool id: one text, or one for each call in turn.
        steps: Requests with a selection after which the trial ends.
        draft: Whether nobody has reviewed it yet.
    """

    id: str
    messages: tuple[Message, ...]
    expected: Answer | None
    accept: tuple[Answer, ...] = ()
    forbidden: frozenset[str] = frozenset()
    allowed_extra: frozenset[str] = frozenset()
    match: Matching = Matching.EXACT
    role: str | None = None
    kind: str = ""
    tags: tuple[str, ...] = ()
    cluster: str = ""
    offered: tuple[str, ...] | None = None
    results: Mapping[str, tuple[str, ...]] = field(default_factory=FrozenDict)
    steps: int = 1
    draft: bool = False

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)

    @property
    def has_system(self) -> bool:
        """Whether it has a system prompt of its own."""
        return any(message["role"] in ("system", "developer") for message in self.messages)

    def with_system(self, system: str) -> tuple[Message, ...]:
        """Its messages, after a system prompt where it has none of its own and `system` is not empty."""
        if not system or self.has_system:
            return self.messages
        return (FrozenDict(role="system", content=system), *self.messages)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every right answer, the expected one first; none where any call is right."""
        return () if self.expected is None else (self.expected, *self.accept)

    @property
    def expects_nothing(self) -> bool:
        """Whether `[]` is the expected answer; abstention is measured on these cases."""
        return self.expected == ()

    @cached_property
    def query(self) -> str:
        """The last message of the user, as text."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                return content_text(message.get("content"))
        return ""

    @cached_property
    def right_ids(self) -> frozenset[str]:
        """Ids of the tools that are in a right answer or may be called besides."""
        named = (tool for answer in self.answers for call in answer for tool in call.tools)
        return frozenset(named) | self.allowed_extra


def find_rank(case: Case, searches: Iterable[Sequence[str]]) -> int | None:
    """The place at which searches found the tools of a right answer, from 1; `None` where one of them was not found.

    Args:
        case: The case.
        searches: Ids of the tools that each search found, the best first. Of a tool, the best place counts; of an
            answer, that of its last tool; of several answers, the best.
    """
    places: dict[str, int] = {}
    for search in searches:
        for place, tool_id in enumerate(search, start=1):
            places[tool_id] = min(place, places.get(tool_id, place))
    if not places:
        return None
    ranks: list[int] = []
    for answer in case.answers:
        best_places = [min((places[tool] for tool in call.tools if tool in places), default=None) for call in answer]
        if best_places and None not in best_places:
            ranks.append(max(place for place in best_places if place is not None))
    return min(ranks, default=None)


def is_covered(case: Case, reach: AbstractSet[str]) -> bool:
    """Whether a complete right answer can be given with these tools (rule E5).

    The empty answer always can. Where any call is right, one of the case's offered tools must be among the tools.

    Args:
        case: The case.
        reach: Ids of the tools that could be, or were, offered.
    """
    if case.expected is None:
        universe = reach if case.offered is None else reach & frozenset(case.offered)
        return () in case.accept or not universe <= case.forbidden
    return any(all(any(tool in reach for tool in call.tools) for call in answer) for answer in case.answers)


def content_text(content: object) -> str:
    """The text of a message's content: the text itself, or the texts of its parts, one per line; empty without any."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
