"""An OpenAPI document being read: the remarks so far, and what its `$ref`s mean."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from toolbelt.errors import suggestion
from toolbelt.findings import Finding
from toolbelt.sources import Document
from toolbelt.sources.section import Section


class Spec:
    """An OpenAPI document being read.

    Attributes:
        root: The whole document; its sections collect the mistakes.
    """

    def __init__(self, document: Document) -> None:
        self.root = Section.of(document)
        self._notes: dict[str, list[str]] = {}

    @property
    def findings(self) -> list[Finding]:
        """Every mistake in the order of lines; one that many operations share, once."""
        return sorted(dict.fromkeys(self.root.findings), key=lambda finding: finding.line or 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every remark, once, after the names of what it is about."""
        return tuple(f"{_listed(labels)}: {text}" if labels else text for text, labels in self._notes.items())

    def note(self, text: str, label: str = "") -> None:
        """Add a remark about `label`."""
        labels = self._notes.setdefault(text, [])
        if label:
            labels.append(label)

    def under_root(self, key: str) -> Section:
        """What stands under `key` of the document; the document itself if nothing does."""
        return self.root.child(key) if key in self.root.value else self.root

    def follow(self, node: Section) -> Section | None:
        """What `node` stands for once its `$ref`s are followed; `None` if they lead nowhere."""
        chain = self.chain(node)
        return chain[-1] if chain else None

    def chain(self, node: Section) -> tuple[Section, ...]:
        """`node` and what it refers to, step by step; empty if that leads nowhere."""
        nodes = [node]
        seen = {node.path}
        while isinstance(nodes[-1].value, dict) and "$ref" in nodes[-1].value:
            target = self.find_target(nodes[-1])
            if target is None:
                return ()
            if target.path in seen:
                node.add_error("ref-cycle", f"The `$ref` {node.value['$ref']!r} leads back to itself.")
                return ()
            seen.add(target.path)
            nodes.append(target)
        return tuple(nodes)

    def find_target(self, node: Section) -> Section | None:
        """What the `$ref` of `node` names; `None` if nothing in this document."""
        written = node.child("$ref")
        ref = written.value
        if not isinstance(ref, str):
            written.add_wrong_type("text")
            return None
        if not ref.startswith("#"):
            message = f"The `$ref` {ref!r} is outside of this document and not fetched; bundle the parts into one file."
            written.add_error("external-ref", message)
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
            written.add_error("unresolved-ref", f"Nothing stands at {ref!r}.{hint}")
        return target


def free_name(name: str, taken: Iterable[str]) -> str:
    """`name`, or it with the first number from 2 up that makes it free."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}_{number}"
    return free


def _listed(labels: list[str]) -> str:
    return ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _step(node: Section, key: str) -> Section | None:
    if isinstance(node.value, dict):
        return node.child(key) if key in node.value else None
    is_index = isinstance(node.value, list) and key.isascii() and key.isdecimal() and len(key) < 10
    return node.child(int(key)) if is_index and int(key) < len(node.value) else None
