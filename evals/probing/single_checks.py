"""The checks of one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Failure, ModelError
from toolbelt.evals.probing.judging import Judge, Wanted, judge_words, show_calls
from toolbelt.evals.probing.kit import BRIDGES, LONG_NAME, Kit
from toolbelt.evals.probing.probe import CheckOutcome
from toolbelt.evals.probing.scripted import Scripted, ask_once, expect_call, ideal_reply, order, say
from toolbelt.evals.probing.steps import Answer, Ask, Judged, Next, one_line


def one_tool(kit: Kit) -> Scripted:
    """Where it is refused, a request without tools is made, to tell which of both is not taken.

    So it is where the server failed, as some do at the very sight of a tool; but as it may only have been down, that is
    believed only if it fails again once a request without tools was answered.
    """
    wanted = Wanted("get_weather", {"city": "Oslo"})
    ask = Ask(say(order(wanted)), kit.offer("get_weather"))
    plain = expect_call(kit, ask, wanted, "It called it.")

    def script(answers: Sequence[Answer]) -> Next:
        if not answers or not isinstance(refusal := answers[0], ModelError) or not _may_be_for_tools(refusal):
            return plain.script(answers)
        is_plain_refusal = refusal.failure is not Failure.UNAVAILABLE
        match list(answers[1:]):
            case []:
                return Ask(say("Answer with one word: is water wet?"), max_retries=None if is_plain_refusal else 0)
            case [ModelError() as without, *_]:
                return _refused_without(without, refusal)
            case [_] if is_plain_refusal:
                return Judged(CheckOutcome.REFUSED, f"{_WITHOUT_ALONE}: {one_line(refusal.message)}")
            case [_]:
                return replace(ask, max_retries=1)
            case [_, ModelError() as again, *_] if _may_be_for_tools(again):
                return Judged(CheckOutcome.REFUSED, f"{_WITHOUT_ALONE}: {one_line(again.message)}")
            case [_, last, *_]:
                return plain.script([last])
        raise AssertionError("a list is one of these")

    return Scripted(script, plain.ideal)


_WITHOUT_ALONE = "The API refuses a request with a tool and answers one without"


def _may_be_for_tools(error: ModelError) -> bool:
    # Where a model is served from several places, `not found` may mean: none of them takes tools.
    return error.failure in (Failure.BAD_REQUEST, Failure.NOT_FOUND, Failure.UNAVAILABLE)


def _refused_without(without: ModelError, refusal: ModelError) -> Judged:
    if one_line(without.message) == one_line(refusal.message):
        said = f"Nothing is known of tools: it is the same with one and without: {one_line(refusal.message)}"
        return Judged(CheckOutcome.UNKNOWN, said)
    is_refused = without.failure in (Failure.BAD_REQUEST, Failure.NOT_FOUND)
    how = "it refuses a request without tools as well" if is_refused else "one without tools got no answer"
    said = f"Nothing is known of tools: {how} ({one_line(without.message, 100)}); with one: {one_line(refusal.message)}"
    return Judged(CheckOutcome.UNKNOWN, said)


def nested(kit: Kit) -> Scripted:
    """Objects and lists within each other."""
    wanted = Wanted(
        "create_order",
        {
            "customer": {"name": "Ada Byrne", "address": {"street": "Mill Lane 9", "city": "Cork"}},
            "items": [{"sku": "A-10", "quantity": 2}, {"sku": "B-75", "quantity": 5}],
            "gift": True,
        },
    )
    return expect_call(kit, Ask(say(order(wanted)), kit.offer("create_order")), wanted, "The arguments came as asked.")


def enum(kit: Kit) -> Scripted:
    """Values that the schema lists."""
    wanted = Wanted("update_ticket", {"ticket": 4812, "priority": "urgent", "channel": "e-mail"})
    return expect_call(kit, Ask(say(order(wanted)), kit.offer("update_ticket")), wanted, "The arguments came as asked.")


def unicode(kit: Kit) -> Scripted:
    """Letters of several scripts, in and out."""
    wanted = Wanted("write_sign", {"text": "Überfahrt auf eigene Gefahr – 通行注意 🚲", "place": BRIDGES[1]})
    return expect_call(kit, Ask(say(order(wanted)), kit.offer("write_sign")), wanted, "Every letter came as sent.")


def long_name(kit: Kit) -> Scripted:
    """The longest name there may be."""
    wanted = Wanted(LONG_NAME, {"station": "Howth"})
    works = f"It called a tool whose name has {len(LONG_NAME)} letters."
    return expect_call(kit, Ask(say(order(wanted)), kit.offer(LONG_NAME)), wanted, works)


def empty(kit: Kit) -> Scripted:
    """A tool that takes nothing."""
    wanted = Wanted("ring_bell", {})
    said = "Call the tool ring_bell. It takes no arguments."
    return expect_call(kit, Ask(say(said), kit.offer("ring_bell")), wanted, "It called it with no arguments.")


def crowd(kit: Kit, count: int) -> Scripted:
    """One of so many."""
    offer, name = kit.crowd(count)
    wanted = Wanted(name, {"id": "K-17"})
    return expect_call(kit, Ask(say(order(wanted)), offer), wanted, f"It found the one of {count}.")


def none_fits(kit: Kit) -> Scripted:
    """Nothing to call."""
    ask = Ask(
        say("Which is the capital of France? Answer in one sentence."),
        kit.offer("get_weather", "ring_bell", "create_order"),
    )
    works = "It called nothing and answered in words."
    return ask_once(ask, lambda reply: judge_words(reply, works), Reply("The capital of France is Paris."))


def choice_none(kit: Kit) -> Scripted:
    """A call that is asked for and forbidden."""
    wanted = Wanted("get_weather", {"city": "Bern"})
    ask = Ask(say(order(wanted)), kit.offer("get_weather", "get_time"), "none")

    def judged(reply: Reply) -> Judged:
        if reply.calls:
            said = f"It called a tool though `tool_choice` was none: {show_calls(reply.calls)}."
            return Judged(CheckOutcome.FAILS, said)
        return Judged(CheckOutcome.WORKS, "It called nothing, though the message asks for it.")

    return ask_once(ask, judged, Reply("I cannot look that up now."))


def choice_required(kit: Kit) -> Scripted:
    """A call that is demanded and not asked for."""
    ask = Ask(say("Say good morning. No tool is needed for that."), kit.offer("ring_bell", "get_weather"), "required")
    judge = Judge(ask.offer, kit.schemas)

    def judged(reply: Reply) -> Judged:
        if fault := judge.find_made_up(reply):
            return Judged(CheckOutcome.FAILS, fault)
        return Judged(
            CheckOutcome.WORKS, f"It called one, though the message asks for none: {show_calls(reply.calls)}."
        )

    return ask_once(ask, judged, ideal_reply(Wanted("ring_bell", {})))


def choice_named(kit: Kit) -> Scripted:
    """The one tool that is demanded, where the other is asked for."""
    asked, named = Wanted("get_weather", {"city": "Turin"}), Wanted("get_time")
    ask = Ask(say(order(asked)), kit.offer("get_weather", "get_time"), named.name)
    judge = Judge(ask.offer, kit.schemas)

    def judged(reply: Reply) -> Judged:
        for call in reply.calls:
            if call.name in ask.offer.by_name and call.name != named.name:
                said = f"It called {call.name!r} though `tool_choice` names {named.name!r}."
                return Judged(CheckOutcome.FAILS, said)
        if fault := judge.find_made_up(reply):
            return Judged(CheckOutcome.FAILS, fault)
        return Judged(CheckOutcome.WORKS, "It called the one that `tool_choice` names, not the one asked for.")

    return ask_once(ask, judged, ideal_reply(Wanted(named.name, asked.arguments)))
