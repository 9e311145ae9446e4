"""Which tool a client means by a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolbelt.catalog import Tool
from toolbelt.patterns import fold


class ToolNames:
    """Finds the one tool that a name means, before anything is decided about that tool.

    A name is compared as a wire name, an id, `plugin/name` and a bare name; then as each of these in any case. A name
    that several tools have means none of them.
    """

    def __init__(self, tools: Iterable[Tool], wire_names: Mapping[str, str]) -> None:
        exact: list[dict[str, set[str]]] = [{}, {}, {}, {}]
        folded: dict[str, set[str]] = {}
        self._by_id: dict[str, Tool] = {}
        for tool in tools:
            self._by_id[tool.id] = tool
            names = (wire_names.get(tool.id, tool.name), tool.id, tool.path, tool.name)
            for index, name in zip(exact, names, strict=True):
                index.setdefault(name, set()).add(tool.id)
                folded.setdefault(fold(name), set()).add(tool.id)
        self._exact, self._folded = exact, folded

    def find(self, name: str) -> Tool | None:
        """The tool that `name` means; `None` if there is none, or several."""
        for index, key in (*((index, name) for index in self._exact), (self._folded, fold(name))):
            if found := index.get(key):
                return self._by_id[next(iter(found))] if len(found) == 1 else None
        return None
