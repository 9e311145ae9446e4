"""Waits and limits in the headers of answers (rule X2)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from toolbelt.providers.rate_limits import find_hold, find_wait, parse_reset


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12ms", 0.012),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("1s", 1.0),
        ("2m59.56s", 179.56),
        ("60", 60.0),
        ("0", 0.0),
        ("-1", None),
        ("", None),
        ("soon", None),
        ("1s later", None),
        ("nan", None),
    ],
)
def test_X2_a_reset_is_a_duration_or_a_number(text: str, seconds: float | None) -> None:
    assert parse_reset(text) == (None if seconds is None else pytest.approx(seconds))


def _limits(kind: str, remaining: str, reset: str, limit: str = "100") -> dict[str, str]:
    return {
        f"x-ratelimit-limit-{kind}": limit,
        f"x-ratelimit-remaining-{kind}": remaining,
        f"x-ratelimit-reset-{kind}": reset,
    }


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, 0.0, id="nothing-said"),
        pytest.param(_limits("requests", "3", "6m0s"), 0.0, id="something-left"),
        pytest.param(_limits("requests", "0", "6m0s"), 360.0, id="no-requests-left"),
        pytest.param(_limits("tokens", "0", "12ms"), 0.012, id="no-tokens-left"),
        pytest.param(_limits("requests", "0", "1s") | _limits("tokens", "0", "2s"), 2.0, id="the-longer-of-two"),
        pytest.param(_limits("tokens", "-1", "0", "-1"), 0.0, id="azure-not-limited"),
        pytest.param(_limits("tokens", "0", "0", "0"), 0.0, id="azure-not-known"),
        pytest.param({"x-ratelimit-remaining-requests": "0"}, 0.0, id="no-reset"),
    ],
)
def test_X2_what_is_used_up_is_waited_for_until_its_reset(headers: dict[str, str], seconds: float) -> None:
    assert find_hold(headers) == pytest.approx(seconds)


def test_X2_a_date_that_has_passed_is_no_wait() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert find_wait({"retry-after": "Thu, 01 Jan 2026 00:00:00 GMT"}, now) == 0.0
