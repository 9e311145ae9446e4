"""The rankers of projects whose search our presets follow, as functions that `rank=python:` can name.

They compute what the projects' own code computes, so that a preset finds what the project finds; a test holds them
against it. For anything else `rank=words` is better.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from toolbelt.catalog.ranking.function import FunctionRanker, MakeSearch, Search
from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.catalog.tool import Tool
from toolbelt.errors import NotFoundError

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]{2,}")
_K1, _B = 1.5, 0.75
_MODULE = "toolbelt.search.rankers:"


def shared_words(tools: Sequence[Tool]) -> Search:
    """The number of different words that a text shares with name and description, as pydantic-ai counts them.

    Words are runs of ASCII letters and digits in lower case.
    """
    words = [frozenset(_ASCII_WORD.findall(f"{tool.name} {tool.description}".lower())) for tool in tools]

    def search(text: str, k: int) -> list[tuple[str, float]]:  # noqa: ARG001  all, for who sorts by something else too
        wanted = frozenset(_ASCII_WORD.findall(text.lower()))
        counts = ((tool.id, len(wanted & own)) for tool, own in zip(tools, words, strict=True))
        return [(tool_id, float(count)) for tool_id, count in counts if count]

    return search


def unstemmed_bm25(tools: Sequence[Tool]) -> Search:
    """BM25 over name, description, and names and descriptions of arguments, as FastMCP computes it.

    Words have two characters or more, and are neither stemmed nor dropped for being common.
    """
    counts = [Counter(_words(_searchable_text(tool))) for tool in tools]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    frequencies = Counter(word for count in counts for word in count)

    def search(text: str, k: int) -> list[tuple[str, float]]:  # noqa: ARG001  the index cuts
        scores = [0.0] * len(tools)
        for word in _words(text):
            if (frequency := frequencies.get(word)) is None:
                continue
            weight = math.log((len(tools) - frequency + 0.5) / (frequency + 0.5) + 1.0)
            for position, count in enumerate(counts):
                if often := count.get(word, 0):
                    damping = _K1 * (1 - _B + _B * lengths[position] / mean)
                    scores[position] += weight * often * (_K1 + 1) / (often + damping)
        return [(tool.id, score) for tool, score in zip(tools, scores, strict=True) if score > 0]

    return search


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _searchable_text(tool: Tool) -> str:
    parts = [tool.name, tool.description]
    properties = tool.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        parts.append(str(name))
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            parts.append(schema["description"])
    return " ".join(filter(None, parts))


SHARED_WORDS = RankSpec(RankKind.PYTHON, f"{_MODULE}{shared_words.__name__}")
UNSTEMMED_BM25 = RankSpec(RankKind.PYTHON, f"{_MODULE}{unstemmed_bm25.__name__}")
_OWN: Mapping[RankSpec, Callable[[Sequence[Tool]], Search]] = MappingProxyType(
    {SHARED_WORDS: shared_words, UNSTEMMED_BM25: unstemmed_bm25}
)


def find_own_ranker(spec: RankSpec) -> Ranker | None:
    """The ranker of a spec that names a function of this module, which needs no approval; `None` for any other.

    Raises:
        NotFoundError: this module has no such function.
    """
    if spec.kind is not RankKind.PYTHON or not spec.target.startswith(_MODULE):
        return None
    make: MakeSearch | None = _OWN.get(spec)
    if make is None:
        names = [own.target for own in _OWN]
        raise NotFoundError("ranker", spec.target, names)
    return FunctionRanker(str(spec), make)
