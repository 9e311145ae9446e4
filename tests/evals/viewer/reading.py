"""What stands in a page, read as a browser would, without one."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = ("meta", "link", "img", "br", "input", "hr")


@dataclass
class Element:
    """An element with its attributes and the text directly in it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""


@dataclass
class Read(HTMLParser):
    """A page's elements and its text."""

    elements: list[Element] = field(default_factory=list)
    text: str = ""
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, page: str) -> Read:
        """A whole page."""
        read = cls()
        read.feed(page)
        read.close()
        return read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(self.elements[-1])

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data
        if not self._open or self._open[-1].tag not in ("script", "style"):
            self.text += data

    def find(self, tag: str, **attributes: str) -> list[Element]:
        """Those with these attributes."""
        return [
            one
            for one in self.elements
            if one.tag == tag and all(one.attributes.get(key) == value for key, value in attributes.items())
        ]

    def blocks(self, kind: str) -> list[Any]:
        """The blocks of data of a kind, unpacked."""
        return [
            unpacked(one.text) for one in self.elements if one.attributes.get("class") == kind and one.tag == "script"
        ]


def unpacked(text: str) -> Any:
    """What `pack` packed."""
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
