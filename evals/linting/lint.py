"""What is doubtful about the cases of a dataset beyond what reading them refuses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.validators import SchemaValidator, make_validator
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import ArgumentRules, Case, ExpectedArguments, ExpectedCall
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.identity import case_text
from toolbelt.evals.cases.names import CatalogNames, Unresolved
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry

EASY = "easy"
"""The tag of cases whose query is meant to name the tool."""
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[^A-Za-z]")
"""In names that nobody would write by chance: `git_push`, `getWeather`; unlike `search`."""
_GRADED = ("expected", "accept", "forbidden", "allowed_extra", "match")


def lint_dataset(
    dataset: Dataset, registry: ToolLoadoutRegistry, progress: Callable[[int], None] | None = None
) -> Iterator[Finding]:
    """What reading the cases does not tell, each with file and line.

    Args:
        dataset: Its cases are read once more, one at a time.
        registry: Every loadout that a role may name.
        progress: Called with the number of cases looked at so far.

    Raises:
        InvalidFileError: the file was changed since it was opened.
    """
    yield from _exclusions(dataset)
    linting = _Linting(dataset.catalog_file.catalog, registry)
    for index in range(len(dataset)):
        line = dataset.line(index)
        for severity, rule, message in linting.look(dataset.case(index), line):
            yield Finding(rule, severity, message, dataset.source, line)
        if progress is not None and index % 200 == 0:
            progress(index)


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


_Found = Iterator[tuple[Severity, str, str]]


@dataclass(eq=False)
class _Linting:
    catalog: Catalog
    registry: ToolLoadoutRegistry
    tools: dict[str, Tool] = field(init=False)
    seen: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)
    active: dict[str, frozenset[str]] = field(default_factory=dict)
    validators: dict[str, SchemaValidator | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tools = {tool.id: tool for tool in self.catalog.tools}

    def look(self, case: Case, line: int) -> _Found:
        yield from self._conflict(case, line)
        yield from self._leaks(case)
        yield from self._arguments(case)
        yield from self._role(case)
        if not any(message.get("role") == "user" for message in case.messages):
            yield Severity.WARNING, "nothing-asked", "No message of this case is a user's."

    def _conflict(self, case: Case, line: int) -> _Found:
        """The same words over the same tools, with another answer."""
        written = json.loads(case_text(case))
        asked = _digest([written["messages"], written["offered"], written["role"]])
        label = _digest([written[key] for key in _GRADED])
        before, first = self.seen.setdefault(asked, (label, line))
        if before != label:
            message = f"Line {first} asks the same over the same tools, and has another answer; accept both in both."
            yield Severity.WARNING, "conflicting-labels", message

    def _leaks(self, case: Case) -> _Found:
        if EASY in case.tags:
            return
        query = case.query.casefold()
        named = {self.tools[tool_id].name for answer in case.answers for call in answer for tool_id in call.tools}
        for name in sorted(named):
            if _COMPOUND.search(name) and re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", query):
                message = f"The query names the tool {name!r} that is to be found; reword it, or tag the case {EASY!r}."
                yield Severity.WARNING, "name-in-query", message

    def _arguments(self, case: Case) -> _Found:
        for answer in case.answers:
            for call in answer:
                # The leaderboard's values are looser than JSON's, and go by its own rules.
                if call.arguments is not None and call.arguments.rules is ArgumentRules.LITERAL:
                    yield from self._call(call, call.arguments)

    def _call(self, call: ExpectedCall, arguments: ExpectedArguments) -> _Found:
        tools = [self.tools[tool_id] for tool_id in call.tools]
        shown = " or ".join(call.tools)
        for name, values in arguments.accepted.items():
            refused = [value for value in values if all(self._fault(tool, name, value) for tool in tools)]
            if not refused:
                continue
            why = self._fault(tools[0], name, refused[0])
            message = f"{shown} cannot be given this for {name!r}: {why}"
            if len(refused) == len(values):
                yield Severity.ERROR, "impossible-argument", message
            else:
                yield Severity.WARNING, "impossible-value", message
        if arguments.exact and (missing := _unnamed(tools, arguments)):
            message = f"{shown} requires {', '.join(missing)}, which `args_exact` with these arguments calls wrong."
            yield Severity.ERROR, "impossible-argument", message

    def _fault(self, tool: Tool, name: str, value: Any) -> str | None:
        """Why the tool's schema refuses this value of one argument; nothing is known against a broken schema."""
        if tool.id not in self.validators:
            self.validators[tool.id] = make_validator(tool.parameters)
        if (validator := self.validators[tool.id]) is None:
            return None
        # What is wrong with the object as a whole, such as another argument that is required, is no matter here.
        faults = validator.faults({name: value})
        error = next((fault for fault in faults if next(iter(fault.absolute_path), None) == name), None)
        return None if error is None else error.message[:200]

    def _role(self, case: Case) -> _Found:
        if case.role is None:
            return
        if self.registry.get_loadout(case.role) is None:
            known = [loadout.name for loadout in self.registry.get_all()]
            message = f"The role {case.role!r} is no loadout.{suggestion(case.role, known)}"
            yield Severity.ERROR, "unknown-role", message
            return
        if case.role not in self.active:
            resolution = self.registry.resolve(case.role, self.catalog)
            self.active[case.role] = frozenset(tool.id for tool in resolution.active_tools)
        active = self.active[case.role]
        lacking = [[call for call in answer if not active.intersection(call.tools)] for answer in case.answers]
        if lacking and all(lacking):
            names = ", ".join(" or ".join(call.tools) for call in lacking[0])
            yield Severity.WARNING, "role-without-tool", f"Loadout {case.role!r} does not have {names}."


def _unnamed(tools: list[Tool], arguments: ExpectedArguments) -> list[str]:
    """Arguments that each of the tools requires and that are not named."""
    needed: list[set[str]] = []
    for tool in tools:
        required = tool.parameters.get("required")
        names = required if isinstance(required, list) else []
        needed.append({name for name in names if isinstance(name, str)})
    return sorted(set.intersection(*needed) - arguments.accepted.keys())


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=8).digest()
