"""Lint a dataset: everything doubtful about its cases that reading them does not refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from toolbelt.catalog import Tool
from toolbelt.evals.cases.card.check import lint_card
from toolbelt.evals.cases.card.likeness import Likeness, LikenessCounter
from toolbelt.evals.cases.card.likeness_text import describe_far
from toolbelt.evals.cases.case import Case, content_text
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.index import MAX_FINDINGS
from toolbelt.evals.cases.lint.balance import Balance
from toolbelt.evals.cases.lint.calls import CallChecker, RoleChecker
from toolbelt.evals.cases.lint.duplicates import Repeats, some_lines
from toolbelt.evals.cases.lint.twins import TwinCases
from toolbelt.evals.cases.lint.unchecked import UncheckedLiterals
from toolbelt.evals.cases.mentions import mentions_tool
from toolbelt.evals.cases.references import CatalogNames, Unresolved
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry

ENOUGH_QUERIES = 100
"""Least number of queries that are compared with real ones."""


def lint_dataset(
    dataset: Dataset,
    registry: ToolLoadoutRegistry,
    progress: Callable[[int], None] | None = None,
    *,
    own_catalog: bool = True,
) -> Iterator[Finding]:
    """Findings that reading the cases does not give, each with its file and, where it is about one line, the line.

    At most `MAX_FINDINGS` of each rule, and how many more there are.

    Args:
        dataset: Its cases are read once more, one at a time.
        registry: Every loadout that a role may name.
        progress: Called with the number of cases checked so far.
        own_catalog: Whether the catalog is the dataset's own, so that its card can be compared with it.

    Raises:
        InvalidFileError: the file was changed since it was opened.
    """
    yield from _exclusions(dataset)
    parts = (
        _cases(dataset, registry, progress),
        lint_drafts(dataset),
        lint_card(dataset, own_catalog=own_catalog),
    )
    yield from bounded(chain.from_iterable(parts), dataset.source)


def _cases(
    dataset: Dataset, registry: ToolLoadoutRegistry, progress: Callable[[int], None] | None
) -> Iterator[Finding]:
    catalog = dataset.catalog_file.catalog
    tools = {tool.id: tool for tool in catalog.tools}
    leaks, calls, roles = Leaks(tools), CallChecker(catalog, tools), RoleChecker(catalog, registry)
    repeats, balance, twins = Repeats(dataset.case), Balance(), TwinCases(dataset.catalog_file)
    likeness, literals = LikenessCounter(tools), UncheckedLiterals(tools)
    for index in range(len(dataset)):
        case, line = dataset.case(index), dataset.line(index)
        repeats.add(case, line)
        balance.add(case)
        likeness.add(case)
        literals.add(case, line)
        twins.add(case, line)
        for finding in chain(leaks.check(case), calls.check(case), roles.check(case), _nothing_asked(case)):
            yield replace(finding, file=dataset.source, line=line)
        if progress is not None and index % 200 == 0:
            progress(index)
    of_all = (repeats.conflicts(), repeats.duplicates(), repeats.clusters(), balance.findings(dataset))
    for finding in chain(literals.findings(), *of_all, _find_unrealistic_queries(likeness.likeness())):
        yield replace(finding, file=dataset.source)
    yield from twins.findings()


def _nothing_asked(case: Case) -> Iterator[Finding]:
    if not any(message.get("role") == "user" for message in case.messages):
        yield Finding("nothing-asked", Severity.WARNING, "No message of this case is a user's.")


def _find_unrealistic_queries(likeness: Likeness) -> Iterator[Finding]:
    if likeness.queries >= ENOUGH_QUERIES and any(likeness.far):
        message = (
            f"These queries differ from what people type: {describe_far(likeness)}. "
            "`toolbelt dataset card` shows the whole table."
        )
        yield Finding("unlike-real-queries", Severity.WARNING, message)


def _exclusions(dataset: Dataset) -> Iterator[Finding]:
    """Every excluded case, so that none is dropped silently."""
    names = CatalogNames(dataset.catalog_file.catalog)
    for exclusion in dataset.exclusions:
        tool_id = names.resolve(exclusion.detail)
        why = f" {tool_id.message}" if isinstance(tool_id, Unresolved) else ""
        message = f"Case {exclusion.case_id!r} is left out, {exclusion.reason}: {exclusion.detail!r}.{why}"
        yield Finding("excluded-case", Severity.WARNING, message, dataset.source, exclusion.line)
    if more := sum(dataset.excluded.values()) - len(dataset.exclusions):
        message = f"{more:,} more cases are left out and not listed."
        yield Finding("further-findings", Severity.WARNING, message, dataset.source)


def lint_drafts(dataset: Dataset) -> Iterator[Finding]:
    """A finding if there are cases that nobody has reviewed, with the first of their lines."""
    if dataset.drafts:
        lines = [dataset.line(index) for index in range(len(dataset)) if dataset.is_draft(index)]
        count = "1 case is a draft" if dataset.drafts == 1 else f"{dataset.drafts:,} cases are drafts"
        message = f"{count} that nobody has reviewed: {some_lines(lines)}."
        yield Finding("draft-cases", Severity.WARNING, message, dataset.source, lines[0])


EASY = "easy"
"""The tag of cases whose query is meant to name the tool."""


class Leaks:
    """Finds names of tools in queries."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    def check(self, case: Case) -> Iterator[Finding]:
        """A finding for each name."""
        if EASY in case.tags:
            return
        text = "\n".join(user_texts(case))
        named = {self._tools[tool_id].name for answer in case.answers for call in answer for tool_id in call.tools}
        for name in sorted(named):
            if mentions_tool(text, name):
                message = f"The query names the tool {name!r} that must be found; reword it, or tag the case {EASY!r}."
                yield Finding("name-in-query", Severity.WARNING, message)


def user_texts(case: Case) -> Iterator[str]:
    """The texts of the user's messages."""
    for message in case.messages:
        if message.get("role") == "user":
            yield content_text(message.get("content"))


def bounded(findings: Iterable[Finding], source: str) -> Iterator[Finding]:
    """At most `MAX_FINDINGS` of each rule, and at the end how many more there are.

    Args:
        findings: Read once, and not stored.
        source: The file of the finding that counts the further ones.
    """
    counts: Counter[tuple[str, Severity]] = Counter()
    for finding in findings:
        counts[finding.rule, finding.severity] += 1
        if counts[finding.rule, finding.severity] <= MAX_FINDINGS:
            yield finding
    for (rule, severity), count in counts.items():
        if count > MAX_FINDINGS:
            message = f"{count - MAX_FINDINGS:,} more findings of the rule {rule} are not listed."
            yield Finding("further-findings", severity, message, source)
