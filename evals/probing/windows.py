"""The context window that a provider names when it turns a prompt away as too long."""

from __future__ import annotations

import re

_NUMBER = r"(\d[\d,]*)"
_WORDINGS = tuple(
    re.compile(wording.replace("N", _NUMBER), re.IGNORECASE)
    for wording in (
        r"maximum (?:context|prompt) length (?:is|of) N",
        r"N maximum context length",
        r"available context size \(N tokens\)",
        r"context length of only N tokens",
        r"tokens > N maximum",
        r"maximum number of tokens allowed \(N\)",
    )
)


def find_window(said: str) -> int | None:
    """Tokens of the window that a refusal names; `None` if it names none, or more than one.

    Nothing is guessed: a number counts only in one of the wordings that are known to give the window, and not what the
    prompt came to, or a limit of the account.

    Args:
        said: A provider's words.
    """
    found = {int(match[1].replace(",", "")) for wording in _WORDINGS for match in wording.finditer(said)}
    return found.pop() if len(found) == 1 else None
