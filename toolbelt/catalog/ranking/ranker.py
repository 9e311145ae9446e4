"""The protocol of rankers: an index is built once from tools, and searched many times (rule S2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from toolbelt.catalog.tool import Tool
from toolbelt.errors import ToolbeltError


class QueryProblem(StrEnum):
    """Why a text cannot be searched for; the value is the code that a model is answered with."""

    INVALID_PATTERN = "invalid_pattern"
    PATTERN_TOO_LONG = "pattern_too_long"
    TIMEOUT = "timeout"


class QueryError(ToolbeltError):
    """A text that a ranker cannot search for; the caller can give another text.

    Attributes:
        problem: Why.
    """

    def __init__(self, problem: QueryProblem, message: str) -> None:
        self.problem = problem
        self.message = message
        super().__init__(message)

    def __reduce__(self) -> tuple[type[QueryError], tuple[QueryProblem, str]]:
        return type(self), (self.problem, self.message)


class Field(StrEnum):
    """Which part of a tool matched."""

    NAME = "name"
    DESCRIPTION = "description"
    ARGUMENTS = "arguments"
    """Names and descriptions of the arguments."""


_NOTHING: Mapping[Field, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A tool that was found.

    Attributes:
        tool: Which one.
        score: Higher is better; comparable within one search only.
        matched: Words of the query, as they are written there, by the field that has them; of a pattern, what it
            matched. Empty where a ranker does not match words.
    """

    tool: Tool
    score: float
    matched: Mapping[Field, tuple[str, ...]] = field(default_factory=lambda: _NOTHING)


class SearchIndex(Protocol):
    """Tools that can be searched."""

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools, the best first, equals in their order; fewer where nothing more matches.

        Raises:
            QueryError: the text cannot be searched for, such as a pattern with a mistake.
        """
        ...

    def within(self, ids: Collection[str]) -> SearchIndex:
        """The same over a part of the tools, as if only these had been indexed; ids of others are ignored."""
        ...


class Ranker(Protocol):
    """A way to rank tools."""

    @property
    def name(self) -> str:
        """How it is written in settings: `words`, `regex`, `embedding:MODEL`, `python:MODULE:FUNCTION`."""
        ...

    def index(self, tools: Sequence[Tool]) -> SearchIndex:
        """An index of tools whose ids are unique."""
        ...


def prepare_texts(ranker: Ranker, texts: Iterable[str]) -> None:
    """Let a ranker that asks a model make the vectors of texts, many at a time, before they are searched for.

    Other rankers need no such thing. Errors are those of a search.
    """
    if (prepare := getattr(ranker, "prepare", None)) is not None:
        prepare(texts)
