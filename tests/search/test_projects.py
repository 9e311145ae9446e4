"""What pydantic-ai and FastMCP find themselves, our presets find (rule S1).

`projects.json` holds what they found for queries over the tools of `assistant`. `make search-projects` asks them again;
`.venv/bin/python -m tests.search.test_projects build/search/bin/python` records it anew.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.search.samples import make_search
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.evals.cases.dataset import open_dataset

RECORDED = Path(__file__).with_name("projects.json")
RECORDER = Path(__file__).with_name("record_projects.py")
NUMBER = 150
ODD = ["", " ", "!!", "get", "the", "FILE file File", "naïve café", "天気", "read_file", "a" * 500, "e-mail\nmessage"]


@cache
def given() -> tuple[Catalog, list[str]]:
    dataset = open_dataset("assistant")
    tools = [Tool(name, tool.description, tool.parameters) for tool, name in _named(dataset.catalog_file.catalog)]
    step = max(1, len(dataset) // NUMBER)
    texts = [str(dataset.case(index).messages[-1]["content"]) for index in range(0, len(dataset), step)]
    return Catalog((Plugin("p", tuple(tools)),)), [*texts, *ODD]


def _named(catalog: Catalog) -> list[tuple[Tool, str]]:
    return [(tool, catalog.wire_names[tool.id]) for tool in catalog.tools]


def record(python: str) -> dict[str, Any]:
    catalog, queries = given()
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)}
        for tool in catalog.tools
    ]
    done = subprocess.run(
        [python, str(RECORDER)],
        input=json.dumps({"tools": tools, "queries": queries}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"queries": queries}


@pytest.mark.parametrize("preset", ["pydantic-ai", "fastmcp"])
def test_S1_a_preset_finds_what_its_project_finds(preset: str) -> None:
    catalog, queries = given()
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded["queries"] == queries, "other cases or tools: make search-projects"
    search = make_search(preset, catalog)
    names = [[catalog.get_tool(tool_id).name for tool_id in search.find(query)] for query in queries]
    assert names == recorded[preset]
    assert sum(map(bool, names)) > NUMBER


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(record(sys.argv[1]), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
