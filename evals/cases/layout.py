"""Which of the two layouts a file of cases has, from all of its lines and the catalog beside it.

toolbelt's own layout (rule E3) has calls in `expected`: {"tool": NAME, "args"?: {…}}. The imported layout, which public
data sets are converted to, has bare names there. In the own layout, an unknown name is a mistake; in the imported one,
it excludes its case. So a file counts as imported only if something says so:

- a line has one of `IMPORTED_KEYS`, and no call in `expected`, or
- the catalog beside the cases is a `catalog.jsonl`, the format that catalogs of public sets have, no line has a call
  in `expected`, and a line has bare names there, or a key that is no misspelt key of toolbelt. A catalog that the user
  names, or one in another format, says nothing.

Any other file has the own layout, and bare names in it are mistakes. Where some lines have calls and some have imported
keys, the majority decides; each line is still read in its own layout, so that all mistakes are reported at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.evals.cases.fields import ParsedCase
from toolbelt.evals.cases.imported_layout import IMPORTED_KEYS, has_foreign_key, has_value_lists, parse_imported_case
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.evals.cases.references import ToolNames
from toolbelt.findings import Finding, Severity

IMPORTED_CATALOG = "catalog.jsonl"
"""A catalog of this name says that bare names are those of an imported file."""


class LayoutKind(StrEnum):
    """The two layouts of case files."""

    OWN = "own"
    """toolbelt's own layout (rule E3)."""
    PUBLIC = "public"
    """The imported one, which public data sets are converted to."""

    @property
    def description(self) -> str:
        """For people, with its consequence."""
        if self is LayoutKind.OWN:
            return "toolbelt's own: calls in `expected`; a name that means no tool is an error"
        return "imported: bare names in `expected`; a name that means no tool excludes its case"


@dataclass(frozen=True, slots=True)
class Layout:
    """What reading a line needs to know about the whole file.

    Attributes:
        kind: Which layout.
        lists: In the imported layout, whether `expected_args` has lists of accepted values.
    """

    kind: LayoutKind
    lists: bool = False

    def parse(self, data: object, names: ToolNames) -> ParsedCase:
        """The case of one line; a line that clearly has the other layout is read in that, and refused."""
        kind = (layout_of_line(data) if isinstance(data, dict) else None) or self.kind
        parsed = (
            parse_own_case(data, names)
            if kind is LayoutKind.OWN
            else parse_imported_case(data, names, lists=self.lists)
        )
        if kind is self.kind:
            return parsed
        mixed = Finding("mixed-layouts", Severity.ERROR, _MIXED[kind])
        return ParsedCase(None, (mixed, *parsed.findings))


class LayoutDetector:
    """Finds the layout of a file from its lines.

    Args:
        has_imported_catalog: Whether the catalog beside the file is a `catalog.jsonl`.
    """

    def __init__(self, *, has_imported_catalog: bool = False) -> None:
        self._has_imported_catalog = has_imported_catalog
        self._lines: Counter[LayoutKind] = Counter()
        self._first_bare: int | None = None
        self._is_foreign = False
        self._lists = True
        self._has_values = False

    def add_line(self, data: object, number: int) -> None:
        """Add a line and its number, counted from 1."""
        if not isinstance(data, dict):
            return
        kind = layout_of_line(data)
        if kind is not None:
            self._lines[kind] += 1
        if kind is None and self._first_bare is None and _has_bare_names(data):
            self._first_bare = number
        self._is_foreign = self._is_foreign or has_foreign_key(data)
        lists = has_value_lists(data)
        if lists is not None:
            self._has_values = True
            self._lists = self._lists and lists

    def layout(self) -> Layout:
        """The layout of the lines so far; the own one if nothing says otherwise."""
        own, imported = self._lines[LayoutKind.OWN], self._lines[LayoutKind.PUBLIC]
        by_catalog = self._has_imported_catalog and not own and (self._first_bare is not None or self._is_foreign)
        kind = LayoutKind.PUBLIC if imported > own or by_catalog else LayoutKind.OWN
        return Layout(kind, self._has_values and self._lists)

    def finding(self, file: str) -> Finding | None:
        """A finding where bare names may be those of an imported file, but nothing says so."""
        if self._first_bare is None or self._lines or self._has_imported_catalog:
            return None
        message = (
            "No `expected` of this file holds a call, so it is read as one's own with mistakes: write "
            f'{{"tool": NAME}} for each name. If the file is imported, put its {IMPORTED_CATALOG} beside it.'
        )
        return Finding("bare-names", Severity.ERROR, message, file, self._first_bare)


def layout_of_line(data: Mapping[str, Any]) -> LayoutKind | None:
    """The layout of one line; `None` where it could be either."""
    expected = data.get("expected")
    if isinstance(expected, list) and any(isinstance(call, dict) for call in expected):
        return LayoutKind.OWN
    return None if IMPORTED_KEYS.isdisjoint(data) else LayoutKind.PUBLIC


def _has_bare_names(data: Mapping[str, Any]) -> bool:
    expected = data.get("expected")
    return isinstance(expected, list) and any(isinstance(call, str) for call in expected)


_MIXED = {
    LayoutKind.OWN: (
        "This line holds calls in `expected`, as toolbelt's own layout does, but most of the file is in the imported "
        "one, with names there. A file keeps to one of them."
    ),
    LayoutKind.PUBLIC: (
        f"This line is in the imported layout (it has one of {', '.join(f'`{key}`' for key in sorted(IMPORTED_KEYS))}),"
        ' but the file is in toolbelt\'s own: {"tool": NAME, "args"?: {…}} for each call. A file keeps to one of them.'
    ),
}
