"""What counts when a toolset is chosen among the arms of a model: size, share right, whether it calls tools."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Pick
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.toolsets.spec import find_toolset, parse_toolset

_FEW = 0.05
"""Share of an arm's trials that may lack an answer; with more, too little is known of it."""
_UNFIT = (CellState.CANNOT_FIT, CellState.UNSUPPORTED, CellState.NO_CHOICE)


def is_assignable(arm: ArmSummary, *, by_role: bool = False) -> bool:
    """Whether a model can be given what the arm shows; a variant is an experiment.

    Args:
        arm: Of a run.
        by_role: Whether also the loadout of each case's role, which `toolbelt.yaml` cannot name for a model.
    """
    return not arm.variant and (can_assign_toolset(arm.toolset) or (by_role and is_by_role(arm)))


def has_choice(summary: RunSummary) -> bool:
    """Whether a run has several toolsets that can be used, scored or left out."""
    asked = {arm.toolset for arm in summary.arms if is_assignable(arm, by_role=True)}
    return len(asked | {left_out.toolset for left_out in summary.left_out}) > 1


def is_by_role(arm: ArmSummary) -> bool:
    """Whether an arm shows each case the loadout of its own role."""
    spec = find_toolset(arm.toolset)
    return spec is not None and spec.is_by_role and not arm.variant


def can_assign_toolset(toolset: str) -> bool:
    """Whether a project can give a model that toolset.

    Not one that goes by the case: an oracle knows the answer, and `loadout` alone the role.
    """
    spec = find_toolset(toolset)
    return spec is not None and spec.is_assignable


def is_fixed(toolset: str) -> bool:
    """Whether a project can give it to a model, and it is the same list of tools for each model, throughout."""
    spec = find_toolset(toolset)
    return spec is not None and spec.is_assignable and spec.is_list and not spec.is_auto


def is_answered(arm: ArmSummary) -> bool:
    """Whether no more than a few of its trials lack an answer."""
    return count_unanswered(arm) <= _FEW * arm.planned


def count_unanswered(arm: ArmSummary) -> int:
    """Trials that failed or were not run; what was too long for the model is known to be."""
    return arm.planned - arm.scored - arm.too_long


def count_calls(arm: ArmSummary) -> tuple[int, int]:
    """Of the cases that need a call: trials that were right, and trials that were scored."""
    accuracy, abstention = arm.accuracy, arm.abstention
    return accuracy.numerator - abstention.numerator, accuracy.denominator - abstention.denominator


def hardly_calls(arm: ArmSummary, margin: float, *, needs_calls: bool) -> bool:
    """Whether a model hardly ever calls a right tool with it where one is needed: no more often than the margin.

    Args:
        arm: Scored, at least in part.
        margin: A share that may be lost, a fraction.
        needs_calls: Whether the run has cases that need a call.
    """
    right, of = count_calls(arm)
    return needs_calls and right <= margin * of


def size_key(arm: ArmSummary) -> tuple[float, float, str]:
    """The size of a toolset: first the tokens of all definitions it sends, its growth included; then its prompts."""
    return (
        math.inf if arm.definition_tokens_total is None else arm.definition_tokens_total,
        math.inf if arm.prompt_tokens is None else arm.prompt_tokens,
        arm.toolset,
    )


def is_same_toolset(first: ArmSummary, second: ArmSummary) -> bool:
    """Whether two arms that may be chosen are one toolset by two names: the same list of tools in all trials, of the
    same size, that does not change as one goes on.
    """
    if not (is_assignable(first) and is_assignable(second)) or first.first_offer is None:
        return False
    if not (parse_toolset(first.toolset).is_list and parse_toolset(second.toolset).is_list):
        return False
    return (first.first_offer, first.offered_tokens) == (second.first_offer, second.offered_tokens)


def other_cells(pick: Pick, arms: Sequence[ArmSummary], cells: Iterable[Cell]) -> list[Cell]:
    """What else the model might be given of what was meant for it, scored or not; the best by another name is not.

    Args:
        pick: With its best.
        arms: Of the run.
        cells: Of the model, others among them.
    """
    best = pick.best
    return [
        cell
        for cell in cells
        if cell.arm is None
        or (
            cell.arm != best
            and is_assignable(arms[cell.arm], by_role=pick.by_role)
            and not (best is not None and is_same_toolset(arms[cell.arm], arms[best]))
        )
    ]


def may_suit(cell: Cell, pick: Pick) -> bool:
    """Whether a toolset may be good enough where the best is, as far as is known."""
    too_long = {candidate.arm for candidate in pick.candidates if candidate.overflowing}
    return cell.state not in _UNFIT and cell.arm not in too_long and cell.arm not in pick.never_calls
