"""Whose API a model is asked through."""

from __future__ import annotations

import pytest

from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.provider_names import find_provider, is_same, list_providers, served_alike

OWN = (
    ProjectModel("mine", provider="triton"),
    ProjectModel("alias", base="azure/gpt-4o"),
    ProjectModel("gpt-4", provider="azure"),
)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-4o", ("openai", "litellm")),
        ("openai/gpt-4o", ("openai", "litellm")),
        ("openai/of-my-own", ("openai", "name")),
        ("ollama_chat/llama3", ("ollama_chat", "name")),
        ("mine", ("triton", "toolbelt.yaml")),
        ("gpt-4", ("azure", "toolbelt.yaml")),
        ("alias", None),
        ("gpt-4o-but-not-quite", None),
        ("nobody/model", None),
        ("openai", None),
        ("", None),
        ("/", None),
    ],
)
def test_the_provider_of_a_model(model: str, provider: tuple[str, str] | None) -> None:
    assert find_provider(model, ModelTable(own=OWN)) == provider


def test_the_prefixes_are_litellms() -> None:
    from toolbelt.providers.litellm_loading import load_litellm

    load_litellm()
    from litellm import get_llm_provider

    for prefix in ("hosted_vllm", "lm_studio", "ollama_chat", "openrouter", "groq", "vertex_ai", "github"):
        assert get_llm_provider(f"{prefix}/x")[1] == prefix
        assert find_provider(f"{prefix}/x", ModelTable()) == (prefix, "name")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("openai", "openai", True),
        ("vertex_ai", "vertex_ai-anthropic_models", True),
        ("bedrock", "bedrock_converse", True),
        ("openai", "openai_like", True),
        ("azure", "azureish", False),
        ("ollama", "openai", False),
    ],
)
def test_one_provider_under_two_words(one: str, other: str, same: bool) -> None:
    assert is_same(one, other) is is_same(other, one) is same


def test_only_what_the_same_provider_serves_is_alike() -> None:
    own = (*OWN, ProjectModel("ollama/build", base="alias"), ProjectModel("azure/x", base="alias"))
    table = ModelTable(own=own)
    assert served_alike("alias", table) == ("alias", "azure/gpt-4o")
    assert served_alike("azure/x", table) == ("azure/x", "alias", "azure/gpt-4o")
    assert served_alike("ollama/build", table) == ("ollama/build", "alias")


def test_the_providers_there_are() -> None:
    providers = list_providers(ModelTable(own=OWN))
    assert {"openai", "anthropic", "ollama", "triton"} < set(providers)
    assert list(providers) == sorted(set(providers))
