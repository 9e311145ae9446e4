"""A document being read: where each value stands, what is wrong with it, and what its `$ref`s mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from toolbelt.errors import suggestion
from toolbelt.findings import Finding

if TYPE_CHECKING:
    from toolbelt.sources import Document, Key

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Node:
    """A value with where it stands in the document."""

    value: Any
    path: tuple[Key, ...] = ()

    def child(self, key: Key) -> Node:
        """What stands under `key`."""
        return Node(self.value[key], (*self.path, key))


class Reading:
    """A document being read: the mistakes and remarks so far, and what its `$ref`s mean."""

    def __init__(self, document: Document) -> None:
        self.root = Node(document.data)
        self._document = document
        self._findings: dict[Finding, None] = {}
        self._notes: dict[str, list[str]] = {}

    @property
    def findings(self) -> list[Finding]:
        """Every mistake, once, in the order of lines."""
        return sorted(self._findings, key=lambda finding: finding.line or 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every remark, once, after the names of what it is about."""
        return tuple(f"{_listed(labels)}: {text}" if labels else text for text, labels in self._notes.items())

    def refuse(self, rule: str, message: str, node: Node) -> None:
        """Keep a mistake; what many operations share is met many times and told once."""
        self._findings[self._document.finding(rule, message, *node.path)] = None

    def note(self, text: str, label: str = "") -> None:
        """Keep a remark about `label`."""
        labels = self._notes.setdefault(text, [])
        if label:
            labels.append(label)

    def find_line(self, node: Node) -> int | None:
        """1-based line of `node`."""
        return self._document.find_line(*node.path)

    def under_root(self, key: str) -> Node:
        """What stands under `key` of the document; the document itself if nothing does."""
        return self.root.child(key) if key in self.root.value else self.root

    def field(self, node: Node, key: str, kind: type[T], wanted: str) -> T | None:
        """The value under `key`; `None` if there is none, or one of the wrong type, which is a mistake."""
        return self.typed(node.child(key), f"`{key}`", kind, wanted) if key in node.value else None

    def typed(self, node: Node, what: str, kind: type[T], wanted: str) -> T | None:
        """The value of `node`; `None` if it is empty, or of the wrong type, which is a mistake."""
        if node.value is None or isinstance(node.value, kind):
            return node.value
        self.refuse("wrong-type", f"{what} must be {wanted}, not {_kind(node.value)}.", node)
        return None

    def is_mapping(self, node: Node, what: str) -> bool:
        """Whether `node` holds a mapping; that it does not is a mistake."""
        if isinstance(node.value, dict):
            return True
        self.refuse("wrong-type", f"{what} must be a mapping, not {_kind(node.value)}.", node)
        return False

    def follow(self, node: Node) -> Node | None:
        """What `node` stands for once its `$ref`s are followed; `None` if they lead nowhere."""
        chain = self.chain(node)
        return chain[-1] if chain else None

    def chain(self, node: Node) -> tuple[Node, ...]:
        """`node` and what it refers to, step by step; empty if that leads nowhere."""
        nodes = [node]
        seen = {node.path}
        while isinstance(nodes[-1].value, dict) and "$ref" in nodes[-1].value:
            target = self.find_target(nodes[-1])
            if target is None:
                return ()
            if target.path in seen:
                self.refuse("ref-cycle", f"The `$ref` {node.value['$ref']!r} leads back to itself.", node)
                return ()
            seen.add(target.path)
            nodes.append(target)
        return tuple(nodes)

    def find_target(self, node: Node) -> Node | None:
        """What the `$ref` of `node` names; `None` if nothing in this document."""
        ref = node.value["$ref"]
        if not isinstance(ref, str):
            self.refuse("wrong-type", f"`$ref` must be text, not {_kind(ref)}.", node.child("$ref"))
            return None
        if not ref.startswith("#"):
            message = f"The `$ref` {ref!r} is outside of this document and not fetched; bundle the parts into one file."
            self.refuse("external-ref", message, node.child("$ref"))
            return None
        target = self.root if ref.startswith("#/") else None
        known: Iterable[str] = ()
        for token in unquote(ref[2:]).split("/"):
            if target is None:
                break
            key = token.replace("~1", "/").replace("~0", "~")
            known = target.value if isinstance(target.value, dict) else ()
            target = _step(target, key)
        if target is None:
            hint = suggestion(key, known) if known else ""
            self.refuse("unresolved-ref", f"Nothing stands at {ref!r}.{hint}", node.child("$ref"))
        return target


def _kind(value: object) -> str:
    for kind, words in ((bool, "true or false"), (str, "text"), (dict, "a mapping"), (list, "a list")):
        if isinstance(value, kind):
            return words
    return "empty" if value is None else "a number"


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _step(node: Node, key: str) -> Node | None:
    if isinstance(node.value, dict):
        return node.child(key) if key in node.value else None
    is_index = isinstance(node.value, list) and key.isascii() and key.isdecimal() and len(key) < 10
    return node.child(int(key)) if is_index and int(key) < len(node.value) else None
