"""What is wrong, or doubtful, with what somebody wrote, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: an error stops the command, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or doubtful, in a file or a definition.

    Attributes:
        rule: Stable slug of the check, e.g. `unknown-category`.
        severity: `error` refuses the file, `warning` does not.
        message: One sentence that says what is wrong and what to do.
        file: Where it was read, as the user wrote the path; `None` for what is in no file.
        line: 1-based; `None` where it is unknown.
    """

    rule: str
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """`file:line`, as far as known."""
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        place = f"{self.place}: " if self.file else ""
        return f"{place}{self.severity}: {self.message} [{self.rule}]"


def sorted_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By file and line, errors before warnings on the same line."""
    return tuple(
        sorted(findings, key=lambda finding: (finding.file or "", finding.line or 0, finding.severity, finding.rule))
    )
