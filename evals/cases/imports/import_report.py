"""What an import reports: broken records, what was left out and why, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolbelt.findings import Finding, Severity

MAX_LISTED = 1000
"""Findings, and records left out, that are listed; further ones are only counted."""


class BrokenError(Exception):
    """A record that does not have the form of its format.

    Args:
        rule: Slug of the finding.
        message: What is wrong and where in the record.
        findings: Every mistake, for a record with several.
    """

    def __init__(self, rule: str, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.rule, self.message, self.findings = rule, message, tuple(findings)

    def finding(self, source: str, line: int) -> Finding:
        """The mistake with its place."""
        return Finding(self.rule, Severity.ERROR, self.message, source, line)

    def all_findings(self, source: str, line: int) -> tuple[Finding, ...]:
        """Every mistake of the record."""
        return self.findings or (self.finding(source, line),)


class UnmappedError(Exception):
    """Something valid from which no case can be made.

    Args:
        reason: Why; always the same text for the same reason, because reasons are counted.
        detail: The value or place that causes it.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class LeftOutRecord:
    """Something from which no case, or no complete case, was made.

    Attributes:
        source: The file, as the user wrote it.
        line: Of the file, counted from 1.
        reason: Why; always the same text for the same reason.
        detail: The value or place that causes it; may be empty.
    """

    source: str
    line: int
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: left out: {self.reason}{f' ({self.detail})' * bool(self.detail)}"


class ImportReport:
    """Collects what happens while sources are read.

    Attributes:
        reasons: How often something was left out, by reason; for broken records, by the rule of the first finding.
        notes: Notes for the user, with how often each applies.
        broken: Number of records that could not be read.
    """

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.broken = 0
        self._findings: list[Finding] = []
        self._counted = 0
        self._left_out: list[LeftOutRecord] = []

    def add_broken(self, *findings: Finding) -> None:
        """Add a broken record with all of its findings."""
        self.broken += 1
        self.reasons[f"broken: {findings[0].rule}"] += 1
        self._findings.extend(findings[: MAX_LISTED - len(self._findings)])

    def leave_out(self, source: str, line: int, reason: str, detail: str = "") -> None:
        """Add something from which no case was made."""
        self.reasons[reason] += 1
        if len(self._left_out) < MAX_LISTED:
            self._left_out.append(LeftOutRecord(source, line, reason, detail))

    def note(self, message: str) -> None:
        """Add a note for the end; repeats are counted."""
        self.notes[message] += 1

    def findings(self) -> tuple[Finding, ...]:
        """The listed findings, and how many further broken records there are."""
        findings = list(self._findings)
        places = len({(finding.file, finding.line) for finding in findings})
        if (more := self.broken - places) > 0 and len(findings) >= MAX_LISTED:
            message = f"{more:,} more broken records are not listed."
            findings.append(Finding("further-findings", Severity.ERROR, message, findings[-1].file))
        return tuple(findings)

    @property
    def silent(self) -> int:
        """Number of left-out records that `lines` does not list."""
        broken = len({(finding.file, finding.line) for finding in self._findings})
        return sum(self.reasons.values()) - self._counted - len(self._left_out) - min(broken, self.broken)

    def count(self, reason: str, times: int) -> None:
        """Add `times` left-out records that have no line."""
        self.reasons[reason] += times
        self._counted += times

    def lines(self) -> Iterator[LeftOutRecord]:
        """The listed left-out records: at most `MAX_LISTED` broken ones first, then as many others."""
        for finding in self._findings:
            yield LeftOutRecord(finding.file or "", finding.line or 0, f"broken: {finding.rule}", finding.message)
        yield from self._left_out
