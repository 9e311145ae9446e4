"""What is different between two versions of tools, tool by tool (rule M4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from toolbelt.catalog.definitions import definition_text, mcp_definition
from toolbelt.catalog.tool import Tool

CountTools = Callable[[Sequence[tuple[Tool, str]]], Sequence[int]]
"""Counts the tokens of tools, each with its wire name."""
Key = tuple[str, str]


class ChangeKind(StrEnum):
    """What is different about a tool."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    """The server has the same description and schema under another name."""
    MOVED = "moved"
    """It is in another plugin, because the `split` has changed."""
    DESCRIPTION = "description"
    SCHEMA = "schema"
    ANNOTATIONS = "annotations"
    OTHER = "other"
    """Its title, output schema, icons, `_meta` or the like."""


@dataclass(frozen=True)
class Change:
    """One thing that is different about a tool.

    Attributes:
        kind: What it is.
        tool: Id of the tool; of a removed one, as it was.
        tokens: Of its definition now, less those before, as far as this makes the difference.
        was: For `renamed` and `moved`, the id before.
    """

    kind: ChangeKind
    tool: str
    tokens: int
    was: str = ""


def find_changes(before: Mapping[Key, Tool], after: Mapping[Key, Tool], count: CountTools) -> tuple[Change, ...]:
    """What is different about tools; the tokens of all changes add up to the difference.

    Args:
        before: By where it comes from (a server) and its name there; a tool of the same key is the same tool.
        after: Likewise.
        count: By which tokens are counted.

    Returns:
        In the order of `after`; what was removed is last.
    """
    renamed = _find_renamed(before, after)
    steps: list[tuple[ChangeKind, str, Tool | None, Tool | None]] = []
    for key, tool in after.items():
        was = before.get(renamed.get(key, key))
        if was is None:
            steps.append((ChangeKind.ADDED, "", None, tool))
        else:
            steps += _steps(was, tool, is_renamed=key in renamed)
    removed = before.keys() - after.keys() - set(renamed.values())
    steps += [(ChangeKind.REMOVED, "", before[key], None) for key in before if key in removed]
    named = [(tool, tool.wire_name or tool.name) for _, _, *pair in steps for tool in pair if tool is not None]
    tokens = dict(zip(map(_key, named), count(named), strict=True))

    def cost(tool: Tool | None) -> int:
        return 0 if tool is None else tokens[_key((tool, tool.wire_name or tool.name))]

    return tuple(
        Change(kind, (now or then).id, cost(now) - cost(then), was)  # type: ignore[union-attr]
        for kind, was, then, now in steps
    )


def _key(named: tuple[Tool, str]) -> str:
    return definition_text(mcp_definition(*named))


def _find_renamed(before: Mapping[Key, Tool], after: Mapping[Key, Tool]) -> dict[Key, Key]:
    """Names before by names now, where one server lost and gained exactly one tool that says the same."""
    lost = {key: tool for key, tool in before.items() if key not in after}
    gained = {key: tool for key, tool in after.items() if key not in before}
    lost_counts = Counter(_meaning(key, tool) for key, tool in lost.items())
    gained_counts = Counter(_meaning(key, tool) for key, tool in gained.items())
    sources = {_meaning(key, tool): key for key, tool in lost.items()}
    return {
        key: sources[meaning]
        for key, tool in gained.items()
        if lost_counts[meaning := _meaning(key, tool)] == gained_counts[meaning] == 1
    }


def _meaning(key: Key, tool: Tool) -> tuple[str, str]:
    return key[0], definition_text(mcp_definition(Tool("x", tool.description, tool.parameters), "x"))


def _steps(was: Tool, now: Tool, *, is_renamed: bool) -> Iterator[tuple[ChangeKind, str, Tool, Tool]]:
    """From one definition to the other, one difference at a time."""
    current = replace(was, name=now.name, wire_name=now.wire_name, plugin=now.plugin, id=now.id)
    if is_renamed:
        yield ChangeKind.RENAMED, was.id, was, current
    elif was.id != now.id:
        yield ChangeKind.MOVED, was.id, was, current
    for kind, field in (
        (ChangeKind.DESCRIPTION, "description"),
        (ChangeKind.SCHEMA, "parameters"),
        (ChangeKind.ANNOTATIONS, "annotations"),
        (ChangeKind.OTHER, "extra"),
    ):
        if getattr(current, field) != getattr(now, field):
            step = replace(current, **{field: getattr(now, field)})
            yield kind, "", current, step
            current = step


def total_tokens(changes: Iterable[Change]) -> int:
    """How many tokens more all definitions have after the changes."""
    return sum(change.tokens for change in changes)
