"""Drafts of a file of cases: read them, and take one decision at a time into the file.

A decision is in the file before the next one is asked for, so that an interruption loses nothing and the next review
goes on where this one ended. All other lines stay byte for byte.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.case_file import CaseLine, case_line, open_lines, read_lines
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.findings import Finding, Severity
from toolbelt.sources import parse_json
from toolbelt.stores.files import replacing

DROPPED = "dropped.jsonl"
"""Beside the cases: the drafts that were dropped."""


def read_drafts(source: str) -> list[CaseLine]:
    """The lines of a file of cases that are marked as drafts, in order.

    Raises:
        NotFoundError: the file is gone.
        StorageError: it cannot be read.
    """
    with open_lines(source) as handle:
        lines = read_lines(handle, source)
        return [line for line in lines if isinstance(line.data, dict) and line.data.get("draft") is True]


def read_change(text: str, names: CatalogNames) -> tuple[dict[str, Any], Case]:
    """A draft as the user changed it, still with its mark.

    Raises:
        InvalidFileError: every mistake in it.
    """
    row = parse_json(text, "the changed case").data
    parsed = parse_own_case(row, names)
    errors = [finding for finding in parsed.findings if finding.severity is Severity.ERROR]
    if errors or parsed.case is None or not isinstance(row, dict):
        raise InvalidFileError(errors or [Finding("no-case", Severity.ERROR, "This is no case.", "the changed case")])
    return row | {"draft": True}, parsed.case


def change(source: str, draft: CaseLine, row: dict[str, Any]) -> CaseLine:
    """Put a changed draft in the place of a draft; returns its line."""
    raw = case_line(row).encode()
    _replace(source, draft, raw + b"\n")
    return replace(draft, raw=raw, data=row)


def accept(source: str, draft: CaseLine) -> None:
    """Take away the mark of a draft."""
    change(source, draft, {key: value for key, value in draft.data.items() if key != "draft"})


def drop(source: str, draft: CaseLine) -> None:
    """Move a draft to the file of dropped ones, beside the cases."""
    _find(source, draft)
    with Path(source).with_name(DROPPED).open("ab") as handle:
        handle.write(draft.raw + b"\n")
    _replace(source, draft, b"")


def _find(source: str, draft: CaseLine) -> tuple[list[bytes], int]:
    """The lines of the file, and which of them is the draft.

    Raises:
        ToolbeltError: the draft is no longer there as it was read.
    """
    lines = Path(source).read_bytes().split(b"\n")
    for index, line in enumerate(lines):
        if line.removeprefix(BOM_UTF8).rstrip(b"\r") == draft.raw:
            return lines, index
    raise ToolbeltError(f"{source} was changed while you were asked. Run the command again: what you decided is kept.")


def _replace(source: str, draft: CaseLine, line: bytes) -> None:
    lines, index = _find(source, draft)
    before = BOM_UTF8 if lines[index].startswith(BOM_UTF8) else b""
    lines[index : index + 1] = [before + line.rstrip(b"\n")] if line or before else []
    with replacing(Path(source), "wb") as handle:
        handle.write(b"\n".join(lines))
