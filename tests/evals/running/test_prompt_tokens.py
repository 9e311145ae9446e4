"""What the requests of a trial take in tokens (rule E6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.running.agents import CATALOG, calls
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.running.prompt_tokens import Meter, PromptCounter
from toolbelt.providers.chat import Usage

SHELF = ToolRenderer(CATALOG, EstimateCounter())
READ, LIST, PING = "files/read", "files/list", "net/ping"
OPENING = Conversation(({"role": "user", "content": "Do it, please."},))
ANSWERED = OPENING.extended(calls("list"), ("a.txt",))


def meter_of(*offers: Offer) -> Meter:
    meter = Meter(PromptCounter(EstimateCounter()))
    for number, offer in enumerate(offers):
        meter.count(offer, ANSWERED if number else OPENING)
    return meter


def test_E6_the_conversation_is_counted_whole_at_every_request() -> None:
    offer = SHELF.offer([READ, LIST])
    meter = Meter(PromptCounter(EstimateCounter()))
    first = meter.count(offer, OPENING)
    second = meter.count(offer, ANSWERED)
    whole = sum(PromptCounter(EstimateCounter()).count_latest(one) for one in (OPENING, ANSWERED))
    assert (first, second) == (first, offer.tokens + whole)
    assert meter.own_prompt_tokens == first + second
    assert meter.definition_tokens == [offer.tokens, offer.tokens]


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        pytest.param([READ], [READ], None, id="nothing-changed"),
        pytest.param([READ], [READ, LIST], [READ], id="appended-keeps-the-definitions-before"),
        pytest.param([READ, LIST], [LIST, READ], [], id="another-order-keeps-nothing"),
        pytest.param([READ, LIST, PING], [READ, PING], [READ], id="one-taken-out-keeps-what-is-before-it"),
        pytest.param([], [READ], [], id="the-first-tools"),
    ],
)
def test_E6_a_change_of_the_tools_invalidates_what_stands_behind_it(
    before: list[str], now: list[str], kept: list[str] | None
) -> None:
    first = SHELF.offer(before)
    meter = meter_of(first, SHELF.offer(now))
    prompt = meter_of(first).own_prompt_tokens
    assert meter.invalidated_tokens == (0 if kept is None else prompt - SHELF.offer(kept).tokens)


OFFERS = st.lists(st.lists(st.sampled_from([READ, LIST, PING]), unique=True), min_size=1, max_size=6)


@given(OFFERS)
def test_E6_what_is_repeated_is_every_prompt_but_the_last(offers: list[list[str]]) -> None:
    meter = Meter(PromptCounter(EstimateCounter()))
    conversation, prompts = OPENING, []
    for ids in offers:
        prompts.append(meter.count(SHELF.offer(ids), conversation))
        conversation = conversation.extended(calls("list"), ("a.txt",))
    assert meter.repeated_tokens == sum(prompts[:-1])
    assert 0 <= meter.invalidated_tokens <= meter.repeated_tokens <= meter.own_prompt_tokens


@pytest.mark.parametrize(
    ("usages", "prompt", "read"),
    [
        pytest.param([], None, None, id="nothing-answered"),
        pytest.param([Usage(10, 1, 5), Usage(20, 2, 0)], 30, 5, id="all-reported"),
        pytest.param([Usage(10, 1, 5), Usage(20, 2)], 30, None, id="one-says-nothing-of-its-cache"),
        pytest.param([Usage(10, 1), Usage()], None, None, id="one-says-nothing"),
    ],
)
def test_E6_a_figure_that_is_not_reported_of_all_is_unknown(
    usages: list[Usage], prompt: int | None, read: int | None
) -> None:
    meter = Meter(PromptCounter(EstimateCounter()), usages=usages)
    assert (meter.usage.prompt_tokens, meter.usage.cached_read_tokens) == (prompt, read)


def test_E6_what_is_turned_away_is_no_request_and_its_size_is_known() -> None:
    meter = Meter(PromptCounter(EstimateCounter()))
    large = SHELF.offer([READ, LIST, PING])
    meter.turn_away(large)
    assert (meter.first_definition_tokens, meter.definition_tokens, meter.own_prompt_tokens) == (large.tokens, [], 0)
    assert (meter.surfaced, meter.usage.prompt_tokens) == (frozenset(), None)


def test_E6_what_outgrows_the_window_leaves_the_counts_of_the_requests_made() -> None:
    small, large = SHELF.offer([READ]), SHELF.offer([READ, LIST, PING])
    meter, alone = (Meter(PromptCounter(EstimateCounter())) for _ in range(2))
    for one in (meter, alone):
        one.count(small, OPENING)
    meter.turn_away(large)
    assert vars(meter) == {**vars(alone), "prompts": meter.prompts}
    assert (meter.first_definition_tokens, meter.invalidated_tokens, meter.repeated_tokens) == (small.tokens, 0, 0)
