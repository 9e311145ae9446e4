"""Every toolset against every model: looked at and counted once, compared as often as there are pairs."""

from __future__ import annotations

from tests.benchmarks.comparison import fastest_in_turn
from toolbelt import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens, count_tool_tokens
from toolbelt.models.facts import ModelFacts
from toolbelt.models.fit import CandidateToolset, CountingMethod, FitCalculator, ModelToFit, compare
from toolbelt.providers.tokenizers import make_counter

PROVIDERS = ("openai", "azure", "anthropic", "gemini", "bedrock", "groq", "cohere", "deepseek", "xai", "ollama")
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look, from the root of the project."},
        "depth": {"type": "integer", "description": "How far down.", "minimum": 0},
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["file", "folder"]}, "uniqueItems": True},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def _catalog(count: int) -> Catalog:
    return Catalog(
        tuple(
            Plugin(
                f"plugin_{number}",
                tuple(Tool(f"tool_{number}_{each}", f"Does thing {each} of {number}.", SCHEMA) for each in range(20)),
            )
            for number in range(count // 20)
        )
    )


def _models(count: int) -> list[ModelToFit]:
    return [
        ModelToFit(
            ModelFacts(f"model-{number}", "m", PROVIDERS[number % 10], "chat", 4_096 * (number + 1), tool_calling=True),
            ("o200k_base", "anthropic" if number % 10 == 2 else "openai"),
            exact=False,
        )
        for number in range(count)
    ]


def test_350_pairs_over_4000_tools_cost_little_more_than_counting_once() -> None:
    catalog, counter = _catalog(4_000), make_counter("o200k_base")
    toolsets = [CandidateToolset(str(number), catalog.tools[: 4_000 * number // 7]) for number in range(1, 8)]

    def count(counting: CountingMethod) -> ToolTokens:
        return count_tool_tokens(catalog, counter, counting[1])

    def everything(models: int) -> int:
        fits = compare(toolsets, _models(models), FitCalculator(catalog.wire_names, count, catalog.tools))
        return sum(len(row) for row in fits)

    assert everything(50) == 350
    once, many, few = fastest_in_turn(
        lambda: count(("o200k_base", "openai")),
        lambda: everything(50),
        lambda: everything(10),
        rounds=3,
        enough=lambda once, many, few: many / once < 5 and many / few < 1.5,
    )
    print(
        f"model fit: 7 toolsets x 50 models over 4,000 tools take {many:.2f} s, {many / once:.1f} times counting once"
    )
    print(f"model fit: 50 models take {many / few:.2f} times what 10 take, one of each provider")
    # Two formats are counted, and every tool is looked at by the rules of ten providers.
    assert many / once < 5
    assert many / few < 1.5
