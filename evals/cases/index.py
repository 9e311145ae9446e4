"""Index of the usable cases of a file: a few bytes for each, so that memory does not grow with their content."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Generic, TypeVar

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.case_file import CaseLine, read_lines
from toolbelt.evals.cases.digests import DatasetDigest, id_digest, line_digest
from toolbelt.evals.cases.fields import UNKNOWN_KEY, ExclusionReason, find_case_id
from toolbelt.evals.cases.imported_layout import OWN_KEY
from toolbelt.evals.cases.layout import Layout, LayoutDetector
from toolbelt.evals.cases.references import LiteralNames, ToolNames, WrittenNames
from toolbelt.findings import Finding, Severity, sorted_findings

MAX_FINDINGS = 1000
"""Findings that are listed; further ones are only counted."""
MAX_EXCLUSIONS = 1000
"""Excluded cases that are listed; further ones are only counted."""
_REMEMBERED_BYTES = 400_000
"""Lines whose cases are remembered as read; a case takes about eight times its line in memory. A file of no more bytes
is read once, a longer one twice: for its layout, and for its cases."""
_RULES_OF_KEYS = (UNKNOWN_KEY, OWN_KEY)
_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A case that cannot be asked with this catalog.

    Attributes:
        case_id: Its id.
        line: Of the file, counted from 1.
        reason: Why.
        detail: The label that causes it.
    """

    case_id: str
    line: int
    reason: ExclusionReason
    detail: str


class _Interned(Generic[_Value]):
    """Numbers for values that many cases share; each value is stored once."""

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
        cluster_keys: 64 bits of each cluster.
        lines: Line numbers, counted from 1.
        excluded: Number of cases that cannot be asked, by reason.
        exclusions: The first `MAX_EXCLUSIONS` of them.
        roles: Every role that a case names.
        warnings: Warnings of lines, at most `MAX_FINDINGS`.
        drafts: Number of cases that nobody has reviewed yet.
        answered: Ids of the tools that are in a right answer.
        digest: Of cases and grading.
        remembered: The first cases, as far as `_REMEMBERED_BYTES` of lines, so that a run need not read them again.
    """

    layout: Layout
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    lengths: array[int] = field(default_factory=lambda: array("I"))
    digests: array[int] = field(default_factory=lambda: array("Q"))
    ids: array[int] = field(default_factory=lambda: array("Q"))
    cluster_keys: array[int] = field(default_factory=lambda: array("Q"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    excluded: Counter[str] = field(default_factory=Counter)
    exclusions: list[Exclusion] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)
    warnings: tuple[Finding, ...] = ()
    drafts: int = 0
    answered: set[str] = field(default_factory=set)
    digest: str = ""
    remembered: list[Case] = field(default_factory=list)
    _remembered_bytes: int = 0
    _is_draft: bytearray = field(default_factory=bytearray)
    _kinds: array[int] = field(default_factory=lambda: array("I"))
    _tags: array[int] = field(default_factory=lambda: array("I"))
    _kind_names: _Interned[str] = field(default_factory=_Interned)
    _tag_sets: _Interned[tuple[str, ...]] = field(default_factory=_Interned)

    def add(self, case: Case, line: CaseLine) -> None:
        """Add a usable case."""
        self._remembered_bytes += len(line.raw)
        if self._remembered_bytes <= _REMEMBERED_BYTES:
            self.remembered.append(case)
        self.offsets.append(line.offset)
        self.lengths.append(len(line.raw))
        self.digests.append(line_digest(line.raw))
        self.ids.append(id_digest(case.id))
        self.cluster_keys.append(id_digest(case.cluster))
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
        cases = Counter(self._kinds)
        return {kind: cases[number] for number, kind in enumerate(self._kind_names.values)}

    def count_tags(self) -> dict[str, int]:
        """Cases by tag, in order of appearance."""
        counts: Counter[str] = Counter()
        cases = Counter(self._tags)
        for number, tags in enumerate(self._tag_sets.values):
            counts.update(dict.fromkeys(tags, cases[number]))
        return dict(counts)


def read_layout(handle: BinaryIO, source: str, *, has_imported_catalog: bool) -> tuple[Layout, tuple[Finding, ...]]:
    """The layout of a file, from all of its lines, with findings about the whole file.

    Args:
        handle: The file.
        source: Its path as the user wrote it.
        has_imported_catalog: Whether the catalog beside it is a `catalog.jsonl`.

    Raises:
        InvalidFileError: the file has no line.
    """
    return _find_layout(read_lines(handle, source), source, has_imported_catalog=has_imported_catalog)


def _find_layout(
    lines: Iterable[CaseLine], source: str, *, has_imported_catalog: bool
) -> tuple[Layout, tuple[Finding, ...]]:
    finder = LayoutDetector(has_imported_catalog=has_imported_catalog)
    number = 0
    for line in lines:
        number = line.number
        finder.add_line(line.data, number)
    if not number:
        message = "There is no case in this file; each is a line, a JSON object."
        raise InvalidFileError([Finding("empty", Severity.ERROR, message, source)])
    finding = finder.finding(source)
    return finder.layout(), (() if finding is None else (finding,))


def index_cases(
    handle: BinaryIO,
    source: str,
    names: ToolNames,
    progress: Callable[[int], None] | None,
    *,
    has_imported_catalog: bool,
) -> CaseIndex:
    """Read and check every line.

    Args:
        handle: The file.
        source: Its path as the user wrote it.
        names: Resolves the tools that cases name.
        progress: Called with the number of lines read.
        has_imported_catalog: Whether the catalog beside it is a `catalog.jsonl`, which says that it is imported.

    Raises:
        InvalidFileError: every mistake of every line, at most `MAX_FINDINGS`.
    """
    is_small = handle.seek(0, os.SEEK_END) <= _REMEMBERED_BYTES
    small = tuple(read_lines(handle, source)) if is_small else ()
    layout, findings = _find_layout(
        small or read_lines(handle, source), source, has_imported_catalog=has_imported_catalog
    )
    builder = _IndexBuilder(CaseIndex(layout), source, names, findings)
    for line in small or read_lines(handle, source):
        builder.read(line)
        if progress is not None and line.number % 200 == 0:
            progress(line.number)
    return builder.finish(handle)


@dataclass(slots=True)
class _KeyReport:
    """A finding about a key, at the first of the lines that have it.

    Attributes:
        finding: Of the first line.
        lines: How many there are.
        last: Number of the last of them.
    """

    finding: Finding
    lines: int = 0
    last: int | None = None

    def add(self, line: int | None) -> None:
        """Count a line once, however often the key stands in it."""
        self.lines += line != self.last
        self.last = line

    def listed(self) -> Finding:
        """The finding, with the number of lines."""
        message = f"{self.finding.message} It stands in {self.lines:,} lines." if self.lines > 1 else None
        return replace(self.finding, message=message or self.finding.message)


class FileFindings:
    """Findings by severity; of each the first `MAX_FINDINGS`, and how many there are. Each key is reported once."""

    def __init__(self) -> None:
        self._listed: dict[Severity, list[Finding]] = {severity: [] for severity in Severity}
        self._keys: dict[str, _KeyReport] = {}
        self._counts: Counter[Severity] = Counter()

    @property
    def errors(self) -> int:
        """How many errors."""
        return self._counts[Severity.ERROR]

    def add(self, finding: Finding) -> None:
        """Add a finding with its file and line."""
        if finding.rule in _RULES_OF_KEYS and self._add_key(finding):
            return
        self._counts[finding.severity] += 1
        if len(self._listed[finding.severity]) < MAX_FINDINGS:
            self._listed[finding.severity].append(finding)

    def _add_key(self, finding: Finding) -> bool:
        """Whether the key was reported before, in the same words."""
        report = self._keys.get(finding.message)
        if report is None and len(self._keys) < MAX_FINDINGS:
            report = self._keys[finding.message] = _KeyReport(finding)
            self._counts[finding.severity] += 1
        if report is not None:
            report.add(finding.line)
        return report is not None

    def listed(self, source: str) -> tuple[Finding, ...]:
        """The listed findings in the order of lines, and the numbers of further ones."""
        keys = [report.listed() for report in self._keys.values()]
        others = [finding for listed in self._listed.values() for finding in listed]
        findings = list(sorted_findings([*keys, *others]))
        for severity in self._listed:
            if silent := self._counts[severity] - sum(finding.severity is severity for finding in [*keys, *others]):
                message = f"{silent:,} more of these are not listed."
                findings.append(Finding("further-findings", severity, message, source))
        return tuple(findings)


class _IndexBuilder:
    def __init__(self, index: CaseIndex, source: str, names: ToolNames, findings: tuple[Finding, ...]) -> None:
        self._index = index
        self._source = source
        self._names = names
        self._literal_names = LiteralNames()
        self._digest = DatasetDigest()
        self._findings = FileFindings()
        for finding in findings:
            self._findings.add(finding)
        self._ids = array("Q")  # of every line with an id, also of excluded cases; `_lines` has the line numbers
        self._lines = array("I")

    def read(self, line: CaseLine) -> None:
        self._add_findings(line.findings, line)
        if line.findings:
            return
        names = WrittenNames(self._names)
        parsed = self._index.layout.parse(line.data, names)
        self._add_findings(parsed.findings, line)
        case_id = find_case_id(line.data)
        if case_id is not None:
            self._ids.append(id_digest(case_id))
            self._lines.append(line.number)
        if parsed.excluded and case_id is not None:
            self._index.excluded[parsed.excluded] += 1
            if len(self._index.exclusions) < MAX_EXCLUSIONS:
                self._index.exclusions.append(Exclusion(case_id, line.number, parsed.excluded, parsed.detail))
        elif parsed.case is None:
            return
        else:
            self._index.add(parsed.case, line)
            if names.written is not None:
                self._digest.add(parsed.case, names.written)
                return
        literal = self._index.layout.parse(line.data, self._literal_names).case
        if literal is not None:
            self._digest.add(literal)

    def finish(self, handle: BinaryIO) -> CaseIndex:
        for finding in self._repeated_ids(handle):
            self._findings.add(finding)
        if self._findings.errors:
            raise InvalidFileError(self._findings.listed(self._source))
        if not len(self._index.offsets):
            raise InvalidFileError([self._all_excluded()])
        self._index.warnings = self._findings.listed(self._source)
        self._index.digest = self._digest.hexdigest()
        return self._index

    def _add_findings(self, findings: tuple[Finding, ...], line: CaseLine) -> None:
        for finding in findings:
            self._findings.add(replace(finding, file=self._source, line=line.number))

    def _repeated_ids(self, handle: BinaryIO) -> Iterator[Finding]:
        if len(set(self._ids)) == len(self._ids):
            return
        seen: dict[int, int] = {}
        firsts: dict[int, int] = {}
        for digest, number in zip(self._ids, self._lines, strict=True):
            if (first := seen.setdefault(digest, number)) != number:
                firsts[number] = first
        for line in read_lines(handle, self._source):
            if line.number in firsts:
                what = f"The id {line.data['id']!r}" if "id" in line.data else "The same query, without an `id`,"
                message = f"{what} is also in line {firsts[line.number]}."
                yield Finding("duplicate-id", Severity.ERROR, message, self._source, line.number)

    def _all_excluded(self) -> Finding:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in self._index.excluded.most_common())
        examples = ", ".join(repr(exclusion.detail) for exclusion in self._index.exclusions[:3])
        message = f"None of these cases can be asked with this catalog: {reasons}, such as {examples}."
        return Finding("no-usable-case", Severity.ERROR, message, self._source)
