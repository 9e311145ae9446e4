"""Places within a document as JSON Pointers (RFC 6901), and references to them from within it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

Steps = tuple[str, ...]
_SAFE = "/~!$&'()*+,;=:@?"
"""What may stand in the fragment of a URI as it is."""


def format_pointer(place: Iterable[str | int]) -> str:
    """`("properties", "a/b")` as `/properties/a~1b`; the root is empty."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)


def parse_pointer(pointer: str) -> Steps:
    """The steps of what `format_pointer` wrote.

    Raises:
        ValueError: it is no JSON Pointer.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON Pointer.")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def format_reference(steps: Steps) -> str:
    """A `$ref` to a place within the same document."""
    return "#" + quote(format_pointer(steps), safe=_SAFE)


def find_referred(root: Any, reference: str) -> tuple[Steps, Mapping[str, Any]] | None:
    """The place and the schema that a `$ref` within `root` refers to.

    Percent escapes are read as such, unless only what is written stands there. `None` for another document, an anchor,
    and what is not there.
    """
    if reference != "#" and not reference.startswith("#/"):
        return None
    for pointer in dict.fromkeys((unquote(reference[1:]), reference[1:])):
        steps = parse_pointer(pointer)
        found = follow(root, steps)
        if isinstance(found, dict):
            return steps, found
    return None


def follow(root: Any, steps: Steps) -> Any:
    """What stands at a place; `None` where nothing does."""
    current = root
    for step in steps:
        if isinstance(current, Mapping) and step in current:
            current = current[step]
        elif isinstance(current, list) and step.isdecimal() and int(step) < len(current):
            current = current[int(step)]
        else:
            return None
    return current
