"""The scripts of all checks: their prompts, their tools and how replies are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from toolbelt.evals.conversation import Reply
from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.judging import (
    CallJudge,
    RequestedCall,
    expect_one_call,
    ideal_reply,
    instruction,
    judge_words,
    show_calls,
)
from toolbelt.evals.probing.probe_tools import BRIDGES, LONG_NAME, ProbeTools
from toolbelt.evals.probing.results import CheckOutcome
from toolbelt.evals.probing.script import (
    CheckRequest,
    CheckScript,
    CheckVerdict,
    ReplyOrError,
    Step,
    ask_once,
    exchange_messages,
    in_turn,
    judge_failure,
    one_line,
    tool_result,
    user_message,
)
from toolbelt.providers.chat import Failure, ModelError


def one_tool(tools: ProbeTools) -> CheckScript:
    """Calls one tool. If the API refuses the request, a request without tools shows whether the tool is the cause.

    Some servers fail as soon as a request holds a tool, so a server failure is treated the same way. The server may
    only have been down, so the tool counts as refused only if the request fails again after one without tools works.

    If nothing is called, or only in words, the usage of a request with more tools shows whether the server sees tools.
    """
    expected = RequestedCall("get_weather", {"city": "Oslo"})
    request = CheckRequest(user_message(instruction(expected)), tools.offer("get_weather"))
    plain = expect_one_call(tools, request, expected, "It called it.")

    def script(answers: Sequence[ReplyOrError]) -> Step:
        match list(answers):
            case [Reply(calls=()) | ModelError(failure=Failure.CALL_IN_TEXT) as first] if first.usage.prompt_tokens:
                return CheckRequest(request.messages, tools.offer_long_prompt())
            case [_, ModelError(failure=Failure.TOOLS_NOT_SEEN) as unseen]:
                return judge_failure(unseen)
            case [Reply() | ModelError(failure=Failure.CALL_IN_TEXT) as first, *_]:
                return plain.next_step([first])
        if not answers or not isinstance(refusal := answers[0], ModelError) or not _may_be_for_tools(refusal):
            return plain.next_step(answers)
        is_plain_refusal = refusal.failure is not Failure.UNAVAILABLE
        match list(answers[1:]):
            case []:
                return CheckRequest(
                    user_message("Answer with one word: is water wet?"), max_retries=None if is_plain_refusal else 0
                )
            case [ModelError() as without, *_]:
                return _refused_without(without, refusal)
            case [_] if is_plain_refusal:
                return CheckVerdict(CheckOutcome.REFUSED, f"{_WITHOUT_ALONE}: {one_line(refusal.message)}")
            case [_]:
                return replace(request, max_retries=1)
            case [_, ModelError() as again, *_] if _may_be_for_tools(again):
                return CheckVerdict(CheckOutcome.REFUSED, f"{_WITHOUT_ALONE}: {one_line(again.message)}")
            case [_, last, *_]:
                return plain.next_step([last])
        raise AssertionError("a list is one of these")

    return CheckScript(script, plain.ideal_replies)


_WITHOUT_ALONE = "The API refuses a request with a tool and answers one without"


def _may_be_for_tools(error: ModelError) -> bool:
    # Where a model is served from several places, `not found` may mean: none of them takes tools.
    return error.failure in (Failure.BAD_REQUEST, Failure.NOT_FOUND, Failure.UNAVAILABLE)


def _refused_without(without: ModelError, refusal: ModelError) -> CheckVerdict:
    if one_line(without.message) == one_line(refusal.message):
        reason = f"Nothing is known of tools: it is the same with one and without: {one_line(refusal.message)}"
        return CheckVerdict(CheckOutcome.UNKNOWN, reason)
    is_refused = without.failure in (Failure.BAD_REQUEST, Failure.NOT_FOUND)
    how = "it refuses a request without tools as well" if is_refused else "one without tools got no answer"
    reason = (
        f"Nothing is known of tools: {how} ({one_line(without.message, 100)}); with one: {one_line(refusal.message)}"
    )
    return CheckVerdict(CheckOutcome.UNKNOWN, reason)


def nested(tools: ProbeTools) -> CheckScript:
    """Arguments are nested objects and lists."""
    expected = RequestedCall(
        "create_order",
        {
            "customer": {"name": "Ada Byrne", "address": {"street": "Mill Lane 9", "city": "Cork"}},
            "items": [{"sku": "A-10", "quantity": 2}, {"sku": "B-75", "quantity": 5}],
            "gift": True,
        },
    )
    return expect_one_call(
        tools,
        CheckRequest(user_message(instruction(expected)), tools.offer("create_order")),
        expected,
        "The arguments came as asked.",
    )


def enum(tools: ProbeTools) -> CheckScript:
    """Arguments are values that the schema lists."""
    expected = RequestedCall("update_ticket", {"ticket": 4812, "priority": "urgent", "channel": "e-mail"})
    return expect_one_call(
        tools,
        CheckRequest(user_message(instruction(expected)), tools.offer("update_ticket")),
        expected,
        "The arguments came as asked.",
    )


def unicode(tools: ProbeTools) -> CheckScript:
    """Descriptions, listed values and arguments hold letters of several scripts."""
    expected = RequestedCall("write_sign", {"text": "Überfahrt auf eigene Gefahr – 通行注意 🚲", "place": BRIDGES[1]})
    return expect_one_call(
        tools,
        CheckRequest(user_message(instruction(expected)), tools.offer("write_sign")),
        expected,
        "Every letter came as sent.",
    )


def long_name(tools: ProbeTools) -> CheckScript:
    """The tool has the longest name that every provider takes."""
    expected = RequestedCall(LONG_NAME, {"station": "Howth"})
    works = f"It called a tool whose name has {len(LONG_NAME)} letters."
    return expect_one_call(
        tools, CheckRequest(user_message(instruction(expected)), tools.offer(LONG_NAME)), expected, works
    )


def empty(tools: ProbeTools) -> CheckScript:
    """The tool has no parameters."""
    expected = RequestedCall("ring_bell", {})
    prompt = "Call the tool ring_bell. It takes no arguments."
    return expect_one_call(
        tools, CheckRequest(user_message(prompt), tools.offer("ring_bell")), expected, "It called it with no arguments."
    )


def crowd(tools: ProbeTools, count: int) -> CheckScript:
    """The request offers `count` tools and asks for one of them."""
    offer, name = tools.crowd(count)
    expected = RequestedCall(name, {"id": "K-17"})
    return expect_one_call(
        tools, CheckRequest(user_message(instruction(expected)), offer), expected, f"It found the one of {count}."
    )


def none_fits(tools: ProbeTools) -> CheckScript:
    """No tool fits the message; the model should answer in words."""
    request = CheckRequest(
        user_message("Which is the capital of France? Answer in one sentence."),
        tools.offer("get_weather", "ring_bell", "create_order"),
    )
    works = "It called nothing and answered in words."
    return ask_once(request, lambda reply: judge_words(reply, works), Reply("The capital of France is Paris."))


def choice_none(tools: ProbeTools) -> CheckScript:
    """The message asks for a call, and `tool_choice` forbids it."""
    expected = RequestedCall("get_weather", {"city": "Bern"})
    request = CheckRequest(user_message(instruction(expected)), tools.offer("get_weather", "get_time"), "none")

    def judged(reply: Reply) -> CheckVerdict:
        if reply.calls:
            reason = f"It called a tool though `tool_choice` was none: {show_calls(reply.calls)}."
            return CheckVerdict(CheckOutcome.FAILS, reason)
        return CheckVerdict(CheckOutcome.WORKS, "It called nothing, though the message asks for it.")

    return ask_once(request, judged, Reply("I cannot look that up now."))


def choice_required(tools: ProbeTools) -> CheckScript:
    """The message asks for no call, and `tool_choice` requires one."""
    request = CheckRequest(
        user_message("Say good morning. No tool is needed for that."),
        tools.offer("ring_bell", "get_weather"),
        "required",
    )
    judge = CallJudge(request.offer, tools.schemas)

    def judged(reply: Reply) -> CheckVerdict:
        if fault := judge.find_made_up(reply):
            return CheckVerdict(CheckOutcome.FAILS, fault)
        return CheckVerdict(
            CheckOutcome.WORKS, f"It called one, though the message asks for none: {show_calls(reply.calls)}."
        )

    return ask_once(request, judged, ideal_reply(RequestedCall("ring_bell", {})))


def choice_named(tools: ProbeTools) -> CheckScript:
    """The message asks for one tool, and `tool_choice` names the other."""
    requested, named = RequestedCall("get_weather", {"city": "Turin"}), RequestedCall("get_time")
    request = CheckRequest(user_message(instruction(requested)), tools.offer("get_weather", "get_time"), named.name)
    judge = CallJudge(request.offer, tools.schemas)

    def judged(reply: Reply) -> CheckVerdict:
        for call in reply.calls:
            if call.name in request.offer.by_name and call.name != named.name:
                reason = f"It called {call.name!r} though `tool_choice` names {named.name!r}."
                return CheckVerdict(CheckOutcome.FAILS, reason)
        if fault := judge.find_made_up(reply):
            return CheckVerdict(CheckOutcome.FAILS, fault)
        return CheckVerdict(CheckOutcome.WORKS, "It called the one that `tool_choice` names, not the one asked for.")

    return ask_once(request, judged, ideal_reply(RequestedCall(named.name, requested.arguments)))


_CODE = "QX-4471-BN"
_HARBOUR = {"category": "harbour"}
_PARAGRAPHS = 120
"""Length of the long prompt: over 4,096 tokens, the highest minimum for caching among the large providers."""


def parallel(tools: ProbeTools) -> CheckScript:
    """Asks for two calls in one reply. If the model makes one, it gets the result and should then make the other."""
    both = (RequestedCall("get_weather", {"city": "Oslo"}), RequestedCall("get_time", {"city": "Lima"}))
    results = {"get_weather": tool_result(degrees_celsius=4, sky="clear"), "get_time": tool_result(time="14:05")}
    offer = tools.offer("get_weather", "get_time")
    messages = user_message(
        f"{instruction(both[0])} {instruction(both[1])} Make both calls in the same reply; neither needs the other."
    )
    judge = CallJudge(offer, tools.schemas)

    def matched(reply: Reply) -> list[RequestedCall]:
        return [expected for expected in both if any(not judge.find_call_fault(call, expected) for call in reply.calls)]

    def first(reply: Reply) -> Step:
        met = matched(reply)
        if len(met) == len(reply.calls) == 2:
            return CheckVerdict(CheckOutcome.WORKS, "It made both calls in one reply.")
        if len(met) != 1 or len(reply.calls) != 1:
            return CheckVerdict(CheckOutcome.FAILS, _not_both(reply, both, judge))
        return CheckRequest((*messages, *exchange_messages(reply, results[met[0].name])), offer)

    def second(before: Reply, reply: Reply) -> CheckVerdict:
        [called] = matched(before)
        [missing] = [expected for expected in both if expected is not called]
        if fault := judge.find_fault(reply, missing):
            return CheckVerdict(CheckOutcome.FAILS, f"It called {called.name!r} alone, and given its result: {fault}")
        reason = "It made one call after the other, the second once the first had its result."
        return CheckVerdict(CheckOutcome.PARTLY, reason)

    return CheckScript(in_turn(CheckRequest(messages, offer), first, second), (ideal_reply(*both),))


def _not_both(reply: Reply, both: Sequence[RequestedCall], judge: CallJudge) -> str:
    if not reply.calls:
        return judge.find_fault(reply, both[0])
    names = [expected.name for expected in both]
    for call in reply.calls:
        counterpart = next((expected for expected in both if expected.name == call.name), both[0])
        if fault := judge.find_call_fault(call, counterpart):
            return fault
    return f"It was to call {names[0]!r} and {names[1]!r}, once each, and made these: {show_calls(reply.calls)}."


def after_result(tools: ProbeTools) -> CheckScript:
    """The model makes a call, gets its result, and should then answer in words."""
    expected = RequestedCall("find_booking", {"guest": "Noor Haddad"})
    messages = user_message(
        f"{instruction(expected)} When it has answered, tell me the booking's code in one sentence, in words."
    )
    offer = tools.offer("find_booking", "get_weather")
    judge = CallJudge(offer, tools.schemas)

    def called(reply: Reply) -> Step:
        if fault := judge.find_fault(reply, expected):
            return CheckVerdict(CheckOutcome.FAILS, f"It did not come to a result: {fault}")
        return CheckRequest((*messages, *exchange_messages(reply, tool_result(code=_CODE))), offer)

    def answered(_: Reply, reply: Reply) -> CheckVerdict:
        return judge_words(reply, "It answered in words that hold what the tool said.", _CODE)

    script = in_turn(CheckRequest(messages, offer), called, answered)
    return CheckScript(script, (ideal_reply(expected), Reply(f"The code of the booking is {_CODE}.")))


def growing(tools: ProbeTools) -> CheckScript:
    """The first call loads a tool that only the second request offers."""
    load, use = RequestedCall("load_tools", _HARBOUR), RequestedCall("open_lock_gate", {"gate": 7})
    messages = user_message(
        f"{instruction(load)} When it has answered, open_lock_gate is among your tools. {instruction(use, 'Then call')}"
    )
    before, after = tools.offer("load_tools"), tools.offer("load_tools", "open_lock_gate")

    def loaded(reply: Reply) -> Step:
        if fault := CallJudge(before, tools.schemas).find_fault(reply, load):
            return CheckVerdict(CheckOutcome.FAILS, f"It did not load first: {fault}")
        result = tool_result(loaded=["open_lock_gate"], note="You can call it now.")
        return CheckRequest((*messages, *exchange_messages(reply, result)), after)

    def used(_: Reply, reply: Reply) -> CheckVerdict:
        if fault := CallJudge(after, tools.schemas).find_fault(reply, use):
            return CheckVerdict(CheckOutcome.FAILS, f"It loaded the tool, and then: {fault}")
        return CheckVerdict(CheckOutcome.WORKS, "It called what was offered only later.")

    script = in_turn(CheckRequest(messages, before), loaded, used)
    return CheckScript(script, (ideal_reply(load), ideal_reply(use)))


def retired(tools: ProbeTools) -> CheckScript:
    """The history holds a call of a tool that is no longer offered; every model gets the same history."""
    before, now = RequestedCall("get_weather", {"city": "Oslo"}), RequestedCall("get_time", {"city": "Quito"})
    history = (
        *user_message("What is the weather in Oslo?"),
        *exchange_messages(ideal_reply(before), tool_result(degrees_celsius=4, sky="clear")),
        {"role": "assistant", "content": "It is 4 °C in Oslo, under a clear sky."},
        *user_message(instruction(now)),
    )
    request = CheckRequest(history, tools.offer("get_time"))
    judge = CallJudge(request.offer, tools.schemas, (before.name,))
    works = "It took the history, and called what is offered now."
    return ask_once(request, lambda reply: judge.judge_call(reply, now, works), ideal_reply(now))


def cached(tools: ProbeTools) -> CheckScript:  # noqa: ARG001  nothing is offered
    """Sends two prompts with the same beginning; the usage of the second shows whether cached tokens are reported."""
    prompt = _long_prompt()
    questions = ("How many notes are there? Answer with the number.", "What is note 7 about? Answer in two words.")

    first, second = (CheckRequest(user_message(f"{prompt}\n{question}")) for question in questions)

    def judged(_: Reply, reply: Reply) -> CheckVerdict:
        cached_tokens, prompt_tokens = reply.usage.cached_read_tokens, reply.usage.prompt_tokens
        if cached_tokens is None:
            return CheckVerdict(CheckOutcome.FAILS, "The usage has no number of cached tokens.")
        if cached_tokens == 0:
            share = f" of {prompt_tokens:,}" if prompt_tokens else ""
            reason = f"Cached tokens are reported, and these were 0{share} of a prompt that begins as the one before."
            return CheckVerdict(
                CheckOutcome.PARTLY, f"{reason} Some providers hold only what is marked, or take their time."
            )
        return CheckVerdict(
            CheckOutcome.WORKS,
            f"The usage reports {cached_tokens:,} cached tokens{f' of {prompt_tokens:,}' if prompt_tokens else ''}.",
        )

    script = in_turn(first, lambda _: second, judged)
    return CheckScript(script, (Reply(f"{_PARAGRAPHS}"), Reply("A ferry.")))


def _long_prompt() -> str:
    places = ("ferry", "mill", "orchard", "school", "quay", "chapel", "market", "bridge")
    deeds = ("was repaired", "was closed", "was painted white", "was measured again", "was handed to the parish")
    lines = (
        f"Note {n}: in the spring of {1700 + n}, the {places[n % len(places)]} by the river {deeds[n % len(deeds)]}, "
        f"as the clerk wrote on page {n * 3} of the book of accounts, and {n + 11} people signed below."
        for n in range(1, _PARAGRAPHS + 1)
    )
    return "Here are notes from the archive of a village.\n" + "\n".join(lines)


def make_scripts(tools: ProbeTools) -> Mapping[str, CheckScript]:
    """All checks, by key."""
    scripts = {key: make(tools) for key, make in _MAKERS.items()}
    scripts.update({tools_key(count): crowd(tools, count) for count in TOOL_COUNTS})
    return MappingProxyType(scripts)


_MAKERS: Mapping[str, Callable[[ProbeTools], CheckScript]] = MappingProxyType(
    {
        FIRST: one_tool,
        "parallel_calls": parallel,
        "none_fits": none_fits,
        "choice_none": choice_none,
        "choice_required": choice_required,
        "choice_named": choice_named,
        "nested_arguments": nested,
        "enum_arguments": enum,
        "unicode": unicode,
        "long_name": long_name,
        "empty_parameters": empty,
        "after_result": after_result,
        "growing_tools": growing,
        "retired_tool": retired,
        "cached_tokens": cached,
    }
)
