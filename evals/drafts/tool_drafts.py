"""The drafts for one tool, a pure function of the answers about it: what to ask next, and the lines of a case file."""

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
    AnswerFault,
    DraftChecker,
    FaultReason,
    ParsedNearMiss,
    ParsedTask,
    normalized_query,
    read_answer,
)
from toolbelt.evals.drafts.jobs import Job
from toolbelt.evals.drafts.prompts import further_messages, opening_messages

ROUNDS = 2
"""Most requests for one tool: unusable and missing drafts are requested once more."""
_OF_ALL = frozenset({FaultReason.NO_JSON, FaultReason.REFUSED, FaultReason.OVERFLOW})
"""Faults of a whole answer; they explain everything that is missing."""
_FINAL_FAILURES: Mapping[str, FaultReason] = {"refused": FaultReason.REFUSED, "context_overflow": FaultReason.OVERFLOW}


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The final answer of a model.

    Attributes:
        text: Its text.
        failure: `refused` or `context_overflow` if there is no text, and would be none another time.
    """

    text: str = ""
    failure: str = ""


@dataclass
class Task:
    """A task for which the tool is right.

    Attributes:
        arguments: Of the expected call.
        queries: Wordings of the task.
    """

    arguments: Mapping[str, Any]
    queries: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A query that only sounds as if it were for the tool.

    Attributes:
        query: The user's message.
        tool: Id of the tool that is right; `None` where none is.
    """

    query: str
    tool: str | None


class ToolDrafts:
    """Collects the drafts for one tool from the answers about it.

    Attributes:
        job: The tool, and how much to draft.
        messages: The next request; `None` if there is none.
        tasks: The usable tasks, with their usable wordings.
        near_misses: The usable near misses.
        refused: Drafts left out or missing, by reason; an answer without any draft counts as one.
    """

    def __init__(self, job: Job, checker: DraftChecker) -> None:
        self.job = job
        self.messages: tuple[Message, ...] | None = opening_messages(job)
        self.tasks: list[Task] = []
        self.near_misses: list[NearMiss] = []
        self.refused: Counter[FaultReason] = Counter()
        self._checker = checker
        self._seen: set[str] = set()
        self._rounds = 0

    @property
    def drafted(self) -> int:
        """Usable cases so far."""
        return sum(len(task.queries) for task in self.tasks) + len(self.near_misses)

    @property
    def missing(self) -> int:
        """Number of cases that are still missing."""
        return self.job.quota.cases - self.drafted

    def add_answer(self, answer: ModelAnswer) -> None:
        """Read the answer to `messages`, and set `messages` to the next request."""
        before = self.messages or ()
        self._rounds += 1
        faults = list(self._read(answer))
        for fault in faults:
            self.refused[fault.reason] += fault.drafts
        self.messages = None
        if not self.missing:
            return
        if self._rounds < ROUNDS and not answer.failure:
            texts = [str(fault) for fault in faults if fault.reason is not FaultReason.SURPLUS]
            self.messages = further_messages(before, answer.text, texts, list(self._missing_parts()))
        elif not any(fault.reason in _OF_ALL for fault in faults):
            left_out = sum(fault.drafts for fault in faults if fault.reason is not FaultReason.SURPLUS)
            self.refused += Counter({FaultReason.TOO_FEW: max(self.missing - left_out, 0)})

    def _read(self, answer: ModelAnswer) -> Iterator[AnswerFault]:
        if answer.failure:
            yield AnswerFault(_FINAL_FAILURES[answer.failure], "")
            return
        if (data := read_answer(answer.text)) is None:
            yield AnswerFault(FaultReason.NO_JSON, "")
            return
        known = len(self.tasks)
        for task in self._checker.tasks(data, self.job.tool):
            yield from (task,) if isinstance(task, AnswerFault) else self._add_task(task, known)
        for miss in self._checker.near_misses(data, self.job.tool):
            yield from (miss,) if isinstance(miss, AnswerFault) else self._add_miss(miss)

    def _add_task(self, parsed: ParsedTask, known: int) -> Iterator[AnswerFault]:
        if parsed.of is not None:
            if not 1 <= parsed.of <= known:
                yield AnswerFault(FaultReason.OTHER_FORM, f"there is no task {parsed.of}", max(len(parsed.queries), 1))
                return
            task = self.tasks[parsed.of - 1]
        elif len(self.tasks) == self.job.quota.tasks:
            yield from (AnswerFault(FaultReason.SURPLUS, "") for _ in parsed.queries)
            return
        else:
            task = Task(parsed.arguments)
        for query in parsed.queries:
            if len(task.queries) == self.job.quota.wordings:
                yield AnswerFault(FaultReason.SURPLUS, "")
            elif (fault := self._query_fault(query)) is not None:
                yield fault
            else:
                task.queries.append(query.strip())
        if parsed.of is None and task.queries:
            self.tasks.append(task)

    def _add_miss(self, miss: ParsedNearMiss) -> Iterator[AnswerFault]:
        if len(self.near_misses) == self.job.quota.near_misses:
            yield AnswerFault(FaultReason.SURPLUS, "")
        elif (fault := self._query_fault(miss.query, miss.tool)) is not None:
            yield fault
        else:
            self.near_misses.append(NearMiss(miss.query.strip(), miss.tool))

    def _query_fault(self, query: Any, right: str | None = None) -> AnswerFault | None:
        """Why a query cannot be used; a usable query is recorded, so that it is not used again."""
        named = (self.job.tool.id, *(() if right is None else (right,)))
        reason = self._checker.query_fault(query, named)
        if reason is None and (key := normalized_query(query)) in self._seen:
            reason = FaultReason.REPEATED
        elif reason is None:
            self._seen.add(key)
        return None if reason is None else AnswerFault(reason, repr(query)[:120])

    def _missing_parts(self) -> Iterator[str]:
        quota = self.job.quota
        if more := quota.tasks - len(self.tasks):
            yield f"{more} more in `tasks`, each with {quota.wordings} in `queries`"
        for number, task in enumerate(self.tasks, start=1):
            if lacking := quota.wordings - len(task.queries):
                entry = f'{{"task": {number}, "queries": […]}}'
                yield f"in `tasks`, as {entry}: {lacking} more like {task.queries[0][:200]!r}, with the same values"
        if more := quota.near_misses - len(self.near_misses):
            yield f"{more} more in `near_misses`"


TAG = "generated"
"""The tag of every case that a model drafted."""
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_THAI, _LAO_END = "\u0e00", "\u0eff"


def draft_stem(name: str, key: bytes) -> str:
    """The beginning of the ids of all drafts for one tool and the same settings.

    Args:
        name: The tool's wire name.
        key: Key of the first request.
    """
    return f"{name}.{key.hex()[:8]}"


def stem_of(case_id: str) -> str:
    """The stem in the id of a draft."""
    return case_id.rsplit(".", 2)[0]


def case_rows(drafts: ToolDrafts, model: str, key: bytes) -> Iterator[dict[str, Any]]:
    """The drafted cases of one tool, in order, as data for lines.

    Args:
        drafts: The usable drafts.
        model: Name of the model that wrote them.
        key: Key of the first request; its beginning is in the ids, so that drafts of other settings have other ids.
    """
    job = drafts.job
    stem = draft_stem(job.name, key)
    tags = [TAG] if job.language is None else [TAG, job.language]
    for number, task in enumerate(drafts.tasks, start=1):
        for wording, query in enumerate(task.queries, start=1):
            call, unstated = _expected_call(job.tool.id, task.arguments, query)
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
    for number, miss in enumerate(drafts.near_misses, start=1):
        yield {
            "id": f"{stem}.near.{number}",
            "query": miss.query,
            "kind": "irrelevant" if miss.tool is None else "near-miss",
            "tags": tags,
            "expected": [] if miss.tool is None else [{"tool": miss.tool}],
            "draft": True,
            "note": f"drafted by {model} as a near miss of {job.tool.id}",
        }


def _expected_call(tool: str, arguments: Mapping[str, Any], query: str) -> tuple[dict[str, Any], list[str]]:
    """The expected call with the arguments that the query states, and the names of the other arguments."""
    stated = {name: thaw(value) for name, value in arguments.items() if states_value(value, query)}
    call: dict[str, Any] = {"tool": tool, "args": stated} if stated else {"tool": tool}
    return call, [name for name in arguments if name not in stated]


def states_value(value: Any, query: str) -> bool:
    """Whether a query states a value, so that every right call has it: its texts and numbers occur in the query.

    They must be whole words and numbers: no "a" in "cat", no 7 in "17", no 5 in "-5". Users always state truth values
    and nulls in other words, so these count as stated. An empty value cannot be stated.
    """
    if isinstance(value, str):
        return _occurs_in(value, query)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return False
        return _occurs_in(str(int(value)) if value == int(value) else str(value), query)
    items = list(value.values() if isinstance(value, Mapping) else value)
    return bool(items) and all(states_value(item, query) for item in items)


def _occurs_in(text: str, query: str) -> bool:
    """Whether a text, or the digits of a number, occur in a query as whole words."""
    text, query = (" ".join(part.casefold().replace("\u2212", "-").split()) for part in (text, query))
    if not text:
        return False
    if _NUMBER.fullmatch(text):
        # A hyphen is a minus sign only where no word stands before it: not in "10-5".
        pattern = rf"(?<![\d.,a-z_])(?<!(?<!\w)-){re.escape(text)}(?![.,]?\d)"
        return re.search(pattern, query) is not None
    padded = f" {query} "
    return any(
        not _is_one_word(padded[match.start() - 1], text[0]) and not _is_one_word(text[-1], padded[match.end()])
        for match in re.finditer(re.escape(text), padded)
        if match.start() and match.end() < len(padded)
    )


def _is_one_word(left: str, right: str) -> bool:
    """Whether two neighbouring letters belong to one word; never in scripts without blanks."""
    return all(
        (letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M"))
        and unicodedata.east_asian_width(letter) not in "WF"
        and not _THAI <= letter <= _LAO_END
        for letter in (left, right)
    )
