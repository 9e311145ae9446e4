"""The vendors' own tool search: who has it, how it is asked for, and what it found.

Tools are sent deferred: the model is shown a deferred tool where the vendor's search, which runs within a request, has
found it. A definition in OpenAI's form is deferred by `defer_loading` beside its `function`, and put into a group by
`namespace`; a definition of another type than `function` is sent as it is.

Sources: the types of Anthropic's SDK 2.14 and OpenAI's 3.57; Anthropic's page "Tool search tool", OpenAI's guide "Tool
search", read 2026-11-29. Anthropic's usage does not count searches, though its page once showed a figure: blocks do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.patterns import fold
from toolbelt.providers.chat import Turn

TOOLSET = "hosted-search"
"""Of evals: the toolset whose tools the vendor's search finds."""


class SearchMethod(StrEnum):
    """How a vendor searches."""

    BM25 = "bm25"
    REGEX = "regex"
    NAMESPACES = "namespaces"
    """The model is shown names and descriptions of groups, and loads whole groups."""
    FUNCTIONS = "functions"
    """The model is shown names and descriptions of all tools, and loads their arguments."""


METHODS: Mapping[str, tuple[SearchMethod, ...]] = MappingProxyType(
    {
        "messages": (SearchMethod.BM25, SearchMethod.REGEX),
        "responses": (SearchMethod.NAMESPACES, SearchMethod.FUNCTIONS),
    }
)
"""By the API, in the words of `toolbelt.models.facts.APIS`; the first is used where none is named."""
SEARCH_TOOLS: Mapping[SearchMethod, Mapping[str, Any]] = MappingProxyType(
    {
        SearchMethod.BM25: {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        SearchMethod.REGEX: {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
        SearchMethod.NAMESPACES: {"type": "tool_search"},
        SearchMethod.FUNCTIONS: {"type": "tool_search"},
    }
)
"""The definition that asks for a search."""


def find_method(name: str) -> SearchMethod:
    """The method of that name; raises `NotFoundError` if there is none."""
    try:
        return SearchMethod(fold(name))
    except ValueError:
        raise NotFoundError("search method", name, tuple(SearchMethod)) from None


def list_searches(turn: Turn | None) -> tuple[tuple[str, ...], ...]:
    """The names of the tools that each search within a turn found, in the vendor's order; of a failed one, none."""
    if turn is None:
        return ()
    items = turn.get("items") or ()
    kind = "tool_search_tool_result" if turn["api"] == "messages" else "tool_search_output"
    return tuple(tuple(_list_found(item)) for item in items if item.get("type") == kind)


def _list_found(item: Mapping[str, Any]) -> Iterator[str]:
    content = item.get("content")
    for reference in (content.get("tool_references") if isinstance(content, dict) else None) or ():
        yield str(reference.get("tool_name"))
    for tool in item.get("tools") or ():
        if tool.get("type") == "namespace":
            yield from (str(member.get("name")) for member in tool.get("tools") or ())
        else:
            yield str(tool.get("name"))
