"""Which rules hold for which model."""

from __future__ import annotations

import pytest

from toolbelt.models.applying import find_max_tools, find_rules, find_tool_rules
from toolbelt.models.facts import ModelFacts
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts


@pytest.fixture(scope="module")
def model_table() -> ModelTable:
    return ModelTable()


@pytest.mark.parametrize(
    ("model", "key", "most"),
    [
        pytest.param("gpt-4o", "openai", 128, id="openai-takes-128"),
        pytest.param("azure/gpt-4o", "azure", 128, id="azure-takes-128"),
        pytest.param("claude-sonnet-4-5", "anthropic", None, id="of-anthropic-no-number-is-known"),
        pytest.param("gemini/gemini-2.5-flash", "gemini", 512, id="gemini-takes-512"),
        pytest.param("vertex_ai/gemini-2.5-flash", "vertex_ai", 512, id="so-does-vertex"),
        pytest.param("vertex_ai/claude-sonnet-4-5", None, None, id="of-claude-on-vertex-nothing-is-known"),
        pytest.param("amazon.nova-pro-v1:0", "bedrock", None, id="nova-is-asked-through-bedrock"),
        pytest.param("groq/openai/gpt-oss-20b", "groq", 128, id="groq-takes-128"),
        pytest.param("mistral/mistral-large-latest", "mistral", None, id="mistral"),
        pytest.param("command-r-08-2024", "cohere", None, id="cohere"),
        pytest.param("deepseek/deepseek-chat", "deepseek", 128, id="deepseek-takes-128"),
        pytest.param("xai/grok-4.5", "xai", 350, id="xai-takes-350-since-the-middle-of-2026"),
        pytest.param("ollama/llama3.1", "ollama", None, id="ollama"),
        pytest.param("hosted_vllm/my-model", None, None, id="of-ones-own-server-nothing-is-known"),
        pytest.param("openai/my-model", None, None, id="not-all-that-is-called-openai-is-openai"),
        pytest.param("nobody/knows", None, None, id="nor-of-what-nobody-knows"),
    ],
)
def test_a_model_is_held_to_the_rules_of_its_api(
    model: str, key: str | None, most: int | None, model_table: ModelTable
) -> None:
    facts = find_facts(model, model_table)
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
