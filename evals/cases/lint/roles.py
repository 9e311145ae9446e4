"""Whether the loadout that a case names has what its answer needs."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.catalog import Catalog
from toolbelt.errors import suggestion
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.coverage import is_covered
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts import ToolLoadoutRegistry

OUTSIDE = "outside-role"
"""The tag of cases whose role is meant to lack the tool."""


class Roles:
    """Holds answers against the loadouts of roles (coverage as in rule E5)."""

    def __init__(self, catalog: Catalog, registry: ToolLoadoutRegistry) -> None:
        self._catalog = catalog
        self._registry = registry
        self._active: dict[str, frozenset[str] | None] = {}

    def look(self, case: Case) -> Iterator[Finding]:
        """A finding where the role is unknown, lacks the tools, or has them where it should not."""
        is_outside = OUTSIDE in case.tags
        if case.role is None:
            if is_outside:
                yield _warning("role-has-tool", f"The case is tagged {OUTSIDE!r}, but names no role.")
            return
        active = self._active_of(case.role)
        if active is None:
            known = [loadout.name for loadout in self._registry.get_all()]
            message = f"The role {case.role!r} is no loadout.{suggestion(case.role, known)}"
            yield Finding("unknown-role", Severity.ERROR, message)
        elif is_outside:
            yield from self._has(case, active)
        elif case.answers and not is_covered(case, active):
            lacking = [call for call in case.answers[0] if not active.intersection(call.tools)]
            names = ", ".join(" or ".join(call.tools) for call in lacking)
            message = f"Loadout {case.role!r} does not have {names}; if that is meant, tag the case {OUTSIDE!r}."
            yield _warning("role-without-tool", message)

    def _has(self, case: Case, active: frozenset[str]) -> Iterator[Finding]:
        """Calling nothing is within the reach of every role, so an answer of that sort tells nothing here."""
        for answer in filter(None, case.answers):
            if all(active.intersection(call.tools) for call in answer):
                names = ", ".join(" or ".join(call.tools) for call in answer)
                message = f"The case is tagged {OUTSIDE!r}, but loadout {case.role!r} has {names}."
                yield _warning("role-has-tool", message)
                return

    def _active_of(self, role: str) -> frozenset[str] | None:
        if role not in self._active:
            known = self._registry.get_loadout(role) is not None
            tools = self._registry.resolve(role, self._catalog).active_tools if known else ()
            self._active[role] = frozenset(tool.id for tool in tools) if known else None
        return self._active[role]


def _warning(rule: str, message: str) -> Finding:
    return Finding(rule, Severity.WARNING, message)
