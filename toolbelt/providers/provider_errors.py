"""Classifies what a provider, the network or litellm raises, as `ModelError`s."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType

from toolbelt.providers.chat import Failure, ModelError
from toolbelt.providers.provider_texts import ACCOUNT_TEXTS, TEXTS, ProviderText
from toolbelt.providers.rate_limits import find_hold, find_may_retry, find_wait

MESSAGE_LENGTH = 300
"""Most characters of a provider's message that are stored."""
_LONGEST_BODY = 100_000
"""Bytes of an error that are looked at."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_FAILURE_OF_STATUS: Mapping[int, Failure] = MappingProxyType(
    {
        401: Failure.AUTHENTICATION,
        402: Failure.QUOTA,
        403: Failure.AUTHENTICATION,
        404: Failure.NOT_FOUND,
        408: Failure.TIMEOUT,
        409: Failure.UNAVAILABLE,  # a conflict or a lock, which passes; SDKs ask again
        413: Failure.CONTEXT_OVERFLOW,
        423: Failure.UNAVAILABLE,
        424: Failure.UNAVAILABLE,  # TGI and Bedrock: the generation failed
        425: Failure.UNAVAILABLE,  # too early
        429: Failure.RATE_LIMIT,
        498: Failure.UNAVAILABLE,  # Groq: its flexible tier is full
        499: Failure.UNAVAILABLE,  # a proxy saw its own client hang up
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
_LIMIT_AND_REQUESTED = re.compile(r"\blimit:? ([\d,]{0,30}\d),(?: used:? [\d,]{1,30})? requested:? ([\d,]{0,30}\d)")
"""OpenAI's and Groq's account of a rate limit: what is requested at once and above the limit never passes."""
_RETRY_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
"""Of `google.rpc.RetryInfo`: Gemini sends no `Retry-After`."""
_INTERNALS = re.compile(
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
    error: BaseException,
    status: int | None,
    secrets: Iterable[str],
    latency_seconds: float,
    headers: Mapping[str, str] = _NO_HEADERS,
) -> ModelError:
    """Classify `error` as a `ModelError`.

    Args:
        error: Whatever litellm raised.
        status: The HTTP status as the wire saw it; `None` if it saw none.
        secrets: Keys in use, which must not be shown.
        latency_seconds: How long it took.
        headers: The answer's, as the wire saw them; names in lower case, or a mapping that ignores case.
    """
    text = _without_internals(str(getattr(error, "message", None) or error or type(error).__name__))
    if "onnection error" in text and (cause := _root(error)) is not error:
        text = f"{text} {cause}"  # refused, reset, no such host: the outer ones do not say
    named = next((known for kind in type(error).__mro__ if (known := _FAILURE_OF_CLASS.get(kind.__name__))), None)
    if status is None and named in (None, Failure.UNAVAILABLE, Failure.RATE_LIMIT):
        # A provider that is not asked over our connections.
        status_code = getattr(error, "status_code", None)
        status = status_code if isinstance(status_code, int) and status_code not in (0, 500) else None
    message, codes = text, _code(error)
    if body := _find_body(error):  # newer SDKs put of it into their own text what has OpenAI's form, and no more
        text = body[:_LONGEST_BODY]
        message, more = _read_error(text)
        codes = f"{codes} {more}"
    failure = _find_failure(named, status, f"{message} {codes}".lower())
    message = clean_message(message, secrets) or type(error).__name__
    sources = (headers, *_headers_of(error))
    return _put_together(failure, message, sources, text, latency_seconds)


def make_answer_error(
    status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str], latency_seconds: float
) -> ModelError:
    """Classify an answer that is an error, as its server sent it.

    Args:
        status: The HTTP status; 200 where an error came with it.
        headers: The answer's; names in lower case, or a mapping that ignores case.
        body: The answer's.
        secrets: Keys in use, which must not be shown.
        latency_seconds: How long it took.
    """
    text = body[:_LONGEST_BODY].decode(errors="replace")
    message, codes = _read_error(text)
    if status < 400:
        status = _find_status(codes) or status
    failure = _find_failure(None, status, f"{message} {codes}".lower())
    shown = clean_message(message, secrets) or f"HTTP status {status}"
    return _put_together(failure, shown, (headers,), text, latency_seconds)


def _put_together(
    failure: Failure, message: str, sources: Sequence[Mapping[str, str]], text: str, latency_seconds: float
) -> ModelError:
    may_pass = next((answer for headers in sources if (answer := find_may_retry(headers)) is not None), None)
    if may_pass is True and failure is not Failure.BAD_REQUEST and not failure.is_passing:
        may_pass = None  # no request of its kind ever passes, whatever a gateway in between says
    hold = max(map(find_hold, sources))
    wait = _retry_after(sources, text) if failure.is_passing or may_pass else None
    return ModelError(failure, message, wait, latency_seconds, hold_seconds=hold, may_pass=may_pass)


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
    line = " ".join(remove_secrets(_without_internals(text), secrets).split())
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


def _without_internals(text: str) -> str:
    return _INTERNALS.split(text, maxsplit=1)[0]


def _code(error: BaseException) -> str:
    """The provider's own error code, if the error's text does not contain it."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    words = [getattr(error, "code", None), getattr(error, "type", None)]
    if isinstance(inner, dict):
        words += [inner.get("code"), inner.get("type")]
    return " ".join(word for word in words if isinstance(word, str))


def _root(error: BaseException) -> BaseException:
    *_, root = _chain(error)
    return root


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it came from, ten at most."""
    inner: BaseException | None = error
    for _ in range(10):
        if inner is None:
            return
        yield inner
        inner = inner.__cause__ or inner.__context__


def _find_body(error: BaseException) -> str:
    """The body of the answer that is an error, as the server sent it; empty where no exception has it."""
    for each in _chain(error):
        with suppress(Exception):  # a body that was never read, or is no text
            if text := each.response.text.strip():  # type: ignore[attr-defined]
                return str(text)
    return ""


def _find_failure(named: Failure | None, status: int | None, words: str) -> Failure:
    if (failure := _failure_of_words(ACCOUNT_TEXTS, status, words)) is not None:
        too_much = failure is Failure.RATE_LIMIT and _is_above_limit(words)
        return Failure.REQUEST_TOO_LARGE if too_much else failure
    if status == 429:
        return Failure.REQUEST_TOO_LARGE if _is_above_limit(words) else Failure.RATE_LIMIT
    if named in _CLASSES_BEFORE_STATUS:
        return named
    return _failure_of_words(TEXTS, status, words) or _failure_of_status(status) or named or Failure.UNAVAILABLE


def _failure_of_words(texts: Iterable[ProviderText], status: int | None, words: str) -> Failure | None:
    return next((text.failure for text in texts if text.means(status, words)), None)


def _is_above_limit(words: str) -> bool:
    stated = _LIMIT_AND_REQUESTED.search(words)
    if stated is None:
        return False
    limit, requested = (int(number.replace(",", "")) for number in stated.groups())
    return requested > limit


def _find_status(codes: str) -> int | None:
    """The status that is the code of an error which came with status 200; `None` for one that says too little."""
    found = re.match(r"([45]\d\d)\b", codes)
    status = None if found is None else int(found[1])
    return status if status is not None and (status in _FAILURE_OF_STATUS or status >= 500) else None


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
    waits = (find_wait(headers, now) for headers in sources)
    if (wait := next((wait for wait in waits if wait is not None), None)) is not None:
        return wait
    stated = _RETRY_DELAY.search(text)
    return None if stated is None else float(stated[1])
