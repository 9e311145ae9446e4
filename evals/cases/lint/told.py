"""Findings of a lint, of each rule as many as are told one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from toolbelt.evals.cases.index import MAX_FINDINGS
from toolbelt.findings import Finding, Severity


def bounded(findings: Iterable[Finding], source: str) -> Iterator[Finding]:
    """As many of each rule as `MAX_FINDINGS`, and at the end how many more there were.

    Args:
        findings: Read once, and not held.
        source: The file that the further ones are told of.
    """
    counts: Counter[tuple[str, Severity]] = Counter()
    for finding in findings:
        counts[finding.rule, finding.severity] += 1
        if counts[finding.rule, finding.severity] <= MAX_FINDINGS:
            yield finding
    for (rule, severity), count in counts.items():
        if count > MAX_FINDINGS:
            message = f"{count - MAX_FINDINGS:,} more findings of the rule {rule} are not listed."
            yield Finding("further-findings", severity, message, source)


def some_lines(lines: Iterable[int], most: int = 5) -> str:
    """`lines 2, 5 and 9`, or the first of them and how many more."""
    numbers = [f"{line}" for line in lines]
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) <= most:
        return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
    return f"lines {', '.join(numbers[:most])} and {len(numbers) - most:,} more"
