"""Prices are litellm's, reckoned as litellm reckons; what is unknown is not free (rule E6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.models.facts import ModelPrices
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.prices import Prices, Rates, find_prices

MODELS = [
    "gpt-4o",
    "openai/gpt-4o-mini",
    "gpt-5",
    "o3",
    "claude-sonnet-4-5",
    "anthropic/claude-haiku-4-5",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "mistral/mistral-large-latest",
    "groq/openai/gpt-oss-20b",
    "deepseek/deepseek-chat",
    "dashscope/qwen-flash",
    "dashscope/qwen-turbo",
    "azure/gpt-4o",
    "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0",
    "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "xai/grok-4.3",
    "fireworks_ai/accounts/fireworks/models/deepseek-v3",
    "cerebras/gpt-oss-120b",
    "ollama/llama3",
]
USAGES = [
    pytest.param((1_000, 200, 0, 0), id="short"),
    pytest.param((1_000, 0, 900, 0), id="cached-read"),
    pytest.param((1_000, 7, 300, 500), id="cached-read-and-written"),
    pytest.param((200_000, 50, 0, 0), id="at-a-bound"),
    pytest.param((200_001, 50, 100_000, 1_000), id="just-above-it"),
    pytest.param((900_000, 5_000, 0, 0), id="long"),
    pytest.param((0, 0, 0, 0), id="nothing"),
    pytest.param((1_000, 500, 0, 0, 400), id="reasoning"),
]


@pytest.mark.parametrize("counts", USAGES)
@pytest.mark.parametrize("model", MODELS)
def test_E6_a_request_costs_what_litellm_says(model: str, counts: tuple[int, ...], shared_cache: Path) -> None:
    from toolbelt.providers.litellm_loading import load_litellm

    litellm = load_litellm()
    prompt, completion, read, written, *reasoning = counts
    usage = litellm.Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion,
        completion_tokens_details={"reasoning_tokens": reasoning[0]} if reasoning else None,
        prompt_tokens_details={"cached_tokens": read, "cache_creation_tokens": written} if read or written else None,
    )
    theirs = sum(litellm.cost_per_token(model=model, prompt_tokens=prompt, usage_object=usage))
    prices = find_prices(model, ModelTable(shared_cache))
    assert prices is not None
    assert prices.cost_usd(*counts) == pytest.approx(theirs, rel=1e-9)


def test_those_models_have_prices_of_many_sorts() -> None:
    table = ModelTable()
    assert len({find_prices(model, table) for model in MODELS}) > 10  # so that those above prove something


@pytest.mark.parametrize("model", ["nobody/knows", "", "gpt-4o-but-not-quite", "mycloud/gpt-4o"])
def test_E6_an_unknown_price_is_none_and_not_nothing(model: str) -> None:
    assert find_prices(model) is None


def _prices(folder: Path, entry: object) -> Prices | None:
    source = folder / "table.json"
    source.write_text(json.dumps({"m": entry}))
    return find_prices("m", ModelTable(source=source))


PLAIN = {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}


@pytest.mark.parametrize(
    ("entry", "steps"),
    [
        pytest.param(PLAIN, ((0, Rates(1, 2, 1, 1)),), id="cached-costs-the-same-where-nothing-is-said"),
        pytest.param(
            {**PLAIN, "cache_read_input_token_cost": 0.1, "cache_creation_input_token_cost": 1.25},
            ((0, Rates(1, 2, 0.1, 1.25)),),
            id="cached-has-its-own-prices",
        ),
        pytest.param(
            {**PLAIN, "input_cost_per_token_above_128k_tokens": 3.0},
            ((0, Rates(1, 2, 1, 1)), (128_000, Rates(3, 2, 3, 3))),
            id="a-step-of-the-prompt-alone",
        ),
        pytest.param(
            {**PLAIN, "output_cost_per_token_above_200k_tokens": 9.0, "litellm_provider": "xai"},
            ((0, Rates(1, 2, 1, 1)), (199_999, Rates(1, 9, 1, 1))),
            id="at-the-bound-for-xai",
        ),
        pytest.param({**PLAIN, "input_cost_per_token": 0}, ((0, Rates(0, 2, 0, 0)),), id="free-is-a-price"),
        pytest.param(
            {"tiered_pricing": [{**PLAIN, "range": [0, 9]}, {**PLAIN, "input_cost_per_token": 5, "range": [9, 99]}]},
            ((0, Rates(1, 2, 1, 1)), (9, Rates(5, 2, 5, 5))),
            id="steps-as-a-list",
        ),
        pytest.param({"input_cost_per_token": 1.0}, None, id="half-a-price-is-none"),
        pytest.param({**PLAIN, "input_cost_per_request": 0.1}, None, id="a-price-of-more-than-tokens"),
        pytest.param({**PLAIN, "input_cost_per_token": "cheap"}, None, id="a-word-is-no-price"),
        pytest.param({**PLAIN, "input_cost_per_token": -1}, None, id="nor-less-than-nothing"),
        pytest.param({**PLAIN, "input_cost_per_token": True}, None, id="nor-true"),
        pytest.param({**PLAIN, "tiered_pricing": [{}]}, None, id="a-list-of-nothing"),
        pytest.param({}, None, id="nothing-said"),
        pytest.param([], None, id="an-entry-of-another-shape"),
    ],
)
def test_an_entry(entry: object, steps: object, tmp_path: Path) -> None:
    prices = _prices(tmp_path, entry)
    assert (prices and prices.steps) == steps


@pytest.mark.parametrize(
    ("own", "steps"),
    [
        pytest.param(
            ProjectModel("m", prices=ModelPrices(1, 2, 0.5, 1.5)),
            ((0, Rates(1e-6, 2e-6, 5e-7, 1.5e-6)),),
            id="of-a-million",
        ),
        pytest.param(
            ProjectModel("m", prices=ModelPrices(1, 2)),
            ((0, Rates(1e-6, 2e-6, 1e-6, 1e-6)),),
            id="cached-costs-the-same",
        ),
        pytest.param(ProjectModel("m", context_window=5), ((0, Rates(1, 2, 1, 1)),), id="none-of-its-own"),
        pytest.param(ProjectModel("other", prices=ModelPrices(1, 2)), ((0, Rates(1, 2, 1, 1)),), id="of-another"),
    ],
)
def test_E6_the_projects_own_prices_go_first(own: ProjectModel, steps: object, tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    source.write_text(json.dumps({"m": PLAIN}))
    prices = find_prices("m", ModelTable(source=source, own=[own]))
    assert prices is not None
    assert prices.steps == steps


@pytest.mark.parametrize(
    ("name", "prices"),
    [
        pytest.param("alias", (1, 2), id="an-alias-costs-what-it-stands-for"),
        pytest.param("openai/alias", (1, 2), id="so-does-one-of-the-same-provider"),
        pytest.param("ollama/build", None, id="a-build-that-runs-elsewhere-does-not"),
    ],
)
def test_E6_prices_of_a_base(name: str, prices: tuple[float, float] | None, tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    source.write_text(json.dumps({"m": {**PLAIN, "litellm_provider": "openai"}}))
    found = find_prices(name, ModelTable(source=source, own=[ProjectModel(name, base="m")]))
    assert (found and found.steps[0][1][:2]) == prices


@pytest.mark.parametrize("spoilt", ["", "{}", '{"of": 1}', '{"of": 1, "steps": {"m": [[0, "x"]]}}', "\x00"])
def test_a_spoilt_extract_is_made_anew(tmp_path: Path, spoilt: str) -> None:
    source, cache = tmp_path / "table.json", tmp_path / "cache"
    source.write_text(json.dumps({"m": PLAIN}))
    first = find_prices("m", ModelTable(cache, source))
    for file in cache.iterdir():
        if spoilt and "steps" in spoilt:
            kept: dict[str, Any] = json.loads(file.read_text())
            file.write_text(json.dumps({**json.loads(spoilt), "of": kept["of"]}))
        else:
            file.write_text(spoilt)
    assert find_prices("m", ModelTable(cache, source)) == first is not None


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_E6_reasoning_costs_what_it_costs_within_the_answer(answer: int, reasoning: int) -> None:
    alike, dearer = (Prices(((0, Rates(0, 2.0, 0, 0, price)),)) for price in (None, 5.0))
    assert alike.cost_usd(0, answer, 0, 0, reasoning) == 2.0 * answer
    assert dearer.cost_usd(0, answer, 0, 0, reasoning) == pytest.approx(2.0 * answer + 3.0 * min(answer, reasoning))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**5))
def test_E6_reading_from_the_cache_never_costs_more_and_nothing_costs_less_than_nothing(
    plain: int, read: int, written: int, completion: int
) -> None:
    prices = Prices(((0, Rates(2.0, 3.0, 0.5, 2.5)), (200_000, Rates(4.0, 6.0, 1.0, 5.0))))
    prompt = plain + read + written
    cost = prices.cost_usd(prompt, completion, read, written)
    assert 0 <= cost <= prices.cost_usd(prompt, completion, 0, written)
    assert cost <= prices.cost_usd(prompt + 1, completion, read, written)
