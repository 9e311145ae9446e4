"""Telling the two layouts of case files apart, by looking at every line and at the catalog beside them.

toolbelt's own layout (rule E3) holds calls in `expected`: {"tool": NAME, "args"?: {…}}. The imported one, which public
data sets are converted to, holds bare names there. In the former a name that means no tool is a mistake, in the latter
it excludes its case, so that a file is taken for imported by a positive sign alone:

- a line has one of `IMPORTED_KEYS`, and no call in `expected`, or
- the catalog beside the cases is a `catalog.jsonl`, the form that catalogs of public sets come in, no line has a call
  in `expected`, and one has bare names there or a key that is no slip of toolbelt's own. A catalog that is given, or
  one in another form, is no sign.

Any other file is one's own, and bare names in it are mistakes. Where some lines have calls and some have imported
keys, the layout of more lines is the file's; each line is still read in its own, so that all mistakes are told at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.evals.cases.fields import Parsed
from toolbelt.evals.cases.imported_layout import IMPORTED_KEYS, adapt_case, has_foreign_key, has_only_lists
from toolbelt.evals.cases.own_layout import parse_case
from toolbelt.evals.cases.references import Names
from toolbelt.findings import Finding, Severity

IMPORTED_CATALOG = "catalog.jsonl"
"""The catalog that, beside bare names, says that cases are imported."""


class Form(StrEnum):
    """How the lines of a file are written."""

    OWN = "own"
    """toolbelt's own (rule E3)."""
    PUBLIC = "public"
    """The imported one: the layout public data sets are converted to."""

    @property
    def description(self) -> str:
        """For people, with what follows from it."""
        if self is Form.OWN:
            return "toolbelt's own: calls in `expected`; a name that means no tool is an error"
        return "imported: bare names in `expected`; a name that means no tool excludes its case"


@dataclass(frozen=True, slots=True)
class Layout:
    """What must be known of a whole file to read one line of it.

    Attributes:
        form: How its lines are written.
        lists: In the imported form, whether `expected_args` has lists of accepted values.
    """

    form: Form
    lists: bool = False

    def parse(self, data: object, names: Names) -> Parsed:
        """The case of one line; one that is plainly in the other form is read in that, and refused."""
        told = form_of(data) if isinstance(data, dict) else None
        form = told or self.form
        parsed = parse_case(data, names) if form is Form.OWN else adapt_case(data, names, lists=self.lists)
        if form is self.form:
            return parsed
        mixed = Finding("mixed-layouts", Severity.ERROR, _MIXED[form])
        return Parsed(None, (mixed, *parsed.findings))


class LayoutFinder:
    """Shown every line of a file, says how it is written.

    Args:
        has_imported_catalog: Whether the catalog beside the file is a `catalog.jsonl`.
    """

    def __init__(self, *, has_imported_catalog: bool = False) -> None:
        self._has_imported_catalog = has_imported_catalog
        self._lines: Counter[Form] = Counter()
        self._first_bare: int | None = None
        self._is_foreign = False
        self._lists = True
        self._has_values = False

    def look(self, data: object, number: int) -> None:
        """One line, and its 1-based number."""
        if not isinstance(data, dict):
            return
        form = form_of(data)
        if form is not None:
            self._lines[form] += 1
        if form is None and self._first_bare is None and _has_bare_names(data):
            self._first_bare = number
        self._is_foreign = self._is_foreign or has_foreign_key(data)
        lists = has_only_lists(data)
        if lists is not None:
            self._has_values = True
            self._lists = self._lists and lists

    def layout(self) -> Layout:
        """That of all lines seen; one's own where nothing tells."""
        own, imported = self._lines[Form.OWN], self._lines[Form.PUBLIC]
        by_catalog = self._has_imported_catalog and not own and (self._first_bare is not None or self._is_foreign)
        form = Form.PUBLIC if imported > own or by_catalog else Form.OWN
        return Layout(form, self._has_values and self._lists)

    def finding(self, file: str) -> Finding | None:
        """What to do where bare names might be those of an imported file, but nothing says so."""
        if self._first_bare is None or self._lines or self._has_imported_catalog:
            return None
        message = (
            "No `expected` of this file holds a call, so it is read as one's own with mistakes: write "
            f'{{"tool": NAME}} for each name. If the file is imported, put its {IMPORTED_CATALOG} beside it.'
        )
        return Finding("bare-names", Severity.ERROR, message, file, self._first_bare)


def form_of(data: Mapping[str, Any]) -> Form | None:
    """How one line is written; `None` where it could be either."""
    expected = data.get("expected")
    if isinstance(expected, list) and any(isinstance(call, dict) for call in expected):
        return Form.OWN
    return None if IMPORTED_KEYS.isdisjoint(data) else Form.PUBLIC


def _has_bare_names(data: Mapping[str, Any]) -> bool:
    expected = data.get("expected")
    return isinstance(expected, list) and any(isinstance(call, str) for call in expected)


_MIXED = {
    Form.OWN: (
        "This line holds calls in `expected`, as toolbelt's own layout does, but most of the file is in the imported "
        "one, with names there. A file keeps to one of them."
    ),
    Form.PUBLIC: (
        f"This line is in the imported layout (it has one of {', '.join(f'`{key}`' for key in sorted(IMPORTED_KEYS))}),"
        ' but the file is in toolbelt\'s own: {"tool": NAME, "args"?: {…}} for each call. A file keeps to one of them.'
    ),
}
