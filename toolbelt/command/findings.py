"""Findings as the result of a command."""

from __future__ import annotations

from collections.abc import Mapping

from toolbelt.console.catalog_views import findings_view
from toolbelt.findings import Finding, Severity
from toolbelt.render.screen import print_json, show_view


def show_findings(findings: tuple[Finding, ...], *, as_json: bool, about: Mapping[str, object] | None = None) -> None:
    """Findings as a table or as JSON; the JSON also holds the fields of `about`."""
    if not as_json:
        show_view(findings_view(findings), whole_lines=True)
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
