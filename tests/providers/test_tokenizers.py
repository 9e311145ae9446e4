"""Counts are the tokenizer's own, and a model gets its own tokenizer."""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path

import pytest
import tiktoken
import tiktoken.model
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken.load import load_tiktoken_bpe

from tests.wording import naming
from toolbelt.catalog.tokens import TOKENIZER_NAMES
from toolbelt.errors import NotFoundError
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, find_tokenizer, make_counter

REAL = ("o200k_base", "cl100k_base")
# The same vocabulary with other control tokens, which never stand in a definition.
SAME = {"o200k_harmony": "o200k_base"}


@pytest.fixture(scope="module")
def encodings() -> dict[str, tiktoken.Encoding]:
    """tiktoken's encodings, loaded by tiktoken from the files that litellm ships."""
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
    try:
        return {name: tiktoken.get_encoding(name) for name in REAL}
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _expected(encoding: str) -> str | None:
    encoding = SAME.get(encoding, encoding)
    return encoding if encoding in REAL else None


@pytest.mark.parametrize(("model", "encoding"), tiktoken.model.MODEL_TO_ENCODING.items())
def test_every_model_that_tiktoken_knows(model: str, encoding: str) -> None:
    assert find_tokenizer(model) == _expected(encoding)


@pytest.mark.parametrize(("prefix", "encoding"), tiktoken.model.MODEL_PREFIX_TO_ENCODING.items())
def test_every_prefix_that_tiktoken_knows(prefix: str, encoding: str) -> None:
    name = f"{prefix}{'' if prefix.endswith('-') else ':'}2099-01-01"
    assert tiktoken.model.encoding_name_for_model(name) == encoding
    assert find_tokenizer(name) == _expected(encoding)


@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        pytest.param("openai/gpt-4o", "o200k_base", id="provider-before-the-name"),
        pytest.param("azure/gpt-4", "cl100k_base", id="azure"),
        pytest.param("openrouter/openai/gpt-4.1-mini", "o200k_base", id="router-before-the-provider"),
        pytest.param("GPT-4o", "o200k_base", id="case-is-ignored"),
        pytest.param("ft:gpt-4o-mini:org::1", "o200k_base", id="fine-tuned"),
        pytest.param("claude-sonnet-4-5", None, id="claude-has-no-public-tokenizer"),
        pytest.param("gemini/gemini-2.5-flash", None, id="gemini"),
        pytest.param("ollama/llama3", None, id="ollama"),
        pytest.param("my-gpt-4o", None, id="a-name-that-only-ends-so"),
        pytest.param("o3000", None, id="a-name-that-only-begins-so"),
        pytest.param("gpt-40", None, id="a-number-that-only-begins-so"),
        pytest.param("azure/my-deployment", None, id="a-deployment-says-nothing"),
        pytest.param("", None, id="no-name"),
    ],
)
def test_other_names(model: str, tokenizer: str | None) -> None:
    assert find_tokenizer(model) == tokenizer


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello world",
        '{"type":"function","function":{"name":"git_status"}}',
        "Größe 漢字 👍🏽",
        "\x00\x1b\u202e",
        " \n\t" * 50,
        "<|endoftext|><|fim_prefix|>",
    ],
    ids=["empty", "words", "a-definition", "scripts", "controls", "blanks", "special-tokens"],
)
def test_counts_are_those_of_tiktoken(name: str, text: str, encodings: dict[str, tiktoken.Encoding]) -> None:
    counter = make_counter(name)
    assert (counter.name, counter.exact) == (name, True)
    assert counter.count([text]) == [len(encodings[name].encode(text, disallowed_special=()))]


def test_special_token_text_counts_as_text(encodings: dict[str, tiktoken.Encoding]) -> None:
    special = encodings["o200k_base"].encode("<|endoftext|>", allowed_special="all")
    assert len(special) == 1
    assert make_counter("o200k_base").count(["<|endoftext|>"]) == [7]


@given(st.lists(st.text(max_size=80), max_size=4))
@settings(max_examples=60)
def test_any_texts_count_as_tiktoken_counts_them(encodings: dict[str, tiktoken.Encoding], texts: list[str]) -> None:
    encoding = encodings["o200k_base"]
    assert make_counter("o200k_base").count(texts) == [len(encoding.encode_ordinary(text)) for text in texts]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("character", ["a", " ", "\n", "漢", "\x00"], ids=["a", "blank", "line", "han", "nul"])
def test_a_megabyte_of_one_character_counts_in_seconds(name: str, character: str) -> None:
    counter = make_counter(name)
    started = time.monotonic()
    (count,) = counter.count([character * 1_000_000])
    assert time.monotonic() - started < 8
    # No token of either vocabulary stands for more than 128 characters.
    assert 1_000_000 / 128 <= count <= 3_000_000


def test_a_long_text_is_cut_where_the_count_stays_exact(encodings: dict[str, tiktoken.Encoding]) -> None:
    text = "".join(
        f'{{"name":"tool_{number}","description":"Reads the file with the number {number}."}}, '
        for number in range(8000)
    )
    assert len(text) > 300_000
    (count,) = make_counter("o200k_base").count([text])
    whole = len(encodings["o200k_base"].encode_ordinary(text))
    assert count == whole


def test_the_vocabulary_is_the_published_one() -> None:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    # The hash that tiktoken itself demands of o200k_base.
    ranks = load_tiktoken_bpe(
        str(folder / "fb374d419588a4632f3f557e76b4b70aebbca790"),
        expected_hash="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    )
    assert len(ranks) == 199_998


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    make_counter("o200k_base").count(["a"])
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_an_unknown_tokenizer_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match=naming("o200k", "o200k_base")):
        make_counter("o200k")


def test_every_name_makes_a_counter_of_that_name() -> None:
    assert [make_counter(name).name for name in TOKENIZER_NAMES] == list(TOKENIZER_NAMES)
    assert [make_counter(name).exact for name in TOKENIZER_NAMES] == [True, True, False]
    assert DEFAULT_TOKENIZER in TOKENIZER_NAMES
