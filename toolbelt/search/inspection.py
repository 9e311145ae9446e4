"""What an agent is shown where it finds its other tools by a search, as plain values (rule S4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.catalog.tokens import TokenCounter, count_named_tools
from toolbelt.search.search import Search
from toolbelt.search.settings import SearchSettings
from toolbelt.sessions.dynamic import ShownTool


def inspect_search(
    settings: SearchSettings,
    source: str,
    catalog: Catalog,
    pinned: Iterable[str],
    tools: Sequence[ShownTool],
    counter: TokenCounter,
) -> Mapping[str, Any]:
    """The first request of a session with a search, for `--json`.

    Args:
        settings: Of the search.
        source: Where they are written.
        catalog: All tools.
        pinned: Ids, as `find_pinned` gives them.
        tools: What the session has without a search, meta-tools included.
        counter: Counts the definitions.
    """
    ids = {tool.key for tool in tools if not tool.is_meta}
    # The ranker makes no difference to what is shown, and nothing is searched for.
    search = Search(catalog, settings, WordsRanker(), pinned=pinned).within(ids)
    own = [(tool.tool, tool.name) for tool in tools if tool.is_meta]
    always = [(tool.tool, tool.name) for tool in tools if tool.key in search.pinned]
    shown = [*own, *((tool, name) for name, tool in search.meta_tools.items()), *always]
    return {
        "settings": str(settings),
        "source": source,
        "shown": [name for _, name in shown],
        "tokens": sum(count_named_tools(shown, counter)),
        "found": sorted(ids - set(search.pinned)),
    }
