"""Write the file of cases from the answers, in the order of the catalog; the same answers give the same file."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.cases.case_file import CasesWriter, case_line
from toolbelt.evals.cases.digests import id_digest, line_digest
from toolbelt.evals.conversation import Message
from toolbelt.evals.drafts.answer_store import AnswerStore, request_key
from toolbelt.evals.drafts.answers import DraftChecker, FaultReason, normalized_query
from toolbelt.evals.drafts.folder import DraftFolder, FolderState, LinePlace
from toolbelt.evals.drafts.jobs import Job, Jobs
from toolbelt.evals.drafts.prompts import opening_messages
from toolbelt.evals.drafts.tool_drafts import ToolDrafts, case_rows, draft_stem
from toolbelt.providers.chat import Failure, Sampling

NOT_ASKED = "not asked yet"
"""Reason for missing drafts whose request was not sent."""
FAILED = "asked, and failed"
"""Reason for missing drafts whose request failed in this call."""


@dataclass(frozen=True, slots=True)
class ShortTool:
    """A tool with fewer drafts than requested.

    Attributes:
        tool: Its id.
        language: As requested; `None` if none was.
        wanted: Number of requested cases.
        drafted: Number of drafted cases.
        reasons: Drafts left out, by reason.
    """

    tool: str
    language: str | None
    wanted: int
    drafted: int
    reasons: dict[str, int]


@dataclass(eq=False)
class DraftSummary:
    """Counts of the written cases and of the drafts that were left out.

    Attributes:
        cases: Lines of the file.
        kinds: Drafts by kind.
        refused: Drafts of the model that were left out, by reason.
        short: Tools with too few drafts.
        human_lines: Lines of a human, which come first.
        superseded: Drafts left out because a human's line has their id.
        deleted: Drafts left out because a human took them out.
        earlier: Drafts of other tools or settings, from earlier calls.
        replaced: Earlier drafts whose request has another answer now, or an unusable one.
        unanswered: Jobs (a tool in a language) without a final answer.
        unanswered_tools: Tools with such a job.
        failed: Jobs that failed in this call, by failure.
    """

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    short: list[ShortTool] = field(default_factory=list)
    human_lines: int = 0
    superseded: int = 0
    deleted: int = 0
    earlier: int = 0
    replaced: int = 0
    unanswered: int = 0
    unanswered_tools: int = 0
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False)
class DraftWriter:
    """Writes the cases from the stored answers.

    Attributes:
        jobs: What was to be drafted.
        checker: Reads the answers.
        answers: The stored answers.
        model: Name of the model that wrote them.
        sampling: Temperature and seed of the requests.
        api_base: Address of the model; `None` for that of its provider.
    """

    jobs: Jobs
    checker: DraftChecker
    answers: AnswerStore
    model: str
    sampling: Sampling
    api_base: str | None = None

    def write(
        self,
        folder: DraftFolder,
        state: FolderState,
        advance: Callable[[int], object],
        failures: Mapping[int, Failure] | None = None,
    ) -> DraftSummary:
        """Replace `cases.jsonl` once all of it is written.

        A human's lines come first, then earlier drafts of other tools and settings, then the drafts of these jobs.
        Earlier drafts of a job are replaced only where all its answers are there.

        Args:
            folder: Of the cases.
            state: What a human has changed there.
            advance: Called with the number of jobs done.
            failures: Failures of this call, by the number of the job.

        Raises:
            StorageError: the disk fails; the cases are unchanged.
        """
        summary = DraftSummary()
        digest = hashlib.sha256()
        written = array("Q")
        with CasesWriter(folder.cases, overwrite=True) as writer:

            def add(line: str) -> None:
                writer.add_line(line)
                digest.update(f"{line}\n".encode())

            for line in folder.lines(state.places):
                add(line)
                summary.human_lines += 1
            for line in _Merge(self, folder, state, summary, failures or {}).lines(advance):
                add(line)
                written.append(line_digest(line.encode()))
            summary.cases = writer.count
            if not summary.cases:
                return summary  # a file without a case is no dataset
            # Drafts that were taken out are remembered, too; they would come back otherwise.
            folder.remember([*written, *state.gone], digest.hexdigest())
            writer.finish()
        folder.forget_others()
        return summary

    def key(self, messages: Sequence[Message]) -> bytes:
        """The key of the answer to a request."""
        return request_key(self.model, self.sampling, messages, self.api_base)

    def replay(self, drafts: ToolDrafts) -> None:
        """Read the stored answers of a job."""
        while (messages := drafts.messages) is not None and (answer := self.answers.find(self.key(messages))):
            drafts.add_answer(answer)


class _Merge:
    """The drafts of a file: earlier ones and those of the stored answers."""

    def __init__(
        self,
        writer: DraftWriter,
        folder: DraftFolder,
        state: FolderState,
        summary: DraftSummary,
        failures: Mapping[int, Failure],
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._state = state
        self._summary = summary
        self._failures = failures
        self._seen = set(state.queries)
        self._last_unanswered = ""

    def lines(self, advance: Callable[[int], object]) -> Iterator[str]:
        """All drafts; earlier ones of other tools and settings come first."""
        writer, others = self._writer, dict(self._state.drafts)
        earlier: dict[int, list[LinePlace]] = {}
        if others:
            for number, job in enumerate(writer.jobs):
                stem = draft_stem(job.name, writer.key(opening_messages(job)))
                earlier[number] = others.pop(id_digest(stem), [])
        for line, _ in self._unchanged(place for places in others.values() for place in places):
            self._summary.earlier += 1
            yield line
        for number, job in enumerate(writer.jobs):
            yield from self._job(number, job, earlier.get(number, []))
            if number % 50 == 49:
                advance(number + 1)

    def _job(self, number: int, job: Job, places: list[LinePlace]) -> Iterator[str]:
        drafts = ToolDrafts(job, self._writer.checker)
        key = self._writer.key(drafts.messages or ())
        self._writer.replay(drafts)
        is_answered = drafts.messages is None
        earlier_ids: set[int] = set()
        for line, row in self._unchanged(() if is_answered else places):
            earlier_ids.add(id_digest(row["id"]))
            self._summary.kinds[row["kind"]] += 1
            yield line
        rows = [(case_line(row), row) for row in case_rows(drafts, self._writer.model, key)]
        if is_answered:
            drafted = {line_digest(line.encode()) for line, _ in rows}
            self._summary.replaced += sum(place.digest not in drafted for place in places)
        refused = self._summary.refused[FaultReason.REPEATED]
        yield from (line for line, row in rows if id_digest(row["id"]) not in earlier_ids and self._is_new(line, row))
        self._count(number, drafts, self._summary.refused[FaultReason.REPEATED] - refused)

    def _unchanged(self, places: Iterable[LinePlace]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Earlier drafts that stay, each with its data."""
        for line in self._folder.lines(places):
            row = json.loads(line)
            if id_digest(row["id"]) in self._state.ids:
                self._summary.superseded += 1
            else:
                self._seen.add(id_digest(normalized_query(row["query"])))
                yield line, row

    def _is_new(self, line: str, row: dict[str, Any]) -> bool:
        """Whether a draft goes into the file; it is counted in either case."""
        if id_digest(row["id"]) in self._state.ids:
            self._summary.superseded += 1
        elif line_digest(line.encode()) in self._state.gone:
            self._summary.deleted += 1
        elif (query := id_digest(normalized_query(row["query"]))) in self._seen:
            self._summary.refused[FaultReason.REPEATED] += 1
        else:
            self._seen.add(query)
            self._summary.kinds[row["kind"]] += 1
            return True
        return False

    def _count(self, number: int, drafts: ToolDrafts, repeated: int) -> None:
        job, summary = drafts.job, self._summary
        reasons: Counter[str] = Counter({str(reason): count for reason, count in drafts.refused.items()})
        summary.refused.update(reasons)
        if repeated:
            reasons[str(FaultReason.REPEATED)] += repeated
        if drafts.messages is not None:
            summary.unanswered += 1
            summary.unanswered_tools += job.tool.id != self._last_unanswered  # the jobs of a tool are neighbours
            self._last_unanswered = job.tool.id
            failure = self._failures.get(number)
            reasons[NOT_ASKED if failure is None else f"{FAILED}: {failure}"] = 1
            summary.failed.update([] if failure is None else [str(failure)])
        if drafts.missing + repeated:
            drafted = drafts.drafted - repeated
            summary.short.append(ShortTool(job.tool.id, job.language, job.quota.cases, drafted, dict(reasons)))
