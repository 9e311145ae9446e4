"""The checks that take several requests, or a conversation that has gone on for a while."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.conversation import Reply
from toolbelt.evals.probing.judging import Judge, Wanted, judge_words, show_calls
from toolbelt.evals.probing.kit import Kit
from toolbelt.evals.probing.probe import CheckOutcome
from toolbelt.evals.probing.scripted import Scripted, ask_once, exchanged, ideal_reply, in_turn, order, result, say
from toolbelt.evals.probing.steps import Ask, Judged, Next

_CODE = "QX-4471-BN"
_HARBOUR = {"category": "harbour"}
_PARAGRAPHS = 120
"""Of the long prompt: over 4,096 tokens, from which on the last of the great providers caches."""


def parallel(kit: Kit) -> Scripted:
    """Both at once; else, once the first has its answer, the other."""
    both = (Wanted("get_weather", {"city": "Oslo"}), Wanted("get_time", {"city": "Lima"}))
    results = {"get_weather": result(degrees_celsius=4, sky="clear"), "get_time": result(time="14:05")}
    offer = kit.offer("get_weather", "get_time")
    messages = say(f"{order(both[0])} {order(both[1])} Make both calls in the same reply; neither needs the other.")
    judge = Judge(offer, kit.schemas)

    def matched(reply: Reply) -> list[Wanted]:
        return [one for one in both if any(not judge.find_call_fault(call, one) for call in reply.calls)]

    def first(reply: Reply) -> Next:
        made = matched(reply)
        if len(made) == len(reply.calls) == 2:
            return Judged(CheckOutcome.WORKS, "It made both calls in one reply.")
        if len(made) != 1 or len(reply.calls) != 1:
            return Judged(CheckOutcome.FAILS, _not_both(reply, both, judge))
        return Ask((*messages, *exchanged(reply, results[made[0].name])), offer)

    def second(before: Reply, reply: Reply) -> Judged:
        [one] = matched(before)
        [other] = [wanted for wanted in both if wanted is not one]
        if fault := judge.find_fault(reply, other):
            return Judged(CheckOutcome.FAILS, f"It called {one.name!r} alone, and given its result: {fault}")
        said = "It made one call after the other, the second once the first had its result."
        return Judged(CheckOutcome.PARTLY, said)

    return Scripted(in_turn(Ask(messages, offer), first, second), (ideal_reply(*both),))


def _not_both(reply: Reply, both: Sequence[Wanted], judge: Judge) -> str:
    if not reply.calls:
        return judge.find_fault(reply, both[0])
    names = [one.name for one in both]
    for call in reply.calls:
        of = next((one for one in both if one.name == call.name), both[0])
        if fault := judge.find_call_fault(call, of):
            return fault
    return f"It was to call {names[0]!r} and {names[1]!r}, once each, and made these: {show_calls(reply.calls)}."


def after_result(kit: Kit) -> Scripted:
    """A call, its result, and then words."""
    wanted = Wanted("find_booking", {"guest": "Noor Haddad"})
    messages = say(f"{order(wanted)} When it has answered, tell me the booking's code in one sentence, in words.")
    offer = kit.offer("find_booking", "get_weather")
    judge = Judge(offer, kit.schemas)

    def called(reply: Reply) -> Next:
        if fault := judge.find_fault(reply, wanted):
            return Judged(CheckOutcome.FAILS, f"It did not come to a result: {fault}")
        return Ask((*messages, *exchanged(reply, result(code=_CODE))), offer)

    def said(_: Reply, reply: Reply) -> Judged:
        return judge_words(reply, "It answered in words that hold what the tool said.", _CODE)

    script = in_turn(Ask(messages, offer), called, said)
    return Scripted(script, (ideal_reply(wanted), Reply(f"The code of the booking is {_CODE}.")))


def growing(kit: Kit) -> Scripted:
    """What the first call loads is offered at the second request, and was not at the first."""
    load, use = Wanted("load_tools", _HARBOUR), Wanted("open_lock_gate", {"gate": 7})
    messages = say(f"{order(load)} When it has answered, open_lock_gate is among your tools. {order(use, 'Then call')}")
    before, after = kit.offer("load_tools"), kit.offer("load_tools", "open_lock_gate")

    def loaded(reply: Reply) -> Next:
        if fault := Judge(before, kit.schemas).find_fault(reply, load):
            return Judged(CheckOutcome.FAILS, f"It did not load first: {fault}")
        said = result(loaded=["open_lock_gate"], note="You can call it now.")
        return Ask((*messages, *exchanged(reply, said)), after)

    def used(_: Reply, reply: Reply) -> Judged:
        if fault := Judge(after, kit.schemas).find_fault(reply, use):
            return Judged(CheckOutcome.FAILS, f"It loaded the tool, and then: {fault}")
        return Judged(CheckOutcome.WORKS, "It called what was offered only later.")

    script = in_turn(Ask(messages, before), loaded, used)
    return Scripted(script, (ideal_reply(load), ideal_reply(use)))


def retired(kit: Kit) -> Scripted:
    """The history holds a call of what is not offered any more; it is the same for every model."""
    before, now = Wanted("get_weather", {"city": "Oslo"}), Wanted("get_time", {"city": "Quito"})
    history = (
        *say("What is the weather in Oslo?"),
        *exchanged(ideal_reply(before), result(degrees_celsius=4, sky="clear")),
        {"role": "assistant", "content": "It is 4 °C in Oslo, under a clear sky."},
        *say(order(now)),
    )
    ask = Ask(history, kit.offer("get_time"))
    judge = Judge(ask.offer, kit.schemas, (before.name,))
    works = "It took the history, and called what is offered now."
    return ask_once(ask, lambda reply: judge.judge_call(reply, now, works), ideal_reply(now))


def cached(kit: Kit) -> Scripted:  # noqa: ARG001  nothing is offered
    """What the usage says of the second of two prompts that begin alike."""
    prompt = _long_prompt()
    questions = ("How many notes are there? Answer with the number.", "What is note 7 about? Answer in two words.")

    first, second = (Ask(say(f"{prompt}\n{question}")) for question in questions)

    def judged(_: Reply, reply: Reply) -> Judged:
        read, of = reply.usage.cached_read_tokens, reply.usage.prompt_tokens
        if read is None:
            return Judged(CheckOutcome.FAILS, "The usage says nothing of cached tokens: they are not reported.")
        if read == 0:
            asked = f" of {of:,}" if of else ""
            said = f"Cached tokens are reported, and these were 0{asked} of a prompt that begins as the one before."
            return Judged(CheckOutcome.PARTLY, f"{said} Some providers hold only what is marked, or take their time.")
        return Judged(CheckOutcome.WORKS, f"The usage reports {read:,} cached tokens{f' of {of:,}' if of else ''}.")

    script = in_turn(first, lambda _: second, judged)
    return Scripted(script, (Reply(f"{_PARAGRAPHS}"), Reply("A ferry.")))


def _long_prompt() -> str:
    places = ("ferry", "mill", "orchard", "school", "quay", "chapel", "market", "bridge")
    deeds = ("was repaired", "was closed", "was painted white", "was measured again", "was handed to the parish")
    lines = (
        f"Note {n}: in the spring of {1700 + n}, the {places[n % len(places)]} by the river {deeds[n % len(deeds)]}, "
        f"as the clerk wrote on page {n * 3} of the book of accounts, and {n + 11} people signed below."
        for n in range(1, _PARAGRAPHS + 1)
    )
    return "Here are notes from the archive of a village.\n" + "\n".join(lines)
