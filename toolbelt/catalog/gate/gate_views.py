"""The faults between two versions of a catalog, in words and as values to be shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from toolbelt.catalog.gate.catalog_gate import CatalogComparison, CatalogFault, GateRule
from toolbelt.text import plural, visible
from toolbelt.views.blocks import Block, Heading, Listing, Note
from toolbelt.views.cells import Span, Tone

_MOST_NAMED = 3
_LONGEST = 60
"""Characters of a description that are shown."""


def describe_fault(fault: CatalogFault) -> str:
    """`git/log: its description says little more than its name now: 'Logs.', before 'Shows the commits …'`."""
    return f"{fault.tool or 'all definitions'}: {_describe(fault)}"


def _describe(fault: CatalogFault) -> str:
    before, after, others = _quote(fault.before), _quote(fault.after), _name(fault.others)
    match fault.rule:
        case GateRule.REMOVED:
            return "it is gone, and whoever calls it fails"
        case GateRule.RENAMED:
            return f"it was named {others}, and whoever calls that fails"
        case GateRule.ARGUMENT_REQUIRED:
            return f"argument {others} must be given now, so calls without it fail"
        case GateRule.ARGUMENT_REMOVED:
            return f"argument {others} is gone"
        case GateRule.TYPE_CHANGED:
            return f"argument {others} took {fault.before}, and takes {fault.after}"
        case GateRule.ENUM_NARROWED:
            lost = f"no longer takes {fault.before}" if fault.before else "took any value"
            return f"argument {others} {lost}, only {visible(fault.after)[:_LONGEST]}"
        case GateRule.DESCRIPTION_LOST:
            return f"its description lost its words: {after}, before {before}"
        case GateRule.LOOK_ALIKE:
            return f"its description hardly distinguishes it from {others} any more: write what only it does"
        case GateRule.GREW:
            return f"{fault.before} → {fault.after} tokens"
        case GateRule.CASES_LOST:
            cases = plural(len(fault.others), "case")
            return f"not among the first five tools for {cases} any more, where it was: {others}"
        case _:
            assert_never(fault.rule)


def _quote(text: str) -> str:
    shown = " ".join(visible(text).split())
    return repr(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")


def _name(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def faults_view(comparison: CatalogComparison) -> Iterator[Block]:
    """The verdict, what fails, and what would but is allowed."""
    failing, allowed = comparison.failing, [fault for fault in comparison.faults if fault.is_allowed]
    was, now = comparison.tokens
    tokens = f"{was:,} → {now:,} tokens" if was != now else f"{now:,} tokens as before"
    verdict = "regression" if failing else "no regression"
    yield Heading(f"Catalog: {verdict}", f"{plural(len(failing), 'fault')}, {tokens}")
    if failing:
        yield Listing(tuple(Span(f"{describe_fault(fault)} [{fault.rule}]", Tone.BAD) for fault in failing))
        rules = " ".join(f"--allow {rule}" for rule in dict.fromkeys(fault.rule for fault in failing))
        yield Note(f"Where this is intended: {rules}", Tone.FAINT)
    if allowed:
        yield Note("Allowed:")
        yield Listing(tuple(Span(f"{describe_fault(fault)} [{fault.rule}]") for fault in allowed))


def fault_data(fault: CatalogFault) -> dict[str, Any]:
    """A fault for `--json`."""
    return {
        "rule": fault.rule.value,
        "tool": fault.tool,
        "others": list(fault.others),
        "before": fault.before,
        "after": fault.after,
        "allowed": fault.is_allowed,
        "message": describe_fault(fault),
    }
