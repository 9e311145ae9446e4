"""Drafting for one tool: what to ask next, and what came of the answers; a pure function of them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.evals.conversation import Message
from toolbelt.evals.drafts.answers import (
    Checker,
    Fault,
    Reason,
    WrittenMiss,
    WrittenTask,
    alike_key,
    read_answer,
)
from toolbelt.evals.drafts.jobs import Job
from toolbelt.evals.drafts.prompts import further_messages, opening_messages

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


TAG = "generated"
"""The tag of every case that a model drafted."""
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_THAI, _LAO_END = "\u0e00", "\u0eff"


def draft_stem(name: str, key: bytes) -> str:
    """What the ids of all drafts for one tool by the same settings begin with.

    Args:
        name: The tool's wire name.
        key: What was asked first.
    """
    return f"{name}.{key.hex()[:8]}"


def stem_of(case_id: str) -> str:
    """What the id of a draft begins with."""
    return case_id.rsplit(".", 2)[0]


def case_rows(drafting: Drafting, model: str, key: bytes) -> Iterator[dict[str, Any]]:
    """The cases that were drafted for one tool, in order.

    Args:
        drafting: What came of the answers.
        model: Who wrote them.
        key: What was asked; its beginning is in the ids, so that those of other settings differ.
    """
    job = drafting.job
    stem = draft_stem(job.name, key)
    tags = [TAG] if job.language is None else [TAG, job.language]
    for number, task in enumerate(drafting.tasks, start=1):
        for wording, query in enumerate(task.queries, start=1):
            call, unstated = _call(job.tool.id, task.arguments, query)
            note = f"drafted by {model}"
            if unstated:
                note += f"; unchecked, as the query does not state them word for word: {', '.join(unstated)}"
            yield {
                "id": f"{stem}.{number}.{wording}",
                "query": query,
                "kind": "single",
                "tags": tags,
                "cluster": f"{stem}.{number}",
                "expected": [call],
                "draft": True,
                "note": note,
            }
    for number, miss in enumerate(drafting.near_misses, start=1):
        yield {
            "id": f"{stem}.near.{number}",
            "query": miss.query,
            "kind": "irrelevant" if miss.tool is None else "near-miss",
            "tags": tags,
            "expected": [] if miss.tool is None else [{"tool": miss.tool}],
            "draft": True,
            "note": f"drafted by {model} as a near miss of {job.tool.id}",
        }


def _call(tool: str, arguments: Mapping[str, Any], query: str) -> tuple[dict[str, Any], list[str]]:
    """The call that is expected, with the arguments that the query states; names of the others."""
    stated = {name: thaw(value) for name, value in arguments.items() if is_stated(value, query)}
    call: dict[str, Any] = {"tool": tool, "args": stated} if stated else {"tool": tool}
    return call, [name for name in arguments if name not in stated]


def is_stated(value: Any, query: str) -> bool:
    """Whether a query states a value so that any right call has just this one: its texts and numbers stand in it.

    They stand as words and numbers of their own: no "a" in "cat", no 7 in "17", no 5 in "-5". Truth values and nulls
    are stated in other words always, and taken for granted. What is empty cannot be stated.
    """
    if isinstance(value, str):
        return _stands_in(value, query)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return False
        return _stands_in(str(int(value)) if value == int(value) else str(value), query)
    items = list(value.values() if isinstance(value, Mapping) else value)
    return bool(items) and all(is_stated(item, query) for item in items)


def _stands_in(text: str, query: str) -> bool:
    """Whether a text, or the digits of a number, stand in a query by themselves."""
    text, query = (" ".join(one.casefold().replace("\u2212", "-").split()) for one in (text, query))
    if not text:
        return False
    if _NUMBER.fullmatch(text):
        # A minus sign is one that follows no word: that in "10-5" is none.
        found = rf"(?<![\d.,a-z_])(?<!(?<!\w)-){re.escape(text)}(?![.,]?\d)"
        return re.search(found, query) is not None
    around = f" {query} "
    return any(
        not _is_one_word(around[one.start() - 1], text[0]) and not _is_one_word(text[-1], around[one.end()])
        for one in re.finditer(re.escape(text), around)
        if one.start() and one.end() < len(around)
    )


def _is_one_word(left: str, right: str) -> bool:
    """Whether two letters, side by side, belong to one word; not so in writing without blanks."""
    return all(
        (letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M"))
        and unicodedata.east_asian_width(letter) not in "WF"
        and not _THAI <= letter <= _LAO_END
        for letter in (left, right)
    )
