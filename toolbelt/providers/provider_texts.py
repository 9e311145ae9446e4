"""What providers write when they refuse a request, and what each text means (rule X2): a table to read from the top.

A row counts where neither the status nor litellm's class of the error says enough. Each has the thread, issue or page
where the text was seen. Rows on limits of an account come first: their texts mention tokens and lengths, and look like
overflows. To add a row, add its text to `tests/providers/test_provider_texts.py`, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolbelt.providers.chat import Failure


@dataclass(frozen=True, slots=True)
class ProviderText:
    """A text of a provider, and its meaning.

    Attributes:
        provider: Who writes it.
        failure: What it means.
        pattern: What it contains, in lower case.
        statuses: HTTP statuses at which it counts; `None` where the wire saw none.
        source: Where it was seen.
    """

    provider: str
    failure: Failure
    pattern: re.Pattern[str]
    statuses: frozenset[int | None]
    source: str

    def means(self, status: int | None, words: str) -> bool:
        """Whether a text with this status has this meaning."""
        return status in self.statuses and self.pattern.search(words) is not None


_ANYWHERE = frozenset({None, 200, 400, 404, 413, 422, 500})
"""429 is not among them, as messages on rate limits also mention tokens."""
_ACCOUNT = frozenset({None, 400, 403, 429})
_TOO_LARGE = frozenset({None, 400, 413, 429})
_TOO_FAST = frozenset({None, 200, 400})


def _row(provider: str, failure: Failure, pattern: str, source: str, statuses: frozenset[int | None]) -> ProviderText:
    return ProviderText(provider, failure, re.compile(pattern, re.DOTALL), statuses, source)


def _quota(provider: str, pattern: str, source: str) -> ProviderText:
    return _row(provider, Failure.QUOTA, pattern, source, _ACCOUNT)


def _overflow(provider: str, pattern: str, source: str) -> ProviderText:
    return _row(provider, Failure.CONTEXT_OVERFLOW, pattern, source, _ANYWHERE)


_ERRORS_OF_OPENAI = "platform.openai.com/docs/guides/error-codes"
_ERRORS_OF_ANTHROPIC = "docs.anthropic.com/en/api/errors"
_LIMITS_OF_GEMINI = "UKGovernmentBEIS/inspect_ai #5526"
ACCOUNT_TEXTS = (
    _quota("OpenAI", r"insufficient[_ ]quota|billing_hard_limit|exceeded_current_quota", _ERRORS_OF_OPENAI),
    _quota("OpenAI", r"(billing|account)( is)?[_ ]not[_ ]active", _ERRORS_OF_OPENAI),
    _quota("Anthropic", r"credit balance is too low", _ERRORS_OF_ANTHROPIC),
    _quota("DeepSeek", r"insufficient[_ ](balance|funds)", "api-docs.deepseek.com/quick_start/error_codes"),
    _quota("OpenRouter", r"insufficient[_ ]credits?|(out of|no) credits\b", "openrouter.ai/docs/api-reference/errors"),
    _quota("OpenRouter", r"free-models-per-day", "openrouter.ai/docs/api-reference/limits"),
    _quota("Cloudflare", r"daily (free allocation|quota)", "developers.cloudflare.com/workers-ai/platform/pricing"),
    _quota("Gemini", r"quotaid\W+\w*perday", _LIMITS_OF_GEMINI),
    # Of a minute's limit Gemini writes the same, and then which limit it is.
    _quota(
        "OpenAI, Gemini",
        r"exceeded your current quota(?!.*(quota exceeded for metric|retry in|retrydelay|per ?minute))",
        "browserbase/mcp-server-browserbase #129",
    ),
    _row(
        "OpenAI, Groq",
        Failure.REQUEST_TOO_LARGE,
        r"request too large for",
        "continuedev/continue #11472; continuedev/continue #10218",
        _TOO_LARGE,
    ),
    _row(
        "Anthropic",
        Failure.REQUEST_TOO_LARGE,
        r"extra usage is required for long context",
        "anthropics/claude-code #66799",
        _TOO_LARGE,
    ),
    _row("Groq", Failure.REQUEST_TOO_LARGE, r"rate_limit", "zeeyado/koassistant.koplugin #106", frozenset({413})),
    _row(
        "Bedrock",
        Failure.RATE_LIMIT,
        r"too many tokens, please wait|throttl",
        "earendil-works/pi packages/ai/src/utils/overflow.ts",
        _TOO_FAST,
    ),
    _row(
        "Mistral, gateways",
        Failure.RATE_LIMIT,
        r"too many requests|rate[ _-]?limit",
        "continuedev/continue #6185",
        _TOO_FAST,
    ),
)
TEXTS = (
    _overflow("OpenAI", r"context_length_exceeded", "continuedev/continue #11472"),
    _overflow(
        "OpenAI, DeepSeek, vLLM, SGLang, Mistral",
        r"(maximum|max|model'?s) context (length|window|size)",
        "TheR1D/shell_gpt #653; evalstate/fast-agent #621; vllm-project/vllm #20409; sgl-project/sglang #3642",
    ),
    _overflow("OpenAI, Anthropic, MLX", r"context[ _](window|limit|length)", "anthropics/claude-code #33514"),
    _overflow(
        "llama.cpp",
        r"(exceed\w*|available) (the |your )?(available |maximum |max )*context|exceed_context_size",
        "ggml-org/llama.cpp PR #15780; continuedev/continue #12735",
    ),
    _overflow("Anthropic, Ollama, MLX", r"prompt[ _](is )?too[ _]long", "anthropics/anthropic-sdk-python #938"),
    _overflow("Bedrock", r"input is too long|input length .* exceed", "anthropics/claude-code #71634"),
    _overflow(
        "Gemini, SGLang",
        r"too many (input |total )?tokens|(input|prompt|requested) token count .*exceed",
        "browserbase/mcp-server-browserbase #129; sgl-project/sglang #8096",
    ),
    _overflow("Groq", r"reduce the length of (the|your) (messages|prompt|input)", "continuedev/continue #10218"),
    _overflow(
        "llama.cpp, vLLM",
        r"tokens? .* (exceeds?|larger than|greater than) .*(n_ctx|max_model_len|maximum)",
        "continuedev/continue #10975",
    ),
    _overflow(
        "xAI, Kimi, Qwen",
        r"maximum prompt length is|exceeded model token limit|range of input length should be",
        "earendil-works/pi packages/ai/src/utils/overflow.ts",
    ),
    _overflow(
        "vLLM",
        r"longer than the maximum model length|max_tokens must be at least 1, got (-\d|0\b)",
        "vllm-project/vllm #20409",
    ),
    _overflow(
        "TGI, Together",
        r".max_new_tokens. must be <=|.inputs. must have less than \d+ tokens",
        "huggingface/text-generation-inference, router/src/validation.rs",
    ),
    _overflow(
        "TensorRT-LLM",
        r"prompt length \(.*(exceeds maximum|should not exceed)|default_max_tokens \(-?\d+\)",
        "NVIDIA/TensorRT-LLM, tensorrt_llm/executor",
    ),
    _overflow("LM Studio", r"n_keep \(?\d+\)? >= n_ctx", "lmstudio-ai/lmstudio-bug-tracker #546"),
    _row(
        "llama.cpp, Ollama",
        Failure.BAD_REQUEST,
        r"requires --jinja|does not support tool",
        "ggml-org/llama.cpp, docs/function-calling.md",
        frozenset({500}),
    ),
    _row(
        "OpenAI",
        Failure.REFUSED,
        r"content_policy|content policy|safety system|blocked (by|due to) .*(safety|polic)",
        _ERRORS_OF_OPENAI,
        _ANYWHERE,
    ),
    _row(
        "Azure",
        Failure.REFUSED,
        r"content management policy|responsibleaipolicy|content[_ ]filter",
        "learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter",
        _ANYWHERE,
    ),
    _row(
        "OpenAI, Gemini",
        Failure.AUTHENTICATION,
        r"(incorrect|invalid) api[ _]key|api[ _]key (not valid|is invalid)|api_key_invalid",
        _ERRORS_OF_OPENAI,
        _ANYWHERE,
    ),
    _row(
        "OpenAI, OpenRouter, Ollama",
        Failure.NOT_FOUND,
        r"model_not_found|not a valid model|(no such|unknown) model|model .{0,100}(not found|does not exist)",
        _ERRORS_OF_OPENAI,
        _ANYWHERE,
    ),
)
