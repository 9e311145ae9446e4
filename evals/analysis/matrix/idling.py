"""What is said of toolsets with which a model hardly ever calls a right tool, as it only abstains with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolbelt.evals.analysis.comparison.comparison import MARGIN
from toolbelt.evals.analysis.comparison.wording import format_margin
from toolbelt.evals.analysis.matrix.arms import count_calls
from toolbelt.evals.analysis.summary.measures import ArmSummary
from toolbelt.text import plural

_FEW = 2
"""Toolsets that are each told of by itself."""
_MOST_NAMES = 4


def tell_idle(arms: Sequence[ArmSummary], margin: float) -> tuple[str, ...]:
    """Why they are not to be given, each a sentence.

    Args:
        arms: Of one model, each `arms.is_idle`.
        margin: Accuracy that may be lost, a fraction.
    """
    return tuple(f"{said[0].upper()}{said[1:]}." for said in _tell(arms, margin))


def tell_all_idle(arms: Sequence[ArmSummary], margin: float) -> str:
    """Why no toolset is to be given, where all that were scored are idle; or what is wrong with such a margin.

    Args:
        arms: One or more, of one model, each `arms.is_idle`.
        margin: Accuracy that may be lost, a fraction.
    """
    best = max(arms, key=_share)
    right, of = count_calls(best)
    if right and margin > MARGIN:
        return (
            f"A margin of {format_margin(margin)} points decides nothing: the right tools were called in {right:,} of "
            f"{of:,} trials that need a call with {best.toolset_label}, the most of all, and that is no more, so that "
            "a toolset with which it never calls any would do."
        )
    return f"No toolset does: {'; '.join(_tell(arms, margin))}."


def _share(arm: ArmSummary) -> float:
    right, of = count_calls(arm)
    return right / of if of else 0.0


def _tell(arms: Sequence[ArmSummary], margin: float) -> Iterator[str]:
    silent = [arm for arm in arms if not count_calls(arm)[0]]
    abstaining = [arm for arm in silent if _abstained(arm)]
    if len(abstaining) > _FEW:
        yield f"it called no right tool with {_names(silent)}: its right answers are cases that need none"
    else:
        yield from (f"it called no right tool with {arm.toolset_label}: {_instead(arm)}" for arm in abstaining)
        if others := [arm for arm in silent if arm not in abstaining]:
            yield f"it called no right tool with {_names(others)}"
    if few := [arm for arm in arms if arm not in silent]:
        right, of = max((count_calls(arm) for arm in few), key=lambda counts: counts[0] / counts[1])
        yield (
            f"with {_names(few)} it called the right tools in {'no more than ' if len(few) > 1 else ''}{right:,} of "
            f"{of:,} trials that need a call, which the margin of {format_margin(margin)} points takes for nothing"
        )


def _names(arms: Sequence[ArmSummary]) -> str:
    return ", ".join(arm.toolset_label for arm in arms) if len(arms) <= _MOST_NAMES else plural(len(arms), "toolset")


def _instead(arm: ArmSummary) -> str:
    count = _abstained(arm)
    return (
        f"its {count:,} right answers are cases that need none"
        if count > 1
        else "its one right answer is a case that needs none"
    )


def _abstained(arm: ArmSummary) -> int:
    return arm.abstention.numerator
