"""The list that a gateway serves, counted without one (rule M5): `loadout inspect --serve` and `mcp check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import Definition
from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.mcp.gateway.discovery import make_discovery
from toolbelt.mcp.gateway.surface import (
    NAME_LIMIT,
    Surface,
    count_definitions,
    list_meta_tools,
    served_names,
    serving_digest,
)
from toolbelt.search.search import Search
from toolbelt.search.settings import SearchSettings


@dataclass(frozen=True)
class ServedList:
    """What a client of the gateway is listed.

    Attributes:
        definitions: In order, the meta-tools at the end.
        tokens: Of each.
        tokenizer: What counted.
        digest: Over all of them.
    """

    definitions: tuple[Definition, ...]
    tokens: tuple[int, ...]
    tokenizer: str
    digest: str

    @property
    def names(self) -> tuple[str, ...]:
        """As the client sees them."""
        return tuple(str(definition["name"]) for definition in self.definitions)

    def data(self) -> Mapping[str, Any]:
        """For `--json`: the digest, and what is served."""
        tools = [{"name": name, "tokens": tokens} for name, tokens in zip(self.names, self.tokens, strict=True)]
        return {
            "digest": self.digest,
            "served": {"tokens": sum(self.tokens), "tokenizer": self.tokenizer, "tools": tools},
        }


def list_served(
    surface: Surface,
    catalog: Catalog,
    counter: TokenCounter,
    *,
    name_limit: int = NAME_LIMIT,
    search: SearchSettings | None = None,
) -> ServedList:
    """What `list_definitions` gives, counted; the arguments are the same, and what counts tokens."""
    definitions = list_definitions(surface, catalog, name_limit=name_limit, search=search)
    counts = count_definitions(definitions, counter)
    return ServedList(definitions, tuple(counts), counter.name, serving_digest(definitions))


def list_definitions(
    surface: Surface, catalog: Catalog, *, name_limit: int = NAME_LIMIT, search: SearchSettings | None = None
) -> tuple[Definition, ...]:
    """The list that a gateway serves when every tool is what was synced.

    Args:
        surface: What is served.
        catalog: All tools.
        name_limit: The longest name, in characters.
        search: By which all but the surface's offered tools are found, if that is how it is served; then the surface is
            as `list_pinned` makes it.
    """
    meta_tools: Iterable[Tool] = ()
    if search is not None:
        meta_tools = make_served_search(search, WordsRanker(), surface, catalog, name_limit).meta_tools.values()
    elif surface.discoverable:
        meta_tools = make_discovery(surface, catalog, served_names(catalog, name_limit)).definitions
    return (*(served.definition for served in surface.offered), *list_meta_tools(meta_tools))


def make_served_search(
    settings: SearchSettings, ranker: Ranker, surface: Surface, catalog: Catalog, name_limit: int
) -> Search:
    """The search over a surface.

    Args:
        settings: How tools are found.
        ranker: Of the settings' `rank`; the definitions of the meta-tools are the same with any.
        surface: As `list_pinned` makes it for these settings.
        catalog: All tools.
        name_limit: The longest name, in characters.
    """
    ids, names = surface.discoverable_by_id.keys(), served_names(catalog, name_limit)
    return Search(catalog, settings, ranker, ids=ids, names=names)
