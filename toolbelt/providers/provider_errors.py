"""Classifies what a provider, the network or litellm raises, as `ModelError`s."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from toolbelt.providers.chat import Failure, ModelError

MESSAGE_LENGTH = 300
"""Most characters of a provider's message that are stored."""
_LONGEST_BODY = 100_000
"""Bytes of an error that are looked at."""

_FAILURE_OF_STATUS: Mapping[int, Failure] = MappingProxyType(
    {
        401: Failure.AUTHENTICATION,
        402: Failure.QUOTA,
        403: Failure.AUTHENTICATION,
        404: Failure.NOT_FOUND,
        408: Failure.TIMEOUT,
        413: Failure.CONTEXT_OVERFLOW,
        429: Failure.RATE_LIMIT,
    }
)
_FAILURE_OF_CLASS: Mapping[str, Failure] = MappingProxyType(
    # litellm's and the OpenAI SDK's, by name: this module does not import them.
    {
        "Timeout": Failure.TIMEOUT,
        "APITimeoutError": Failure.TIMEOUT,
        "TimeoutError": Failure.TIMEOUT,
        "ContextWindowExceededError": Failure.CONTEXT_OVERFLOW,
        "ContentPolicyViolationError": Failure.REFUSED,
        "RateLimitError": Failure.RATE_LIMIT,
        "AuthenticationError": Failure.AUTHENTICATION,
        "PermissionDeniedError": Failure.AUTHENTICATION,
        "NotFoundError": Failure.NOT_FOUND,
        "APIResponseValidationError": Failure.BROKEN_ANSWER,
        "JSONSchemaValidationError": Failure.BROKEN_ANSWER,
        "BadRequestError": Failure.BAD_REQUEST,
        "UnprocessableEntityError": Failure.BAD_REQUEST,
        "APIConnectionError": Failure.UNAVAILABLE,
        "APIStatusError": Failure.UNAVAILABLE,
        "APIError": Failure.UNAVAILABLE,
    }
)
_CLASSES_BEFORE_STATUS = frozenset({Failure.TIMEOUT, Failure.CONTEXT_OVERFLOW, Failure.REFUSED})
"""Failures that the exception's class shows better than the status: an endless body with status 200, some of 400."""


@dataclass(frozen=True, slots=True)
class _Wording:
    """Texts of providers, in lower case, for errors that neither status nor class explains.

    Attributes:
        failure: What the text means.
        pattern: What it contains.
        statuses: At which the text counts; `None` where the wire saw none.
    """

    failure: Failure
    pattern: re.Pattern[str]
    statuses: frozenset[int | None]

    def means(self, status: int | None, words: str) -> bool:
        """Whether a text with this status has this meaning."""
        return status in self.statuses and self.pattern.search(words) is not None


_WORDS_COUNT_AT = frozenset({None, 200, 400, 404, 413, 422, 500})
"""429 is not among them, as messages on rate limits also mention tokens."""
_ACCOUNT_WORDINGS = (
    # Limits of the account. They come first: their texts mention tokens and lengths, and so look like overflows.
    _Wording(
        Failure.QUOTA,
        re.compile(
            r"insufficient[_ ](quota|balance|credits?|funds)|billing_hard_limit"
            r"|(billing|account)( is)?[_ ]not[_ ]active|credit balance is too low|(out of|no) credits\b"
            r"|exceeded_current_quota"
            r"|quotaid\W+\w*perday|free-models-per-day|daily (free allocation|quota)"  # until tomorrow
            # Gemini says the same of a minute's limit, and then which one.
            r"|exceeded your current quota(?!.*(quota exceeded for metric|retry in|retrydelay|per ?minute))",
            re.DOTALL,
        ),
        frozenset({None, 400, 403, 429}),
    ),
    _Wording(
        Failure.REQUEST_TOO_LARGE,
        re.compile(r"request too large for|extra usage is required for long context"),
        frozenset({None, 400, 413, 429}),
    ),
    _Wording(Failure.REQUEST_TOO_LARGE, re.compile("rate_limit"), frozenset({413})),
    _Wording(
        Failure.RATE_LIMIT,
        re.compile(r"too many tokens, please wait|too many requests|throttl|rate[ _-]?limit"),
        frozenset({None, 200, 400}),
    ),
)
_WORDINGS = (
    _Wording(
        Failure.CONTEXT_OVERFLOW,
        re.compile(
            r"context_length_exceeded|(maximum|max|model'?s) context (length|window|size)"
            r"|context[ _](window|limit|length)"
            r"|(exceed\w*|available) (the |your )?(available |maximum |max )*context|exceed_context_size"
            r"|prompt[ _](is )?too[ _]long|input is too long|input length .* exceed|too many (input |total )?tokens"
            r"|(input|prompt|requested) token count .*exceed|reduce the length of (the|your) (messages|prompt|input)"
            r"|tokens? .* (exceeds?|larger than|greater than) .*(n_ctx|max_model_len|maximum)"
            r"|maximum prompt length is|exceeded model token limit|range of input length should be"  # xAI, Kimi, Qwen
            r"|longer than the maximum model length|max_tokens must be at least 1, got (-\d|0\b)"  # vLLM
            r"|.max_new_tokens. must be <=|.inputs. must have less than \d+ tokens"  # TGI, Together
            r"|prompt length \(.*(exceeds maximum|should not exceed)|default_max_tokens \(-?\d+\)"  # TensorRT-LLM
            r"|n_keep \(?\d+\)? >= n_ctx"  # LM Studio
        ),
        _WORDS_COUNT_AT,
    ),
    _Wording(
        Failure.BAD_REQUEST,  # llama.cpp's server, as it was started, takes no tools
        re.compile(r"requires --jinja|does not support tool"),
        frozenset({500}),
    ),
    _Wording(
        Failure.REFUSED,
        re.compile(
            r"content_policy|content policy|content management policy|responsibleaipolicy|safety system"
            r"|content[_ ]filter|blocked (by|due to) .*(safety|polic)"
        ),
        _WORDS_COUNT_AT,
    ),
    _Wording(
        Failure.AUTHENTICATION,
        re.compile(r"(incorrect|invalid) api[ _]key|api[ _]key (not valid|is invalid)|api_key_invalid"),
        _WORDS_COUNT_AT,
    ),
    _Wording(
        Failure.NOT_FOUND,
        re.compile(
            r"model_not_found|not a valid model|(no such|unknown) model|model .{0,100}(not found|does not exist)"
        ),
        _WORDS_COUNT_AT,
    ),
)
_LIMIT_AND_REQUESTED = re.compile(r"\blimit:? ([\d,]*\d),(?: used:? [\d,]+)? requested:? ([\d,]*\d)")
"""OpenAI's and Groq's account of a rate limit: what is requested at once and above the limit never passes."""
_RETRY_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
"""Of `google.rpc.RetryInfo`: Gemini sends no `Retry-After`."""
_INNARDS = re.compile(
    r"(Traceback \(most recent call last\)|Received Model Group|Available Model Group|LiteLLM Retried|received_args=)"
)
"""The start of litellm's own trace of its work, which may hold the whole answer of the server."""
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?:\s*[:-]\s*|\s+-\s+))+")
_KEY_LIKE = re.compile(
    r"(?:\b(?:sk|pk|rk|gsk|xai|hf|key|nvapi|r8|AIza|AKIA|ya29)[-_.]?[\w*.-]{8,})"  # as providers make them
    r"|(?:\bBearer\s+\S+)|(?:(?<=://)[^/\s@]+@)|(?:(?<=[?&]key=)[^&\s]+)"
    r"|(?:\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,})"  # and whatever else is long and random
)
_REMOVED = "[removed]"
_LONG_SECRET = 8
"""Characters; a shorter secret may well be a part of other words."""


def make_model_error(
    error: BaseException, status: int | None, secrets: Iterable[str], latency_seconds: float
) -> ModelError:
    """Classify `error` as a `ModelError`.

    Args:
        error: Whatever litellm raised.
        status: The HTTP status as the wire saw it; `None` if it saw none.
        secrets: Keys in use, which must not be shown.
        latency_seconds: How long it took.
    """
    text = _without_innards(str(getattr(error, "message", None) or error or type(error).__name__))
    if "onnection error" in text and (cause := _root(error)) is not error:
        text = f"{text} {cause}"  # refused, reset, no such host: the outer ones do not say
    named = next((known for kind in type(error).__mro__ if (known := _FAILURE_OF_CLASS.get(kind.__name__))), None)
    if status is None and named in (None, Failure.UNAVAILABLE, Failure.RATE_LIMIT):
        # A provider that is not asked over our connections.
        status_code = getattr(error, "status_code", None)
        status = status_code if isinstance(status_code, int) and status_code not in (0, 500) else None
    failure = _find_failure(named, status, f"{text} {_code(error)}".lower())
    message = clean_message(text, secrets) or type(error).__name__
    wait = _retry_after(_headers_of(error), text) if failure.is_passing else None
    return ModelError(failure, message, wait, latency_seconds)


def make_answer_error(
    status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str], latency_seconds: float
) -> ModelError:
    """Classify an answer that is an error, as its server sent it.

    Args:
        status: The HTTP status; 200 where an error came with it.
        headers: The answer's.
        body: The answer's.
        secrets: Keys in use, which must not be shown.
        latency_seconds: How long it took.
    """
    text = body[:_LONGEST_BODY].decode(errors="replace")
    message, codes = _read_error(text)
    failure = _find_failure(None, status, f"{message} {codes}".lower())
    wait = _retry_after(({name.lower(): value for name, value in headers.items()},), text)
    shown = clean_message(message, secrets) or f"HTTP status {status}"
    return ModelError(failure, shown, wait if failure.is_passing else None, latency_seconds)


def _read_error(text: str) -> tuple[str, str]:
    """A server's message, and its codes and details; the whole text where it has none of the known forms."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    data = data[0] if isinstance(data, list) and data else data  # Gemini's form beside OpenAI's
    error = data.get("error", data) if isinstance(data, dict) else None
    if isinstance(error, str):
        return error, str(data.get("error_type", "")) if isinstance(data, dict) else ""
    if not isinstance(error, dict):
        return text, ""
    message = next((error[key] for key in ("message", "detail", "msg") if error.get(key)), None)
    codes = " ".join(str(error[key]) for key in ("code", "type", "status", "details") if error.get(key))
    return (text if message is None else message if isinstance(message, str) else json.dumps(message)), codes


def clean_message(text: str, secrets: Iterable[str] = ()) -> str:
    """A provider's message on one line, without keys, the names of classes before it and tracebacks after it."""
    line = " ".join(remove_secrets(_without_innards(text), secrets).split())
    line = _KEY_LIKE.sub(_REMOVED, _PREFIX.sub("", line))
    return line if len(line) <= MESSAGE_LENGTH else f"{line[: MESSAGE_LENGTH - 1]}…"


def remove_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` without the literal `secrets`; a short one is removed only where it is no part of a longer word."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret not in text:
            continue
        if len(secret) >= _LONG_SECRET:
            text = text.replace(secret, _REMOVED)
        else:
            text = re.sub(rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])", _REMOVED, text)
    return text


def _without_innards(text: str) -> str:
    return _INNARDS.split(text, maxsplit=1)[0]


def _code(error: BaseException) -> str:
    """The provider's own error code, if the error's text does not contain it."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    words = [getattr(error, "code", None), getattr(error, "type", None)]
    if isinstance(inner, dict):
        words += [inner.get("code"), inner.get("type")]
    return " ".join(word for word in words if isinstance(word, str))


def _root(error: BaseException) -> BaseException:
    for _ in range(10):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error


def _find_failure(named: Failure | None, status: int | None, words: str) -> Failure:
    if (failure := _failure_of_words(_ACCOUNT_WORDINGS, status, words)) is not None:
        too_much = failure is Failure.RATE_LIMIT and _is_above_limit(words)
        return Failure.REQUEST_TOO_LARGE if too_much else failure
    if status == 429:
        return Failure.REQUEST_TOO_LARGE if _is_above_limit(words) else Failure.RATE_LIMIT
    if named in _CLASSES_BEFORE_STATUS:
        return named
    return _failure_of_words(_WORDINGS, status, words) or _failure_of_status(status) or named or Failure.UNAVAILABLE


def _failure_of_words(wordings: Iterable[_Wording], status: int | None, words: str) -> Failure | None:
    return next((wording.failure for wording in wordings if wording.means(status, words)), None)


def _is_above_limit(words: str) -> bool:
    stated = _LIMIT_AND_REQUESTED.search(words)
    if stated is None:
        return False
    limit, requested = (int(number.replace(",", "")) for number in stated.groups())
    return requested > limit


def _failure_of_status(status: int | None) -> Failure | None:
    if status is None:
        return None
    if status < 400:
        return Failure.BROKEN_ANSWER  # it was answered, and what came was no answer
    if status >= 500 and status != 501:  # 501: the server has no such function, and never will
        return Failure.UNAVAILABLE
    return _FAILURE_OF_STATUS.get(status, Failure.BAD_REQUEST)


def _headers_of(error: BaseException) -> Iterator[Mapping[str, str]]:
    """The headers of the answer that an exception of litellm's or the SDK's is about."""
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        try:
            yield {str(name).lower(): str(value) for name, value in dict(headers or {}).items()}
        except (TypeError, ValueError):
            continue


def _retry_after(sources: Iterable[Mapping[str, str]], text: str) -> float | None:
    """Seconds that the headers ask to wait, or, as Gemini does, the body."""
    now = datetime.now(UTC)
    for headers in sources:
        if (milliseconds := parse_retry_after(headers.get("retry-after-ms", ""), now)) is not None:
            return milliseconds / 1000
        if (wait := parse_retry_after(headers.get("retry-after", ""), now)) is not None:
            return wait
    stated = _RETRY_DELAY.search(text)
    return None if stated is None else float(stated[1])


def parse_retry_after(text: str, now: datetime) -> float | None:
    """Seconds from now of a `Retry-After`, which is a number or a date; `None` if it is neither."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
