"""What the assertions of one promptfoo test demand of the calls that are made, and the label of a case that says so.

A demand is a call that must be among those made; one call may meet several demands. So a label has an answer for each
way in which calls can meet them all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from toolbelt.evals.cases.case import Matching
from toolbelt.evals.cases.imports.context import CaseRow
from toolbelt.evals.cases.imports.import_report import UnmappedError

CONTRADICTING = "its assertions about tools do not go together in a label"
NEVER_PASSES = "an assertion about tools that no calls meet in promptfoo"
MOST_TOOLS = 50
"""Tools that a pattern may fit."""
_MOST_ANSWERS = 32
_TO_THE_END = 8
"""Steps of a case in which tools may be called a number of times at most, so that it goes on until the model stops."""


@dataclass(frozen=True)
class DemandedCall:
    """A call that is demanded.

    Attributes:
        tools: Ids of tools, any of which is right.
        arguments: Keys of a call in a case; empty where any are right.
        demands: Numbers of the demands that it meets; calls of one demand are different calls.
    """

    tools: tuple[str, ...]
    arguments: CaseRow
    demands: frozenset[int] = frozenset()

    def joined(self, other: DemandedCall) -> DemandedCall | None:
        """The call that meets both; `None` if none does."""
        tools = tuple(tool for tool in self.tools if tool in other.tools)
        arguments = _joined_arguments(self.arguments, other.arguments)
        if not tools or arguments is None or self.demands & other.demands:
            return None
        return DemandedCall(tools, arguments, self.demands | other.demands)

    def implies(self, other: DemandedCall) -> bool:
        """Whether every call that meets it meets the other."""
        return set(self.tools) <= set(other.tools) and _joined_arguments(self.arguments, other.arguments) == (
            self.arguments
        )

    def row(self) -> CaseRow:
        """As a case has it."""
        return {"tool": self.tools[0] if len(self.tools) == 1 else list(self.tools), **self.arguments}


Calls = tuple[DemandedCall, ...]


@dataclass
class Demands:
    """What is demanded of the calls of one test.

    Attributes:
        universe: Ids of the tools that may be called.
        calls: Calls that must be made, in groups; those of a group are different calls.
        sequence: Calls that must be made in this order.
        is_closed: Whether no others may be made than those of the sequence.
        only: Ids of the only tools that may be called, each of which must be.
        most: How often tools may be called at most, by id.
        forbidden: Ids of tools that must not be called, in order.
        any_call: Whether any call is right.
        no_call: Whether nothing may be called.
        first: The first calls of an answer, by position from 0.
        count: Number of calls of an answer, where it is said.
    """

    universe: tuple[str, ...]
    calls: list[Calls] = field(default_factory=list)
    sequence: Calls | None = None
    is_closed: bool = False
    only: tuple[str, ...] | None = None
    most: dict[str, int] = field(default_factory=dict)
    forbidden: dict[str, None] = field(default_factory=dict)
    any_call: bool = False
    no_call: bool = False
    first: dict[int, DemandedCall] = field(default_factory=dict)
    count: int | None = None

    def add(self, *calls: DemandedCall) -> None:
        """Demand calls, each another one."""
        self.calls.append(calls)

    def set_count(self, count: int) -> bool:
        """Demand a number of calls; always true."""
        if self.count not in (None, count):
            raise UnmappedError(NEVER_PASSES)
        if not count:  # an answer without calls is a text
            raise UnmappedError(NEVER_PASSES, "no call, as a list")
        self.count = count
        return True

    def set_first(self, place: int, call: DemandedCall) -> bool:
        """Demand a call at a position; always true."""
        joined = self.first[place].joined(call) if place in self.first else call
        if joined is None:
            raise UnmappedError(NEVER_PASSES)
        self.first[place] = joined
        return True

    def make_label(self) -> CaseRow:
        """The label that says so; it has no `expected` if nothing names the right tools.

        Raises:
            UnmappedError: no label does.
        """
        if self.no_call:
            if self.calls or self.sequence or self.first or self.any_call or self.count or self.only:
                raise UnmappedError(NEVER_PASSES)
            return {"expected": []}
        if self.first or self.count is not None:
            return self._with_forbidden(self._label_of_first())
        if self.only is not None:
            for tool in self.only:
                self.add(DemandedCall((tool,), {}))
        if not self.calls and self.sequence is None:
            if self.any_call and self.most:
                raise UnmappedError(CONTRADICTING)
            return self._with_forbidden({"expected": None}) if self.any_call else {}
        return self._with_forbidden(self._label_of_demands())

    def _label_of_first(self) -> CaseRow:
        """What is right where assertions look at the first calls of an answer."""
        calls = [self.first.get(place) for place in range(max(len(self.first), self.count or 0))]
        known = [call for call in calls if call is not None and len(call.tools) <= MOST_TOOLS]
        if self.sequence or self.most or len(known) < len(calls):
            raise UnmappedError(CONTRADICTING)
        is_exact = self.count is not None
        if is_exact and self.count != len(known):
            raise UnmappedError(NEVER_PASSES)
        known = [replace(call, tools=tuple(t for t in call.tools if t not in self.forbidden)) for call in known]
        if not all(call.tools for call in known):
            raise UnmappedError(NEVER_PASSES)
        wanted = [call for demand in self.calls for call in demand]
        if any(len(demand) > 1 for demand in self.calls) or not all(
            any(call.implies(one) for call in known) for one in wanted
        ):
            raise UnmappedError(CONTRADICTING)
        if self.only is not None:
            if len(known) > 1 or len(self.only) > 1 or known[0].arguments or not set(self.only) <= set(known[0].tools):
                raise UnmappedError(CONTRADICTING)
            row: CaseRow = {"expected": [{"tool": self.only[0]}]}
            return row if is_exact else row | {"allowed_extra": list(self.only)}
        match = Matching.ORDERED if is_exact else Matching.STARTS_WITH
        expected = [call.row() for call in known]
        return {"expected": expected} | ({} if is_exact and len(known) == 1 else {"match": match.value})

    def _label_of_demands(self) -> CaseRow:
        """What is right where assertions look at all calls."""
        ordered = self.sequence is not None
        answers: list[Calls] = [self.sequence or ()]
        for number, demand in enumerate(self.calls):
            for call in demand:
                wanted = replace(call, demands=frozenset({number}))
                answers = _minimal([way for answer in answers for way in self._ways(answer, wanted)], ordered=ordered)
        answers = [bounded for answer in answers for bounded in self._bounded(answer, ordered=ordered)]
        if not answers:
            raise UnmappedError(NEVER_PASSES)
        expected, *accept = [[call.row() for call in answer] for answer in answers]
        row: CaseRow = {"expected": expected}
        if accept:
            row["accept"] = accept
        extra = [tool for tool in self.universe if self._may_be_extra(tool)]
        if not (self.is_closed or self.only is not None or self.most):
            return row | {"match": (Matching.IN_ORDER if ordered else Matching.SUPERSET).value}
        if ordered and len(expected) > 1:
            row["match"] = Matching.ORDERED.value
        if self.most:
            row["steps"] = _TO_THE_END
        return row | ({"allowed_extra": extra} if extra else {})

    def _may_be_extra(self, tool: str) -> bool:
        is_free = tool not in self.most and tool not in self.forbidden
        return is_free and not self.is_closed and (self.only is None or tool in self.only)

    def _ways(self, answer: Calls, wanted: DemandedCall) -> Iterator[Calls]:
        """Each way in which an answer may come to hold a further call: as one that it has, or as one more."""
        for place, call in enumerate(answer):
            if (joined := call.joined(wanted)) is not None:
                yield (*answer[:place], joined, *answer[place + 1 :])
        if not self.is_closed:
            for place in range(len(answer) + 1) if self.sequence else (len(answer),):
                yield (*answer[:place], wanted, *answer[place:])

    def _bounded(self, answer: Calls, *, ordered: bool) -> Iterator[Calls]:
        """The answers that keep within the bounds: with as many more calls of each bounded tool as it may have."""
        kept: list[DemandedCall] = []
        for call in answer:
            tools = [tool for tool in call.tools if self.only is None or tool in self.only]
            tools = [tool for tool in tools if tool not in self.forbidden]
            if not tools:
                return
            if len(tools) > 1 and not self.most.keys().isdisjoint(tools):
                raise UnmappedError(CONTRADICTING)
            kept.append(replace(call, tools=tuple(tools)))
        counts = Counter(call.tools[0] for call in kept)
        spare = {tool: most - counts[tool] for tool, most in self.most.items()}
        if min(spare.values(), default=0) < 0:
            return
        spare = {} if self.is_closed else spare
        if ordered and any(spare.values()):
            raise UnmappedError(CONTRADICTING)
        for times in product(*(range(most + 1) for most in spare.values())):
            yield (
                *kept,
                *(DemandedCall((tool,), {}) for tool, count in zip(spare, times, strict=True) for _ in range(count)),
            )

    def _with_forbidden(self, row: CaseRow) -> CaseRow:
        return row | {"forbidden": list(self.forbidden)} if self.forbidden else row


def _minimal(answers: Sequence[Calls], *, ordered: bool) -> list[Calls]:
    """The answers that no other one is a part of."""
    kept: list[Calls] = []
    for answer in sorted(answers, key=len):
        if not any(_contains(answer, part, ordered=ordered) for part in kept):
            kept.append(answer)
    if len(kept) > _MOST_ANSWERS:
        raise UnmappedError(CONTRADICTING, f"more than {_MOST_ANSWERS} answers")
    return kept


def _contains(answer: Calls, part: Calls, *, ordered: bool) -> bool:
    """Whether whoever makes the calls of `answer` makes those of `part`."""
    if not part:
        return True
    for place, call in enumerate(answer):
        if call.implies(part[0]):
            rest = answer[place + 1 :] if ordered else (*answer[:place], *answer[place + 1 :])
            if _contains(rest, part[1:], ordered=ordered):
                return True
    return False


def _joined_arguments(one: CaseRow, other: CaseRow) -> CaseRow | None:
    """Arguments that meet both; `None` if none do, or no label says so."""
    if not one or not other or one == other:
        return one or other
    given = [
        {name: value for key in ("args", "args_any") for name, value in part.get(key, {}).items()}
        for part in (one, other)
    ]
    shared = given[0].keys() & given[1].keys()
    if not all(are_equal(given[0][name], given[1][name]) for name in shared):
        return None
    exact = [part.get("args_exact", False) for part in (one, other)]
    if not any(exact):
        return {key: one.get(key, {}) | other.get(key, {}) for key in one | other}
    stricter, looser = (0, 1) if exact[0] else (1, 0)
    if all(exact) or not given[looser].keys() <= given[stricter].keys():
        return None
    return (one, other)[stricter]


def are_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
