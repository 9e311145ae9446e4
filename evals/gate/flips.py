"""What flipped, in words: which cases, and to which tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

from toolbelt.console.text import plural
from toolbelt.evals.comparison.comparison import Flip
from toolbelt.evals.evidence.evidence import Attempt
from toolbelt.evals.gate.result import LostTool
from toolbelt.evals.scoring.outcome import Outcome

_MOST_TOOLS = 3
_WAYS = MappingProxyType(
    {
        Outcome.MISSING_CALL: "with a call missing",
        Outcome.WRONG_TOOL: "in another order",
        Outcome.UNOFFERED_TOOL: "to a tool not offered",
        Outcome.EXTRA_CALL: "with a call too many",
        Outcome.WRONG_ARGUMENTS: "with wrong arguments",
        Outcome.INVALID_ARGUMENTS: "with invalid arguments",
        Outcome.GAVE_UP: "given up",
        Outcome.REFUSED: "refused",
    }
)


def describe_flip(flip: Flip) -> str:
    """What a case that flipped was answered with and should have been, such as `db/query instead of db/explain`.

    Of a case that is worse it is told of the new arm, of one that is better what the old arm did wrong.
    """
    wrong = flip.new if flip.change < 0 else flip.old
    return _describe(wrong)


def count_flips(flips: Sequence[Flip], epochs: int = 1) -> str:
    """`12 cases now wrong, 1 now right`; of several epochs a case may be partly so: `12 cases worse, 1 better`."""
    worse, better = sum(flip.change < 0 for flip in flips), sum(flip.change > 0 for flip in flips)
    return _count(worse, better, "", epochs)


def describe_flips(flips: Sequence[Flip], epochs: int = 1) -> str:
    """As `count_flips`, with the tools that answer the cases that are worse, the commonest first:
    `12 cases now wrong (9 to web/search, 2 to git/log, 1 to nothing), 1 now right`.
    """
    takers = Counter(_taker(flip.new) for flip in flips if flip.change < 0)
    common = takers.most_common(_MOST_TOOLS)
    told = [f"{count:,} {taker}" for taker, count in common]
    if more := len(takers) - len(common):
        told.append(f"{takers.total() - sum(count for _, count in common):,} in {plural(more, 'other way')}")
    worse, better = sum(flip.change < 0 for flip in flips), sum(flip.change > 0 for flip in flips)
    return _count(worse, better, f" ({', '.join(told)})" if told else "", epochs)


def describe_lost(lost: LostTool) -> str:
    """`no case of web/search is right any more; 3 were`."""
    return f"no case of {lost.tool} is right any more; {lost.cases:,} were"


def _count(worse: int, better: int, takers: str, epochs: int) -> str:
    if not worse and not better:
        return "no case flipped"
    words = ("worse", "better") if epochs > 1 else ("now wrong", "now right")
    return f"{plural(worse, 'case')} {words[0]}{takers}, {better:,} {words[1]}"


def _taker(attempt: Attempt) -> str:
    """Where a case went, or how: `to web/search`, `to nothing`, `with wrong arguments`."""
    others = [tool for tool in attempt.surplus if tool not in attempt.missing]  # else the right one, called amiss
    if others:
        return f"to {others[0]}"
    return _WAYS.get(attempt.outcome, attempt.outcome.value) if attempt.called else "to nothing"


def _describe(attempt: Attempt) -> str:
    wanted, surplus = ", ".join(attempt.missing), ", ".join(attempt.surplus)
    if surplus and wanted:
        told = f"{surplus} instead of {wanted}"
    elif surplus:
        told = f"{surplus}, which was not asked for"
    elif wanted:
        told = f"without {wanted}" if attempt.called else f"nothing instead of {wanted}"
    else:
        told = attempt.outcome.value
    return told if attempt.covered else f"{told}; the right answer cannot be reached"
