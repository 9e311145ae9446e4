"""Builds the matrix of models × toolsets from a run (rules E4, E5 and E7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from toolbelt.evals.analysis.comparison.comparability import find_side_notes
from toolbelt.evals.analysis.comparison.comparison import find_margin
from toolbelt.evals.analysis.comparison.paired_cases import find_uneven_clusters, measure_clusters, pair_cases
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.matrix.candidates import can_assign_toolset, is_fixed
from toolbelt.evals.analysis.matrix.cell import Cell, CellProblem, CellReason, CellState
from toolbelt.evals.analysis.matrix.choose_toolsets import choose_toolsets
from toolbelt.evals.analysis.matrix.matrix import (
    FailedTrials,
    Matrix,
    MatrixNote,
    ModelRow,
    Pick,
    ShownVariants,
    UnassignableToolsets,
)
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import BY_WINDOW, FULL, shorten_toolset
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.models.project_models import ProjectModel
from toolbelt.models.token_rates import AS_COUNTED


def build_matrix(
    summary: RunSummary,
    side: Side,
    margin: float | None = None,
    *,
    own_models: Sequence[ProjectModel] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Matrix:
    """Build the matrix of models × toolsets of a run, with the recommended toolset of each model.

    Args:
        summary: Of the run.
        side: The same run, case by case.
        margin: Accuracy that may be lost for a smaller toolset, a fraction, 0 or more; see `find_margin`.
        own_models: What the project says of models already; `None` where its file is not at hand.
        advance: Called with the number of pairs of arms compared.

    Raises:
        ValueError: the margin is out of range, or the two are not of the same arms.
    """
    margin = find_margin(side.about, margin)
    if not 0 <= margin <= 1:
        raise ValueError(f"A margin lies in 0..1; {margin} does not.")
    if [arm.key for arm in side.arms] != [(arm.model, arm.toolset, arm.variant) for arm in summary.arms]:
        raise ValueError(f"{summary.run!r} and {side.about.name!r} have different arms.")
    tools = _count_tools(summary.arms)
    cells: dict[tuple[str, str], Cell] = {
        (arm.model, arm.toolset_label): _cell(place, arm, summary.rooms.get(arm.model, ModelLimits()), tools)
        for place, arm in enumerate(summary.arms)
    }
    for left_out in summary.left_out:
        cells.setdefault((left_out.model, left_out.toolset), _left_out(left_out))
    picks = choose_toolsets(summary, side, cells, margin, advance)
    by_role = choose_toolsets(summary, side, cells, margin, advance, by_role=True)
    toolsets = order_toolsets(summary)
    asked_as = {arm.model: arm.asked_as for arm in summary.arms}
    rows = tuple(
        ModelRow(
            model=model,
            cells=tuple(cells.get((model, toolset)) for toolset in toolsets),
            pick=picks.get(model, Pick(model)),
            by_role=by_role.get(model),
            context_window=summary.rooms.get(model, ModelLimits()).context_window,
            asked_as=asked_as.get(model, ""),
        )
        for model in order_models(summary)
    )
    return Matrix(
        run=summary.run,
        dataset=summary.dataset,
        catalog=summary.catalog,
        cases=summary.cases,
        margin=margin,
        toolsets=toolsets,
        rows=rows,
        notes=tuple(_find_notes(summary, side)),
        created=summary.created,
        epochs=summary.epochs,
        arm_epochs=summary.arm_epochs,
        own_models=None if own_models is None else tuple(own_models),
    )


def _count_tools(arms: Sequence[ArmSummary]) -> dict[str, float]:
    """How many tools the toolsets offer that are the same for each model: what was not asked of one tells another."""
    return {
        arm.toolset_label: arm.tools_offered for arm in arms if arm.tools_offered is not None and is_fixed(arm.toolset)
    }


def _cell(place: int, arm: ArmSummary, limits: ModelLimits, counts: Mapping[str, float]) -> Cell:
    overflowed = arm.too_long
    errors = arm.outcomes.get(Outcome.ERROR, 0)
    tokens = arm.offered_tokens
    state = _state(arm, overflowed)
    tools = counts.get(arm.toolset_label) if arm.tools_offered is None and arm.finished else arm.tools_offered
    too_many = bool(arm.turned_away) and _are_too_many(arm, limits, tools)
    return Cell(
        toolset=arm.toolset_label,
        state=state,
        arm=place,
        verdict=None if tokens is None else _fit_verdict(arm, limits, tokens, tools),
        accuracy=arm.accuracy,
        right_of_asked=arm.right_of_asked,
        planned=arm.planned,
        scored=arm.scored,
        overflowed=overflowed,
        turned_away=arm.turned_away,
        errors=errors,
        tools=tools,
        definition_tokens=tokens,
        definition_tokens_total=arm.definition_tokens_total,
        share=tokens / limits.context_window if tokens is not None and limits.context_window else None,
        reasons=tuple(_find_reasons(arm, overflowed, errors, too_many=too_many)),
        too_many_tools=too_many,
    )


def _are_too_many(arm: ArmSummary, limits: ModelLimits, tools: float | None) -> bool:
    """Whether trials were turned away for the number of their tools rather than for their tokens.

    The endings of trials show it. A run of an earlier version has one ending for both; there it is known only if the
    toolset has more tools than a request may hold, or if no trial was asked though their tokens would fit.
    """
    if arm.too_many_tools or limits.max_tools is None:
        return 2 * arm.too_many_tools >= arm.turned_away > 0
    if tools is not None and tools > limits.max_tools:
        return True
    return arm.turned_away == arm.finished and limits.has_room(round(arm.offered_tokens or 0))


def _fit_verdict(arm: ArmSummary, limits: ModelLimits, tokens: float, tools: float | None) -> FitVerdict:
    """An arm whose requests were all turned away does not fit, whatever its mean tokens are."""
    if arm.turned_away == arm.finished:
        return FitVerdict.REFUSES
    # Tokens of runs of this version are estimates by the model's rate already.
    rate = None if arm.token_error is None else replace(AS_COUNTED, error=arm.token_error)
    return limits.fit(arm.model, round(tokens), 1 if tools is None else round(tools), arm.tokenizer, rate).verdict


def _state(arm: ArmSummary, overflowed: int) -> CellState:
    if arm.scored:
        return CellState.PARTLY if overflowed else CellState.SCORED
    # What has failed or is not run yet might still be answered.
    return CellState.CANNOT_FIT if overflowed and overflowed == arm.finished else CellState.UNSCORED


def _find_reasons(arm: ArmSummary, overflowed: int, errors: int, *, too_many: bool) -> Iterator[CellReason]:
    if overflowed:
        problem = CellProblem.TOO_MANY_TOOLS if too_many else CellProblem.TOO_LONG
        yield CellReason(problem, overflowed, arm.overflow_reason)
    if errors:
        yield CellReason(CellProblem.FAILED, errors, arm.error_reason)
    if missing := arm.planned - arm.finished:
        yield CellReason(CellProblem.NOT_RUN, missing)


def _left_out(left_out: LeftOutArm) -> Cell:
    state = CellState.UNSUPPORTED if left_out.verdict is FitVerdict.UNSUPPORTED else CellState.NO_CHOICE
    reason = CellReason(CellProblem.LEFT_OUT, cause=left_out.reason)
    return Cell(left_out.toolset, state, verdict=left_out.verdict, reasons=(reason,))


def _find_notes(summary: RunSummary, side: Side) -> Iterator[MatrixNote]:
    about = side.about
    yield from find_side_notes(about, about)
    by_case = dict.fromkeys(shorten_toolset(arm.toolset) for arm in summary.arms if not can_assign_toolset(arm.toolset))
    if by_case:
        yield UnassignableToolsets(tuple(by_case))
    if any(arm.variant for arm in summary.arms):
        yield ShownVariants.SHOWN
    if summary.errors:
        yield FailedTrials(summary.errors, summary.planned, summary.run)
    scored = next((place for place, arm in enumerate(summary.arms) if arm.scored), None)
    if scored is not None:
        evidence = side.read(scored)
        cases = pair_cases(evidence, evidence, about.cases, about.epochs)
        if uneven := find_uneven_clusters([measure_clusters(cases)]):
            yield uneven


_FIRST = (str(FULL), str(BY_WINDOW))
"""Toolsets that come first if the order of the run does not say."""


def order_models(summary: RunSummary) -> tuple[str, ...]:
    """The models of a run, including those that were left out, in the order asked for."""
    left_out = dict.fromkeys(row.model for row in summary.left_out)
    named = dict.fromkeys(arm.model for arm in summary.arms)
    known = [model for model in summary.rooms if model in named or model in left_out]
    return merged([tuple(named), known, tuple(left_out)])


def order_toolsets(summary: RunSummary) -> tuple[str, ...]:
    """The labels of its toolsets, in the order asked for; a model may have only some of them."""
    models = order_models(summary)
    offered = (tuple(arm.toolset_label for arm in summary.arms if arm.model == model) for model in models)
    left_out = (tuple(row.toolset for row in summary.left_out if row.model == model) for model in models)
    return merged([*offered, *left_out], rank=lambda label: _FIRST.index(label) if label in _FIRST else len(_FIRST))


def merged(chains: Iterable[Sequence[str]], rank: Callable[[str], int] = lambda _: 0) -> tuple[str, ...]:
    """Names in an order that keeps that of every chain.

    Args:
        chains: Each without repeats; those that contradict each other are followed as far as they go.
        rank: What goes first where the chains leave it open; then what is named first.
    """
    open_chains = [list(chain) for chain in chains]
    names = dict.fromkeys(name for chain in open_chains for name in chain)
    return tuple(_take(names, open_chains, rank))


def _take(names: dict[str, None], chains: list[list[str]], rank: Callable[[str], int]) -> Iterator[str]:
    while names:
        waiting = {name for chain in chains for name in chain[1:]}
        ready = [name for name in names if name not in waiting] or list(names)
        first = min(ready, key=rank)  # the first of equals
        yield first
        del names[first]
        chains[:] = [left for chain in chains if (left := [name for name in chain if name != first])]
