"""The script of a check: a function from the replies so far to the next request, or to the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.conversation import Exchange, Message, Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer
from toolbelt.evals.probing.results import CheckOutcome
from toolbelt.evals.scoring.reasons import cut
from toolbelt.providers.chat import Failure, ModelError, Sampling

NOTHING = Offer()
LONGEST_QUOTE = 240
"""Most characters of a provider's or a model's text that are quoted."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The next request of a check.

    Attributes:
        messages: In OpenAI's form.
        offer: What is offered.
        tool_choice: As in `Sampling`; `None` leaves it to the provider.
        max_retries: Most attempts after the first; `None` for the user's setting.
    """

    messages: tuple[Message, ...]
    offer: Offer = NOTHING
    tool_choice: str | None = None
    max_retries: int | None = None

    def to_request(self, max_tokens: int | None, effort: str | None = None) -> Request:
        """The request to the model; all sampling but tool choice, token limit and effort is left to the provider."""
        return Request(
            self.messages, self.offer, Sampling(tool_choice=self.tool_choice, max_tokens=max_tokens, effort=effort)
        )


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict on a check.

    Attributes:
        outcome: The outcome of the check.
        said: The reason, in one sentence; may hold foreign text.
    """

    outcome: CheckOutcome
    said: str


ReplyOrError = Reply | ModelError
Step = CheckRequest | CheckVerdict
NextStep = Callable[[Sequence[ReplyOrError]], Step]
"""From the replies so far, in order. The same replies give the same step, so that an interrupted check resumes."""


def judge_failure(error: ModelError, number: int = 0) -> CheckVerdict:
    """The verdict of a check whose request got no reply.

    Args:
        error: The last failure, retries behind it.
        number: 0-based number of the request within the check.
    """
    message = one_line(error.message)
    where = f"At request {number + 1}: " if number else ""
    match error.failure:
        case Failure.CONTEXT_OVERFLOW:
            return CheckVerdict(CheckOutcome.TOO_LARGE, f"{where}It is more than the context window holds: {message}")
        case Failure.REQUEST_TOO_LARGE:
            return CheckVerdict(
                CheckOutcome.TOO_LARGE, f"{where}It is more than the account may send at once: {message}"
            )
        case Failure.REFUSED:
            return CheckVerdict(
                CheckOutcome.FAILS, f"{where}A content filter, or the model, would not answer: {message}"
            )
        case Failure.BROKEN_CALL:
            return CheckVerdict(CheckOutcome.FAILS, f"{where}The server could not read the model's call: {message}")
        case Failure.TOOLS_NOT_SEEN:
            return CheckVerdict(CheckOutcome.TOOLS_NOT_SEEN, f"{where}{error.message}")
        case Failure.CALL_IN_TEXT:
            return CheckVerdict(CheckOutcome.UNKNOWN, f"{where}{error.message}")
        case Failure.BAD_REQUEST | Failure.NOT_FOUND:  # the model itself was found: it has answered before
            return CheckVerdict(CheckOutcome.REFUSED, f"{where}The request was refused: {message}")
        case _:
            return CheckVerdict(CheckOutcome.UNKNOWN, f"{where}No answer came ({error.failure}): {message}")


def one_line(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Foreign text on one line, shortened, without half surrogate pairs. The renderers escape control characters."""
    whole = text.encode(errors="replace").decode()  # half a surrogate pair, which models do write
    return cut(" ".join(whole.split()), longest)


@dataclass(frozen=True, slots=True)
class CheckScript:
    """A check that can run.

    Attributes:
        next_step: The next request, or the verdict.
        ideal_replies: The replies if all goes well, in order; the cost is estimated from them.
    """

    next_step: NextStep
    ideal_replies: tuple[Reply, ...]


def ask_once(request: CheckRequest, judge: Callable[[Reply], CheckVerdict], ideal: Reply) -> CheckScript:
    """A check of one request."""
    return CheckScript(in_turn(request, judge), (ideal,))


def in_turn(first: CheckRequest, *turns: Callable[..., Step]) -> NextStep:
    """A request, then one step for each reply; a request without a reply ends the check.

    Args:
        first: The first request.
        turns: One function for each request; it gets all replies so far, in order.
    """

    def script(answers: Sequence[ReplyOrError]) -> Step:
        if not answers:
            return first
        if isinstance(last := answers[-1], ModelError):
            return judge_failure(last, len(answers) - 1)
        return turns[len(answers) - 1](*answers)

    return script


def user_message(text: str) -> tuple[Message, ...]:
    """A user's message."""
    return ({"role": "user", "content": text},)


def tool_result(**values: Any) -> str:
    """The text of a tool's result."""
    return json.dumps(values)


def exchange_messages(reply: Reply, *results: str) -> list[Message]:
    """A reply, and the result of each of its calls, as messages."""
    return Exchange(reply, results).to_messages()
