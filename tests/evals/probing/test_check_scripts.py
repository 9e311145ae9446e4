"""Each check, judged by replies that are right and replies that are not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.catalog.definitions import MAX_LENGTH, is_legal_wire_name
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.probing.check_scripts import make_scripts
from toolbelt.evals.probing.checks import CHECKS, EVERY, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.probe_tools import BRIDGES, LONG_NAME, ProbeTools
from toolbelt.evals.probing.results import CheckOutcome
from toolbelt.evals.probing.script import CheckRequest, CheckVerdict, ReplyOrError
from toolbelt.providers.chat import NOTHING_REPORTED, Failure, ModelError, Usage
from toolbelt.providers.tokenizers import make_counter

KIT = ProbeTools(EstimateCounter())
SCRIPTS = make_scripts(KIT)
WORKS, PARTLY, FAILS = CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS
OSLO, LIMA = ("get_weather", {"city": "Oslo"}), ("get_time", {"city": "Lima"})
BOOKING, CODE = ("find_booking", {"guest": "Noor Haddad"}), "QX-4471-BN"
LOAD, GATE = ("load_tools", {"category": "harbour"}), ("open_lock_gate", {"gate": 7})
TICKET = {"ticket": 4812, "priority": "urgent", "channel": "e-mail"}
SIGN = {"text": "Überfahrt auf eigene Gefahr – 通行注意 🚲", "place": BRIDGES[1]}
ORDER: dict[str, Any] = {
    "customer": {"name": "Ada Byrne", "address": {"street": "Mill Lane 9", "city": "Cork"}},
    "items": [{"sku": "A-10", "quantity": 2}, {"sku": "B-75", "quantity": 5}],
    "gift": True,
}


def says(text: str, usage: Usage = NOTHING_REPORTED) -> Reply:
    return Reply(text, usage=usage)


def calls(*made: tuple[str, Mapping[str, Any] | str]) -> Reply:
    uses = tuple(
        ToolUse.from_text(f"c{n}", name, given if isinstance(given, str) else json.dumps(given))
        for n, (name, given) in enumerate(made)
    )
    return Reply(calls=uses)


def judge(key: str, answers: Sequence[ReplyOrError]) -> CheckVerdict:
    """What a check comes to; each answer must have been asked for."""
    for number in range(len(answers)):
        assert isinstance(SCRIPTS[key].next_step(answers[:number]), CheckRequest), f"ended before answer {number}"
    judged = SCRIPTS[key].next_step(answers)
    assert isinstance(judged, CheckVerdict), "asks for more"
    return judged


def ask(key: str, *answers: ReplyOrError) -> CheckRequest:
    following = SCRIPTS[key].next_step(answers)
    assert isinstance(following, CheckRequest)
    return following


TABLE: dict[str, tuple[str, list[ReplyOrError], CheckOutcome, str]] = {
    # One call
    "the-call-asked-for": ("one_tool", [calls(OSLO)], WORKS, "called it"),
    "words-and-the-call": ("one_tool", [Reply("On it.", calls(OSLO).calls)], WORKS, "called it"),
    "words-alone": ("one_tool", [says("It is cold.")], FAILS, "called nothing and said: “It is cold.”"),
    "nothing-at-all": ("one_tool", [says(" \n")], FAILS, "called nothing and said nothing."),
    "cut-short": ("one_tool", [Reply(finish_reason="length")], FAILS, "(cut by the token limit"),
    "a-call-in-words": ("one_tool", [says('get_weather {"city": "Oslo"}')], FAILS, "wrote the call into its words"),
    "what-is-not-offered": ("one_tool", [calls(("weather", {}))], FAILS, "'weather', which is not offered"),
    "a-name-that-breaks-lines": ("one_tool", [calls(("a\nb\x1b[31m", {}))], FAILS, r"'a b\x1b[31m', which is not"),
    "half-a-letter": ("one_tool", [calls(("a\ud800", {}))], FAILS, "'a?', which is not offered"),
    "no-json": ("one_tool", [calls(("get_weather", '{"city": "Os'))], FAILS, "are no JSON object: “{\"city\": \"Os”"),
    "a-list": ("one_tool", [calls(("get_weather", "[1]"))], FAILS, "no JSON object"),
    "against-the-schema": ("one_tool", [calls(("get_weather", {"city": 4}))], FAILS, "goes against the schema"),
    "without-the-argument": ("one_tool", [calls(("get_weather", {}))], FAILS, '"city" is a required property'),
    "another-value": (
        "one_tool",
        [calls(("get_weather", {"city": "Bergen"}))],
        FAILS,
        """is not as asked: argument 'city' is "Bergen", not "Oslo".""",
    ),
    "the-value-in-another-case": (
        "one_tool",
        [calls(("get_weather", {"city": " oslo"}))],
        PARTLY,
        """changed an argument: argument 'city' is " oslo", not "Oslo".""",
    ),
    "one-argument-more": (
        "one_tool",
        [calls(("get_weather", {"city": "Oslo", "unit": "C"}))],
        FAILS,
        "argument 'unit' is not expected",
    ),
    "the-call-twice": ("one_tool", [calls(OSLO, OSLO)], FAILS, "made 2 calls where one was asked for"),
    "many-calls-are-cut": ("one_tool", [calls(*[OSLO] * 9)], FAILS, ", …."),
    "a-long-rambling-is-cut": ("one_tool", [says("ha " * 9000)], FAILS, "…”"),
    # Arguments
    "nested-as-asked": ("nested_arguments", [calls(("create_order", ORDER))], WORKS, ""),
    "nested-in-another-order-of-keys": (
        "nested_arguments",
        [calls(("create_order", dict(reversed(ORDER.items()))))],
        WORKS,
        "",
    ),
    "nested-flattened": (
        "nested_arguments",
        [calls(("create_order", {**ORDER, "customer": {"name": "Ada Byrne", "city": "Cork"}}))],
        FAILS,
        "argument 'customer': \"address\" is a required property",
    ),
    "nested-as-text": (
        "nested_arguments",
        [calls(("create_order", {**ORDER, "items": json.dumps(ORDER["items"])}))],
        FAILS,
        "argument 'items'",
    ),
    "items-in-another-order": (
        "nested_arguments",
        [calls(("create_order", {**ORDER, "items": ORDER["items"][::-1]}))],
        FAILS,
        "argument 'items' is",
    ),
    "nested-in-another-case": (
        "nested_arguments",
        [calls(("create_order", {**ORDER, "items": [{"sku": "a-10", "quantity": 2}, ORDER["items"][1]]}))],
        PARTLY,
        "argument 'items' is",
    ),
    "a-number-as-text": (
        "nested_arguments",
        [calls(("create_order", {**ORDER, "items": [{"sku": "A-10", "quantity": "2"}, ORDER["items"][1]]}))],
        FAILS,
        "goes against the schema: argument 'items.0.quantity'",
    ),
    "true-is-not-1": ("nested_arguments", [calls(("create_order", {**ORDER, "gift": 1}))], FAILS, "argument 'gift'"),
    "enum-as-asked": ("enum_arguments", [calls(("update_ticket", TICKET))], WORKS, ""),
    "enum-as-a-float": ("enum_arguments", [calls(("update_ticket", {**TICKET, "ticket": 4812.0}))], WORKS, ""),
    "enum-of-none-listed": (
        "enum_arguments",
        [calls(("update_ticket", {**TICKET, "priority": "Urgent"}))],
        FAILS,
        "argument 'priority': \"Urgent\" is not one of",
    ),
    "enum-another-listed": (
        "enum_arguments",
        [calls(("update_ticket", {**TICKET, "channel": "phone"}))],
        FAILS,
        """is "phone", not "e-mail".""",
    ),
    "unicode-as-sent": ("unicode", [calls(("write_sign", SIGN))], WORKS, "Every letter"),
    "unicode-composed-otherwise": (
        "unicode",
        [calls(("write_sign", {**SIGN, "text": SIGN["text"].replace("Ü", "U\u0308")}))],
        PARTLY,
        "other code points",
    ),
    "unicode-to-ascii": (
        "unicode",
        [calls(("write_sign", {**SIGN, "text": SIGN["text"].replace("Ü", "Ue")}))],
        FAILS,
        "argument 'text' is",
    ),
    "unicode-misread": (
        "unicode",
        [calls(("write_sign", {**SIGN, "text": SIGN["text"].encode().decode("latin-1")}))],
        FAILS,
        "argument 'text' is",
    ),
    "unicode-no-call": ("unicode", [says("no")], FAILS, "called nothing"),
    "the-long-name": ("long_name", [calls((LONG_NAME, {"station": "Howth"}))], WORKS, "64 letters"),
    "a-long-name-cut": ("long_name", [calls((LONG_NAME[:60], {"station": "Howth"}))], FAILS, "is not offered"),
    "no-arguments": ("empty_parameters", [calls(("ring_bell", {}))], WORKS, ""),
    "no-arguments-as-no-text": ("empty_parameters", [calls(("ring_bell", ""))], WORKS, ""),
    "an-argument-of-none": ("empty_parameters", [calls(("ring_bell", {"x": ""}))], FAILS, "'x' is not expected"),
    "null-for-no-arguments": ("empty_parameters", [calls(("ring_bell", "null"))], FAILS, "no JSON object"),
    # Whether it calls
    "an-answer-in-words": ("none_fits", [says("Paris.")], WORKS, ""),
    "a-call-where-words-were-asked": ("none_fits", [calls(OSLO)], FAILS, 'get_weather({"city": "Oslo"})'),
    "no-word-where-words-were-asked": ("none_fits", [says("")], FAILS, "said nothing"),
    "none-is-kept-to": ("choice_none", [says("I may not.")], WORKS, ""),
    "none-is-passed-over": ("choice_none", [calls(OSLO)], FAILS, "though `tool_choice` was none"),
    "required-is-kept-to": ("choice_required", [calls(("ring_bell", {}))], WORKS, ""),
    "required-with-another-tool": ("choice_required", [calls(("get_weather", {"city": "x"}))], WORKS, ""),
    "required-is-passed-over": ("choice_required", [says("Good morning!")], FAILS, "said: “Good morning!”"),
    "required-by-what-is-not-offered": ("choice_required", [calls(("greet", {}))], FAILS, "is not offered"),
    "required-against-the-schema": ("choice_required", [calls(("get_weather", {}))], FAILS, "against the schema"),
    "named-is-kept-to": ("choice_named", [calls(("get_time", {"city": "Oslo"}))], WORKS, ""),
    "named-is-passed-over": ("choice_named", [calls(OSLO)], FAILS, "though `tool_choice` names 'get_time'"),
    "named-and-the-other": ("choice_named", [calls(("get_time", {"city": "Oslo"}), OSLO)], FAILS, "'get_weather' th"),
    "named-and-words": ("choice_named", [says("No.")], FAILS, "called nothing"),
    # Several requests
    "both-at-once": ("parallel_calls", [calls(OSLO, LIMA)], WORKS, "one reply"),
    "both-at-once-the-other-way-round": ("parallel_calls", [calls(LIMA, OSLO)], WORKS, "one reply"),
    "one-after-the-other": ("parallel_calls", [calls(OSLO), calls(LIMA)], PARTLY, "after the other"),
    "the-second-first": ("parallel_calls", [calls(LIMA), calls(OSLO)], PARTLY, "after the other"),
    "both-one-in-another-case": (
        "parallel_calls",
        [calls(("get_weather", {"city": "oslo"}), LIMA)],
        WORKS,
        "one reply",
    ),
    "one-and-then-words": ("parallel_calls", [calls(OSLO), says("4 °C.")], FAILS, "'get_weather' alone, and given"),
    "one-twice-over": ("parallel_calls", [calls(OSLO), calls(OSLO)], FAILS, "called 'get_weather' and not 'get_time'"),
    "neither": ("parallel_calls", [says("4 °C, 14:05")], FAILS, "called nothing"),
    "one-twice-at-once": ("parallel_calls", [calls(OSLO, OSLO)], FAILS, "once each, and made these"),
    "both-and-one-again": ("parallel_calls", [calls(OSLO, LIMA, LIMA)], FAILS, "once each, and made these"),
    "both-one-wrong": ("parallel_calls", [calls(OSLO, ("get_time", {"city": "Rome"}))], FAILS, '"Rome", not "Lima"'),
    "the-result-in-words": ("after_result", [calls(BOOKING), says(f"It is {CODE}.")], WORKS, ""),
    "the-result-in-another-case": ("after_result", [calls(BOOKING), says(f"It is {CODE.lower()}")], WORKS, ""),
    "the-result-in-bold": ("after_result", [calls(BOOKING), says("It is **QX\u20114471\u2011BN**.")], WORKS, ""),
    "half-of-the-result": ("after_result", [calls(BOOKING), says("It is QX-4471.")], FAILS, "do not hold"),
    "words-without-the-result": ("after_result", [calls(BOOKING), says("Done.")], FAILS, "do not hold 'QX-4471-BN'"),
    "the-same-call-again": ("after_result", [calls(BOOKING), calls(BOOKING)], FAILS, "call where words were asked for"),
    "no-first-call": ("after_result", [says(CODE)], FAILS, "did not come to a result"),
    "loads-and-uses": ("growing_tools", [calls(LOAD), calls(GATE)], WORKS, "offered only later"),
    "loads-and-loads": ("growing_tools", [calls(LOAD), calls(LOAD)], FAILS, "called 'load_tools' and not"),
    "uses-before-it-is-there": ("growing_tools", [calls(GATE)], FAILS, "'open_lock_gate', which is not offered"),
    "does-both-at-once": ("growing_tools", [calls(LOAD, GATE)], FAILS, "did not load first"),
    "calls-what-is-there": ("retired_tool", [calls(("get_time", {"city": "Quito"}))], WORKS, ""),
    "calls-what-is-gone": ("retired_tool", [calls(OSLO)], FAILS, "'get_weather', which is offered no more"),
    "cached": (
        "cached_tokens",
        [says("120", Usage(5000, 1, 0)), says("a", Usage(5001, 1, 4864))],
        WORKS,
        "4,864 cached tokens of 5,001",
    ),
    "none-cached": (
        "cached_tokens",
        [says("120", Usage(5000, 1, 0)), says("a", Usage(5001, 1, 0))],
        PARTLY,
        "these were 0 of 5,001",
    ),
    "cached-not-said": ("cached_tokens", [says("120"), says("a", Usage(5001, 1))], FAILS, "no number of cached"),
}  # fmt: skip


@pytest.mark.parametrize(("key", "answers", "outcome", "said"), TABLE.values(), ids=TABLE)
def test_a_check_is_judged_by_what_was_asked(
    key: str, answers: list[ReplyOrError], outcome: CheckOutcome, said: str
) -> None:
    judged = judge(key, answers)
    assert judged.outcome is outcome, judged.said
    assert said in judged.said
    assert "\n" not in judged.said
    assert len(judged.said) < 600
    judged.said.encode()  # a file must be able to hold it


def test_the_table_has_every_check_right_and_wrong() -> None:
    told = {(key, outcome) for key, _, outcome, _ in TABLE.values()}
    others = [check.key for check in CHECKS if not check.key.startswith("tools_")]
    assert {(key, WORKS) for key in others} <= told
    assert {(key, FAILS) for key in others} <= told


@pytest.mark.parametrize("count", TOOL_COUNTS)
def test_one_of_many_is_found_or_not(count: int) -> None:
    key = tools_key(count)
    first = ask(key)
    name = SCRIPTS[key].ideal_replies[0].calls[0].name
    assert len(first.offer.by_name) == count, "all names differ"
    assert list(first.offer.by_name).index(name) not in (0, count - 1)
    assert judge(key, [calls((name, {"id": "K-17"}))]).outcome is WORKS
    assert name in judge(key, [calls(("inspect_lantern", {"id": "K-17"}))]).said
    assert judge(key, [calls((name, {"id": "K-71"}))]).outcome is FAILS


REFUSALS = [
    (Failure.BAD_REQUEST, CheckOutcome.REFUSED, "The request was refused: no \x1b[31m way"),
    (Failure.NOT_FOUND, CheckOutcome.REFUSED, "refused"),
    (Failure.CONTEXT_OVERFLOW, CheckOutcome.TOO_LARGE, "more than the context window holds"),
    (Failure.REQUEST_TOO_LARGE, CheckOutcome.TOO_LARGE, "more than the account may send at once"),
    (Failure.REFUSED, FAILS, "content filter"),
    (Failure.RATE_LIMIT, CheckOutcome.UNKNOWN, "No answer came (rate_limit)"),
    (Failure.TIMEOUT, CheckOutcome.UNKNOWN, "No answer came (timeout)"),
    (Failure.UNAVAILABLE, CheckOutcome.UNKNOWN, "No answer came"),
    (Failure.BROKEN_ANSWER, CheckOutcome.UNKNOWN, "No answer came"),
]


@pytest.mark.parametrize(("failure", "outcome", "said"), REFUSALS, ids=[one[0].value for one in REFUSALS])
@pytest.mark.parametrize("key", [key for key in EVERY if key != "one_tool"])
def test_E4_a_failure_says_of_every_check_what_it_is(
    key: str, failure: Failure, outcome: CheckOutcome, said: str
) -> None:
    error = ModelError(failure, "no \x1b[31m\nway")
    before = SCRIPTS[key].ideal_replies[:-1]
    for number in range(len(before) + 1):
        judged = judge(key, [*before[:number], error])
        assert judged.outcome is outcome
        assert said in judged.said
        assert judged.said.startswith(f"At request {number + 1}: ") == (number > 0)


def test_a_refused_tool_is_told_from_a_refused_request() -> None:
    no = ModelError(Failure.BAD_REQUEST, "no tools here")
    assert not ask("one_tool", no).offer.tools, "asked again without tools"
    refused = judge("one_tool", [no, says("Yes.")])
    assert (refused.outcome, refused.said.endswith(": no tools here")) == (CheckOutcome.REFUSED, True)
    unknown = judge("one_tool", [no, ModelError(Failure.BAD_REQUEST, "no model here")])
    assert unknown.outcome is CheckOutcome.UNKNOWN
    assert "(no model here)" in unknown.said
    assert judge("one_tool", [no, no]).said.endswith(": no tools here")
    unanswered = judge("one_tool", [no, ModelError(Failure.TIMEOUT, "too late")])
    assert unanswered.outcome is CheckOutcome.UNKNOWN
    assert mentions(unanswered.said, "without tools", "(too late)", "with one: no tools here")
    assert judge("one_tool", [ModelError(Failure.NOT_FOUND, "none of ours takes tools"), says("")]).outcome is (
        CheckOutcome.REFUSED
    )
    assert judge("one_tool", [ModelError(Failure.TIMEOUT, "late")]).outcome is CheckOutcome.UNKNOWN


def test_a_server_that_fails_at_tools_is_told_from_one_that_was_down() -> None:
    down = ModelError(Failure.UNAVAILABLE, "500: tools need --jinja")
    assert (ask("one_tool", down).max_retries, ask("one_tool", down).offer.tools) == (0, ())
    unanswered = judge("one_tool", [down, ModelError(Failure.UNAVAILABLE, "refused")])
    assert unanswered.outcome is CheckOutcome.UNKNOWN
    assert mentions(unanswered.said, "without tools", "(refused)", 500)
    again = ask("one_tool", down, says("Yes."))
    assert (again.max_retries, again.messages, again.offer) == (1, ask("one_tool").messages, ask("one_tool").offer)
    refused = judge("one_tool", [down, says("Yes."), down])
    assert (refused.outcome, refused.said.endswith("without: 500: tools need --jinja")) == (CheckOutcome.REFUSED, True)
    assert judge("one_tool", [down, says("Yes."), calls(OSLO)]).outcome is WORKS, "it was only down"
    assert judge("one_tool", [down, says("Yes."), says("Cold.")]).outcome is FAILS
    late = ModelError(Failure.TIMEOUT, "late")
    assert judge("one_tool", [down, says("Yes."), late]).outcome is CheckOutcome.UNKNOWN


def test_no_two_checks_ask_the_same() -> None:
    asked = [str(ask(key).messages[-1]["content"]) for key in EVERY]
    assert len(set(asked)) == len(asked), "or a gateway that caches answers would give one's to the other"


def test_the_suite_is_what_it_says() -> None:
    assert [check.key for check in CHECKS] == list(EVERY)
    assert set(SCRIPTS) == set(EVERY)
    assert len(EVERY) == len(set(EVERY))
    asked = sum(len(one.ideal_replies) for one in SCRIPTS.values())
    assert 20 <= asked <= sum(check.requests for check in CHECKS) <= 30
    for check in CHECKS:
        assert len(SCRIPTS[check.key].ideal_replies) <= check.requests
        assert check.about.endswith(".")


@pytest.mark.parametrize("key", EVERY)
def test_what_goes_well_works_and_the_same_answers_lead_to_the_same(key: str) -> None:
    ideal_replies = [
        Reply(one.text, one.calls, Usage(5000, 5, 4000)) if key == "cached_tokens" else one
        for one in SCRIPTS[key].ideal_replies
    ]
    assert judge(key, ideal_replies).outcome is WORKS
    for number in range(len(ideal_replies)):
        again = make_scripts(ProbeTools(EstimateCounter()))[key].next_step(ideal_replies[:number])
        assert isinstance(again, CheckRequest)
        first = ask(key, *ideal_replies[:number])
        assert (again.messages, again.offer.definitions, again.tool_choice) == (
            first.messages,
            first.offer.definitions,
            first.tool_choice,
        )


@pytest.mark.parametrize("key", EVERY)
def test_what_is_sent_is_a_conversation_that_providers_take(key: str) -> None:
    for number in range(len(SCRIPTS[key].ideal_replies)):
        sent = ask(key, *SCRIPTS[key].ideal_replies[:number])
        json.dumps(sent.messages)
        assert all(is_legal_wire_name(name) for name in sent.offer.by_name)
        roles = [message["role"] for message in sent.messages]
        assert roles[0] == "user"
        assert roles[-1] in ("user", "tool")
        assert all(pair != ("tool", "user") for pair in pairwise(roles)), "some refuse that"
        called = [call["id"] for message in sent.messages for call in message.get("tool_calls", ())]
        assert called == [message["tool_call_id"] for message in sent.messages if message["role"] == "tool"]
        assert sent.tool_choice in (None, "none", "required", *sent.offer.by_name)


def test_the_long_name_is_the_longest_and_the_long_prompt_long_enough() -> None:
    assert len(LONG_NAME) == MAX_LENGTH == 64
    prompts = [
        str(ask("cached_tokens", *SCRIPTS["cached_tokens"].ideal_replies[:n]).messages[0]["content"]) for n in (0, 1)
    ]
    shared = next(at for at, (a, b) in enumerate(zip(*prompts, strict=False)) if a != b)
    [counted] = make_counter("o200k_base").count([prompts[0][:shared]])
    assert 4096 < counted < 8192 - 2048, "providers cache from 1,024 to 4,096 tokens on; a window of 8k takes it"
