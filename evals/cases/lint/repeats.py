"""Cases that stand in each other's way: the same question twice, with two answers, or in one cluster of others."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.identity import case_text
from toolbelt.evals.cases.index import id_digest
from toolbelt.evals.cases.lint.alike import Groups, WordSets, is_alike, join_alike, words_of
from toolbelt.evals.cases.lint.told import some_lines
from toolbelt.evals.cases.texts import text_of
from toolbelt.findings import Finding, Severity

NEAR = 0.8
"""Least share of the words of two questions, together, that both have."""
_BY_HEART = ("system", "developer")
"""Who says the same to every case."""


class Repeats:
    """Shown every case, says which repeat others. Some eighty bytes a case, and four a word of its question."""

    def __init__(self) -> None:
        self._lines = array("I")
        self._clusters = array("Q")
        self._asked = array("Q")  # the words as they are, over which tools, and by whom
        self._labels = array("Q")
        self._texts = array("Q")  # the words alone, normalised
        self._tools = array("Q")
        self._roles = array("Q")
        self._kinds = array("Q")
        self._queries = WordSets()
        self._histories = WordSets()

    def add(self, case: Case, line: int) -> None:
        """One more case, and where it stands."""
        query = words_of(case.query)
        history = [word for text in _before(case) for word in words_of(text)]
        self._queries.add(query)
        self._histories.add(history)
        self._lines.append(line)
        self._clusters.append(id_digest(case.cluster))
        self._asked.append(_digest([case.messages, case.offered, case.role]))
        self._labels.append(id_digest(case_text(replace(case, **_UNGRADED))))
        self._texts.append(_digest([query, history]))
        self._tools.append(_digest(sorted(call.tools for call in case.expected) if case.expected is not None else None))
        self._roles.append(_digest(case.role))
        self._kinds.append(_digest(case.kind))

    def conflicts(self) -> Iterator[Finding]:
        """The same words over the same tools, with another answer."""
        for numbers in self._alike_in(self._asked):
            first = numbers[0]
            for number in numbers[1:]:
                if self._labels[number] != self._labels[first]:
                    message = (
                        f"Line {self._lines[first]} asks the same over the same tools, and has another answer; accept "
                        "both in both."
                    )
                    yield self._warning("conflicting-labels", message, number)

    def clusters(self) -> Iterator[Finding]:
        """Members of one cluster that are not paraphrases of one task, or the same word for word."""
        for numbers in self._alike_in(self._clusters):
            first = numbers[0]
            for rule, values, what in (
                ("cluster-answers", self._tools, "call other tools"),
                ("cluster-roles", self._roles, "have another role"),
                ("cluster-kinds", self._kinds, "are of another kind"),
            ):
                if others := [number for number in numbers if values[number] != values[first]]:
                    lines = self._shown(others)
                    message = f"In the cluster of this case {lines} {what}; a cluster is paraphrases of one task."
                    yield self._warning(rule, message, first)
            yield from self._verbatim(numbers)

    def duplicates(self) -> Iterator[Finding]:
        """Questions asked twice, or nearly, in two clusters, which count as two where they tell as much as one."""
        groups = Groups(len(self._lines))
        distinct: list[int] = []
        for numbers in self._alike_in(self._texts, singles=True):
            clusters = {self._clusters[number]: number for number in reversed(numbers)}
            distinct += clusters.values()
            for number in clusters.values():
                groups.join(numbers[0], number)
        crowded = join_alike(self._queries, groups, NEAR, among=distinct, may_join=self._may_join)
        for numbers in groups.several():
            first, others = numbers[0], self._shown(numbers[1:])
            if len({self._texts[number] for number in numbers}) == 1:
                message = (
                    f"The same is asked in {others}, in another cluster; take one out, or give them one `cluster`."
                )
                yield self._warning("duplicate-query", message, first)
            else:
                message = (
                    f"Nearly the same is asked in {others}, in another cluster; reword, or give them one `cluster`."
                )
                yield self._warning("near-duplicate-query", message, first)
        if crowded:
            message = (
                f"{crowded:,} queries share their rarest words with very many others, and were not compared with all "
                "of them; there may be more near-duplicates."
            )
            yield Finding("further-findings", Severity.WARNING, message)

    def _may_join(self, one: int, other: int) -> bool:
        if self._clusters[one] == self._clusters[other]:
            return False
        return is_alike(self._histories.get(one), self._histories.get(other), NEAR)

    def _verbatim(self, numbers: list[int]) -> Iterator[Finding]:
        asked: dict[int, list[int]] = {}
        for number in numbers:
            asked.setdefault(self._asked[number], []).append(number)
        for same in asked.values():
            if len(same) > 1:
                message = (
                    f"{self._shown(same[1:]).capitalize()} of the same cluster ask this word for word; reword them."
                )
                yield self._warning("verbatim-paraphrase", message, same[0])

    def _alike_in(self, values: array[int], *, singles: bool = False) -> Iterator[list[int]]:
        """Numbers of the cases that have a value in common, in order; with `singles` those alone in having one too."""
        ranked = sorted(range(len(values)), key=values.__getitem__)
        for _, run in groupby(ranked, key=values.__getitem__):
            numbers = list(run)
            if singles or len(numbers) > 1:
                yield numbers

    def _shown(self, numbers: list[int]) -> str:
        return some_lines(self._lines[number] for number in numbers)

    def _warning(self, rule: str, message: str, number: int) -> Finding:
        return Finding(rule, Severity.WARNING, message, None, self._lines[number])


_UNGRADED: dict[str, Any] = {
    "id": "",
    "messages": (),
    "role": None,
    "cluster": "-",
    "offered": None,
    "results": FrozenDict(),
    "steps": 1,
}
"""What of a case is not its label, each with a value that is the same for all."""


def _before(case: Case) -> Iterator[str]:
    """What was said before the question, but for what every case is told."""
    said = [message for message in case.messages if message.get("role") not in _BY_HEART]
    last = max((number for number, message in enumerate(said) if message.get("role") == "user"), default=-1)
    for number, message in enumerate(said):
        if number != last:
            yield text_of(message.get("content"))


def _digest(value: Any) -> int:
    written = json.dumps(value, sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest())
