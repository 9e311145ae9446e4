"""Failures by what providers really say, and messages without keys (rule E4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.providers.chat import Failure
from toolbelt.providers.provider_errors import (
    MESSAGE_LENGTH,
    clean_message,
    make_model_error,
)
from toolbelt.providers.rate_limits import parse_retry_after


class APIConnectionError(Exception):
    """Of the name that litellm gives whatever it does not understand."""

    status_code = 500


class Timeout(Exception):  # noqa: N818  its name is what counts
    """Likewise."""


OVERFLOWS = {
    "openai": (400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000."),
    "anthropic": (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "gemini": (400, "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576)."),
    "bedrock": (400, "Input is too long for requested model."),
    "llama.cpp": (400, "the request exceeds the available context size, try increasing it"),
    "llama.cpp-older": (500, "the request exceeds the available context size"),
    "groq": (413, "Request Entity Too Large"),
    "groq-in-words": (400, "Please reduce the length of the messages or completion."),
    "together": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must fit the model's context length"),
    "vllm": (400, "The decoder prompt (length 9000) is longer than the maximum model length; max context length 8192"),
    "openrouter": (200, "This endpoint's maximum context length is 8192 tokens."),
}
OTHERS = {
    "a-rate-limit-that-speaks-of-tokens": (
        429,
        "Limit 30000 tokens, context window requested 35000",
        Failure.RATE_LIMIT,
    ),
    "azure-filter": (400, "The response was filtered due to Azure's content management policy.", Failure.REFUSED),
    "gemini-key": (400, "API key not valid. Please pass a valid API key.", Failure.AUTHENTICATION),
    "openrouter-model": (400, "foo/bar is not a valid model ID", Failure.NOT_FOUND),
    "plain-400": (400, "messages.0.role: unexpected value", Failure.BAD_REQUEST),
    "422": (422, "tools.0: field required", Failure.BAD_REQUEST),
    "401": (401, "context length", Failure.AUTHENTICATION),
    "403": (403, "not for you", Failure.AUTHENTICATION),
    "404": (404, "no route", Failure.NOT_FOUND),
    "408": (408, "slow", Failure.TIMEOUT),
    "502": (502, "bad gateway", Failure.UNAVAILABLE),
    "503": (503, "overloaded", Failure.UNAVAILABLE),
    "529": (529, "overloaded_error", Failure.UNAVAILABLE),
    "200-that-is-no-answer": (200, "Expecting value: line 1", Failure.BROKEN_ANSWER),
    "302": (302, "moved", Failure.BROKEN_ANSWER),
    "nothing-came": (None, "Connection error.", Failure.UNAVAILABLE),
}


@pytest.mark.parametrize(("status", "said"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_E4_an_overflow_is_one_however_it_is_worded(status: int, said: str) -> None:
    assert make_model_error(APIConnectionError(said), status, (), 0).failure is Failure.CONTEXT_OVERFLOW


@pytest.mark.parametrize(("status", "said", "failure"), OTHERS.values(), ids=OTHERS)
def test_E4_the_status_of_the_wire_decides_where_words_do_not(status: int, said: str, failure: Failure) -> None:
    assert make_model_error(APIConnectionError(said), status, (), 0).failure is failure


def test_E4_a_class_that_says_more_than_the_status_wins() -> None:
    assert make_model_error(Timeout("reading"), 200, (), 0).failure is Failure.TIMEOUT


def test_any_exception_at_all_becomes_an_error() -> None:
    for error in (KeyError("x"), RuntimeError(), ZeroDivisionError("?"), RecursionError()):
        made = make_model_error(error, None, (), 1.5)
        assert made.failure is Failure.UNAVAILABLE
        assert made.message
        assert made.latency_seconds == 1.5


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - Slow down.", "Slow down."),
        ("litellm.BadRequestError: AnthropicException - no\n good", "no good"),
        ("Key sk-proj-abcDEF123_456-789 is off", "Key [removed] is off"),
        ("Incorrect API key: sk-test********cdef.", "Incorrect API key: [removed]"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: [removed]"),
        (
            "GET https://x.example/m?key=AIzaSyA-1234567890abcdefghijklmnopqrstu failed",
            "GET https://x.example/m?key=[removed] failed",
        ),
        ("cannot reach http://me:pass@host/v1", "cannot reach http://[removed]host/v1"),
        ("id 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "id [removed]"),
        ("the model gpt-4o-mini-2024-07-18 is not there", "the model gpt-4o-mini-2024-07-18 is not there"),
        ("my odd secret is in here", "my [removed] is in here"),
        ("", ""),
    ],
)
def test_messages_lose_keys_and_class_names_and_nothing_else(text: str, clean: str) -> None:
    assert clean_message(text, ["odd secret"]) == clean


@given(st.text(), st.text(min_size=8).filter(lambda key: key.strip() == key and "[removed]" not in key))
def test_a_key_in_use_is_never_shown(text: str, key: str) -> None:
    shown = clean_message(f"{text} {key} {text}", [key])
    assert key not in shown or key in clean_message(f"{text} {text}") or key in "[removed]"
    assert len(shown) <= MESSAGE_LENGTH
    assert len(shown.splitlines()) <= 1


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        ("0", 0.0),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30.0),
        ("Wed, 31 Dec 2025 23:59:30 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Thu, 99 Foo 2026", None),
    ],
)
def test_E4_retry_after_is_seconds_or_a_date(text: str, seconds: float | None) -> None:
    assert parse_retry_after(text, NOW) == seconds
    assert timedelta(seconds=seconds or 0) >= timedelta(0)


def test_only_what_may_pass_says_when_to_come_back() -> None:
    error = APIConnectionError("x")
    error.litellm_response_headers = {"Retry-After": "9"}  # type: ignore[attr-defined]
    assert make_model_error(error, 429, (), 0).retry_after_seconds == 9
    assert make_model_error(error, 503, (), 0).retry_after_seconds == 9
    assert make_model_error(error, 401, (), 0).retry_after_seconds is None


QUOTAS = {
    "openai": (429, "You exceeded your current quota, please check your plan and billing details.", Failure.QUOTA),
    "openai-code": (429, '{"error": {"message": "No.", "code": "insufficient_quota"}}', Failure.QUOTA),
    "anthropic": (400, "Your credit balance is too low to access the Anthropic API.", Failure.QUOTA),
    "deepseek": (402, "Insufficient Balance", Failure.QUOTA),
    "openrouter": (402, "This request requires more credits, or fewer max_tokens.", Failure.QUOTA),
    "not-active": (429, "Your account is not active, please check your billing details.", Failure.QUOTA),
    "gemini-of-a-minute": (
        429,
        "You exceeded your current quota.\n* Quota exceeded for metric: requests, limit: 15\nPlease retry in 34s.",
        Failure.RATE_LIMIT,
    ),
    "of-a-minute": (429, "Rate limit reached for requests per minute.", Failure.RATE_LIMIT),
    "an-answer-about-money": (200, "Unexpected: insufficient funds", Failure.BROKEN_ANSWER),
}


@pytest.mark.parametrize(("status", "said", "failure"), QUOTAS.values(), ids=QUOTAS)
def test_E4_what_is_used_up_is_for_good_and_what_is_too_fast_passes(status: int, said: str, failure: Failure) -> None:
    made = make_model_error(APIConnectionError(said), status, (), 0)
    assert made.failure is failure
    assert (failure.is_for_good, failure.is_passing) == (failure is Failure.QUOTA, failure is not Failure.QUOTA)


@pytest.mark.parametrize(
    "innards",
    [
        "Traceback (most recent call last):\n  File '/x/litellm/y.py', line 6, in z\nKeyError: 'x'\n\nreceived_args={}",
        "Received Model Group=gpt-4o\nAvailable Model Group Fallbacks=None",
        "received_args={'content': 'your context window'}",
        "LiteLLM Retried: 1 times, LiteLLM Max Retries: 2",
    ],
)
def test_E4_neither_tracebacks_nor_the_books_of_litellm_are_shown_or_read(innards: str) -> None:
    made = make_model_error(APIConnectionError(f"Invalid response object {innards}"), 200, (), 0)
    assert (made.failure, made.message) == (Failure.BROKEN_ANSWER, "Invalid response object")
    assert make_model_error(APIConnectionError(innards), 200, (), 0).message == "APIConnectionError"
