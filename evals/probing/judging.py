"""Compares a reply with the call that was expected; the verdict says what came instead."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.evals.probing.probe_tools import ProbeTools
from toolbelt.evals.probing.results import CheckOutcome
from toolbelt.evals.probing.script import CheckRequest, CheckScript, CheckVerdict, ask_once, one_line
from toolbelt.evals.scoring.literal import are_equal
from toolbelt.evals.scoring.reasons import differs, missing, show_name, unexpected
from toolbelt.evals.scoring.schemas import ArgumentSchemas

_LONGEST_QUOTE = 120
"""Characters of a model's text that a verdict quotes."""
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call that the prompt asks for.

    Attributes:
        name: The tool's wire name.
        arguments: All arguments, and no others; `None` allows any that the schema allows.
    """

    name: str
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CallJudge:
    """Compares replies with the expected calls.

    Attributes:
        offer: The tools offered.
        schemas: The schemas of their arguments.
        retired: Names of tools that were offered before and no longer are.
    """

    offer: Offer
    schemas: ArgumentSchemas
    retired: Collection[str] = ()

    def judge_call(self, reply: Reply, expected: RequestedCall, works: str) -> CheckVerdict:
        """Check that the reply makes the expected call once and no other; `works` is the verdict's text if it does."""
        if fault := self.find_fault(reply, expected):
            return CheckVerdict(CheckOutcome.FAILS, fault)
        if deviation := _describe_deviation(reply.calls[0].arguments, expected.arguments):
            return CheckVerdict(CheckOutcome.PARTLY, one_line(deviation))
        return CheckVerdict(CheckOutcome.WORKS, works)

    def find_fault(self, reply: Reply, expected: RequestedCall) -> str:
        """A sentence on what is wrong with a reply that should be one call; empty if it is right."""
        if not reply.calls:
            return self._no_call(reply)
        if len(reply.calls) > 1:
            return f"It made {len(reply.calls)} calls where one was asked for: {show_calls(reply.calls)}."
        return self.find_call_fault(reply.calls[0], expected)

    def find_call_fault(self, call: ToolUse, expected: RequestedCall) -> str:
        """A sentence on what is wrong with a call; empty if it is right.

        Differences in case, blanks and the composition of letters are allowed where the schema allows any text.
        """
        if call.name != expected.name:
            return self._wrong_tool(call, expected)
        if call.arguments is None:
            return f"The arguments of its call of {show_name(call.name)} are no JSON object: {quote(call.text)}"
        offered = self.offer.by_name.get(call.name)
        fault = self._find_difference(call.arguments, expected.arguments)
        if offered is not None and (against := self.schemas.find_fault(offered.tool.id, call.arguments)):
            fault = f"goes against the schema: {against}"
        return f"Its call of {show_name(call.name)} {one_line(fault)}." if fault else ""

    def find_made_up(self, reply: Reply) -> str:
        """A sentence on what is wrong with a reply that should call any offered tool; empty if it is right."""
        if not reply.calls:
            return self._no_call(reply)
        for call in reply.calls:
            if call.name not in self.offer.by_name:
                return self._not_offered(call)
            if fault := self.find_call_fault(call, RequestedCall(call.name)):
                return fault
        return ""

    def _find_difference(self, arguments: Mapping[str, Any], expected: Mapping[str, Any] | None) -> str:
        if expected is None:
            return ""
        for name, value in expected.items():
            if name not in arguments:
                return f"is not as asked: {missing(name)}"
            if not are_alike(arguments[name], value, _loosely):
                return f"is not as asked: {differs(name, arguments[name], [value])}"
        for name in arguments:
            if name not in expected:
                return f"is not as asked: {unexpected(name)}"
        return ""

    def _wrong_tool(self, call: ToolUse, expected: RequestedCall) -> str:
        if call.name not in self.offer.by_name:
            return self._not_offered(call)
        return f"It called {show_name(call.name)} and not {show_name(expected.name)}."

    def _not_offered(self, call: ToolUse) -> str:
        how = "is offered no more" if call.name in self.retired else "is not offered"
        return f"It called {show_name(one_line(call.name))}, which {how}."

    def _no_call(self, reply: Reply) -> str:
        if not reply.text.strip():
            return f"It called nothing and said nothing{_ending(reply)}."
        if "{" in reply.text and any(name in reply.text for name in self.offer.by_name):
            return f"It wrote the call into its words and made none: {quote(reply.text)}"
        return f"It called nothing{_ending(reply)} and said: {quote(reply.text)}"


def judge_words(reply: Reply, works: str, *holding: str) -> CheckVerdict:
    """Check that the reply makes no call and that its text contains each of `holding`.

    Only letters and digits are compared: models write a code in bold, with other hyphens, or a number with commas.
    """
    if reply.calls:
        return CheckVerdict(
            CheckOutcome.FAILS, f"It made a call where words were asked for: {show_calls(reply.calls)}."
        )
    if not reply.text.strip():
        return CheckVerdict(CheckOutcome.FAILS, f"It called nothing and said nothing{_ending(reply)}.")
    if reply.is_cut:
        return CheckVerdict(CheckOutcome.FAILS, f"It talked on{_ending(reply)}: {quote(reply.text)}")
    text = _bare(reply.text)
    for words in holding:
        if _bare(words) not in text:
            return CheckVerdict(CheckOutcome.FAILS, f"Its words do not hold {words!r}: {quote(reply.text)}")
    return CheckVerdict(CheckOutcome.WORKS, works)


def show_calls(calls: Collection[ToolUse]) -> str:
    """The first few calls, with names and arguments."""
    shown = [f"{one_line(call.name, 60)}({one_line(call.text, 60)})" for call in list(calls)[:_MOST_NAMES]]
    if len(calls) > _MOST_NAMES:
        shown.append("…")
    return ", ".join(shown)


def quote(text: str) -> str:
    """Foreign text in quotes, on one line, shortened."""
    return f"“{one_line(text, _LONGEST_QUOTE)}”"


def are_alike(first: Any, second: Any, write: Callable[[str], str]) -> bool:
    """Whether two JSON values are equal after `write` has normalised every string in them."""
    if isinstance(first, str) and isinstance(second, str):
        return write(first) == write(second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(are_alike(first[name], second[name], write) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(are_alike(*pair, write) for pair in zip(first, second, strict=True))
    return are_equal(first, second)


def _describe_deviation(arguments: Mapping[str, Any] | None, expected: Mapping[str, Any] | None) -> str:
    """Describes how arguments that have the right values differ in spelling; empty if they do not."""
    if arguments is None or expected is None or are_equal(arguments, expected):
        return ""
    if are_alike(arguments, expected, _composed):
        return "All letters came, some composed of other code points than those sent."
    name = next(name for name in expected if not are_equal(arguments[name], expected[name]))
    return f"It called the tool, and changed an argument: {differs(name, arguments[name], [expected[name]])}."


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _loosely(text: str) -> str:
    return " ".join(_composed(text).casefold().split())


def _bare(text: str) -> str:
    """Only the letters and digits of `text`, case-folded."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _ending(reply: Reply) -> str:
    return " (cut by the token limit; --max-tokens raises it)" if reply.is_cut else ""


def expect_one_call(tools: ProbeTools, ask: CheckRequest, expected: RequestedCall, works: str) -> CheckScript:
    """A check of one request that expects one call as its answer."""
    judge = CallJudge(ask.offer, tools.schemas)
    return ask_once(ask, lambda reply: judge.judge_call(reply, expected, works), ideal_reply(expected))


def instruction(expected: RequestedCall, verb: str = "Call") -> str:
    """The request for a call, as plain as possible: a check is about abilities, not about what a user might mean."""
    arguments = (expected.arguments or {}).items()
    values = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in arguments)
    return f"{verb} the tool {expected.name} once, with these arguments: {values}."


def ideal_reply(*expected: RequestedCall) -> Reply:
    """A reply that makes these calls."""
    # Nine letters and digits: one provider takes no other ids.
    calls = tuple(
        ToolUse.from_text(f"call{number:05}", call.name, json.dumps(call.arguments or {}, ensure_ascii=False))
        for number, call in enumerate(expected)
    )
    return Reply(calls=calls, finish_reason="tool_calls")
