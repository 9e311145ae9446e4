"""What is wrong or doubtful about written toolkits and switches, over a catalog (rules K2, K4, L10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from toolbelt.catalog import Catalog
from toolbelt.errors import InvalidDefinitionError
from toolbelt.findings import Finding, Severity
from toolbelt.sources import Document
from toolbelt.toolkits.expand import Unmatched, expand_toolkits, expander
from toolbelt.toolkits.policy import PolicyText, find_named_members
from toolbelt.toolkits.switch_decisions import WrittenSwitches
from toolbelt.toolkits.toolkit import Toolkit


def lint_toolkits(
    document: Document, toolkits: Sequence[Toolkit], catalog: Catalog, written: Iterable[WrittenSwitches]
) -> tuple[Finding, ...]:
    """What of a project's toolkits and of switches is wrong or doubtful for one catalog.

    A member that matches nothing is judged by the switch of its toolkit (rule K2).

    Args:
        document: `toolbelt.yaml`, in which `toolkits` stands.
        toolkits: As read from it.
        catalog: The catalog in use.
        written: The switches; empty ones for where no config says anything.
    """
    try:
        expanded = expand_toolkits(toolkits, catalog)
    except InvalidDefinitionError as error:
        return tuple(document.finding("invalid-toolkits", problem, "toolkits") for problem in error.problems)
    findings: list[Finding] = []
    worst: dict[Unmatched, Severity] = {}
    for each in written:
        switches, notes = expanded.read_config(each.switches)
        for note in notes:
            place = (*each.path, note.key) if isinstance(note.key, str) else each.path
            findings.append(each.document.finding(note.rule, note.message, *place, severity=Severity.WARNING))
        for unmatched, severity in expanded.check_members(switches):
            if worst.get(unmatched) is not Severity.ERROR:
                worst[unmatched] = severity
    findings += (_unmatched(unmatched, severity, document, toolkits) for unmatched, severity in worst.items())
    return tuple(findings)


def lint_policies(document: Document, toolkits: Sequence[Toolkit], catalog: Catalog) -> Iterator[Finding]:
    """Members that a policy names whether they are available or not (rule K4); arguments as `lint_toolkits`."""
    expand = expander(catalog)
    for toolkit in toolkits:
        if not isinstance(toolkit.policy, PolicyText):
            continue
        members = (*toolkit.member_tools, *(key for entry in toolkit.member_tools for key in expand(entry)))
        if named := find_named_members(toolkit.policy.text, dict.fromkeys(members)):
            message = (
                f"The policy of toolkit {toolkit.key!r} names {', '.join(named)} also where that is not available; "
                "write {tools}, or put the line under the policy's `tools`."
            )
            place = ("toolkits", toolkit.key, "policy", "text")
            yield document.finding("member-in-policy", message, *place, severity=Severity.WARNING)


def _unmatched(unmatched: Unmatched, severity: Severity, document: Document, toolkits: Sequence[Toolkit]) -> Finding:
    toolkit = next(toolkit for toolkit in toolkits if toolkit.key == unmatched.toolkit)
    place = ("toolkits", toolkit.key, "tools", toolkit.member_tools.index(unmatched.entry))
    message = f"Toolkit {toolkit.key!r}: {unmatched.message}"
    return document.finding(unmatched.miss, message, *place, severity=severity)
