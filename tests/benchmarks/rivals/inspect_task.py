"""The same work as a task of Inspect AI: 30 tools that are never run, one request a case, the call's name scored.

Run by Inspect's own command, in an environment that has neither toolbelt nor these tests.
"""
# mypy: ignore-errors

import json
import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolDef, ToolParams

FOLDER = Path(os.environ["WORK"])


async def never(**_):
    raise AssertionError("no tool is ever run")


def tools():
    return [
        ToolDef(
            never,
            name=definition["function"]["name"],
            description=definition["function"]["description"],
            parameters=ToolParams.model_validate(definition["function"]["parameters"]),
        )
        for definition in json.loads((FOLDER / "tools.json").read_text())
    ]


@scorer(metrics=[accuracy()])
def calls():
    async def score(state, target):
        made = [call.function for call in state.output.message.tool_calls or ()]
        return Score(value=CORRECT if made == [target.text] else INCORRECT)

    return score


@task
def work():
    queries = json.loads((FOLDER / "queries.json").read_text())
    return Task(
        dataset=[Sample(id=f"c{n}", input=query, target=os.environ["ANSWER"]) for n, query in enumerate(queries)],
        solver=[use_tools(*(tool.as_tool() for tool in tools())), generate(tool_calls="none")],
        scorer=calls(),
    )
