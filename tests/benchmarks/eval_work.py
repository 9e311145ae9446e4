"""The work that harnesses are measured on, and ours doing it: cases over a catalog, one request each."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolbelt.catalog import Plugin
from toolbelt.catalog.definitions import openai_definition
from toolbelt.evals.cli.opening import (
    Materials,
    PreparedArm,
    choose_cases,
    draw_up,
    make_players,
    open_materials,
    prepare_arms,
)
from toolbelt.evals.cli.watching import watch
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import ModelOptions
from toolbelt.evals.running.asking import RetryPolicy
from toolbelt.evals.running.budget import Budget
from toolbelt.evals.running.plan import CaseFilter, Plan
from toolbelt.evals.running.runner import RunEnd, Runner, run_to_end
from toolbelt.evals.running.store import RunStore
from toolbelt.stores.catalogs import open_catalog

CONCURRENCY = 32
TOOLS = 30
"""Shown with each case where harnesses are compared."""
ANSWER = "read_file"
"""The right tool of every case; the first of the catalog, as the loopback server's `pick-first` picks it."""


@dataclass(frozen=True)
class Spent:
    """What some work took.

    Attributes:
        seconds: By the clock on the wall.
        cpu_seconds: Of this process.
    """

    seconds: float
    cpu_seconds: float


class Stopwatch:
    """Measures what happens between its making and `spent`."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def spent(self) -> Spent:
        """Since it was made."""
        return Spent(time.perf_counter() - self._wall, time.process_time() - self._cpu)


def write_work(folder: Path, cases: int, tools: int = TOOLS) -> Path:
    """A dataset of so many cases over the first tools of the shipped catalog, and the same for other harnesses.

    `cases.jsonl` and `catalog.json` are ours; `tools.json` has the definitions in OpenAI's form and `queries.json`
    what is asked.
    """
    folder.mkdir(parents=True)
    shipped = open_catalog("assistant").catalog
    chosen = shipped.tools[:tools]
    ids = {tool.id for tool in chosen}
    plugins = [_plugin(plugin, ids) for plugin in shipped.plugins]
    queries = [f"Case {number}: what does the file notes-{number}.txt in my home say?" for number in range(cases)]
    rows = [{"id": f"c{n}", "query": query, "expected": [{"tool": ANSWER}]} for n, query in enumerate(queries)]
    definitions = [openai_definition(tool, shipped.wire_names[tool.id]) for tool in chosen]
    for name, data in (
        ("catalog.json", {"name": "work", "plugins": [plugin for plugin in plugins if plugin["tools"]]}),
        ("tools.json", definitions),
        ("queries.json", queries),
    ):
        (folder / name).write_text(json.dumps(data))
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def _plugin(plugin: Plugin, ids: set[str]) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in plugin.tools
        if tool.id in ids
    ]
    return {"name": plugin.name, "category": plugin.category, "tools": tools}


class Harness:
    """Runs a dataset as `toolbelt eval run` does, from the plan to the last row of the store, in this process.

    Args:
        dataset: A shipped name, or a folder.
        model: A name, or a model of one's own in its place.
        toolsets: As on the command line.
        store: The file.
        api_base: Of a hosted model.
    """

    def __init__(
        self, dataset: str, model: str | Model, toolsets: Sequence[str], store: Path, api_base: str | None = None
    ) -> None:
        self.dataset, self.toolsets, self.store = dataset, toolsets, store
        self.model, self.options = model, ModelOptions(api_base)

    def run(self, epochs: int = 1, limit: int | None = None) -> Plan:
        """Run it once; what was run."""
        materials = open_materials(self.dataset, None, None)
        model = self.model
        plan = draw_up(
            materials,
            (model if isinstance(model, str) else "local/bm25",),
            self.toolsets,
            CaseFilter(limit=limit),
            epochs=epochs,
        )
        prepared = prepare_arms(materials, plan, self.options)
        if not isinstance(model, str):
            prepared = tuple(replace(one, model=model) for one in prepared)
        with RunStore(self.store) as store:
            self._go(store, materials, plan, prepared)
        return plan

    def _go(self, store: RunStore, materials: Materials, plan: Plan, prepared: tuple[PreparedArm, ...]) -> None:
        name = store.create(plan, [one.shelf.tokenizer for one in prepared])
        budget = Budget()
        players = make_players(
            materials, plan, prepared, budget, RetryPolicy(), lambda record: store.add_request(name, record)
        )
        cases = choose_cases(materials, plan)
        with watch(plan, store.connection, name, budget) as watcher:
            end = run_to_end(Runner(plan, name, store, cases, players, watcher, CONCURRENCY))
        assert end is RunEnd.FINISHED
        assert store.get(name).finished == plan.size
