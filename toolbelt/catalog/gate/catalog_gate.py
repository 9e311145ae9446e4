"""What of the changes between two versions of a catalog makes its tools worse to choose or to call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.gate.changes import Change, ChangeKind, CountTools, Key, find_changes
from toolbelt.catalog.gate.schema_breaks import BreakKind, find_schema_breaks
from toolbelt.catalog.gate.wording import Wording, find_look_alikes
from toolbelt.catalog.tool import Tool

GROWTH = 1.0
"""By which share of what it was a tool's definition may grow through its description alone."""
LEAST_GROWTH = 200
"""Tokens that its description must grow by at the least to be a fault."""


class GateRule(StrEnum):
    """What may be wrong with a change; the values are the names for `--allow`."""

    REMOVED = "tool-removed"
    RENAMED = "tool-renamed"
    ARGUMENT_REQUIRED = "argument-required"
    ARGUMENT_REMOVED = "argument-removed"
    TYPE_CHANGED = "type-changed"
    ENUM_NARROWED = "enum-narrowed"
    DESCRIPTION_LOST = "description-lost"
    LOOK_ALIKE = "look-alike"
    GREW = "definition-grew"
    CASES_LOST = "cases-lost"


_BREAKS: Mapping[BreakKind, GateRule] = {kind: GateRule(kind.value) for kind in BreakKind}


@dataclass(frozen=True, slots=True)
class CatalogFault:
    """One thing that makes a tool worse.

    Attributes:
        rule: What is wrong.
        tool: Id of the tool; empty for the whole catalog.
        others: Ids of tools that it has to do with, or names of arguments.
        before: What was, in a few words or figures; empty where the rule says all.
        after: What is.
        is_allowed: Whether the user allows it.
    """

    rule: GateRule
    tool: str
    others: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    is_allowed: bool = False


@dataclass(frozen=True, slots=True)
class CatalogComparison:
    """Two versions of a catalog.

    Attributes:
        changes: Everything that is different.
        faults: What of it makes a tool worse, in the order of the tools.
        tokens: Of all definitions, before and now.
    """

    changes: tuple[Change, ...]
    faults: tuple[CatalogFault, ...]
    tokens: tuple[int, int]

    @property
    def failing(self) -> tuple[CatalogFault, ...]:
        """The faults that are not allowed."""
        return tuple(fault for fault in self.faults if not fault.is_allowed)

    def allow(self, rules: Collection[GateRule]) -> CatalogComparison:
        """The same, with the faults of some rules shown and not failing."""
        return replace(self, faults=tuple(replace(each, is_allowed=each.rule in rules) for each in self.faults))


def compare_catalogs(
    old: Catalog, new: Catalog, count: CountTools, *, max_token_increase: float | None = None
) -> CatalogComparison:
    """Compare two versions of a catalog.

    Args:
        old: Before.
        new: Now.
        count: By which tokens are counted.
        max_token_increase: By which share of what they were all definitions together may grow; `None` for any.
    """
    before, after = _by_key(old), _by_key(new)
    changes = find_changes(before, after, count)
    faults = list(_find_faults(changes, before, after, count))
    was, now = (sum(count([(tool, tool.wire_name or tool.name) for tool in each.tools])) for each in (old, new))
    if max_token_increase is not None and now > was * (1 + max_token_increase):
        faults.append(CatalogFault(GateRule.GREW, "", (), f"{was:,}", f"{now:,}"))
    return CatalogComparison(changes, tuple(faults), (was, now))


def _by_key(catalog: Catalog) -> dict[Key, Tool]:
    """Tools by server and name, as the name of its plugin may change with the split; others by their ids."""
    return {
        (plugin.server, tool.name) if plugin.server else ("", tool.id): tool
        for plugin in catalog.plugins
        for tool in plugin.tools
    }


def _find_faults(
    changes: Iterable[Change], before: Mapping[Key, Tool], after: Mapping[Key, Tool], count: CountTools
) -> Iterator[CatalogFault]:
    olds, news = ({tool.id: tool for tool in side.values()} for side in (before, after))
    was = {tool.id: before[key].id for key, tool in after.items() if key in before}
    wordings = Wording(tuple(olds.values())), Wording(tuple(news.values()))
    described: dict[str, str] = {}
    for change in changes:
        match change.kind:
            case ChangeKind.REMOVED:
                yield CatalogFault(GateRule.REMOVED, change.tool)
            case ChangeKind.RENAMED:
                was[change.tool] = change.was
                yield CatalogFault(GateRule.RENAMED, change.tool, (change.was,))
            case ChangeKind.ADDED:
                described[change.tool] = ""
            case ChangeKind.DESCRIPTION:
                described[change.tool] = was[change.tool]
                then, now = olds[was[change.tool]], news[change.tool]
                if wordings[0].has_lost_words(then.id, now):
                    yield CatalogFault(GateRule.DESCRIPTION_LOST, now.id, (), then.description, now.description)
                [size] = count([(then, then.wire_name or then.name)])
                if change.tokens > max(LEAST_GROWTH, GROWTH * size):
                    yield CatalogFault(GateRule.GREW, now.id, (), f"{size:,}", f"{size + change.tokens:,}")
            case ChangeKind.SCHEMA:
                yield from _find_breaks(olds[was[change.tool]], news[change.tool])
    alike: dict[str, list[str]] = {}
    for found in find_look_alikes(*wordings, described):
        alike.setdefault(found.tool.id, []).append(found.other.id)
    yield from (CatalogFault(GateRule.LOOK_ALIKE, tool, tuple(dict.fromkeys(ids))) for tool, ids in alike.items())


def _find_breaks(old: Tool, new: Tool) -> Iterator[CatalogFault]:
    for found in find_schema_breaks(old.parameters, new.parameters):
        before, after = ", ".join(found.before), ", ".join(found.after)
        yield CatalogFault(_BREAKS[found.kind], new.id, (found.argument,), before, after)
