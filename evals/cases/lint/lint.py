"""What is doubtful about the cases of a dataset beyond what reading them refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.lint.arguments import Calls
from toolbelt.evals.cases.lint.balance import Balance, lint_drafts
from toolbelt.evals.cases.lint.cards import lint_card
from toolbelt.evals.cases.lint.naming import Leaks
from toolbelt.evals.cases.lint.repeats import Repeats
from toolbelt.evals.cases.lint.roles import Roles
from toolbelt.evals.cases.lint.told import bounded
from toolbelt.evals.cases.lint.twins import Twins
from toolbelt.evals.cases.names import CatalogNames, Unresolved
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry


def lint_dataset(
    dataset: Dataset,
    registry: ToolLoadoutRegistry,
    progress: Callable[[int], None] | None = None,
    *,
    own_catalog: bool = True,
) -> Iterator[Finding]:
    """What reading the cases does not tell, each with its file and, where it is about one, its line.

    Of each rule as many findings as are told one by one, and how many more there are.

    Args:
        dataset: Its cases are read once more, one at a time.
        registry: Every loadout that a role may name.
        progress: Called with the number of cases looked at so far.
        own_catalog: Whether the catalog is the dataset's own, so that its card can be held against what is there.

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
    leaks, calls, roles = Leaks(tools), Calls(catalog, tools), Roles(catalog, registry)
    repeats, balance, twins = Repeats(), Balance(), Twins(dataset.catalog_file)
    for index in range(len(dataset)):
        case, line = dataset.case(index), dataset.line(index)
        repeats.add(case, line)
        balance.add(case)
        twins.add(case, line)
        for finding in chain(leaks.look(case), calls.look(case), roles.look(case), _nothing_asked(case)):
            yield replace(finding, file=dataset.source, line=line)
        if progress is not None and index % 200 == 0:
            progress(index)
    for finding in chain(repeats.conflicts(), repeats.duplicates(), repeats.clusters(), balance.findings(dataset)):
        yield replace(finding, file=dataset.source)
    yield from twins.findings()


def _nothing_asked(case: Case) -> Iterator[Finding]:
    if not any(message.get("role") == "user" for message in case.messages):
        yield Finding("nothing-asked", Severity.WARNING, "No message of this case is a user's.")


def _exclusions(dataset: Dataset) -> Iterator[Finding]:
    """Every case that is left out, so that none is dropped in silence."""
    names = CatalogNames(dataset.catalog_file.catalog)
    for one in dataset.exclusions:
        found = names.look_up(one.detail)
        why = f" {found.message}" if isinstance(found, Unresolved) else ""
        message = f"Case {one.case_id!r} is left out, {one.reason}: {one.detail!r}.{why}"
        yield Finding("excluded-case", Severity.WARNING, message, dataset.source, one.line)
    if more := sum(dataset.excluded.values()) - len(dataset.exclusions):
        message = f"{more:,} more cases are left out and not listed."
        yield Finding("further-findings", Severity.WARNING, message, dataset.source)
