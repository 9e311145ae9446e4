"""Which tool of a catalog a case means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.patterns import fold

_MOST_SUGGESTIONS = 100
"""Unknown names that are worth a search for the nearest; with more, it is the wrong catalog."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that means no tool, or several.

    Attributes:
        rule: Slug of the finding.
        message: What is wrong, with the nearest names or the candidates.
        candidates: Ids of all that bear an ambiguous name.
    """

    rule: str
    message: str
    candidates: tuple[str, ...] = ()


class Names(Protocol):
    """What turns the references of a case into ids."""

    def look_up(self, reference: str) -> str | Unresolved:
        """The id of the one tool that is meant."""
        ...

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:
        """Ids of `offered` whose id or name is `label`, in order."""
        ...

    def find_tool(self, tool_id: str) -> Tool | None:
        """The tool of that id, where it is known."""
        ...


class CatalogNames:
    """Names as a catalog has them; what was looked up once is kept."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tools = {tool.id: tool for tool in catalog.tools}
        self._found: dict[str, str | Unresolved] = {tool_id: tool_id for tool_id in self._tools}
        parts = ((tool.id, tool.path, tool.name, catalog.wire_names[tool.id]) for tool in catalog.tools)
        self._known = {fold(part) for names in parts for part in names}
        self._misses = 0

    def look_up(self, reference: str) -> str | Unresolved:
        """As `Catalog.get_tool` understands it."""
        if (found := self._found.get(reference)) is None:
            found = self._found[reference] = self._resolve(reference)
        return found

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:
        """An id goes before names."""
        if label in offered:
            return (label,)
        return tuple(tool_id for tool_id in offered if self._tools[tool_id].name == label)

    def find_tool(self, tool_id: str) -> Tool | None:
        """The tool of that id."""
        return self._tools.get(tool_id)

    def _resolve(self, reference: str) -> str | Unresolved:
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


class AsWritten:
    """Every reference stands for itself: a case whatever the catalog, for its digest."""

    def look_up(self, reference: str) -> str | Unresolved:
        """The reference."""
        return reference

    def within(self, offered: Sequence[str], label: str) -> tuple[str, ...]:  # noqa: ARG002
        """The label."""
        return (label,)

    def find_tool(self, tool_id: str) -> Tool | None:  # noqa: ARG002
        """None is known."""
        return None
