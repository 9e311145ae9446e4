"""A case: what a user says, and which calls are right (rule E3)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.evals.conversation import Message


class Matching(StrEnum):
    """How the calls made are held against an accepted answer."""

    EXACT = "exact"
    SUPERSET = "superset"
    ORDERED = "ordered"


class ArgumentRules(StrEnum):
    """How two values are held against each other."""

    LITERAL = "literal"
    """Equal as JSON values; 1 and 1.0 are equal, 1 and true are not."""
    BFCL = "bfcl"
    """As the Berkeley Function Calling Leaderboard compares: see `toolbelt.evals.scoring.scoring`."""


@dataclass(frozen=True)
class ExpectedArguments:
    """What the arguments of a call may be.

    Attributes:
        accepted: By name, the values that are right. One not named is unchecked, unless `exact`.
        optional: Names of those that may be left out.
        exact: Whether an argument that is not named is wrong.
        rules: How values are compared.
    """

    accepted: Mapping[str, tuple[Any, ...]] = FrozenDict()
    optional: frozenset[str] = frozenset()
    exact: bool = False
    rules: ArgumentRules = ArgumentRules.LITERAL


@dataclass(frozen=True)
class ExpectedCall:
    """One call of an accepted answer.

    Attributes:
        tools: Ids; a call of any one of them is right.
        arguments: What its arguments may be; `None` leaves them unchecked.
    """

    tools: tuple[str, ...]
    arguments: ExpectedArguments | None = None


Answer = tuple[ExpectedCall, ...]
"""A whole right answer; the empty one calls nothing."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        id: Unique in its dataset.
        messages: What opens the conversation, in OpenAI's form.
        expected: The right answer; empty where no tool should be called, `None` where any call will do.
        accept: Further right answers.
        forbidden: Ids of tools a call of which is always wrong.
        allowed_extra: Ids of tools a call of which is never surplus.
        match: How calls are held against the answers.
        role: Name of the loadout that an agent doing this would have.
        kind: What sort of case it is: `single`, `multi`, ...; free text.
        tags: For filtering; free text.
        cluster: Shared by paraphrases of one task; its own id where it has none.
        offered: Ids that make up its universe, from which every toolset selects; `None` is the whole catalog.
        results: What a call is answered with, by tool id: one text, or one for each time it is called.
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

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every right answer, the expected one first; none where any call will do."""
        return () if self.expected is None else (self.expected, *self.accept)

    @property
    def expects_nothing(self) -> bool:
        """Whether `[]` is the expected answer, which abstention is measured on."""
        return self.expected == ()

    @cached_property
    def query(self) -> str:
        """What the user said last, as text."""
        for message in reversed(self.messages):
            if message.get("role") == "user":
                content = message.get("content")
                if isinstance(content, str):
                    return content
                parts = content if isinstance(content, list) else []
                return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
        return ""

    @cached_property
    def right_ids(self) -> frozenset[str]:
        """Ids of every tool that is in an accepted answer or allowed beside it."""
        named = (tool for answer in self.answers for call in answer for tool in call.tools)
        return frozenset(named) | self.allowed_extra


def is_covered(case: Case, reach: AbstractSet[str]) -> bool:
    """Whether a complete accepted answer lies within `reach`: the same for what could be offered and for what was.

    Calling nothing is always within reach. Where any call will do, a tool of the case's universe has to be.

    Args:
        case: The case.
        reach: Ids of tools.
    """
    if case.expected is None:
        universe = reach if case.offered is None else reach & frozenset(case.offered)
        return () in case.accept or not universe <= case.forbidden
    return any(all(any(tool in reach for tool in call.tools) for call in answer) for answer in case.answers)


def content_text(content: object) -> str:
    """The text of a content: text itself, or the texts of its parts, a line each; nothing where there is none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
