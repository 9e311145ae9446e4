"""The prompt text of a session, in a constant and a changing part, so that the prefix stays cached (rule D8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionPrompt:
    """The two parts, for two places of the prompt.

    Attributes:
        static: Identical to the byte as long as the configuration is. Goes early.
        volatile: What holds in this turn. Goes as late as possible, after everything to be cached.
    """

    static: str = ""
    volatile: str = ""

    def __str__(self) -> str:
        return join_paragraphs((self.static, self.volatile))


NO_PROMPT = SessionPrompt()


def join_paragraphs(texts: Iterable[str]) -> str:
    """The texts with an empty line between two; each once, and none that is empty."""
    return "\n\n".join(dict.fromkeys(filter(None, texts)))
