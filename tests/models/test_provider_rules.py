"""The table of rules: each dated and sourced, none against what litellm says."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from toolbelt.models.claude_rules import ANTHROPIC, BEDROCK
from toolbelt.models.facts import ModelFacts
from toolbelt.models.google_rules import GEMINI, VERTEX
from toolbelt.models.provider_rules import OPENAI, PROVIDER_RULES, VLLM, find_max_tools, find_rules, find_tool_rules
from toolbelt.models.rules import (
    Effect,
    Fact,
    MaxTools,
    ProviderRules,
    RootKeywords,
    SchemaKeywords,
    TextFormat,
    ToolName,
)
from toolbelt.providers.litellm_table import PRICE_TABLE, ModelTable, find_litellm_file
from toolbelt.providers.model_facts import find_facts

FACTS = [
    pytest.param(rules, fact, id=f"{rules.key}-{number}-{type(fact.rule).__name__}")
    for rules in PROVIDER_RULES
    for number, fact in enumerate(rules.facts)
]


def _file(*names: str) -> Path:
    """The first of these files of litellm's that there is."""
    return next(filter(None, map(find_litellm_file, names)))


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(_file(PRICE_TABLE).read_text(encoding="utf-8"))
    table.pop("sample_spec")
    assert len(table) > 1_000
    return table


@pytest.fixture(scope="module")
def model_table() -> ModelTable:
    return ModelTable()


def _tree(*names: str) -> ast.Module:
    return ast.parse(_file(*names).read_text(encoding="utf-8"))


def _fields(tree: ast.Module, name: str) -> dict[str, str]:
    """The fields of a typed dict, each with its annotation."""
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        node.target.id: ast.unparse(node.annotation)
        for node in found.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _only(rules: ProviderRules, kind: type[object]) -> Any:
    return next(fact.rule for fact in rules.facts if type(fact.rule) is kind)


@pytest.mark.parametrize(("rules", "fact"), FACTS)
def test_every_fact_is_dated_and_sourced(rules: ProviderRules, fact: Fact) -> None:
    assert fact.sources
    for source in fact.sources:
        assert source.url.startswith("https://")
        assert date(2026, 1, 1) <= source.read <= datetime.now(UTC).date()
    # What is only reported of some models says of which, or that it is.
    assert fact.effect is not Effect.SOME_REFUSE or fact.note or len(fact.sources) == 1


def test_a_provider_is_in_the_table_once() -> None:
    keys = [rules.key for rules in PROVIDER_RULES]
    assert len(set(keys)) == len(keys)
    providers = [provider for rules in PROVIDER_RULES for provider in rules.providers]
    assert len(set(providers)) == len(providers)


@pytest.mark.parametrize("rules", PROVIDER_RULES, ids=lambda rules: rules.key)
def test_at_most_one_number_of_tools_for_each(rules: ProviderRules) -> None:
    assert sum(isinstance(fact.rule, MaxTools) for fact in rules.facts) <= 1


@pytest.mark.parametrize("rules", PROVIDER_RULES, ids=lambda rules: rules.key)
def test_litellm_knows_the_provider_and_models_of_it_that_call_tools(
    rules: ProviderRules, table: dict[str, dict[str, Any]]
) -> None:
    if rules is VLLM:  # its models are the user's own
        return
    theirs = [entry for entry in table.values() if entry.get("litellm_provider") in rules.providers]
    assert theirs
    assert any(entry.get("supports_function_calling") is True for entry in theirs)


def _numbers_about_tools(table: dict[str, dict[str, Any]]) -> Iterator[tuple[str, str, int]]:
    for name, entry in table.items():
        for key, value in entry.items():
            if type(value) is int and ("tool" in key or "function" in key) and "token" not in key:
                yield name, key, value


def _other_numbers(table: dict[str, dict[str, Any]], model_table: ModelTable) -> list[str]:
    """Numbers of tools that litellm's table tells and that are not ours."""
    ours = {name: find_max_tools(find_facts(name, model_table)) for name, _, _ in _numbers_about_tools(table)}
    return [
        f"{name}: litellm's {key} is {value}, ours is {ours[name]}"
        for name, key, value in _numbers_about_tools(table)
        if ours[name] not in (None, value)
    ]


def test_no_number_of_tools_that_litellm_tells_is_another_one(
    table: dict[str, dict[str, Any]], model_table: ModelTable
) -> None:
    # None is told today; as soon as one is, it must be ours.
    assert _other_numbers(table, model_table) == []


def test_another_number_of_tools_would_be_found(table: dict[str, dict[str, Any]], model_table: ModelTable) -> None:
    told = {name: {**table[name], "max_tools": 128} for name in ("gpt-4o", "xai/grok-4.5", "ollama/llama3.1")}
    assert _other_numbers(told, model_table) == ["xai/grok-4.5: litellm's max_tools is 128, ours is 350"]


def test_what_calls_no_tools_by_litellm_is_never_said_to() -> None:
    table = ModelTable()
    told: dict[str, Any] = json.loads(_file(PRICE_TABLE).read_text(encoding="utf-8"))
    for name, entry in told.items():
        if name != "sample_spec" and isinstance(said := entry.get("supports_function_calling"), bool):
            assert find_facts(name, table).tool_calling is said, name


def test_gemini_takes_the_keywords_that_litellm_sends_it() -> None:
    fields = _fields(_tree("types/llms/vertex_ai.py"), "Schema")
    for rules, more in ((GEMINI, set[str]()), (VERTEX, {"additionalProperties"})):
        barred, allowed = (fact.rule for fact in rules.facts if type(fact.rule) is SchemaKeywords)
        assert (allowed.allowed or frozenset()) - barred.barred == {*fields, *more}
    assert fields["format"] == "Literal['enum', 'date-time']"
    assert _only(GEMINI, TextFormat).allowed == {"enum", "date-time"}


def test_bedrock_takes_the_keywords_at_the_root_that_litellm_sends_it() -> None:
    assert _only(BEDROCK, RootKeywords).allowed <= set(_fields(_tree("types/llms/bedrock.py"), "ToolJsonSchemaBlock"))


def _constant(name: str, *files: str) -> Any:
    """A constant of a module of litellm's, which may be in one of several places."""
    return next(
        ast.literal_eval(node.value)
        for node in _tree(*files).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name and node.value is not None
    )


def test_anthropic_takes_names_as_long_as_litellm_sends_it() -> None:
    longest = _constant("_ANTHROPIC_TOOL_NAME_MAX_LEN", "llms/anthropic/chat/transformation.py")
    assert _only(ANTHROPIC, ToolName).pattern.longest == longest


def test_openai_is_documented_to_take_names_as_long_as_litellm_sends_it() -> None:
    places = (f"llms/anthropic/{place}/adapters/transformation.py" for place in ("messages", "pass_through"))
    longest = _constant("OPENAI_MAX_TOOL_NAME_LENGTH", *places)
    patterns = [fact.rule.pattern for fact in OPENAI.facts if isinstance(fact.rule, ToolName)]
    assert [pattern.longest for pattern in patterns if pattern.longest is not None] == [longest]


@pytest.fixture(scope="module")
def api_table() -> ModelTable:
    return ModelTable()


@pytest.mark.parametrize(
    ("model", "key", "most"),
    [
        pytest.param("gpt-4o", "openai", 128, id="openai-takes-128"),
        pytest.param("azure/gpt-4o", "azure", 128, id="azure-takes-128"),
        pytest.param("claude-sonnet-4-5", "anthropic", None, id="of-anthropic-no-number-is-known"),
        pytest.param("gemini/gemini-2.5-flash", "gemini", 512, id="gemini-takes-512"),
        pytest.param("vertex_ai/gemini-2.5-flash", "vertex_ai", 512, id="so-does-vertex"),
        pytest.param("vertex_ai/claude-sonnet-4-5", "vertex_ai-claude", None, id="claude-on-vertex"),
        pytest.param("azure_ai/claude-sonnet-4-5", "azure-claude", None, id="claude-on-azure"),
        pytest.param("databricks/databricks-claude-sonnet-4", "databricks-claude", None, id="claude-on-databricks"),
        pytest.param("databricks/databricks-gpt-oss-20b", None, None, id="of-other-models-there-nothing-is-known"),
        pytest.param("amazon.nova-pro-v1:0", "bedrock", None, id="nova-is-asked-through-bedrock"),
        pytest.param("groq/openai/gpt-oss-20b", "groq", 128, id="groq-takes-128"),
        pytest.param("mistral/mistral-large-latest", "mistral", None, id="mistral"),
        pytest.param("command-r-08-2024", "cohere", None, id="cohere"),
        pytest.param("deepseek/deepseek-chat", "deepseek", 128, id="deepseek-takes-128"),
        pytest.param("xai/grok-4.5", "xai", 350, id="xai-takes-350-since-the-middle-of-2026"),
        pytest.param("ollama/llama3.1", "ollama", None, id="ollama"),
        pytest.param("hosted_vllm/my-model", "hosted_vllm", None, id="vllm"),
        pytest.param("openai/my-model", None, None, id="not-all-that-is-called-openai-is-openai"),
        pytest.param("nobody/knows", None, None, id="nor-of-what-nobody-knows"),
    ],
)
def test_a_model_is_held_to_the_rules_of_its_api(
    model: str, key: str | None, most: int | None, api_table: ModelTable
) -> None:
    facts = find_facts(model, api_table)
    rules = find_rules(facts)
    assert (None if rules is None else rules.key) == key
    assert find_max_tools(facts) == most


def test_what_the_project_says_of_a_model_goes_before_its_api() -> None:
    assert find_max_tools(ModelFacts("gpt-4o", "gpt-4o", "openai", max_tools=20)) == 20
    assert find_max_tools(ModelFacts("gpt-4o", "gpt-4o", "openai")) == 128


def test_rules_are_about_a_way_of_asking() -> None:
    assert find_rules(ModelFacts("gpt-4o", "gpt-4o", "openai", "chat")) is not None
    assert find_rules(ModelFacts("o3-pro", "o3-pro", "openai", "responses")) is None


def test_a_rule_for_some_models_holds_for_these_under_any_name() -> None:
    plain = len(find_tool_rules(ModelFacts("us.meta.llama4", None, "bedrock_converse")))
    assert len(find_tool_rules(ModelFacts("amazon.nova-pro-v1:0", None, "bedrock_converse"))) == plain + 1
    assert len(find_tool_rules(ModelFacts("mine", "amazon.nova-pro-v1:0", "bedrock_converse"))) == plain + 1
