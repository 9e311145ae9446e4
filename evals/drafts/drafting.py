"""Drafting for one tool: what to ask next, and what came of the answers; a pure function of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.conversation import Message
from toolbelt.evals.drafts.jobs import Job
from toolbelt.evals.drafts.prompts import further_messages, opening_messages
from toolbelt.evals.drafts.reading import (
    Checker,
    Fault,
    Reason,
    WrittenMiss,
    WrittenTask,
    alike_key,
    read_answer,
)

ROUNDS = 2
"""How often a model is asked about one tool at the most: what cannot be used is asked for again, once."""
_OF_ALL = frozenset({Reason.NO_JSON, Reason.REFUSED, Reason.OVERFLOW})
"""Faults of a whole answer, which are why all is missing that is."""
_ENDINGS: Mapping[str, Reason] = {"refused": Reason.REFUSED, "context_overflow": Reason.OVERFLOW}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said for good.

    Attributes:
        text: Its words.
        failure: `refused` or `context_overflow` where it said none, and would not another time.
    """

    text: str = ""
    failure: str = ""


@dataclass
class Task:
    """A task for which the tool is right.

    Attributes:
        arguments: Of the call.
        queries: Its wordings.
    """

    arguments: Mapping[str, Any]
    queries: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A query that only sounds as if it were for the tool.

    Attributes:
        query: What the user says.
        tool: Id of the tool that is right; `None` where none is.
    """

    query: str
    tool: str | None


class Drafting:
    """Gathers the drafts for one tool from the answers about it.

    Attributes:
        job: What is wanted.
        messages: What to ask now; `None` when nothing more is to be asked.
        tasks: Those that can be used, with the wordings that can.
        near_misses: Those that can be used.
        refused: What was left out, or is missing, by reason; in drafts, but for an answer that is none at all.
    """

    def __init__(self, job: Job, checker: Checker) -> None:
        self.job = job
        self.messages: tuple[Message, ...] | None = opening_messages(job)
        self.tasks: list[Task] = []
        self.near_misses: list[NearMiss] = []
        self.refused: Counter[Reason] = Counter()
        self._checker = checker
        self._seen: set[str] = set()
        self._rounds = 0

    @property
    def drafted(self) -> int:
        """Cases there are."""
        return sum(len(task.queries) for task in self.tasks) + len(self.near_misses)

    @property
    def missing(self) -> int:
        """Cases there are fewer than wanted."""
        return self.job.wanted.cases - self.drafted

    def take(self, answer: Answer) -> None:
        """Take in the answer to `messages`, which are what is to be asked next from then on."""
        before = self.messages or ()
        self._rounds += 1
        faults = list(self._read(answer))
        for fault in faults:
            self.refused[fault.reason] += fault.drafts
        self.messages = None
        if not self.missing:
            return
        if self._rounds < ROUNDS and not answer.failure:
            told = [str(fault) for fault in faults if fault.reason is not Reason.SURPLUS]
            self.messages = further_messages(before, answer.text, told, list(self._wanted()))
        elif not any(fault.reason in _OF_ALL for fault in faults):
            lost = sum(fault.drafts for fault in faults if fault.reason is not Reason.SURPLUS)
            self.refused += Counter({Reason.TOO_FEW: max(self.missing - lost, 0)})

    def _read(self, answer: Answer) -> Iterator[Fault]:
        if answer.failure:
            yield Fault(_ENDINGS[answer.failure], "")
            return
        if (data := read_answer(answer.text)) is None:
            yield Fault(Reason.NO_JSON, "")
            return
        first = len(self.tasks)
        for written in self._checker.tasks(data, self.job.tool):
            yield from (written,) if isinstance(written, Fault) else self._add_task(written, first)
        for miss in self._checker.near_misses(data, self.job.tool):
            yield from (miss,) if isinstance(miss, Fault) else self._add_miss(miss)

    def _add_task(self, written: WrittenTask, known: int) -> Iterator[Fault]:
        if written.of is not None:
            if not 1 <= written.of <= known:
                yield Fault(Reason.OTHER_FORM, f"there is no task {written.of}", max(len(written.queries), 1))
                return
            task = self.tasks[written.of - 1]
        elif len(self.tasks) == self.job.wanted.tasks:
            yield from (Fault(Reason.SURPLUS, "") for _ in written.queries)
            return
        else:
            task = Task(written.arguments)
        for query in written.queries:
            if len(task.queries) == self.job.wanted.wordings:
                yield Fault(Reason.SURPLUS, "")
            elif (fault := self._fault_of(query)) is not None:
                yield fault
            else:
                task.queries.append(query.strip())
        if written.of is None and task.queries:
            self.tasks.append(task)

    def _add_miss(self, miss: WrittenMiss) -> Iterator[Fault]:
        if len(self.near_misses) == self.job.wanted.near_misses:
            yield Fault(Reason.SURPLUS, "")
        elif (fault := self._fault_of(miss.query, miss.tool)) is not None:
            yield fault
        else:
            self.near_misses.append(NearMiss(miss.query.strip(), miss.tool))

    def _fault_of(self, query: Any, right: str | None = None) -> Fault | None:
        """Why a query cannot be used; one that can is there already from now on."""
        named = (self.job.tool.id, *(() if right is None else (right,)))
        reason = self._checker.fault_of_query(query, named)
        if reason is None and (key := alike_key(query)) in self._seen:
            reason = Reason.REPEATED
        elif reason is None:
            self._seen.add(key)
        return None if reason is None else Fault(reason, repr(query)[:120])

    def _wanted(self) -> Iterator[str]:
        wanted = self.job.wanted
        if more := wanted.tasks - len(self.tasks):
            yield f"{more} more in `tasks`, each with {wanted.wordings} in `queries`"
        for number, task in enumerate(self.tasks, start=1):
            if lacking := wanted.wordings - len(task.queries):
                entry = f'{{"task": {number}, "queries": […]}}'
                yield f"in `tasks`, as {entry}: {lacking} more like {task.queries[0][:200]!r}, with the same values"
        if more := wanted.near_misses - len(self.near_misses):
            yield f"{more} more in `near_misses`"
