"""What became of what was read: broken, left out and why, or worth a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolbelt.findings import Finding, Severity

MAX_TOLD = 1000
"""Broken places, and those left out, that are kept one by one; of further ones only the number is."""


class BrokenError(Exception):
    """A record that is not what its format says.

    Args:
        rule: Slug of the finding.
        message: What is wrong and where in the record.
        findings: Of a record with several mistakes, each where it stands.
    """

    def __init__(self, rule: str, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.rule, self.message, self.findings = rule, message, tuple(findings)

    def finding(self, source: str, line: int) -> Finding:
        """The mistake, where it stands."""
        return Finding(self.rule, Severity.ERROR, self.message, source, line)

    def all_findings(self, source: str, line: int) -> tuple[Finding, ...]:
        """Every mistake: those that were found elsewhere on its behalf, or itself."""
        return self.findings or (self.finding(source, line),)


class UnmappedError(Exception):
    """Something sound that makes no case.

    Args:
        reason: Why, in words that are the same for all alike.
        detail: What this one is about.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something sound that makes no case, or not a whole one.

    Attributes:
        source: The file, as the user wrote it.
        line: Where it stands, counted from 1.
        reason: Why, in words that are the same for all alike.
        detail: What this one is about; may be empty.
    """

    source: str
    line: int
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: left out: {self.reason}{f' ({self.detail})' * bool(self.detail)}"


class Ledger:
    """Keeps account while sources are read.

    Attributes:
        reasons: How often something was left out, by reason; broken records too, by the slug of what is wrong.
        notes: How often something was understood in a way worth a word.
        broken: Records that could not be understood.
    """

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.broken = 0
        self._findings: list[Finding] = []
        self._counted = 0
        self._left_out: list[LeftOut] = []

    def add_broken(self, *findings: Finding) -> None:
        """A record with everything that is wrong about it."""
        self.broken += 1
        self.reasons[f"broken: {findings[0].rule}"] += 1
        self._findings.extend(findings[: MAX_TOLD - len(self._findings)])

    def leave_out(self, source: str, line: int, reason: str, detail: str = "") -> None:
        """Something sound that makes no case."""
        self.reasons[reason] += 1
        if len(self._left_out) < MAX_TOLD:
            self._left_out.append(LeftOut(source, line, reason, detail))

    def note(self, message: str) -> None:
        """Something worth a word at the end, with how often it was so."""
        self.notes[message] += 1

    def findings(self) -> tuple[Finding, ...]:
        """Every mistake, as far as `MAX_TOLD`, and how many more broken records there were."""
        told = list(self._findings)
        places = len({(finding.file, finding.line) for finding in told})
        if (more := self.broken - places) > 0 and len(told) >= MAX_TOLD:
            message = f"{more:,} more broken records are not listed."
            told.append(Finding("further-findings", Severity.ERROR, message, told[-1].file))
        return tuple(told)

    @property
    def untold(self) -> int:
        """How much was left out that `lines` does not have, having more than is kept."""
        broken = len({(finding.file, finding.line) for finding in self._findings})
        return sum(self.reasons.values()) - self._counted - len(self._left_out) - min(broken, self.broken)

    def count(self, reason: str, times: int) -> None:
        """Something that stands in no one place, so many times."""
        self.reasons[reason] += times
        self._counted += times

    def lines(self) -> Iterator[LeftOut]:
        """What was left out one by one, the broken first, each as far as `MAX_TOLD`."""
        for finding in self._findings:
            yield LeftOut(finding.file or "", finding.line or 0, f"broken: {finding.rule}", finding.message)
        yield from self._left_out
