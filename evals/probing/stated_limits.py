"""Limits that a provider states when it refuses a request: the number of tools, and the context window."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.text import plural

_ANSWERED = (CheckOutcome.WORKS, CheckOutcome.PARTLY, CheckOutcome.FAILS)
_OF_TOOLS = re.compile(r"tools?\b|functions?\b|function.?declarations?\b", re.IGNORECASE)
_OF_A_LIMIT = re.compile(
    r"at most|\bmax|limit|up to|(?:no|not|cannot|can't) (?:have |send |hold |use |take |contain )?more than|exceed"
    r"|too (?:many|long|large)|<=|less than or equal|allow|supports? only|only supports?",
    re.IGNORECASE,
)
_OF_SOMETHING_ELSE = re.compile(
    # One tool of them, by its place; or what is in a tool.
    r"(?:tools|functions)(?:\[|\.)\d|string|descri|schema|enum|character|token|\bnames?\b|(?:less|fewer) than (?!or)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,\[/-])(\d{1,3}(?:,\d{3})+|\d+)(?![\w…%/-]|[.,]\d|\.\w)")
"""A whole number that stands alone, not an index, nor a part of a name, a date or a version."""


@dataclass(frozen=True, slots=True)
class ToolLimit:
    """The limit on the tools of a request lies between two numbers.

    Attributes:
        taken: The most tools that the API took.
        refused: The fewest tools that the API refused.
        stated: The limit that the API stated; `None` if it stated none, or not clearly.
    """

    taken: int
    refused: int
    stated: int | None = None

    def __str__(self) -> str:
        if self.stated is not None:
            return f"takes at most {plural(self.stated, 'tool')}, as its refusal of {self.refused:,} says"
        return f"takes {plural(self.taken, 'tool')}, refuses {self.refused:,}: the limit lies between"


def find_limit(result: ProbeResult) -> ToolLimit | None:
    """The limit that refusals show; `None` if nothing was refused, or the refusals do not depend on the number.

    The number taken is no limit: the limit lies between the numbers taken and refused. It is known exactly only if the
    refusal of the fewest tools states one number in this range.

    Args:
        result: Of a probe, finished or not.
    """
    refused = [count for count in TOOL_COUNTS if result.outcome(tools_key(count)) is CheckOutcome.REFUSED]
    taken = [count for count in TOOL_COUNTS if result.outcome(tools_key(count)) in _ANSWERED]
    taken += [1] if result.outcome(FIRST) in _ANSWERED else []
    if not refused or not taken or max(taken) > min(refused):
        return None
    fewest, most = min(refused), max(taken)
    refusal = next(check.said for check in result.checks if check.key == tools_key(fewest))
    return ToolLimit(most, fewest, _stated_limit(refusal, most, fewest))


def _stated_limit(refusal: str, taken: int, refused: int) -> int | None:
    """The only whole number from `taken` to below `refused` in a text about a limit of tools; else `None`.

    Most texts also name the number that was sent. That is `refused`, so it is never counted.
    """
    if _OF_SOMETHING_ELSE.search(refusal) or not (_OF_TOOLS.search(refusal) and _OF_A_LIMIT.search(refusal)):
        return None
    numbers = {int(match[1].replace(",", "")) for match in _NUMBER.finditer(refusal)}
    between = {number for number in numbers if taken <= number < refused}
    return between.pop() if len(between) == 1 else None


_WINDOW_NUMBER = r"(\d[\d,]*)"
_WINDOW_WORDINGS = tuple(
    re.compile(wording.replace("N", _WINDOW_NUMBER), re.IGNORECASE)
    for wording in (
        r"maximum (?:context|prompt) length (?:is|of) N",
        r"N maximum context length",
        r"available context size \(N tokens\)",
        r"context length of only N tokens",
        r"tokens > N maximum",
        r"maximum model length of N",
        r"max context window of N",
        r"maximum number of tokens allowed \(N\)",
    )
)


def find_window(message: str) -> int | None:
    """The window in tokens that a refusal states; `None` if it states none, or more than one.

    A number counts only in a wording that is known to state the window. This excludes the tokens of the prompt and the
    limits of the account.

    Args:
        message: The provider's text.
    """
    windows = {int(match[1].replace(",", "")) for wording in _WINDOW_WORDINGS for match in wording.finditer(message)}
    return windows.pop() if len(windows) == 1 else None
