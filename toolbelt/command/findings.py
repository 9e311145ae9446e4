"""Findings as the result of a command."""

from __future__ import annotations

from collections.abc import Mapping

from toolbelt.findings import Finding, Severity
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Line, Note
from toolbelt.views.cells import Span, Tone


def show_findings(findings: tuple[Finding, ...], *, as_json: bool, about: Mapping[str, object] | None = None) -> None:
    """Findings, a line each, or as JSON; the JSON also holds the fields of `about`."""
    if not as_json:
        show_blocks(_findings_view(findings))
        return
    rows = [
        {"rule": f.rule, "severity": f.severity.value, "file": f.file, "line": f.line, "message": f.message}
        for f in findings
    ]
    print_json({**(about or {}), "findings": rows})


def exit_code(findings: tuple[Finding, ...], *, strict: bool) -> int:
    """2 for errors, 1 for warnings where they count, else 0."""
    if any(finding.severity is Severity.ERROR for finding in findings):
        return 2
    return 1 if strict and findings else 0


def _findings_view(findings: tuple[Finding, ...]) -> list[Block]:
    blocks: list[Block] = [Line(_finding_spans(finding), is_whole=True) for finding in findings]
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    count = f"{plural(errors, 'error')}, {plural(len(findings) - errors, 'warning')}"
    return [*blocks, Note(count, Tone.STRONG) if findings else Note("no findings", Tone.GOOD)]


def _finding_spans(finding: Finding) -> tuple[Span, ...]:
    return (
        *([Span(f"{finding.place}: ", Tone.STRONG)] if finding.place else []),
        Span(finding.severity.value, Tone.BAD if finding.severity is Severity.ERROR else Tone.WARNING),
        Span(f": {finding.message} "),
        Span(f"[{finding.rule}]", Tone.FAINT),
    )
