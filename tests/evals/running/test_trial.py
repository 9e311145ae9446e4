"""One trial from the first request to its score (rules E3, E4 and E6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.evals.running.agents import Agent, Behaviour, calls, in_turn, make_case, make_trial_runner
from tests.wording import mentions
from toolbelt.evals.cases.case import Case, Matching
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.running.client import Unanswered
from toolbelt.evals.running.overflow import FitGuard, ModelLimits
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.records import Attempts, RequestRecord, TrialRecord
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.providers.chat import Failure, ModelError, Sampling, Usage

READ, LIST, PING = "files/read", "files/list", "net/ping"
READ_IT = ("read", {"path": "a.txt"})
TRIAL = Trial(7, 0, 0, 0)


def run(
    behaviour: Behaviour,
    case: Case,
    toolset: str = "full",
    *,
    kept: list[RequestRecord] | None = None,
    earlier: Mapping[int, Attempts] | None = None,
    request_limit: int = 10,
) -> tuple[TrialRecord, Agent]:
    agent = Agent(behaviour)
    trial_runner = make_trial_runner(agent, toolset, kept, request_limit)
    return asyncio.run(trial_runner.run(TRIAL, case, earlier)), agent


@pytest.mark.parametrize(
    ("behaviour", "case", "requests", "ending"),
    [
        pytest.param(in_turn(calls(READ_IT)), make_case(READ), 1, Ending.STEPS, id="one-step-and-no-more-is-asked"),
        pytest.param(
            in_turn(calls(READ_IT, "ping")),
            make_case(READ, PING),
            2,
            Ending.NO_CALL,
            id="both-in-parallel-then-it-stops",
        ),
        pytest.param(
            in_turn(calls(READ_IT), calls("ping")), make_case(READ, PING), 2, Ending.STEPS, id="one-after-the-other"
        ),
        pytest.param(in_turn(), make_case(), 1, Ending.NO_CALL, id="nothing-was-right"),
    ],
)
def test_E3_calls_one_after_the_other_score_as_in_parallel(
    behaviour: Behaviour, case: Case, requests: int, ending: Ending
) -> None:
    record, agent = run(behaviour, case)
    assert (record.outcome, record.requests, record.ending) == (Outcome.CORRECT, requests, ending)
    assert len(agent.requests) == requests


@pytest.mark.parametrize(
    ("match", "outcome", "requests"),
    [
        (Matching.EXACT, Outcome.WRONG_TOOL, 2),
        (Matching.SUPERSET, Outcome.CORRECT, 4),
        (Matching.IN_ORDER, Outcome.CORRECT, 4),
        (Matching.STARTS_WITH, Outcome.WRONG_TOOL, 2),
    ],
)
def test_V6_where_others_are_allowed_a_request_with_these_alone_is_no_step(
    match: Matching, outcome: Outcome, requests: int
) -> None:
    behaviour = in_turn(calls("list"), calls(READ_IT), calls("list"), calls("ping"), calls("list"))
    record, _ = run(behaviour, replace(make_case(READ, PING), match=match))
    assert (record.outcome, record.requests) == (outcome, requests)


def test_E3_requests_with_meta_tools_alone_count_only_towards_the_limit() -> None:
    browse_and_load = in_turn(calls("browse_tools"), calls(("load_tools", {"category": "files"})), calls(READ_IT))
    record, agent = run(browse_and_load, make_case(READ), "tiered")
    assert (record.outcome, record.requests, record.selections) == (Outcome.CORRECT, 3, 1)
    assert [len(request.offer.tools) for request in agent.requests] == [2, 2, 4]
    limited, _ = run(browse_and_load, make_case(READ), "tiered", request_limit=2)
    assert (limited.outcome, limited.ending) == (Outcome.GAVE_UP, Ending.REQUEST_LIMIT)


def test_E3_a_selection_is_answered_with_the_cases_results_and_nothing_is_run() -> None:
    case = make_case(READ, READ, PING, results={READ: ("first", "second")})
    _, agent = run(in_turn(calls(READ_IT), calls(READ_IT), calls("ping")), case)
    answers = [message["content"] for message in agent.requests[-1].messages if message["role"] == "tool"]
    assert answers == ["first", "second"]
    _, agent = run(in_turn(calls("ping"), calls("nothing_like_it")), make_case(PING, PING, PING))
    answers = [json.loads(message["content"]) for message in agent.requests[-1].messages if message["role"] == "tool"]
    assert answers[0] == {"status": "ok"}
    assert "nothing_like_it" in answers[1]["error"]


LOAD_FILES = calls(("load_tools", {"toolkit": "files"}))
LOADED = Reply("I have it with your next message.", usage=Usage(10, 3), latency_seconds=0.25)
IN_TWO_TURNS = in_turn(calls("list_toolkits"), LOAD_FILES, LOADED, calls(READ_IT))


def test_D4_the_user_says_go_ahead_and_both_turns_are_counted() -> None:
    record, agent = run(IN_TWO_TURNS, make_case(READ), "dynamic")
    assert (record.outcome, record.ending, record.selections) == (Outcome.CORRECT, Ending.STEPS, 1)
    assert [[offered.name for offered in request.offer.tools][3:] for request in agent.requests] == [
        [],
        [],
        [],
        ["read", "list"],
    ]
    assert agent.requests[-1].messages[-2:] == [
        {"role": "assistant", "content": LOADED.text},
        {"role": "user", "content": "Go ahead."},
    ]
    meta, whole = (agent.requests[at].offer.tokens for at in (0, 3))
    assert (record.requests, record.definition_tokens, record.definition_tokens_total) == (4, meta, 3 * meta + whole)
    assert (record.prompt_tokens, record.completion_tokens, record.cost_usd) == (40, 2 + 2 + 3 + 2, 49.0)
    assert record.latency_seconds == 0.5 + 0.5 + 0.25 + 0.5
    assert (record.covered, record.surfaced) == (True, True)


@pytest.mark.parametrize(
    ("behaviour", "outcome", "requests"),
    [
        pytest.param(in_turn(LOAD_FILES, calls(READ_IT)), Outcome.UNOFFERED_TOOL, 2, id="called-in-the-same-turn"),
        pytest.param(
            in_turn(calls(("load_tools", {"toolkit": "files"}), READ_IT)),
            Outcome.UNOFFERED_TOOL,
            1,
            id="called-in-the-same-batch",
        ),
        pytest.param(in_turn(LOADED), Outcome.MISSING_CALL, 1, id="nothing-was-loaded-so-nobody-says-go-ahead"),
        pytest.param(
            in_turn(LOAD_FILES, calls(("unload_tools", {"toolkit": "files"})), LOADED),
            Outcome.MISSING_CALL,
            3,
            id="a-load-undone-is-nothing-to-wait-for",
        ),
        pytest.param(in_turn(LOAD_FILES, LOADED, LOADED), Outcome.MISSING_CALL, 3, id="it-is-said-once"),
    ],
)
def test_D4_what_becomes_of_a_model_that_does_otherwise(behaviour: Behaviour, outcome: Outcome, requests: int) -> None:
    record, _ = run(behaviour, make_case(READ), "dynamic")
    assert (record.outcome, record.requests) == (outcome, requests)


LOAD_NET = calls(("load_tools", {"toolkit": "network"}))
UNLOAD_FILES = calls(("unload_tools", {"toolkit": "files"}))


def test_E3_selections_of_all_turns_make_one_answer_and_each_counts_as_a_step() -> None:
    behaviour = in_turn(LOAD_NET, LOADED, calls("ping"), LOAD_FILES, LOADED, calls(READ_IT), calls("ping"))
    record, agent = run(behaviour, make_case(READ, PING), "dynamic")
    assert (record.outcome, record.ending, record.selections) == (Outcome.CORRECT, Ending.STEPS, 2)
    assert [message["content"] for message in agent.requests[-1].messages if message["role"] == "user"] == [
        "Do it.",
        "Go ahead.",
        "Go ahead.",
    ]


@pytest.mark.parametrize(
    ("behaviour", "outcome", "requests"),
    [
        pytest.param(in_turn(LOAD_FILES, LOADED), Outcome.CORRECT, 3, id="a-load-and-then-rightly-nothing"),
        pytest.param(in_turn(LOAD_FILES, LOADED, calls("list")), Outcome.UNNEEDED_CALL, 3, id="led-on-by-the-user"),
        pytest.param(in_turn(*[LOAD_FILES] * 20), Outcome.GAVE_UP, 10, id="loads-forever"),
        pytest.param(
            in_turn(*[LOAD_FILES, LOADED, UNLOAD_FILES, LOADED] * 5), Outcome.GAVE_UP, 10, id="to-and-fro-forever"
        ),
    ],
)
def test_E4_where_nothing_is_right_a_turn_more_changes_nothing(
    behaviour: Behaviour, outcome: Outcome, requests: int
) -> None:
    record, _ = run(behaviour, make_case(), "dynamic")
    assert (record.outcome, record.requests) == (outcome, requests)
    assert (record.covered, record.surfaced) == (True, True), "`[]` always is"


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_E4_the_turns_count_towards_one_request_limit(limit: int) -> None:
    record, agent = run(IN_TWO_TURNS, make_case(READ), "dynamic", request_limit=limit)
    assert (record.outcome, record.ending, len(agent.requests)) == (Outcome.GAVE_UP, Ending.REQUEST_LIMIT, limit)


@pytest.mark.parametrize("known", range(5))
def test_E8_a_trial_of_two_turns_is_taken_up_wherever_it_stood(known: int) -> None:
    replies = [calls("list_toolkits"), LOAD_FILES, LOADED, calls(READ_IT), calls("ping")]
    case = make_case(READ, PING)
    unbroken, asked = run(in_turn(*replies), case, "dynamic")
    earlier = {number: Attempts(1, 12.0 if replies[number].calls else 13.0, replies[number]) for number in range(known)}
    record, again = run(in_turn(*replies), case, "dynamic", earlier=earlier)
    assert record == unbroken
    assert [request.messages for request in again.requests] == [one.messages for one in asked.requests[known:]]


@pytest.mark.parametrize(
    ("behaviour", "toolset", "outcome"),
    [
        pytest.param(in_turn(calls("rm_rf")), "full", Outcome.HALLUCINATED_TOOL, id="in-no-catalog"),
        pytest.param(in_turn(calls(READ_IT)), "tiered", Outcome.UNOFFERED_TOOL, id="known-but-not-loaded"),
        pytest.param(in_turn(calls("ping")), "full", Outcome.WRONG_TOOL, id="another"),
        pytest.param(in_turn(), "full", Outcome.MISSING_CALL, id="none"),
        pytest.param(in_turn(calls(READ_IT, "list")), "full", Outcome.EXTRA_CALL, id="one-too-many"),
        pytest.param(in_turn(calls("read")), "full", Outcome.INVALID_ARGUMENTS, id="against-the-schema"),
        pytest.param(in_turn(ModelError(Failure.UNAVAILABLE, "503")), "full", Outcome.ERROR, id="provider-is-down"),
        pytest.param(
            in_turn(ModelError(Failure.CONTEXT_OVERFLOW, "8k")), "full", Outcome.CONTEXT_OVERFLOW, id="too-long"
        ),
        pytest.param(in_turn(ModelError(Failure.REFUSED, "no")), "full", Outcome.REFUSED, id="would-not"),
        pytest.param(in_turn(ModelError(Failure.BAD_REQUEST, "?")), "full", Outcome.ERROR, id="not-understood"),
    ],
)
def test_E4_what_became_of_it(behaviour: Behaviour, toolset: str, outcome: Outcome) -> None:
    record, _ = run(behaviour, make_case(READ), toolset)
    assert record.outcome == outcome
    assert record.would_dispatch == (outcome is Outcome.UNOFFERED_TOOL)


def test_T4_a_tool_outside_of_the_cases_universe_would_not_be_dispatched() -> None:
    inside, _ = run(in_turn(calls(READ_IT)), make_case(READ, offered=(READ, PING)), "tiered")
    outside, _ = run(in_turn(calls("list")), make_case(READ, offered=(READ, PING)))
    assert (inside.outcome, inside.would_dispatch) == (Outcome.UNOFFERED_TOOL, True)
    assert (outside.outcome, outside.would_dispatch) == (Outcome.UNOFFERED_TOOL, False)


@pytest.mark.parametrize("name", ["READ", "files/read"])
def test_E4_a_tool_is_called_by_the_name_it_was_offered_under(name: str) -> None:
    record, _ = run(in_turn(calls((name, {"path": "a"}))), make_case(READ))
    assert record.outcome == Outcome.UNOFFERED_TOOL


def test_E6_a_refusal_costs_what_the_provider_says() -> None:
    refused = ModelError(Failure.REFUSED, "no", usage=Usage(100, 3), latency_seconds=0.2)
    record, _ = run(in_turn(refused), make_case(READ))
    assert (record.prompt_tokens, record.completion_tokens, record.cost_usd) == (100, 3, 103.0)
    assert record.latency_seconds == 0.2


def test_E6_usage_that_one_request_lacks_is_unknown_for_the_trial() -> None:
    record, _ = run(in_turn(calls(READ_IT), calls("ping", prompt_tokens=None)), make_case(READ, PING))
    assert (record.prompt_tokens, record.completion_tokens) == (None, 4)


def test_E4_a_wrong_key_is_no_outcome_of_a_trial() -> None:
    with pytest.raises(Unanswered, match="authentication"):
        run(in_turn(ModelError(Failure.AUTHENTICATION, "401")), make_case(READ))


def test_E5_covered_is_what_could_be_and_surfaced_what_was_offered() -> None:
    tiered, _ = run(in_turn(), make_case(READ), "tiered")
    assert (tiered.covered, tiered.surfaced) == (True, False)
    loaded, _ = run(in_turn(calls(("load_tools", {"category": "files"}))), make_case(READ), "tiered")
    assert (loaded.covered, loaded.surfaced) == (True, True)


def test_E6_every_request_is_counted_and_priced() -> None:
    kept: list[RequestRecord] = []
    answers: list[Reply | ModelError] = [ModelError(Failure.RATE_LIMIT, "wait"), calls(READ_IT), calls("ping")]
    flaky = iter(answers)
    record, agent = run(lambda _: next(flaky), make_case(READ, PING), kept=kept)
    tokens = agent.requests[0].offer.tokens
    assert (record.requests, record.retries) == (2, 1)
    assert (record.definition_tokens, record.definition_tokens_total) == (tokens, 2 * tokens)
    assert (record.prompt_tokens, record.completion_tokens) == (20, 4)
    assert (record.cached_read_tokens, record.cached_write_tokens) == (8, None)
    assert record.cost_usd == 24.0
    assert record.latency_seconds == 1.0
    assert [(one.request, one.attempt, one.failure) for one in kept] == [
        (0, 0, Failure.RATE_LIMIT),
        (0, 1, None),
        (1, 0, None),
    ]
    assert record.own_prompt_tokens is not None
    assert record.own_prompt_tokens > 2 * tokens


def test_E6_what_a_provider_does_not_report_is_unknown_and_not_zero() -> None:
    record, _ = run(in_turn(Reply("no", usage=Usage())), make_case(READ))
    assert (record.prompt_tokens, record.cached_read_tokens) == (None, None)


def test_each_epoch_has_a_seed_of_its_own() -> None:
    agent = Agent(in_turn(calls(READ_IT)))
    trial_runner = replace(make_trial_runner(agent), sampling=Sampling(seed=5))
    for epoch in range(3):
        asyncio.run(trial_runner.run(Trial(epoch, 0, 0, epoch), make_case(READ)))
    assert [request.sampling.seed for request in agent.requests] == [5, 6, 7]


def test_E8_a_trial_is_taken_up_where_it_stood() -> None:
    unbroken, _ = run(in_turn(calls(READ_IT), calls("ping")), make_case(READ, PING))
    earlier = {0: Attempts(3, 100.0, calls(READ_IT)), 1: Attempts(1, 5.0, None)}
    record, agent = run(in_turn(calls(READ_IT), calls("ping")), make_case(READ, PING), earlier=earlier)
    assert len(agent.requests) == 1, "what was answered is not asked again"
    assert (record.outcome, record.requests) == (unbroken.outcome, unbroken.requests)
    assert (record.retries, record.cost_usd) == (2 + 1, 100.0 + 5.0 + 12.0)


def test_E1_each_epoch_is_shuffled_for_itself() -> None:
    agent = Agent(in_turn(calls("nothing")))
    trial_runner = make_trial_runner(agent, variant="shuffled")
    for epoch in range(12):
        asyncio.run(trial_runner.run(Trial(epoch, 0, 0, epoch), make_case(READ)))
    orders = {tuple(offered.name for offered in request.offer.tools) for request in agent.requests}
    assert len(orders) > 2
    assert {frozenset(order) for order in orders} == {frozenset({"read", "list", "ping"})}


def test_E1_a_history_and_the_calls_go_by_the_names_that_are_shown() -> None:
    def behave(request: Request) -> Reply:
        [name] = {call["function"]["name"] for message in request.messages for call in message.get("tool_calls", ())}
        assert name in request.offer.by_name
        return calls((name, {"path": "b"}))

    told = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    messages = (
        {"role": "user", "content": "Read a."},
        {"role": "assistant", "content": None, "tool_calls": [told]},
        {"role": "tool", "tool_call_id": "1", "content": "A"},
        {"role": "user", "content": "And b."},
    )
    trial_runner = make_trial_runner(Agent(behave), variant="anonymous")
    record = asyncio.run(trial_runner.run(Trial(0, 0, 0, 0), make_case(READ, messages=messages)))
    assert record.outcome is Outcome.CORRECT


def test_E6_the_record_says_what_was_called_what_was_missing_and_what_was_surplus() -> None:
    behaviour = in_turn(calls(("browse_tools", {})), calls("list", "no \ud800 tool"))
    record, _ = run(behaviour, make_case(READ), "tiered")
    assert [json.loads(names) for names in (record.called, record.missing, record.surplus)] == [
        [LIST, "no \ud800 tool"],
        [READ],
        [LIST, "no \ud800 tool"],
    ]
    assert record.called.isascii(), "as the names of a model need not be UTF-8"
    right, _ = run(in_turn(calls(READ_IT)), make_case(READ))
    assert (right.called, right.missing, right.surplus) == (json.dumps([READ]), "[]", "[]")


def test_E6_prompts_that_the_next_request_begins_with_are_repeated() -> None:
    one, _ = run(in_turn(calls(READ_IT)), make_case(READ))
    assert one.repeated_tokens == 0
    three, _ = run(in_turn(calls("browse_tools"), calls(("load_tools", {"category": "files"}))), make_case(), "tiered")
    shorter, _ = run(in_turn(calls("browse_tools"), Reply("done")), make_case(), "tiered")
    assert (three.requests, shorter.requests) == (3, 2)
    first = shorter.repeated_tokens
    assert first
    assert shorter.own_prompt_tokens
    second = shorter.own_prompt_tokens - first
    assert three.repeated_tokens == first + second


def play_behind(room: ModelLimits, behaviour: Behaviour, case: Case, toolset: str) -> tuple[TrialRecord, Agent]:
    agent = Agent(behaviour)
    trial_runner = replace(make_trial_runner(agent, toolset), fit_guard=FitGuard("agent", room))
    return asyncio.run(trial_runner.run(TRIAL, case)), agent


def test_E4_what_cannot_fit_is_never_asked() -> None:
    record, agent = play_behind(ModelLimits(max_tools=2), in_turn(calls(READ_IT)), make_case(READ), "full")
    assert (agent.requests, record.requests, record.retries) == ([], 0, 0)
    assert (record.outcome, record.ending) == (Outcome.CONTEXT_OVERFLOW, Ending.TOO_MANY_TOOLS)
    assert mentions(record.reason, "2 tools", 3, 1)
    assert (record.definition_tokens, record.definition_tokens_total) == (
        make_trial_runner(agent).toolset.offer(make_case(READ), Conversation(())).tokens,
        0,
    )
    nothing = (record.own_prompt_tokens, record.prompt_tokens, record.invalidated_tokens, record.repeated_tokens)
    assert nothing == (0, None, 0, 0)
    assert (record.cost_usd, record.latency_seconds, record.surfaced, record.covered) == (0.0, 0.0, False, True)


@pytest.mark.parametrize(
    ("toolset", "behaviour"),
    [
        pytest.param(
            "tiered", in_turn(calls("browse_tools"), calls(("load_tools", {"category": "files"}))), id="tiered"
        ),
        pytest.param("dynamic", in_turn(LOAD_FILES, LOADED), id="dynamic"),
    ],
)
def test_E4_a_toolset_that_outgrows_the_window_ends_there(toolset: str, behaviour: Behaviour) -> None:
    free, asked = run(behaviour, make_case(READ), toolset)
    fitting = max(len(request.offer.tools) for request in asked.requests[:2])
    record, agent = play_behind(ModelLimits(max_tools=fitting), behaviour, make_case(READ), toolset)
    assert (record.outcome, record.requests) == (Outcome.CONTEXT_OVERFLOW, 2)
    assert len(agent.requests) == 2
    assert free.requests > 2, "with room, it goes on"
    tokens = [request.offer.tokens for request in agent.requests]
    assert (record.definition_tokens, record.definition_tokens_total) == (tokens[0], sum(tokens))
    assert (record.prompt_tokens, record.surfaced) == (20, False)
    assert record.own_prompt_tokens is not None
    assert free.own_prompt_tokens is not None
    assert record.own_prompt_tokens < free.own_prompt_tokens


def test_E4_with_room_nothing_changes() -> None:
    behaviour = in_turn(calls(READ_IT))
    with_room, _ = play_behind(ModelLimits(100_000, 4_096, 128, True), behaviour, make_case(READ), "full")
    assert with_room == run(behaviour, make_case(READ))[0]
