"""Telling the two layouts of case files apart, by looking at every line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.evals.cases.adapters import GRADING_KEYS, adapt_case, has_only_lists
from toolbelt.evals.cases.names import Names
from toolbelt.evals.cases.reader import parse_case
from toolbelt.evals.cases.row import Parsed
from toolbelt.findings import Finding, Severity

_PUBLIC_KEYS = frozenset({"expected_args", "expected_ids", "expected_any_of"})


class Form(StrEnum):
    """How the lines of a file are written."""

    OWN = "own"
    """toolbelt's own (rule E3)."""
    PUBLIC = "public"
    """The layout public data sets are converted to."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What must be known of a whole file to read one line of it.

    Attributes:
        form: How its lines are written.
        lists: In the public form, whether `expected_args` has lists of accepted values.
    """

    form: Form
    lists: bool = False

    def parse(self, data: object, names: Names) -> Parsed:
        """The case of one line."""
        if self.form is Form.OWN:
            return parse_case(data, names)
        return adapt_case(data, names, lists=self.lists)


class LayoutFinder:
    """Shown every line of a file, says how it is written."""

    def __init__(self) -> None:
        self._first: dict[Form, int] = {}
        self._lists = True
        self._has_values = False

    def look(self, data: object, number: int) -> None:
        """One line, and its 1-based number."""
        if not isinstance(data, dict):
            return
        form = form_of(data)
        if form is not None:
            self._first.setdefault(form, number)
        lists = has_only_lists(data)
        if lists is not None:
            self._has_values = True
            self._lists = self._lists and lists

    def layout(self) -> Layout:
        """That of all lines seen; one's own where nothing tells."""
        form = Form.PUBLIC if Form.PUBLIC in self._first and Form.OWN not in self._first else Form.OWN
        return Layout(form, self._has_values and self._lists)

    def finding(self, file: str) -> Finding | None:
        """What is wrong if lines are written in both ways."""
        if len(self._first) < 2:
            return None
        public, own = self._first[Form.PUBLIC], self._first[Form.OWN]
        message = (
            f"This line is in the layout of public data sets (names in `expected`, or `expected_args`), but line {own} "
            'is in toolbelt\'s own: {"tool": NAME, "args"?: {…}} for each call. A file keeps to one of them.'
        )
        return Finding("mixed-layouts", Severity.ERROR, message, file, public)


def form_of(data: Mapping[str, Any]) -> Form | None:
    """How one line is written; `None` where it could be either."""
    expected = data.get("expected")
    calls = expected if isinstance(expected, list) else []
    if any(isinstance(call, dict) for call in calls):
        return Form.OWN
    if any(isinstance(call, str) for call in calls) or not _PUBLIC_KEYS.isdisjoint(data):
        return Form.PUBLIC
    return None if GRADING_KEYS.isdisjoint(data) else Form.OWN
