"""The window that a provider names."""

from __future__ import annotations

import pytest

from toolbelt.evals.probing.windows import find_window


@pytest.mark.parametrize(
    ("said", "window"),
    [
        pytest.param("This model's maximum context length is 8192 tokens. You requested 9,000.", 8192, id="is"),
        pytest.param("exceeds the model's maximum context length of 131,072 tokens", 131_072, id="of-with-a-comma"),
        pytest.param("the request exceeds the available context size (4096 tokens), increase it", 4096, id="available"),
        pytest.param("model loaded with context length of only 4096 tokens, which is not enough", 4096, id="only"),
        pytest.param("prompt is too long: 208310 tokens > 200000 maximum", 200_000, id="more-than"),
        pytest.param("count (9) exceeds the maximum number of tokens allowed (1048576).", 1_048_576, id="allowed"),
        pytest.param("too large for model with 32768 maximum context length", 32_768, id="number-first"),
        pytest.param("This model's maximum prompt length is 131072 but it has 537812.", 131_072, id="prompt"),
        pytest.param("Your prompt has 9000 tokens. Reduce its length.", None, id="the-prompts-own-length"),
        pytest.param("Request too large: tokens per minute (TPM): Limit 6000, Requested 9000", None, id="rate"),
        pytest.param("maximum context length is 10 tokens; maximum context length is 20 tokens", None, id="two"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_L15_a_window_is_what_a_provider_names_and_never_a_guess(said: str, window: int | None) -> None:
    assert find_window(said) == window
