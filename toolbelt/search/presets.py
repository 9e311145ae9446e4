"""The search toolsets of other projects as settings, each with where it was taken from; and our own (rule S1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.patterns import fold
from toolbelt.search.rankers import SHARED_WORDS, UNSTEMMED_BM25
from toolbelt.search.settings import (
    PINNED_NONE,
    Listing,
    Returns,
    Reveal,
    SearchSettings,
    Trigger,
    change_settings,
    split_settings,
)
from toolbelt.search.shapes import (
    ANTHROPIC_BM25,
    ANTHROPIC_REGEX,
    BIGTOOL,
    FASTMCP,
    OPENAI,
    PYDANTIC_AI,
    TOOLBELT,
    TOOLHIVE,
    Shape,
)


@dataclass(frozen=True)
class Preset:
    """One row of the table of presets.

    Attributes:
        settings: As the project sets them by default.
        shape: Its meta-tools.
        source: The document or code that this was taken from.
        read: When that was read.
        note: Where a preset differs from the project; empty where it does not.
    """

    settings: SearchSettings
    shape: Shape
    source: str
    read: date
    note: str = ""


PRESET_KIND = "search preset"
"""What `NotFoundError` calls one."""
PLAIN = "toolbelt-1"
"""What `search` alone means. Its settings never change: better ones get the next number."""
_WORDS, _REGEX = RankSpec(RankKind.WORDS), RankSpec(RankKind.REGEX)
_DAY = date(2026, 11, 24)
_ANTHROPIC = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool"
_NO_VECTORS = "It ranks by vectors; here by words, as vectors need a model: rank=embedding:MODEL."

_ROWS = (
    Preset(
        SearchSettings(PLAIN, k=5, returns=Returns.NAMES, reveal=Reveal.APPEND, rank=_WORDS),
        TOOLBELT,
        "docs/search.md: retrieval on metatool, bfcl and seal_tools",
        _DAY,
    ),
    Preset(
        SearchSettings("anthropic-bm25", k=5, returns=Returns.NAMES, reveal=Reveal.APPEND, rank=_WORDS),
        ANTHROPIC_BM25,
        f"{_ANTHROPIC}, tool_search_tool_bm25_20251119",
        _DAY,
        "Its BM25 is not published; here it is ours. It adds definitions at the end of the context, here to the list "
        "of tools.",
    ),
    Preset(
        SearchSettings("anthropic-regex", k=5, returns=Returns.NAMES, reveal=Reveal.APPEND, rank=_REGEX),
        ANTHROPIC_REGEX,
        f"{_ANTHROPIC}, tool_search_tool_regex_20251119",
        _DAY,
        "The order of what it finds is not published. It adds definitions at the end of the context, here to the list "
        "of tools.",
    ),
    Preset(
        SearchSettings("openai", k=5, returns=Returns.NAMES, reveal=Reveal.APPEND, listing=Listing.GROUPS, rank=_WORDS),
        OPENAI,
        "https://developers.openai.com/api/docs/guides/tools-tool-search (gpt-5.4 and later)",
        _DAY,
        "The name of a group loads all of its tools; other texts, which it does not describe, are searched for by "
        "words. Its answer is the definitions; here these are in the list of tools, and the answer has the names.",
    ),
    Preset(
        SearchSettings("pydantic-ai", k=10, returns=Returns.NAMES, reveal=Reveal.APPEND, rank=SHARED_WORDS),
        PYDANTIC_AI,
        "pydantic-ai-slim 2.68.0, pydantic_ai/toolsets/_tool_search.py, without a provider's own search",
        _DAY,
    ),
    Preset(
        SearchSettings("fastmcp", k=5, returns=Returns.SCHEMAS, reveal=Reveal.CALL, rank=UNSTEMMED_BM25),
        FASTMCP,
        "fastmcp 4.1.2, fastmcp/server/transforms/search/bm25.py",
        _DAY,
    ),
    Preset(
        SearchSettings("bigtool", k=2, returns=Returns.NAMES, reveal=Reveal.REBIND, pinned=PINNED_NONE, rank=_WORDS),
        BIGTOOL,
        "langgraph-bigtool 0.0.3, langgraph_bigtool/graph.py and tools.py",
        _DAY,
        f"{_NO_VECTORS} What was found before stays in the list.",
    ),
    Preset(
        SearchSettings(
            "rag-mcp",
            trigger=Trigger.REQUEST,
            k=1,
            returns=Returns.SCHEMAS,
            reveal=Reveal.REBIND,
            pinned=PINNED_NONE,
            rank=_WORDS,
        ),
        TOOLBELT,
        "RAG-MCP, arXiv:2505.03275: the best match alone is put into the prompt",
        _DAY,
        f"{_NO_VECTORS} It retrieves servers of one tool each, here tools; nothing is tried out before.",
    ),
    Preset(
        SearchSettings("toolhive", k=8, returns=Returns.SCHEMAS, reveal=Reveal.CALL, pinned=PINNED_NONE, rank=_WORDS),
        TOOLHIVE,
        "stacklok/toolhive, pkg/vmcp/optimizer and pkg/vmcp/session/optimizerdec, of 2026-08-21",
        _DAY,
        "It ranks by words and vectors together; here by words, as vectors need a model: rank=embedding:MODEL.",
    ),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({row.settings.preset: row for row in _ROWS})
"""By name. To add one, add a row."""


def get_preset(name: str, more: Mapping[str, SearchSettings]) -> SearchSettings:
    """The settings of that name.

    Args:
        name: In any case; empty for plain `search`.
        more: Further settings by name, as a project has them.

    Raises:
        NotFoundError: there is none.
    """
    wanted = fold(name or PLAIN)
    for known, settings in {**{key: row.settings for key, row in PRESETS.items()}, **more}.items():
        if fold(known) == wanted:
            return settings
    raise NotFoundError(PRESET_KIND, name, (*PRESETS, *more))


def shorten_search(text: str) -> str:
    """What of a full form differs from its preset, as a person would write it: `fastmcp:k=3`; empty for plain `search`.

    A text that is no full form comes back as it is.
    """
    try:
        settings = parse_search(text)
    except ToolbeltError:
        return text
    usual = PRESETS[settings.preset].settings.values()
    changed = [f"{key}={value}" for key, value in settings.values().items() if value != usual[key]]
    return ":".join((settings.preset, *changed) if changed or settings.preset != PLAIN else ())


def parse_search(text: str, more: Mapping[str, SearchSettings] = MappingProxyType({})) -> SearchSettings:
    """The settings that a text means: `PRESET`, `PRESET:KEY=VALUE:…`, `KEY=VALUE:…`, or nothing for plain `search`.

    Args:
        text: What follows `search:`, which may stand before it, as the name of an eval's toolset has it.
        more: As for `get_preset`.

    Raises:
        NotFoundError: there is no such preset, key, value or ranker; with the nearest one.
        OutOfRangeError: a number that is not allowed.
        ToolbeltError: it is malformed, or the settings do not go together.
    """
    kind, _, rest = text.partition(":")
    name, values = split_settings(rest if fold(kind.strip()) == "search" and kind not in more else text)
    return change_settings(get_preset(name, more), values)
