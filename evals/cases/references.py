"""Resolve the references of a case to tools of a catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.patterns import fold

_MOST_SUGGESTIONS = 100
"""Unknown names that get suggestions, which cost time; with more, it is the wrong catalog."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference to no tool, or to several.

    Attributes:
        rule: Slug of the finding.
        message: What is wrong, with the nearest names or the candidates.
        candidates: Ids of all tools with an ambiguous name.
    """

    rule: str
    message: str
    candidates: tuple[str, ...] = ()


class ToolNames(Protocol):
    """Resolves references of a case to ids of tools."""

    def resolve(self, reference: str) -> str | Unresolved:
        """The id of the tool."""
        ...

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:
        """Ids of `offered` whose id or name is `label`, in order."""
        ...

    def find_tool(self, tool_id: str) -> Tool | None:
        """The tool of that id, where it is known."""
        ...


class CatalogNames:
    """Resolves names with a catalog, and caches the results."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tools = {tool.id: tool for tool in catalog.tools}
        self._resolved: dict[str, str | Unresolved] = {tool_id: tool_id for tool_id in self._tools}
        parts = ((tool.id, tool.path, tool.name, catalog.wire_names[tool.id]) for tool in catalog.tools)
        self._known = {fold(part) for names in parts for part in names}
        self._misses = 0

    def resolve(self, reference: str) -> str | Unresolved:
        """As `Catalog.get_tool` resolves it."""
        if (result := self._resolved.get(reference)) is None:
            result = self._resolved[reference] = self._resolve_uncached(reference)
        return result

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:
        """An id counts before names."""
        if label in offered:
            return (label,)
        return tuple(tool_id for tool_id in offered if self._tools[tool_id].name == label)

    def find_tool(self, tool_id: str) -> Tool | None:
        """The tool of that id."""
        return self._tools.get(tool_id)

    def _resolve_uncached(self, reference: str) -> str | Unresolved:
        if fold(reference) not in self._known:
            self._misses += 1
            if self._misses > _MOST_SUGGESTIONS:
                return Unresolved("unknown-tool", f"No tool named {reference!r}.")
        try:
            return self._catalog.get_tool(reference).id
        except AmbiguousNameError as error:
            return Unresolved("ambiguous-tool", str(error), error.candidates)
        except NotFoundError as error:
            return Unresolved("unknown-tool", str(error))


class WrittenNames:
    """Resolves the names of one line, and notes how each tool was written there.

    So a digest, which depends on what is written, seldom needs the line to be read a second time.

    Args:
        names: Resolves them.
    """

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._written: dict[str, str] = {}
        self._is_one_to_one = True

    def resolve(self, reference: str) -> str | Unresolved:
        """As `names` resolve it."""
        tool_id = self._names.resolve(reference)
        if isinstance(tool_id, str):
            self._note(tool_id, reference)
        else:
            self._is_one_to_one = False
        return tool_id

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:
        """As `names` find them."""
        tool_ids = self._names.within(offered, label)
        if len(tool_ids) == 1:
            self._note(tool_ids[0], label)
        else:
            self._is_one_to_one = False
        return tool_ids

    def find_tool(self, tool_id: str) -> Tool | None:
        """The tool of that id."""
        return self._names.find_tool(tool_id)

    @property
    def written(self) -> Mapping[str, str] | None:
        """The name of each tool as written, by id; `None` where a name or a tool has no one counterpart."""
        return self._written if self._is_one_to_one else None

    def _note(self, tool_id: str, reference: str) -> None:
        if self._written.setdefault(tool_id, reference) != reference:
            self._is_one_to_one = False


class LiteralNames:
    """Takes every reference for an id: a case without a catalog, for its digest."""

    def resolve(self, reference: str) -> str | Unresolved:
        """The reference."""
        return reference

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:  # noqa: ARG002
        """The label."""
        return (label,)

    def find_tool(self, tool_id: str) -> Tool | None:  # noqa: ARG002
        """Never known."""
        return None
