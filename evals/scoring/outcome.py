"""Selections, outcomes and scores of trials (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What became of a trial; in this order, the first that applies."""

    ERROR = "error"
    CONTEXT_OVERFLOW = "context_overflow"
    REFUSED = "refused"
    GAVE_UP = "gave_up"
    TRUNCATED = "truncated"
    BROKEN_CALL = "broken_call"
    HALLUCINATED_TOOL = "hallucinated_tool"
    UNOFFERED_TOOL = "unoffered_tool"
    UNNEEDED_CALL = "unneeded_call"
    WRONG_TOOL = "wrong_tool"
    MISSING_CALL = "missing_call"
    EXTRA_CALL = "extra_call"
    INVALID_ARGUMENTS = "invalid_arguments"
    WRONG_ARGUMENTS = "wrong_arguments"
    CORRECT = "correct"

    @property
    def is_scored(self) -> bool:
        """Whether it says anything about the choice made: an infrastructure's failure does not."""
        return self not in (Outcome.ERROR, Outcome.CONTEXT_OVERFLOW)

    @property
    def is_right_by_names(self) -> bool:
        """Whether the right tools were called, whatever their arguments."""
        return self in (Outcome.CORRECT, Outcome.INVALID_ARGUMENTS, Outcome.WRONG_ARGUMENTS)


class Ending(StrEnum):
    """Why a trial ended."""

    NO_CALL = "no_call"
    """The model called nothing more."""
    STEPS = "steps"
    """All steps of the case were made."""
    REQUEST_LIMIT = "request_limit"
    TRUNCATED = "truncated"
    """The token limit cut the answer before its calls were complete."""
    BROKEN_CALL = "broken_call"
    """The server could not read the model's call, and refused the answer for it."""
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"
    """A prompt was longer than the context window takes, by our count or by the provider's answer."""
    TOO_MANY_TOOLS = "too_many_tools"
    """The next request would have held more tools than the model takes; it was not sent."""
    ERROR = "error"
    BROKEN_ANSWER = "broken_answer"
    """The first answer was empty, twice, without a token spent on it."""
    TOOLS_NOT_SEEN = "tools_not_seen"
    """The server answered without having seen the tools."""
    CALL_IN_TEXT = "call_in_text"
    """The server left the model's call in the text of its answer."""

    @property
    def is_overflow(self) -> bool:
        """Whether a request was too large for the model."""
        return self in (Ending.CONTEXT_OVERFLOW, Ending.TOO_MANY_TOOLS)

    @property
    def is_server_fault(self) -> bool:
        """Whether the server answered, and in a form that shows no choice of the model's (rule V2)."""
        return self in (Ending.BROKEN_ANSWER, Ending.TOOLS_NOT_SEEN, Ending.CALL_IN_TEXT)

    @property
    def is_error(self) -> bool:
        """Whether the infrastructure failed."""
        return self is Ending.ERROR or self.is_server_fault


@dataclass(frozen=True, slots=True)
class SelectedTool:
    """One call of a tool that is no meta-tool.

    Attributes:
        request: 0-based number of the request whose reply made it.
        name: As the model wrote it.
        tool_id: The catalog's tool that is meant; `None` for one that is in no catalog.
        was_offered: Whether that tool was offered at that request.
        arguments: `None` where they are no JSON object.
    """

    request: int
    name: str
    tool_id: str | None
    was_offered: bool
    arguments: Mapping[str, Any] | None

    @property
    def label(self) -> str:
        """The tool's id; the name as the model wrote it where it is of no tool."""
        return self.name if self.tool_id is None else self.tool_id


@dataclass(frozen=True, slots=True)
class Score:
    """The outcome of a trial, with its reason and counts.

    Attributes:
        outcome: The first that applies.
        reason: One sentence that says why, naming tools and arguments.
        hits: Calls made that an accepted answer asks for, of the answer that is nearest; `None` where precision and
            recall mean nothing: any call is right, or the trial is unscored.
        made: Calls made, without permitted surplus ones; `None` where `hits` is.
        wanted: Calls of that answer; `None` where `hits` is.
        arguments_checked: Calls whose arguments could be checked against a schema or an expectation.
        arguments_right: Those of them whose arguments are right.
        missing: Ids of the tools of the answer that is nearest whose calls were not made, in its order; of a call that
            accepts several tools, the first. Empty where any call would do, or unscored.
        surplus: Ids of the tools of calls that were made and neither asked for nor permitted, in order; the name as the
            model wrote it where it is of no tool. Where any call would do, forbidden ones alone; empty where unscored.
    """

    outcome: Outcome
    reason: str = ""
    hits: int | None = None
    made: int | None = None
    wanted: int | None = None
    arguments_checked: int = 0
    arguments_right: int = 0
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
