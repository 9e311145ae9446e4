"""A model that answers with what it said elsewhere: in a batch, a benchmark, a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.providers.calls_in_text import find_call_in_text, offered_parameters
from toolbelt.providers.chat import Failure, ModelError, Usage


@dataclass(frozen=True, slots=True)
class ImportedFrom:
    """Where the answers of a run come from that asked nobody.

    Attributes:
        files: As the user wrote them.
        digest: Of the answers, 16 hexadecimal digits.
    """

    files: tuple[str, ...]
    digest: str

    @property
    def stated(self) -> dict[str, Any]:
        """As settings of the run."""
        return {"imported_from": self.files, "imported_answers": self.digest}


def read_imported(data: Mapping[str, Any] | None) -> ImportedFrom | None:
    """As it stands in a stored plan."""
    return None if data is None else ImportedFrom(tuple(data["files"]), data["digest"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered to a case.

    Attributes:
        replies: One for each request, in order; where it failed, the error is the last.
        is_reply: Whether it is what an API answered, so that the model might have gone on had its calls been answered;
            else all that was called is in it.
        is_prompted: Whether the model was asked to write its calls into the text, so that one that is left there could
            not be read.
        source: The file.
        line: Where it begins there, counted from 1.
    """

    replies: tuple[Reply | ModelError, ...]
    is_reply: bool = False
    is_prompted: bool = False
    source: str = ""
    line: int = 0

    @property
    def is_open(self) -> bool:
        """Whether the model might have called more."""
        return self.is_reply and isinstance(last := self.replies[-1], Reply) and bool(last.calls)

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """Every call in it."""
        return tuple(call for reply in self.replies if isinstance(reply, Reply) for call in reply.calls)

    def renamed(self, rename: Callable[[str], str]) -> Answer:
        """The same answer, with other names of the tools that it calls."""
        return replace(
            self,
            replies=tuple(
                replace(reply, calls=tuple(replace(call, name=rename(call.name)) for call in reply.calls))
                if isinstance(reply, Reply) and reply.calls
                else reply
                for reply in self.replies
            ),
        )


Answers = Mapping[tuple[str, int], Answer]
"""By the id of the case and the epoch, from 0."""


@dataclass(frozen=True)
class ImportedModel:
    """Answers as it did elsewhere. Nothing is known of what that cost.

    Attributes:
        name: As the user calls it.
        answers: Of every case that it is asked.
    """

    name: str
    answers: Answers

    async def complete(self, request: Request) -> Reply:
        """The next reply of the answer.

        Raises:
            ModelError: the answer has an error there; also for a reply of nothing at all.
        """
        answer = self.answers[request.case, request.epoch]
        reply = answer.replies[request.number]
        if isinstance(reply, ModelError):
            raise ModelError(reply.failure, reply.message, usage=reply.usage)
        if not (reply.text or reply.thoughts or reply.calls) and reply.usage.completion_tokens == 0:
            raise ModelError(Failure.BROKEN_ANSWER, "The answer is empty: no text, no call, and 0 completion tokens.")
        offered = offered_parameters(request.offer.definitions) if answer.is_prompted else {}
        if find_call_in_text(reply.text, "", offered) is not None:
            raise ModelError(Failure.BROKEN_CALL, "The model's call in the text cannot be read.", usage=reply.usage)
        return replace(reply, is_last=request.number + 1 == len(answer.replies))

    def cost_usd(self, usage: Usage) -> float | None:  # noqa: ARG002  the protocol's
        """Never known: prices differ by date, and those of batches from others."""
        return None

    async def close(self) -> None:
        """Nothing was opened."""
