"""What each provider writes when it refuses a request, from a real HTTP server (rules E4, X2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.asking import ask_once, fail_once
from tests.servers.running import OpenAIServer
from toolbelt.providers.chat import Failure

pytestmark = pytest.mark.usefixtures("each_transport")
OVERFLOW, RATE, NEVER, QUOTA, WRONG = (
    Failure.CONTEXT_OVERFLOW,
    Failure.RATE_LIMIT,
    Failure.REQUEST_TOO_LARGE,
    Failure.QUOTA,
    Failure.BAD_REQUEST,
)


def openai(message: str, kind: str = "invalid_request_error", code: str | int | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def gemini(message: str, *details: dict[str, Any]) -> list[dict[str, Any]]:
    """As its endpoint for OpenAI's API sends it: in a list."""
    return [{"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": list(details)}}]


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota_failure(quota_id: str) -> dict[str, Any]:
    violation = {"quotaMetric": "generativelanguage.googleapis.com/generate_requests", "quotaId": quota_id}
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}


TPM = "in organization org-x on tokens per min (TPM)"
GEMINI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
TOO_LONG: dict[str, tuple[int, Any]] = {
    "openai": (400, openai("Your input exceeds the context window of this model.", code="context_length_exceeded")),
    "openai-by-its-code": (400, openai("No.", code="context_length_exceeded")),
    "anthropic": (400, openai("prompt is too long: 210000 tokens > 200000 maximum")),
    "anthropic-in-bytes": (413, openai("Request exceeds the maximum size", "request_too_large")),
    "anthropic-with-the-answer": (400, openai("input length and `max_tokens` exceed context limit: 188240 + 21333")),
    "gemini": (400, openai("The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).")),
    "mistral": (
        400,
        {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"},
    ),
    "deepseek": (
        400,
        openai(
            "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (135904 in the "
            "messages, 4096 in the completion). Please reduce the length of the messages or completion."
        ),
    ),
    "groq": (400, openai("Please reduce the length of the messages or completion. Current length is 9000.")),
    "together": (400, openai("The input (9000 tokens) is longer than the model's context length (8192 tokens).")),
    "together-with-the-answer": (400, openai("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000")),
    "xai": (400, openai("This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    "kimi": (400, openai("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)")),
    "qwen": (400, openai("Range of input length should be [1, 30720]")),
    "poolside": (400, openai("Input length 9000 exceeds the maximum allowed input length of 8192 tokens.")),
    "vllm": (
        400,
        openai(
            "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 4096."
        ),
    ),
    "vllm-characters": (
        400,
        openai(
            "You passed 60001 input characters and requested 512 output tokens. However, the model's context length is "
            "only 4096 tokens, resulting in a maximum input length of 3584 tokens."
        ),
    ),
    "vllm-decoder": (
        400,
        openai(
            "The decoder prompt (length 12324) is longer than the maximum model length of 8192. Make sure that "
            "`max_model_len` is no smaller than the number of text tokens.",
            "BadRequestError",
            400,
        ),
    ),
    "vllm-no-room-for-an-answer": (400, openai("max_tokens must be at least 1, got -186.", "BadRequestError", 400)),
    "vllm-newer": (400, openai("Input length (11680) exceeds model's maximum context length (4096).")),
    "sglang": (400, openai("Requested token count exceeds the model's maximum context length of 8192 tokens.")),
    "tgi": (
        422,
        {
            "error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
            "error_type": "validation",
        },
    ),
    "tgi-with-the-answer": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` "
            "tokens and 200 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    "tensorrt-llm": (
        400,
        {
            "object": "error",
            "message": "The sum of prompt length (38049.0), query length (0) should not exceed max_num_tokens (32768)",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "tensorrt-llm-engine": (
        400,
        {"object": "error", "message": "Prompt length (5056) exceeds maximum input length (2048).", "code": 400},
    ),
    "tensorrt-llm-no-room": (
        400,
        {
            "object": "error",
            "message": "default_max_tokens (-12) should be greater than 0, default_max_tokens (-12) = max_seq_len "
            "(2048) - splited_prompt_len (2060) - query_token_len (0)",
            "code": 400,
        },
    ),
    "mlx": (400, openai("Prompt too long: 41911 tokens exceeds max context window of 32768 tokens")),
    "mlx-by-its-code": (400, openai("prompt_too_long: tokenized prompt has 20767 tokens, max prompt tokens is 16384")),
    "mlx-serve": (400, openai("Prompt exceeds maximum context length")),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 9000,
                "n_ctx": 8192,
            }
        },
    ),
    "llama.cpp-older": (500, openai("the request exceeds the available context size. try increasing the context size")),
    "ollama": (400, openai("prompt too long; exceeded max context length by 812 tokens")),
    "lm-studio-keep": (
        400,
        {
            "error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded "
            "with context length of only 4096 tokens, which is not enough."
        },
    ),
    "lm-studio-n_keep": (400, {"error": "Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)"}),
    "lm-studio-initial": (
        400,
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the context length. Try to "
            "load the model with a larger context length"
        },
    ),
}
OTHERS: dict[str, tuple[int, Any, Failure]] = {
    "openai-a-minute": (
        429,
        openai(f"Rate limit reached for m {TPM}: Limit 30000, Used 28000, Requested 3000. Please try again in 644ms."),
        RATE,
    ),
    "openai-more-than-a-minute": (429, openai(f"Request too large for m {TPM}: Limit 30000, Requested 35000."), NEVER),
    "openai-in-other-words": (429, openai(f"Rate limit reached {TPM}: Limit 6000, Used 0, Requested 9000."), NEVER),
    "groq-more-than-a-minute": (
        413,
        openai(
            f"Request too large for model `m` {TPM}: Limit 6000, Requested 9000, please reduce your message size and "
            "try again.",
            "tokens",
            "rate_limit_exceeded",
        ),
        NEVER,
    ),
    "anthropic-a-minute": (
        429,
        openai("This request would exceed your organization's rate limit of 40,000 input tokens per minute."),
        RATE,
    ),
    "anthropic-long-context": (429, openai("Extra usage is required for long context requests."), NEVER),
    "anthropic-overloaded": (529, openai("Overloaded", "overloaded_error"), Failure.UNAVAILABLE),
    "bedrock": (400, openai("ThrottlingException: Too many tokens, please wait before trying again."), RATE),
    "bedrock-429": (429, openai("Too many tokens, please wait before trying again."), RATE),
    "mistral-a-minute": (429, {"message": "Requests rate limit exceeded", "code": "1300"}, RATE),
    "gemini-a-minute": (
        429,
        gemini(GEMINI_QUOTA, quota_failure("GenerateRequestsPerMinutePerProjectPerModel"), retry_info("12s")),
        RATE,
    ),
    "gemini-a-day": (
        429,
        gemini(GEMINI_QUOTA, quota_failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retry_info("12s")),
        QUOTA,
    ),
    "openrouter-a-day": (429, openai("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock."), QUOTA),
    "llama.cpp-without-jinja": (500, openai("tools param requires --jinja flag", "server_error", 500), WRONG),
    "llama.cpp-not-supported": (501, openai("This server does not support this.", "not_supported_error", 501), WRONG),
    "ollama-without-tools": (400, openai("registry.ollama.ai/library/m does not support tools"), WRONG),
    "max-tokens-of-nonsense": (400, openai("max_tokens must be at least 1024 for this model"), WRONG),
}  # fmt: skip


def refused(server: OpenAIServer, status: int, body: Any, headers: dict[str, str] | None = None) -> Any:
    wanted = {"status": status, "body": body, "headers": headers}
    return fail_once(server, "raw@texts", messages=[{"role": "user", "content": json.dumps(wanted)}])


@pytest.mark.parametrize(("status", "body"), TOO_LONG.values(), ids=TOO_LONG)
def test_X2_an_overflow_is_known_by_each_providers_text(
    openai_server: OpenAIServer,
    status: int,
    body: Any,
) -> None:
    error = refused(openai_server, status, body)
    assert error.failure is OVERFLOW, error.message
    assert not error.failure.is_passing


@pytest.mark.parametrize(("status", "body", "failure"), OTHERS.values(), ids=OTHERS)
def test_X2_what_passes_is_told_from_what_never_does(
    openai_server: OpenAIServer,
    status: int,
    body: Any,
    failure: Failure,
) -> None:
    error = refused(openai_server, status, body)
    assert error.failure is failure, error.message
    assert error.failure.is_passing is (failure in (RATE, Failure.UNAVAILABLE))
    assert error.failure.is_for_good is (failure is QUOTA)


WAITS: dict[str, tuple[Any, dict[str, str], float]] = {
    "milliseconds-first": (openai("Slow down."), {"retry-after-ms": "644", "retry-after": "1"}, 0.644),
    "fractions-of-a-second": (openai("Slow down."), {"retry-after": "0.25"}, 0.25),
    "gemini": (gemini("Please retry in 45.8s.", retry_info("45.837906927s")), {}, 45.837906927),
    "gemini-and-a-header": (gemini("Please retry.", retry_info("45s")), {"retry-after": "7"}, 7),
}


@pytest.mark.parametrize(("said", "may_pass"), [("true", True), ("false", False), ("perhaps", None)])
def test_X2_whether_to_ask_again_is_what_the_server_says(
    openai_server: OpenAIServer, said: str, may_pass: bool | None
) -> None:
    assert refused(openai_server, 500, openai("Broken."), {"x-should-retry": said}).may_pass is may_pass
    assert refused(openai_server, 401, openai("No."), {"x-should-retry": said}).may_pass is (may_pass and None)


def test_X2_a_limit_that_is_used_up_is_held_for_until_its_reset(openai_server: OpenAIServer) -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}
    assert refused(openai_server, 429, openai("Slow down."), headers).hold_seconds == 90
    wanted = json.dumps({"body": {"choices": [{"message": {"role": "assistant", "content": "a"}}]}, "headers": headers})
    assert ask_once(openai_server, "raw@texts", messages=[{"role": "user", "content": wanted}]).hold_seconds == 90


@pytest.mark.parametrize(("body", "headers", "seconds"), WAITS.values(), ids=WAITS)
def test_X2_the_wait_is_what_the_provider_asks_for(
    openai_server: OpenAIServer,
    body: Any,
    headers: dict[str, str],
    seconds: float,
) -> None:
    assert refused(openai_server, 429, body, headers).retry_after_seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({"detail": "Nothing of 9 kg is carried."}, "Nothing of 9 kg is carried.", id="fastapi"),
        pytest.param({"error": "Nothing of 9 kg is carried."}, "Nothing of 9 kg is carried.", id="a-text-as-error"),
        pytest.param({"message": "Nothing of 9 kg is carried."}, "Nothing of 9 kg is carried.", id="a-bare-message"),
        pytest.param(openai("Nothing of 9 kg is carried."), "Nothing of 9 kg is carried.", id="openai"),
        pytest.param(
            {"detail": [{"loc": ["body", "n"], "msg": "too heavy"}]},
            '[{"loc": ["body", "n"], "msg": "too heavy"}]',
            id="a-list-of-details",
        ),
    ],
)
def test_X2_a_message_is_the_servers_own_whatever_form_its_error_has(
    openai_server: OpenAIServer, body: Any, message: str
) -> None:
    error = refused(openai_server, 422, body)
    assert (error.failure, error.message) == (WRONG, message)
