"""What only answers have: properties marked `readOnly`, which no request sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolbelt.importers.openapi.reading import Node, Reading

if TYPE_CHECKING:
    from toolbelt.sources import Key


class ReadOnly:
    """The read-only properties of a document's schemas."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._parts: dict[tuple[Key, ...], tuple[frozenset[str], list[Node]]] = {}

    def names(self, node: Node) -> frozenset[str]:
        """Properties that only answers have, of the schema at `node` and of all it takes in by `allOf` and `$ref`."""
        names: set[str] = set()
        seen: set[tuple[Key, ...]] = set()
        pending = [node]
        while pending:
            current = pending.pop()
            if current.path not in seen:
                seen.add(current.path)
                own, taken_in = self._own(current)
                names |= own
                pending.extend(taken_in)
        return frozenset(names)

    def covers(self, node: Node) -> bool:
        """Whether the schema at `node`, or one that it refers to, is marked."""
        seen: set[tuple[Key, ...]] = set()
        current: Node | None = node
        while current is not None and isinstance(current.value, dict) and current.path not in seen:
            if current.value.get("readOnly") is True:
                return True
            seen.add(current.path)
            current = self._reading.find_target(current) if "$ref" in current.value else None
        return False

    def _own(self, node: Node) -> tuple[frozenset[str], list[Node]]:
        """The read-only properties written at `node` itself, and the schemas it takes in."""
        if node.path not in self._parts:
            taken_in: list[Node] = []
            names: frozenset[str] = frozenset()
            value = node.value if isinstance(node.value, dict) else {}
            if "$ref" in value and (target := self._reading.find_target(node)):
                taken_in.append(target)
            if isinstance(value.get("properties"), dict):
                properties = node.child("properties")
                names = frozenset(name for name in properties.value if self.covers(properties.child(name)))
            if isinstance(value.get("allOf"), list):
                parts = node.child("allOf")
                taken_in.extend(parts.child(index) for index in range(len(parts.value)))
            self._parts[node.path] = names, taken_in
        return self._parts[node.path]
