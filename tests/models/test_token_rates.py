"""What definitions come to in the prompts of models, against what providers reported (rule V8)."""

from __future__ import annotations

import pytest

from tests.documents import read
from toolbelt.models.facts import ModelFacts
from toolbelt.models.token_rates import (
    AS_COUNTED,
    RATES,
    UNKNOWN,
    Basis,
    TokenRate,
    find_model_rate,
    find_rate,
)
from toolbelt.providers.tokenizers import count_tokens
from toolbelt.stores.catalogs import open_catalog

TEXT = {
    "gpt-oss": (68, 1.0),
    "gpt": (8, 1.0),
    "opus-5": (5, 1.4),
    "sonnet-5": (5, 1.4),
    "claude": (5, 1.12),
    "mistral": (4, 1.1),
}
"""Of a conversation without tools: tokens that are always there, and the factor on those of `o200k_base`."""


@pytest.mark.parametrize(
    ("model", "count", "tools", "text", "reported"),
    [
        # Of public recordings of 2026, one request a line: our count of the definitions, the tools, our count of the
        # text, and the prompt tokens of the answer's usage.
        ("gpt-4o", 8, 1, 15, 46),
        ("openai/gpt-4o-mini", 25, 1, 11, 59),
        ("azure/gpt-4o", 58, 2, 31, 110),
        ("gpt-4o-2024-08-06", 179, 3, 20, 213),
        ("gpt-5-mini", 8, 1, 22, 133),
        ("openai/gpt-5", 58, 2, 27, 190),
        ("gpt-5", 2446, 11, 3840, 6426),
        ("groq/openai/gpt-oss-120b", 15, 1, 16, 128),
        ("ollama/gpt-oss:20b", 28, 1, 7, 134),
        ("anthropic/claude-sonnet-4-5", 64, 2, 35, 628),
        ("claude-sonnet-4-5-20250929", 5639, 11, 1326, 8696),
        ("bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0", 41, 1, 13, 577),
        ("openrouter/anthropic/claude-sonnet-4.6", 37, 1, 5, 563),
        ("claude-opus-5", 111, 2, 57, 590),
        ("claude-sonnet-5", 111, 2, 57, 658),
        ("claude-sonnet-4-20250514", 41, 1, 13, 424),
        ("gemini/gemini-2.5-flash", 100, 2, 31, 125),
        ("gemini/gemini-3-flash-preview", 227, 3, 37, 277),
        ("vertex_ai/gemini-2.5-pro", 100, 2, 31, 60),
        ("mistral/mistral-small-latest", 57, 1, 6, 99),
        ("mistral/mistral-large-latest", 97, 2, 6, 152),
        ("deepseek/deepseek-chat", 95, 1, 29, 371),
        ("zai/glm-4.6", 3020, 11, 3799, 7135),
        ("us.amazon.nova-2-lite-v1:0", 91, 1, 29, 994),
        ("xai/grok-4-fast", 122, 2, 27, 433),
        ("moonshot/kimi-k2-thinking", 49, 1, 22, 92),
    ],
)
def test_V8_an_estimate_is_within_its_error(model: str, count: int, tools: int, text: int, reported: int) -> None:
    rate = find_rate(model)
    always, factor = next((of for part, of in TEXT.items() if part in model), (5, 1.0))
    estimate = always + factor * text + rate.estimate(count, tools)
    assert estimate == pytest.approx(reported, rel=rate.error)
    assert rate.basis is not Basis.NONE


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (("hosted_vllm/my-model", "Qwen/Qwen3-32B"), "Qwen"),
        (("ollama/llama3.2:3b",), "Llama 3"),
        (("o3-mini",), "OpenAI, 4 and o"),
        (("demo3",), UNKNOWN.family),
        (("nobody/knows", None), UNKNOWN.family),
        ((None,), UNKNOWN.family),
    ],
)
def test_a_family_is_found_by_any_of_the_names(names: tuple[str | None, ...], family: str) -> None:
    assert find_rate(*names).family == family


def test_no_tools_take_nothing() -> None:
    assert {rate.estimate(0, 0) for _, rate in RATES} == {0}


def row(rate: TokenRate) -> str:
    counted = "as the model sees it" if rate.form else "as sent"
    samples = f"{rate.samples:,}" if rate.samples else "–"
    figures = f"{rate.fixed} | {rate.each} | {rate.factor:g} | ±{rate.error:.0%}"
    return f"| {rate.family} | {counted} | {figures} | {samples} | {rate.basis.value} |"


def test_the_docs_have_the_table() -> None:
    lines = read("docs/models.md").splitlines()
    for _, rate in (*RATES, ("", UNKNOWN)):
        assert row(rate) in lines


STATED = TokenRate("", 480, 0, 1.31, 0.04, basis=Basis.STATED)


def test_V8_the_rate_of_the_project_goes_before_that_of_the_family() -> None:
    stated = find_model_rate(ModelFacts("gpt-5-mini", token_rate=STATED))
    assert (stated.factor, stated.fixed, stated.error, stated.basis) == (1.31, 480, 0.04, Basis.STATED)
    assert (stated.family, stated.form) == ("OpenAI, 5 and later", "namespace")


def test_a_label_has_the_rate_of_the_model_that_it_stands_for() -> None:
    assert find_model_rate(ModelFacts("small", asked_as="mistral/mistral-small")).family == "Mistral"
    assert find_model_rate(ModelFacts("claude", asked_as="local/bm25")) == AS_COUNTED


@pytest.mark.parametrize("catalog", ["assistant", "tiered"])
@pytest.mark.parametrize("name", ["estimate", "cl100k_base"])
@pytest.mark.parametrize("model", ["claude-opus-5", "gpt-5-mini"])
def test_V8_by_another_tokenizer_the_estimate_is_as_good_as_it_says(catalog: str, name: str, model: str) -> None:
    tools, rate = open_catalog(catalog).catalog, find_rate(model)
    counts = {each: count_tokens(tools, each, rate.form or "openai").total for each in (name, "o200k_base")}
    size = len(tools.tools)
    other, own = rate.counted_by(name), rate.estimate(counts["o200k_base"], size)
    assert other.error > rate.error
    assert other.estimate(counts[name], size) == pytest.approx(own, rel=other.error - rate.error)


def test_V8_a_rate_measured_by_a_rule_of_thumb_holds_for_it() -> None:
    rate = TokenRate("", 0, 0, 1.1, 0.04, basis=Basis.STATED, tokenizer="estimate")
    assert rate.counted_by("estimate") == rate
    assert rate.counted_by("o200k_base").factor == pytest.approx(1.25)
