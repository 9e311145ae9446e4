"""A first loadout for a synced catalog (rule M3): simple, so that a reader can see why each plugin is in it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from toolbelt.catalog import Catalog, Plugin
from toolbelt.stores.config_schema import format_loadout
from toolbelt.text import plural

STARTER = "starter"
"""Name of the loadout."""
BUDGET = 10_000
"""Tokens of the active tools, unless the user says otherwise: little of a window, room for a dozen small servers."""


@dataclass(frozen=True)
class Starter:
    """What is active at first; everything else is discoverable.

    Attributes:
        plugins: Names, in the catalog's order.
        tokens: Of their tools.
        budget: The most tokens that were allowed.
        total_tokens: Of the whole catalog.
        total_plugins: Of the whole catalog.
    """

    plugins: tuple[str, ...]
    tokens: int
    budget: int
    total_tokens: int
    total_plugins: int


def choose_starter(catalog: Catalog, tokens: Mapping[str, int], budget: int) -> Starter:
    """Whole plugins within a budget: small servers before groups of large ones, then those that mostly read.

    Args:
        catalog: After a sync.
        tokens: By tool id.
        budget: Tokens of the active tools. The first plugin is taken even if it exceeds it, for a loadout is no use
            without tools.
    """
    sizes = {plugin.name: sum(tokens[tool.id] for tool in plugin.tools) for plugin in catalog.plugins}

    def rank(plugin: Plugin) -> tuple[bool, float, int, str]:
        is_group = bool(plugin.server) and plugin.name != plugin.server
        return is_group, -_read_only_share(plugin), sizes[plugin.name], plugin.name

    chosen: set[str] = set()
    used = 0
    with_tools = [plugin for plugin in catalog.plugins if plugin.tools]
    for plugin in sorted(with_tools, key=rank):
        if used + sizes[plugin.name] <= budget:
            chosen.add(plugin.name)
            used += sizes[plugin.name]
    if not chosen and with_tools:
        smallest = min(with_tools, key=lambda plugin: (sizes[plugin.name], plugin.name))
        chosen, used = {smallest.name}, sizes[smallest.name]
    names = tuple(plugin.name for plugin in catalog.plugins if plugin.name in chosen)
    return Starter(names, used, budget, sum(sizes.values()), len(catalog.plugins))


def format_starter(starter: Starter) -> str:
    """The text of its file, which explains the choice."""
    whole = len(starter.plugins) == starter.total_plugins
    active = f"{len(starter.plugins)} of {plural(starter.total_plugins, 'plugin')}"
    why = (
        "Everything is active."
        if whole
        else f"The whole catalog has {plural(starter.total_tokens, 'token')}. Active here are {active}: small servers "
        "first, then those groups of large servers that mostly read, as many as fit. Everything else is discoverable: "
        "an agent finds it when needed."
    )
    cost = f"{plural(starter.tokens, 'token')} in each request, of {starter.budget:,} allowed."
    text = f"Written by `toolbelt init`, to be edited. {why} {cost}"
    comment = "".join(f"# {line}\n" for line in textwrap.wrap(text, 100))
    keys = {
        "description": "What toolbelt init chose",
        "plugins": list(starter.plugins),
        **({} if whole else {"discoverable": ["*"]}),
    }
    return comment + format_loadout(STARTER, keys)


def _read_only_share(plugin: Plugin) -> float:
    read_only = sum(tool.annotations.get("readOnlyHint") is True for tool in plugin.tools)
    return round(read_only / len(plugin.tools), 1) if plugin.tools else 0.0
