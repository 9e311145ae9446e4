"""What a docstring says: first about the function, then about its parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Any

_TAGS = "param|parameter|arg|argument|key|keyword|type|kwparam|returns?|rtype|yields?|raises?|except|exception"
_GOOGLE = "Args|Arguments|Params|Parameters|Keyword Args|Keyword Arguments|Other Parameters|Returns?|Yields?|Raises?"
_NUMPY = "Parameters|Params|Arguments|Other Parameters|Returns?|Yields?|Receives?|Raises|Warns"


class _Style(Enum):
    """A way to write docstrings, with what its first section about arguments or results begins with."""

    GOOGLE = re.compile(rf"^(?:{_GOOGLE}):[ \t]*\n+(?=[ \t]+\S)", re.MULTILINE)
    NUMPY = re.compile(rf"^(?:{_NUMPY})[ \t]*\n-{{3,}}[ \t]*$", re.MULTILINE)
    SPHINX = re.compile(rf"^:(?:{_TAGS})\b[^:\n]*:", re.MULTILINE)
    EPYDOC = re.compile(rf"^@(?:{_TAGS})\b[^:\n]*:", re.MULTILINE)


class Docstring:
    """A docstring, in Google's, numpy's, Sphinx's or Epydoc's style, or in none.

    Args:
        text: As `__doc__` has it; `None` for none.
    """

    def __init__(self, text: str | None) -> None:
        self._text = inspect.cleandoc(text or "").strip()
        found = [(match.start(), style) for style in _Style if (match := style.value.search(self._text))]
        none: tuple[int, _Style | None] = len(self._text), None
        self._start, self._style = min(found, key=lambda place: place[0], default=none)

    @property
    def description(self) -> str:
        """What it says before it speaks of arguments and results."""
        return self._text[: self._start].rstrip()

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """What it says of each parameter that it describes, by name without stars; a line break is a blank."""
        if self._style is None:
            return {}
        described: dict[str, str] = {}
        for entry in _read_parameters(self._text[self._start :], self._style):
            for name in str(entry.arg_name).split(","):
                described.setdefault(name.strip().lstrip("*\\"), _WRAP.sub(" ", (entry.description or "").strip()))
        return {name: text for name, text in described.items() if name and text}


_WRAP = re.compile(r"(?<!\n)[ \t]*\n[ \t]*(?![\s*•-]|\d+[.)])")
"""A line break that is there for the width of the page, and no paragraph or item of a list."""


def _read_parameters(sections: str, style: _Style) -> list[Any]:
    import docstring_parser  # only ever needed where a schema is derived

    parsers = {
        _Style.GOOGLE: docstring_parser.google.parse,
        _Style.NUMPY: docstring_parser.numpydoc.parse,
        _Style.SPHINX: docstring_parser.rest.parse,
        _Style.EPYDOC: docstring_parser.epydoc.parse,
    }
    try:
        return parsers[style](f"_\n\n{sections}").params  # it wants to see a summary first
    except Exception:  # noqa: BLE001  not only its ParseError; but a docstring may be written as one likes
        return []
