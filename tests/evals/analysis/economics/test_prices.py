"""Dollars by litellm's table (rule E6)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.economics.caching import Caching
from toolbelt.evals.analysis.economics.prices import open_prices, run_economics
from toolbelt.evals.analysis.summary.measures import ArmSummary, Rate, RunSummary
from toolbelt.providers.litellm_table import PRICE_TABLE, ModelTable, find_litellm_file


@cache
def table() -> dict[str, Any]:
    path = find_litellm_file(PRICE_TABLE)
    assert path is not None
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def run(model: str) -> RunSummary:
    arm = ArmSummary(
        model,
        "tiered",
        finished=10,
        scored=10,
        solved=Rate(10, 10),
        definition_tokens=500.0,
        own_prompt_tokens=2000.0,
        prompt_tokens=2000.0,
        completion_tokens=30.0,
        repeated_tokens=900.0,
        invalidated_tokens=100.0,
        first_offers=10,
        requests=2.0,
    )
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=(arm,))


@pytest.mark.parametrize(
    ("model", "written"),
    [
        pytest.param("gpt-4o", "input_cost_per_token", id="writing-is-free"),
        pytest.param("claude-sonnet-4-5", "cache_creation_input_token_cost", id="writing-costs-more"),
        pytest.param("gemini/gemini-2.5-flash", "input_cost_per_token", id="kept-by-itself"),
    ],
)
def test_E6_bills_by_the_values_of_the_table(model: str, written: str, shared_cache: Path) -> None:
    entry = table()[model]
    prompt, read, answer = (
        entry[key] for key in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    )
    [one] = run_economics(run(model), ModelTable(shared_cache))
    assert one.bills[Caching.NONE].usd == pytest.approx(2000 * prompt + 30 * answer)
    assert one.bills[Caching.WITHIN].usd == pytest.approx(1200 * entry[written] + 800 * read + 30 * answer)
    assert one.bills[Caching.WITHIN].rebilled_usd == pytest.approx(100 * (entry[written] - read))
    assert read < prompt  # so that it makes a difference


def test_E6_a_local_model_has_tokens_alone_until_it_is_priced_as_another(shared_cache: Path) -> None:
    models = ModelTable(shared_cache)
    [plain] = run_economics(run("local/bm25"), models)
    [priced] = run_economics(run("local/bm25"), models, "gpt-4o")
    [other] = run_economics(run("gpt-4o"), models)
    assert (plain.rates, plain.bills[Caching.NONE].usd) == (None, None)
    assert priced.bills == other.bills
    assert (priced.priced_as, other.priced_as) == ("gpt-4o", "")


@pytest.mark.parametrize("name", ["gpt-4oo", "ollama/llama3"], ids=["unknown", "free"])
def test_a_price_that_is_none_names_the_nearest(name: str, shared_cache: Path) -> None:
    with pytest.raises(NotFoundError) as raised:
        run_economics(run("local/bm25"), ModelTable(shared_cache), name)
    assert f"No priced model named '{name}'." in str(raised.value)
    assert ("gpt-4o" in raised.value.known) is (name == "gpt-4oo")


def test_each_price_is_looked_up_once(tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    source.write_text(json.dumps({"m": {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}}))
    prices = open_prices(ModelTable(source=source))
    found = prices("m")
    source.unlink()
    assert found is not None
    assert prices("m") is found
