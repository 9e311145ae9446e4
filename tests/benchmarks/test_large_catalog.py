"""A large catalog, opened again and inspected, against `json.load` of its file in the same run.

`toolbelt loadout inspect` and `catalog show` take the same way, after the time of their start.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.benchmarks.comparison import fastest_in_turn
from tests.benchmarks.test_search_speed import Text
from toolbelt.catalog import Tool
from toolbelt.catalog.files import tool_data
from toolbelt.project.opening import open_project

PLUGINS = 100
TOOLS = 100
"""Of each plugin."""


def _plugin(number: int, tools: list[Tool]) -> dict[str, object]:
    return {"name": f"plugin{number}", "category": ("git", "web")[number % 2], "tools": list(map(tool_data, tools))}


def test_a_large_catalog_is_inspected_again_in_twice_the_time_of_json_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(tmp_path / "cache"))
    text, path = Text(), tmp_path / "catalog.json"
    plugins = [_plugin(number, [text.tool(number * TOOLS + i) for i in range(TOOLS)]) for number in range(PLUGINS)]
    path.write_text(json.dumps({"name": "large", "plugins": plugins}))
    (tmp_path / "toolbelt.yaml").write_text("catalog: catalog.json\nloadouts: {mine: {categories: [git]}}\n")

    def inspect() -> int:
        inspection = open_project(tmp_path, tokenizer="estimate").inspect("mine")
        return len(inspection.resolution.active_tools) * inspection.active_tokens

    def load() -> None:
        with path.open() as file:
            json.load(file)

    started = time.process_time()
    first = inspect()
    cold = time.process_time() - started
    assert inspect() == first > 0
    ours, theirs = fastest_in_turn(
        inspect, load, rounds=3, clock=time.process_time, enough=lambda ours, theirs: ours < min(2 * theirs, cold / 4)
    )
    print(f"{PLUGINS * TOOLS:,} tools: {ours * 1e3:.0f} ms, first {cold * 1e3:.0f} ms, json.load {theirs * 1e3:.0f} ms")
    assert ours < 2 * theirs
    assert ours < cold / 4
