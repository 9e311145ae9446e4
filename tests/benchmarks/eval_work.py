"""The work that harnesses are measured on, and ours doing it: cases over a catalog, one request each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.definitions import openai_definition
from toolbelt.evals.cli.watching import watch
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.models.opening import ModelOptions
from toolbelt.evals.responses.recorded import ModelResponses, RecordedResponses
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.plan import CaseFilter, RunSettings
from toolbelt.evals.running.process_engine import ProcessEngine
from toolbelt.evals.running.runner import RunEnd, Runner, run_to_end
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.arms import make_trial_runners, prepare_arms
from toolbelt.evals.setup.inputs import open_inputs
from toolbelt.evals.setup.planning import make_plan
from toolbelt.evals.setup.reporting import CallbackReporter
from toolbelt.providers.chat import Sampling, Usage
from toolbelt.providers.endpoints import Transport
from toolbelt.stores.catalogs import open_catalog

CONCURRENCY = 32
TOOLS = 30
"""Shown with each case where harnesses are compared."""
ANSWER = "read_file"
"""The right tool of every case; the first of the catalog, as the loopback server's `pick-first` picks it."""
BROWSE, LOAD = "browse_tools", "load_tools"


def write_work(folder: Path, cases: int, *, varied: bool = False, tools: int = TOOLS) -> Path:
    """A dataset of so many cases over tools of the shipped catalog, `TOOLS` each, and the same for other harnesses.

    `cases.jsonl` and `catalog.json` are ours; `tools.json` has the definitions in OpenAI's form, by name;
    `queries.json` what is asked, and the names of the tools to choose from.

    Args:
        folder: Where; it is made.
        cases: How many.
        tools: How many tools are shown with each case; beyond those that there are, copies under other names.
        varied: Whether each case has its own choice of tools out of the whole catalog, rather than all the same.
    """
    folder.mkdir(parents=True)
    shipped = open_catalog("assistant").catalog
    known = shipped.tools if varied else shipped.tools[:tools]
    names = [shipped.wire_names[tool.id] for tool in known]
    originals = (known[number % len(known)] for number in range(tools - len(known)))
    copied = [
        Tool(name=f"copy_{n}", description=tool.description, parameters=tool.parameters)
        for n, tool in enumerate(originals)
    ]
    queries, rows = [], []
    for number in range(cases):
        text = f"Case {number}: what does the file notes-{number}.txt in my home say?"
        others = [names[1 + (number + step) % (len(names) - 1)] for step in range(TOOLS - 1)]
        chosen = sorted([ANSWER, *others], key=names.index)
        queries.append({"query": text, "tools": chosen})
        row = {"id": f"c{number}", "query": text, "expected": [{"tool": ANSWER}]}
        rows.append({**row, "offered": chosen} if varied else row)
    definitions = {name: openai_definition(tool, name) for tool, name in zip(known, names, strict=True)}
    definitions |= {tool.name: openai_definition(tool, tool.name) for tool in copied}
    plugins = [_plugin(plugin, {tool.id for tool in known}) for plugin in shipped.plugins]
    plugins.append(_copies(copied))
    catalog = {"name": "work", "plugins": [plugin for plugin in plugins if plugin["tools"]]}
    for name, data in (("catalog.json", catalog), ("tools.json", definitions), ("queries.json", queries)):
        (folder / name).write_text(json.dumps(data))
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def _copies(copied: list[Tool]) -> dict[str, Any]:
    plugin = Plugin(name="copies", tools=tuple(copied))
    return _plugin(plugin, {tool.id for tool in plugin.tools})


def _plugin(plugin: Plugin, ids: set[str]) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in plugin.tools
        if tool.id in ids
    ]
    return {"name": plugin.name, "category": plugin.category, "tools": tools}


class Harness:
    """Runs a dataset as `toolbelt eval run` does, from reading it to the last row of the store, in this process.

    Args:
        dataset: A shipped name, or a folder.
        model: A name, or a model to be asked in the place of one.
        toolset: As on the command line.
        store: The file.
        api_base: Of a hosted model.
        transport: How it is asked.
        recorded: Recorded responses of the model, if it is asked over a response cache.
    """

    def __init__(
        self,
        dataset: str | Path,
        model: str | Model,
        toolset: str,
        store: Path,
        api_base: str | None = None,
        recorded: RecordedResponses | None = None,
        transport: Transport = Transport.AUTO,
    ) -> None:
        self.dataset, self.toolset, self.store = str(dataset), toolset, store
        self.model, self.options, self.recorded = model, ModelOptions(api_base, transport=transport), recorded

    def run(self, epochs: int = 1, limit: int | None = None) -> int:
        """Run it once; how many trials that were."""
        reporter = CallbackReporter()
        inputs = open_inputs(self.dataset, None, None, None, reporter)
        name = self.model if isinstance(self.model, str) else "local/bm25"
        settings = RunSettings(filter=CaseFilter(limit=limit), sampling=Sampling(seed=0), epochs=epochs)
        plan = make_plan(inputs, [name], [self.toolset], (), settings, reporter)
        prepared = prepare_arms(inputs, plan, self.options, reporter)
        if not isinstance(self.model, str):
            prepared = tuple(replace(one, model=self.model) for one in prepared)
        budget = Budget()
        with RunStore(self.store) as store:
            run = store.create(plan, [one.renderer.tokenizer for one in prepared])
            keep = partial(store.add_request, run)
            responses = (
                {} if self.recorded is None else {name: ModelResponses(self.recorded, name, "provider", run=run)}
            )
            if self.recorded is not None:
                store.writes.first = self.recorded.commit
            runners = make_trial_runners(inputs, plan, prepared, budget, RetryPolicy(), keep, responses)
            with watch(plan, store.connection, run, budget) as watcher:
                cases = inputs.cases_of(plan)
                engine = ProcessEngine(plan, run, store, cases, runners, watcher, CONCURRENCY)
                end = run_to_end(Runner(plan, run, store, cases, engine))
            assert end is RunEnd.FINISHED
            assert store.get(run).finished == plan.size
        return plan.size


class InstantModel:
    """Calls the first tool that is no meta-tool; where there is none but meta-tools, browses and loads one category.

    Args:
        remembers: Whether it keeps what it was shown, in `definitions`.
    """

    name = "instant"

    def __init__(self, *, remembers: bool = True) -> None:
        self.definitions: list[list[Mapping[str, Any]]] = []
        self._remembers = remembers

    async def complete(self, request: Request) -> Reply:
        """What comes next, at once."""
        if self._remembers:
            self.definitions.append(request.offer.definitions)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        name = request.offer.tools[0].name
        text = "{}"
        if BROWSE in request.offer.by_name:
            name = (BROWSE, LOAD)[turn] if turn < 2 else request.offer.tools[-1].name
            text = '{"category": "git"}' if name == LOAD else "{}"
        call = ToolUse.from_text(f"call_{turn}", name, text)
        return Reply(calls=(call,), usage=Usage(1_000, 7), finish_reason="tool_calls", served_by="instant")

    def cost_usd(self, usage: Usage) -> float:
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """There is nothing to let go of."""


def resident_mb() -> float:
    """The memory that this process has at the moment; Linux alone."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
