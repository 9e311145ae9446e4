"""What the headers of an answer say of limits: how long to wait, and whether to ask again (rule X2).

`retry-after-ms`, `Retry-After` and `x-should-retry` are read as OpenAI's and Anthropic's SDKs read them. Resets of
`x-ratelimit-…` are durations such as `12ms` and `6m0s` (OpenAI, Groq), or a number of seconds. Azure sends -1 for what
it does not limit, and 0 for a reset that it does not know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_KINDS = ("requests", "tokens")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RETRY = {"true": True, "false": False}


def find_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the headers ask to wait before the next attempt; `None` if they do not say.

    Args:
        headers: Names in lower case, or a mapping that ignores case.
        now: The time, for dates.
    """
    if (milliseconds := parse_retry_after(headers.get("retry-after-ms", ""), now)) is not None:
        return milliseconds / 1000
    return parse_retry_after(headers.get("retry-after", ""), now)


def find_may_retry(headers: Mapping[str, str]) -> bool | None:
    """Whether the server says that asking again may help; `None` if it does not say."""
    return _RETRY.get(headers.get("x-should-retry", "").strip().lower())


def find_hold(headers: Mapping[str, str]) -> float:
    """Seconds until something is left of a limit that an answer reports as used up; 0 where none is.

    Args:
        headers: Names in lower case, or a mapping that ignores case.
    """
    return max(_find_hold(headers, kind) for kind in _KINDS)


def _find_hold(headers: Mapping[str, str], kind: str) -> float:
    remaining = headers.get(f"x-ratelimit-remaining-{kind}")
    if remaining is None or remaining.strip() != "0":
        return 0.0
    limit = headers.get(f"x-ratelimit-limit-{kind}", "").strip()
    if limit in ("0", "-1"):
        return 0.0
    return parse_reset(headers.get(f"x-ratelimit-reset-{kind}", "")) or 0.0


def parse_reset(text: str) -> float | None:
    """Seconds of `12ms`, `6m0s` or a number; `None` if it is none of these."""
    text = text.strip()
    try:
        seconds = float(text)
    except ValueError:
        parts = list(_DURATION.finditer(text))
        if not parts or "".join(part[0] for part in parts) != text:
            return None
        seconds = math.fsum(float(part[1]) * _SECONDS[part[2]] for part in parts)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def parse_retry_after(text: str, now: datetime) -> float | None:
    """Seconds from now of a `Retry-After`, which is a number or a date; `None` if it is neither."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = parsedate_to_datetime(text)
            seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
        except (ValueError, OverflowError):  # no date, or one beyond the calendar
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
