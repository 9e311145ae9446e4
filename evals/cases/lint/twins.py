"""Twins among the tools of a dataset, and the cases that accept only some of them."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.twins import TWINS_RULE, describe_twins, find_twins
from toolbelt.evals.cases.case import Case
from toolbelt.findings import Finding, Severity


class TwinCases:
    """Counts the cases that accept only some tools of a group of twins."""

    def __init__(self, catalog_file: CatalogFile) -> None:
        self._file = catalog_file
        self._twins = tuple(find_twins(catalog_file.catalog.tools))
        self._ids = [frozenset(tool.id for tool in twins.tools) for twins in self._twins]
        self._group_of = {tool_id: number for number, ids in enumerate(self._ids) for tool_id in ids}
        self._cases = [0] * len(self._twins)
        self._first = [0] * len(self._twins)

    def add(self, case: Case, line: int) -> None:
        """Add a case and its line."""
        if not self._twins:
            return
        right = case.right_ids
        for group in {self._group_of[tool] for tool in right if tool in self._group_of}:
            others = self._ids[group] - right
            if others if case.offered is None else others.intersection(case.offered):
                self._cases[group] += 1
                self._first[group] = self._first[group] or line

    def findings(self) -> Iterator[Finding]:
        """A finding for each group, at its first tool."""
        for twins, count, first in zip(self._twins, self._cases, self._first, strict=True):
            message = describe_twins(twins)
            if count:
                more = "" if count == 1 else f" and {count - 1:,} more"
                message += f" Not all of them are right for the case in line {first}{more}: accept them all there, too."
            line = self._file.find_line(twins.tools[0])
            yield Finding(TWINS_RULE, Severity.WARNING, message, self._file.source, line)
