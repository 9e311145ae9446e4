"""Resolving loadouts: linear, close to a bare loop, and ahead of a filtered toolset of pydantic-ai."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise

import pytest
from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset
from pydantic_ai.usage import RunUsage

from tests.benchmarks.comparison import fastest_in_turn
from toolbelt import Catalog, Plugin, Tool, ToolLoadoutRegistry

CATEGORIES = ("git", "web", "shell", "security", None)


def plugins_of(count: int, tools: int = 0) -> list[Plugin]:
    return [
        Plugin(
            name=f"plugin_{number}",
            category=CATEGORIES[number % len(CATEGORIES)],
            tools=tuple(Tool(name=f"tool_{number}_{each}") for each in range(tools)),
        )
        for number in range(count)
    ]


def test_resolving_grows_no_faster_than_linearly() -> None:
    registry = ToolLoadoutRegistry()
    sizes = (1_000, 10_000, 100_000)
    works = []
    for size in sizes:
        plugins = plugins_of(size)
        assert len(registry.resolve_active_plugins("developer", plugins)) == size * 2 // 5
        works.append(partial(registry.resolve_active_plugins, "developer", plugins))

    def is_linear(*seconds: float) -> bool:
        # Ten times the plugins; the rest is that memory is slower than caches.
        return all(larger / smaller < 10 * 1.6 for smaller, larger in pairwise(seconds))

    seconds = fastest_in_turn(*works, enough=is_linear)
    for size, best in zip(sizes, seconds, strict=True):
        print(f"resolve_active_plugins: {size:,} plugins, {best / size * 1e6:.3f} µs a plugin")
    assert is_linear(*seconds)


@pytest.mark.parametrize("form", ["plugins", "names"])
def test_resolving_costs_little_more_than_a_bare_loop(form: str) -> None:
    registry = ToolLoadoutRegistry()
    plugins = plugins_of(100_000)
    available = plugins if form == "plugins" else [plugin.name for plugin in plugins]
    wanted = {"git", "shell", "search"}

    def bare_loop() -> list[str]:
        return [plugin.name for plugin in plugins if plugin.category in wanted and plugin.name not in wanted]

    ours, bare = fastest_in_turn(lambda: registry.resolve_active_plugins("developer", available), bare_loop)
    print(f"resolve_active_plugins over {form}: {ours / bare:.1f} times a bare loop, {ours * 10:.3f} µs a plugin")
    assert ours / bare < 8


def test_finding_what_is_discoverable_costs_a_few_times_what_is_active() -> None:
    registry = ToolLoadoutRegistry()
    plugins = plugins_of(50_000)
    found, active = fastest_in_turn(
        lambda: registry.resolve_discoverable_plugins("developer", plugins),
        lambda: registry.resolve_active_plugins("developer", plugins),
    )
    print(f"resolve_discoverable_plugins: {found / 50_000 * 1e6:.3f} µs a plugin, {found / active:.1f} times active")
    assert found / active < 12


def test_full_resolution_grows_no_faster_than_linearly() -> None:
    registry = ToolLoadoutRegistry()
    small, large = (Catalog(plugins=tuple(plugins_of(size, tools=2))) for size in (1_000, 10_000))
    assert len(registry.resolve("developer", large).active_tools) == 8_000
    fast, slow = fastest_in_turn(
        lambda: registry.resolve("developer", small).active_tools,
        lambda: registry.resolve("developer", large).active_tools,
        enough=lambda fast, slow: slow / fast < 10 * 1.6,
    )
    print(f"resolve: 10,000 plugins take {slow / fast:.1f} times what 1,000 take")
    assert slow / fast < 10 * 1.6


def test_ten_times_ahead_of_pydantic_ai_on_1000_tools() -> None:
    """The same choice of 400 tools of 1,000: by a loadout, and by pydantic-ai's filtered toolset."""
    registry = ToolLoadoutRegistry()
    catalog = Catalog(plugins=tuple(plugins_of(1_000, tools=1)))
    chosen = {tool.name for tool in registry.resolve("developer", catalog).active_tools}
    definitions = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema={"type": "object"})
        for tool in catalog.tools
    ]
    toolset = ExternalToolset[None](definitions).filtered(lambda _, definition: definition.name in chosen)
    context = RunContext[None](deps=None, model=TestModel(), usage=RunUsage())

    async def theirs() -> int:
        return len(await toolset.get_tools(context))

    def ours() -> int:
        return len(registry.resolve("developer", catalog).active_tools)

    loop = asyncio.new_event_loop()
    try:
        assert loop.run_until_complete(theirs()) == ours() == 400
        us, them = fastest_in_turn(ours, lambda: loop.run_until_complete(theirs()), rounds=15)
    finally:
        loop.close()
    print(f"1,000 tools: toolbelt {us * 1e3:.2f} ms, pydantic-ai {them * 1e3:.2f} ms, {them / us:.0f} times")
    assert them / us >= 10
