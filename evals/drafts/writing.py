"""The answers made into a file of cases: in the order of the catalog, the same for the same answers."""

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
from toolbelt.evals.drafts.answer_store import Journal, request_key
from toolbelt.evals.drafts.answers import Checker, Reason, alike_key
from toolbelt.evals.drafts.folder import DraftFolder, Place, Touched
from toolbelt.evals.drafts.jobs import Job, Jobs
from toolbelt.evals.drafts.prompts import opening_messages
from toolbelt.evals.drafts.tool_drafts import Drafting, case_rows, draft_stem
from toolbelt.providers.chat import Failure, Sampling

NOT_ASKED = "not asked yet"
"""Why a tool has fewer drafts where it was not asked about, or not for what is missing."""
FAILED = "asked, and failed"
"""Likewise where it was, this time, and no answer came."""


@dataclass(frozen=True, slots=True)
class Short:
    """A tool with fewer drafts than were wanted.

    Attributes:
        tool: Its id.
        language: As asked for; `None` where none was.
        wanted: Cases.
        drafted: Cases.
        reasons: What was left out, by reason.
    """

    tool: str
    language: str | None
    wanted: int
    drafted: int
    reasons: dict[str, int]


@dataclass(eq=False)
class Drafted:
    """What a file of drafts came to.

    Attributes:
        cases: Lines in it.
        kinds: Drafts by kind.
        refused: Drafts of the model's that were left out, by reason.
        short: Tools with too few.
        kept: Lines of a human's, which stand first.
        superseded: Drafts that are left out since a human's line has their id.
        deleted: Drafts that are left out since a human took them out.
        earlier: Drafts of other tools or settings that were there, and still are.
        replaced: Drafts that were there, and for which the same request was answered otherwise now, or of no use.
        unanswered: Tools, times languages, that there is no answer about, or not the last.
        unanswered_tools: Tools that this is so for in any language.
        failed: Of those, how many failed this time, by how.
    """

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    short: list[Short] = field(default_factory=list)
    kept: int = 0
    superseded: int = 0
    deleted: int = 0
    earlier: int = 0
    replaced: int = 0
    unanswered: int = 0
    unanswered_tools: int = 0
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False)
class Finisher:
    """Writes the cases from the answers in a journal.

    Attributes:
        jobs: What was wanted.
        checker: Reads the answers.
        journal: Has them.
        model: Who wrote them.
        sampling: How it was asked.
        api_base: Where; `None` for the provider's own place.
    """

    jobs: Jobs
    checker: Checker
    journal: Journal
    model: str
    sampling: Sampling
    api_base: str | None = None

    def write(
        self,
        folder: DraftFolder,
        touched: Touched,
        advance: Callable[[int], object],
        failures: Mapping[int, Failure] | None = None,
    ) -> Drafted:
        """Write `cases.jsonl`; nothing has changed before all of it is written.

        A human's lines come first, then the drafts of other tools and settings that are there, then these. What is
        there for one of these tools by the same settings gives way only where all was answered about it.

        Args:
            folder: Where.
            touched: What a human has done there.
            advance: Told how many tools are through.
            failures: How asking failed this time, by the number of the job.

        Raises:
            StorageError: the disk would not; the cases are as they were.
        """
        made = Drafted()
        digest = hashlib.sha256()
        written = array("Q")
        with CasesWriter(folder.cases, overwrite=True) as writer:

            def put(line: str) -> None:
                writer.add_line(line)
                digest.update(f"{line}\n".encode())

            for line in folder.lines(touched.places):
                put(line)
                made.kept += 1
            for line in _Merge(self, folder, touched, made, failures or {}).lines(advance):
                put(line)
                written.append(line_digest(line.encode()))
            made.cases = writer.count
            if not made.cases:
                return made  # a file without a case would be no dataset
            # What was taken out is remembered, too: else it would come back the next time.
            folder.remember([*written, *touched.gone], digest.hexdigest())
            writer.finish()
        folder.forget_others()
        return made

    def key(self, messages: Sequence[Message]) -> bytes:
        """What the answer to a request is found by."""
        return request_key(self.model, self.sampling, messages, self.api_base)

    def replay(self, drafting: Drafting) -> None:
        """Take in the answers there are."""
        while (messages := drafting.messages) is not None and (answer := self.journal.find(self.key(messages))):
            drafting.take(answer)


class _Merge:
    """The drafts of a file, those that are there and those that were answered."""

    def __init__(
        self,
        finisher: Finisher,
        folder: DraftFolder,
        touched: Touched,
        made: Drafted,
        failures: Mapping[int, Failure],
    ) -> None:
        self._finisher = finisher
        self._folder = folder
        self._touched = touched
        self._made = made
        self._failures = failures
        self._seen = set(touched.queries)
        self._last_unanswered = ""

    def lines(self, advance: Callable[[int], object]) -> Iterator[str]:
        """Of both; those that are there of other tools and settings first."""
        finisher, drafts = self._finisher, dict(self._touched.drafts)
        own = {}
        if drafts:
            for number, job in enumerate(finisher.jobs):
                own[number] = drafts.pop(id_digest(draft_stem(job.name, finisher.key(opening_messages(job)))), [])
        for line, _ in self._kept(place for places in drafts.values() for place in places):
            self._made.earlier += 1
            yield line
        for number, job in enumerate(finisher.jobs):
            yield from self._job(number, job, own.get(number, []))
            if number % 50 == 49:
                advance(number + 1)

    def _job(self, number: int, job: Job, places: list[Place]) -> Iterator[str]:
        drafting = Drafting(job, self._finisher.checker)
        key = self._finisher.key(drafting.messages or ())
        self._finisher.replay(drafting)
        is_whole = drafting.messages is None
        there: set[int] = set()
        for line, row in self._kept(() if is_whole else places):
            there.add(id_digest(row["id"]))
            self._made.kinds[row["kind"]] += 1
            yield line
        rows = [(case_line(row), row) for row in case_rows(drafting, self._finisher.model, key)]
        if is_whole:
            drafted = {line_digest(line.encode()) for line, _ in rows}
            self._made.replaced += sum(place.digest not in drafted for place in places)
        refused = self._made.refused[Reason.REPEATED]
        yield from (line for line, row in rows if id_digest(row["id"]) not in there and self._is_new(line, row))
        self._count(number, drafting, self._made.refused[Reason.REPEATED] - refused)

    def _kept(self, places: Iterable[Place]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Lines that stay, with what they hold."""
        for line in self._folder.lines(places):
            row = json.loads(line)
            if id_digest(row["id"]) in self._touched.ids:
                self._made.superseded += 1
            else:
                self._seen.add(id_digest(alike_key(row["query"])))
                yield line, row

    def _is_new(self, line: str, row: dict[str, Any]) -> bool:
        """Whether a draft goes into the file; it is counted in either case."""
        if id_digest(row["id"]) in self._touched.ids:
            self._made.superseded += 1
        elif line_digest(line.encode()) in self._touched.gone:
            self._made.deleted += 1
        elif (query := id_digest(alike_key(row["query"]))) in self._seen:
            self._made.refused[Reason.REPEATED] += 1
        else:
            self._seen.add(query)
            self._made.kinds[row["kind"]] += 1
            return True
        return False

    def _count(self, number: int, drafting: Drafting, repeated: int) -> None:
        job, made = drafting.job, self._made
        reasons: Counter[str] = Counter({str(reason): count for reason, count in drafting.refused.items()})
        made.refused.update(reasons)
        if repeated:
            reasons[str(Reason.REPEATED)] += repeated
        if drafting.messages is not None:
            made.unanswered += 1
            made.unanswered_tools += job.tool.id != self._last_unanswered  # languages of a tool stand together
            self._last_unanswered = job.tool.id
            failure = self._failures.get(number)
            reasons[NOT_ASKED if failure is None else f"{FAILED}: {failure}"] = 1
            made.failed.update([] if failure is None else [str(failure)])
        if drafting.missing + repeated:
            wanted = job.wanted.cases
            made.short.append(Short(job.tool.id, job.language, wanted, drafting.drafted - repeated, dict(reasons)))
