"""Messages as they can be sent."""

from __future__ import annotations

import json
import re
from typing import Any

_HALF = re.compile(r"[\ud800-\udfff]")
"""Half a surrogate pair: Python and JSON can hold it, UTF-8 cannot, so that it does not go over the wire."""
_HALF_SPELLED = re.compile(r"\\u[dD][89a-fA-F]")
_INSTEAD = "\ufffd"


def sendable(value: Any) -> Any:
    """A deep copy of a message, of plain dicts and lists, with U+FFFD for what no UTF-8 can hold.

    Models do write such things, in names and in arguments, and are to be told what they wrote. In the arguments of
    calls halves spelled out (`\\ud800`) are replaced, too: for some providers litellm reads them, and sends values.
    """
    if isinstance(value, dict):
        return {
            sendable(key): _arguments(item) if key == "arguments" else sendable(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [sendable(item) for item in value]
    if isinstance(value, str) and not value.isascii():
        return _HALF.sub(_INSTEAD, value)
    return value


def _arguments(value: Any) -> Any:
    if not isinstance(value, str) or not _HALF_SPELLED.search(value):
        return sendable(value)
    try:
        read = json.loads(value)
        whole = sendable(read)  # pairs, spelled as two halves, are one character once they are read
        return value if whole == read else json.dumps(whole, ensure_ascii=False)
    except (ValueError, RecursionError):
        return sendable(value)
