"""A model with perfect judgement: it knows the right answer, and gets at its tools by what a toolset offers (rule E5).

It shows what a toolset allows at best. No LLM judges like this.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.evals.cases.case import Answer, Case, ExpectedCall
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.toolsets.search import SearchToolset
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.search.presets import PRESETS
from toolbelt.tiers import Tiers, own_meta_tools

_LOOKING = {"load_tools", *(preset.shape.search.name for preset in PRESETS.values())}
_Call = tuple[str, Mapping[str, Any]]


class PerfectModel:
    """Asks for the tools of the right answer, and calls them.

    Args:
        catalog: Of the toolsets.

    Attributes:
        toolset: What it is shown; of a search, which words find a tool.
        case: What it is asked; set before each trial, as a request does not say.
    """

    name = "scripted/perfect"
    toolset: Toolset
    case: Case

    def __init__(self, catalog: Catalog) -> None:
        self._categories = {tool_id: tier.name for tier in Tiers(catalog).tiers for tool_id in tier.tool_ids}
        self._names = catalog.wire_names
        self._callable = {tool.id for tool in catalog.tools} - own_meta_tools(catalog).keys()

    async def complete(self, request: Request) -> Reply:
        """The next reply."""
        calls = tuple(
            ToolUse.from_text(f"call_{len(request.messages)}_{number}", name, json.dumps(arguments))
            for number, (name, arguments) in enumerate(self._choose(request))
        )
        return Reply("" if calls else "I cannot.", calls, finish_reason="tool_calls" if calls else "stop")

    def cost_usd(self, usage: object) -> float:
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """There is nothing to close."""

    def _choose(self, request: Request) -> list[_Call]:
        shown = {offered.tool.id: offered.name for offered in request.offer.tools}
        since = request.messages[len(self.case.messages) :]
        called = {call["function"]["name"] for message in since for call in message.get("tool_calls", ())}
        answer = self._find_answer(shown)
        if answer is None or called - _LOOKING:
            return []
        missing = [tool for _, tool in answer if tool not in shown]
        if not missing:
            return [(shown[tool], _arguments(call)) for call, tool in answer]
        if isinstance(self.toolset, SearchToolset):
            if not called:
                return [self._search(self.toolset, tool) for tool in dict.fromkeys(missing)]
            shape = PRESETS[self.toolset.settings.preset].shape
            return [
                (shown[tool], _arguments(call))
                if tool in shown
                else (
                    shape.call.name,
                    {shape.call_name: self._names[tool], shape.call_arguments: _arguments(call)},
                )
                for call, tool in answer
            ]
        categories = dict.fromkeys(self._categories[tool] for tool in missing)
        return [("load_tools", {"category": category}) for category in categories]

    def _find_answer(self, shown: Collection[str]) -> list[tuple[ExpectedCall, str]] | None:
        """The calls of the first right answer that can be given, each with the tool to call; `None` if none can."""
        reach = self.toolset.reach(self.case) & self._callable
        answers: Collection[Answer] = self.case.answers
        if self.case.expected is None:
            universe = reach if self.case.offered is None else reach & set(self.case.offered)
            answers = [(ExpectedCall((tool,)),) for tool in sorted(universe - self.case.forbidden)]
        for answer in answers:
            tools = [next((tool for tool in _first(call, shown) if tool in reach), None) for call in answer]
            if None not in tools:
                return [(call, tool) for call, tool in zip(answer, tools, strict=True) if tool is not None]
        return None

    def _search(self, toolset: SearchToolset, tool_id: str) -> _Call:
        shape, query = PRESETS[toolset.settings.preset].shape, toolset.find_query(self.case, tool_id)
        assert query is not None, tool_id
        argument = shape.argument_for(toolset.settings)
        parameters = shape.search_tool(toolset.settings).parameters
        is_list = parameters["properties"][argument]["type"] == "array"
        return shape.search.name, {argument: [query] if is_list else query}


def _first(call: ExpectedCall, shown: Collection[str]) -> list[str]:
    return sorted(call.tools, key=lambda tool: tool not in shown)


def _arguments(call: ExpectedCall) -> dict[str, Any]:
    if call.arguments is None:
        return {}
    accepted = {name: values[0] for name, values in call.arguments.accepted.items() if values}
    return accepted | {name: " ".join(texts) for name, texts in call.arguments.contains.items()}
