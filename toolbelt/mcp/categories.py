"""A category for a server, proposed from its name and the names of its tools (rule M3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from toolbelt.catalog.categories import PLUGIN_CATEGORY_MAP, ToolCategory
from toolbelt.catalog.tool_names import singular, split_words

_WORDS: Mapping[ToolCategory, frozenset[str]] = MappingProxyType(
    {
        ToolCategory.FILESYSTEM: frozenset({"file", "filesystem", "directory", "folder", "drive"}),
        ToolCategory.GIT: frozenset({"git"}),
        ToolCategory.GITHUB: frozenset({"github"}),
        ToolCategory.SHELL: frozenset({"shell", "bash", "terminal", "command", "powershell", "process", "exec"}),
        ToolCategory.WEB: frozenset(
            {"web", "fetch", "browser", "page", "puppeteer", "playwright", "scrape", "crawl", "firecrawl", "url"}
        ),
        ToolCategory.SEARCH: frozenset({"search", "websearch", "brave", "tavily", "exa", "perplexity", "duckduckgo"}),
        ToolCategory.NETWORK: frozenset({"network", "dns", "tailscale", "wireguard", "nmap"}),
        ToolCategory.MEMORY: frozenset({"memory", "mem0", "entity", "observation", "relation", "remember", "recall"}),
        ToolCategory.ORCHESTRATION: frozenset({"task", "agent", "workflow", "subagent"}),
        ToolCategory.ANALYSIS: frozenset({"think", "thinking", "sequentialthinking", "benchmark", "analysis"}),
        ToolCategory.SCHEDULING: frozenset(
            {"schedule", "scheduler", "cron", "calendar", "reminder", "time", "timezone"}
        ),
        ToolCategory.MULTIMODAL: frozenset({"image", "audio", "video", "pdf", "ocr", "vision", "speech"}),
        ToolCategory.SECURITY: frozenset({"security", "secret", "vault", "password", "vulnerability", "encrypt"}),
    }
)
"""What servers and tools of a category are called, in the singular."""
_LEAST_SHARE = 0.5
"""The share of a server's tools whose names have to have a word of a category."""


def propose_category(server: str, tool_names: Iterable[str]) -> str:
    """The category of a server as one plugin.

    Args:
        server: Its name.
        tool_names: Of its tools.

    Returns:
        The first that applies: what `PLUGIN_CATEGORY_MAP` has for the name; a well-known category by a word of the
        name; the one that half of the tools have a word of; else a category of the server's own, named like it.
    """
    if (mapped := PLUGIN_CATEGORY_MAP.get(server)) is not None:
        return mapped.value
    for word in split_words(server):
        for category, words in _WORDS.items():
            if singular(word) in words:
                return category.value
    tools = [{singular(word) for word in split_words(name)} for name in tool_names]
    shares = {category: sum(not words.isdisjoint(tool) for tool in tools) for category, words in _WORDS.items()}
    best = max(shares, key=lambda category: shares[category])
    return best.value if tools and shares[best] >= _LEAST_SHARE * len(tools) else server
