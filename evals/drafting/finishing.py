"""The answers made into a file of cases: in the order of the catalog, the same for the same answers."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolbelt.evals.cases.index import id_digest
from toolbelt.evals.cases.lines import line_digest
from toolbelt.evals.cases.writing import CasesWriter, case_line
from toolbelt.evals.drafting.drafting import Drafting
from toolbelt.evals.drafting.folder import DraftFolder, Touched
from toolbelt.evals.drafting.jobs import Jobs
from toolbelt.evals.drafting.journal import Journal, request_key
from toolbelt.evals.drafting.reading import Checker, Reason, alike_key
from toolbelt.evals.drafting.rows import case_rows
from toolbelt.evals.models.model import Sampling

NOT_ASKED = "not asked yet"
"""Why a tool has no drafts where there is no answer about it."""


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
        unanswered: Tools, times languages, that there is no answer about, or not the last.
    """

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    short: list[Short] = field(default_factory=list)
    kept: int = 0
    superseded: int = 0
    deleted: int = 0
    unanswered: int = 0


@dataclass(eq=False)
class Finisher:
    """Writes the cases from the answers in a journal.

    Attributes:
        jobs: What was wanted.
        checker: Reads the answers.
        journal: Has them.
        model: Who wrote them.
        sampling: How it was asked.
    """

    jobs: Jobs
    checker: Checker
    journal: Journal
    model: str
    sampling: Sampling

    def write(self, folder: DraftFolder, touched: Touched, advance: Callable[[int], object]) -> Drafted:
        """Write `cases.jsonl`, a human's lines first; nothing has changed before all of it is written.

        Args:
            folder: Where.
            touched: What a human has done there.
            advance: Told how many tools are through.

        Raises:
            StorageError: the disk would not; the cases are as they were.
        """
        made = Drafted()
        digest = hashlib.sha256()
        written = array("Q")
        with CasesWriter(folder.cases, overwrite=True) as writer:

            def put(line: str) -> None:
                writer.add_text(line)
                digest.update(f"{line}\n".encode())

            for line in folder.lines(touched):
                put(line)
                made.kept += 1
            for line in self._lines(touched, made, advance):
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

    def _lines(self, touched: Touched, made: Drafted, advance: Callable[[int], object]) -> Iterator[str]:
        seen = set(touched.queries)
        for number, job in enumerate(self.jobs, start=1):
            drafting, key = self._replay(Drafting(job, self.checker))
            repeated = 0
            for row in case_rows(drafting, self.model, key):
                line = case_line(row)
                if id_digest(row["id"]) in touched.ids:
                    made.superseded += 1
                elif line_digest(line.encode()) in touched.gone:
                    made.deleted += 1
                elif (query := id_digest(alike_key(row["query"]))) in seen:
                    repeated += 1
                else:
                    seen.add(query)
                    made.kinds[row["kind"]] += 1
                    yield line
            self._count(drafting, repeated, made)
            if number % 50 == 0:
                advance(number)

    def _replay(self, drafting: Drafting) -> tuple[Drafting, bytes]:
        """Take in the answers there are; with what was asked first."""
        first = b""
        while (messages := drafting.messages) is not None:
            key = request_key(self.model, self.sampling, messages)
            first = first or key
            if (answer := self.journal.find(key)) is None:
                break
            drafting.take(answer)
        return drafting, first

    def _count(self, drafting: Drafting, repeated: int, made: Drafted) -> None:
        reasons: Counter[str] = Counter({str(reason): count for reason, count in drafting.refused.items()})
        if repeated:
            reasons[str(Reason.REPEATED)] += repeated
        made.refused.update(reasons)
        if drafting.messages is not None:
            made.unanswered += 1
            reasons[NOT_ASKED] = 1
        if drafting.missing + repeated:
            wanted, job = drafting.job.wanted.cases, drafting.job
            short = Short(job.tool.id, job.language, wanted, drafting.drafted - repeated, dict(reasons))
            made.short.append(short)
