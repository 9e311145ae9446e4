"""A check as a function of what was answered so far: what to ask next, or the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolbelt.evals.conversation import Message, Reply
from toolbelt.evals.models.model import Failure, ModelError, Request, Sampling
from toolbelt.evals.offers import Offer
from toolbelt.evals.probing.probe import CheckOutcome
from toolbelt.evals.scoring.reasons import cut

NOTHING = Offer()
LONGEST_SAYING = 240
"""Characters of what a provider or a model said that are repeated."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The next request of a check.

    Attributes:
        messages: In OpenAI's form.
        offer: What is offered.
        tool_choice: As in `Sampling`; `None` says nothing.
        max_retries: Attempts after the first, at most; `None` for as many as the user grants.
    """

    messages: tuple[Message, ...]
    offer: Offer = NOTHING
    tool_choice: str | None = None
    max_retries: int | None = None

    @property
    def request(self) -> Request:
        """As a model is asked; everything but the tool choice is left to the provider."""
        return Request(self.messages, self.offer, Sampling(tool_choice=self.tool_choice))


@dataclass(frozen=True, slots=True)
class Judged:
    """How a check came out.

    Attributes:
        outcome: What became of it.
        said: Why, in one sentence; may hold foreign text.
    """

    outcome: CheckOutcome
    said: str


Answer = Reply | ModelError
Next = Ask | Judged
Script = Callable[[Sequence[Answer]], Next]
"""Given the answers so far, in order, says how to go on. Always says the same to the same answers, so that a check
that was cut short goes on where it was."""


def judge_failure(error: ModelError, number: int = 0) -> Judged:
    """What a request without an answer says of a check.

    Args:
        error: The last failure, retries behind it.
        number: 0-based number of the request within the check.
    """
    said = one_line(error.message)
    where = f"At request {number + 1}: " if number else ""
    match error.failure:
        case Failure.CONTEXT_OVERFLOW:
            return Judged(CheckOutcome.TOO_LARGE, f"{where}It is more than the context window holds: {said}")
        case Failure.REFUSED:
            return Judged(CheckOutcome.FAILS, f"{where}A content filter, or the model, would not answer: {said}")
        case Failure.BAD_REQUEST | Failure.NOT_FOUND:  # the model itself was found: it has answered before
            return Judged(CheckOutcome.REFUSED, f"{where}The request was refused: {said}")
        case _:
            return Judged(CheckOutcome.UNKNOWN, f"{where}No answer came ({error.failure}): {said}")


def one_line(text: str, longest: int = LONGEST_SAYING) -> str:
    """Foreign text on one line, cut, and of nothing that a file cannot hold; escapes are for whoever shows it."""
    whole = text.encode(errors="replace").decode()  # half a surrogate pair, which models do write
    return cut(" ".join(whole.split()), longest)
