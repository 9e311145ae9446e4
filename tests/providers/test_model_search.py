"""Which models a listing shows, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolbelt.errors import NotFoundError
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts, list_current_names
from toolbelt.providers.model_search import (
    ModelFilter,
    count_models,
    find_unknown_base,
    get_facts,
    price_steps,
    search_models,
)

OWN = (ProjectModel("hosted_vllm/mine", context_window=6000, tool_calling=True), ProjectModel("alias", base="gpt-4o"))
NAMED = ("gpt-5", "hosted_vllm/mine", "alias", "of-which-nothing-is-known")


@pytest.fixture
def table(shared_cache: Path) -> ModelTable:
    return ModelTable(shared_cache, own=OWN)


def _names(table: ModelTable, **wanted: object) -> list[str]:
    return [facts.name for facts in search_models(ModelFilter(**wanted), NAMED, table)]  # type: ignore[arg-type]


def test_the_projects_come_first_in_its_order_then_the_current(table: ModelTable) -> None:
    assert _names(table) == [*NAMED, *(name for name in list_current_names(table) if name not in NAMED)]
    assert [facts.name for facts in search_models(ModelFilter(), (), table)] == [*list_current_names(table)]


def test_all_are_all_each_once(table: ModelTable) -> None:
    names = _names(table, everything=True)
    assert len(names) == len(set(names)) == count_models(table) + 1  # and the one that nothing is said of
    assert names[: len(NAMED)] == list(NAMED)


@pytest.mark.parametrize(
    ("pattern", "within", "without"),
    [
        pytest.param("GPT-4O-mini", {"gpt-4o-mini", "azure/gpt-4o-mini"}, {"gpt-4o"}, id="a-part-of-a-name"),
        pytest.param("ollama/*", {"ollama/llama3"}, {"vertex_ai/ollama"}, id="a-star-makes-it-the-whole-name"),
        pytest.param("*4o-mini", {"gpt-4o-mini"}, {"gpt-4o-mini-2024-07-18"}, id="a-star-at-the-beginning"),
        pytest.param("claude*4-5", {"claude-haiku-4-5"}, {"claude-opus-4-6"}, id="a-star-in-the-middle"),
        pytest.param("openai/gpt-4o", {"gpt-4o"}, {"gpt-4"}, id="a-name-that-the-table-has-without-its-provider"),
        pytest.param("gpt-4*4o", set(), {"gpt-4o"}, id="no-letter-counts-twice"),
        pytest.param("g*-*-*-*-*", {"gpt-4o-mini-2024-07-18"}, {"gpt-4o-mini"}, id="many-stars"),
        pytest.param("mine", {"hosted_vllm/mine"}, {"gpt-4o"}, id="one-of-the-projects"),
        pytest.param("o3.", set(), {"o3-mini"}, id="a-dot-is-a-dot"),
    ],
)
def test_a_pattern(table: ModelTable, pattern: str, within: set[str], without: set[str]) -> None:
    try:
        names = set(_names(table, pattern=pattern))
    except NotFoundError:
        names = set()
    assert within <= names
    assert not without & names


def test_stars_without_end_take_no_time_without_end(table: ModelTable) -> None:
    with pytest.raises(NotFoundError):
        _names(table, pattern="*" * 10_000 + "no such ending")
    assert _names(table, pattern="*" * 10_000) == _names(table, everything=True)


def test_numbers_in_names_are_ordered_by_size_and_plain_names_come_first(tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    chat = '{"mode": "chat", "litellm_provider": "%s"}'
    names = {"a/m-1": "a", "m-10": "b", "m-9": "b", "z-1": "a", "m-9b": "b"}
    source.write_text("{" + ", ".join(f'"{name}": {chat % provider}' for name, provider in names.items()) + "}")
    chosen = search_models(ModelFilter(everything=True), (), ModelTable(source=source))
    assert [facts.name for facts in chosen if facts.name != "local/bm25"] == ["z-1", "m-9", "m-9b", "m-10", "a/m-1"]


def test_what_is_unknown_is_left_out_of_what_must_be_so(table: ModelTable) -> None:
    calling = search_models(ModelFilter(tool_calling=True), NAMED, table)
    assert all(facts.tool_calling for facts in calling)
    assert "hosted_vllm/mine" in {facts.name for facts in calling}
    large = search_models(ModelFilter(min_window=200_000), NAMED, table)
    assert large
    assert all((facts.context_window or 0) >= 200_000 for facts in large)
    assert not search_models(ModelFilter(min_window=10**9, everything=True), NAMED, table)


def test_a_provider_is_looked_for_in_the_whole_table(table: ModelTable) -> None:
    found = search_models(ModelFilter(provider="Vertex_AI"), NAMED, table)
    assert {facts.provider for facts in found} >= {"vertex_ai-language-models", "vertex_ai-anthropic_models"}
    assert _names(table, provider="hosted_vllm") == ["hosted_vllm/mine"]
    assert _names(table, provider="local") == ["local/bm25"]
    assert "openai_like" not in {facts.provider for facts in search_models(ModelFilter(provider="openai"), (), table)}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (ModelFilter(pattern="gpt-4o-minni"), "Did you mean 'gpt-4o-mini'"),
        (ModelFilter(pattern="x*y*z"), "under `models` in toolbelt.yaml"),
        (ModelFilter(provider="opnai"), "Did you mean 'openai'"),
        (ModelFilter(provider="openai_x"), "No provider named"),
    ],
)
def test_what_is_not_there_is_refused(table: ModelTable, wanted: ModelFilter, said: str) -> None:
    with pytest.raises(NotFoundError, match="named") as caught:
        search_models(wanted, NAMED, table)
    assert said in str(caught.value)


def test_one_by_its_name(table: ModelTable) -> None:
    assert get_facts("alias", table).context_window == 128_000
    assert get_facts(NAMED[-1], table, NAMED).context_window is None
    with pytest.raises(NotFoundError, match="Did you mean 'alias'"):
        get_facts("aliass", table)


def test_a_base_that_nobody_knows_is_told() -> None:
    table = ModelTable(
        own=[ProjectModel("a", base="b"), ProjectModel("b", base="gpt-4oo"), ProjectModel("c", base="gpt-4o")]
    )
    assert "Did you mean 'gpt-4o'" in str(find_unknown_base("a", table))
    assert find_unknown_base("c", table) is None
    assert find_unknown_base("gpt-4o", table) is None


def test_prices_of_longer_prompts(table: ModelTable) -> None:
    [(above, dearer)] = price_steps(find_facts("gemini/gemini-2.5-pro", table), table)
    assert (above, dearer.input, dearer.output, dearer.cache_write) == (200_000, 2.5, 15, None)
    assert price_steps(find_facts("gpt-4o", table), table) == ()
    assert price_steps(find_facts("nobody/knows", table), table) == ()
