"""The same work as a task of Inspect AI: 30 tools a case that are never run, one request each, the name scored.

Run by Inspect's own command, in an environment that has neither toolbelt nor these tests.
"""
# mypy: ignore-errors

import json
import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import generate, solver
from inspect_ai.tool import ToolDef, ToolParams

FOLDER = Path(os.environ["WORK"])


async def never(**_):
    raise AssertionError("no tool is ever run")


def make_tools():
    return {
        name: ToolDef(
            never,
            name=name,
            description=definition["function"]["description"],
            parameters=ToolParams.model_validate(definition["function"]["parameters"]),
        ).as_tool()
        for name, definition in json.loads((FOLDER / "tools.json").read_text()).items()
    }


@solver
def show_tools():
    tools = make_tools()  # once

    async def solve(state, generate):
        state.tools = [tools[name] for name in state.metadata["tools"]]
        return state

    return solve


@scorer(metrics=[accuracy()])
def calls():
    async def score(state, target):
        made = [call.function for call in state.output.message.tool_calls or ()]
        return Score(value=CORRECT if made == [target.text] else INCORRECT)

    return score


@task
def work():
    queries = json.loads((FOLDER / "queries.json").read_text())
    samples = [
        Sample(id=f"c{n}", input=case["query"], target=os.environ["ANSWER"], metadata={"tools": case["tools"]})
        for n, case in enumerate(queries)
    ]
    return Task(dataset=samples, solver=[show_tools(), generate(tool_calls="none")], scorer=calls())
