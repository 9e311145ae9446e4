"""What is known of trials that were not scored (rule E4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.evals.analysis.summary.summarize import summarize

TOO_LONG: dict[str, Any] = {"outcome": "context_overflow", "reason": "It is too long.", "definition_tokens": 400}
AWAY: dict[str, Any] = {"outcome": "context_overflow", "reason": "No room.", "definition_tokens": 700, "requests": 0}
FAILED: dict[str, Any] = {"outcome": "error", "reason": "Nobody answered.", "definition_tokens": 100}


def test_E4_what_was_offered_counts_whether_it_was_scored_or_not() -> None:
    trials: list[dict[str, Any]] = [{"arm": 0}, {"arm": 0, **TOO_LONG}, {"arm": 0, **AWAY}, {"arm": 1, **AWAY}]
    some, none, nothing = summarize(database([("m", "full", ""), ("m", "b", ""), ("m", "c", "")], trials), RUN).arms
    assert (some.definition_tokens, some.offered_tokens) == (100, 400), "the first is of scored trials alone"
    assert (none.definition_tokens, none.offered_tokens) == (None, 700)
    assert nothing.offered_tokens is None


def test_E4_what_was_turned_away_is_told_from_what_the_provider_refused() -> None:
    trials = [TOO_LONG, AWAY, AWAY, FAILED | {"requests": 0}, {}]
    [arm] = summarize(database([("m", "full", "")], trials), RUN).arms
    assert (arm.outcomes["context_overflow"], arm.turned_away) == (3, 2), "what failed was not turned away"


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        pytest.param([], "", id="there-is-none"),
        pytest.param(["a", "b", "b"], "b", id="the-commonest"),
        pytest.param(["b", "a", "a", "b"], "b", id="of-equals-the-first"),
    ],
)
def test_E4_the_commonest_reason(reasons: list[str], told: str) -> None:
    trials = [TOO_LONG | {"reason": reason} for reason in reasons]
    trials += [FAILED | {"reason": f"{reason}!"} for reason in reasons]
    arm, other = summarize(database([("m", "full", ""), ("m", "b", "")], [{}, *trials]), RUN).arms
    assert (arm.overflow_reason, arm.error_reason) == (told, told and f"{told}!")
    assert (other.overflow_reason, other.error_reason) == ("", "")


@pytest.mark.parametrize(
    ("offers", "first"),
    [
        pytest.param([], None, id="nothing-was-asked"),
        pytest.param(["x", "x"], "x", id="always-the-same"),
        pytest.param(["x", "y"], None, id="not-always-the-same"),
    ],
)
def test_L15_the_first_offer_where_there_is_just_one(offers: list[str], first: str | None) -> None:
    requests = [{"trial": number, "offer": offer} for number, offer in enumerate(offers)]
    requests += [{"trial": 0, "request": 1, "offer": "later"}] if offers else []
    [arm] = summarize(database([("m", "full", "")], [{}, {}], requests), RUN).arms
    assert arm.first_offer == first
