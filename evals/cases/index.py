"""Where the usable cases of a file stand: a few bytes for each, so that memory does not grow with what cases hold."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Generic, TypeVar

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.case_file import Line, read_lines
from toolbelt.evals.cases.digests import DatasetDigest, id_digest, line_digest
from toolbelt.evals.cases.layout import Layout, LayoutFinder
from toolbelt.evals.cases.references import AsWritten, Names
from toolbelt.findings import Finding, Severity, sorted_findings

MAX_FINDINGS = 1000
"""Mistakes that are told one by one; of further ones only the number is."""
MAX_EXCLUSIONS = 1000
"""Excluded cases that are kept one by one; of further ones only the number is."""
_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A case that cannot be asked with this catalog.

    Attributes:
        case_id: Its id.
        line: Where it stands, counted from 1.
        reason: Why, in words that are the same for all alike.
        detail: The label that this is about.
    """

    case_id: str
    line: int
    reason: str
    detail: str


class _Shared(Generic[_Value]):
    """Values that many cases share, each held once."""

    def __init__(self) -> None:
        self.values: list[_Value] = []
        self._numbers: dict[_Value, int] = {}

    def number(self, value: _Value) -> int:
        if (number := self._numbers.get(value)) is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


@dataclass(eq=False)
class CaseIndex:
    """Every usable case of a file, in order.

    Attributes:
        layout: How the file is written.
        offsets: Of the first byte of each case's line.
        lengths: Of the lines, in bytes.
        digests: 64 bits of each line.
        ids: 64 bits of each id.
        lines: Line numbers, counted from 1.
        excluded: Cases that cannot be asked, by reason.
        exclusions: Them one by one, as far as `MAX_EXCLUSIONS`.
        roles: Every role that a case names.
        warnings: What is doubtful, as far as `MAX_FINDINGS`.
        clusters: How many there are.
        drafts: Cases that nobody has reviewed yet.
        answered: Ids of every tool that is in a right answer.
        digest: Of cases and grading.
    """

    layout: Layout
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    lengths: array[int] = field(default_factory=lambda: array("I"))
    digests: array[int] = field(default_factory=lambda: array("Q"))
    ids: array[int] = field(default_factory=lambda: array("Q"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    excluded: Counter[str] = field(default_factory=Counter)
    exclusions: list[Exclusion] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    warnings: tuple[Finding, ...] = ()
    clusters: int = 0
    drafts: int = 0
    answered: set[str] = field(default_factory=set)
    digest: str = ""
    _is_draft: bytearray = field(default_factory=bytearray)
    _kinds: array[int] = field(default_factory=lambda: array("I"))
    _tags: array[int] = field(default_factory=lambda: array("I"))
    _kind_names: _Shared[str] = field(default_factory=_Shared)
    _tag_sets: _Shared[tuple[str, ...]] = field(default_factory=_Shared)

    def add(self, case: Case, line: Line) -> None:
        """One more usable case."""
        self.offsets.append(line.offset)
        self.lengths.append(len(line.raw))
        self.digests.append(line_digest(line.raw))
        self.ids.append(id_digest(case.id))
        self.lines.append(line.number)
        self._kinds.append(self._kind_names.number(case.kind))
        self._tags.append(self._tag_sets.number(case.tags))
        self.drafts += case.draft
        self._is_draft.append(case.draft)
        self.answered.update(tool for answer in case.answers for call in answer for tool in call.tools)
        if case.role is not None:
            self.roles.add(case.role)

    def kind(self, number: int) -> str:
        """The kind of a case."""
        return self._kind_names.values[self._kinds[number]]

    def is_draft(self, number: int) -> bool:
        """Whether nobody has reviewed a case yet."""
        return bool(self._is_draft[number])

    def tags(self, number: int) -> tuple[str, ...]:
        """The tags of a case."""
        return self._tag_sets.values[self._tags[number]]

    def count_kinds(self) -> dict[str, int]:
        """Cases by kind, in order of appearance."""
        counted = Counter(self._kinds)
        return {kind: counted[number] for number, kind in enumerate(self._kind_names.values)}

    def count_tags(self) -> dict[str, int]:
        """Cases by tag, in order of appearance."""
        made: Counter[str] = Counter()
        counted = Counter(self._tags)
        for number, tags in enumerate(self._tag_sets.values):
            made.update(dict.fromkeys(tags, counted[number]))
        return dict(made)


def find_layout(
    handle: BinaryIO, source: str, *, has_imported_catalog: bool = False
) -> tuple[Layout, tuple[Finding, ...]]:
    """How the lines of a file are written, and what is wrong about the whole of it; looks at each line.

    Args:
        handle: The file.
        source: Its path as the user wrote it.
        has_imported_catalog: Whether the catalog beside it is a `catalog.jsonl`.

    Raises:
        InvalidFileError: there is none.
    """
    finder = LayoutFinder(has_imported_catalog=has_imported_catalog)
    number = 0
    for line in read_lines(handle, source):
        number = line.number
        finder.look(line.data, number)
    if not number:
        message = "There is no case in this file; each is a line, a JSON object."
        raise InvalidFileError([Finding("empty", Severity.ERROR, message, source)])
    finding = finder.finding(source)
    return finder.layout(), (() if finding is None else (finding,))


def index_cases(
    handle: BinaryIO,
    source: str,
    names: Names,
    progress: Callable[[int], None] | None = None,
    *,
    has_imported_catalog: bool = False,
) -> CaseIndex:
    """Read and check every line.

    Args:
        handle: The file.
        source: Its path as the user wrote it.
        names: What references mean.
        progress: Called with the number of lines read.
        has_imported_catalog: Whether the catalog beside it is a `catalog.jsonl`, which tells how it is written.

    Raises:
        InvalidFileError: every mistake of every line, as far as `MAX_FINDINGS`.
    """
    layout, findings = find_layout(handle, source, has_imported_catalog=has_imported_catalog)
    reading = _Reading(CaseIndex(layout), source, names, findings)
    for line in read_lines(handle, source):
        reading.read(line)
        if progress is not None and line.number % 200 == 0:
            progress(line.number)
    return reading.finish(handle)


class _Findings:
    """Findings, errors apart from warnings, of each as many as are told."""

    def __init__(self) -> None:
        self._kept: dict[Severity, list[Finding]] = {severity: [] for severity in Severity}
        self._counts: Counter[Severity] = Counter()

    @property
    def errors(self) -> int:
        """How many there were."""
        return self._counts[Severity.ERROR]

    def add(self, finding: Finding) -> None:
        self._counts[finding.severity] += 1
        if len(self._kept[finding.severity]) < MAX_FINDINGS:
            self._kept[finding.severity].append(finding)

    def told(self, source: str) -> tuple[Finding, ...]:
        """In the order of lines, with how many more there were."""
        made = list(sorted_findings(finding for kept in self._kept.values() for finding in kept))
        for severity, kept in self._kept.items():
            if untold := self._counts[severity] - len(kept):
                message = f"{untold:,} more of these are not listed."
                made.append(Finding("further-findings", severity, message, source))
        return tuple(made)


class _Reading:
    def __init__(self, index: CaseIndex, source: str, names: Names, findings: tuple[Finding, ...]) -> None:
        self._index = index
        self._source = source
        self._names = names
        self._as_written = AsWritten()
        self._digest = DatasetDigest()
        self._clusters: set[int] = set()
        self._findings = _Findings()
        for finding in findings:
            self._findings.add(finding)
        self._ids = array("Q")  # of every line that has one, excluded ones too, with its number
        self._lines = array("I")

    def read(self, line: Line) -> None:
        self._keep(line.findings, line)
        if line.findings:
            return
        parsed = self._index.layout.parse(line.data, self._names)
        self._keep(parsed.findings, line)
        case_id = line.data.get("id") if isinstance(line.data, dict) else None
        if isinstance(case_id, str):
            self._ids.append(id_digest(case_id))
            self._lines.append(line.number)
        if parsed.excluded and isinstance(case_id, str):
            self._index.excluded[parsed.excluded] += 1
            if len(self._index.exclusions) < MAX_EXCLUSIONS:
                self._index.exclusions.append(Exclusion(case_id, line.number, parsed.excluded, parsed.detail))
        elif parsed.case is None:
            return
        else:
            self._index.add(parsed.case, line)
            self._clusters.add(id_digest(parsed.case.cluster))
        written = self._index.layout.parse(line.data, self._as_written).case
        if written is not None:
            self._digest.add(written)

    def finish(self, handle: BinaryIO) -> CaseIndex:
        for finding in self._repeated(handle):
            self._findings.add(finding)
        if self._findings.errors:
            raise InvalidFileError(self._findings.told(self._source))
        if not len(self._index.offsets):
            raise InvalidFileError([self._nothing_left()])
        self._index.warnings = self._findings.told(self._source)
        self._index.digest = self._digest.hexdigest()
        self._index.clusters = len(self._clusters)
        return self._index

    def _keep(self, findings: tuple[Finding, ...], line: Line) -> None:
        for finding in findings:
            self._findings.add(replace(finding, file=self._source, line=line.number))

    def _repeated(self, handle: BinaryIO) -> Iterator[Finding]:
        if len(set(self._ids)) == len(self._ids):
            return
        seen: dict[int, int] = {}
        firsts: dict[int, int] = {}
        for digest, number in zip(self._ids, self._lines, strict=True):
            if (first := seen.setdefault(digest, number)) != number:
                firsts[number] = first
        for line in read_lines(handle, self._source):
            if line.number in firsts:
                message = f"The id {line.data['id']!r} stands in line {firsts[line.number]} already."
                yield Finding("duplicate-id", Severity.ERROR, message, self._source, line.number)

    def _nothing_left(self) -> Finding:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in self._index.excluded.most_common())
        examples = ", ".join(repr(one.detail) for one in self._index.exclusions[:3])
        message = f"None of these cases can be asked with this catalog: {reasons}, such as {examples}."
        return Finding("no-usable-case", Severity.ERROR, message, self._source)
