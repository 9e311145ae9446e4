"""Duplicates: cases with the same or nearly the same question."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.evals.cases.case import Case, content_text
from toolbelt.evals.cases.digests import case_text, id_digest
from toolbelt.evals.cases.lint.similarity import Groups, WordSets, is_alike, join_alike
from toolbelt.evals.cases.words import words_of
from toolbelt.findings import Finding, Severity

NEAR = 0.8
"""Least share of the words of two questions, together, that both have."""
_FIXED_ROLES = ("system", "developer")
"""Roles whose messages are the same in every case."""


class Repeats:
    """Finds cases that repeat others; uses about eighty bytes per case, and four for each word of its question.

    Args:
        read: Gives a case once more, by its number among those that were added.
    """

    def __init__(self, read: Callable[[int], Case]) -> None:
        self._read = read
        self._lines = array("I")
        self._clusters = array("Q")
        self._questions = array("Q")  # the messages as written, the offered tools and the role
        self._texts = array("Q")  # the words alone, normalised
        self._tools = array("Q")
        self._roles = array("Q")
        self._kinds = array("Q")
        self._queries = WordSets()
        self._histories = WordSets()

    def add(self, case: Case, line: int) -> None:
        """Add a case and its line."""
        query = words_of(case.query)
        history = [word for text in _before(case) for word in words_of(text)]
        self._queries.add(query)
        self._histories.add(history)
        self._lines.append(line)
        self._clusters.append(id_digest(case.cluster))
        self._questions.append(_digest([case.messages, case.offered, case.role]))
        self._texts.append(id_digest("\n".join((*query, "", *history))))
        tools = None if case.expected is None else tuple(sorted(call.tools for call in case.expected))
        self._tools.append(_short_digest(tools))
        self._roles.append(_short_digest(case.role))
        self._kinds.append(_short_digest(case.kind))

    def conflicts(self) -> Iterator[Finding]:
        """Cases with the same words over the same tools, but another answer."""
        for numbers in self._alike_in(self._questions):
            first, label = numbers[0], self._label(numbers[0])
            for number in numbers[1:]:
                if self._label(number) != label:
                    message = (
                        f"Line {self._lines[first]} asks the same over the same tools, and has another answer; accept "
                        "both in both."
                    )
                    yield self._warning("conflicting-labels", message, number)

    def _label(self, number: int) -> str:
        return case_text(replace(self._read(number), **_UNGRADED))

    def clusters(self) -> Iterator[Finding]:
        """Cases of one cluster that are not paraphrases of one task, or are the same word for word."""
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
        """The same or nearly the same question in two clusters; they count as two, but say no more than one."""
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

    def _may_join(self, left: int, right: int) -> bool:
        if self._clusters[left] == self._clusters[right]:
            return False
        return is_alike(self._histories.get(left), self._histories.get(right), NEAR)

    def _verbatim(self, numbers: list[int]) -> Iterator[Finding]:
        by_question: dict[int, list[int]] = {}
        for number in numbers:
            by_question.setdefault(self._questions[number], []).append(number)
        for same in by_question.values():
            if len(same) > 1:
                message = (
                    f"{self._shown(same[1:]).capitalize()} of the same cluster ask this word for word; reword them."
                )
                yield self._warning("verbatim-paraphrase", message, same[0])

    def _alike_in(self, values: array[int], *, singles: bool = False) -> Iterator[list[int]]:
        """Numbers of the cases that share a value, in order; with `singles` also cases that share it with no other."""
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
"""The fields that are not part of a case's label, each with one value for all cases."""


def _before(case: Case) -> Iterator[str]:
    """The texts before the question, without messages that are the same in every case."""
    messages = [message for message in case.messages if message.get("role") not in _FIXED_ROLES]
    last = max((number for number, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    for number, message in enumerate(messages):
        if number != last:
            yield content_text(message.get("content"))


@lru_cache(maxsize=10_000)
def _short_digest(value: Hashable) -> int:
    """Of what many cases share."""
    return _digest(value)


def _digest(value: Any) -> int:
    written = json.dumps(value, sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest())


_MOST_LINES = 5


def some_lines(lines: Iterable[int]) -> str:
    """`lines 2, 5 and 9`, or the first of them and how many more."""
    numbers = [f"{line}" for line in lines]
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) <= _MOST_LINES:
        return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
    return f"lines {', '.join(numbers[:_MOST_LINES])} and {len(numbers) - _MOST_LINES:,} more"
