"""Tools of a catalog that no model can well tell apart, and the cases where that matters."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.catalog.reader import CatalogFile
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.lint.alike import Groups, WordSets, join_alike, words_of
from toolbelt.findings import Finding, Severity

TWINS = 0.9
"""Least share of the words of two descriptions, together, that both have."""
_MOST_NAMED = 6


class Twins:
    """Groups of tools with nearly the same description; shown every case, counts those that accept only some."""

    def __init__(self, catalog_file: CatalogFile) -> None:
        self._file = catalog_file
        self._tools = catalog_file.catalog.tools
        sets = WordSets()
        for tool in self._tools:
            sets.add(words_of(tool.description))
        found = Groups(len(sets))
        join_alike(sets, found, TWINS)
        self._groups = found.several()
        self._group_of = {self._tools[n].id: number for number, group in enumerate(self._groups) for n in group}
        self._ids = [frozenset(self._tools[number].id for number in group) for group in self._groups]
        self._cases = [0] * len(self._groups)
        self._first = [0] * len(self._groups)

    def add(self, case: Case, line: int) -> None:
        """One more case, and where it stands."""
        right = case.right_ids
        for group in {self._group_of[tool] for tool in right if tool in self._group_of}:
            others = self._ids[group] - right
            if others if case.offered is None else others.intersection(case.offered):
                self._cases[group] += 1
                self._first[group] = self._first[group] or line

    def findings(self) -> Iterator[Finding]:
        """One for each group, at its first tool."""
        for number, group in enumerate(self._groups):
            ids = [self._tools[position].id for position in group]
            named = ", ".join(ids[:_MOST_NAMED]) + f" and {len(ids) - _MOST_NAMED:,} more" * (len(ids) > _MOST_NAMED)
            message = f"{len(ids)} tools have nearly the same description: {named}."
            if count := self._cases[number]:
                whose = f"the case in line {self._first[number]}"
                more = "" if count == 1 else f" and {count - 1:,} more"
                message += f" Not all of them are right for {whose}{more}; accept them all, or tell them apart."
            line = self._file.find_line(self._tools[group[0]])
            yield Finding("twin-descriptions", Severity.WARNING, message, self._file.source, line)
