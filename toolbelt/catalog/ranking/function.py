"""Tools ranked by a function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence

from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.catalog.tool import Tool
from toolbelt.errors import ToolbeltError

Search = Callable[[str, int], Iterable[tuple[str, float]]]
"""Takes a text and a number; gives ids of tools, each with a score, in any order."""
MakeSearch = Callable[[Sequence[Tool]], Search]
"""What a user writes: takes the tools once, and gives the function that searches them."""


class FunctionRanker:
    """Ranks as a function does.

        def make_search(tools):                      # python:MODULE:make_search
            def search(text, k):
                return [(tool.id, score(text, tool)) for tool in tools]
            return search

    Args:
        name: `python:MODULE:FUNCTION`.
        make: The function.
    """

    def __init__(self, name: str, make: MakeSearch) -> None:
        self.name = name
        self._make = make

    def index(self, tools: Sequence[Tool]) -> FunctionIndex:
        """An index of tools.

        Raises:
            ToolbeltError: the function raises, or gives nothing that can be called.
        """
        return FunctionIndex(self.name, tools, self._make)


class FunctionIndex:
    """Tools that a user's function searches; arguments and errors as for `FunctionRanker`."""

    def __init__(self, name: str, tools: Sequence[Tool], make: MakeSearch) -> None:
        self._name = name
        self._tools = tuple(tools)
        self._make = make
        self._positions = {tool.id: position for position, tool in enumerate(self._tools)}
        try:
            search = make(self._tools)
        except (Exception, SystemExit) as error:  # `exit()` would end an eval as if it had succeeded
            raise self._describe(error) from error
        if not callable(search):
            raise ToolbeltError(f"The ranker {name} must give a function, not {type(search).__name__}.")
        self._search = search

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The `k` best tools by the function's scores, equals in the order of the tools.

        Raises:
            ToolbeltError: the function raises, or gives something else than ids with finite scores, each id once.
        """
        try:
            scores = self._read(self._search(text, k)) if k > 0 else {}
        except (Exception, SystemExit) as error:
            raise self._describe(error) from error
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], self._positions[pair[0]]))
        return tuple(SearchHit(self._tools[self._positions[key]], score) for key, score in ranked[:k])

    def within(self, ids: Collection[str]) -> FunctionIndex:
        """The same over a part of the tools; the function is called again."""
        return FunctionIndex(self._name, [tool for tool in self._tools if tool.id in ids], self._make)

    def _read(self, pairs: Iterable[object]) -> dict[str, float]:
        scores: dict[str, float] = {}
        for key, score in map(_checked, pairs):
            if key not in self._positions:
                raise ValueError(f"{key!r} is no id of a tool")
            if key in scores:
                raise ValueError(f"{key!r} is given twice")
            scores[key] = score
        return scores

    def _describe(self, error: BaseException) -> ToolbeltError:
        return ToolbeltError(f"The ranker {self._name} fails: {type(error).__name__}: {error}")


def _checked(pair: object) -> tuple[str, float]:
    if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
        raise TypeError(f"a result must be an id and a score, not {pair!r}")
    score = float(pair[1])
    if not math.isfinite(score):
        raise ValueError(f"the score of {pair[0]!r} is {score}")
    return pair[0], score
