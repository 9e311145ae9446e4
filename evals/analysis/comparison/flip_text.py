"""Flips in words: which cases, and to which tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import Flip, LeftOutFlips, count_changes
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.text import plural

_MOST_TOOLS = 3
_WAYS = MappingProxyType(
    {
        Outcome.MISSING_CALL: "with a call missing",
        Outcome.WRONG_TOOL: "in another order",
        Outcome.UNOFFERED_TOOL: "to a tool not offered",
        Outcome.HALLUCINATED_TOOL: "to a tool that there is not",
        Outcome.UNNEEDED_CALL: "with a call not needed",
        Outcome.EXTRA_CALL: "with a call too many",
        Outcome.WRONG_ARGUMENTS: "with wrong arguments",
        Outcome.INVALID_ARGUMENTS: "with invalid arguments",
        Outcome.GAVE_UP: "given up",
        Outcome.TRUNCATED: "cut by the token limit",
        Outcome.BROKEN_CALL: "with a call that could not be read",
        Outcome.REFUSED: "refused",
        Outcome.CONTEXT_OVERFLOW: "too long for the model",
    }
)
_HOW_FIRST = frozenset(
    {
        Outcome.CONTEXT_OVERFLOW,
        Outcome.REFUSED,
        Outcome.GAVE_UP,
        Outcome.TRUNCATED,
        Outcome.BROKEN_CALL,
        Outcome.INVALID_ARGUMENTS,
        Outcome.WRONG_ARGUMENTS,
    }
)
"""Outcomes where the end of the trial says more than the calls."""


def describe_flip(flip: Flip) -> str:
    """What a case that flipped was answered with and should have been, such as `db/query instead of db/explain`.

    For a case that is worse it describes the new arm, for one that is better what the old arm did wrong.
    """
    wrong = flip.new if flip.change < 0 else flip.old
    return _describe(wrong)


def count_flips(flips: Sequence[Flip], epochs: int = 1, left_out: Sequence[LeftOutFlips] = ()) -> str:
    """`12 cases now wrong, 1 now right`; of several epochs a case may be partly so: `12 cases worse, 1 better`."""
    counts = count_changes(flips, left_out)
    return _count(counts.worse, counts.better, "", epochs)


def describe_flips(flips: Sequence[Flip], epochs: int = 1, left_out: Sequence[LeftOutFlips] = ()) -> str:
    """As `count_flips`, with the tools that answer the cases that are worse, the commonest first:
    `12 cases now wrong (9 to web/search, 2 to git/log, 1 to nothing), 1 now right`.
    """
    counts = count_changes(flips, left_out)
    takers: Counter[str] = Counter()
    for attempt, cases in counts.ends:
        takers[_taker(attempt)] += cases
    common = takers.most_common(_MOST_TOOLS)
    parts = [f"{count:,} {taker}" for taker, count in common]
    if more := len(takers) - len(common):
        parts.append(f"{takers.total() - sum(count for _, count in common):,} in {plural(more, 'other way')}")
    return _count(counts.worse, counts.better, f" ({', '.join(parts)})" if parts else "", epochs)


def _count(worse: int, better: int, takers: str, epochs: int) -> str:
    if not worse and not better:
        return "no case flipped"
    words = ("worse", "better") if epochs > 1 else ("now wrong", "now right")
    return f"{plural(worse, 'case')} {words[0]}{takers}, {better:,} {words[1]}"


def _taker(attempt: Attempt) -> str:
    """The tool that a case changed to, or how it fails: `to web/search`, `to nothing`, `with wrong arguments`."""
    missing, surplus = missing_and_surplus(attempt)
    if _is_right_out_of_reach(attempt):
        return "out of reach"
    if attempt.outcome in _HOW_FIRST:
        return _WAYS[attempt.outcome]
    if surplus:
        return f"to {surplus[0]}"
    if attempt.called == ():  # not `None`, which is what was not kept
        return "to nothing"
    return _WAYS[Outcome.MISSING_CALL] if missing and attempt.outcome is Outcome.WRONG_TOOL else _way(attempt)


def _describe(attempt: Attempt) -> str:
    missing, surplus = (", ".join(tools) for tools in missing_and_surplus(attempt))
    outcome = attempt.outcome
    if _is_right_out_of_reach(attempt):
        return "the right answer cannot be reached"
    if outcome in _HOW_FIRST:
        called, lacked = (
            f", {word} {tools}" if tools else "" for word, tools in (("called", surplus), ("without", missing))
        )
        text = f"{_WAYS[outcome]}{called}{lacked}"
    elif surplus and missing:
        text = f"{surplus} instead of {missing}"
    elif surplus:
        text = f"{surplus}, which was not asked for"
    elif missing and outcome is not Outcome.UNOFFERED_TOOL:
        text = f"nothing instead of {missing}" if attempt.called == () else f"without {missing}"
    else:
        both = ", ".join(attempt.surplus)
        text = f"{_way(attempt)}: {both}" if both else _way(attempt)
    return text if attempt.covered else f"{text}; the right answer cannot be reached"


def _is_right_out_of_reach(attempt: Attempt) -> bool:
    """Whether the only fault is that a tool was not offered (rule E5)."""
    return attempt.outcome.is_right_by_names and not attempt.covered


def _way(attempt: Attempt) -> str:
    return _WAYS.get(attempt.outcome, attempt.outcome.value)
