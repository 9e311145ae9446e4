"""Which tools to draft for: one job for each tool and language, with its tasks and near misses."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.ranking.words import WordsIndex
from toolbelt.errors import NotFoundError
from toolbelt.patterns import matches

NEIGHBOURS = 5
"""Similar tools that a prompt lists."""


@dataclass(frozen=True, slots=True)
class DraftQuota:
    """How much to draft for each tool and language.

    Attributes:
        tasks: Tasks for which the tool is right.
        wordings: Queries for each task; they are its cluster.
        near_misses: Queries that sound like the tool, but need another tool or none.
    """

    tasks: int = 3
    wordings: int = 3
    near_misses: int = 1

    @property
    def cases(self) -> int:
        """Cases in all."""
        return self.tasks * self.wordings + self.near_misses


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A similar tool.

    Attributes:
        name: Its wire name.
        tool: The tool.
    """

    name: str
    tool: Tool


@dataclass(frozen=True, slots=True)
class Job:
    """One tool in one language.

    Attributes:
        name: The tool's wire name.
        tool: The tool.
        neighbours: The most similar tools, the nearest first.
        quota: How much to draft.
        language: Of the queries; `None` for the model's choice, mostly English.
    """

    name: str
    tool: Tool
    neighbours: tuple[Neighbour, ...]
    quota: DraftQuota
    language: str | None = None


class Jobs:
    """Every job, in the order of the catalog; each is made when it is requested.

    Args:
        catalog: All tools; neighbours come from here.
        tools: The tools to draft for.
        quota: How much for each tool and language.
        languages: One job for each tool and language.
    """

    def __init__(
        self, catalog: Catalog, tools: Sequence[Tool], quota: DraftQuota, languages: Sequence[str] = ()
    ) -> None:
        self.catalog = catalog
        self.tools = tuple(tools)
        self.quota = quota
        self._languages: tuple[str | None, ...] = tuple(dict.fromkeys(languages)) or (None,)
        self._index = WordsIndex(catalog.tools)
        self._positions = {tool.id: position for position, tool in enumerate(catalog.tools)}
        self._near: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.tools) * len(self._languages)

    def __iter__(self) -> Iterator[Job]:
        return (self.job(number) for number in range(len(self)))

    def job(self, number: int) -> Job:
        """The job at 0-based `number`."""
        tool = self.tools[number // len(self._languages)]
        names, tools = self.catalog.wire_names, self.catalog.tools
        near = tuple(Neighbour(names[tools[position].id], tools[position]) for position in self._neighbours(tool))
        return Job(names[tool.id], tool, near, self.quota, self._languages[number % len(self._languages)])

    def _neighbours(self, tool: Tool) -> tuple[int, ...]:
        position = self._positions[tool.id]
        if position not in self._near:
            similar = self._index.find_similar(tool, NEIGHBOURS + 1)
            self._near[position] = tuple([other for other in similar if other != position][:NEIGHBOURS])
        return self._near[position]


def choose_tools(
    catalog: Catalog, patterns: Sequence[str] = (), limit: int | None = None, seed: int = 0
) -> tuple[Tool, ...]:
    """The tools to draft for, in the order of the catalog.

    Args:
        catalog: All tools.
        patterns: Of ids, `plugin/tool` or bare names (rule L4); all tools if there is none.
        limit: How many to draw; a greater limit adds to those that a smaller one draws.
        seed: Of the draw.

    Raises:
        NotFoundError: a pattern that matches nothing, with the nearest names.
    """
    tools = catalog.tools
    for pattern in patterns:
        if not any(_fits(pattern, tool) for tool in tools):
            raise NotFoundError("tool", pattern, [name for tool in tools for name in (tool.name, tool.id)])
    if patterns:
        tools = tuple(tool for tool in tools if any(_fits(pattern, tool) for pattern in patterns))
    if limit is None or limit >= len(tools):
        return tools
    key = seed.to_bytes(16, signed=True)
    drawn = heapq.nsmallest(limit, tools, key=lambda tool: (_draw(tool, key), tool.id))
    chosen = {tool.id for tool in drawn}
    return tuple(tool for tool in tools if tool.id in chosen)


def _fits(pattern: str, tool: Tool) -> bool:
    return any(matches(pattern, name) for name in (tool.id, tool.path, tool.name))


def _draw(tool: Tool, key: bytes) -> bytes:
    return hashlib.blake2b(tool.id.encode(errors="surrogatepass"), key=key, digest_size=8).digest()
