"""The tools whose definition changed between a baseline and a run, and the cases that have to do with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.evals.analysis.comparison.comparison import Comparison, Flip, LeftOutFlips


class ToolChange(StrEnum):
    """What of a tool's definition changed."""

    DESCRIPTION = "description"
    SCHEMA = "schema"
    """Parameters, their descriptions among them, or what else a definition has."""
    BOTH = "both"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ChangedTool:
    """A tool whose definition is not that of the baseline.

    Attributes:
        tool: Its id.
        change: What changed.
        worse: Cases that got worse in which it was called or missing, in any arm.
        better: Likewise, that got better.
    """

    tool: str
    change: ToolChange
    worse: int = 0
    better: int = 0


def find_changed_tools(comparison: Comparison | None) -> tuple[ChangedTool, ...]:
    """The tools that changed, those with the most cases that got worse first; none where digests are not kept."""
    if comparison is None or not comparison.old.tools or not comparison.new.tools:
        return ()
    changes = dict(_find_changes(comparison.old.tools, comparison.new.tools))
    worse: dict[str, set[str]] = {tool: set() for tool in changes}
    better: dict[str, set[str]] = {tool: set() for tool in changes}
    more: Counter[tuple[str, bool]] = Counter()
    for pair in comparison.pairs:
        for flip in pair.flips:
            for tool in name_tools(flip) & changes.keys():
                (worse if flip.change < 0 else better)[tool].add(flip.case)
        for others in pair.left_out:  # counted for each arm, as their ids are not kept
            for tool in name_tools(others) & changes.keys():
                more[tool, others.is_worse] += others.cases
    found = [
        ChangedTool(tool, change, len(worse[tool]) + more[tool, True], len(better[tool]) + more[tool, False])
        for tool, change in changes.items()
    ]
    return tuple(sorted(found, key=lambda tool: (-tool.worse, -tool.better, tool.tool)))


def _find_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, ToolChange]]:
    for tool, digest in new.items():
        if tool not in old:
            yield tool, ToolChange.ADDED
        elif digest != old[tool]:
            (was, was_rest), (now, now_rest) = (each.partition(":")[::2] for each in (old[tool], digest))
            if was == now:
                yield tool, ToolChange.SCHEMA
            else:
                yield tool, ToolChange.DESCRIPTION if was_rest == now_rest else ToolChange.BOTH
    yield from ((tool, ToolChange.REMOVED) for tool in old if tool not in new)


def name_tools(flip: Flip | LeftOutFlips) -> set[str]:
    """The ids of all tools that were called or missing in a case, before or now."""
    return {tool for end in (flip.old, flip.new) for tool in (*(end.called or ()), *end.missing, *end.surplus)}


def put_first(flips: Sequence[Flip], tools: Collection[str]) -> list[Flip]:
    """The flips that have to do with some tools first, else in their order; the worse ones before the better ones."""
    return sorted(flips, key=lambda flip: (flip.change > 0, name_tools(flip).isdisjoint(tools)))
